/* Keys, heights, chains, and the text of a page. */
#include "ledger/chain/index.h"

#include <stdio.h>
#include <string.h>

#include "ledger/codec/text.h"

#define GROUP_BITS 5

/* What comes after every key of a kind, and after every key: no kind and no
 * identifier has a byte as large. */
#define AFTER "~"

static bool
is_kind(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') &&
		    (i == 0 || !((c >= '0' && c <= '9') || c == '_')))
			return false;
	}
	return s.n > 0 && s.n <= INDEX_KIND_MAX;
}

static int
check_kind(struct str kind, struct err *e)
{
	if (is_kind(kind))
		return 0;
	return err_set(e, &err_invalid,
	    "a record's kind is a word of at most %d small letters, digits and "
	    "underscores",
	    INDEX_KIND_MAX);
}

int
index_key_set(
    struct index_key *key, struct str kind, struct uid uid, struct err *e)
{
	if (check_kind(kind, e))
		return -1;
	memcpy(key->p, kind.p, kind.n);
	key->p[kind.n] = ' ';
	uid_format(uid, key->p + kind.n + 1);
	key->n = kind.n + 1 + UID_TEXT;
	return 0;
}

struct str
index_key_str(const struct index_key *key)
{
	return (struct str){ key->p, key->n };
}

unsigned
index_height(struct str key)
{
	struct digest d = sha256(key);
	unsigned zeros = 0;

	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		if (d.b[i] != 0) {
			zeros += (unsigned)__builtin_clz(d.b[i]) - 24;
			break;
		}
		zeros += 8;
	}
	return zeros / GROUP_BITS;
}

struct digest
index_chain_next(struct digest chain, struct digest event)
{
	char text[2 * DIGEST_HEX + 1];

	digest_hex(chain, text);
	digest_hex(event, text + DIGEST_HEX);
	return sha256((struct str){ text, 2 * DIGEST_HEX });
}

void
index_page_begin(struct buf *b, unsigned level)
{
	buf_addf(b, INDEX_FORMAT " %u\n", level);
}

/* The hash and the line's end. */
static void
add_hash(char *at, struct digest d)
{
	digest_hex(d, at);
	at[DIGEST_HEX] = '\n';
}

static size_t
decimal(uint64_t n, char out[20])
{
	char reversed[20];
	size_t digits = 0;

	do
		reversed[digits++] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	for (size_t i = 0; i < digits; i++)
		out[i] = reversed[digits - 1 - i];
	return digits;
}

void
index_page_add_record(
    struct buf *b, struct str key, uint64_t count, struct digest chain)
{
	char number[20];
	size_t digits = decimal(count, number);
	char *at = buf_grow(b, key.n + 1 + digits + 1 + DIGEST_HEX + 1);

	if (!at)
		return;
	memcpy(at, key.p, key.n);
	at += key.n;
	*at++ = ' ';
	memcpy(at, number, digits);
	at += digits;
	*at++ = ' ';
	add_hash(at, chain);
}

void
index_page_add_page(struct buf *b, struct str key, struct digest page)
{
	struct str name = key.n > 0 ? key : STR("-");
	char *at = buf_grow(b, name.n + 1 + DIGEST_HEX + 1);

	if (!at)
		return;
	memcpy(at, name.p, name.n);
	at[name.n] = ' ';
	add_hash(at + name.n + 1, page);
}

struct digest
index_empty(void)
{
	return sha256(STR(INDEX_FORMAT " 0\n"));
}

int
index_range_of_record(
    struct index_range *r, struct str kind, struct uid uid, struct err *e)
{
	struct index_key key;

	if (index_key_set(&key, kind, uid, e))
		return -1;
	memcpy(r->from, key.p, key.n + 1);
	memcpy(r->to, key.p, key.n + 1);
	return 0;
}

int
index_range_of_kind(struct index_range *r, struct str kind, struct uid after,
    struct uid to, struct err *e)
{
	char uid[UID_TEXT + 1] = "";
	int n = (int)kind.n;

	if (check_kind(kind, e))
		return -1;
	if (!uid_is_none(after))
		uid_format(after, uid);
	snprintf(r->from, sizeof r->from, "%.*s %s%s", n, kind.p, uid,
	    uid[0] ? AFTER : "");
	if (uid_is_none(to))
		memcpy(uid, AFTER, sizeof AFTER);
	else
		uid_format(to, uid);
	snprintf(r->to, sizeof r->to, "%.*s %s", n, kind.p, uid);
	return 0;
}
