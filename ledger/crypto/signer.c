#include "ledger/crypto/signer.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/crypto/note.h"

struct signer {
	struct private_key *key;
	struct public_key public;
	uint32_t key_id;
	bool origin_valid;
	char *note_prefix; /* origin and LF */
	size_t origin_n;
};

struct signer *
signer_new(struct private_key *key, struct str origin)
{
	struct signer *s = calloc(1, sizeof *s);

	if (s == NULL || (s->note_prefix = malloc(origin.n + 1)) == NULL)
		abort();
	if (origin.n > 0)
		memcpy(s->note_prefix, origin.p, origin.n);
	s->note_prefix[origin.n] = '\n';
	s->origin_n = origin.n;
	s->origin_valid = origin_is_valid(origin);
	s->key = key;
	s->public = private_key_public(key);
	s->key_id = note_key_id(origin, s->public);
	return s;
}

void
signer_free(struct signer *s)
{
	if (s == NULL)
		return;
	private_key_free(s->key);
	free(s->note_prefix);
	free(s);
}

/*
 * No two of these can begin alike: a valid origin begins with none of the
 * others, since it has a dot before its first slash and no capitals. So notes
 * under any other origin are not signed at all.
 */
static struct str
prefix_of(const struct signer *s, enum signs kind)
{
	switch (kind) {
	case SIGNS_EVENT:
		return STR("{");
	case SIGNS_NOTE:
		if (s->origin_valid)
			return (struct str){ s->note_prefix, s->origin_n + 1 };
		break;
	case SIGNS_COMMIT:
		return STR("SSHSIG");
	case SIGNS_POSSESSION:
		return STR("probity-key/v1\n");
	}
	return STR_NONE;
}

static const char *
name_of(enum signs kind)
{
	switch (kind) {
	case SIGNS_EVENT:
		return "an event";
	case SIGNS_NOTE:
		return "a note of this ledger";
	case SIGNS_COMMIT:
		return "a commit";
	case SIGNS_POSSESSION:
		return "a possession statement";
	}
	return "any kind it knows";
}

int
signer_sign(const struct signer *s, enum signs kind, struct str bytes,
    struct signature *out, struct err *e)
{
	struct str prefix = prefix_of(s, kind);

	if (prefix.n == 0 || !str_has_prefix(bytes, prefix))
		return err_set(e, &err_internal,
		    "the signer refuses bytes that do not begin as %s does",
		    name_of(kind));
	return private_key_sign(s->key, bytes, out, e);
}

struct public_key
signer_public(const struct signer *s)
{
	return s->public;
}

bool
signer_on_token(const struct signer *s)
{
	return private_key_on_token(s->key);
}

struct str
signer_origin(const struct signer *s)
{
	return (struct str){ s->note_prefix, s->origin_n };
}

uint32_t
signer_key_id(const struct signer *s)
{
	return s->key_id;
}
