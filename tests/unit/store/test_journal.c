#include "tests/unit/store/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "ledger/base/io.h"
#include "ledger/store/journal_file.h"

#define RING (256u << 10)

/* A record whose contents follow from its number. */
static struct record
record_of(struct arena *a, unsigned number, size_t bytes)
{
	struct object *o = arena_array(a, 2, sizeof(*o));
	char *p = arena_alloc(a, bytes + 16);
	struct record r = { .has_parent = number > 0,
		.first_seq = number,
		.count = 1,
		.objects = o,
		.n_objects = 2 };

	memset(p, 'A' + (int)(number % 26), bytes + 16);
	snprintf(p, 16, "batch %u", number);
	for (int i = 0; i < 2; i++) {
		o[i].kind = i ? OBJECT_COMMIT : OBJECT_BLOB;
		o[i].bytes = (struct str){ p, i ? 16 : bytes };
		memset(o[i].oid.b, (int)(number + (unsigned)i), OID_BYTES);
	}
	memset(r.commit.b, (int)number, OID_BYTES);
	if (number)
		memset(r.parent.b, (int)number - 1, OID_BYTES);
	return r;
}

static bool
same(const struct record *x, const struct record *y)
{
	if (x->has_parent != y->has_parent || !oid_eq(x->parent, y->parent) ||
	    !oid_eq(x->commit, y->commit) || x->first_seq != y->first_seq ||
	    x->count != y->count || x->n_objects != y->n_objects)
		return false;
	for (size_t i = 0; i < x->n_objects; i++)
		if (x->objects[i].kind != y->objects[i].kind ||
		    !oid_eq(x->objects[i].oid, y->objects[i].oid) ||
		    !str_eq(x->objects[i].bytes, y->objects[i].bytes))
			return false;
	return true;
}

static struct journal *
opened(void)
{
	struct journal *j = NULL;
	struct err e = { 0 };

	assert_int_equal(journal_open(in_scratch("journal"), &j, &e), 0);
	return j;
}

static struct journal *
small(void)
{
	struct err e = { 0 };

	assert_int_equal(
	    journal_file_create(in_scratch("journal"), RING, &e), 0);
	return opened();
}

static void
append(struct journal *j, unsigned number, size_t bytes)
{
	struct arena *a = arena_new();
	struct record r = record_of(a, number, bytes);
	struct err e = { 0 };

	if (journal_append(j, &r, &e))
		fail_msg("append %u: %s", number, e.detail);
	arena_free(a);
}

/* Asserts that the journal holds the records first … first + n - 1. */
static void
holds(struct journal *j, unsigned first, unsigned n, size_t bytes)
{
	struct arena *a = arena_new();
	uint64_t at = journal_start(j);
	struct err e = { 0 };
	struct record got, last;
	int rc = journal_read_last(j, at, a, &last, &e);

	assert_int_equal(rc, n > 0);
	assert_int_equal(journal_read_last(j, journal_end(j), a, &got, &e), 0);
	if (n > 0) {
		struct record want = record_of(a, first + n - 1, bytes);

		assert_true(same(&last, &want));
	}
	for (unsigned i = 0; i < n; i++) {
		struct record want = record_of(a, first + i, bytes);

		assert_int_equal(journal_read(j, &at, a, &got, &e), 1);
		assert_true(same(&got, &want));
	}
	assert_int_equal(journal_read(j, &at, a, &got, &e), 0);
	assert_true(at == journal_end(j));
	arena_free(a);
}

/* How often the text is found in the journal's file. */
static unsigned
occurrences(const char *text)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str s;
	unsigned n = 0;
	const char *p, *end;

	assert_int_equal(
	    io_read_file(a, in_scratch("journal"), 64u << 20, &s, &e), 0);
	end = s.p + s.n;
	for (p = s.p; (p = memmem(p, (size_t)(end - p), text, strlen(text)));
	     p++)
		n++;
	arena_free(a);
	return n;
}

static int
raw(void)
{
	int fd = open(in_scratch("journal"), O_RDWR);

	assert_true(fd >= 0);
	return fd;
}

static void
pretend_other_boot(void)
{
	struct journal_header h;
	struct err e = { 0 };
	int fd = raw();

	assert_int_equal(header_read(fd, &h, &e), 0);
	h.boot[0] ^= 1;
	assert_int_equal(header_write(fd, &h), 0);
	close(fd);
}

/* Faults: calls of this program's libraries come here first. */

