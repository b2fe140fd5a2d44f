/*
 * Erasure through the whole way of a request: what is left on disk at each
 * step, what readers are told, and that neither an older ledger nor older keys
 * bring anything back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <unistd.h>

#include "domain/parties/events.h"
#include "domain/source_records/events.h"
#include "ledger/base/io.h"
#include "ledger/write/content.h"
#include "tests/support/desk.h"
#include "tests/support/event_vector.h"

#define REASON  "\"reason\":\"ticket 4711\""
#define IMPORT  "source_record.import"
#define UNKNOWN "01980a3c-7c00-7abc-8def-0123456789ab"

static int
setup(void **state)
{
	static struct desk d;

	desk_open(&d, "sandbox");
	*state = &d;
	return 0;
}

static int
teardown(void **state)
{
	desk_close(*state);
	return 0;
}

/* The folders of the ledger and of its keys. */
static const char *
ledger_dir(struct desk *d)
{
	return arena_printf(d->a, "%s/var/ledgers/acme/sandbox", d->dir);
}

static const char *
content_dir(struct desk *d)
{
	return arena_printf(d->a, "%s/keys/acme/sandbox/content", d->dir);
}

static void
shell(struct desk *d, const char *command)
{
	(void)d;
	/* There are no threads. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	if (system(command) != 0)
		fail_msg("%s", command);
}

/* The service closes its ledgers, so that it opens them anew. */
static void
reopen(struct desk *d)
{
	desk_dump(d);
}

static struct {
	int keys, entries;
	char key[200], entry[200];
} found;

static int
visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	if (type != FTW_F)
		return 0;
	if (str_has_suffix(str_from(path), STR(".key"))) {
		found.keys++;
		strncpy(found.key, path, sizeof found.key - 1);
	} else if (strstr(path, "/erased/")) {
		found.entries++;
		strncpy(found.entry, path, sizeof found.entry - 1);
	}
	return 0;
}

static void
expect_files(struct desk *d, int keys, int entries)
{
	memset(&found, 0, sizeof found);
	nftw(content_dir(d), visit, 16, FTW_PHYS);
	assert_int_equal(found.keys, keys);
	assert_int_equal(found.entries, entries);
}

static const char *
uid_in(struct desk *d, const struct json *v)
{
	return arena_cstr(d->a, json_get_str(v, "uid"));
}

static const char *
add_party(struct desk *d, const char *name)
{
	return uid_in(
	    d, desk_do(d, "counterparty.add",
		   arena_printf(d->a,
		       "{\"name\":\"%s\",\"account\":\"12345678\"}", name)));
}

static struct json *
erase(struct desk *d, const char *uid)
{
	return desk_do(d, "subject.erase",
	    arena_printf(d->a, "{\"subject\":\"%s\"," REASON "}", uid));
}

static void
refused(struct desk *d, const char *id, const char *input,
    const struct err_kind *kind)
{
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(d, &d->staff, id, input, &reply, &e), -1);
	if (e.kind != kind)
		fail_msg("%s: %s %s", id, e.kind->slug, e.detail);
	if (kind == &err_erased && strcmp(id, "subject.erase") != 0) {
		int64_t seq;

		assert_true(json_get_int(e.extension, "erased_by_event", &seq));
		assert_non_null(json_get_str(e.extension, "erased_at").p);
	}
}

static void
refuse_erase(struct desk *d, const char *uid, const struct err_kind *kind)
{
	refused(d, "subject.erase",
	    arena_printf(d->a, "{\"subject\":\"%s\"," REASON "}", uid), kind);
}

static const char *
csv(struct desk *d, const char *file)
{
	return arena_printf(d->a,
	    "{\"file\":\"%s\",\"format\":\"csv\",\"kind\":\"invoice\","
	    "\"mapping\":\"amount=A,currency:=EUR,reference=R,"
	    "counterparty=C\"}",
	    file);
}

