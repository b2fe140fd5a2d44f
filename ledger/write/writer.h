/*
 * The inside of a ledger, shared by the files of this folder.
 *
 *	core.c      the ledger's own event types
 *	closing.c   the last event, and that nothing follows it
 *	origin.c    the name that a repository's checkpoints have
 *	moved.c     whether the directory was moved aside
 *	succession.c  a closed ledger aside, its successor in its place
 *	ledger.c    open, close, create
 *	queue.c     ledger_submit: first come first served, one leader at a time
 *	attempt.c   one batch, from the first decision to the published commit
 *	decide.c    one command in its place: savepoint, emit, project
 *	signing.c   signatures by the waiting threads
 *	ready.c     what must hold before a batch: journal, branch, clock, space
 *	catch_up.c  verifies and projects what state.db has not seen
 *	position.c  where the projection stands: the row and its copy
 *	tiles.c     the Merkle tree in the read model
 *	proving.c   proofs and tiles for readers
 *	index_rows.c  the index over all records in the read model
 *	index_read.c  its pages for readers, and its announcement
 *	high_water.c  how far the key may have signed
 *	anchor.c    whether the clock is plausible
 *	counting.c  what is counted for those who watch
 *	reading.c   connections for readers
 *	upkeep.c    sync, pack, payloads
 *	rebuild.c   the read model made anew
 *	content.c   content keys on disk
 *	content_note.c  which events hold values under which key
 *	erasure.c   what erases them
 *	erasure_list.c  the erasure list, and finishing what was begun
 *	keys.c      the key history, and the signer of the key in force
 *	key_change.c  batches that put another key in force
 *	voids.c     events that a later revocation makes void
 */
#ifndef LEDGER_WRITE_WRITER_H
#define LEDGER_WRITE_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "ledger/chain/signers.h"
#include "ledger/store/turn.h"
#include "ledger/write/ledger.h"

enum ticket_state { TICKET_WAITING, TICKET_LEADS, TICKET_HELPS, TICKET_DONE };

/* A command in the queue; it lives on its thread's stack. */
struct ticket {
	const struct command *command;
	struct receipt *receipt;
	struct err *err;
	int result;
	enum ticket_state state;
	pthread_cond_t wake;
	size_t first, n; /* its events in the batch */
	struct ticket *next;
};

struct ticket_list {
	struct ticket *first, *last;
};

void ticket_push(struct ticket_list *, struct ticket *);
struct ticket *ticket_pop(struct ticket_list *);

/* The signatures of one batch. Events before `offered` are final; whoever has
 * time takes the next. */
struct signing {
	pthread_mutex_t lock;
	pthread_cond_t more; /* helpers wait here */
	pthread_cond_t less; /* the leader waits here */
	const struct signer *signer;
	const struct event *events;
	struct signature *signatures;
	struct digest *leaves;
	size_t offered, taken, done;
	size_t helpers, idle;
	bool closed;
	struct err err;
};

void signing_init(struct signing *);
void signing_fini(struct signing *);
void signing_begin(struct signing *, const struct signer *,
    const struct event *, struct signature *, struct digest *leaves);
/* The first n events are final. */
void signing_offer(struct signing *, size_t n);
/* A helper's part: returns when the batch has nothing left for it. The leader
 * counted it in by signing_enlist. */
void signing_enlist(struct signing *);
void signing_help(struct signing *);
/* No more will be offered: helps, waits until all is signed and the helpers
 * have left. */
int signing_finish(struct signing *, struct err *);

/* Where the projection stands; equal to the row in state.db. */
struct position {
	uint64_t size, batches;
	struct digest head;
	struct merkle tree;
	bool has_commit;
	struct oid commit;
	struct instant last_at;
	struct instant clock_floor; /* 0, or what an operator confirmed */
};

/* What an event does to the position, its tree apart. */
void position_advance(struct position *, const struct event *, const void *data,
    const struct event_type *);
int position_load(struct db *, struct position *, struct err *);
int position_save(struct db *, const struct position *, struct err *);
int position_add_batch(struct db *, uint64_t first, const struct digest *leaves,
    size_t n, struct oid, struct err *);

/* The batch that is being made. */
struct draft {
	struct event events[BATCH_EVENTS];
	struct signature signatures[BATCH_EVENTS];
	struct digest leaves[BATCH_EVENTS];
	size_t n, bytes;
	struct ticket_list tickets; /* decided, in order */
	struct position before, after;
	struct err no_space, no_clock, no_mark; /* why none may be written */
	struct err no_more;                     /* why none may be emitted */
};

/* Ranges of events that project nothing. */
#define VOIDS_MAX SIGNERS_KEYS
struct voids {
	struct {
		uint64_t from, until; /* the revocation's number */
	} ranges[VOIDS_MAX];
	size_t n;
};

