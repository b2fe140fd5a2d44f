/*
 * Applications and their API keys. An application owns keys and has a status,
 * a scope set and entitlements; a key is known by its SHA-256 alone.
 *
 * A key in text:
 *
 *	pby_test_acme_4Fz0aQ7x_<43 digits><6 digits>
 *
 * "pby_test_" (sandbox) or "pby_live_" (production), the workspace's name with
 * "_" for "-", "_", eight random base62 digits, "_", 256 random bits in base62,
 * and the CRC-32 of everything before it in base62. All but the last part is
 * the public id. Names have no "_", so the form is read back from its end.
 *
 * An OAuth client's secret ("pbys_…") and an access token ("pbyt_…") are made
 * in the same way; domain/oauth.h has the rest of them.
 */
#ifndef DOMAIN_APPLICATIONS_H
#define DOMAIN_APPLICATIONS_H

#include "domain/context.h"
#include "domain/limits.h"

#define API_KEY_ID_MAX  64 /* 10 + 39 + 1 + 8 and room */
#define API_KEY_SECRET  43
#define API_KEY_CHECK   6
#define API_KEY_MAX     (API_KEY_ID_MAX + 1 + API_KEY_SECRET + API_KEY_CHECK)
#define API_KEY_ID_RAND 8

/* What a text of this form is, told by its prefix. */
enum key_kind { KEY_API, KEY_ACCESS_TOKEN, KEY_CLIENT_SECRET };

struct api_key {
	enum key_kind kind;
	struct place place;   /* strings in the arena */
	struct str public_id; /* borrowed from the text */
	struct digest sha256; /* of the whole text */
};

/* A new one from 48 random bytes; the text is in the arena. */
struct str key_make(struct arena *, enum key_kind, const struct place *,
    const uint8_t random[48]);

/* False for anything that is none with a good checksum. Opens nothing. */
bool key_parse(struct arena *, struct str text, struct api_key *);

/* A credential, the application that owns it, and what of the workspace bounds
 * every request, by one indexed query. */
struct credential {
	struct str public_id;
	struct digest sha256;
	struct str status; /* active, rotated, revoked */
	struct str_list scopes;
	struct uid application;
	struct str application_name;
	struct str application_status; /* active, suspended, revoked */
	struct str_list application_scopes, entitlements;
	struct str_list workspace_entitlements;
	bool production_closed; /* a live one, while production is closed */
	struct limits limits;
	struct instant expires_at; /* access tokens; none: it does not */
};

/* 1 found, 0 not in this ledger, -1. */
int credential_find(struct db *, struct str public_id, struct arena *,
    struct credential *, struct err *);

/* For such queries of any kind of credential, whose row is c: what of owner and
 * workspace goes into them, and that part of a row, from this column on. */
#define CREDENTIAL_OWNER_COLUMNS                             \
	"a.uid, a.name, a.status, a.scopes, a.entitlements," \
	" w.entitlements,"                                   \
	" w.environment = 'production' AND coalesce(p.open, 0) = 0, " LIMITS_COLUMNS
#define CREDENTIAL_OWNER_JOINS                         \
	" JOIN application a ON a.uid = c.application" \
	" LEFT JOIN workspace w ON w.id = 1"           \
	" LEFT JOIN production_state p ON p.id = 1" LIMITS_JOINS
/* Where the row's key is ?1, or where it would be if it were there: in vain
 * costs as much as found, or the time of a 401 tells which keys there are. The
 * reader of the row compares. */
#define CREDENTIAL_NEAREST(row, table, key)                             \
	" WHERE " row "." key " = coalesce((SELECT " key " FROM " table \
	" WHERE " key " <= ?1 ORDER BY " key                            \
	" DESC LIMIT 1), (SELECT min(" key ") FROM " table "))"
void credential_owner_from(
    const struct rows *, int first, struct arena *, struct credential *);

/* err_unauthorized for one whose time has ended. */
int credential_check_time(
    const struct credential *, struct instant now, struct err *);

/* For what issues credentials: the scopes of an application that is there and
 * active, else a bad field #/application or err_conflict; and whether this
 * environment takes new credentials, else err_production_closed. */
int credential_find_owner(struct context *, struct uid application,
    struct str_list *scopes, struct err *);
int credential_may_be_issued(struct context *, struct err *);

/* A key of any kind, made while deciding: shown once as c->secret. */
struct api_key credential_make_key(struct context *, enum key_kind);

/* Its hash as events have it, and back: err_corrupt. */
struct digest_text credential_hash_text(struct arena *, struct digest);
int credential_hash(struct digest_text, struct digest *, struct err *);

#endif