static int fail_pwrite_after = -1, fail_pwrites, fail_fdatasyncs;
static int fail_errno;
static unsigned fdatasyncs;

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	if (fail_pwrite_after == 0 && fail_pwrites > 0) {
		fail_pwrites--;
		/* Some of it gets there before the fault. */
		if (n > 1024)
			syscall(SYS_pwrite64, fd, p, (size_t)1024, at);
		errno = fail_errno;
		return -1;
	}
	if (fail_pwrite_after > 0)
		fail_pwrite_after--;
	return syscall(SYS_pwrite64, fd, p, n, at);
}

int
fdatasync(int fd)
{
	fdatasyncs++;
	if (fail_fdatasyncs > 0) {
		fail_fdatasyncs--;
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

static int
make(void **state)
{
	fail_pwrite_after = -1;
	fail_pwrites = fail_fdatasyncs = 0;
	return scratch_make(state);
}

static void
starts_empty(void **state)
{
	struct journal *j = opened();
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(journal_refresh(j, &e), 0);
	holds(j, 0, 0, 0);
	assert_true(journal_used(j) == 0);
	assert_false(journal_from_other_boot(j));
	assert_int_equal(stat(in_scratch("journal"), &st), 0);
	assert_true(st.st_size == JOURNAL_HEADER + JOURNAL_BYTES);
	/* Real blocks: a sync has no metadata to write. */
	assert_true(st.st_blocks * 512 >= JOURNAL_BYTES);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(
	    shell("test \"$(ls $D)\" = \"$(printf 'journal\\nout.txt')\""), 0);
	journal_close(j);
}

static void
one_sync_an_append(void **state)
{
	struct journal *j = opened(), *other = opened();
	struct err e = { 0 };

	(void)state;
	fdatasyncs = 0;
	for (unsigned i = 0; i < 5; i++)
		append(j, i, 1000);
	assert_int_equal(fdatasyncs, 5);
	holds(j, 0, 5, 1000);
	assert_int_equal(journal_refresh(other, &e), 0);
	holds(other, 0, 5, 1000);
	append(other, 5, 1000);
	assert_int_equal(journal_refresh(j, &e), 0);
	holds(j, 0, 6, 1000);
	assert_int_equal(fdatasyncs, 6);
	journal_close(j);
	j = opened();
	assert_int_equal(journal_recover(j, &e), 0);
	holds(j, 0, 6, 1000);
	journal_close(j);
	journal_close(other);
}

/* Lengths of all kinds, round and round the ring, a second process following
 * and freeing. */
static void
wraps(void **state)
{
	struct journal *j = small(), *other = opened();
	uint64_t seen = 0;
	struct err e = { 0 };
	uint32_t x = 7;

	(void)state;
	for (unsigned i = 0; i < 600; i++) {
		struct arena *a = arena_new();
		struct record want, got;

		x = x * 1664525u + 1013904223u;
		want = record_of(a, i, (x >> 8) % 60000);
		assert_int_equal(journal_refresh(j, &e), 0);
		if (journal_append(j, &want, &e))
			fail_msg("%u: %s", i, e.detail);
		assert_int_equal(journal_refresh(other, &e), 0);
		assert_true(journal_end(j) == journal_end(other));
		assert_int_equal(journal_read(other, &seen, a, &got, &e), 1);
		assert_true(same(&want, &got));
		assert_int_equal(journal_read(other, &seen, a, &got, &e), 0);
		if (journal_used(other) > RING / 2)
			assert_int_equal(journal_free(other, seen, &e), 0);
		arena_free(a);
	}
	assert_true(journal_end(j) > 10 * RING);
	journal_close(j);
	j = opened();
	assert_int_equal(journal_recover(j, &e), 0);
	assert_true(journal_end(j) == seen);
	journal_close(j);
	journal_close(other);
}

static void
full_is_refused(void **state)
{
	struct journal *j = small();
	struct arena *a = arena_new();
	struct record r = record_of(a, 5, 50000);
	struct err e = { 0 };
	uint64_t end;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		append(j, i, 50000);
	end = journal_end(j);
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_true(journal_end(j) == end);
	err_clear(&e);
	holds(j, 0, 5, 50000);
	assert_int_equal(journal_free(j, end + 512, &e), -1);
	err_clear(&e);
	assert_int_equal(journal_free(j, end, &e), 0);
	assert_int_equal(journal_free(j, 0, &e), -1);
	err_clear(&e);
	append(j, 5, 50000);
	holds(j, 5, 1, 50000);
	r = record_of(a, 6, JOURNAL_RECORD_MAX);
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	arena_free(a);
	journal_close(j);
}

/* Any byte of the last record, changed: the batch never happened and is gone
 * from the disk; what was before stays. */
static void
torn_record_is_cleared(void **state)
{
	struct journal *j = small(), *other;
	struct err e = { 0 };
	uint64_t first;
	size_t total;
	uint8_t *whole;
	int fd = raw();

	(void)state;
	append(j, 0, 3000);
	first = journal_end(j);
	append(j, 1, 3000);
	total = (size_t)(journal_end(j) - first);
	whole = malloc(total);
	assert_int_equal(
	    io_pread_all(fd, whole, total, (off_t)(JOURNAL_HEADER + first)), 0);
	for (size_t at = 16; at < total; at += at < 200 ? 1 : 61) {
		uint8_t bad = whole[at] ^ 0x40;

		assert_int_equal(io_pwrite_all(fd, whole, total,
				     (off_t)(JOURNAL_HEADER + first)),
		    0);
		assert_int_equal(io_pwrite_all(fd, &bad, 1,
				     (off_t)(JOURNAL_HEADER + first + at)),
		    0);
		other = opened();
		assert_int_equal(journal_refresh(other, &e), 0);
		holds(other, 0, 1, 3000);
		assert_int_equal(occurrences("BBBBBBBB"), 0);
		assert_int_equal(occurrences("PRBREC1"), 1);
		append(other, 1, 3000);
		holds(other, 0, 2, 3000);
		journal_close(other);
	}
	free(whole);
	close(fd);
	journal_close(j);
}

/* As after a kill within the write: a part from the beginning on. */
static void
half_written_record_is_cleared(void **state)
{
	struct journal *j = small(), *other;
	static const uint8_t zeros[8192];
	struct err e = { 0 };
	uint64_t first;
	int fd = raw();

	(void)state;
	append(j, 0, 3000);
	first = journal_end(j);
	for (size_t keep = RECORD_HEAD; keep < 3180; keep += 111) {
		append(j, 1, 3000);
		assert_int_equal(io_pwrite_all(fd, zeros,
				     (size_t)(journal_end(j) - first) - keep,
				     (off_t)(JOURNAL_HEADER + first + keep)),
		    0);
		other = opened();
		assert_int_equal(journal_recover(other, &e), 0);
		holds(other, 0, 1, 3000);
		assert_int_equal(occurrences("batch 1"), 0);
		assert_int_equal(occurrences("BBBBBBBB"), 0);
		journal_close(other);
		journal_close(j);
		j = opened();
		assert_int_equal(journal_refresh(j, &e), 0);
	}
	close(fd);
	journal_close(j);
}

/* After a lost boot the later sectors may be there without the first. */
static void
headless_record_is_cleared(void **state)
{
	static const uint8_t zeros[JOURNAL_UNIT];
	struct journal *j = small();
	struct err e = { 0 };
	uint64_t first;
	int fd = raw();

	(void)state;
	append(j, 0, 3000);
	first = journal_end(j);
	append(j, 1, 3000);
	journal_close(j);
	assert_int_equal(io_pwrite_all(fd, zeros, sizeof(zeros),
			     (off_t)(JOURNAL_HEADER + first)),
	    0);
	assert_true(occurrences("BBBBBBBB") > 0);
	pretend_other_boot();
	j = opened();
	assert_true(journal_from_other_boot(j));
	assert_int_equal(journal_recover(j, &e), 0);
	assert_true(journal_from_other_boot(j));
	holds(j, 0, 1, 3000);
	assert_int_equal(occurrences("BBBBBBBB"), 0);
	assert_int_equal(journal_mark_boot(j, &e), 0);
	assert_false(journal_from_other_boot(j));
	journal_close(j);
	j = opened();
	assert_false(journal_from_other_boot(j));
	holds(j, 0, 0, 0);
	assert_int_equal(journal_refresh(j, &e), 0);
	holds(j, 0, 1, 3000);
	journal_close(j);
	close(fd);
}

/* A bad record with a good one after it happened: it must not be cleared. */
static void
damage_is_not_tearing(void **state)
{
	struct journal *j = small();
	struct err e = { 0 };
	uint8_t bad = 0;
	int fd = raw();
	/* in the second record: its contents; its first sector's magic */
	uint64_t second;

	(void)state;
	append(j, 0, 3000);
	second = JOURNAL_HEADER + journal_end(j);
	append(j, 1, 3000);
	append(j, 2, 3000);
	journal_close(j);
	assert_int_equal(io_pwrite_all(fd, &bad, 1, (off_t)second + 1000), 0);
	j = opened();
	assert_int_equal(journal_refresh(j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(journal_recover(j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_true(occurrences("CCCCCCCC") > 0);
	journal_close(j);
	assert_int_equal(io_pwrite_all(fd, &bad, 1, (off_t)second), 0);
	j = opened();
	assert_int_equal(journal_recover(j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	assert_true(occurrences("CCCCCCCC") > 0);
	journal_close(j);
	close(fd);
}

static void
header_survives_a_torn_copy(void **state)
{
	static const uint8_t junk[64] = { 1, 2, 3 };
	struct journal *j = small();
	struct err e = { 0 };
	int fd = raw();

	(void)state;
	append(j, 0, 3000);
	append(j, 1, 3000);
	journal_close(j);
	for (int copy = 0; copy < 2; copy++) {
		assert_int_equal(io_pwrite_all(fd, junk, sizeof(junk),
				     copy ? JOURNAL_COPY_AT + 20 : 20),
		    0);
		j = opened();
		assert_int_equal(journal_recover(j, &e), 0); /* mends it */
		holds(j, 0, 2, 3000);
		assert_int_equal(journal_recover(j, &e), 0);
		journal_close(j);
	}
	io_pwrite_all(fd, junk, sizeof(junk), 20);
	io_pwrite_all(fd, junk, sizeof(junk), JOURNAL_COPY_AT + 20);
	assert_int_equal(journal_open(in_scratch("journal"), &j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	close(fd);
}

static void
short_file_is_refused(void **state)
{
	struct journal *j = small();
	struct err e = { 0 };

	(void)state;
	journal_close(j);
	assert_int_equal(
	    truncate(in_scratch("journal"), JOURNAL_HEADER + RING - 1), 0);
	assert_int_equal(journal_open(in_scratch("journal"), &j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(truncate(in_scratch("journal"), 100), 0);
	assert_int_equal(journal_open(in_scratch("journal"), &j, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
}

/* Whoever chooses contents could place a record there, but lacks the key. */
static void
foreign_record_is_not_taken(void **state)
{
	static const uint8_t key[JOURNAL_KEY] = { 1 };
	struct journal *j = small(), *other;
	struct arena *a = arena_new();
	struct record r = record_of(a, 1, 1000);
	size_t total = record_size(&r);
	uint8_t *bytes = arena_alloc(a, total);
	struct err e = { 0 };
	int fd = raw();

	(void)state;
	append(j, 0, 1000);
	record_encode(&r, journal_end(j), key, bytes, total);
	assert_true(record_whole(bytes, total, key));
	assert_int_equal(io_pwrite_all(fd, bytes, total,
			     (off_t)(JOURNAL_HEADER + journal_end(j))),
	    0);
	other = opened();
	assert_int_equal(journal_refresh(other, &e), 0);
	holds(other, 0, 1, 1000);
	journal_close(other);
	journal_close(j);
	arena_free(a);
	close(fd);
}

static void
failed_write_leaves_nothing(void **state)
{
	static const struct {
		int number;
		const struct err_kind *kind;
	} faults[] = { { ENOSPC, &err_no_space }, { EDQUOT, &err_no_space },
		{ EIO, &err_unavailable } };
	struct journal *j = small();
	struct arena *a = arena_new();
	struct record r = record_of(a, 1, 3000);

	(void)state;
	append(j, 0, 3000);
	for (size_t i = 0; i < 3; i++) {
		struct err e = { 0 };

		fail_pwrite_after = 0;
		fail_pwrites = 1;
		fail_errno = faults[i].number;
		assert_int_equal(journal_append(j, &r, &e), -1);
		assert_ptr_equal(e.kind, faults[i].kind);
		assert_int_equal(occurrences("batch 1"), 0);
		holds(j, 0, 1, 3000);
	}
	append(j, 1, 3000);
	holds(j, 0, 2, 3000);
	arena_free(a);
	journal_close(j);
}

static void
failed_write_that_cannot_be_cleared(void **state)
{
	struct journal *j = small();
	struct arena *a = arena_new();
	struct record r = record_of(a, 1, 3000);
	struct err e = { 0 };

	(void)state;
	append(j, 0, 3000);
	fail_pwrite_after = 0;
	fail_pwrites = 2;
	fail_errno = EIO;
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_outcome_unknown);
	err_clear(&e);
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	err_clear(&e);
	fail_pwrites = 1;
	assert_int_equal(journal_recover(j, &e), -1);
	err_clear(&e);
	assert_int_equal(journal_recover(j, &e), 0);
	assert_int_equal(occurrences("batch 1"), 0);
	append(j, 1, 3000);
	holds(j, 0, 2, 3000);
	arena_free(a);
	journal_close(j);
}

static void
failed_sync_is_tried_again(void **state)
{
	struct journal *j = small();
	struct arena *a = arena_new();
	struct record r = record_of(a, 3, 3000);
	struct err e = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fail_fdatasyncs = (int)i;
		append(j, i, 3000);
	}
	holds(j, 0, 3, 3000);
	fail_fdatasyncs = 1000;
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_outcome_unknown);
	err_clear(&e);
	assert_int_equal(journal_append(j, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	err_clear(&e);
	assert_int_equal(journal_recover(j, &e), -1);
	err_clear(&e);
	holds(j, 0, 4, 3000); /* there, but not known to be durable */
	fail_fdatasyncs = 0;
	assert_int_equal(journal_recover(j, &e), 0);
	holds(j, 0, 4, 3000);
	append(j, 4, 3000);
	holds(j, 0, 5, 3000);
	arena_free(a);
	journal_close(j);
}

static void
failed_free_frees_nothing(void **state)
{
	struct journal *j = small();
	struct err e = { 0 };
	uint64_t end;

	(void)state;
	append(j, 0, 3000);
	append(j, 1, 3000);
	end = journal_end(j);
	fail_fdatasyncs = 1000;
	assert_int_equal(journal_free(j, end, &e), -1);
	assert_true(journal_start(j) == 0);
	err_clear(&e);
	fail_fdatasyncs = 0;
	assert_int_equal(journal_recover(j, &e), 0);
	/* What the file says by now is as good as the other. */
	assert_true(journal_start(j) == 0 || journal_start(j) == end);
	assert_true(journal_end(j) == end);
	append(j, 2, 3000);
	journal_close(j);
}

/* Many make the file at once: all use the one that stays. */
static void
made_once(void **state)
{
	struct journal *j;
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		if (!fork())
			_exit(journal_open(in_scratch("journal"), &j, &e) ||
			      journal_open(in_scratch("journal"), &j, &e));
	for (int i = 0; i < 4; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(
	    shell("test \"$(ls $D)\" = \"$(printf 'journal\\nout.txt')\""), 0);
	j = opened();
	assert_int_equal(journal_recover(j, &e), 0);
	journal_close(j);
}

/* Killed at any moment, a writer leaves whole records, and at least those that
 * it was told of. */
static void
survives_kills(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct journal *j = small();
	unsigned next = 0;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct timespec t = { 0, 1000000L + round * 370000L };
		unsigned acknowledged = next, number = next, byte;
		uint64_t at;
		struct record r;
		int ends[2];
		pid_t pid;

		assert_int_equal(pipe(ends), 0);
		pid = fork();
		if (!pid) {
			for (;; number++) {
				r = record_of(a, number, 9000);
				if (journal_free(j, journal_end(j), &e) ||
				    journal_append(j, &r, &e) ||
				    write(ends[1], &number, sizeof(number)) < 0)
					_exit(1);
			}
		}
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(ends[1]);
		while (read(ends[0], &byte, sizeof(byte)) == sizeof(byte))
			acknowledged = byte + 1;
		close(ends[0]);
		journal_close(j);
		j = opened();
		assert_int_equal(journal_recover(j, &e), 0);
		at = journal_start(j);
		next = acknowledged;
		while (journal_read(j, &at, a, &r, &e) == 1) {
			struct record want =
			    record_of(a, (unsigned)r.first_seq, 9000);

			assert_true(same(&r, &want));
			next = (unsigned)r.first_seq + 1;
		}
		assert_null(e.kind);
		assert_true(next == acknowledged || next == acknowledged + 1);
	}
	print_message("%u records\n", next);
	assert_true(next > 0);
	arena_free(a);
	journal_close(j);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make, scratch_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(starts_empty),
		CASE(one_sync_an_append),
		CASE(wraps),
		CASE(full_is_refused),
		CASE(torn_record_is_cleared),
		CASE(half_written_record_is_cleared),
		CASE(headless_record_is_cleared),
		CASE(damage_is_not_tearing),
		CASE(header_survives_a_torn_copy),
		CASE(short_file_is_refused),
		CASE(foreign_record_is_not_taken),
		CASE(failed_write_leaves_nothing),
		CASE(failed_write_that_cannot_be_cleared),
		CASE(failed_sync_is_tried_again),
		CASE(failed_free_frees_nothing),
		CASE(made_once),
		CASE(survives_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
