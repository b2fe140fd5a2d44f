/*
 * Tiles, checkpoints and proofs of a ledger of some hundred events, against
 * the tree as RFC 6962 defines it over the events read back from git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/tlog_proof.h"
#include "tests/support/toy.h"

#define THREADS 32
#define EACH    22
#define SIZE    ((uint64_t)(1 + THREADS * EACH)) /* 705: two tiles and more */
#define TILE    256

/* One ledger for all tests: what they read does not change. */
struct fixture {
	struct toy toy;
	struct ledger *ledger;
	struct arena *arena;
	struct reading reading;
	struct stored_event *events;
	struct digest leaves[SIZE];
};

static const uint64_t sizes[] = { 1, 2, 3, 64, 100, 255, 256, 257, 300, 511,
	512, 513, 640, 704, 705 };
#define N_SIZES (sizeof sizes / sizeof sizes[0])

static struct digest
root_by_definition(const struct digest *leaves, size_t n)
{
	size_t k = 1;

	if (n == 1)
		return leaves[0];
	while (k * 2 < n)
		k *= 2;
	return merkle_node(root_by_definition(leaves, k),
	    root_by_definition(leaves + k, n - k));
}

static void *
note_some(void *arg)
{
	struct fixture *f = arg;
	struct arena *a = arena_new();

	for (int i = 0; i < EACH; i++) {
		struct receipt r;
		struct err e = { 0 };

		if (toy_note(f->ledger, a, STR("note"), &r, &e))
			fprintf(stderr, "%s\n", e.detail), abort();
	}
	arena_free(a);
	return NULL;
}

static void
open_ledger(struct fixture *f)
{
	struct err e = { 0 };

	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
}

/* Each test reads at one position. */
static int
begin(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };

	return ledger_read_begin(f->ledger, &f->reading, &e);
}

static int
end(void **state)
{
	struct fixture *f = *state;

	ledger_read_end(&f->reading);
	return 0;
}

static void
read_leaves(struct fixture *f)
{
	struct err e = { 0 };

	f->events = arena_array(f->arena, SIZE, sizeof *f->events);
	if (ledger_read_events(&f->reading, 0, SIZE, f->arena, f->events, &e))
		fail_msg("ledger_read_events: %s", e.detail);
	for (size_t i = 0; i < SIZE; i++) {
		struct str event = f->events[i].line;

		str_take(&event, ' ');
		assert_int_equal(f->events[i].recorded.seq, i);
		assert_true(
		    digest_eq(sha256(event), f->events[i].recorded.hash));
		f->leaves[i] = merkle_leaf(event);
	}
}

static int
set_up_all(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	pthread_t threads[THREADS];

	if (f == NULL)
		return -1;
	toy_create(&f->toy, NULL);
	f->arena = arena_new();
	open_ledger(f);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, note_some, f);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	*state = f;
	if (begin(state))
		return -1;
	read_leaves(f);
	return end(state);
}

static int
tear_down_all(void **state)
{
	struct fixture *f = *state;

	ledger_close(f->ledger);
	arena_free(f->arena);
	toy_remove(&f->toy);
	free(f);
	return 0;
}

static void
assert_tile(struct fixture *f, unsigned level, uint64_t number, size_t width,
    const struct digest *hashes)
{
	struct str tile;
	struct err e = { 0 };

	if (ledger_read_tile(
		&f->reading, level, number, width, f->arena, &tile, &e))
		fail_msg("tile %u/%llu.p/%zu: %s", level,
		    (unsigned long long)number, width, e.detail);
	assert_int_equal(tile.n, width * DIGEST_BYTES);
	assert_memory_equal(tile.p, hashes, tile.n);
}

static void
test_tiles_are_what_the_events_give(void **state)
{
	struct fixture *f = *state;
	struct digest up[SIZE / TILE];

	for (size_t width = 1; width <= TILE; width++)
		assert_tile(f, 0, 0, width, f->leaves);
	assert_tile(f, 0, 1, TILE, f->leaves + TILE);
	for (size_t width = 1; width <= SIZE % TILE; width++)
		assert_tile(
		    f, 0, SIZE / TILE, width, f->leaves + SIZE / TILE * TILE);
	for (size_t i = 0; i < SIZE / TILE; i++)
		up[i] = root_by_definition(f->leaves + i * TILE, TILE);
	assert_tile(f, 1, 0, SIZE / TILE, up);
	assert_tile(f, 1, 0, 1, up);
}

