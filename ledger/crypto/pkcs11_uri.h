/*
 * PKCS #11 URIs (RFC 7512): where a key is kept, in one line.
 *
 *	pkcs11:token=ledger;object=acme?module-path=/usr/lib/…/lib.so
 */
#ifndef LEDGER_CRYPTO_PKCS11_URI_H
#define LEDGER_CRYPTO_PKCS11_URI_H

#include "ledger/base/err.h"
#include "ledger/base/str.h"

#define PKCS11_URI_SCHEME "pkcs11:"
#define PKCS11_URI_MAX    2048

/* Values are decoded and lie in `text`, so a struct is not to be copied; no
 * value: the attribute is not there. It may hold a PIN: the owner wipes it. */
struct pkcs11_uri {
	struct str token, manufacturer, serial, model;
	struct str object, id, type;
	struct str pin_source, pin_value, module_path;
	const char *unmatched; /* an attribute that narrows the choice further
				  than this struct can say, or NULL */
	size_t n;
	char text[PKCS11_URI_MAX];
};

/* err_malformed for anything that the grammar of section 2.3 does not make, for
 * an attribute given twice and for more than PKCS11_URI_MAX bytes. What the
 * error says holds no value, so no PIN either. */
int pkcs11_uri_parse(struct str, struct pkcs11_uri *, struct err *);

#endif
