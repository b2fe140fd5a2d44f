#include "domain/lineage/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "domain/lineage/files.h"
#include "domain/lineage/reply.h"
#include "ledger/base/log.h"

/* A multiple of three, so that pieces of base64 fit together. */
#define PIECE_BYTES 49152
#define TEXT_MAX    (1u << 20)

/* Where the manifest and its base64 go: bytes that no JSON text holds. Within
 * a string the second one is written as its escape. */
#define MARK_MANIFEST "\001"
#define MARK_PAYLOAD  "\002"
#define MARK_ESCAPED  "\\u0002"

enum part { PART_HEAD, PART_MANIFEST, PART_MIDDLE, PART_BASE64, PART_TAIL };

struct stream {
	struct content_source source;
	int fd;
	int part; /* of enum part; beyond: all was given */
	struct str text[PART_TAIL + 1];
	char piece[PIECE_BYTES];
	char base64[BASE64_LENGTH(PIECE_BYTES) + 1];
};

static struct stream *
stream_of(struct content_source *source)
{
	return (struct stream *)(void *)source; /* its first member */
}

/* As many bytes as there is room for; fewer only at the end. */
static bool
fill(struct stream *s, size_t *n)
{
	ssize_t got;

	for (*n = 0; *n < PIECE_BYTES; *n += (size_t)got) {
		do
			got = read(s->fd, s->piece + *n, PIECE_BYTES - *n);
		while (got < 0 && errno == EINTR);
		if (got < 0) {
			log_line(LOG_ERROR, "lineage",
			    "an export's file cannot be read");
			return false;
		}
		if (got == 0)
			break;
	}
	return true;
}

/* The next piece of the file; none at its end, which is where it begins again.
 */
static bool
next_piece(struct stream *s, struct str *out)
{
	size_t n;

	if (!fill(s, &n))
		return false;
	*out = (struct str){ s->piece, n };
	if (n == 0)
		return lseek(s->fd, 0, SEEK_SET) == 0;
	if (s->part == PART_BASE64) {
		base64_encode(s->piece, n, s->base64);
		*out = (struct str){ s->base64, BASE64_LENGTH(n) };
	}
	return true;
}

/* A reply that breaks off is no JSON, so nobody takes it for the whole. */
static struct str
next(struct content_source *source)
{
	struct stream *s = stream_of(source);
	struct str out = STR_NONE;

	while (s->part <= PART_TAIL) {
		if (s->text[s->part].p)
			return s->text[s->part++];
		if (!next_piece(s, &out))
			break;
		if (out.n > 0)
			return out;
		s->part++;
	}
	s->part = PART_TAIL + 1;
	return STR_NONE;
}

static void
end(struct content_source *source)
{
	close(stream_of(source)->fd);
}

/* The text before the mark; *rest goes behind it. */
static struct str
take_before(struct str *rest, struct str mark)
{
	for (size_t i = 0; i + mark.n <= rest->n; i++)
		if (str_eq(str_slice(*rest, i, i + mark.n), mark)) {
			struct str before = str_slice(*rest, 0, i);

			*rest = str_slice(*rest, i + mark.n, rest->n);
			return before;
		}
	return STR_NONE;
}

static int
make_text(struct context *c, const struct export_record *x, struct stream *s,
    struct err *e)
{
	struct lineage_export record;
	struct str text;
	struct buf b;

	if (export_sealed(
		c, x, STR(MARK_MANIFEST), STR(MARK_PAYLOAD), &record, e))
		return -1;
	buf_init(&b, TEXT_MAX);
	json_write(shape_encode(&lineage_export_shape, &record, c->arena), &b);
	text = arena_str(c->arena, buf_str(&b));
	buf_fini(&b);
	s->text[PART_HEAD] = take_before(&text, STR(MARK_MANIFEST));
	s->text[PART_MIDDLE] = take_before(&text, STR(MARK_ESCAPED));
	s->text[PART_TAIL] = text;
	if (!s->text[PART_HEAD].p || !s->text[PART_MIDDLE].p)
		return err_set(e, &err_internal,
		    "the reply has no place for"
		    " the manifest");
	return 0;
}

int
stream_reply(struct context *c, const struct export_record *x,
    const struct content **out, struct err *e)
{
	struct content *content = ARENA_NEW(c->arena, struct content);
	struct stream *s = ARENA_NEW(c->arena, struct stream);
	const char *path;

	s->source = (struct content_source){ next, end };
	if (make_text(c, x, s, e) || export_path(c, x->uid, "", &path, e))
		return -1;
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return err_errno(e, &err_unavailable, "cannot open %s", path);
	content->media_type = "application/json";
	content->source = &s->source;
	content->etag = x->manifest_sha256.hex;
	*out = content;
	return 0;
}
