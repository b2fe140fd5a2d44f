#include "ledger/store/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/store/loose.h"

static void
tell(const struct meter *m, uint64_t bytes)
{
	if (m && m->call)
		m->call(m->arg, bytes);
}

/* Pages that are dirty, or mapped by somebody, stay. */
static void
drop_from_memory(const struct repo *r, struct oid o)
{
	char place[LOOSE_NAME];
	int fd;

	loose_name(o, place);
	fd = openat(r->objects, place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/* A header that claims more than max, or another kind, is damage: what the
 * ledger wrote has neither. */
static void
look_at_loose(struct repo *r, struct oid o, enum object_kind kind, size_t max,
    const struct meter *m, struct arena *a, struct inspection *out)
{
	enum loose_result found;
	struct loose l;
	char *p;

	drop_from_memory(r, o);
	found = loose_open(r->objects, o, &l);
	if (found == LOOSE_ABSENT)
		return;
	out->there = out->loose_damaged = true;
	if (found == LOOSE_TORN)
		return;
	if (l.kind == (git_object_t)kind && l.size <= max) {
		p = arena_alloc(a, l.size + 1);
		out->bytes = (struct str){ p, l.size };
		out->readable = loose_content(&l, p) &&
				oid_eq(repo_oid_plain(kind, out->bytes), o);
		out->loose_damaged = !out->readable;
	}
	tell(m, l.file_bytes);
	posix_fadvise(l.fd, 0, 0, POSIX_FADV_DONTNEED);
	loose_close(&l);
}

int
inspect_object(struct repo *r, struct oid o, enum object_kind kind, size_t max,
    const struct meter *m, struct arena *a, struct inspection *out,
    struct err *e)
{
	struct err why = { 0 };

	*out = (struct inspection){ 0 };
	look_at_loose(r, o, kind, max, m, a, out);
	if (out->readable)
		return 0;
	if (repo_read(r, o, kind, max, a, &out->bytes, &why) == 0) {
		out->readable = out->there = true;
		tell(m, out->bytes.n);
		return 0;
	}
	out->there = out->there || repo_has(r, o);
	if (why.kind == &err_corrupt || why.kind == &err_not_found ||
	    why.kind == &err_too_large)
		return 0;
	return err_set(e, why.kind, "%s", why.detail);
}
