/*
 * Errors. A function that can fail returns 0, or -1 with *e filled in. Who
 * detects the fault first writes kind and detail; everyone above only passes
 * it on. A caller that branches compares e->kind with the address of a kind.
 *
 * The kinds below are the common ones; a group of operations adds its own as
 * `const struct err_kind`. The problem replies (RFC 9457) and the reference
 * page are both made from these rows.
 *
 *	if (amount <= 0)
 *		return err_set(e, &err_invalid, "amount must be above zero");
 */
#ifndef LEDGER_BASE_ERR_H
#define LEDGER_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct json;

struct err_kind {
	const char *slug;   /* last part of the problem type, never changes */
	const char *title;  /* the same for every occurrence */
	int status;         /* HTTP status */
	bool retryable;     /* the same request may succeed later */
	const char *remedy; /* what whoever meets it can do */
};

/* clang-format off */
/* X(name, slug, status, retryable, title, remedy) */
#define ERR_KINDS(X) \
X(malformed, "malformed-request", 400, false, "The request cannot be read", "Send what the reference page of the operation shows.") \
X(unauthorized, "unauthorized", 401, false, "A valid credential is needed", "Send Authorization: Bearer with a key that is in force.") \
X(forbidden, "forbidden", 403, false, "The credential does not permit this", "Ask the workspace's operator for the scope or entitlement named.") \
X(not_found, "not-found", 404, false, "No such record in this workspace", "Check the path; records of other workspaces are not shown.") \
X(method, "method-not-allowed", 405, false, "The method is not offered here", "Use one of the methods in the Allow header.") \
X(conflict, "conflict", 409, false, "The record's state does not permit this", "Read the record, then decide again.") \
X(ledger_closed, "ledger-closed", 409, false, "The ledger is closed", "Write to the ledger that continues it, with a credential of that one.") \
X(erased, "erased", 410, false, "The content was erased", "Nothing brings it back; its hashes stay as evidence. erased_by_event names the event that says why.") \
X(too_large, "too-large", 413, false, "The request is too large", "Send less; the detail names the limit.") \
X(media_type, "unsupported-media-type", 415, false, "The content type is not accepted", "Send application/json.") \
X(invalid, "validation-failed", 422, false, "The request is not valid", "Mend the fields that the errors member names.") \
X(control, "control-failed", 422, false, "A control refused the request", "See the controls member for what failed and why.") \
X(idempotency, "idempotency-mismatch", 422, false, "The idempotency key was used for another request", "Use a new key for a new request.") \
X(rate, "rate-limited", 429, true, "Too many requests", "Wait for the time in Retry-After.") \
X(headers_too_large, "headers-too-large", 431, false, "The header fields are too large", "Send fewer or shorter header fields.") \
X(internal, "internal-error", 500, true, "An unexpected fault", "Report the request id to the operator.") \
X(unavailable, "unavailable", 503, true, "The service cannot do this now", "Try again after the time in Retry-After.") \
X(outcome_unknown, "outcome-unknown", 503, true, "Whether this was recorded is not known yet", "Repeat with the same Idempotency-Key, or look for the event hash given.") \
X(clock, "clock-implausible", 503, true, "The clock is not plausible", "An operator checks the clock and confirms it.") \
X(rolled_back, "ledger-rolled-back", 503, false, "The ledger is behind what was recorded", "An operator restores the ledger; nothing is written until then.") \
X(corrupt, "ledger-corrupt", 503, false, "The ledger does not verify", "An operator runs probity-audit verify and restores the ledger.") \
X(view_damaged, "read-model-damaged", 503, false, "The read model is damaged", "An operator stops the services and runs probityctl ledger rebuild, which makes it again from the ledger.") \
X(no_space, "no-space", 507, true, "There is no room for this; nothing was recorded", "An operator frees disk space.") \
X(usage, "usage", 400, false, "The command was not understood", "See --help.")
/* clang-format on */

#define ERR_DECLARE(name, ...) extern const struct err_kind err_##name;
ERR_KINDS(ERR_DECLARE)
#undef ERR_DECLARE

/* One bad field of a request, in the order they were found. */
struct err_field {
	const char *place;  /* "pointer", "parameter" or "header" */
	const char *at;     /* "#/amount", "limit", "Idempotency-Key" */
	const char *code;   /* "required", "minimum", "unknown", … */
	const char *detail; /* for people */
	struct err_field *next;
};

struct err {
	const struct err_kind *kind; /* NULL: no error */
	char detail[512];
	struct err_field *fields;     /* in the request's arena */
	const struct json *extension; /* object: further problem members */
	const char *scope; /* what the credential lacked, and nothing before */
	uint32_t retry_after_s; /* 0: the default of the kind */
};

/*
 * Sets kind and detail unless an error is set already (the first detection
 * wins) and returns -1. e may be NULL.
 */
__attribute__((format(printf, 3, 4))) int err_set(
    struct err *e, const struct err_kind *kind, const char *fmt, ...);

/* err_set with ": <strerror(errno)>" appended; ENOSPC and EDQUOT always
 * become err_no_space. */
__attribute__((format(printf, 3, 4))) int err_errno(
    struct err *e, const struct err_kind *kind, const char *fmt, ...);

/* What was found wrong with files of our own: a kind that would tell a client
 * of his request (a status below 500) becomes this one. Returns -1. */
int err_own(struct err *e, const struct err_kind *kind, const struct err *why);

/* Forgets the error. */
void err_clear(struct err *e);

/*
 * Adds a bad field, copied into the arena, and sets err_invalid when nothing
 * is set yet. At most 64 are kept. Returns -1.
 */
__attribute__((format(printf, 6, 7))) int err_add_field(struct err *e,
    struct arena *a, const char *place, const char *at, const char *code,
    const char *fmt, ...);

#endif
