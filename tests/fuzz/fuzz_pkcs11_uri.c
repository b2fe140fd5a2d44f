/*
 * pkcs11_uri_parse: every value lies in the struct's text and is what its kind
 * may be; written anew, a URI says the same.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/pkcs11_uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct pkcs11_uri uri, again;

/* Where the fields are, and what each is called; an id may hold any bytes. */
static const struct {
	const char *name;
	char before;
	size_t at;
} fields[] = {
#define FIELD_OF(name, before, field)                            \
	{                                                        \
		name, before, offsetof(struct pkcs11_uri, field) \
	}
	FIELD_OF("token", ';', token),
	FIELD_OF("manufacturer", ';', manufacturer),
	FIELD_OF("serial", ';', serial),
	FIELD_OF("model", ';', model),
	FIELD_OF("object", ';', object),
	FIELD_OF("id", ';', id),
	FIELD_OF("type", ';', type),
	FIELD_OF("pin-source", '&', pin_source),
	FIELD_OF("pin-value", '&', pin_value),
	FIELD_OF("module-path", '&', module_path),
#undef FIELD_OF
};
#define FIELDS (sizeof fields / sizeof *fields)

static struct str
field(const struct pkcs11_uri *u, size_t i)
{
	struct str s;

	memcpy(&s, (const char *)u + fields[i].at, sizeof s);
	return s;
}

static void
check_field(size_t i)
{
	struct str s = field(&uri, i);

	if (!s.p)
		return;
	if (s.p < uri.text || s.p + s.n > uri.text + uri.n)
		abort();
	if (strcmp(fields[i].name, "id") != 0 &&
	    (!str_is_utf8(s) || str_find(s, '\0') != s.n))
		abort();
}

static void
write_part(struct buf *b, char before)
{
	bool first = true;

	for (size_t i = 0; i < FIELDS; i++) {
		struct str s = field(&uri, i);

		if (fields[i].before != before || !s.p)
			continue;
		if (!first)
			buf_add_byte(b, (uint8_t)before);
		first = false;
		buf_addf(b, "%s=", fields[i].name);
		percent_add(b, s);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct str input = { (const char *)p, n };
	struct err e = { 0 };
	struct buf b;

	if (pkcs11_uri_parse(input, &uri, &e)) {
		if (e.kind != &err_malformed)
			abort();
		return 0;
	}
	if (uri.n > n)
		abort();
	buf_init(&b, (size_t)3 * PKCS11_URI_MAX + 1024);
	buf_add_cstr(&b, PKCS11_URI_SCHEME);
	write_part(&b, ';');
	buf_add_byte(&b, '?');
	write_part(&b, '&');
	for (size_t i = 0; i < FIELDS; i++)
		check_field(i);
	if (buf_failed(&b))
		abort();
	if (buf_str(&b).n <= PKCS11_URI_MAX) {
		if (pkcs11_uri_parse(buf_str(&b), &again, &e))
			abort();
		for (size_t i = 0; i < FIELDS; i++)
			if (!str_eq(field(&uri, i), field(&again, i)))
				abort();
	}
	buf_fini(&b);
	return 0;
}