static int64_t
size_of(struct desk *d)
{
	int64_t size = -1;

	json_get_int(desk_do(d, "ledger.status", "{}"), "size", &size);
	return size;
}

static void
test_vector(void **state)
{
	(void)state;
	event_vector_check(&event_subject_erased);
}

static void
test_erase(void **state)
{
	struct desk *d = *state;
	const char *uid = add_party(d, "Erika Musterfrau");
	const struct json *v, *first;
	int64_t n = -1;

	add_party(d, "Hans Beispiel");
	expect_files(d, 2, 0);
	v = desk_do(d, "counterparty.show", "{\"id\":1}");
	assert_true(str_is(json_get_str(v, "name"), "Erika Musterfrau"));
	assert_null(json_get(v, "erased_at"));

	v = erase(d, uid);
	assert_true(json_get_int(v, "keys", &n));
	assert_int_equal(n, 1);
	assert_int_equal(json_get(v, "carried")->n, 1);
	expect_files(d, 1, 1);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	refuse_erase(d, uid, &err_erased);

	/* The item stays in lists. */
	first = json_get(desk_do(d, "counterparty.list", "{}"), "data")->first;
	assert_int_equal(json_get(first, "name")->type, JSON_NULL);
	assert_int_equal(json_get(first, "account")->type, JSON_NULL);
	assert_true(json_get_int(first, "erased_by_event", &n));
	assert_non_null(json_get_str(first, "erased_at").p);
	assert_true(str_is(json_get_str(first->next, "name"), "Hans Beispiel"));
}

static void
test_what_cannot_be_erased(void **state)
{
	struct desk *d = *state;
	const char *connector =
	    uid_in(d, desk_do(d, "connector.add",
			  "{\"name\":\"Bank\",\"kind\":\"sandbox\","
			  "\"modes\":[\"sandbox\"]}"));
	int64_t size = size_of(d);

	refuse_erase(d, UNKNOWN, &err_not_found);
	refuse_erase(d, connector, &err_conflict);
	assert_int_equal(size_of(d), size);
}

/* A key whose command was refused, or found its work done, is taken back. */
static void
test_unused_keys(void **state)
{
	struct desk *d = *state;
	const struct json *v;

	add_party(d, "Erika Musterfrau");
	refused(d, IMPORT, csv(d, "A,R,C\\n1.00,x,Nobody\\n"), &err_invalid);
	expect_files(d, 1, 0);
	desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,x,Erika Musterfrau\\n"));
	expect_files(d, 2, 0);
	v = desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,x,Erika Musterfrau\\n"));
	assert_int_equal(json_get(v, "already_imported")->type, JSON_TRUE);
	expect_files(d, 2, 0);
}

static void
test_import(void **state)
{
	struct desk *d = *state;
	const char *party = add_party(d, "Erika Musterfrau"), *query;
	const char *input = csv(d, "A,R,C\\n1.00,x,Erika Musterfrau\\n");
	const char *uid = uid_in(d, desk_do(d, IMPORT, input));
	struct reply reply;
	struct err e;

	query = arena_printf(d->a, "{\"import_uid\":\"%s\"}", uid);
	assert_int_equal(
	    desk_call(d, &d->staff, "source_record.file", query, &reply, &e),
	    0);
	assert_true(
	    str_is(reply.content->bytes, "A,R,C\n1.00,x,Erika Musterfrau\n"));
	erase(d, uid);
	refused(d, "source_record.file", query, &err_erased);
	/* What was sealed of it stays, and so does the guard against it. */
	refused(d, IMPORT, input, &err_invalid);
	/* An erased name is nobody's. */
	desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,y,Erika Musterfrau\\n"));
	erase(d, party);
	refused(d, IMPORT, csv(d, "A,R,C\\n1.00,z,Erika Musterfrau\\n"),
	    &err_invalid);
	add_party(d, "Erika Musterfrau");
	desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,z,Erika Musterfrau\\n"));
}