static void
test_tiles_that_have_not_come(void **state)
{
	static const struct {
		unsigned level;
		uint64_t number;
		size_t width;
	} none[] = { { 0, 0, 0 }, { 0, 0, TILE + 1 }, { 0, 0, SIZE_MAX },
		{ 0, SIZE / TILE, SIZE % TILE + 1 }, { 0, SIZE / TILE, TILE },
		{ 0, SIZE / TILE + 1, 1 }, { 1, 0, SIZE / TILE + 1 },
		{ 1, 1, 1 }, { 2, 0, 1 }, { 7, 0, 1 }, { 8, 0, 1 },
		{ 63, 0, 1 }, { UINT32_MAX, 0, 1 }, { 0, UINT64_C(1) << 48, 1 },
		{ 0, UINT64_MAX, 1 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		struct str tile;
		struct err e = { 0 };

		if (ledger_read_tile(&f->reading, none[i].level, none[i].number,
			none[i].width, f->arena, &tile, &e) == 0)
			fail_msg("number %zu was found", i);
		assert_ptr_equal(e.kind, &err_not_found);
	}
}

static struct merkle_proof
inclusion(struct fixture *f, uint64_t seq, uint64_t size)
{
	struct merkle_proof p;
	struct err e = { 0 };

	if (ledger_prove_inclusion(&f->reading, seq, size, f->arena, &p, &e))
		fail_msg("event %llu of %llu: %s", (unsigned long long)seq,
		    (unsigned long long)size, e.detail);
	return p;
}

static void
test_inclusion_at_many_sizes(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_SIZES; i++) {
		struct digest root = root_by_definition(f->leaves, sizes[i]);

		for (uint64_t seq = 0; seq < sizes[i]; seq += 1 + seq / 9) {
			struct merkle_proof p = inclusion(f, seq, sizes[i]);

			assert_true(proof_includes(
			    f->leaves[seq], seq, sizes[i], &p, root));
		}
	}
}

static struct merkle_proof
consistency(struct fixture *f, uint64_t old, uint64_t size)
{
	struct merkle_proof p;
	struct err e = { 0 };

	if (ledger_prove_consistency(&f->reading, old, size, f->arena, &p, &e))
		fail_msg("%llu to %llu: %s", (unsigned long long)old,
		    (unsigned long long)size, e.detail);
	return p;
}

static void
test_consistency_between_many_sizes(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_SIZES; i++)
		for (size_t j = i; j < N_SIZES; j++) {
			struct merkle_proof p =
			    consistency(f, sizes[i], sizes[j]);

			assert_true(proof_extends(sizes[i],
			    root_by_definition(f->leaves, sizes[i]), sizes[j],
			    root_by_definition(f->leaves, sizes[j]), &p));
		}
}

static void
test_proofs_that_cannot_be(void **state)
{
	static const struct {
		uint64_t from, size;
		const struct err_kind *inclusion, *consistency;
	} bad[] = { { SIZE, SIZE, &err_not_found, NULL },
		{ SIZE + 1, SIZE, &err_not_found, &err_invalid },
		{ 0, 0, &err_not_found, &err_invalid },
		{ 0, SIZE, NULL, &err_invalid },
		{ 5, 4, &err_not_found, &err_invalid },
		{ 1, SIZE + 1, &err_not_found, &err_not_found },
		{ 1, UINT64_MAX, &err_not_found, &err_not_found },
		{ UINT64_MAX, UINT64_MAX, &err_not_found, &err_not_found },
		{ UINT64_MAX, SIZE, &err_not_found, &err_invalid } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct merkle_proof p;
		struct err e = { 0 };

		ledger_prove_inclusion(
		    &f->reading, bad[i].from, bad[i].size, f->arena, &p, &e);
		assert_ptr_equal(e.kind, bad[i].inclusion);
		err_clear(&e);
		ledger_prove_consistency(
		    &f->reading, bad[i].from, bad[i].size, f->arena, &p, &e);
		assert_ptr_equal(e.kind, bad[i].consistency);
	}
}

