/* From the file to its parts: the Statement goes to a temporary file. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/manifest_run.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

#define SIGNATURES_MAX (64u << 10)
/* Beside envelope and manifest. */
#define MEMBER_MAX  (256u << 10)
#define MEMBERS_MAX 64
#define SMALL_MAX   1024
/* Base64 is decoded in pieces of this length. */
#define DIGITS 65536

struct decoder {
	struct manifest_run *run;
	char digits[DIGITS];
	size_t n;
	bool ended; /* after padding nothing may follow */
};

static int
malformed(struct err *e, const char *why)
{
	return err_set(e, &err_malformed, "%s", why);
}

int
manifest_part_read(void *arg, char *to, size_t room, size_t *n, struct err *e)
{
	struct manifest_part *p = arg;
	uint64_t left = p->end - p->at;

	*n = left < room ? (size_t)left : room;
	if (io_pread_all(p->fd, to, *n, (off_t)p->at))
		return err_errno(e, &err_internal, "cannot read the file");
	p->at += *n;
	return 0;
}

/* A file that nobody else sees and that goes with its descriptor. */
static int
open_temporary(struct manifest_run *run, struct err *e)
{
	const char *folder = run->options->temporary;
	char *path;

	if (!folder)
		folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	run->statement = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (run->statement >= 0)
		return 0;
	/* Not every filesystem can make a file without a name. */
	path = arena_printf(run->a, "%s/probity-XXXXXX", folder);
	run->statement = mkostemp(path, O_CLOEXEC);
	if (run->statement < 0)
		return err_errno(e, &err_internal,
		    "cannot make a temporary file in %s; set TMPDIR", folder);
	unlink(path);
	return 0;
}

static int
write_bytes(
    struct manifest_run *run, const void *bytes, size_t n, struct err *e)
{
	if (io_write_all(run->statement, bytes, n))
		return err_errno(e, &err_internal,
		    "cannot write a temporary file; set TMPDIR to a folder "
		    "with room");
	run->statement_bytes += n;
	return 0;
}

static int
decode(struct decoder *d, struct err *e)
{
	uint8_t bytes[DIGITS / 4 * 3];
	size_t n;

	if (d->n == 0)
		return 0;
	if (d->ended || !base64_decode((struct str){ d->digits, d->n }, bytes,
			    sizeof bytes, &n))
		return malformed(e, "the payload is not base64");
	d->ended = n < d->n / 4 * 3;
	d->n = 0;
	manifest_progress(d->run, "bytes decoded", d->run->statement_bytes,
	    d->run->bytes / 4 * 3);
	return write_bytes(d->run, bytes, n, e);
}

static int
take_digits(void *arg, struct str s, struct err *e)
{
	struct decoder *d = arg;

	while (s.n > 0) {
		size_t n = s.n < DIGITS - d->n ? s.n : DIGITS - d->n;

		memcpy(d->digits + d->n, s.p, n);
		d->n += n;
		s = str_slice(s, n, s.n);
		if (d->n == DIGITS && decode(d, e))
			return -1;
	}
	return 0;
}

static int
read_payload(struct manifest_run *run, struct json_walk *w, struct err *e)
{
	struct decoder *d;
	int rc;

	if (run->statement >= 0)
		return malformed(e, "there are two payloads");
	if (open_temporary(run, e))
		return -1;
	d = arena_alloc(run->a, sizeof *d);
	d->run = run;
	rc = json_walk_string(w, take_digits, d, e);
	return rc ? -1 : decode(d, e);
}

/* A member that may be there once. */
static int
read_once(struct manifest_run *run, struct json_walk *w, size_t max,
    const struct json **out, struct err *e)
{
	struct json *v;

	if (*out)
		return malformed(e, "a member is there twice");
	if (json_walk_value(w, run->a, max, &v, e))
		return -1;
	*out = v;
	return 0;
}

/* A member of the envelope: 1 when it is none. */
static int
read_envelope_member(struct manifest_run *run, struct json_walk *w,
    struct str name, struct err *e)
{
	if (str_is(name, "payload"))
		return read_payload(run, w, e);
	if (str_is(name, "payloadType"))
		return read_once(run, w, SMALL_MAX, &run->payload_type, e);
	if (str_is(name, "signatures"))
		return read_once(run, w, SIGNATURES_MAX, &run->signatures, e);
	return 1;
}