static struct ledger *
acquire(struct desk *d)
{
	struct ledger *l;
	struct err e = { 0 };

	if (service_acquire(d->service, &d->place, &l, &e))
		fail_msg("%s", e.detail);
	return l;
}

static void
submit(
    struct desk *d, int (*decide)(struct tx *, void *, struct err *), void *arg)
{
	struct ledger *l = acquire(d);
	struct command c = {
		.decide = decide,
		.arg = arg,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.arena = d->a,
	};
	struct receipt r;
	struct err e = { 0 };

	if (ledger_submit(l, &c, &r, &e))
		fail_msg("%s", e.detail);
	service_release(d->service, l);
}

static int
decide_erasure(struct tx *tx, void *arg, struct err *e)
{
	struct uid subject;

	assert_true(uid_parse(str_from(arg), &subject));
	return subject_erase(tx, subject, STR("a test"), STR_NONE, e);
}

/* The process ends when the event is durable: readers are refused at once, and
 * whoever opens the ledger next does the rest. */
static void
test_crash_after_the_event(void **state)
{
	struct desk *d = *state;
	char *uid = arena_cstr(d->a, str_from(add_party(d, "Erika")));

	submit(d, decide_erasure, uid);
	expect_files(d, 1, 0);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	reopen(d);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	expect_files(d, 0, 1);
}

/* It ends after the list's entry, or between the overwriting of the key and its
 * removal. */
static void
test_crash_while_destroying(void **state)
{
	struct desk *d = *state;
	const char *uid = add_party(d, "Erika"), *key;

	expect_files(d, 1, 0);
	key = arena_printf(d->a, "%s", found.key);
	erase(d, uid);
	expect_files(d, 0, 1);
	shell(d, arena_printf(d->a,
		     "head -c 65 /dev/zero >'%s' && chmod 600 '%s'", key, key));
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	reopen(d);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	expect_files(d, 0, 1);
}

/* An older backup of all keys, without the list. */
static void
test_older_keys(void **state)
{
	struct desk *d = *state;
	const char *uid = add_party(d, "Erika"), *keys = content_dir(d);

	shell(d, arena_printf(d->a, "cp -a '%s' '%s.old'", keys, keys));
	erase(d, uid);
	shell(d, arena_printf(d->a, "rm -r '%s' && cp -a '%s.old' '%s'", keys,
		     keys, keys));
	expect_files(d, 1, 0);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	reopen(d);
	size_of(d);
	expect_files(d, 0, 1);
}

/* The ledger and the keys of before the erasure, the list of after it: once. */
static void
test_older_ledger(void **state)
{
	struct desk *d = *state;
	const char *uid = add_party(d, "Erika"), *keys = content_dir(d);
	const char *dir = ledger_dir(d);
	const struct json *first;
	int64_t size;

	size = size_of(d);
	shell(d, arena_printf(d->a, "cp -a '%s' '%s.old'", keys, keys));
	reopen(d);
	shell(d, arena_printf(d->a, "cp -a '%s' '%s.old'", dir, dir));
	erase(d, uid);
	assert_int_equal(size_of(d), size + 1);
	reopen(d);
	shell(d, arena_printf(
		     d->a, "rm -r '%s' && cp -a '%s.old' '%s'", dir, dir, dir));
	shell(d, arena_printf(d->a, "cp -a '%s.old/.' '%s'", keys, keys));
	expect_files(d, 1, 1);

	assert_int_equal(size_of(d), size + 1);
	expect_files(d, 0, 2);
	refused(d, "counterparty.show", "{\"id\":1}", &err_erased);
	first = json_get(desk_do(d, "counterparty.list", "{}"), "data")->first;
	assert_int_equal(json_get(first, "name")->type, JSON_NULL);
	reopen(d);
	assert_int_equal(size_of(d), size + 1);
	expect_files(d, 0, 2);
}

