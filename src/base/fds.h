/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors that are the library's own: the child of a fork has no use for them, and closes them at the fork. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Takes over a descriptor that was just opened; what open() and the like gave may be passed on as it is. Returns fd, or
 * -errno: that of the call that gave -1, or -ENOMEM, and fd is closed. Any thread.
 */
int rcm_fds_add(int fd);

/* The same of one that is open and has a close of its own: 0; or -ENOMEM, and it is still the caller's to close. */
int rcm_fds_take(int fd);

/*
 * Closes one, where it is still the library's: in the child of a fork it isn't any more, and its number may be a file
 * of the application's. fd < 0: nothing. Any thread.
 */
void rcm_fds_close(int fd);

/* Opens one that can be written to, which nobody does, so that it always looks ready. As rcm_fds_add(). */
int rcm_fds_open_ready(void);

/* False: what was opened by the number is closed, and something else may have it. Exact for what the last one opens;
 * not where a sandbox allows it no sockets, and an eventfd of the program's may look the same. Any thread. */
bool rcm_fds_is_same(int fd);

/* What a number is, as fstat(2) has it. Of eventfd(2), epoll(7) and inotify(7) all look the same, and have no type. */
struct rcm_file {
	bool open, typed;
	dev_t dev;
	ino_t ino;
};

/* RCM_FILE_MAYBE: it has no type, or a filter of system calls hides what it is. */
enum rcm_file_is { RCM_FILE_OTHER, RCM_FILE_SAME, RCM_FILE_MAYBE };

struct rcm_file rcm_file_look_at(int fd);

/* One that always looks ready, too, but is the caller's to close, in the child of a fork as well. It, or -errno. */
int rcm_file_open_ready(void);

/* Whether the number still is what it was. Neither takes a lock, and this no descriptor and no memory. */
enum rcm_file_is rcm_file_compare(int fd, const struct rcm_file *was);

/* Says of one that is the caller's to close, in the child of a fork as well, that the library opened it. It is claimed
 * until the library opens something else by that number. 0: no memory, and then nobody can tell. Any thread, as the
 * next. */
unsigned rcm_fds_claim(int fd);
bool rcm_fds_is_claimed(int fd, unsigned claim);

/* No longer the library's; true: it was, and the caller closes it. For what has a close of its own. */
bool rcm_fds_forget(int fd);

/* The program has closed descriptors that weren't its own, and numbers may be its files by now: those that can't be
 * proven to be what was opened by them are no longer the library's. Any thread. */
void rcm_fds_doubt(void);

/* How often that was called: who has seen the same number before has nothing to prove anew. Any thread. */
unsigned rcm_fds_doubts(void);
