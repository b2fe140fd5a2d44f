#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "domain/lineage/events.h"
#include "domain/lineage/references.h"
#include "domain/lineage/rendering.h"
#include "domain/lineage/sink.h"
#include "ledger/base/io.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"
#include "tests/support/desk.h"

#define ORIGIN "ledger.example.com/acme/sandbox"

static struct desk desk;
static struct caller analyst;

static int
open_desk(void **state)
{
	(void)state;
	desk_open(&desk, "sandbox");
	desk_application(
	    &desk, "analyst", "[\"infrastructure:lineage\"]", "[]", &analyst);
	desk_do(&desk, "connector.add",
	    "{\"name\":\"Bank\",\"kind\":\"sandbox\",\"modes\":[\"sandbox\"]}");
	return 0;
}

static int
close_desk(void **state)
{
	(void)state;
	desk_close(&desk);
	return 0;
}

/* Which rendering an Accept header means. */
static void
test_accept(void **state)
{
	static const struct {
		const char *accept;
		enum rendering wanted;
	} cases[] = {
		{ "", RENDERING_MANIFEST },
		{ "*/*", RENDERING_MANIFEST },
		{ "application/json", RENDERING_MANIFEST },
		{ "text/html", RENDERING_REPORT },
		{ "Text/HTML; charset=utf-8", RENDERING_REPORT },
		{ "text/html;q=0", RENDERING_MANIFEST },
		{ "text/html;q=0.001,image/png", RENDERING_REPORT },
		{ "text/html,application/xhtml+xml,*/*;q=0.8",
		    RENDERING_REPORT },
		{ "text/html;q=0.7, application/json", RENDERING_MANIFEST },
		{ "text/html;q=0.75, application/json;q=0.8;profile=prov",
		    RENDERING_PROV },
		{ "application/json;profile=prov", RENDERING_PROV },
		{ "application/json ; profile=\"prov\"", RENDERING_PROV },
		{ "application/json;profile=other", RENDERING_MANIFEST },
		{ "application/json, application/json;profile=prov",
		    RENDERING_MANIFEST },
		{ ",;=,q=1;;,", RENDERING_MANIFEST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (rendering_choose(STR_NONE, str_from(cases[i].accept)) !=
		    cases[i].wanted)
			fail_msg("Accept: %s", cases[i].accept);
	assert_int_equal(
	    rendering_choose(STR_NONE, STR_NONE), RENDERING_MANIFEST);
	assert_int_equal(
	    rendering_choose(STR("prov"), STR("text/html")), RENDERING_PROV);
	assert_int_equal(rendering_choose(STR("manifest"), STR("text/html")),
	    RENDERING_MANIFEST);
}

/* A manifest of one event, with what a page must not take for its own. */
#define UID_EVENT  "01930a3e-7c00-7000-8000-0000000000e5"
#define UID_ACTION "01930a3e-7c00-7000-8000-0000000000d4"
#define UID_SOURCE "01930a3e-7c00-7000-8000-0000000000c3"
#define STATEMENT                                                         \
	"{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicate\":{"  \
	"\"events\":[{\"eventTime\":\"2026-01-02T03:04:05.000006Z\","     \
	"\"inputs\":[{\"name\":\"source_record/" UID_SOURCE "\"}],"       \
	"\"job\":{\"name\":\"action.created\"},"                          \
	"\"outputs\":[{\"name\":\"action/" UID_ACTION "\"}],"             \
	"\"run\":{\"facets\":{\"probity_event\":{\"hash\":\"abcd\"}},"    \
	"\"runId\":\"" UID_EVENT "\"}}],"                                 \
	"\"evidence\":[{\"line\":\"AAAA {\\\"actor\\\":{\\\"id\\\":"      \
	"\\\"<b>&'\\\\\\\"\\\",\\\"kind\\\":\\\"operator\\\"}}\","        \
	"\"path\":[],\"seq\":6}],\"generated_at\":"                       \
	"\"2026-01-02T03:04:06.000000Z\",\"log\":{\"complete\":false,"    \
	"\"origin\":\"" ORIGIN "\",\"root_sha256\":\"0011\",\"size\":9}," \
	"\"materials\":[{\"digest\":{\"sha256\":\"2233\"},"               \
	"\"uri\":\"urn:uuid:" UID_SOURCE                                  \
	"\"}],\"scope\":{\"id\":\"" UID_ACTION                            \
	"\",\"type\":\"action\"}},\"subject\":[{\"digest\":{\"sha256\":"  \
	"\"4455\"},\"name\":\"action/" UID_ACTION "\"}]}"

static const char prov_golden[] =
    "{\"activity\":{\"event:" UID_EVENT "\":{\"prov:endTime\":"
    "\"2026-01-02T03:04:05.000006Z\",\"prov:startTime\":"
    "\"2026-01-02T03:04:05.000006Z\",\"probity:hash\":\"abcd\","
    "\"probity:seq\":\"6\",\"probity:type\":\"action.created\"}},"
    "\"agent\":{\"agent:operator/<b>&'\\\"\":{\"prov:type\":{\"$\":"
    "\"operator\",\"type\":\"xsd:string\"}}},"
    "\"entity\":{\"record:action/" UID_ACTION "\":{\"prov:type\":{\"$\":"
    "\"action\",\"type\":\"xsd:string\"}},"
    "\"record:source_record/" UID_SOURCE "\":{\"prov:type\":{\"$\":"
    "\"source_record\",\"type\":\"xsd:string\"}}},"
    "\"prefix\":{\"agent\":\"https://probity.dev/prov/agent#\","
    "\"event\":\"https://probity.dev/prov/event#\","
    "\"probity\":\"https://probity.dev/prov/probity#\","
    "\"record\":\"https://probity.dev/prov/record#\"},"
    "\"used\":{\"_:r2\":{\"prov:activity\":\"event:" UID_EVENT "\","
    "\"prov:entity\":\"record:source_record/" UID_SOURCE "\"}},"
    "\"wasAssociatedWith\":{\"_:r3\":{\"prov:activity\":\"event:" UID_EVENT
    "\",\"prov:agent\":\"agent:operator/<b>&'\\\"\"}},"
    "\"wasGeneratedBy\":{\"_:r1\":{\"prov:activity\":\"event:" UID_EVENT
    "\",\"prov:entity\":\"record:action/" UID_ACTION "\"}}}";

static struct json *
parse(struct arena *a, struct str text)
{
	struct json *v;
	struct err e = { 0 };

	if (json_parse(a, text, &json_limits_default, &v, &e))
		fail_msg("%.*s: %s", STR_ARGS(text), e.detail);
	return v;
}

static void
test_prov_golden(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str canonical, wanted;
	struct buf b;

	(void)state;
	buf_init(&b, 65536);
	assert_int_equal(prov_render(a, parse(a, STR(STATEMENT)), &b, &e), 0);
	assert_int_equal(
	    canon_str(a, parse(a, buf_str(&b)), &canonical, &e), 0);
	assert_int_equal(
	    canon_str(a, parse(a, str_from(prov_golden)), &wanted, &e), 0);
	if (!str_eq(canonical, wanted))
		fail_msg("%.*s", STR_ARGS(canonical));
	buf_fini(&b);
	arena_free(a);
}

static void
assert_in(struct buf *b, const char *text)
{
	buf_add_byte(b, '\0');
	if (!strstr(b->p, text))
		fail_msg("no %s in %s", text, b->p);
	b->n--;
}

static void
test_report_is_escaped(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct buf b;

	(void)state;
	buf_init(&b, 65536);
	assert_int_equal(
	    report_render(a, parse(a, STR(STATEMENT)), STR("6677"), &b, &e), 0);
	assert_in(&b, "&lt;b&gt;&amp;&#39;&quot;");
	assert_in(&b, "<code>action/" UID_ACTION "</code>");
	assert_in(&b, "<code>source_record/" UID_SOURCE "</code>");
	assert_in(&b, "<code>6677</code>");
	assert_in(&b, "urn:uuid:" UID_SOURCE);
	buf_add_byte(&b, '\0');
	assert_null(strstr(b.p, "<b>"));
	assert_null(strstr(b.p, "<script"));
	buf_fini(&b);
	arena_free(a);
}

static void
test_a_manifest_without_its_evidence(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct buf b;

	(void)state;
	buf_init(&b, 65536);
	assert_int_equal(
	    prov_render(a,
		parse(a, STR("{\"predicate\":{\"events\":[{}],\"evidence\":[{"
			     "\"line\":\"none\"}]}}")),
		&b, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	buf_fini(&b);
	arena_free(a);
}

/* The data of an event that names every kind of record; numbers are looked for
 * in the ledger. */
static void
test_references(void **state)
{
	struct arena *a = arena_new();
	struct event event = { .data = parse(a,
				   STR("{\"application\":\"" UID_SOURCE "\","
				       "\"connector_id\":1,"
				       "\"counterparty_id\":99,"
				       "\"import_uid\":\"" UID_EVENT "\","
				       "\"records\":[{\"uid\":\"" UID_EVENT
				       "\"}],\"source\":{\"uid\":\"" UID_ACTION
				       "\"},\"statement_uids\":[\"x\",7]}")) };
	struct context c = { .arena = a };
	struct references r;
	struct reading reading;
	struct ledger *ledger;
	struct err e = { 0 };

	(void)state;
	assert_true(uid_parse(STR(UID_ACTION), &event.subject));
	assert_int_equal(
	    service_acquire(desk.service, &desk.place, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	c.db = reading.db;
	assert_int_equal(references_find(&c, &event, true, &r, &e), 0);
	assert_true(str_is(r.used->next->kind, "source_import"));
	assert_int_equal(references_find(&c, &event, false, &r, &e), 0);
	ledger_read_end(&reading);
	service_release(desk.service, ledger);
	assert_true(str_is(r.used->kind, "application"));
	assert_true(str_is(r.used->next->kind, "connector"));
	assert_false(uid_is_none(r.used->next->uid));
	assert_true(str_is(r.used->next->next->kind, "source_import"));
	assert_null(r.used->next->next->next); /* the subject is none */
	assert_true(str_is(r.made->kind, "source_record"));
	assert_null(r.made->next);
	arena_free(a);
}

static void
test_memory_sink(void **state)
{
	struct memory_sink s;
	struct err e = { 0 };

	(void)state;
	memory_sink_init(&s, 4);
	assert_int_equal(s.sink.add(&s.sink, STR("abcd"), &e), 0);
	assert_int_equal(s.sink.add(&s.sink, STR("e"), &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	memory_sink_fini(&s);
}

static void
test_file_sink(void **state)
{
	const char *part = arena_printf(desk.a, "%s/part", desk.dir);
	const char *path = arena_printf(desk.a, "%s/whole", desk.dir);
	char *bytes = arena_alloc(desk.a, 200000);
	struct file_sink *s, *other;
	struct digest digest;
	struct err e = { 0 };
	struct str read;
	uint64_t n;

	(void)state;
	memset(bytes, 'x', 200000);
	assert_int_equal(file_sink_open(part, 1, &s, &e), 0);
	assert_int_equal(file_sink_open(part, 1, &other, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	err_clear(&e);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(file_sink_of(s)->add(file_sink_of(s),
				     (struct str){ bytes, i * 50000 }, &e),
		    0);
	assert_int_equal(file_sink_end(s, path, &digest, &n, &e), 0);
	assert_int_equal(io_read_file(desk.a, path, 1000000, &read, &e), 0);
	assert_int_equal(read.n, 500000);
	assert_int_equal(n, 500000);
	assert_true(digest_eq(digest, sha256(read)));
	assert_int_equal(access(part, F_OK), -1);
	/* A disk that has to keep more than it has. */
	assert_int_equal(file_sink_open(part, UINT64_MAX / 2, &s, &e), 0);
	assert_int_equal(file_sink_of(s)->add(file_sink_of(s),
			     (struct str){ bytes, 200000 }, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_no_space);
	file_sink_drop(s);
	assert_int_equal(access(part, F_OK), -1);
}

/* What the reply says of itself, by the functions of the lower layers. */
static void
test_export(void **state)
{
	struct json *body, *manifest, *envelope, *signature, *log;
	struct str payload, canonical;
	struct signature sig;
	struct public_key key;
	struct reply reply;
	struct err e;
	char *bytes;
	size_t n;
	struct ed25519_verifier *v;

	(void)state;
	if (desk_call(&desk, &analyst, "lineage_export.create",
		"{\"scope_type\":\"workspace\",\"scope_id\":\"acme\"}", &reply,
		&e))
		fail_msg("%s", e.detail);
	assert_int_equal(reply.status, 201);
	body = reply.body;
	manifest = json_get(body, "manifest");
	envelope = json_get(body, "envelope");
	payload = json_get_str(envelope, "payload");
	bytes = arena_alloc(desk.a, payload.n);
	assert_true(base64_decode(payload, bytes, payload.n, &n));
	payload = (struct str){ bytes, n };
	assert_true(str_eq(manifest->text, payload));
	assert_int_equal(
	    canon_str(desk.a, parse(desk.a, payload), &canonical, &e), 0);
	assert_true(str_eq(canonical, payload));
	log = json_get(json_get(parse(desk.a, payload), "predicate"), "log");
	canonical = json_get_str(json_get(log, "key_event"), "line");
	str_take(&canonical, ' ');
	assert_int_equal(
	    public_key_parse(
		json_get_str(
		    json_get(parse(desk.a, canonical), "data"), "public_key"),
		&key, &e),
	    0);
	signature = json_get(envelope, "signatures")->first;
	assert_true(base64_decode(
	    json_get_str(signature, "sig"), sig.b, sizeof sig.b, &n));
	v = dsse_verify_begin(key, STR(DSSE_IN_TOTO), payload.n, sig);
	ed25519_verify_add(v, payload);
	assert_true(ed25519_verify_end(v));
}

/* Beyond what a request waits for: a job, and an answer without a manifest. */
static void
test_waiting_is_bounded(void **state)
{
	static const char request[] =
	    "{\"scope_type\":\"workspace\",\"scope_id\":\"acme\"}";
	struct config *config =
	    (struct config *)(uintptr_t)service_config(desk.service);
	struct reply reply;
	struct err e;

	(void)state;
	config->lineage_events_at_once = 1;
	for (int i = 0; i < 8; i++) {
		if (desk_call(&desk, &analyst, "lineage_export.create", request,
			&reply, &e))
			fail_msg("%s", e.detail);
		assert_int_equal(reply.status, 202);
		assert_int_equal(
		    json_get(reply.body, "manifest")->type, JSON_NULL);
	}
	assert_int_equal(desk_call(&desk, &analyst, "lineage_export.create",
			     request, &reply, &e),
	    -1);
	assert_string_equal(e.kind->slug, "exports-waiting");
}

static void
test_rebuild(void **state)
{
	struct str before = desk_dump(&desk);

	(void)state;
	desk_rebuild(&desk);
	assert_true(str_eq(before, desk_dump(&desk)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_prov_golden),
		cmocka_unit_test(test_report_is_escaped),
		cmocka_unit_test(test_a_manifest_without_its_evidence),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_memory_sink),
		cmocka_unit_test(test_file_sink),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_waiting_is_bounded),
		cmocka_unit_test(test_rebuild),
	};

	return cmocka_run_group_tests(tests, open_desk, close_desk);
}