/* A key that is gone without an erasure is a fault, not an erasure. */
static void
test_missing_key(void **state)
{
	struct desk *d = *state;

	add_party(d, "Erika");
	expect_files(d, 1, 0);
	assert_int_equal(unlink(found.key), 0);
	refused(d, "counterparty.show", "{\"id\":1}", &err_unavailable);
}

/* An entry of the list that was changed stops nothing, and erases nothing. */
static void
test_list_entry_changed(void **state)
{
	struct desk *d = *state;

	add_party(d, "Erika");
	shell(d, arena_printf(d->a,
		     "mkdir '%s/erased' && echo no >'%s/erased/" UNKNOWN "'",
		     content_dir(d), content_dir(d)));
	reopen(d);
	desk_do(d, "counterparty.show", "{\"id\":1}");
	expect_files(d, 1, 1);
}

struct many {
	struct content_key key;
	struct uid subject;
	int64_t first, n;
};

/* Events of one record, all under one key. */
static int
decide_many(struct tx *tx, void *arg, struct err *e)
{
	const struct many *m = arg;
	struct sealed_place place = { STR("ledger.example.com/acme/sandbox"),
		m->subject, "name" };
	struct counterparty_registered data = { 0 };

	data.name = sealed_text_make(tx_arena(tx), &m->key, &place, STR("x"));
	data.account = data.name;
	for (int64_t i = 0; i < m->n; i++) {
		data.id = m->first + i;
		if (tx_emit(tx, &event_counterparty_registered, "counterparty",
			m->subject, &data, NULL, 0, e))
			return -1;
	}
	return 0;
}

/* More values than one event can name. */
static void
test_many_values(void **state)
{
	struct desk *d = *state;
	struct many m = { .first = 1, .n = 250 };
	struct ledger *l = acquire(d);
	struct err e = { 0 };
	const struct json *v;
	int64_t size, keys = 0;

	assert_int_equal(content_key_make(l, &m.key, &e), 0);
	service_release(d->service, l);
	assert_true(uid_parse(STR(UNKNOWN), &m.subject));
	submit(d, decide_many, &m);
	m.first += m.n;
	submit(d, decide_many, &m);
	size = size_of(d);
	v = erase(d, UNKNOWN);
	assert_true(json_get_int(v, "keys", &keys));
	assert_int_equal(keys, 1);
	assert_int_equal(json_get(v, "carried")->n, CARRIED_PER_EVENT);
	assert_int_equal(size_of(d), size + 2);
	expect_files(d, 0, 2);
	refuse_erase(d, UNKNOWN, &err_erased);
}

static int
decide_under_erased(struct tx *tx, void *arg, struct err *e)
{
	struct err why = { 0 };

	(void)e;
	assert_int_equal(decide_many(tx, arg, &why), -1);
	assert_ptr_equal(why.kind, &err_erased);
	return 0;
}

/* What was encrypted before the turn may meet an erasure in it. */
static void
test_value_under_an_erased_key(void **state)
{
	struct desk *d = *state;
	struct many m = { .first = 1, .n = 1 };
	struct ledger *l = acquire(d);
	struct err e = { 0 };

	assert_int_equal(content_key_make(l, &m.key, &e), 0);
	service_release(d->service, l);
	assert_true(uid_parse(STR(UNKNOWN), &m.subject));
	submit(d, decide_many, &m);
	erase(d, UNKNOWN);
	m.first = 2;
	submit(d, decide_under_erased, &m);
}

static int
decide_in_clear(struct tx *tx, void *arg, struct err *e)
{
	const struct counterparty_added data = {
		.id = 1, .name = STR("Old Name"), .account = STR("87654321")
	};

	return tx_emit(tx, &event_counterparty_added, "counterparty",
	    *(struct uid *)arg, &data, NULL, 0, e);
}

