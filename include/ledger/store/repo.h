/*
 * The bare git repository of one ledger, through libgit2. Objects are written
 * loose and uncompressed, without syncs: the journal (journal.h) makes them
 * durable. A repo is for one thread at a time; each reader opens its own.
 */
#ifndef LEDGER_STORE_REPO_H
#define LEDGER_STORE_REPO_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define OID_BYTES 20
#define OID_HEX   40

struct oid {
	uint8_t b[OID_BYTES];
};

enum object_kind { OBJECT_COMMIT = 1, OBJECT_TREE = 2, OBJECT_BLOB = 3 };

struct object {
	enum object_kind kind;
	struct str bytes;
	struct oid oid;
};

struct repo;

/*
 * Makes the repository with the settings and the 256 fan-out directories of
 * docs/ledger-format.md, synced before it appears at path. err_conflict when
 * something is there already.
 */
int repo_create(const char *path, struct err *);

/* Opens it and checks every setting; err_corrupt when one is missing, since a
 * stray `git gc` could then destroy events. */
int repo_open(const char *path, struct repo **, struct err *);

/* As repo_open for somebody else's clone: no setting is demanded, nothing may
 * be written. */
int repo_open_for_reading(const char *path, struct repo **, struct err *);
void repo_close(struct repo *);

/* Of packs at most so many bytes are mapped at once in this process, whatever
 * their size. For programs that go through whole ledgers; before the first is
 * opened. */
void repo_library_bound(size_t bytes);

/* The object's id. err_invalid when SHA-1 collision detection refuses the
 * bytes. Needs no repository. */
int repo_oid(enum object_kind, struct str bytes, struct oid *, struct err *);

/*
 * The same id, without looking for collisions: for checking what is read, and
 * for objects whose first bytes nobody outside can choose. The ledger's own
 * begin with a signature, its origin, or an id. OpenSSL's SHA-1 takes a fifth
 * of the time.
 */
struct oid repo_oid_plain(enum object_kind, struct str bytes);

/* Writes objects whose oid is set; those that exist are skipped. No sync. */
int repo_write(struct repo *, const struct object *, size_t n, struct err *);

/* Writes an object whose oid is set into a new file, over whatever is there. No
 * sync. */
int repo_write_anew(struct repo *, const struct object *, struct err *);

/* Writes one blob and syncs it with its directory, for contents that are
 * stored before their event. */
int repo_write_synced(struct repo *, struct object *, struct err *);

/* Reads at most max bytes into the arena. err_corrupt when it is missing, torn
 * or of another kind, err_too_large beyond max. */
int repo_read(struct repo *, struct oid, enum object_kind, size_t max,
    struct arena *, struct str *out, struct err *);

bool repo_has(struct repo *, struct oid);

/* Removes the loose copy, if any. Only recovery after a lost boot does this. */
int repo_unlink_loose(struct repo *, struct oid, struct err *);

/* The commit that refs/heads/main names; *exists false before the first one.
 * err_corrupt when the reference is torn. */
int repo_branch(struct repo *, struct oid *, bool *exists, struct err *);

/*
 * Moves the branch from (NULL: it does not exist, or is torn and `force`) to
 * the commit. Waits a moment for another holder of the lock file, such as
 * `git pack-refs`, then removes a stale one: the caller has the turn.
 * err_conflict when the branch is not at from. With force the file is written
 * again even when it names the commit already.
 */
int repo_move_branch(struct repo *, const struct oid *from, struct oid to,
    bool force, struct err *);

/*
 * syncfs of the filesystem that holds the repository. The kernel tells of a
 * failure once and then takes the lost pages for clean: after -1 a later 0
 * proves nothing about what was written before, so the journalled objects are
 * removed and written again before the journal is freed.
 */
int repo_sync(struct repo *, struct err *);

const char *repo_path(const struct repo *);

void oid_hex(struct oid, char out[OID_HEX + 1]);
bool oid_from_hex(struct str, struct oid *);
bool oid_eq(struct oid, struct oid);

/* A tree object's bytes. Entries are sorted here, as git sorts them. */
struct tree_entry {
	struct str name;
	bool is_tree;
	struct oid oid;
};
struct str tree_bytes(struct arena *, struct tree_entry *, size_t n);

/* Reads a tree object; err_corrupt for modes other than 100644 and 40000. */
int tree_parse(struct arena *, struct str bytes, struct tree_entry **,
    size_t *n, struct err *);

#endif
