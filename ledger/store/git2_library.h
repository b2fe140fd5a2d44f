/*
 * libgit2, loaded when an object lies in a pack, or a repository is not quite
 * as repo_create made it: with the dozen libraries that it brings along it
 * would be a quarter of what a plain CGI program needs to start (decision
 * 0025).
 */
#ifndef LEDGER_STORE_GIT2_LIBRARY_H
#define LEDGER_STORE_GIT2_LIBRARY_H

#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>

#include "ledger/base/err.h"

/* Every function of it that is called. */
/* clang-format off */
#define GIT2_FUNCTIONS(X) \
	X(commit_free) X(commit_lookup) X(commit_parent_id) \
	X(commit_parentcount) X(config_free) X(config_get_bool) \
	X(config_get_int32) X(error_last) X(error_set_str) X(libgit2_init) \
	X(libgit2_opts) X(mempack_new) X(odb_add_backend) \
	X(odb_backend_data_alloc) X(odb_backend_data_free) \
	X(odb_backend_one_pack) X(odb_backend_pack) X(odb_exists_ext) \
	X(odb_foreach) X(odb_free) X(odb_hash) X(odb_init_backend) \
	X(odb_new) X(odb_object_data) X(odb_object_free) X(odb_object_id) \
	X(odb_object_size) X(odb_object_type) X(odb_read) X(odb_read_header) \
	X(odb_write) X(packbuilder_foreach) \
	X(packbuilder_free) X(packbuilder_insert) \
	X(packbuilder_insert_commit) X(packbuilder_name) X(packbuilder_new) \
	X(packbuilder_object_count) X(packbuilder_set_threads) \
	X(packbuilder_write) X(reference_free) X(reference_lookup) \
	X(reference_symbolic_target) X(reference_target) \
	X(repository_config_snapshot) X(repository_free) \
	X(repository_open_bare) X(repository_set_odb)
/* clang-format on */

/* git2.odb_read is git_odb_read, once git2_load has returned 0. */
#define GIT2_MEMBER(name) __typeof__(&git_##name) name;
extern struct git2 {
	GIT2_FUNCTIONS(GIT2_MEMBER)
} git2;
#undef GIT2_MEMBER

/* Loads and starts it, with nothing of this machine's or this user's
 * configuration. Thread-safe; err_unavailable when it is not there. */
int git2_load(struct err *);

#endif
