/* A reply as a file: its commit, its pages, and what they show. */
#include "ledger/audit/complete.h"
#include "ledger/base/io.h"
#include "ledger/crypto/dsse.h"

#define FILE_MAX  (32u << 20)
#define PAGES_MAX 4096

static const struct json_limits limits = {
	.max_bytes = FILE_MAX,
	.max_depth = 64,
	.max_nodes = 1000000,
};

static int
bad(struct complete_fault *f, const char *check, const char *what,
    struct err *e)
{
	f->check = check;
	return err_set(e, &err_malformed, "%s", what);
}

static bool
get_uid(const struct json *v, const char *name, struct uid *out)
{
	const struct json *member = json_get(v, name);

	*out = (struct uid){ { 0 } };
	if (!member || member->type == JSON_NULL)
		return member != NULL;
	return uid_parse(json_get_str(v, name), out) && !uid_is_none(*out);
}

static int
read_members(const struct json *reply, const struct json *complete,
    struct complete_file *out, struct complete_fault *f, struct err *e)
{
	const struct json *more = json_get(reply, "has_more");
	int64_t size;

	if (!str_is(json_get_str(complete, "format"), INDEX_FORMAT))
		return bad(f, "format",
		    "the file is no reply to a request with proof=complete, or "
		    "of another format than " INDEX_FORMAT,
		    e);
	out->data = json_get(reply, "data");
	out->kind = json_get_str(complete, "kind");
	if (!out->data || out->data->type != JSON_ARRAY || !out->kind.p ||
	    !more || (more->type != JSON_TRUE && more->type != JSON_FALSE) ||
	    !get_uid(complete, "subject", &out->subject) ||
	    !get_uid(complete, "after", &out->after) ||
	    !get_uid(complete, "to", &out->to) ||
	    !json_get_int(complete, "size", &size) || size < 1)
		return bad(f, "format", "a member is missing or malformed", e);
	out->has_more = more->type == JSON_TRUE;
	out->size = (uint64_t)size;
	return 0;
}

/* The checkpoint is of the same ledger, size and root as the commit. */
static int
check_checkpoint(struct arena *a, struct str text, struct public_key key,
    const struct commit *commit, const struct trailers *t, struct str *origin,
    struct complete_fault *f, struct err *e)
{
	struct checkpoint c;
	struct note note;
	struct str who;

	if (!text.p || note_parse(a, text, &note, NULL) ||
	    checkpoint_parse(note.text, &c, NULL) ||
	    !note_verify(&note, c.origin, key))
		return bad(f, "commit",
		    "the checkpoint is no signed note by the key given", e);
	who = arena_strf(
	    a, "%.*s <%.*s> ", STR_ARGS(c.origin), STR_ARGS(c.origin));
	if (c.size != t->size || !digest_eq(c.root, t->root) ||
	    !str_has_prefix(commit->committer, who))
		return bad(
		    f, "commit", "the checkpoint is not the commit's", e);
	*origin = c.origin;
	return 0;
}

/* A list is of today, so the key in force has to be among those given: nothing
 * in the file leads to it from an earlier one. */
static int
check_signature(const struct commit *commit, const struct pinned *keys,
    struct public_key *key, struct complete_fault *f, struct err *e)
{
	char id[DSSE_KEYID + 1];
	struct sshsig sig;

	if (sshsig_parse(commit->gpgsig, &sig, NULL))
		return bad(
		    f, "commit", "the commit's signature is malformed", e);
	if (!sshsig_verify(&sig, STR("git"), commit->signed_bytes))
		return bad(f, "commit", "the commit's signature is bad", e);
	if (pinned_has(keys, sig.key)) {
		*key = sig.key;
		return 0;
	}
	dsse_keyid(sig.key, id);
	f->check = "commit";
	return err_set(e, &err_malformed,
	    "the commit is not signed by the key given, but by %s: give that key "
	    "with another --key",
	    id);
}

static int
check_commit(struct arena *a, const struct json *complete,
    const struct pinned *keys, struct complete_file *out,
    struct complete_fault *f, struct err *e)
{
	struct str bytes = json_get_str(complete, "commit");
	struct public_key key;
	struct commit commit;
	struct trailers t;

	if (!bytes.p || commit_parse(a, bytes, &commit, NULL) ||
	    trailers_parse(commit.message, &t, NULL))
		return bad(f, "commit", "the commit cannot be read", e);
	if (check_signature(&commit, keys, &key, f, e))
		return -1;
	if (!t.has_index)
		return bad(
		    f, "commit", "the commit has no trailer " INDEX_TRAILER, e);
	if (t.size != out->size)
		return bad(f, "commit", "the commit is of another size", e);
	out->root = t.index;
	out->tree = t.root;
	return check_checkpoint(a, json_get_str(complete, "checkpoint"), key,
	    &commit, &t, &out->origin, f, e);
}

static int
find_range(const struct complete_file *file, struct index_range *range,
    struct complete_fault *f)
{
	struct err e = { 0 };
	int rc =
	    uid_is_none(file->subject)
		? index_range_of_kind(
		      range, file->kind, file->after, file->to, &e)
		: index_range_of_record(range, file->kind, file->subject, &e);

	if (rc)
		f->check = "format";
	return rc;
}

static int
check_pages(struct arena *a, const struct json *complete,
    struct complete_file *out, struct complete_fault *f, struct err *e)
{
	const struct json *pages = json_get(complete, "pages");
	struct index_range range;
	struct str *texts;
	size_t n = 0;

	if (find_range(out, &range, f))
		return bad(f, "format", "the kind is no kind of record", e);
	if (!pages || pages->type != JSON_ARRAY || pages->n > PAGES_MAX)
		return bad(f, "format", "pages is missing or too long", e);
	texts = arena_array(a, pages->n + 1, sizeof *texts);
	for (const struct json *v = pages->first; v; v = v->next) {
		if (v->type != JSON_STRING)
			return bad(f, "format", "a page is no text", e);
		texts[n++] = v->text;
	}
	if (index_proof_check(a, out->root, texts, n, &range, &out->rows,
		&out->n_rows, e) == 0)
		return 0;
	f->check = "index";
	return -1;
}

int
complete_read(struct arena *a, const char *path, const struct pinned *keys,
    struct complete_file *out, struct complete_fault *f, struct err *e)
{
	const struct json *complete;
	struct json *reply;
	struct str bytes;

	*out = (struct complete_file){ 0 };
	*f = (struct complete_fault){ 0 };
	if (io_read_file(a, path, FILE_MAX, &bytes, e))
		return -1;
	f->check = "format";
	if (json_parse(a, bytes, &limits, &reply, e))
		return -1;
	complete = json_get(reply, "complete");
	if (read_members(reply, complete, out, f, e) ||
	    check_commit(a, complete, keys, out, f, e) ||
	    check_pages(a, complete, out, f, e))
		return -1;
	f->check = NULL;
	return 0;
}
