/*
 * A full disk: a filesystem of 64 MiB, filled from outside to a few KiB, and
 * filled by the ledger itself; with the free-space floor and without one.
 *
 *	fault_disk
 *
 * Writers are answered 507 or 503 and never anything else; all that was
 * acknowledged stays; with room again the same process goes on. Ends with 77
 * when nothing may be mounted here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "tests/support/witness.h"

#define THREADS 8
#define NOTES   6
#define MIB     (1024 * 1024ull)

static char base[100], disk[160], filler[200];
static struct toy toy;
static struct ledger *ledger;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct claims claims;
static int round_number;

static _Noreturn void
skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(77);
}

/* Mounted in a namespace of its own: it is gone when this process is. */
static void
mount_disk(void)
{
	snprintf(base, sizeof base, "/tmp/probity-disk-XXXXXX");
	if (mkdtemp(base) == NULL)
		skip("no directory");
	snprintf(disk, sizeof disk, "%s/disk", base);
	snprintf(filler, sizeof filler, "%s/filler", disk);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip("no mount namespace");
	if (witness_shell("mkdir '%s' && cd '%s' && truncate -s 64M image &&"
			  " mkfs.ext4 -q -F -m 0 image &&"
			  " mount -o loop image disk",
		disk, base) == 0)
		printf("ext4: ");
	else if (mount("none", disk, "tmpfs", 0, "size=64m") == 0)
		printf("tmpfs: ");
	else
		skip("nothing may be mounted");
}

static void
unmount_disk(void)
{
	umount2(disk, MNT_DETACH);
	witness_shell("rm -rf '%s'", base);
}

static uint64_t
free_bytes(void)
{
	uint64_t n = 0;
	struct err e = { 0 };

	if (io_free_bytes(disk, &n, &e))
		witness_die(&toy, "%s", e.detail);
	return n;
}

/* Leaves about so many bytes. */
static void
fill(uint64_t leave)
{
	static const char zeros[65536];
	int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	uint64_t have;

	while ((have = free_bytes()) > leave) {
		size_t n = have - leave < sizeof zeros ? 4096 : sizeof zeros;

		if (write(fd, zeros, n) <= 0)
			break;
		/* Blocks are reserved when they are written back. */
		if (have - leave < 4 * sizeof zeros)
			fdatasync(fd);
	}
	fsync(fd);
	close(fd);
}

static void *
note_some(void *arg)
{
	char text[CLAIM_TEXT];

	for (int i = 0; i < NOTES; i++) {
		struct claim c;

		snprintf(text, sizeof text, "round %d, thread %d, note %d",
		    round_number, *(int *)arg, i);
		c = claim_note(ledger, text);
		pthread_mutex_lock(&lock);
		claims_add(&claims, &c);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void
write_round(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	round_number++;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, note_some, &numbers[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void
check_answers(size_t from)
{
	for (size_t i = from; i < claims.n; i++) {
		const struct claim *c = &claims.list[i];

		if (c->kind == CLAIM_REFUSED && strcmp(c->slug, "no-space") &&
		    strcmp(c->slug, "unavailable"))
			witness_die(
			    &toy, "answered %s: %s", c->slug, c->detail);
	}
}

static void
goes_on(void)
{
	struct claim c = claim_note(ledger, "room again");

	if (c.kind != CLAIM_ACKED)
		witness_die(
		    &toy, "does not go on with room: %s: %s", c.slug, c.detail);
}

static void
at_level(uint64_t leave)
{
	size_t from = claims.n;
	struct payload p;

	fill(leave);
	write_round();
	ledger_store_payload(ledger, STR("some content"), &p, NULL);
	ledger_sync(ledger, NULL);
	write_round();
	check_answers(from);
	if (leave % 3 == 0) {
		struct err e = { 0 };
		struct ledger *other;

		/* Another process begins on the full disk: it may fail. */
		if (ledger_open(&toy.options, &other, &e) == 0)
			ledger_close(other);
	}
	unlink(filler);
	goes_on();
	claims_check(&claims, &toy, ledger);
}

/* The ledger itself fills the disk. */
static void
until_full(void)
{
	size_t from = claims.n, refused = claims.refused;

	fill(3 * MIB);
	for (int i = 0; i < 400 && claims.refused == refused; i++)
		write_round();
	if (claims.refused == refused)
		witness_die(&toy, "the disk was never full");
	check_answers(from);
	unlink(filler);
	goes_on();
	claims_check(&claims, &toy, ledger);
}

static void
without_floor(void)
{
	static const uint64_t levels[] = { 4096, 1024, 600, 300, 200, 120, 80,
		60, 40, 28, 20, 16, 12, 8, 4, 0, 0 };

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		at_level(levels[i] * 1024);
	until_full();
}

/* Refused before the disk is full, and reading goes on. */
static void
with_floor(void)
{
	size_t from = claims.n;
	uint64_t least;

	toy.options.free_floor = 4 * MIB;
	ledger = witness_open(&toy);
	fill(5 * MIB);
	for (int i = 0; i < 400; i++)
		write_round();
	check_answers(from);
	least = free_bytes();
	if (least < 3 * MIB)
		witness_die(&toy, "the floor did not hold: %llu are free",
		    (unsigned long long)least);
	if (claims.list[claims.n - 1].kind != CLAIM_REFUSED ||
	    strcmp(claims.list[claims.n - 1].slug, "no-space"))
		witness_die(&toy, "no 507 at the floor");
	claims_check(&claims, &toy, ledger);
	unlink(filler);
	goes_on();
	ledger_close(ledger);
}

int
main(void)
{
	mount_disk();
	toy_create(&toy, disk);
	ledger = witness_open(&toy);
	without_floor();
	ledger_close(ledger);
	with_floor();
	witness_all(&claims, &toy);
	printf("%zu acknowledged, %zu refused, %zu unknown\n", claims.acked,
	    claims.refused, claims.unknown);
	unmount_disk();
	return 0;
}