static int
read_envelope(struct manifest_run *run, struct json_walk *w, struct err *e)
{
	struct str name;
	int more, rc = 0;

	if (run->envelope)
		return malformed(e, "a member is there twice");
	run->envelope = true;
	if (json_walk_open(w, JSON_OBJECT, e))
		return -1;
	while (rc == 0 && (more = json_walk_next(w, &name, e)) != 0)
		rc = more < 0 ? -1 : read_envelope_member(run, w, name, e);
	if (rc > 0)
		return malformed(e, "an envelope has the members payload, "
				    "payloadType and signatures, and no other");
	return rc;
}

/* It is compared later, when the payload is known. */
static int
read_manifest(struct manifest_run *run, struct json_walk *w, struct err *e)
{
	if (run->manifest.end > 0)
		return malformed(e, "a member is there twice");
	if (json_walk_skip(w, &run->manifest.at, e))
		return -1;
	run->manifest.end = json_walk_at(w);
	return 0;
}

/* All of them, since a reply is JSON as a whole or it is damaged. */
static int
keep_member(struct manifest_run *run, struct json_walk *w, struct str name,
    struct err *e)
{
	const char *own = arena_cstr(run->a, name);
	struct json *v;

	if (strlen(own) != name.n || run->said->n == MEMBERS_MAX)
		return malformed(e, "a reply has no such member, or not as "
				    "many");
	if (json_get(run->said, own))
		return malformed(e, "a member is there twice");
	if (json_walk_value(w, run->a, MEMBER_MAX, &v, e))
		return -1;
	json_put(run->said, own, v);
	return 0;
}

static int
read_reply_member(struct manifest_run *run, struct json_walk *w,
    struct str name, struct err *e)
{
	if (str_is(name, "envelope"))
		return read_envelope(run, w, e);
	if (str_is(name, "manifest"))
		return read_manifest(run, w, e);
	return keep_member(run, w, name, e);
}

/* Either an envelope's members stand there or those of a reply. */
static int
read_members(struct manifest_run *run, struct json_walk *w, struct err *e)
{
	bool *reply = &run->report->reply, bare = false;
	struct str name;
	int more, rc = 0;

	if (json_walk_open(w, JSON_OBJECT, e))
		return -1;
	while (rc == 0 && (more = json_walk_next(w, &name, e)) != 0) {
		if (more < 0)
			return -1;
		rc = read_envelope_member(run, w, name, e);
		if (rc > 0) {
			*reply = true;
			rc = read_reply_member(run, w, name, e);
		} else {
			bare = true;
		}
		if (rc == 0 && bare && *reply)
			return malformed(e, "an envelope has the members "
					    "payload, payloadType and "
					    "signatures, and no other");
	}
	return rc ? -1 : json_walk_end(w, e);
}

static int
find_size(struct manifest_run *run, struct err *e)
{
	struct stat st;

	if (fstat(run->fd, &st))
		return err_errno(e, &err_internal, "cannot read the file");
	if (!S_ISREG(st.st_mode))
		return err_set(e, &err_usage,
		    "a manifest is checked in a file, not in a pipe");
	run->bytes = (uint64_t)st.st_size;
	if (run->bytes > MANIFEST_FILE_MAX)
		return err_set(e, &err_too_large,
		    "a manifest's file has at most %llu bytes",
		    (unsigned long long)MANIFEST_FILE_MAX);
	return 0;
}

int
manifest_read_file(struct manifest_run *run, struct err *e)
{
	struct manifest_part whole = { .fd = run->fd };
	struct json_walk *w;
	int rc;

	run->check = "format";
	run->said = json_object(run->a);
	if (find_size(run, e))
		return -1;
	whole.end = run->bytes;
	w = json_walk_new(manifest_part_read, &whole, 0, false);
	rc = read_members(run, w, e);
	json_walk_free(w);
	if (rc)
		return -1;
	if (run->statement < 0 || !run->payload_type || !run->signatures)
		return malformed(e, "neither a DSSE envelope nor a reply that "
				    "holds one");
	if (!str_is(run->payload_type->text, DSSE_IN_TOTO) ||
	    run->payload_type->type != JSON_STRING)
		return malformed(e, "its payloadType is not " DSSE_IN_TOTO);
	return 0;
}
