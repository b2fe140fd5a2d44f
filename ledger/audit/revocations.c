#include "ledger/audit/revocations.h"

#include <inttypes.h>

#include "ledger/chain/key_event.h"

static void
add(struct revocations *r, uint64_t from, uint64_t revocation)
{
	if (from < revocation && r->n < EVIDENCE_KEYS / 2)
		r->ranges[r->n++] =
		    (struct evidence_void){ from, revocation - 1 };
}

void
revocations_note(struct revocations *r, const struct event *ev)
{
	struct revoked revoked;

	/* One that cannot be read is for a verification to find. */
	if (str_is(ev->type, TYPE_KEY_REVOKED) &&
	    revoked_decode(ev->data, ev->ledger, &revoked, NULL) == 0)
		add(r, revoked.size, ev->seq);
}

void
revocations_of(struct revocations *r, const struct signers *s)
{
	r->n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->keys[i].recovery)
			add(r, s->keys[i].void_from, s->keys[i].from_seq);
}

const struct evidence_void *
revocations_find(const struct revocations *r, uint64_t seq)
{
	for (size_t i = 0; i < r->n; i++)
		if (seq >= r->ranges[i].from && seq <= r->ranges[i].to)
			return &r->ranges[i];
	return NULL;
}

void
revocations_write(FILE *f, const struct revocations *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct evidence_void *v = &r->ranges[i];

		fprintf(f,
		    "%" PRIu64 " events from seq %" PRIu64
		    " are void: event %" PRIu64
		    " revokes the key that signed them.\n",
		    v->to - v->from + 1, v->from, v->to + 1);
	}
}

struct json *
revocations_json(struct arena *a, const struct revocations *r)
{
	struct json *list = json_array(a), *v;

	for (size_t i = 0; i < r->n; i++) {
		v = json_object(a);
		json_put_int(a, v, "from_seq", (int64_t)r->ranges[i].from);
		json_put_int(a, v, "until_seq", (int64_t)r->ranges[i].to);
		json_put_int(a, v, "revoked_by", (int64_t)r->ranges[i].to + 1);
		json_push(list, v);
	}
	return list;
}
