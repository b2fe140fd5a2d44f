/*
 * libxml2, as much of it as reading a hostile document takes: a pull reader
 * over bytes in memory, and look-ups in one expanded element. Refuses document
 * types, entity references and encodings other than UTF-8.
 */
#ifndef DOMAIN_SOURCE_RECORDS_XML_H
#define DOMAIN_SOURCE_RECORDS_XML_H

#include <libxml/tree.h>
#include <libxml/xmlreader.h>

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

struct xml {
	struct arena *arena;
	xmlTextReader *reader;
	const char *ns; /* elements of other namespaces are passed over */
	char fault[200];
	int fault_line;
};

/* The bytes are borrowed. Stands on the root element. */
int xml_open(struct xml *, struct arena *, struct str bytes, struct err *);
void xml_close(struct xml *);

/* Local name and namespace of the element the reader stands on. */
struct str xml_name(const struct xml *);
struct str xml_namespace(const struct xml *);

/* Moves to the next element at this depth (the root's is 0) in the namespace;
 * what lies within the current one is passed over, unless it is the parent. 1,
 * 0 the parent has ended, -1. */
int xml_next(struct xml *, int depth, struct err *);

/* The rest of the document, for its faults. */
int xml_finish(struct xml *, struct err *);

/* The current element as a tree, valid until the reader moves. */
int xml_expand(struct xml *, const xmlNode **, struct err *);

/* By local names, "Id/IBAN"; NULL: there is none. A NULL node has none. */
const xmlNode *xml_find(const struct xml *, const xmlNode *, const char *path);

/* The next sibling of the same name, or NULL. */
const xmlNode *xml_again(const struct xml *, const xmlNode *);

/* The element's own text, white space trimmed and collapsed, cut after max
 * bytes at a character's end. No value for no node and for no text. */
struct str xml_text(const struct xml *, const xmlNode *, size_t max);

/* xml_text of xml_find. */
struct str xml_text_at(
    const struct xml *, const xmlNode *, const char *path, size_t max);

struct str xml_attribute(const struct xml *, const xmlNode *, const char *name);

#endif
