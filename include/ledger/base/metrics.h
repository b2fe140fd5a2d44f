/*
 * Counters that all processes of a state share, for those who watch it: a
 * file that they map (ledger/base/shared.h), with a series for each metric and
 * labels. Whoever counts first makes the series; it stays, whichever processes
 * come and go. Counting is one atomic addition each; no lock, no system call.
 * Thread-safe.
 *
 * Nothing depends on it: without the file (the state is not there yet, the disk
 * is full) nothing is counted, and the file is tried again each second.
 *
 *	static const struct metric visits = { .name = "visits_total",
 *		.help = "Visits", .kind = METRIC_COUNTER };
 *
 *	metric_add(metrics_series(m, &visits, "door=\"north\""), 1);
 */
#ifndef LEDGER_BASE_METRICS_H
#define LEDGER_BASE_METRICS_H

#include <stdatomic.h>

#include "ledger/base/str.h"

#define METRIC_KEY_MAX 184 /* name and labels */
#define METRIC_TIMES   14

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* What is published: the name never gets another meaning or other bounds. */
struct metric {
	const char *name; /* with its unit; counters end in _total */
	const char *help;
	enum metric_kind kind;
	const uint64_t *bounds; /* of a histogram: upper ones, rising */
	size_t n_bounds;
	bool micro; /* counted in millionths of the unit in the name */
};

/* Bounds for what takes 0.5 ms to 10 s, in microseconds. */
extern const uint64_t metric_times_us[METRIC_TIMES];

struct metrics;

/* The file is made when it is first needed. */
struct metrics *metrics_new(const char *path);
void metrics_free(struct metrics *);

/* A series' first value: a counter's or gauge's only one; a histogram has one
 * for each bound, one beyond, and the sum. */
typedef _Atomic uint64_t metric_value;

/*
 * The series with these labels, as the text format writes them, "" for none;
 * made if need be. It stays where it is until metrics_free, so it may be kept.
 * NULL: it cannot be counted now (metrics may be NULL too).
 */
metric_value *metrics_series(
    struct metrics *, const struct metric *, const char *labels);

/* All take NULL for a series, and do nothing then. */
void metric_add(metric_value *, uint64_t n);
void metric_set(metric_value *, int64_t value);
void metric_observe(
    metric_value *, const struct metric *, uint64_t observation);

/* How many values a series of the metric has. */
size_t metric_values(const struct metric *);

/* All series, sorted by name and labels. False: there is no file. */
struct metric_reading {
	struct str name, labels; /* in the file: no longer than it */
	const metric_value *values;
	size_t n;
};
struct arena;
bool metrics_read(
    struct metrics *, struct arena *, struct metric_reading **, size_t *n);

#endif
