#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uidna.h>

#include "domain/outbound/parts.h"
#include "ledger/base/library.h"
#include "ledger/codec/text.h"

#define LABEL_MAX 63
#define NUMBERS   4

/* Room for a name that is too long, so that it is seen to be. */
#define MAPPED_MAX 1024

static int
refuse(struct err *e, const char *why)
{
	return err_set(e, &err_invalid, "the URL's host %s", why);
}

/* The brackets are still there. inet_pton knows no zone and no other form of
 * the numbers, so nothing is left that two programs could read differently. */
static int
canonical_ipv6(struct arena *a, struct str raw, char *out, struct err *e)
{
	uint8_t bytes[16];
	struct str inner;

	if (raw.n < 2 || raw.p[raw.n - 1] != ']')
		return refuse(e, "has a bracket that is not closed");
	inner = str_slice(raw, 1, raw.n - 1);
	if (str_find(inner, '%') < inner.n)
		return refuse(e, "must have no zone");
	if (str_find(inner, '\0') < inner.n ||
	    inet_pton(AF_INET6, arena_cstr(a, inner), bytes) != 1)
		return refuse(e, "is not an IPv6 address");
	inet_ntop(AF_INET6, bytes, out, OUTBOUND_HOST_MAX + 1);
	return 0;
}

/* ICU, loaded for the first name. Its functions have its version in their
 * names, by macros. */
#define NAME_OF(function) NAME_AS_IS(function)
#define NAME_AS_IS(name)  #name
static struct {
	__typeof__(&u_errorName) error_name;
	__typeof__(&uidna_close) close;
	__typeof__(&uidna_nameToASCII_UTF8) name_to_ascii;
	__typeof__(&uidna_openUTS46) open;
} icu;
static const struct library_symbol icu_symbols[] = {
	{ NAME_OF(u_errorName), &icu.error_name },
	{ NAME_OF(uidna_close), &icu.close },
	{ NAME_OF(uidna_nameToASCII_UTF8), &icu.name_to_ascii },
	{ NAME_OF(uidna_openUTS46), &icu.open },
	{ 0 },
};
static struct library icu_library = { "libicuuc.so." U_ICU_VERSION_SHORT,
	icu_symbols, NULL };

/* Full-width letters, circled digits, capitals, other dots, other scripts: to
 * the ASCII that a resolver is asked for. */
static int
map_name(struct arena *a, struct str raw, struct str *out, struct err *e)
{
	UIDNAInfo info = UIDNA_INFO_INITIALIZER;
	UErrorCode status = U_ZERO_ERROR;
	char mapped[MAPPED_MAX];
	struct str text;
	UIDNA *idna;
	int32_t n;

	if (!percent_decode(a, raw, false, &text))
		return refuse(e, "is not UTF-8 with whole percent signs");
	if (library_load(&icu_library, e))
		return -1;
	idna =
	    icu.open(UIDNA_USE_STD3_RULES | UIDNA_CHECK_BIDI |
			 UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII,
		&status);
	if (U_FAILURE(status))
		return err_set(e, &err_internal, "cannot map host names: %s",
		    icu.error_name(status));
	n = icu.name_to_ascii(
	    idna, text.p, (int32_t)text.n, mapped, MAPPED_MAX, &info, &status);
	icu.close(idna);
	if (U_FAILURE(status) || n > MAPPED_MAX)
		return refuse(e, "is too long");
	/* Real names have hyphens in the third and fourth place. */
	if (info.errors & ~(uint32_t)UIDNA_ERROR_HYPHEN_3_4)
		return refuse(e, "is not a name: letters, digits, hyphens");
	*out = arena_str(a, (struct str){ mapped, (size_t)n });
	return 0;
}

static bool
is_label(struct str label)
{
	if (label.n == 0 || label.n > LABEL_MAX || label.p[0] == '-' ||
	    label.p[label.n - 1] == '-')
		return false;
	for (size_t i = 0; i < label.n; i++)
		if (!islower((unsigned char)label.p[i]) &&
		    !isdigit((unsigned char)label.p[i]) && label.p[i] != '-')
			return false;
	return true;
}

/* 10, 012, 0xa. "0x" is zero, as browsers have it. */
static bool
read_number(struct str s, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t base = 10, i = 0;

	if (s.n == 0)
		return false;
	if (str_has_prefix(s, STR("0x"))) {
		base = 16;
		i = 2;
	} else if (s.n >= 2 && s.p[0] == '0') {
		base = 8;
		i = 1;
	}
	for (*out = 0; i < s.n; i++) {
		const char *digit = strchr(digits, s.p[i]);

		if (!digit || !*digit || (size_t)(digit - digits) >= base)
			return false;
		*out = *out * base + (uint64_t)(digit - digits);
		if (*out > UINT32_MAX)
			return false;
	}
	return true;
}

static struct str
last_label(struct str name)
{
	struct str label = name;

	while (name.p)
		label = str_take(&name, '.');
	return label;
}

static bool
consists_of(struct str s, const char *set)
{
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || !strchr(set, s.p[i]))
			return false;
	return s.n > 0;
}

/* Such a name is an address or nothing. */
static bool
ends_in_number(struct str name)
{
	struct str last = last_label(name);

	if (str_has_prefix(last, STR("0x")))
		return last.n == 2 || consists_of(str_slice(last, 2, last.n),
					  "0123456789abcdef");
	return consists_of(last, "0123456789");
}

/* One to four numbers; the last one fills what the others leave. */
static int
canonical_ipv4(struct str name, char *out, struct err *e)
{
	uint64_t number, address = 0;
	int n = 0;

	while (name.p) {
		struct str part = str_take(&name, '.');

		if (++n > NUMBERS || !read_number(part, &number) ||
		    (name.p && number > 255) ||
		    (!name.p && number >> (8 * (NUMBERS + 1 - n))))
			return refuse(e, "is not an IPv4 address");
		address |= name.p ? number << (8 * (NUMBERS - n)) : number;
	}
	snprintf(out, OUTBOUND_HOST_MAX + 1, "%u.%u.%u.%u",
	    (unsigned)(address >> 24) & 255, (unsigned)(address >> 16) & 255,
	    (unsigned)(address >> 8) & 255, (unsigned)address & 255);
	return 0;
}

static int
canonical_name(struct str name, char *out, struct err *e)
{
	struct str rest = name;

	if (name.n > OUTBOUND_HOST_MAX)
		return refuse(e, "is too long");
	while (rest.p)
		if (!is_label(str_take(&rest, '.')))
			return refuse(
			    e, "is not a name: letters, digits, hyphens");
	snprintf(out, OUTBOUND_HOST_MAX + 1, "%.*s", STR_ARGS(name));
	return 0;
}

int
host_canonical(struct arena *a, struct str raw, enum host_kind *kind, char *out,
    struct err *e)
{
	struct str name;

	if (raw.n == 0)
		return err_set(e, &err_invalid, "the URL names no host");
	*kind = HOST_IPV6;
	if (raw.p[0] == '[')
		return canonical_ipv6(a, raw, out, e);
	if (map_name(a, raw, &name, e))
		return -1;
	if (name.n > 1 && name.p[name.n - 1] == '.')
		name.n--;
	*kind = ends_in_number(name) ? HOST_IPV4 : HOST_NAME;
	return *kind == HOST_IPV4 ? canonical_ipv4(name, out, e)
				  : canonical_name(name, out, e);
}
