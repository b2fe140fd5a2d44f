/*
 * Files of the state and of the keys: nobody's but their owner's, or, where the
 * directory says so, those of its group as well. Then front, worker and
 * operators can be users of their own.
 *
 * A directory says so by its mode: all rights for the group and none for others
 * (0770, or 2770 so that the group is handed down). What is made in it gives
 * the group the owner's rights, whatever the umask; below it that goes on.
 * Everywhere else modes are as with open(2) and mkdir(2).
 *
 * Paths are relative to dir, a descriptor or AT_FDCWD. errno says what failed.
 */
#ifndef LEDGER_BASE_PRIVATE_H
#define LEDGER_BASE_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "ledger/base/err.h"

/* Whether the directory that holds path is one for a group. */
bool private_is_shared(int dir, const char *path);

/* The mode, with the owner's rights for the group where that is so. */
mode_t private_mode(int dir, const char *path, mode_t mode);

/* Opens the file; makes it if it is not there and flags has O_CREAT. */
int private_open(int dir, const char *path, int flags, mode_t mode);

int private_mkdir(int dir, const char *path, mode_t mode);

/* Makes an empty file for a library that would make it without the group's
 * rights; nothing where there is no group, or where the file is there. */
void private_touch(const char *path);

/* err_unavailable, which says what to do, where somebody else may write in the
 * directory: others, or a group that this process is not in. One that is not
 * there, or that this process may not look into, is not judged. */
int private_check(const char *dir, struct err *e);

#endif
