/* SPDX-License-Identifier: BSD-2-Clause */
/* The counters of this process for others to read. */
#include "resolve/gauge.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/container.h"
#include "base/err.h"
#include "base/fds.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/program.h"

#define REST_NS RCM_NS_PER_S

enum { BACKLOG = 8, REPLY_ROOM = 1024 };

bool rcm_gauge_path(const char *directory, uint64_t pid, char *path, size_t size)
{
	return snprintf(path, size, "%s/rai-%" PRIu64 ".stats", directory, pid) < (int)size;
}

/* ---- Who asks ---- */

static bool gauge_may_read(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && (peer.uid == geteuid() || peer.uid == 0);
}

/* A line a counter, by their names in struct rai_stats. */
static size_t gauge_print(const struct rcm_gauge *gauge, char reply[REPLY_ROOM])
{
	char program[RCM_PROGRAM_MAX];
	struct rai_stats s;
	int len;

	gauge->show(gauge->arg, &s);
	len = snprintf(reply, REPLY_ROOM, "rai-stats 1\nversion %s\nprogram %s\npid %" PRIu64 "\nstarted %" PRIu64
		       "\nresolved %" PRIu64 "\nfailed %" PRIu64 "\ncancelled %" PRIu64 "\nkept_hits %" PRIu64
		       "\nshared %" PRIu64 "\nlookups %" PRIu64 "\ntimeouts %" PRIu64 "\nsa_queries %" PRIu64
		       "\nsa_retries %" PRIu64 "\noutstanding %" PRIu64 "\nin_flight %" PRIu64 "\nkept %" PRIu64 "\n",
		       RAI_VERSION, rcm_program_name(program), (uint64_t)atomic_load(&gauge->pid), s.started,
		       s.resolved, s.failed, s.cancelled, s.kept_hits, s.shared, s.lookups, s.timeouts, s.sa_queries,
		       s.sa_retries, s.outstanding, s.in_flight, s.kept);
	return len < REPLY_ROOM ? (size_t)len : REPLY_ROOM - 1;
}

/* What is sent fits into an empty socket. */
static void gauge_answer(const struct rcm_gauge *gauge, int fd)
{
	char reply[REPLY_ROOM];

	if (gauge_may_read(fd))
		(void)!send(fd, reply, gauge_print(gauge, reply), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void gauge_resume(struct rcm_timer *timer)
{
	struct rcm_gauge *gauge = rcm_container(timer, struct rcm_gauge, timer);
	struct rcm_loop *loop = gauge->source.loop;

	if (rcm_source_change(&gauge->source, RCM_READABLE))
		rcm_timer_start(loop, timer, loop->now + REST_NS, gauge_resume);
}

/* Without a descriptor for it, or where it is forbidden (seccomp(2), an LSM), a connection stays, and would wake the
 * loop again at once: who wants to know waits for a while, rather than that the process spins. */
static void gauge_rest(struct rcm_gauge *gauge, int error)
{
	struct rcm_loop *loop = gauge->source.loop;

	rcm_info("stats: %s: nobody is answered for a while", strerrordesc_np(error));
	if (rcm_source_change(&gauge->source, 0))
		rcm_source_remove(&gauge->source);
	else
		rcm_timer_start(loop, &gauge->timer, loop->now + REST_NS, gauge_resume);
}

static void gauge_asked(struct rcm_source *source, uint32_t events)
{
	struct rcm_gauge *gauge = rcm_container(source, struct rcm_gauge, source);

	(void)events;
	for (int i = 0; i < RCM_GAUGE_TURN; i++) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				gauge_rest(gauge, errno);
			return;
		}
		gauge_answer(gauge, fd);
		close(fd);
	}
}

/* ---- Opening ---- */

