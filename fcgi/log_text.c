/*
 * Text from outside, for a log. A client may put its key where it does not
 * belong, into a path for one; the log must not keep it even so.
 */
#include <ctype.h>
#include <string.h>

#include "fcgi/watch.h"

/* With what secrets begin: "pby_live_", "pbyt_test_", "whsec_". */
static size_t
secret_prefix(struct str s)
{
	size_t n = 3;

	if (str_has_prefix(s, STR("whsec_")))
		return sizeof "whsec_" - 1;
	if (!str_has_prefix(s, STR("pby")))
		return 0;
	while (n < s.n && islower((unsigned char)s.p[n]))
		n++;
	return n < s.n && s.p[n] == '_' ? n + 1 : 0;
}

/* Base64 has slashes, which a path has too; only webhooks' secrets are of it.
 */
static size_t
secret_length(struct str s)
{
	bool base64 = s.n > 0 && s.p[0] == 'w';
	size_t n = secret_prefix(s);

	while (n > 0 && n < s.n &&
	       (isalnum((unsigned char)s.p[n]) ||
		   memchr("_-+=%/", s.p[n], base64 ? 6 : 5)))
		n++;
	return n;
}

/* Bytes of the well-formed character at its beginning; 0: there is none. */
static size_t
character_length(struct str s)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++)
		if (str_is_utf8(str_slice(s, 0, n)))
			return n;
	return 0;
}

/*
 * Characters beyond ASCII that a terminal or a viewer obeys: the second set of
 * controls (U+0080 to U+009F), ends of lines (U+2028, U+2029), and those that
 * turn the direction of what follows (U+202A to U+202E, U+2066 to U+2069).
 */
static bool
is_command(struct str character)
{
	unsigned char b[3] = { 0 };

	memcpy(b, character.p, character.n < 3 ? character.n : 3);
	if (character.n == 2)
		return b[0] == 0xc2 && b[1] < 0xa0;
	if (character.n != 3 || b[0] != 0xe2)
		return false;
	return (b[1] == 0x80 && b[2] >= 0xa8 && b[2] <= 0xae) ||
	       (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9);
}

struct str
log_text(struct arena *a, struct str s, size_t max)
{
	char *out = arena_alloc(a, max + 1);
	size_t n = 0;

	while (s.n > 0 && n < max) {
		size_t secret = secret_length(s);
		size_t length = secret ? 0 : character_length(s);

		bool shown = length > 0 && !is_command(str_slice(s, 0, length));

		if (n + length > max)
			break;
		if (shown)
			memcpy(out + n, s.p, length);
		else
			out[n] = secret ? '*' : '?';
		n += shown ? length : 1;
		s = str_slice(s, secret ? secret : length ? length : 1, s.n);
	}
	return (struct str){ out, n };
}
