/*
 * What the files of the repository share; libgit2 is seen no further.
 */
#ifndef LEDGER_STORE_REPO_GIT_H
#define LEDGER_STORE_REPO_GIT_H

#include <time.h>

#include "ledger/store/git2_library.h"
#include "ledger/store/repo.h"

#define REPO_BRANCH "refs/heads/main"

struct pack_names;

struct repo {
	char *path;  /* the bare repository, or a clone's .git */
	int dir;     /* path, held open: syncfs reports errors since then */
	int objects; /* path/objects */
	git_repository *git;      /* once repo_git was called */
	git_odb *odb;             /* likewise */
	struct timespec packs_at; /* objects/pack as the odb was built */
	uint64_t temp_tag;        /* names of temporary files */
	uint64_t temp_count;
	const struct pack_names *without; /* packs not to read from, or NULL */
};

/* What a file of the repository begins with: at most n bytes, read into out. No
 * value when it cannot be read. */
struct str repo_file(
    const struct repo *, const char *name, char *out, size_t n);

/* Whether settings and HEAD are, to the byte, those of repo_create: then there
 * is nothing that only libgit2 could tell. */
bool repo_is_as_made(const struct repo *);

/* Opens git and odb, unless they are open: to be called before either is used.
 * err_corrupt when libgit2 finds no repository. */
int repo_git(struct repo *, struct err *);

/* Sets the error from libgit2's last one, a full disk as err_no_space. -1. */
int repo_git_fail(struct err *, const struct err_kind *, const char *what);

/* "ab/cdef…", the place of a loose object below objects/. */
#define LOOSE_NAME (OID_HEX + 2)
void loose_name(struct oid, char out[LOOSE_NAME]);

/* Where the loose copies of the object are; whether there is one. */
bool loose_exists(const struct repo *, struct oid);

/* Adds every pack but those of r->without. */
int repo_odb_add_others(const struct repo *, git_odb *);

/* Opens the object database as the packs are now; `always` even when they
 * have not changed since. */
int repo_odb_renew(struct repo *, bool always, struct err *);

/* "commit", "tree", "blob": as an object's header says it. */
const char *object_kind_word(enum object_kind);

/* Whether an object as libgit2 read it has the bytes that its id says. */
bool object_is_whole(git_odb_object *);

git_oid oid_to_git(struct oid);
struct oid oid_from_git(const git_oid *);

#endif