/* Random bytes that nobody has seen yet. */
struct randomness {
	uint8_t bytes[1024];
	size_t left;
};

/* A directory, whatever its name is by now. */
struct directory_id {
	dev_t device;
	ino_t inode;
};

struct reader {
	struct db *db;
	struct repo *repo;
	struct reader *next;
};

struct ledger {
	char *dir, *db_path, *repo_path;
	struct directory_id opened_dir; /* what dir was at the opening */
	const struct view *const *views;
	const struct clock *clock;
	uint64_t free_floor;
	char *keys_dir;
	char *origin_text;
	struct str origin;
	struct signer *signer; /* of the key in force; NULL until it is known;
				  it changes with the turn and readers_lock */
	uint8_t fingerprint[32];
	const struct event_type **types; /* sorted by name */
	size_t n_types;

	/* The queue. */
	pthread_mutex_t lock;
	struct ticket_list waiting;
	size_t n_waiting;
	bool leading;
	pthread_cond_t arrived; /* a leader waits here for company */
	size_t wanted;          /* how many it waits for; 0: none does */
	size_t last_batch;      /* tickets of the batch before */

	/* Only who has the turn (ledger_take_turn) touches what follows; the
	 * mutex keeps the threads of this process apart, the turn the
	 * processes. */
	pthread_mutex_t work;
	struct turn *turn;
	struct journal *journal;
	struct repo *repo;
	struct db *db;
	struct arena *arena;
	struct position position;
	struct signers keys; /* at the position */
	struct buf signers;
	struct str allowed_signers; /* that they give */
	struct voids voids;         /* of the events to be projected */
	struct draft draft;
	struct signing signing;
	struct randomness randomness;
	size_t helpers_max;
	uint64_t published; /* journal position known to be on the branch */
	bool unsure;        /* just opened: nothing is known yet */
	bool failed;        /* something failed: journal, branch and read
			       model must be looked at anew */
	bool torn; /* a sync of the filesystem failed: what the kernel threw
		      away may be objects, all of them are written again */
	int anchor_fd;
	char *content_dir;         /* the content keys */
	char *mark_path;           /* beside the key */
	atomic_uint_fast64_t mark; /* that file's number as last seen */
	char boot_id[40];

	/* The readers. */
	pthread_mutex_t readers_lock;
	struct reader *readers;
	bool brief;   /* as in ledger_options */
	bool at_work; /* if brief: the turn is ours */
	/* If brief: reads with the writer's connection, from lending on until
	 * the reading ends. */
	struct reader *borrower;
	bool lent;
	atomic_int_fast64_t looked_us; /* when one looked at the branch */

	struct metrics *metrics; /* counting.c */
	bool syncing;            /* under lock */
};

/* counting.c: a batch of n events that took so long to be made durable. */
void counting_batch(struct ledger *, size_t n, int64_t us);

/* attempt.c: decides and settles one batch; with `only`, a batch of that one
 * ticket. The turn is held and ledger_ready was good. -1: nothing happened,
 * the tickets are still to be answered. */
int attempt_batch(struct ledger *, struct ticket *only, struct err *);

/* queue.c: the next waiting ticket, or NULL. A helper is enlisted from those
 * already decided. */
struct ticket *queue_next(struct ledger *);
void queue_put_back(struct ledger *, struct ticket *);
void queue_enlist(struct ledger *, struct ticket *);

/* decide.c: 1 decided (refusals too), 0 the batch has no room for it, -1 a
 * fault that ends the batch. */
int decide_ticket(struct ledger *, struct ticket *, struct err *);

/* ledger.c: opens without bringing the read model up to date. */
int ledger_open_unsettled(
    const struct ledger_options *, bool create, struct ledger **, struct err *);
/* Its first part, which opens no read model. */
int ledger_open_without_view(
    const struct ledger_options *, bool create, struct ledger **, struct err *);
int ledger_take_turn(struct ledger *, struct err *);
void ledger_release_turn(struct ledger *);

/* reading.c: before anything is written; for ledger_take_turn. */
int lending_end(struct ledger *, struct err *);

/* ready.c: settles what came before (journal, branch, read model), then notes
 * in the draft what stands against writing now. */
int ledger_ready(struct ledger *, struct err *);
/* Its first part, which needs no private key. */
int ledger_settle(struct ledger *, struct err *);
int ledger_settle_journal(struct ledger *, struct err *);

/* catch_up.c: projects everything up to the tip. With every > 0, commits each
 * time so many events were projected; with 0 the caller has the transaction. */
struct progress {
	void (*call)(void *, uint64_t done, uint64_t total);
	void *arg;
};
int catch_up(struct ledger *, struct oid tip, uint64_t every,
    const struct progress *, struct err *);
