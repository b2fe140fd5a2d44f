#include <string.h>

#include "ledger/chain/batch.h"
#include "ledger/codec/text.h"

#define TOKEN_BYTES (4 + sizeof(struct signature))
#define TOKENS_MAX  (32u << 10) /* room for signatures of other kinds */

void
batch_line_add(
    struct buf *b, uint32_t key_id, struct signature sig, struct str event)
{
	uint8_t bytes[TOKEN_BYTES];
	char token[BASE64_LENGTH(TOKEN_BYTES) + 1];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(key_id >> (24 - 8 * i));
	memcpy(bytes + 4, sig.b, sizeof sig.b);
	base64_encode(bytes, sizeof bytes, token);
	buf_add(b, (struct str){ token, sizeof token - 1 });
	buf_add_byte(b, ' ');
	buf_add(b, event);
	buf_add_byte(b, '\n');
}

int
batch_line_next(struct str *rest, struct batch_line *line, struct err *e)
{
	const char *lf, *sp;

	if (rest->n == 0)
		return 0;
	lf = memchr(rest->p, '\n', rest->n);
	if (!lf)
		return err_set(e, &err_corrupt, "a line without its end");
	line->whole = (struct str){ rest->p, (size_t)(lf - rest->p) };
	sp = memchr(rest->p, ' ', line->whole.n);
	if (!sp)
		return err_set(e, &err_corrupt, "a line without signatures");
	line->signatures = (struct str){ rest->p, (size_t)(sp - rest->p) };
	line->event =
	    str_slice(line->whole, line->signatures.n + 1, line->whole.n);
	if (line->signatures.n == 0 || line->signatures.n > TOKENS_MAX)
		return err_set(e, &err_corrupt, "a line without signatures");
	if (line->event.n == 0 || line->event.n > EVENT_MAX)
		return err_set(e, &err_corrupt,
		    "an event of %zu bytes; it has 1 to %d", line->event.n,
		    EVENT_MAX);
	*rest = str_slice(*rest, line->whole.n + 1, rest->n);
	return 1;
}

int
batch_line_parse(
    struct arena *a, struct str whole, struct batch_line *line, struct err *e)
{
	char *with_lf = arena_alloc(a, whole.n + 1);
	struct str rest = { with_lf, whole.n + 1 };

	if (whole.n > 0)
		memcpy(with_lf, whole.p, whole.n);
	with_lf[whole.n] = '\n';
	if (batch_line_next(&rest, line, e) <= 0)
		return -1;
	if (rest.n > 0)
		return err_set(e, &err_corrupt, "the line holds more than one");
	return 0;
}

/* The token's key id and how many bytes follow it, kept when there is room. */
static bool
decode_token(struct str token, uint32_t *key_id, uint8_t *bytes, size_t *n)
{
	uint8_t all[TOKENS_MAX];

	if (!base64_decode(token, all, sizeof all, n) || *n < 5)
		return false;
	*key_id = (uint32_t)all[0] << 24 | (uint32_t)all[1] << 16 |
		  (uint32_t)all[2] << 8 | all[3];
	*n -= 4;
	if (*n == sizeof(struct signature))
		memcpy(bytes, all + 4, *n);
	return true;
}

bool
batch_line_signature(
    const struct batch_line *line, uint32_t key_id, struct signature *out)
{
	struct str rest = line->signatures;
	bool found = false;

	while (rest.p) {
		struct signature sig;
		uint32_t id;
		size_t n;

		if (!decode_token(str_take(&rest, ','), &id, sig.b, &n))
			return false;
		if (id != key_id)
			continue;
		if (found || n != sizeof sig.b)
			return false;
		*out = sig;
		found = true;
	}
	return found;
}

bool
batch_line_key_id(const struct batch_line *line, uint32_t *key_id)
{
	struct str rest = line->signatures;
	struct signature any;
	size_t n;

	return decode_token(str_take(&rest, ','), key_id, any.b, &n);
}
