/*
 * The files of large exports, in STATE/ledgers/<workspace>/<environment>/
 * exports: <uid> is the manifest, and beside it while it is made <uid>.part
 * and <uid>.progress. <uid>.wanted says that somebody asked for a file that is
 * gone. All of them may be lost: the worker makes the same bytes again.
 */
#ifndef DOMAIN_LINEAGE_FILES_H
#define DOMAIN_LINEAGE_FILES_H

#include "domain/context.h"

#define FILE_PART     ".part"
#define FILE_PROGRESS ".progress"
#define FILE_WANTED   ".wanted"

/* The path; suffix "" is the manifest's. */
int export_path(struct context *, struct uid, const char *suffix,
    const char **out, struct err *);

/* The directory, made when it is missing. */
int export_dir(struct context *, const char **out, struct err *);

/* Whether the manifest's file is there with that many bytes. */
bool export_is_there(struct context *, struct uid, int64_t bytes);

/* An empty file that asks the worker to make the manifest's again. */
int export_want(struct context *, struct uid, struct err *);

/* One export that somebody wants: 1, 0 none, -1. */
int export_wanted(struct context *, struct uid *, struct err *);

/* How far the worker is, in events: told by one, read by others. A reader that
 * finds nothing gives 0. */
void export_tell_progress(int fd, uint64_t done);
uint64_t export_progress(struct context *, struct uid);

#endif
