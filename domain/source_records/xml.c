#include "domain/source_records/xml.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/library.h"

/* Few programs that are started for one request read XML. */
static struct {
	__typeof__(&xmlReaderForMemory) for_memory;
	__typeof__(&xmlFreeTextReader) free;
	__typeof__(&xmlTextReaderConstLocalName) const_local_name;
	__typeof__(&xmlTextReaderConstNamespaceUri) const_namespace_uri;
	__typeof__(&xmlTextReaderDepth) depth;
	__typeof__(&xmlTextReaderExpand) expand;
	__typeof__(&xmlTextReaderIsEmptyElement) is_empty_element;
	__typeof__(&xmlTextReaderNext) next;
	__typeof__(&xmlTextReaderNodeType) node_type;
	__typeof__(&xmlTextReaderRead) read;
	__typeof__(&xmlTextReaderSetStructuredErrorHandler)
	    set_structured_error_handler;
} reader;
static const struct library_symbol symbols[] = {
	{ "xmlReaderForMemory", &reader.for_memory },
	{ "xmlFreeTextReader", &reader.free },
	{ "xmlTextReaderConstLocalName", &reader.const_local_name },
	{ "xmlTextReaderConstNamespaceUri", &reader.const_namespace_uri },
	{ "xmlTextReaderDepth", &reader.depth },
	{ "xmlTextReaderExpand", &reader.expand },
	{ "xmlTextReaderIsEmptyElement", &reader.is_empty_element },
	{ "xmlTextReaderNext", &reader.next },
	{ "xmlTextReaderNodeType", &reader.node_type },
	{ "xmlTextReaderRead", &reader.read },
	{ "xmlTextReaderSetStructuredErrorHandler",
	    &reader.set_structured_error_handler },
	{ 0 },
};
static struct library library = { "libxml2.so.2", symbols, NULL };

/* Keeps the first fault, in plain characters: the message may hold bytes of
 * the document. */
static void
keep_fault(void *context, xmlError *fault)
{
	struct xml *x = context;
	size_t n = 0;

	if (x->fault[0] || fault->level < XML_ERR_ERROR)
		return;
	for (const char *p = fault->message; p && *p && *p != '\n'; p++) {
		if (n + 1 == sizeof x->fault)
			break;
		x->fault[n++] = *p >= ' ' && *p <= '~' ? *p : '?';
	}
	x->fault[n] = '\0';
	x->fault_line = fault->line;
}

static int
refuse(const struct xml *x, struct err *e)
{
	return err_set(e, &err_malformed, "line %d: not well-formed XML: %s",
	    x->fault_line, x->fault[0] ? x->fault : "it cannot be read");
}

/* A declaration can only be written like this, in any well-formed document
 * in UTF-8; refusing it unread leaves no entity to define. */
static bool
has_doctype(struct str bytes)
{
	return memmem(bytes.p, bytes.n, "<!DOCTYPE", 9) != NULL ||
	       memmem(bytes.p, bytes.n, "<!ENTITY", 8) != NULL;
}

static int
check_node(const struct xml *x, struct err *e)
{
	int type = reader.node_type(x->reader);

	if (type == XML_READER_TYPE_DOCUMENT_TYPE ||
	    type == XML_READER_TYPE_ENTITY_REFERENCE ||
	    type == XML_READER_TYPE_ENTITY)
		return err_set(e, &err_malformed,
		    "document types and entities are not accepted");
	return 0;
}

static int
step(struct xml *x, bool over, struct err *e)
{
	int rc = over ? reader.next(x->reader) : reader.read(x->reader);

	if (rc < 0 || x->fault[0])
		return refuse(x, e);
	return rc == 1 && check_node(x, e) ? -1 : rc;
}

int
xml_open(struct xml *x, struct arena *a, struct str bytes, struct err *e)
{
	int more;

	*x = (struct xml){ .arena = a };
	if (bytes.n > INT_MAX)
		return err_set(e, &err_too_large, "the XML file is too large");
	if (!bytes.p || !str_is_utf8(bytes))
		return err_set(
		    e, &err_malformed, "the XML file is not in UTF-8");
	if (has_doctype(bytes))
		return err_set(e, &err_malformed,
		    "document types and entities are not accepted");
	if (library_load(&library, e))
		return -1;
	x->reader = reader.for_memory(bytes.p, (int)bytes.n, NULL, "UTF-8",
	    XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_COMPACT);
	if (!x->reader)
		return err_set(e, &err_internal, "no XML reader");
	reader.set_structured_error_handler(x->reader, keep_fault, x);
	do
		more = step(x, false, e);
	while (more == 1 &&
	       reader.node_type(x->reader) != XML_READER_TYPE_ELEMENT);
	if (more == 1)
		return 0;
	if (more == 0)
		refuse(x, e);
	xml_close(x);
	return -1;
}