/* Where others may write, a name could be another's file by the time that it is used. */
static int directory_check(const char *directory)
{
	struct stat st;

	if (*directory != '/' || stat(directory, &st))
		return -ENOENT;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

/* Whether nobody has the socket of that name any more: of a process that isn't there, which may be in another namespace
 * of processes. Who tries with a socket of another type wakes nobody, and is told that there is one before it listens,
 * too. */
static bool is_left_behind(const char *path, uint64_t pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool refused;
	int fd;

	if (!kill((pid_t)pid, 0) || errno != ESRCH)
		return false;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	strcpy(address.sun_path, path);
	refused = connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* Processes that were killed, or ended by _exit(2), as children of a fork do, couldn't remove theirs. */
static void directory_sweep(const char *name)
{
	char path[sizeof(((struct rcm_gauge *)NULL)->path)];
	const struct dirent *entry;
	DIR *directory = opendir(name);
	uint64_t pid;
	int end;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		end = 0;
		if (sscanf(entry->d_name, "rai-%" SCNu64 ".stats%n", &pid, &end) == 1 && end && !entry->d_name[end] &&
		    pid <= INT_MAX && rcm_gauge_path(name, pid, path, sizeof(path)) && is_left_behind(path, pid))
			unlink(path);
	}
	closedir(directory);
}

static int gauge_bind(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = rcm_fds_add(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), ret;

	if (fd < 0)
		return fd;
	memcpy(address.sun_path, path, strlen(path) + 1);
	/* One of a process that had this number and was killed. Nobody connects before listen(), so that between bind()
	 * and chmod() the mode that umask(2) gives matters to none. */
	unlink(path);
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !chmod(path, S_IRUSR | S_IWUSR) &&
	    !listen(fd, BACKLOG))
		return fd;
	ret = rcm_errno();
	unlink(path);
	rcm_fds_close(fd);
	return ret;
}

static int gauge_try(struct rcm_gauge *gauge, struct rcm_loop *loop)
{
	uint64_t pid = (uint64_t)getpid();
	int ret, fd;

	if (gauge->wanted < 0)
		return gauge->wanted;
	ret = directory_check(gauge->directory);
	if (ret)
		return ret;
	if (!rcm_gauge_path(gauge->directory, pid, gauge->path, sizeof(gauge->path)))
		return -ENAMETOOLONG;
	directory_sweep(gauge->directory);
	/* Said before it is made: either the process's end waits for it here, or is seen here. */
	atomic_store(&gauge->pid, pid);
	rcm_lock_acquire(&gauge->making);
	fd = atomic_load(&gauge->over) ? -ESHUTDOWN : gauge_bind(gauge->path);
	rcm_lock_release(&gauge->making);
	if (fd < 0)
		ret = fd;
	else
		ret = rcm_source_add(loop, &gauge->source, fd, RCM_READABLE, gauge_asked);
	if (!ret)
		return 0;
	if (fd >= 0) {
		unlink(gauge->path);
		rcm_fds_close(fd);
	}
	atomic_store(&gauge->pid, 0);
	return ret == -ESHUTDOWN ? 0 : ret;
}

void rcm_gauge_want(struct rcm_gauge *gauge)
{
	const char *text = secure_getenv("RAI_STATS"), *directory = secure_getenv("XDG_RUNTIME_DIR");

	gauge->wanted = 0;
	if (!text || strcmp(text, "1") != 0)
		return;
	gauge->wanted = 1;
	/* Where there is no session nothing sets it, and whoever asks looks there, too. */
	if (!directory || !*directory)
		snprintf(gauge->directory, sizeof(gauge->directory), "/run/user/%u", (unsigned)geteuid());
	else if (strlen(directory) >= sizeof(gauge->directory))
		gauge->wanted = -ENAMETOOLONG;
	else
		strcpy(gauge->directory, directory);
}

void rcm_gauge_open(struct rcm_gauge *gauge, struct rcm_loop *loop, rcm_gauge_fn *show, void *arg)
{
	int ret;

	if (!gauge->wanted || atomic_load(&gauge->over))
		return;
	gauge->show = show;
	gauge->arg = arg;
	ret = gauge_try(gauge, loop);
	if (ret)
		rcm_error("stats: no socket in %s: %s", *gauge->directory ? gauge->directory : "XDG_RUNTIME_DIR",
			  strerrordesc_np(-ret));
}

void rcm_gauge_remove(struct rcm_gauge *gauge)
{
	uint64_t pid;

	atomic_store(&gauge->over, true);
	pid = atomic_load(&gauge->pid);
	if (!pid || pid != (uint64_t)getpid())
		return;
	rcm_lock_acquire(&gauge->making);
	unlink(gauge->path);
	rcm_lock_release(&gauge->making);
	directory_sweep(gauge->directory);
}

void rcm_gauge_abandon(struct rcm_gauge *gauge)
{
	rcm_lock_init(&gauge->making);
	gauge->source.loop = NULL;
	gauge->timer = (struct rcm_timer){ 0 };
	atomic_store(&gauge->pid, 0);
}
