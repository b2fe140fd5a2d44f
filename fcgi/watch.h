/*
 * What lets operators watch the front: health, readiness, counters, the access
 * log. Private to fcgi/.
 */
#ifndef FCGI_WATCH_H
#define FCGI_WATCH_H

#include "fcgi/front_state.h"
#include "ledger/base/metrics.h"

/* Pages. metrics_page says that there is no such path to whom metrics_allow
 * does not name. */
int healthz_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int readyz_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int metrics_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

/* counts.c: requests by route and status, and how long they take. */
struct counts *counts_new(
    struct arena *, struct metrics *, const struct route *, size_t n_routes);
/* route NULL: the path led nowhere. */
void counts_request(
    struct counts *, const struct route *, int status, int64_t us);
extern const struct metric *const request_metrics[];    /* NULL-ended */
extern const struct metric *const access_log_metrics[]; /* the same */

/* metrics_text.c: a family of series in the text format 0.0.4 or, `open`, in
 * OpenMetrics 1.0.0. */
void metrics_text_family(struct buf *, const struct metric *,
    const struct metric_reading *, size_t n, bool open);
/* The same with a single value. */
void metrics_text_one(struct buf *, const struct metric *, const char *labels,
    int64_t value, bool open);

/* readiness.c: what must hold for requests to be served. */
#define READINESS_CHECKS 4
struct readiness {
	struct {
		const char *name;
		bool ok;
		const char *detail; /* fit for anybody to read */
	} checks[READINESS_CHECKS];
	bool ready;
	int64_t at_us; /* when, by the steady clock; 0: never */
};
void readiness_check(struct service *, struct readiness *);

/* access_log.c */
struct access_log *access_log_new(struct arena *);
/* A path, "-", or empty; the same path again opens the file anew. -1, and it
 * stays as it was. */
int access_log_open(struct access_log *, struct str path, struct err *);
void access_log_close(struct access_log *);

struct access {
	const struct request *request;
	const struct route *route; /* NULL: none */
	int status;
	int64_t us;
	uint64_t bytes_in, bytes_out;
};
/* False: the line could not be written whole. */
bool access_log_write(
    struct access_log *, const struct access *, struct arena *, struct buf *);

/* watched.c: what a front watches by, made and given back; then a request from
 * its first byte to its last, whose bytes go through a transport that counts
 * them. */
int front_watch(struct front *, const struct config *, struct err *);
void front_unwatch(struct front *);

struct watched {
	struct transport transport; /* in place of the one given */
	struct transport *real;
	uint64_t bytes_in, bytes_out;
	int64_t since_us;
};
void watched_begin(struct watched *, struct transport *);
/* Counts it and writes it down; err is what was wrong, if anything was. */
void watched_end(struct watched *, struct front *, struct front_worker *,
    const struct request *, const struct route *, int status,
    const struct err *);

/* A copy for a log: at most max bytes, valid UTF-8, and without anything that
 * looks like a secret of ours, or that a viewer beyond ASCII obeys. */
struct str log_text(struct arena *, struct str, size_t max);

#endif