void
xml_close(struct xml *x)
{
	if (x->reader)
		reader.free(x->reader);
	x->reader = NULL;
}

static struct str
from_xml(const xmlChar *text)
{
	return str_from((const char *)text);
}

struct str
xml_name(const struct xml *x)
{
	return from_xml(reader.const_local_name(x->reader));
}

struct str
xml_namespace(const struct xml *x)
{
	return from_xml(reader.const_namespace_uri(x->reader));
}

int
xml_next(struct xml *x, int depth, struct err *e)
{
	bool over = true;

	if (reader.node_type(x->reader) == XML_READER_TYPE_ELEMENT &&
	    reader.depth(x->reader) == depth - 1) {
		if (reader.is_empty_element(x->reader))
			return 0;
		over = false;
	}
	for (;;) {
		int more = step(x, over, e);
		int type, at;

		if (more != 1)
			return more;
		type = reader.node_type(x->reader);
		at = reader.depth(x->reader);
		if (at < depth)
			return 0;
		if (type == XML_READER_TYPE_ELEMENT && at == depth &&
		    str_is(xml_namespace(x), x->ns))
			return 1;
		over = true;
	}
}

int
xml_finish(struct xml *x, struct err *e)
{
	int more;

	do
		more = step(x, true, e);
	while (more == 1);
	return more;
}

int
xml_expand(struct xml *x, const xmlNode **out, struct err *e)
{
	*out = reader.expand(x->reader);
	if (!*out || x->fault[0])
		return refuse(x, e);
	return 0;
}

static bool
is_named(const struct xml *x, const xmlNode *node, struct str name)
{
	return node->type == XML_ELEMENT_NODE &&
	       str_eq(from_xml(node->name), name) && node->ns &&
	       str_is(from_xml(node->ns->href), x->ns);
}

const xmlNode *
xml_find(const struct xml *x, const xmlNode *node, const char *path)
{
	struct str rest = str_from(path);

	while (node && rest.n > 0) {
		struct str name = str_take(&rest, '/');

		node = node->children;
		while (node && !is_named(x, node, name))
			node = node->next;
	}
	return node;
}

const xmlNode *
xml_again(const struct xml *x, const xmlNode *node)
{
	const xmlNode *next = node->next;

	while (next && !is_named(x, next, from_xml(node->name)))
		next = next->next;
	return next;
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Appends with white space collapsed; the text never begins with a space. */
static size_t
add_collapsed(char *out, size_t n, size_t max, struct str text)
{
	for (size_t i = 0; i < text.n && n < max; i++) {
		if (!is_space(text.p[i]))
			out[n++] = text.p[i];
		else if (n > 0 && out[n - 1] != ' ')
			out[n++] = ' ';
	}
	return n;
}

static struct str
end_text(const char *p, size_t n, size_t max)
{
	/* Cut only where a character begins. */
	while (n >= max && n > 0 && ((unsigned char)p[n - 1] & 0x80) &&
	       !str_is_utf8((struct str){ p, n }))
		n--;
	if (n > 0 && p[n - 1] == ' ')
		n--;
	return n > 0 ? (struct str){ p, n } : STR_NONE;
}

struct str
xml_text(const struct xml *x, const xmlNode *node, size_t max)
{
	char *out;
	size_t n = 0, room = 0;

	if (!node)
		return STR_NONE;
	for (const xmlNode *t = node->children; t && room < max; t = t->next)
		if (t->content)
			room += strlen((const char *)t->content);
	if (max > room)
		max = room;
	out = arena_alloc(x->arena, max + 1);
	for (const xmlNode *t = node->children; t; t = t->next)
		if (t->type == XML_TEXT_NODE ||
		    t->type == XML_CDATA_SECTION_NODE)
			n = add_collapsed(out, n, max, from_xml(t->content));
	return end_text(out, n, max);
}

struct str
xml_text_at(
    const struct xml *x, const xmlNode *node, const char *path, size_t max)
{
	return xml_text(x, xml_find(x, node, path), max);
}

struct str
xml_attribute(const struct xml *x, const xmlNode *node, const char *name)
{
	if (!node)
		return STR_NONE;
	for (const xmlAttr *a = node->properties; a; a = a->next)
		if (!a->ns && a->children && !a->children->next &&
		    str_is(from_xml(a->name), name))
			return arena_str(
			    x->arena, from_xml(a->children->content));
	return STR_NONE;
}
