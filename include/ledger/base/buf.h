/*
 * An owned, growing run of bytes with a maximum given at its birth. Appending
 * beyond the maximum sets a flag and changes nothing more; so a caller appends
 * at will and asks buf_failed once, at the end.
 *
 *	struct buf b;
 *	buf_init(&b, 65536);
 *	buf_addf(&b, "%d\n", 7);
 *	if (buf_failed(&b)) …
 *	buf_fini(&b);
 */
#ifndef LEDGER_BASE_BUF_H
#define LEDGER_BASE_BUF_H

#include "ledger/base/str.h"

struct buf {
	char *p;
	size_t n;
	size_t room;
	size_t max;
	bool failed;
};

void buf_init(struct buf *, size_t max);
void buf_fini(struct buf *);

/* Length zero, flag cleared, memory kept. */
void buf_reset(struct buf *);

void buf_add(struct buf *, struct str);
void buf_add_cstr(struct buf *, const char *);
void buf_add_byte(struct buf *, unsigned char);
void buf_add_u32be(struct buf *, uint32_t);
void buf_add_u64be(struct buf *, uint64_t);
__attribute__((format(printf, 2, 3))) void buf_addf(
    struct buf *, const char *fmt, ...);

/* Room for n more bytes at the end, counted as used; NULL beyond the maximum.
 */
char *buf_grow(struct buf *, size_t n);

bool buf_failed(const struct buf *);

/* The bytes so far, borrowed until the next change. */
struct str buf_str(const struct buf *);

#endif
