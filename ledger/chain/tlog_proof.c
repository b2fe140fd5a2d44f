#include "ledger/chain/tlog_proof.h"

#include <inttypes.h>

#include "ledger/codec/text.h"

#define FIRST_LINE "c2sp.org/tlog-proof@v1"
#define EXTRA_MAX  65536

void
tlog_proof_add(struct buf *b, const struct tlog_proof *p)
{
	buf_addf(b, FIRST_LINE "\n");
	if (p->extra.p) {
		buf_addf(b, "extra ");
		base64_add(b, p->extra);
		buf_add_byte(b, '\n');
	}
	buf_addf(b, "index %" PRIu64 "\n", p->index);
	for (size_t i = 0; i < p->path.n; i++) {
		base64_add(b, (struct str){ (const char *)p->path.hashes[i].b,
				  DIGEST_BYTES });
		buf_add_byte(b, '\n');
	}
	buf_add_byte(b, '\n');
	buf_add(b, p->checkpoint);
}

static int
malformed(struct err *e, const char *what)
{
	return err_set(e, &err_malformed, "not a tlog-proof: %s", what);
}

/* The line without its LF; false at the text's end. */
static bool
take_line(struct str *rest, struct str *line)
{
	size_t at = str_find(*rest, '\n');

	if (at == rest->n)
		return false;
	*line = str_slice(*rest, 0, at);
	*rest = str_slice(*rest, at + 1, rest->n);
	return true;
}

static int
read_extra(
    struct arena *a, struct str digits, struct tlog_proof *p, struct err *e)
{
	char *bytes;
	size_t n;

	if (digits.n > BASE64_LENGTH(EXTRA_MAX))
		return malformed(e, "the extra data is too long");
	bytes = arena_alloc(a, digits.n + 1);
	if (!base64_decode(digits, bytes, digits.n, &n))
		return malformed(e, "the extra data is not base64");
	p->extra = (struct str){ bytes, n };
	return 0;
}

static int
read_path(struct str *rest, struct merkle_proof *path, struct err *e)
{
	struct str line;
	size_t n;

	for (path->n = 0; take_line(rest, &line); path->n++) {
		if (line.n == 0)
			return 0;
		if (path->n == PROOF_HASHES)
			return malformed(e, "too many hashes");
		if (!base64_decode(
			line, path->hashes[path->n].b, DIGEST_BYTES, &n) ||
		    n != DIGEST_BYTES)
			return malformed(e, "a hash is not one");
	}
	return malformed(e, "no checkpoint");
}

int
tlog_proof_parse(
    struct arena *a, struct str text, struct tlog_proof *p, struct err *e)
{
	struct str line;

	*p = (struct tlog_proof){ 0 };
	if (!take_line(&text, &line) || !str_is(line, FIRST_LINE))
		return malformed(e, "the first line is another");
	if (!take_line(&text, &line))
		return malformed(e, "no index");
	if (str_has_prefix(line, STR("extra "))) {
		if (read_extra(a, str_slice(line, 6, line.n), p, e))
			return -1;
		if (!take_line(&text, &line))
			return malformed(e, "no index");
	}
	if (!str_has_prefix(line, STR("index ")) ||
	    !str_to_u64(str_slice(line, 6, line.n), &p->index))
		return malformed(e, "no index");
	if (read_path(&text, &p->path, e))
		return -1;
	p->checkpoint = text;
	return 0;
}

int
tlog_proof_check(const struct tlog_proof *p, struct arena *a, struct str event,
    struct str origin, struct public_key key, struct checkpoint *c,
    struct err *e)
{
	struct note note;

	if (note_parse(a, p->checkpoint, &note, e) ||
	    checkpoint_parse(note.text, c, e))
		return -1;
	if (!str_eq(c->origin, origin))
		return err_set(e, &err_corrupt,
		    "the checkpoint is of another ledger: %.*s",
		    STR_ARGS(c->origin));
	if (!note_verify(&note, origin, key))
		return err_set(
		    e, &err_corrupt, "the checkpoint's signature is bad");
	if (!proof_includes(
		merkle_leaf(event), p->index, c->size, &p->path, c->root))
		return err_set(e, &err_corrupt,
		    "the event is not in the tree of %" PRIu64 " events",
		    c->size);
	return 0;
}