static struct checkpoint
checkpoint_at(struct fixture *f, uint64_t *size, struct str *text)
{
	struct public_key key = ledger_public_key(f->ledger);
	struct checkpoint c;
	struct note note;
	struct err e = { 0 };

	if (ledger_read_checkpoint(&f->reading, size, f->arena, text, &e) ||
	    note_parse(f->arena, *text, &note, &e) ||
	    checkpoint_parse(note.text, &c, &e))
		fail_msg("checkpoint: %s", e.detail);
	assert_true(note_verify(&note, ledger_origin(f->ledger), key));
	return c;
}

/* A size is rounded up to where its batch ended. */
static void
test_checkpoints(void **state)
{
	struct fixture *f = *state;
	uint64_t newest = 0, batches = 0;
	struct str text;

	assert_int_equal(checkpoint_at(f, &newest, &text).size, SIZE);
	assert_int_equal(newest, SIZE);
	for (uint64_t seq = 0, size; seq < SIZE; seq = size, batches++) {
		struct batch_place at;
		struct checkpoint c;
		struct err e = { 0 };

		size = seq + 1;
		c = checkpoint_at(f, &size, &text);
		assert_int_equal(
		    ledger_read_batch_place(&f->reading, seq, &at, &e), 0);
		assert_int_equal(at.first, seq);
		assert_true(at.count >= 1);
		assert_int_equal(size, seq + at.count);
		assert_int_equal(c.size, size);
		assert_true(oid_eq(at.commit, f->events[seq].commit));
		assert_true(str_eq(text, f->events[size - 1].checkpoint));
		assert_true(
		    digest_eq(c.root, root_by_definition(f->leaves, c.size)));
	}
	assert_true(batches > 1 && batches < SIZE);
}

