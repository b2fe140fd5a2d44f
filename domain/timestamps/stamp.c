/*
 * The job that has the newest checkpoint stamped by an authority of RFC 3161.
 * It bounds from outside when the ledger had come so far. The authority is
 * asked without a snapshot and outside the turn; it learns a hash, and nothing
 * of the ledger.
 */
#include "domain/outbound.h"
#include "domain/service.h"
#include "domain/timestamps/group.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/crypto/note.h"
#include "ledger/crypto/timestamp.h"

#define HOUR_US         INT64_C(3600000000)
#define AUTHORITY_S     10
#define CA_MAX          1048576
#define QUERY_TYPE      "application/timestamp-query"
#define REPLY_TYPE      "application/timestamp-reply"
#define DETAIL_URL_SIZE 200

/* A content that the attempt stored, for the event that will name it. */
struct stored {
	struct digest_text sha256;
	int64_t size;
	struct str blob; /* its object in the repository */
};

/* What an attempt hands to its settlement, and `job.completed` records. */
struct stamping {
	int64_t size;
	struct digest_text root;
	struct str authority, policy;
	struct instant gen_time;
	const void *note, *token;
};

/* clang-format off */
SHAPE(stored, "A content beside the events",
	FIELD(stored, sha256, .required = true, .doc = "Hash of the content"),
	FIELD(stored, size, .required = true, .doc = "Bytes"),
	FIELD(stored, blob, .required = true, .doc = "Object that holds it"));
SHAPE(stamping, "A time-stamp that was obtained",
	FIELD(stamping, size, .required = true, .doc = "Events that the checkpoint covers"),
	FIELD(stamping, root, .required = true, .doc = "Root of the Merkle tree of that size"),
	FIELD(stamping, authority, .required = true, .max = 1000, .doc = "URL of the authority"),
	FIELD(stamping, policy, .required = true, .max = 127, .doc = "The authority's policy"),
	FIELD(stamping, gen_time, .required = true, .doc = "The authority's time"),
	FIELD(stamping, note, .required = true, .of = &stored_shape, .doc = "The stamped note"),
	FIELD(stamping, token, .required = true, .of = &stored_shape, .doc = "The authority's reply"));
/* clang-format on */

static bool timestamp_due(struct context *);
static int timestamp_run(
    struct context *, const struct job *, const struct json **, struct err *);
static int timestamp_settle(
    struct context *, const struct job *, const struct json *, struct err *);

/* Ten attempts take half an hour; after that the next one is due when the
 * hours have passed, so that an authority that is gone fills no ledger. */
const struct job_kind job_ledger_timestamp = {
	.name = "ledger.timestamp",
	.lease_s = 120,
	.attempts = 10,
	.run = timestamp_run,
	.settle = timestamp_settle,
	.due = timestamp_due,
	.no_reading = true,
	.remote = true,
};

static bool
timestamp_due(struct context *c)
{
	const struct config *config = service_config(c->service);
	struct instant last;
	struct err e = { 0 };

	if (config->timestamp_url.n == 0)
		return false;
	if (job_last_queued(c, &job_ledger_timestamp, &last, &e)) {
		log_line(LOG_WARN, "worker",
		    "cannot read when a time-stamp was asked for last: %s",
		    e.detail);
		return false;
	}
	return last.us == 0 ||
	       c->now.us - last.us >= config->timestamp_hours * HOUR_US;
}

/* What is stamped: the newest checkpoint, as the ledger signed it. */
struct subject {
	struct str note;
	struct checkpoint says;
};

static int
read_subject(struct context *c, struct subject *out, struct err *e)
{
	struct reading reading;
	struct note note;
	uint64_t size = 0;
	int failed;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	failed =
	    ledger_read_checkpoint(&reading, &size, c->arena, &out->note, e);
	ledger_read_end(&reading);
	if (failed)
		return -1;
	if (note_parse(c->arena, out->note, &note, NULL) ||
	    checkpoint_parse(note.text, &out->says, NULL))
		return err_set(e, &err_corrupt,
		    "the checkpoint of size %llu cannot be read",
		    (unsigned long long)size);
	return 0;
}

/* A media type may carry parameters. */
static bool
is_reply_type(struct str type)
{
	return str_is(str_take(&type, ';'), REPLY_TYPE);
}

