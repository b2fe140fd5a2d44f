#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "ledger/store/journal.h"
#include "ledger/base/io.h"
#include "ledger/crypto/hash.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
struct journal {
	int fd;
	uint64_t start, end;
};
struct hdr {
	uint64_t magic, pos, len, first, count;
	uint32_t has_parent, nobj;
	struct oid parent, commit;
	uint8_t sum[32];
};
int
journal_open(const char *p, struct journal **o, struct err *e)
{
	struct journal *j = calloc(1, sizeof *j);
	j->fd = open(p, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (j->fd < 0)
		return err_errno(e, &err_unavailable, "j");
	struct stat st;
	fstat(j->fd, &st);
	if (st.st_size == 0) {
		char *z = calloc(1, JOURNAL_BYTES + 4096);
		io_pwrite_all(j->fd, z, JOURNAL_BYTES + 4096, 0);
		free(z);
		fsync(j->fd);
	}
	*o = j;
	return 0;
}
void
journal_close(struct journal *j)
{
	if (j) {
		close(j->fd);
		free(j);
	}
}
static int
rd(struct journal *j, uint64_t pos, struct hdr *h)
{
	if (io_pread_all(
		j->fd, h, sizeof *h, (off_t)(4096 + pos % JOURNAL_BYTES)))
		return 0;
	return h->magic == 0x4a4a && h->pos == pos;
}
int
journal_refresh(struct journal *j, struct err *e)
{
	(void)e;
	uint64_t s;
	io_pread_all(j->fd, &s, 8, 0);
	j->start = s;
	if (j->end < s)
		j->end = s;
	struct hdr h;
	for (;;) {
		uint64_t p = j->end;
		if (rd(j, p, &h)) {
			j->end += h.len;
			continue;
		}
		uint64_t w = (p / JOURNAL_BYTES + 1) * JOURNAL_BYTES;
		if (p % JOURNAL_BYTES && rd(j, w, &h)) {
			j->end = w + h.len;
			continue;
		}
		break;
	}
	return 0;
}
uint64_t
journal_start(const struct journal *j)
{
	return j->start;
}
uint64_t
journal_end(const struct journal *j)
{
	return j->end;
}
int
journal_read(struct journal *j, uint64_t *pos, struct arena *a,
    struct record *r, struct err *e)
{
	(void)e;
	struct hdr h;
	if (*pos >= j->end)
		return 0;
	if (!rd(j, *pos, &h)) {
		*pos = (*pos / JOURNAL_BYTES + 1) * JOURNAL_BYTES;
		if (!rd(j, *pos, &h))
			return 0;
	}
	char *b = arena_alloc(a, h.len);
	io_pread_all(j->fd, b, h.len, (off_t)(4096 + *pos % JOURNAL_BYTES));
	*pos += h.len;
	struct object *o = arena_array(a, h.nobj, sizeof *o);
	char *p = b + sizeof h;
	for (unsigned i = 0; i < h.nobj; i++) {
		uint32_t k;
		uint64_t n;
		memcpy(&k, p, 4);
		memcpy(&n, p + 4, 8);
		memcpy(&o[i].oid, p + 12, 20);
		o[i].kind = (enum object_kind)k;
		o[i].bytes = (struct str){ p + 32, n };
		p += 32 + n;
	}
	*r = (struct record){ h.has_parent, h.parent, h.commit, h.first,
		h.count, o, h.nobj };
	return 1;
}
int
journal_append(struct journal *j, const struct record *r, struct err *e)
{
	size_t n = sizeof(struct hdr);
	for (size_t i = 0; i < r->n_objects; i++)
		n += 32 + r->objects[i].bytes.n;
	n = (n + 511) / 512 * 512;
	uint64_t pos = j->end;
	if (pos % JOURNAL_BYTES + n > JOURNAL_BYTES)
		pos = (pos / JOURNAL_BYTES + 1) * JOURNAL_BYTES;
	char *b = calloc(1, n);
	struct hdr h = { 0x4a4a, pos, n, r->first_seq, r->count, r->has_parent,
		(uint32_t)r->n_objects, r->parent, r->commit, { 0 } };
	memcpy(b, &h, sizeof h);
	char *p = b + sizeof h;
	for (size_t i = 0; i < r->n_objects; i++) {
		uint32_t k = r->objects[i].kind;
		uint64_t m = r->objects[i].bytes.n;
		memcpy(p, &k, 4);
		memcpy(p + 4, &m, 8);
		memcpy(p + 12, &r->objects[i].oid, 20);
		memcpy(p + 32, r->objects[i].bytes.p, m);
		p += 32 + m;
	}
	struct digest d = sha256((struct str){ b, n });
	(void)d;
	int rc =
	    io_pwrite_all(j->fd, b, n, (off_t)(4096 + pos % JOURNAL_BYTES));
	free(b);
	if (rc || fdatasync(j->fd))
		return err_set(e, &err_unavailable, "x");
	j->end = pos + n;
	return 0;
}
int
journal_recover(struct journal *j, struct err *e)
{
	return journal_refresh(j, e);
}
int
journal_free(struct journal *j, uint64_t u, struct err *e)
{
	(void)e;
	j->start = u;
	io_pwrite_all(j->fd, &u, 8, 0);
	fdatasync(j->fd);
	return 0;
}
bool
journal_from_other_boot(const struct journal *j)
{
	(void)j;
	return false;
}
int
journal_mark_boot(struct journal *j, struct err *e)
{
	(void)j;
	(void)e;
	return 0;
}
uint64_t
journal_used(const struct journal *j)
{
	return j->end - j->start;
}
