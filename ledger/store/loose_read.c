#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/loose.h"

/* deflate does not do better than this, so a larger claim is a lie. */
#define INFLATE_MOST 1032

/* Runs inflate until out is full or the stream ends; false on bad or missing
 * input. *n becomes what was put out. */
static bool
inflate_some(struct loose *l, unsigned char *out, size_t *n)
{
	size_t want = *n;
	int rc = Z_OK;

	*n = 0;
	while (rc == Z_OK && *n < want && !l->ended) {
		size_t step = want - *n < 1u << 30 ? want - *n : 1u << 30;

		if (!l->z.avail_in) {
			ssize_t got = read(l->fd, l->in, sizeof(l->in));

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return false;
			l->z.next_in = l->in;
			l->z.avail_in = (uInt)got;
		}
		l->z.next_out = out + *n;
		l->z.avail_out = (uInt)step;
		rc = inflate(&l->z, Z_NO_FLUSH);
		*n += step - l->z.avail_out;
	}
	l->ended = l->ended || rc == Z_STREAM_END;
	return rc == Z_OK || rc == Z_STREAM_END;
}

static bool
header_parse(struct loose *l)
{
	static const struct {
		const char *word;
		git_object_t kind;
	} kinds[] = {
		{ "commit", GIT_OBJECT_COMMIT },
		{ "tree", GIT_OBJECT_TREE },
		{ "blob", GIT_OBJECT_BLOB },
		{ "tag", GIT_OBJECT_TAG },
	};
	struct str head = { (const char *)l->head, l->head_n };
	size_t end = str_find(head, '\0');
	struct str size = str_slice(head, 0, end), word;
	uint64_t n;

	if (end == head.n)
		return false;
	word = str_take(&size, ' ');
	if (!size.p || !str_to_u64(size, &n) || n >= SIZE_MAX / 2 ||
	    n / INFLATE_MOST > l->file_bytes)
		return false;
	l->size = (size_t)n;
	l->head_at = end + 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_is(word, kinds[i].word)) {
			l->kind = kinds[i].kind;
			return l->head_n - l->head_at <= l->size;
		}
	return false;
}

enum loose_result
loose_open(int objects, struct oid o, struct loose *l)
{
	char place[LOOSE_NAME];
	struct stat st;

	loose_name(o, place);
	memset(&l->z, 0, sizeof(l->z));
	l->ended = false;
	l->fd = openat(objects, place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (l->fd < 0)
		return errno == ENOENT ? LOOSE_ABSENT : LOOSE_TORN;
	if (fstat(l->fd, &st) || !S_ISREG(st.st_mode) ||
	    inflateInit(&l->z) != Z_OK) {
		close(l->fd);
		return LOOSE_TORN;
	}
	l->file_bytes = (uint64_t)st.st_size;
	l->head_n = sizeof(l->head);
	if (inflate_some(l, l->head, &l->head_n) && header_parse(l))
		return LOOSE_OK;
	loose_close(l);
	return LOOSE_TORN;
}

bool
loose_content(struct loose *l, void *into)
{
	unsigned char *out = into, more;
	size_t had = l->head_n - l->head_at, left = l->size - had, one = 1;

	memcpy(out, l->head + l->head_at, had);
	if (left) {
		size_t n = left;

		if (!inflate_some(l, out + had, &n) || n != left)
			return false;
	}
	/* The stream's end, with its checksum, and no byte more. */
	return inflate_some(l, &more, &one) && l->ended && one == 0 &&
	       !l->z.avail_in && read(l->fd, &more, 1) == 0;
}

void
loose_close(struct loose *l)
{
	inflateEnd(&l->z);
	close(l->fd);
}

/* The backend for libgit2. */

struct loose_backend {
	git_odb_backend parent; /* first: libgit2 knows this alone */
	int objects;
};

static int
backend_result(enum loose_result result)
{
	if (result == LOOSE_TORN)
		git2.error_set_str(GIT_ERROR_ODB, "a loose object is torn");
	return result == LOOSE_ABSENT ? GIT_ENOTFOUND : GIT_ERROR;
}

static enum loose_result
backend_open(git_odb_backend *b, const git_oid *id, struct loose *l)
{
	const struct loose_backend *lb = (const struct loose_backend *)b;

	return loose_open(lb->objects, oid_from_git(id), l);
}

static int
backend_read(void **out, size_t *n, git_object_t *kind, git_odb_backend *b,
    const git_oid *id)
{
	struct loose l;
	enum loose_result result = backend_open(b, id, &l);
	void *p;

	if (result != LOOSE_OK)
		return backend_result(result);
	p = git2.odb_backend_data_alloc(b, l.size + 1);
	if (!p || !loose_content(&l, p)) {
		loose_close(&l);
		git2.odb_backend_data_free(b, p);
		return backend_result(LOOSE_TORN);
	}
	((char *)p)[l.size] = '\0';
	*out = p;
	*n = l.size;
	*kind = l.kind;
	loose_close(&l);
	return 0;
}

static int
backend_read_header(
    size_t *n, git_object_t *kind, git_odb_backend *b, const git_oid *id)
{
	struct loose l;
	enum loose_result result = backend_open(b, id, &l);

	if (result != LOOSE_OK)
		return backend_result(result);
	*n = l.size;
	*kind = l.kind;
	loose_close(&l);
	return 0;
}

static int
backend_exists(git_odb_backend *b, const git_oid *id)
{
	const struct loose_backend *lb = (const struct loose_backend *)b;
	char place[LOOSE_NAME];

	loose_name(oid_from_git(id), place);
	return !faccessat(lb->objects, place, F_OK, 0);
}

static void
backend_free(git_odb_backend *b)
{
	free(b);
}

git_odb_backend *
loose_backend_new(int objects)
{
	struct loose_backend *lb = calloc(1, sizeof(*lb));

	if (!lb)
		abort();
	git2.odb_init_backend(&lb->parent, GIT_ODB_BACKEND_VERSION);
	lb->objects = objects;
	lb->parent.read = backend_read;
	lb->parent.read_header = backend_read_header;
	lb->parent.exists = backend_exists;
	lb->parent.free = backend_free;
	return &lb->parent;
}
