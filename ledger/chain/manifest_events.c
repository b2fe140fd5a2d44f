/*
 * The two long arrays, side by side: each event's line with what proves it, and
 * the OpenLineage event that was made of it.
 */
#include <inttypes.h>
#include <string.h>

#include "ledger/chain/manifest_run.h"
#include "ledger/chain/signers.h"

#define RUN_EVENT_MAX (1u << 20)
#define EVIDENCE_ONE  (512u << 10)

/* One array, read from where it begins. */
struct array {
	struct manifest_part part;
	struct json_walk *walk;
};

struct pairs {
	struct manifest_run *run;
	struct array events, evidence;
	struct arena *a; /* reset for each pair */
	struct merkle tree;

	/* The event before. */
	bool any;
	uint64_t seq;
	struct digest hash;
	struct instant at;
};

/* One pair. */
struct pair {
	const struct json *run_event;
	struct str whole;
	uint64_t seq;
	struct merkle_proof path;
	struct batch_line line;
	struct event event;
};

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "%s", why);
}

static int
open_array(struct pairs *p, struct array *array, uint64_t at, struct err *e)
{
	array->part = (struct manifest_part){ p->run->statement, at,
		p->run->statement_bytes };
	array->walk = json_walk_new(manifest_part_read, &array->part, at, true);
	return json_walk_open(array->walk, JSON_ARRAY, e);
}

/* The evidence's members, without a look at the line. */
static int
read_evidence(struct pairs *p, struct pair *pair, struct err *e)
{
	struct json *v;

	if (json_walk_value(p->evidence.walk, p->a, EVIDENCE_ONE, &v, e))
		return -1;
	pair->whole = json_get_str(v, "line");
	if (v->n != 3 || !pair->whole.p ||
	    !manifest_number(v, "seq", &pair->seq) ||
	    !manifest_path(json_get(v, "path"), &pair->path))
		return err_set(e, &err_malformed,
		    "one of its evidence is not an object of line, path and "
		    "seq");
	p->run->report->has_seq = true;
	p->run->report->seq = pair->seq;
	return 0;
}

/* The key of that number: any of the history, which was checked with the
 * certifying event and holds the pinned one. */
static int
choose_key(const struct manifest_run *run, uint64_t seq, struct public_key *out,
    struct err *e)
{
	const struct evidence_key *k = evidence_key_at(&run->ev, seq);

	if (!k)
		return corrupt(e, "no key was in force at this event");
	*out = k->key;
	return 0;
}

static int
check_signature(struct pairs *p, const struct pair *pair, struct err *e)
{
	const struct manifest_run *run = p->run;
	struct public_key key;
	struct signature sig;

	p->run->check = "key";
	if (choose_key(run, pair->seq, &key, e))
		return -1;
	p->run->check = "event";
	if (!batch_line_signature(
		&pair->line, note_key_id(run->ev.origin, key), &sig))
		return corrupt(e,
		    "the line has no signature by the key, or more than one");
	if (!ed25519_verify(key, pair->line.event, sig))
		return corrupt(e, "the event's signature is bad");
	return 0;
}

static int
check_line(struct pairs *p, struct pair *pair, struct err *e)
{
	p->run->check = "event";
	if (batch_line_parse(p->a, pair->whole, &pair->line, e) ||
	    event_parse(p->a, pair->line.event, &pair->event, e))
		return -1;
	if (pair->event.seq != pair->seq)
		return err_set(e, &err_corrupt, "the line is of event %" PRIu64,
		    pair->event.seq);
	if (!str_eq(pair->event.ledger, p->run->ev.origin))
		return corrupt(e, "the event is of another ledger");
	return check_signature(p, pair, e);
}

/* A void event had no effect, so nothing was made from it. Who shows the whole
 * ledger cannot leave it out. */
