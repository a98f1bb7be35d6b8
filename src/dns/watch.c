/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells whether files may have changed. */
#include "dns/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fds.h"

enum {
	LINKS_MAX = 8,
	FILE_EVENTS = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF,
	DIRECTORY_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF |
			   IN_ONLYDIR,
};

struct rcm_watch {
	atomic_uint refs;
	atomic_int fd;			/* < 0: closed, or there is no inotify */
	int files[RCM_WATCH_PATHS_MAX];	/* of each file the watch on its inode; < 0: none */
};

int rcm_watch_open(struct rcm_watch **ret_watch)
{
	struct rcm_watch *watch = malloc(sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	atomic_init(&watch->refs, 1);
	atomic_init(&watch->fd, -1);
	*ret_watch = watch;
	return 0;
}

struct rcm_watch *rcm_watch_get(struct rcm_watch *watch)
{
	atomic_fetch_add_explicit(&watch->refs, 1, memory_order_relaxed);
	return watch;
}

void rcm_watch_put(struct rcm_watch *watch)
{
	if (!watch || atomic_fetch_sub_explicit(&watch->refs, 1, memory_order_acq_rel) != 1)
		return;
	rcm_watch_rest(watch);
	free(watch);
}

/* A user may have 128 instances of inotify in all: whoever doesn't need one leaves it to others. */
void rcm_watch_rest(struct rcm_watch *watch)
{
	rcm_fds_close(atomic_exchange(&watch->fd, -1));
}

bool rcm_watch_can_tell(const struct rcm_watch *watch)
{
	return watch->fd >= 0;
}

/* How many bytes there are to read says it without taking them: who looks here is not the one who follows. */
bool rcm_watch_has_news(const struct rcm_watch *watch)
{
	int bytes = 0;

	return ioctl(watch->fd, FIONREAD, &bytes) || bytes;
}

static void watch_directory_of(const struct rcm_watch *watch, const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (!slash)
		return;
	slash[slash == directory] = '\0';
	inotify_add_watch(watch->fd, directory, DIRECTORY_EVENTS);
}

/* Where a symbolic link leads, a relative one from its own directory. False: it is none. */
static bool watch_follow_link(char path[PATH_MAX])
{
	char target[PATH_MAX], *slash = strrchr(path, '/');
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	size_t kept;

	if (len <= 0)
		return false;
	target[len] = '\0';
	kept = *target == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
	if (kept + (size_t)len >= PATH_MAX)
		return false;
	memcpy(path + kept, target, (size_t)len + 1);
	return true;
}

static void watch_way_to(const struct rcm_watch *watch, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", file);
	for (int i = 0; i < LINKS_MAX; i++) {
		watch_directory_of(watch, path);
		if (!watch_follow_link(path))
			return;
	}
}

static bool is_watched_by_another(const struct rcm_watch *watch, unsigned index, int wd)
{
	for (unsigned i = 0; i < RCM_WATCH_PATHS_MAX; i++)
		if (i != index && watch->files[i] == wd)
			return true;
	return false;
}

/* A file that gave way to another is of no more interest. */
static void watch_file(struct rcm_watch *watch, unsigned index, const char *file)
{
	int before = watch->files[index], now = inotify_add_watch(watch->fd, file, FILE_EVENTS);

	watch->files[index] = now;
	if (before >= 0 && before != now && !is_watched_by_another(watch, index, before))
		inotify_rm_watch(watch->fd, before);
}

static void watch_wake(struct rcm_watch *watch)
{
	if (watch->fd >= 0)
		return;
	for (int i = 0; i < RCM_WATCH_PATHS_MAX; i++)
		watch->files[i] = -1;
	atomic_store(&watch->fd, rcm_fds_add(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)));
}

void rcm_watch_renew(struct rcm_watch *watch, const char *const *paths, unsigned count)
{
	char news[4096];

	watch_wake(watch);
	if (watch->fd < 0)
		return;
	while (read(watch->fd, news, sizeof(news)) > 0)
		;
	for (unsigned i = 0; i < count; i++) {
		watch_way_to(watch, paths[i]);
		watch_file(watch, i, paths[i]);
	}
}
