#include "ledger/crypto/pkcs11_uri.h"

#include <string.h>

enum part { IN_PATH, IN_QUERY };
enum value { TEXT, BYTES, CLASS, NUMBER, VERSION };

/* `at` is one more than the offset of its field; 0: it has none. */
struct attribute {
	const char *name;
	enum part part;
	enum value value;
	size_t at;
};

#define KEPT(name, part, value, field)                                    \
	{                                                                 \
		name, part, value, offsetof(struct pkcs11_uri, field) + 1 \
	}
#define KNOWN(name, part, value)     \
	{                            \
		name, part, value, 0 \
	}

static const struct attribute attributes[] = {
	KEPT("token", IN_PATH, TEXT, token),
	KEPT("manufacturer", IN_PATH, TEXT, manufacturer),
	KEPT("serial", IN_PATH, TEXT, serial),
	KEPT("model", IN_PATH, TEXT, model),
	KEPT("object", IN_PATH, TEXT, object),
	KEPT("id", IN_PATH, BYTES, id),
	KEPT("type", IN_PATH, CLASS, type),
	KNOWN("library-manufacturer", IN_PATH, TEXT),
	KNOWN("library-description", IN_PATH, TEXT),
	KNOWN("library-version", IN_PATH, VERSION),
	KNOWN("slot-manufacturer", IN_PATH, TEXT),
	KNOWN("slot-description", IN_PATH, TEXT),
	KNOWN("slot-id", IN_PATH, NUMBER),
	KEPT("pin-source", IN_QUERY, TEXT, pin_source),
	KEPT("pin-value", IN_QUERY, TEXT, pin_value),
	KEPT("module-path", IN_QUERY, TEXT, module_path),
	KNOWN("module-name", IN_QUERY, TEXT),
};
#define ATTRIBUTES (sizeof attributes / sizeof *attributes)

_Static_assert(ATTRIBUTES <= 32, "one bit each");

struct parser {
	struct pkcs11_uri *uri;
	uint32_t seen;
	struct err *e;
};

static bool
is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* The characters that stand for themselves; the separators of either part are
 * not among its own. */
static bool
is_plain(char c, enum part part)
{
	const char *more = part == IN_PATH ? "&" : "/?|";

	return c != '\0' &&
	       (is_alphanumeric(c) || strchr("-._~:[]@!$'()*+,=", c) != NULL ||
		   strchr(more, c) != NULL);
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value behind its escapes, into the struct's text: it is never longer than
 * what was written, so there is room. */
static bool
decode(struct pkcs11_uri *u, struct str s, enum part part, struct str *out)
{
	char *to = u->text + u->n;
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		int high, low;

		if (s.p[i] != '%') {
			if (!is_plain(s.p[i], part))
				return false;
			to[n++] = s.p[i];
			continue;
		}
		if (s.n - i < 3 || (high = hex_value(s.p[i + 1])) < 0 ||
		    (low = hex_value(s.p[i + 2])) < 0)
			return false;
		to[n++] = (char)(high << 4 | low);
		i += 2;
	}
	*out = (struct str){ to, n };
	u->n += n;
	return true;
}

static bool
is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static bool
is_version(struct str s)
{
	struct str major = str_take(&s, '.');

	return is_digits(major) && (!s.p || is_digits(s));
}

static bool
is_class(struct str s)
{
	static const char *const classes[] = { "public", "private", "cert",
		"secret-key", "data" };

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (str_is(s, classes[i]))
			return true;
	return false;
}

static bool
is_value(struct str s, enum value value)
{
	switch (value) {
	case TEXT:
		return str_is_utf8(s) && str_find(s, '\0') == s.n;
	case BYTES:
		return true;
	case CLASS:
		return is_class(s);
	case NUMBER:
		return is_digits(s);
	case VERSION:
		return is_version(s);
	}
	return false;
}

/* A name of nobody's here is a vendor's (section 2.3, pk11-v-attr-nm-char). */
static bool
is_vendor_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alphanumeric(s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
			return false;
	return s.n > 0;
}

static int
keep(struct parser *p, const struct attribute *a, struct str raw)
{
	uint32_t bit = UINT32_C(1) << (a - attributes);
	struct str value;

	if (p->seen & bit)
		return err_set(
		    p->e, &err_malformed, "the URI has %s twice", a->name);
	p->seen |= bit;
	if (!decode(p->uri, raw, a->part, &value) || !is_value(value, a->value))
		return err_set(p->e, &err_malformed,
		    "the URI's %s is not written as RFC 7512 has it", a->name);
	if (a->at == 0)
		p->uri->unmatched = a->name;
	else
		memcpy((char *)p->uri + a->at - 1, &value, sizeof value);
	return 0;
}

static int
keep_vendor(struct parser *p, struct str name, struct str raw, enum part part)
{
	struct str value;

	if (!is_vendor_name(name) || !decode(p->uri, raw, part, &value))
		return err_set(p->e, &err_malformed,
		    "the URI has an attribute that is not name=value");
	p->uri->unmatched = "a vendor's attribute";
	return 0;
}

static int
parse_attribute(struct parser *p, struct str text, enum part part)
{
	struct str name = str_take(&text, '=');

	if (!text.p)
		return err_set(p->e, &err_malformed,
		    "the URI has an attribute that is not name=value");
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (attributes[i].part == part &&
		    str_is(name, attributes[i].name))
			return keep(p, &attributes[i], text);
	return keep_vendor(p, name, text, part);
}

static int
parse_part(struct parser *p, struct str s, enum part part)
{
	char separator = part == IN_PATH ? ';' : '&';

	if (s.n == 0)
		return 0;
	while (s.p) {
		struct str attribute = str_take(&s, separator);

		if (parse_attribute(p, attribute, part))
			return -1;
	}
	return 0;
}

int
pkcs11_uri_parse(struct str s, struct pkcs11_uri *out, struct err *e)
{
	struct parser p = { .uri = out, .e = e };
	struct str path;

	memset(out, 0, sizeof *out);
	if (s.n > PKCS11_URI_MAX)
		return err_set(e, &err_malformed,
		    "the URI has more than %d bytes", PKCS11_URI_MAX);
	if (!str_has_prefix(s, STR(PKCS11_URI_SCHEME)))
		return err_set(e, &err_malformed,
		    "the URI does not begin with " PKCS11_URI_SCHEME);
	s = str_slice(s, sizeof PKCS11_URI_SCHEME - 1, s.n);
	path = str_take(&s, '?');
	if (parse_part(&p, path, IN_PATH))
		return -1;
	return parse_part(&p, s, IN_QUERY);
}