static int
check_void(struct pairs *p, uint64_t seq, struct err *e)
{
	const struct evidence_shown *shown = &p->run->certified;

	for (size_t i = 0; i < shown->n_voids; i++) {
		if (seq < shown->voids[i].from || seq > shown->voids[i].to)
			continue;
		if (!p->run->report->complete)
			return err_set(e, &err_corrupt,
			    "the event is void: event %" PRIu64
			    " revokes the key from event %" PRIu64 " on",
			    shown->voids[i].to + 1, shown->voids[i].from);
		p->run->report->voids++;
		return 0;
	}
	return 0;
}

/* The history has the key that a key event puts in force after it. */
static int
check_key_event(struct pairs *p, const struct event *event, struct err *e)
{
	const struct evidence *ev = &p->run->ev;

	if (!signers_change(event->type))
		return 0;
	for (size_t i = 1; i < ev->n_keys; i++)
		if (ev->keys[i].from_seq == event->seq + 1)
			return 0;
	return corrupt(e, "it changes the ledger's key, and keys in log does "
			  "not say so");
}

/* Event 0 names the ledger's first key. */
static int
check_opening(struct pairs *p, const struct event *event, struct err *e)
{
	struct opened opened;

	if (!str_is(event->type, TYPE_OPENED))
		return corrupt(e, "event 0 does not open a ledger");
	if (opened_decode(event->data, &opened, e))
		return -1;
	if (!public_key_eq(opened.key, p->run->ev.keys[0].key))
		return corrupt(e, "event 0 names another first key");
	return 0;
}

/* Its place after the one before, which it follows at once or later. */
static int
check_chain(struct pairs *p, const struct pair *pair, struct err *e)
{
	static const struct digest zero;
	bool adjacent = p->any ? pair->seq == p->seq + 1 : pair->seq == 0;

	p->run->check = "event";
	if (p->any && pair->seq <= p->seq)
		return corrupt(e, "it comes after one with a higher number");
	if (adjacent && !digest_eq(pair->event.prev, p->any ? p->hash : zero))
		return corrupt(e, "prev is not the hash of the event before");
	if (p->any && pair->event.at.us < p->at.us)
		return corrupt(
		    e, "at is earlier than that of the event before");
	return pair->seq == 0 ? check_opening(p, &pair->event, e) : 0;
}

/* In the tree: by its path, or by the root that all together have. */
static int
check_inclusion(struct pairs *p, const struct pair *pair, struct err *e)
{
	const struct manifest_run *run = p->run;
	struct digest leaf = merkle_leaf(pair->line.event);

	p->run->check = "proof";
	if (!run->report->complete) {
		if (!proof_includes(leaf, pair->seq, run->checkpoint.size,
			&pair->path, run->checkpoint.root))
			return err_set(e, &err_corrupt,
			    "the event is not in the tree of %" PRIu64
			    " events",
			    run->checkpoint.size);
		return 0;
	}
	if (pair->path.n > 0)
		return corrupt(e, "a complete manifest has no paths");
	if (pair->seq != p->tree.size)
		return err_set(e, &err_corrupt,
		    "event %" PRIu64 " is left out of a complete manifest",
		    p->tree.size);
	merkle_append(&p->tree, leaf);
	return 0;
}

static bool
is_uid(struct str text, struct uid uid)
{
	char wanted[UID_TEXT + 1];

	uid_format(uid, wanted);
	return str_is(text, wanted);
}

/* Among the datasets is the record that the event is about. */
static bool
has_subject(struct arena *a, const struct json *list, const struct event *event)
{
	char uid[UID_TEXT + 1];
	const char *name;

	if (!list || list->type != JSON_ARRAY)
		return false;
	uid_format(event->subject, uid);
	name = arena_printf(a, "%.*s/%s", STR_ARGS(event->subject_kind), uid);
	for (const struct json *v = list->first; v; v = v->next)
		if (str_is(json_get_str(v, "name"), name) &&
		    str_eq(json_get_str(v, "namespace"), event->ledger))
			return true;
	return false;
}

/* What the OpenLineage event says of run, time, job and its outcome is the
 * event's. */
