/*
 * One key after the other. Verifiers judge a key by the number of an event; the
 * windows of time are for stock git alone. ssh-keygen takes both ends of one
 * in, and passes over a line whose window is a single second, so a window is
 * made a second longer rather than that.
 */
#include <string.h>

#include "ledger/chain/key_event.h"
#include "ledger/chain/signers.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/sshsig.h"

#define SECOND_US 1000000

/* A revocation takes two entries, and has to be possible always. */
#define ROTATIONS (SIGNERS_KEYS - 2)

static struct instant
second_of(struct instant at)
{
	return (struct instant){ at.us / SECOND_US * SECOND_US };
}

void
signers_open(struct signers *s, struct str origin, const struct opened *opened)
{
	*s = (struct signers){
		.origin = origin, .recovery = opened->recovery, .n = 1
	};
	s->keys[0].key = opened->key;
}

const struct signers_key *
signers_in_force(const struct signers *s)
{
	return s->n > 0 ? &s->keys[s->n - 1] : NULL;
}

const struct signers_key *
signers_at(const struct signers *s, uint64_t seq)
{
	for (size_t i = 0; i < s->n; i++)
		if (seq >= s->keys[i].from_seq &&
		    (!s->keys[i].ended || seq <= s->keys[i].until_seq))
			return &s->keys[i];
	return NULL;
}

const struct signers_key *
signers_find(const struct signers *s, struct public_key key)
{
	for (size_t i = 0; i < s->n; i++)
		if (public_key_eq(s->keys[i].key, key))
			return &s->keys[i];
	return NULL;
}

const struct signers_key *
signers_void(const struct signers *s, uint64_t seq)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->keys[i].recovery && seq >= s->keys[i].void_from &&
		    seq < s->keys[i].from_seq)
			return &s->keys[i];
	return NULL;
}

/* The window's end, so that the window is longer than one second. */
static struct instant
end_window(struct instant after, struct instant at)
{
	struct instant end = second_of(at);

	if (after.us != 0 && end.us <= after.us)
		end.us = after.us + SECOND_US;
	return end;
}

static int
check_new(const struct signers *s, struct public_key next, size_t max,
    size_t more, struct err *e)
{
	if (s->n + more > max)
		return err_set(e, &err_conflict,
		    "the ledger has had %zu keys, and can have no more: close "
		    "it and open one that continues it",
		    s->n);
	if (signers_find(s, next) || public_key_eq(next, s->recovery))
		return err_set(e, &err_conflict,
		    "the new key is one that this ledger has or had: make "
		    "another");
	return 0;
}

int
signers_rotate(struct signers *s, struct public_key next, uint64_t seq,
    struct instant at, struct err *e)
{
	struct signers_key *old = &s->keys[s->n - 1];

	if (check_new(s, next, ROTATIONS, 1, e))
		return -1;
	old->ended = true;
	old->until_seq = seq;
	old->before = end_window(old->after, at);
	s->keys[s->n++] = (struct signers_key){ .key = next,
		.from_seq = seq + 1,
		.named_by = seq,
		.after = { old->before.us + SECOND_US } };
	return 0;
}

static int
check_revoked(const struct signers *s, const struct revoked *r, uint64_t seq,
    struct err *e)
{
	const struct signers_key *at = signers_at(s, r->size);

	if (r->size == 0 || r->size > seq)
		return err_set(e, &err_conflict,
		    "the last good size is not one that the ledger has had");
	for (size_t i = 0; i < s->n; i++)
		if (s->keys[i].recovery && r->size <= s->keys[i].from_seq)
			return err_set(e, &err_conflict,
			    "the last good size is before an earlier "
			    "revocation");
	if (at && !public_key_eq(at->key, r->revoked))
		return err_set(e, &err_conflict,
		    "the revoked key is not the one that was in force then");
	return at ? 0 : err_set(e, &err_conflict, "no key was in force then");
}