static void
test_beyond_the_position(void **state)
{
	static const uint64_t beyond[] = { SIZE, SIZE + 1, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
		uint64_t size = beyond[i] + (beyond[i] < UINT64_MAX);
		struct batch_place at;
		struct stored_event two[2];
		struct str text;
		struct err e = { 0 };

		assert_int_equal(
		    ledger_read_batch_place(&f->reading, beyond[i], &at, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_not_found);
		err_clear(&e);
		assert_int_equal(ledger_read_checkpoint(
				     &f->reading, &size, f->arena, &text, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_not_found);
		err_clear(&e);
		assert_int_equal(ledger_read_events(&f->reading, beyond[i] - 1,
				     2, f->arena, two, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_not_found);
	}
}

/* What is handed to third parties, for events at the ends of tiles. */
static void
test_a_proof_that_stands_alone(void **state)
{
	static const uint64_t seqs[] = { 0, 1, 255, 256, 511, 512, 704 };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof seqs / sizeof seqs[0]; i++) {
		struct str event = f->events[seqs[i]].line;
		struct tlog_proof p = { .index = seqs[i] };
		uint64_t size = seqs[i] + 1;
		struct checkpoint c;
		struct err e = { 0 };

		checkpoint_at(f, &size, &p.checkpoint);
		p.path = inclusion(f, seqs[i], size);
		str_take(&event, ' ');
		if (tlog_proof_check(&p, f->arena, event,
			ledger_origin(f->ledger), ledger_public_key(f->ledger),
			&c, &e))
			fail_msg("%s", e.detail);
		assert_int_equal(c.size, size);
		p.index ^= 1;
		assert_int_equal(tlog_proof_check(&p, f->arena, event,
				     ledger_origin(f->ledger),
				     ledger_public_key(f->ledger), &c, &e),
		    -1);
	}
}

/* All proofs between the sizes and all tiles, as one hash. */
static struct digest
hash_of_all(struct fixture *f)
{
	struct sha256_stream *s = sha256_stream_new();

	for (size_t i = 0; i < N_SIZES; i++)
		for (size_t j = i; j < N_SIZES; j++) {
			struct merkle_proof p =
			    consistency(f, sizes[i], sizes[j]);
			struct merkle_proof q =
			    inclusion(f, sizes[i] - 1, sizes[j]);

			sha256_stream_add(
			    s, (struct str){ (const char *)p.hashes,
				   p.n * DIGEST_BYTES });
			sha256_stream_add(
			    s, (struct str){ (const char *)q.hashes,
				   q.n * DIGEST_BYTES });
		}
	return sha256_stream_end(s);
}

static void
test_rebuilt(void **state)
{
	struct fixture *f = *state;
	struct digest proofs = hash_of_all(f);
	struct digest view = toy_hash_view(f->toy.ledger_dir);
	struct err e = { 0 };
	uint64_t events;

	end(state);
	ledger_close(f->ledger);
	if (ledger_rebuild(&f->toy.options, NULL, NULL, &events, &e))
		fail_msg("ledger_rebuild: %s", e.detail);
	assert_int_equal(events, SIZE);
	open_ledger(f);
	assert_int_equal(begin(state), 0);
	assert_true(digest_eq(view, toy_hash_view(f->toy.ledger_dir)));
	assert_true(digest_eq(proofs, hash_of_all(f)));
	test_tiles_are_what_the_events_give(state);
}

/* A reading stays where it began, also when an event comes meanwhile. */
static void
test_one_position(void **state)
{
	struct fixture *f = *state;
	struct merkle_proof p;
	struct receipt r;
	struct str tile;
	struct err e = { 0 };
	uint64_t newest = 0;

	inclusion(f, 0, SIZE);
	if (toy_note(f->ledger, f->arena, STR("later"), &r, &e))
		fail_msg("toy_note: %s", e.detail);
	assert_int_equal(r.size, SIZE + 1);
	assert_int_equal(
	    ledger_prove_inclusion(&f->reading, 0, SIZE + 1, f->arena, &p, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_not_found);
	assert_int_equal(checkpoint_at(f, &newest, &tile).size, SIZE);
	end(state);
	assert_int_equal(begin(state), 0);
	inclusion(f, SIZE, SIZE + 1);
	newest = 0;
	assert_int_equal(checkpoint_at(f, &newest, &tile).size, SIZE + 1);
}

static void
sql(struct fixture *f, const char *statement)
{
	char command[800];

	snprintf(command, sizeof command, "sqlite3 '%s/state.db' \"%s\"",
	    f->toy.ledger_dir, statement);
	assert_int_equal(system(command), 0);
}

/* A read model that has lost hashes is called damaged: no proof is made up. */
static void
test_damaged_tile(void **state)
{
	struct fixture *f = *state;
	struct merkle_proof p;
	struct err e = { 0 };

	end(state);
	sql(f, "UPDATE ledger_tile SET hashes = substr(hashes, 1, 320)"
	       " WHERE place = 2");
	assert_int_equal(begin(state), 0);
	assert_int_equal(
	    ledger_prove_inclusion(&f->reading, 600, SIZE, f->arena, &p, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_view_damaged);
	err_clear(&e);
	assert_int_equal(
	    ledger_prove_consistency(&f->reading, 600, SIZE, f->arena, &p, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_view_damaged);
	inclusion(f, 0, 500);
	end(state);
	sql(f, "UPDATE ledger_tile SET hashes = zeroblob(8224)"
	       " WHERE place = 0");
	assert_int_equal(begin(state), 0);
	err_clear(&e);
	assert_int_equal(
	    ledger_prove_inclusion(&f->reading, 0, 500, f->arena, &p, &e), -1);
	assert_ptr_equal(e.kind, &err_view_damaged);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	/* The last three change the ledger, in this order. */
	const struct CMUnitTest tests[] = {
		TEST(test_tiles_are_what_the_events_give),
		TEST(test_tiles_that_have_not_come),
		TEST(test_inclusion_at_many_sizes),
		TEST(test_consistency_between_many_sizes),
		TEST(test_proofs_that_cannot_be),
		TEST(test_checkpoints),
		TEST(test_beyond_the_position),
		TEST(test_a_proof_that_stands_alone),
		TEST(test_rebuilt),
		TEST(test_one_position),
		TEST(test_damaged_tile),
	};

	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
