#include "domain/applications.h"

#include <string.h>

#include "domain/applications/base62.h"

/* CRC-32 of ISO 3309 (zlib's): keys are typed and pasted, and a slip is told
 * from a wrong key without looking anything up. */
static uint32_t
crc32_of(struct str s)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < s.n; i++) {
		crc ^= (uint8_t)s.p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void
checksum(struct str s, char out[API_KEY_CHECK + 1])
{
	uint32_t crc = crc32_of(s);
	uint8_t b[4] = { (uint8_t)(crc >> 24), (uint8_t)(crc >> 16),
		(uint8_t)(crc >> 8), (uint8_t)crc };

	base62_encode(b, sizeof b, out, API_KEY_CHECK);
}

static const struct prefix {
	enum key_kind kind;
	const char *environment, *text;
} prefixes[] = {
	{ KEY_API, "sandbox", "pby_test_" },
	{ KEY_API, "production", "pby_live_" },
	{ KEY_ACCESS_TOKEN, "sandbox", "pbyt_test_" },
	{ KEY_ACCESS_TOKEN, "production", "pbyt_live_" },
	{ KEY_CLIENT_SECRET, "sandbox", "pbys_test_" },
	{ KEY_CLIENT_SECRET, "production", "pbys_live_" },
};
#define PREFIXES (sizeof prefixes / sizeof prefixes[0])

static const char *
prefix_of(enum key_kind kind, struct str environment)
{
	size_t i = 0;

	while (prefixes[i].kind != kind ||
	       !str_is(environment, prefixes[i].environment))
		i++;
	return prefixes[i].text;
}

static void
swap_characters(char *p, size_t n, char from, char to)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == from)
			p[i] = to;
}

struct str
key_make(struct arena *a, enum key_kind kind, const struct place *place,
    const uint8_t random[48])
{
	char id[API_KEY_ID_RAND + 1], secret[API_KEY_SECRET + 1];
	char check[API_KEY_CHECK + 1];
	char *name = arena_cstr(a, place->workspace);
	struct str text;

	swap_characters(name, place->workspace.n, '-', '_');
	base62_encode(random, 16, id, API_KEY_ID_RAND);
	base62_encode(random + 16, 32, secret, API_KEY_SECRET);
	text = arena_strf(a, "%s%s_%s_%s", prefix_of(kind, place->environment),
	    name, id, secret);
	checksum(text, check);
	text = arena_strf(a, "%.*s%s", STR_ARGS(text), check);
	explicit_bzero(secret, sizeof secret);
	return text;
}

static bool
take_prefix(struct str *rest, struct api_key *key)
{
	for (size_t i = 0; i < PREFIXES; i++) {
		struct str prefix = str_from(prefixes[i].text);

		if (!str_has_prefix(*rest, prefix))
			continue;
		key->kind = prefixes[i].kind;
		key->place.environment = str_from(prefixes[i].environment);
		*rest = str_slice(*rest, prefix.n, rest->n);
		return true;
	}
	return false;
}

static bool
take_workspace(struct arena *a, struct str name, struct place *place)
{
	char *copy;

	/* A dash is not a way to write a dash: one spelling for each key. */
	if (str_find(name, '-') != name.n)
		return false;
	copy = arena_cstr(a, name);
	swap_characters(copy, name.n, '_', '-');
	place->workspace = (struct str){ copy, name.n };
	return workspace_name_is_valid(place->workspace);
}

bool
key_parse(struct arena *a, struct str text, struct api_key *out)
{
	const size_t tail = API_KEY_SECRET + API_KEY_CHECK;
	const size_t end = 1 + API_KEY_ID_RAND + 1 + tail;
	struct str rest = text, digits;
	char check[API_KEY_CHECK + 1];

	*out = (struct api_key){ 0 };
	if (text.n > API_KEY_MAX || !take_prefix(&rest, out) || rest.n <= end)
		return false;
	digits = str_slice(rest, rest.n - end, rest.n);
	if (digits.p[0] != '_' || digits.p[1 + API_KEY_ID_RAND] != '_' ||
	    !base62_is_valid(str_slice(digits, 1, 1 + API_KEY_ID_RAND)) ||
	    !base62_is_valid(str_slice(digits, end - tail, end)))
		return false;
	checksum(str_slice(text, 0, text.n - API_KEY_CHECK), check);
	if (!str_is(str_slice(text, text.n - API_KEY_CHECK, text.n), check) ||
	    !take_workspace(a, str_slice(rest, 0, rest.n - end), &out->place))
		return false;
	out->public_id = str_slice(text, 0, text.n - tail - 1);
	out->sha256 = sha256(text);
	return true;
}
