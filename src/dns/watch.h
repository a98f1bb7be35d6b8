/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells whether files may have changed, without a look at the files: inotify(7). */
#pragma once

#include <stdbool.h>

enum { RCM_WATCH_PATHS_MAX = 8 };

struct rcm_watch;

/* A watch on nothing. 0 or -ENOMEM. */
int rcm_watch_open(struct rcm_watch **ret_watch);

/* Shared by reference: a thread that stands in renew() may come back late. put: NULL: nothing. */
struct rcm_watch *rcm_watch_get(struct rcm_watch *watch);
void rcm_watch_put(struct rcm_watch *watch);

/* Whether it can tell anything at all: it has been renewed, and the kernel gave an inotify. */
bool rcm_watch_can_tell(const struct rcm_watch *watch);

/* Gives the inotify back until the next renew(); from now on it can't tell. Not while a thread is in renew(). */
void rcm_watch_rest(struct rcm_watch *watch);

/*
 * Whether something happened to the files, or beside them, since the last renew() began. What is done to them by this
 * host is told at once: a change that was complete before the call is seen by it. Not told: what another host does on
 * a network file system, a mount over a file, a rename of a directory further up. One system call on a descriptor of
 * our own, that waits for nothing. Any thread.
 */
bool rcm_watch_has_news(const struct rcm_watch *watch);

/*
 * Forgets the news, and watches these files: each, its directory, and where it is a symbolic link also what that leads
 * through. To be called before a look at them. May take as long as a dead disk does. One thread at a time.
 */
void rcm_watch_renew(struct rcm_watch *watch, const char *const *paths, unsigned count);