static int
ask(struct context *c, struct str query, struct str *token, struct err *e)
{
	const struct config *config = service_config(c->service);
	struct outbound_request request = {
		.url = config->timestamp_url,
		.content_type = STR(QUERY_TYPE),
		.body = query,
		.max_reply = TIMESTAMP_MAX,
		.seconds = AUTHORITY_S,
	};
	struct str url = str_slice(request.url, 0, DETAIL_URL_SIZE);
	struct outbound_reply reply;

	if (outbound_post(&request, c->arena, &reply, e))
		return -1;
	if (reply.status != 200)
		return err_set(e, &err_unavailable,
		    "%.*s answers with status %d, not 200", STR_ARGS(url),
		    reply.status);
	if (!is_reply_type(reply.content_type))
		return err_set(e, &err_unavailable,
		    "%.*s does not answer with " REPLY_TYPE, STR_ARGS(url));
	*token = reply.body;
	return 0;
}

static int
check(struct context *c, struct str query, struct str token,
    struct timestamp *out, struct err *e)
{
	struct str path = service_config(c->service)->timestamp_ca;
	struct str ca = STR_NONE;

	if (path.n > 0 &&
	    io_read_file(c->arena, arena_cstr(c->arena, path), CA_MAX, &ca, e))
		return -1;
	return timestamp_check(query, token, ca, c->arena, out, e);
}

static int
store(struct context *c, struct str content, const void **out, struct err *e)
{
	struct stored *stored = ARENA_NEW(c->arena, struct stored);
	struct payload payload = { 0 };
	char blob[OID_HEX + 1];

	if (ledger_store_payload(c->ledger, content, &payload, e))
		return -1;
	oid_hex(payload.oid, blob);
	*stored = (struct stored){
		.sha256 = { digest_hex_str(c->arena, payload.sha256) },
		.size = (int64_t)payload.size,
		.blob = arena_str(c->arena, str_from(blob)),
	};
	*out = stored;
	return 0;
}

static int
timestamp_run(struct context *c, const struct job *job,
    const struct json **result, struct err *e)
{
	struct stamping out = {
		.authority = service_config(c->service)->timestamp_url,
	};
	struct str query, token;
	struct timestamp stamp;
	struct subject subject;
	uint64_t nonce;

	(void)job;
	random_bytes(&nonce, sizeof nonce);
	if (out.authority.n == 0)
		return err_set(e, &err_conflict,
		    "no authority is configured any more: set timestamp_url");
	if (read_subject(c, &subject, e) ||
	    timestamp_query(sha256(subject.note), nonce, c->arena, &query, e) ||
	    ask(c, query, &token, e) || check(c, query, token, &stamp, e) ||
	    store(c, subject.note, &out.note, e) ||
	    store(c, token, &out.token, e))
		return -1;
	out.size = (int64_t)subject.says.size;
	out.root =
	    (struct digest_text){ digest_hex_str(c->arena, subject.says.root) };
	out.policy = stamp.policy;
	out.gen_time = stamp.gen_time;
	*result = shape_encode(&stamping_shape, &out, c->arena);
	return 0;
}

static int
payload_from(const struct stored *stored, const char *name, const char *type,
    struct payload *out, struct err *e)
{
	*out = (struct payload){
		.name = str_from(name),
		.media_type = str_from(type),
		.size = (uint64_t)stored->size,
	};
	if (!digest_from_hex(stored->sha256.hex, &out->sha256) ||
	    !oid_from_hex(stored->blob, &out->oid))
		return err_set(
		    e, &err_internal, "a time-stamp's %s has no name", name);
	return 0;
}

static int
timestamp_settle(struct context *c, const struct job *job,
    const struct json *result, struct err *e)
{
	struct payload *payloads =
	    arena_array(c->arena, 2, sizeof *payloads); /* until it is sealed */
	struct checkpoint_timestamped data;
	struct stamping s;

	if (shape_decode_json(&stamping_shape, result, c->arena, &s, e) ||
	    payload_from(s.note, PAYLOAD_NOTE, "text/plain", &payloads[0], e) ||
	    payload_from(s.token, PAYLOAD_TOKEN, REPLY_TYPE, &payloads[1], e))
		return -1;
	data = (struct checkpoint_timestamped){
		.size = s.size,
		.root = s.root,
		.authority = s.authority,
		.gen_time = s.gen_time,
		.policy = s.policy,
	};
	return context_emit_with(c, &event_checkpoint_timestamped, "ledger",
	    job->uid, &data, payloads, 2, e);
}
