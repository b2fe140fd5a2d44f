/*
 * Whether the clock is plausible. The file `clock` in the ledger's directory
 * says what the two clocks showed at the last event, so that every process,
 * a short-lived CGI program too, knows how much time really went by since.
 * After a reboot the steady clock starts anew and only a clock that went back
 * can be noticed.
 */
#include <fcntl.h>
#include <string.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/write/writer.h"

#define AHEAD_US  (300 * 1000000LL)
#define BEHIND_US (1 * 1000000LL)

struct anchor {
	char boot[40];
	int64_t wall_us, steady_us;
	uint8_t check[DIGEST_BYTES];
};

static struct digest
anchor_digest(const struct anchor *a)
{
	return sha256(
	    (struct str){ (const char *)a, offsetof(struct anchor, check) });
}

static void
read_boot_id(char out[40])
{
	struct arena *a = arena_new();
	struct str s;

	memset(out, 0, 40);
	if (io_read_file(a, "/proc/sys/kernel/random/boot_id", 64, &s, NULL) ==
	    0)
		memcpy(out, s.p, s.n < 36 ? s.n : 36);
	arena_free(a);
}

int
anchor_open(struct ledger *l, struct err *e)
{
	struct arena *a = arena_new();
	char *path = arena_printf(a, "%s/clock", l->dir);

	read_boot_id(l->boot_id);
	l->anchor_fd =
	    private_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (l->anchor_fd < 0)
		err_errno(e, &err_unavailable, "cannot open %s", path);
	arena_free(a);
	return l->anchor_fd < 0 ? -1 : 0;
}

/* The last event's time carried forward by the steady clock; 0: unknown. */
static int64_t
expected_us(const struct ledger *l)
{
	struct anchor a;
	struct digest d;

	if (io_pread_all(l->anchor_fd, &a, sizeof a, 0))
		return 0;
	d = anchor_digest(&a);
	if (memcmp(d.b, a.check, DIGEST_BYTES) != 0 ||
	    memcmp(a.boot, l->boot_id, sizeof a.boot) != 0)
		return 0;
	return a.wall_us + l->clock->steady(l->clock).us - a.steady_us;
}

static int
check(const struct ledger *l, const struct position *p, struct err *e)
{
	int64_t now = l->clock->wall(l->clock).us;
	int64_t floor = p->last_at.us, expected = expected_us(l);
	char text[INSTANT_TEXT + 1];

	if (p->size == 0)
		return 0;
	if (p->clock_floor.us != 0 && p->clock_floor.us < floor)
		floor = p->clock_floor.us;
	instant_format(p->last_at, text);
	if (now < floor - BEHIND_US)
		return err_set(e, &err_clock,
		    "the clock is %lld s behind the last event, of %s",
		    (long long)((floor - now) / 1000000), text);
	if (expected != 0 && now > expected + AHEAD_US)
		return err_set(e, &err_clock,
		    "the clock jumped %lld s ahead since the last event, of %s",
		    (long long)((now - expected) / 1000000), text);
	return 0;
}

int
anchor_check(struct ledger *l, struct err *e)
{
	return check(l, &l->position, e);
}

int
ledger_read_clock(struct reading *r, struct err *e)
{
	struct position p;

	return position_load(r->db, &p, e) ? -1 : check(r->ledger, &p, e);
}

void
anchor_write(struct ledger *l)
{
	struct anchor a;
	struct digest d;

	memset(&a, 0, sizeof a);
	memcpy(a.boot, l->boot_id, sizeof a.boot);
	a.wall_us = l->clock->wall(l->clock).us;
	a.steady_us = l->clock->steady(l->clock).us;
	d = anchor_digest(&a);
	memcpy(a.check, d.b, DIGEST_BYTES);
	io_pwrite_all(l->anchor_fd, &a, sizeof a, 0);
}
