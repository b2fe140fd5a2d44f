#include "tests/support/approver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/approvers.h"
#include "ledger/crypto/sshsig.h"

void
person_make(struct desk *d, uint8_t number, struct person *out)
{
	uint8_t seed[32];
	char line[PUBLIC_KEY_SSH + 1];

	memset(seed, number, sizeof seed);
	*out = (struct person){
		.signer = signer_new(
		    private_key_from_seed(seed), STR("person.test/x")),
	};
	public_key_ssh(signer_public(out->signer), line);
	out->line = arena_strf(d->a, "%s person%d@example.com\n", line, number);
}

void
person_free(struct person *p)
{
	signer_free(p->signer);
}

static const char *
input(struct desk *d, const char *names[], const struct str values[], size_t n)
{
	struct json *object = json_object(d->a);
	struct buf b;
	const char *text;

	for (size_t i = 0; i < n; i++)
		json_put_str(d->a, object, names[i], values[i]);
	buf_init(&b, 65536);
	json_write(object, &b);
	text = arena_cstr(d->a, buf_str(&b));
	buf_fini(&b);
	return text;
}

void
person_register(
    struct desk *d, struct person *p, const char *name, const char *roles)
{
	const char *names[] = { "name", "public_key" };
	const struct str values[] = { str_from(name), p->line };
	const char *text = input(d, names, values, 2);
	struct json *v = desk_do(d, "approver.add",
	    arena_printf(d->a, "%.*s,\"roles\":%s}", (int)strlen(text) - 1,
		text, roles));

	p->uid = json_get_str(v, "uid");
}

struct str
person_sign(struct desk *d, const struct person *p, const char *name_space,
    struct str message)
{
	struct str text;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, SSHSIG_MAX);
	if (sshsig_sign(p->signer, str_from(name_space), message, &b, &e)) {
		fprintf(stderr, "sign: %s\n", e.detail);
		abort();
	}
	text = arena_str(d->a, buf_str(&b));
	buf_fini(&b);
	return text;
}

struct str
statement_make(struct desk *d, const char *decision, int64_t after_us)
{
	struct instant at = service_now(d->service);
	char text[INSTANT_TEXT + 1];

	at.us += after_us;
	instant_format(at, text);
	return arena_strf(d->a,
	    "{\"at\":\"%s\",\"decision\":\"%s\","
	    "\"ledger\":\"ledger.example.com/%.*s/%.*s\","
	    "\"reason\":\"Zw\303\266lf \303\204pfel\",\"workspace\":\"%.*s\"}",
	    text, decision, STR_ARGS(d->place.workspace),
	    STR_ARGS(d->place.environment), STR_ARGS(d->place.workspace));
}

const char *
decision_input(struct desk *d, struct str approver, struct str statement,
    struct str signature)
{
	const char *names[] = { "approver", "statement", "signature" };
	const struct str values[] = { approver, statement, signature };

	return input(d, names, values, 3);
}

void
person_decide(struct desk *d, const struct person *p, const char *operation)
{
	bool open = strcmp(operation, "production.open") == 0;
	struct str statement =
	    statement_make(d, open ? "open_production" : "close_production", 0);

	desk_do(d, operation,
	    decision_input(d, p->uid, statement,
		person_sign(d, p, APPROVAL_NAMESPACE, statement)));
}