/* A ledger from before values were encrypted. */
static void
test_recorded_in_clear(void **state)
{
	struct desk *d = *state;
	struct uid uid;
	const struct json *v;

	assert_true(uid_parse(STR(UNKNOWN), &uid));
	submit(d, decide_in_clear, &uid);
	v = desk_do(d, "counterparty.show", "{\"id\":1}");
	assert_true(str_is(json_get_str(v, "name"), "Old Name"));
	assert_true(str_is(json_get_str(v, "account"), "87654321"));
	desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,x,Old Name\\n"));
	desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,y,87654321\\n"));
	refuse_erase(d, UNKNOWN, &err_conflict);
}

/* The import of "A,R,C\n1.00,x,12345678\n" by csv(), as it was recorded then.
 */
static int
decide_import_in_clear(struct tx *tx, void *arg, struct err *e)
{
	struct digest file = sha256(STR("A,R,C\n1.00,x,12345678\n"));
	struct str parts[] = { STR("probity-import/v1\n"),
		{ (const char *)file.b, DIGEST_BYTES },
		STR("csv\ninvoice\n\namount=A,currency:=EUR,reference=R,"
		    "counterparty=C\ncomma\npoint\niso") };
	struct import_recorded data = { .id = 1,
		.format = STR("csv"),
		.kind = STR("invoice"),
		.file_name = STR("old.csv"),
		.file_bytes = 23,
		.records = 1 };
	char hex[DIGEST_HEX + 1], request[DIGEST_HEX + 1];

	digest_hex(file, hex);
	digest_hex(sha256_parts(parts, 3), request);
	data.file_sha256.hex = str_from(hex);
	data.request_sha256.hex = str_from(request);
	return tx_emit(tx, &event_import_recorded, "source_import",
	    *(struct uid *)arg, &data, NULL, 0, e);
}

static void
test_import_in_clear(void **state)
{
	struct desk *d = *state;
	struct uid uid;
	const struct json *v;

	assert_true(uid_parse(STR(UNKNOWN), &uid));
	submit(d, decide_import_in_clear, &uid);
	v = desk_do(d, IMPORT, csv(d, "A,R,C\\n1.00,x,12345678\\n"));
	assert_int_equal(json_get(v, "already_imported")->type, JSON_TRUE);
	assert_true(str_is(json_get_str(v, "uid"), UNKNOWN));
	assert_true(str_is(json_get_str(v, "file_name"), "old.csv"));
	expect_files(d, 0, 0);
	refuse_erase(d, UNKNOWN, &err_conflict);
}

/* Erased or not, no clear text is in the tables, and a rebuild is the same. */
static void
test_rebuild(void **state)
{
	struct desk *d = *state;
	const char *uid = add_party(d, "Erika Musterfrau");
	struct str before, after;

	desk_do(d, IMPORT, csv(d, "A,R,C,N\\n1.00,x,12345678,Geheim\\n"));
	before = desk_dump(d);
	assert_null(strstr(before.p, "Erika"));
	assert_null(strstr(before.p, "Geheim"));
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
	erase(d, uid);
	before = desk_dump(d);
	desk_rebuild(d);
	after = desk_dump(d);
	assert_true(str_eq(before, after));
}

int
main(void)
{
#define ON_A_DESK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),
		ON_A_DESK(test_erase),
		ON_A_DESK(test_what_cannot_be_erased),
		ON_A_DESK(test_unused_keys),
		ON_A_DESK(test_import),
		ON_A_DESK(test_crash_after_the_event),
		ON_A_DESK(test_crash_while_destroying),
		ON_A_DESK(test_older_keys),
		ON_A_DESK(test_older_ledger),
		ON_A_DESK(test_missing_key),
		ON_A_DESK(test_list_entry_changed),
		ON_A_DESK(test_many_values),
		ON_A_DESK(test_value_under_an_erased_key),
		ON_A_DESK(test_recorded_in_clear),
		ON_A_DESK(test_import_in_clear),
		ON_A_DESK(test_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
