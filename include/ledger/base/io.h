/*
 * Files, whole and durable. Every read has a maximum.
 */
#ifndef LEDGER_BASE_IO_H
#define LEDGER_BASE_IO_H

#include <sys/types.h>

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

/* The whole file into the arena; err_not_found, err_too_large beyond max. */
int io_read_file(struct arena *, const char *path, size_t max, struct str *out,
    struct err *);

/*
 * Writes a file so that after a crash it is there whole or not at all: a
 * temporary beside it, fsync, rename, fsync of the directory.
 */
int io_write_file(const char *path, struct str bytes, mode_t, struct err *);

/* Like io_write_file, but fails with err_conflict when the path exists. */
int io_create_file(const char *path, struct str bytes, mode_t, struct err *);

/* Makes the directory and its missing parents; existing ones are fine. */
int io_make_dirs(const char *path, mode_t, struct err *);

int io_fsync_dir(const char *path, struct err *);

/* The directory that holds path, after something there got or lost its name. */
int io_fsync_parent(const char *path, struct err *);

/* All n bytes, whatever signals come; -1 with errno set, ENODATA at an early
 * end of file. */
int io_pread_all(int fd, void *, size_t n, off_t);
int io_pwrite_all(int fd, const void *, size_t n, off_t);
int io_write_all(int fd, const void *, size_t n);

/* Removes a folder and all that is in it, following no link; 0, or -1 with what
 * is left. Of nobody else's use. */
int io_remove_tree(const char *path);

/* Bytes that an ordinary process may still use on the path's filesystem. */
int io_free_bytes(const char *path, uint64_t *out, struct err *);

/* err_unavailable when the path lies on a network filesystem, where locks and
 * syncs do not mean what the ledger needs. */
int io_refuse_network(const char *path, struct err *);

#endif
