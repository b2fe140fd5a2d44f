/*
 * The counts of one month as they lie in the mapped file: a hash table of
 * cells, open addressing, from which nothing is ever taken away; the next month
 * has a file of its own. Every word is changed by compare and swap alone.
 *
 * A cell is taken in two steps, the halves of its key. Who dies between them
 * leaves a cell that the next one with the same first half completes.
 */
#ifndef DOMAIN_LIMITS_COUNTERS_H
#define DOMAIN_LIMITS_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for twice 65,536 applications and credentials: half full, a cell is
 * found at the first or second look. */
#define LIMIT_CELLS 131072

struct limit_key {
	uint64_t first, second;
};

struct limit_cell {
	_Atomic uint64_t first, second; /* 0: free */
	_Atomic uint64_t spent_until_ns;
	_Atomic uint64_t used;
};

struct limit_table {
	_Atomic uint64_t uncounted; /* requests that found no cell */
	uint64_t unused[3];         /* cells begin where a cache line does */
	struct limit_cell cells[LIMIT_CELLS];
};

/* The key's cell; a free one becomes it if `make`. NULL: there is none, or no
 * room for one. */
struct limit_cell *limit_cell_find(
    struct limit_cell *cells, size_t n, struct limit_key, bool make);

/*
 * A bucket of `burst` requests that fills at a steady rate, as the generic cell
 * rate algorithm (ITU-T I.371) keeps it: one time, until which all that was
 * permitted is spent. The time is CLOCK_BOOTTIME's, so processes agree on it;
 * one that lies impossibly far ahead is from before a restart of the machine,
 * and means a full bucket.
 */
struct bucket {
	uint64_t burst, interval_ns;
};

struct bucket bucket_of(uint64_t requests_per_second, uint64_t burst);
bool bucket_take(_Atomic uint64_t *spent_until_ns, struct bucket, uint64_t ns);
void bucket_give_back(_Atomic uint64_t *spent_until_ns, struct bucket);
uint64_t bucket_left(uint64_t spent_until_ns, struct bucket, uint64_t ns);

/* Until one more is permitted; 0: it is full. */
uint64_t bucket_wait_ns(uint64_t spent_until_ns, struct bucket, uint64_t ns);

/* False: as many were taken. */
bool quota_take(_Atomic uint64_t *used, uint64_t quota);
void quota_give_back(_Atomic uint64_t *used);

#endif
