#include <string.h>
#include <strings.h>

#include "fcgi/headers.h"
#include "ledger/codec/text.h"

static bool
is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* RFC 9110, 11.2. */
static bool
is_token68(struct str s)
{
	while (s.n > 1 && s.p[s.n - 1] == '=')
		s.n--;
	for (size_t i = 0; i < s.n; i++)
		if (!is_alphanumeric(s.p[i]) && !strchr("-._~+/", s.p[i]))
			return false;
	return s.n > 0;
}

bool
header_has_bearer(const struct headers *headers)
{
	struct str value = headers_get(headers, "authorization");
	struct str scheme = str_take(&value, ' ');

	return scheme.n == 6 && strncasecmp(scheme.p, "bearer", 6) == 0;
}

int
header_bearer(const struct headers *headers, struct str *token, struct err *e)
{
	struct str value = headers_get(headers, "authorization");

	if (value.n == 0)
		return err_set(e, &err_unauthorized, "no credential was sent");
	if (!header_has_bearer(headers))
		return err_set(e, &err_unauthorized,
		    "the Authorization header's scheme is not Bearer");
	str_take(&value, ' ');
	while (value.n > 0 && value.p[0] == ' ')
		value = str_slice(value, 1, value.n);
	if (!is_token68(value))
		return err_set(e, &err_unauthorized,
		    "the Authorization header holds no single token");
	*token = value;
	return 0;
}

int
header_password(const struct headers *headers, struct arena *a,
    struct str *token, struct err *e)
{
	struct str rest = headers_get(headers, "authorization");
	struct str scheme = str_take(&rest, ' ');
	char *pair = arena_alloc(a, HEADER_BYTES_MAX);
	size_t n;

	if (scheme.n != 5 || strncasecmp(scheme.p, "basic", 5) != 0)
		return header_bearer(headers, token, e);
	if (!base64_decode(header_trim(rest), pair, HEADER_BYTES_MAX, &n))
		return err_set(e, &err_unauthorized,
		    "the Authorization header is not base64");
	rest = (struct str){ pair, n };
	str_take(&rest, ':');
	if (!is_token68(rest))
		return err_set(
		    e, &err_unauthorized, "the password is no credential");
	*token = rest;
	return 0;
}

/* The string within quotes (RFC 8941, 3.3.3); false when it is not that. */
static bool
unquote(struct arena *a, struct str s, struct str *out)
{
	char *text = arena_alloc(a, s.n + 1);
	size_t n = 0;

	if (s.n < 2 || s.p[s.n - 1] != '"')
		return false;
	for (size_t i = 1; i < s.n - 1; i++) {
		if (s.p[i] == '"')
			return false;
		if (s.p[i] == '\\') {
			i++;
			if (i == s.n - 1 || (s.p[i] != '"' && s.p[i] != '\\'))
				return false;
		}
		text[n++] = s.p[i];
	}
	*out = (struct str){ text, n };
	return true;
}

static bool
is_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e)
			return false;
	return true;
}

int
header_idempotency_key(const struct headers *headers, struct arena *a,
    struct str *key, struct err *e)
{
	static const char name[] = "Idempotency-Key";
	struct str s = headers_get(headers, "idempotency-key");

	*key = STR_NONE;
	if (!s.p)
		return 0;
	if (s.n > 0 && s.p[0] == '"') {
		if (!unquote(a, s, &s))
			return header_fault(
			    e, a, name, "form", "is no quoted string");
	} else if (str_find(s, ',') < s.n || str_find(s, '"') < s.n) {
		return header_fault(e, a, name, "form",
		    "holds a comma or a quote and is not quoted");
	}
	if (s.n < 1 || s.n > 255 || !is_printable(s))
		return header_fault(e, a, name, "form",
		    "must be 1 to 255 printable ASCII characters");
	*key = s;
	return 0;
}

static bool
is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* name=value with a token or a quoted string; charset must be UTF-8. */
static bool
parameter_is_fine(struct str parameter)
{
	struct str value = parameter, name = header_trim(str_take(&value, '='));

	if (name.n == 0 || !value.p)
		return false;
	value = header_trim(value);
	if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		value = str_slice(value, 1, value.n - 1);
	if (value.n == 0)
		return false;
	for (size_t i = 0; i < value.n; i++)
		if (!is_alphanumeric(value.p[i]) &&
		    !strchr("!#$%&'*+-.^_`|~:/", value.p[i]))
			return false;
	return !is_word(name, "charset") || is_word(value, "utf-8");
}

static bool
media_type_is(struct str rest, const char *wanted)
{
	struct str type = header_trim(str_take(&rest, ';'));

	if (!is_word(type, wanted))
		return false;
	while (rest.p) {
		struct str parameter = header_trim(str_take(&rest, ';'));

		if (parameter.n > 0 && !parameter_is_fine(parameter))
			return false;
	}
	return true;
}

bool
media_type_is_json(struct str content_type)
{
	return media_type_is(content_type, "application/json");
}

bool
media_type_is_form(struct str content_type)
{
	return media_type_is(content_type, "application/x-www-form-urlencoded");
}

bool
header_etag_matches(struct str list, struct str etag)
{
	if (str_eq(header_trim(list), STR("*")))
		return true;
	while (list.p) {
		struct str tag = header_trim(str_take(&list, ','));

		/* A weak comparison is what If-None-Match asks for. */
		if (str_has_prefix(tag, STR("W/")))
			tag = str_slice(tag, 2, tag.n);
		if (tag.n > 0 && str_eq(tag, etag))
			return true;
	}
	return false;
}