const struct event_type *ledger_find_type(
    const struct ledger *, struct str name);
int ledger_project(struct ledger *, const struct event *, const void *data,
    const struct event_type *, struct err *);

/* moved.c: notes which directory is opened; err_unavailable when it is not that
 * one any more. */
int moved_note(struct ledger *, struct err *);
int moved_check(const struct ledger *, struct err *);

/* origin.c: as the last checkpoint names it; no value in an empty ledger. */
int origin_read(struct repo *, struct arena *, struct str *, struct err *);

/* closing.c: notes in the draft whether the ledger is closed. */
int closing_note(struct ledger *, struct err *);
/* Whether an event of the type may be added to the batch now. -1 with
 * err_ledger_closed; *wait when it is for the next batch to say. */
int closing_check(
    const struct ledger *, const struct event_type *, bool *wait, struct err *);

/* rebuild.c: the read model made anew, in one transaction. */
int project_anew(struct ledger *, const struct progress *, struct err *);

/* keys.c */
/* For a ledger that is being made. */
int keys_begin(struct ledger *, struct err *);
/* The history as the read model has it; the tables hold it from event 0 on. */
int keys_load(struct ledger *, struct err *);
int keys_read(struct db *, struct str origin, struct signers *, struct err *);
int keys_save(struct ledger *, struct err *);
/* Follows a key event that was projected; afterwards allowed_signers are those
 * of its batch. `batch_at` is the time of the batch that ended at a size. */
int keys_follow(struct ledger *, const struct event *, struct err *);
/* The key that has to sign the batch whose last event this is. */
struct public_key keys_of_batch(const struct ledger *, struct str last_type);
/* Makes the signer that of the key in force, and finishes a change of keys that
 * was cut short. err_unavailable when its private key is not there. */
int keys_settle(struct ledger *, struct err *);
/* Waits until the clock is past the second in which the key before signed. */
void keys_wait(const struct ledger *);
/* No event by the key in force is earlier. */
struct instant keys_floor(const struct ledger *);
char *keys_path(const struct ledger *, const char *name);

/* voids.c */
struct path_changes {
	struct oid commits[VOIDS_MAX]; /* the first to come last */
	size_t n;
	bool has_newer;
	struct digest newer; /* its trailer Ledger-Signers */
	struct oid newer_commit;
};
/* Commits from the newest back, with what their trailers say. */
int voids_note(
    struct path_changes *, struct oid, const struct trailers *, struct err *);
/* Which events up to there project nothing. *anew: some of them have. */
int voids_find(
    struct ledger *, const struct path_changes *, bool *anew, struct err *);
bool voids_have(const struct voids *, uint64_t seq);

/* attempt.c: a batch that is all but durable; as make_durable, and -1 when
 * there is no room for it either. It is published by ledger_settle. */
int attempt_alone(struct ledger *, const struct record *, struct err *);

/* anchor.c. */
int anchor_open(struct ledger *, struct err *);
/* How many events ahead of the ledger the key's own count may be. */
#define HIGH_WATER_STRIDE 8192

/* Whether the key may sign a batch more: err_rolled_back where it has signed
 * for events that are not here, err_unavailable. With the turn. */
int high_water_check(struct ledger *, struct err *);
/* The number in that file, 0 where there is none. */
int high_water_read(
    const char *path, struct str origin, uint64_t *mark, struct err *);
/* Whether its number should move ahead, with the turn; and that, without. */
bool high_water_is_near(struct ledger *);
void high_water_move(struct ledger *, uint64_t size);

int anchor_check(struct ledger *, struct err *);
void anchor_write(struct ledger *);

/* upkeep.c: the schema, made anew when the program's differs. */
int schema_ensure(struct ledger *, struct err *);
int schema_reset(struct ledger *, struct err *);

/* content_note.c: notes the encrypted values of an event, with its projection.
 */
int content_note(struct ledger *, const struct event *, const void *data,
    const struct shape *, struct err *);

/* erasure.c: repeats an erasure that only the list knows. */
struct subject_erased;
int subject_erase_again(struct tx *, const struct event *first,
    const struct subject_erased *, struct err *);

/* erasures_at_open.c: ledger_settle_erasures, unless it was settled before; a
 * fault is only logged. */
void erasures_at_open(struct ledger *);

/* Data of `ledger.opened`, whose form signers.h owns. */
struct ledger_opened {
	const struct json *algorithms, *continues;
	struct str public_key, recovery_key;
};
struct opened;
int ledger_opened_from(struct arena *, const struct opened *,
    struct ledger_opened *, struct err *);
extern const struct event_type event_ledger_opened, event_key_rotated,
    event_key_revoked;
extern const struct view core_view;
extern const char core_sql[];

#endif
