/*
 * Loose objects are read and written here and not by libgit2, whose version
 * 1.5 never returns from a read of a file that was torn off, and which, asked
 * for no compression, leaves out the zlib frame that every reader expects.
 */
#ifndef LEDGER_STORE_LOOSE_H
#define LEDGER_STORE_LOOSE_H

#include <zlib.h>

#include "ledger/store/repo_git.h"

#define LOOSE_HEAD 64

/* A loose object, opened: kind and size are known, the content is not read. */
struct loose {
	git_object_t kind;
	size_t size;
	int fd;
	z_stream z;
	bool ended; /* the zlib stream, checksum included */
	uint64_t file_bytes;
	size_t head_n, head_at; /* what came along with the header */
	unsigned char head[LOOSE_HEAD];
	unsigned char in[4096];
};

/* LOOSE_OK leaves an open object behind, to be closed. */
enum loose_result { LOOSE_OK, LOOSE_ABSENT, LOOSE_TORN };
enum loose_result loose_open(int objects, struct oid, struct loose *);

/* All size bytes; false when the file does not hold exactly these. The id is
 * not checked. */
bool loose_content(struct loose *, void *into);
void loose_close(struct loose *);

/* Reading for libgit2's own use: packing, and looking at a reference's target.
 * objects stays the caller's and open. */
git_odb_backend *loose_backend_new(int objects);

#endif