/* From `size` on nothing by these keys is good: the window of the one in force
 * then ends with the last good commit, those after it have none. */
static void
close_windows(struct signers *s, uint64_t size, struct instant last_good)
{
	for (size_t i = 0; i < s->n; i++) {
		struct signers_key *k = &s->keys[i];

		if (k->ended && k->until_seq < size)
			continue;
		k->before = k->from_seq >= size
				? k->after
				: end_window(k->after, last_good);
	}
}

int
signers_revoke(struct signers *s, const struct revoked *r, uint64_t seq,
    struct instant at, struct instant last_good, struct err *e)
{
	struct signers_key *old;

	if (check_new(s, r->key, SIGNERS_KEYS, 2, e) ||
	    check_revoked(s, r, seq, e))
		return -1;
	close_windows(s, r->size, last_good);
	/* A key that signed nothing leaves no entry. */
	if (s->keys[s->n - 1].from_seq == seq)
		s->n--;
	old = &s->keys[s->n - 1];
	old->ended = true;
	old->until_seq = seq - 1;
	s->keys[s->n++] = (struct signers_key){ .key = s->recovery,
		.from_seq = seq,
		.ended = true,
		.until_seq = seq,
		.named_by = seq,
		.recovery = true,
		.void_from = r->size,
		.after = second_of(at),
		.before = { second_of(at).us + SECOND_US } };
	s->keys[s->n++] = (struct signers_key){ .key = r->key,
		.from_seq = seq + 1,
		.named_by = seq,
		.after = { second_of(at).us + 2 * SECOND_US } };
	return 0;
}

void
signers_text(const struct signers *s, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct signers_key *k = &s->keys[i];

		if (k->before.us == 0 || k->before.us > k->after.us)
			allowed_signers_add(
			    b, s->origin, k->key, k->after, k->before);
	}
}

/* ,name="YYYYMMDDHHMMSSZ", which may be absent. */
static bool
take_bound(struct str *line, struct str name, struct instant *out)
{
	char text[] = "0000-00-00T00:00:00Z";
	static const int places[] = { 0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15,
		17, 18 };

	if (!str_has_prefix(*line, name))
		return true;
	*line = str_slice(*line, name.n, line->n);
	if (line->n < 16 || line->p[14] != 'Z' || line->p[15] != '"')
		return false;
	for (size_t i = 0; i < 14; i++)
		text[places[i]] = line->p[i];
	*line = str_slice(*line, 16, line->n);
	return instant_parse_rfc3339(str_from(text), out);
}

static bool
parse_line(struct str origin, struct str line, struct signers_key *k)
{
	struct str principal = str_take(&line, ' ');

	if (!str_eq(principal, origin) ||
	    !str_has_prefix(line, STR("namespaces=\"git\"")))
		return false;
	line = str_slice(line, strlen("namespaces=\"git\""), line.n);
	if (!take_bound(&line, STR(",valid-after=\""), &k->after) ||
	    !take_bound(&line, STR(",valid-before=\""), &k->before) ||
	    !str_has_prefix(line, STR(" ")))
		return false;
	k->ended = k->before.us != 0;
	return key_line_decode(str_slice(line, 1, line.n), &k->key);
}

int
signers_parse(
    struct signers *s, struct str origin, struct str text, struct err *e)
{
	*s = (struct signers){ .origin = origin };
	while (text.n > 0) {
		struct str line = str_take(&text, '\n');

		if (s->n == SIGNERS_KEYS ||
		    (s->n > 0 && !s->keys[s->n - 1].ended) ||
		    !parse_line(origin, line, &s->keys[s->n]))
			return err_set(e, &err_corrupt,
			    "allowed_signers is not what key events give");
		s->n++;
	}
	if (s->n == 0 || s->keys[s->n - 1].ended)
		return err_set(
		    e, &err_corrupt, "allowed_signers has no key in force");
	s->keys[s->n - 1].from_seq = 1;
	return 0;
}