static int
check_run_event(struct pairs *p, const struct pair *pair, struct err *e)
{
	const struct json *v = pair->run_event, *job = json_get(v, "job");
	struct str time = json_get_str(v, "eventTime");
	struct instant at;

	p->run->check = "lineage";
	if (!is_uid(json_get_str(json_get(v, "run"), "runId"), pair->event.uid))
		return corrupt(e, "its runId is not the event's uid");
	if (!time.p || !instant_parse_rfc3339(time, &at) ||
	    at.us != pair->event.at.us)
		return corrupt(e, "its eventTime is not the event's time");
	if (!str_eq(json_get_str(job, "name"), pair->event.type))
		return corrupt(e, "its job's name is not the event's type");
	if (!str_eq(json_get_str(job, "namespace"), pair->event.ledger))
		return corrupt(e, "its job's namespace is not the ledger");
	if (!has_subject(p->a, json_get(v, "outputs"), &pair->event))
		return corrupt(
		    e, "the event's subject is not among its outputs");
	return 0;
}

static int
check_pair(struct pairs *p, struct err *e)
{
	struct pair pair;
	struct json *v;

	p->run->check = "format";
	if (json_walk_value(p->events.walk, p->a, RUN_EVENT_MAX, &v, e) ||
	    read_evidence(p, &pair, e))
		return -1;
	pair.run_event = v;
	if (check_line(p, &pair, e) || check_void(p, pair.seq, e) ||
	    check_key_event(p, &pair.event, e) || check_chain(p, &pair, e) ||
	    check_inclusion(p, &pair, e) || check_run_event(p, &pair, e))
		return -1;
	p->any = true;
	p->seq = pair.seq;
	p->hash = pair.event.hash;
	p->at = pair.event.at;
	p->run->report->has_seq = false;
	p->run->report->events++;
	return 0;
}

/* 1 before a pair, 0 when both arrays end, -1. */
static int
next_pair(struct pairs *p, struct err *e)
{
	struct str none;
	int events, evidence;

	p->run->check = "format";
	events = json_walk_next(p->events.walk, &none, e);
	if (events < 0)
		return -1;
	evidence = json_walk_next(p->evidence.walk, &none, e);
	if (evidence >= 0 && events != evidence)
		return err_set(e, &err_malformed,
		    "its events and its evidence are not equally many");
	return evidence;
}

static int
check_end(struct pairs *p, struct err *e)
{
	const struct manifest_run *run = p->run;

	p->run->check = "proof";
	if (!p->any)
		return corrupt(e, "it holds no event");
	if (!run->report->complete)
		return 0;
	if (p->tree.size != run->checkpoint.size)
		return err_set(e, &err_corrupt,
		    "it holds %" PRIu64 " events of %" PRIu64
		    " and says that it is complete",
		    p->tree.size, run->checkpoint.size);
	if (!digest_eq(merkle_root(&p->tree), run->checkpoint.root))
		return corrupt(
		    e, "the checkpoint's root is not that of its events");
	return 0;
}

static int
check_pairs(struct pairs *p, struct err *e)
{
	int more;

	if (open_array(p, &p->events, p->run->events, e) ||
	    open_array(p, &p->evidence, p->run->evidence, e))
		return -1;
	while ((more = next_pair(p, e)) > 0) {
		arena_reset(p->a);
		if (check_pair(p, e))
			return -1;
		manifest_progress(p->run, "bytes of evidence checked",
		    p->evidence.part.at - p->run->evidence,
		    p->run->statement_bytes - p->run->evidence);
	}
	return more ? -1 : check_end(p, e);
}

int
manifest_check_events(struct manifest_run *run, struct err *e)
{
	struct pairs p = { .run = run, .a = arena_new() };
	int rc;

	run->check = "format";
	rc = check_pairs(&p, e);
	json_walk_free(p.events.walk);
	json_walk_free(p.evidence.walk);
	arena_free(p.a);
	return rc;
}
