/*
 * Batches checked by several threads and handed out in order. A thread may run
 * ahead by a fixed number of batches, so memory is bounded however long the
 * ledger is.
 */
#ifndef LEDGER_CHAIN_VERIFY_POOL_H
#define LEDGER_CHAIN_VERIFY_POOL_H

#include "ledger/chain/verify_batch.h"

struct verify_pool;

/* Starts the threads on the commits, first to last. The scopes and the commits
 * are borrowed until verify_pool_free. */
struct verify_pool *verify_pool_new(const char *repo_path, struct verify_scopes,
    const struct oid *commits, size_t n, unsigned threads);

/*
 * The next batch's result, borrowed until the next call: 1; 0 after the last;
 * -1 when a thread could not go on. 2 when a tenth of a second passed without
 * one, so that progress can be shown.
 */
int verify_pool_next(
    struct verify_pool *, const struct batch_result **, struct err *);

/* Stops and joins the threads. */
void verify_pool_free(struct verify_pool *);

#endif
