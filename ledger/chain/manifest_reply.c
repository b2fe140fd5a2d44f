/* What the service's reply says beside the envelope: it must say the same. */
#include <string.h>

#include "ledger/chain/manifest_run.h"

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "%s", why);
}

static int
same_bytes(struct manifest_run *run, struct manifest_part x,
    struct manifest_part y, bool *same, struct err *e)
{
	char there[32768], ours[32768];
	size_t n, m;

	*same = x.end - x.at == y.end - y.at;
	do {
		if (manifest_part_read(&x, there, sizeof there, &n, e) ||
		    manifest_part_read(&y, ours, sizeof ours, &m, e))
			return -1;
		*same = *same && memcmp(there, ours, n) == 0;
		manifest_progress(
		    run, "bytes compared", y.at, run->statement_bytes);
	} while (*same && n > 0);
	return 0;
}

/* As the service writes it the bytes are the same. Whoever kept the reply may
 * have had a program write it anew. */
static int
compare_manifest(struct manifest_run *run, struct err *e)
{
	struct manifest_part there = run->manifest;
	struct manifest_part ours = { run->statement, 0, run->statement_bytes };
	bool same = false;

	there.fd = run->fd;
	if (there.end == 0)
		return corrupt(e, "the member manifest is missing");
	if (same_bytes(run, there, ours, &same, e) ||
	    (!same && manifest_same_json(run, there, ours, &same, e)))
		return -1;
	if (!same)
		return corrupt(
		    e, "the member manifest is not what the envelope holds");
	return 0;
}

static bool
is_text(const struct json *v, const char *wanted)
{
	return v->type == JSON_STRING && str_is(v->text, wanted);
}

static bool
is_number(const struct json *v, uint64_t wanted)
{
	uint64_t n;

	return v->type == JSON_NUMBER && str_to_u64(v->text, &n) && n == wanted;
}

static bool
is_sealed(const struct manifest_run *run, const struct json *v)
{
	(void)run;
	return is_text(v, "sealed");
}

static bool
is_scope(const struct manifest_run *run, const struct json *v)
{
	const struct manifest_report *r = run->report;

	return v->n == 2 && str_is(json_get_str(v, "type"), r->scope_type) &&
	       str_is(json_get_str(v, "id"), r->scope_id);
}

static bool
is_size(const struct manifest_run *run, const struct json *v)
{
	return is_number(v, run->checkpoint.size);
}

static bool
is_count(const struct manifest_run *run, const struct json *v)
{
	return is_number(v, run->report->events);
}

static bool
is_time(const struct manifest_run *run, const struct json *v)
{
	return is_text(v, run->report->generated_at);
}

static bool
is_length(const struct manifest_run *run, const struct json *v)
{
	return is_number(v, run->statement_bytes);
}

static bool
is_hash(const struct manifest_run *run, const struct json *v)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(run->report->sha256, hex);
	return is_text(v, hex);
}

/* What is made has neither progress nor fault. */
static bool
is_null(const struct manifest_run *run, const struct json *v)
{
	(void)run;
	return v->type == JSON_NULL;
}

/* What repeats the envelope. */
static const struct {
	const char *name;
	bool (*agrees)(const struct manifest_run *, const struct json *);
	bool optional;
} members[] = {
	{ "status", is_sealed, false },
	{ "scope", is_scope, false },
	{ "size", is_size, false },
	{ "event_count", is_count, false },
	{ "generated_at", is_time, false },
	{ "manifest_sha256", is_hash, false },
	{ "bytes", is_length, false },
	{ "progress", is_null, true },
	{ "fault", is_null, true },
};
#define MEMBERS (sizeof members / sizeof members[0])

static int
compare_members(const struct manifest_run *run, struct err *e)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		const struct json *v = json_get(run->said, members[i].name);

		if (!v && !members[i].optional)
			return err_set(e, &err_corrupt,
			    "the member %s is missing", members[i].name);
		if (v && !members[i].agrees(run, v))
			return err_set(e, &err_corrupt,
			    "the member %s is not what the envelope says",
			    members[i].name);
	}
	return 0;
}

static bool
is_compared(struct str name)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (str_is(name, members[i].name))
			return true;
	return str_is(name, "proof") || str_is(name, "evidence");
}

int
manifest_check_reply(struct manifest_run *run, struct err *e)
{
	run->check = "reply";
	if (!run->report->reply)
		return 0;
	if (compare_manifest(run, e) || compare_members(run, e) ||
	    manifest_check_seal(run, e))
		return -1;
	for (const struct json *v = run->said->first; v; v = v->next)
		if (!is_compared(v->name))
			manifest_unchecked(run->report, "", v->name);
	return 0;
}
