/* SPDX-License-Identifier: BSD-2-Clause */
/* Where log lines go. */
#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/program.h"

enum { HEAD = 128, FILE_MODE = 0600, DAY_S = 86400 };

/* What comes with a write that fails so, to the thread that writes; 0: nothing. */
static int sink_signal_of(int error)
{
	return error == -EPIPE ? SIGPIPE : error == -EFBIG ? SIGXFSZ : 0;
}

/* A program doesn't end because the reader of its lines does, or because they are many (RLIMIT_FSIZE): the signal comes
 * to this thread, and is taken from it. */
static int sink_writev(int fd, const struct iovec *parts, int count)
{
	static const struct timespec at_once;
	sigset_t both, came, before, pending;
	int ret, signal;

	sigemptyset(&both);
	sigaddset(&both, SIGPIPE);
	sigaddset(&both, SIGXFSZ);
	if (sigpending(&pending))
		sigemptyset(&pending);
	pthread_sigmask(SIG_BLOCK, &both, &before);
	ret = writev(fd, parts, count) < 0 ? rcm_errno() : 0;
	signal = sink_signal_of(ret);
	if (signal && !sigismember(&pending, signal)) {
		sigemptyset(&came);
		sigaddset(&came, signal);
		while (sigtimedwait(&came, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int sink_write_stderr(const char *line, size_t len)
{
	const struct iovec part = { .iov_base = (void *)(uintptr_t)line, .iov_len = len };
	struct pollfd reader = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&reader, 1, 0) != 1)
		return -EAGAIN;
	return sink_writev(STDERR_FILENO, &part, 1);
}

/* The names that are asked for are nobody else's business. A FIFO that nobody reads is not waited for; a link may lead
 * to a file that somebody else wants written, and another user's file or FIFO is theirs to read. */
static int sink_open_file(const struct rcm_sink *sink)
{
	int fd = open(sink->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		      FILE_MODE);
	struct stat st;

	if (fd < 0)
		return rcm_errno();
	if (fstat(fd, &st) || S_ISCHR(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0)
		return fd;
	close(fd);
	return -EPERM;
}

static bool is_leap(int year)
{
	return !(year % 4) && (year % 100 || !(year % 400));
}

/* The civil date of a day since 1970. gmtime_r() takes the lock of the time zones, which the child of a fork finds held
 * for ever where another thread was asking for the time. */
static void sink_date(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year = 1970, month = 0, length;

	for (; days >= (length = 365 + is_leap(year)); year++)
		days -= length;
	for (; days >= (length = lengths[month] + (month == 1 && is_leap(year))); month++)
		days -= length;
	*ret_year = year;
	*ret_month = month + 1;
	*ret_day = (int)days + 1;
}

/* "2026-11-30T17:05:06.123456Z rping[123] " */
static size_t sink_head(char head[HEAD])
{
	char program[RCM_PROGRAM_MAX];
	struct timespec now;
	int year, month, day, s;

	clock_gettime(CLOCK_REALTIME, &now);
	sink_date(now.tv_sec / DAY_S, &year, &month, &day);
	s = (int)(now.tv_sec % DAY_S);
	return (size_t)snprintf(head, HEAD, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ %s[%d] ", year, month, day,
				s / 3600, s / 60 % 60, s % 60, now.tv_nsec / 1000, rcm_program_name(program),
				(int)getpid());
}

/* In one piece: so lines of several processes don't mix. */
static int sink_write_file(const struct rcm_sink *sink, const char *line, size_t len)
{
	char head[HEAD];
	const struct iovec parts[] = {
		{ .iov_base = head, .iov_len = sink_head(head) },
		{ .iov_base = (void *)(uintptr_t)line, .iov_len = len },
	};
	int fd = sink_open_file(sink), ret;

	if (fd < 0)
		return fd;
	ret = sink_writev(fd, parts, 2);
	close(fd);
	return ret;
}

static int sink_open_socket(const struct rcm_sink *sink)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(sink->path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, sink->path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || !connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		return fd < 0 ? rcm_errno() : fd;
	ret = rcm_errno();
	close(fd);
	return ret;
}

/* The journal's own protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a field a line, as no text has a newline. */
static int sink_write_socket(const struct rcm_sink *sink, int priority, const char *line, size_t len)
{
	char head[HEAD], program[RCM_PROGRAM_MAX];
	struct iovec parts[] = { { .iov_base = head }, { .iov_base = (void *)(uintptr_t)line, .iov_len = len } };
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int fd = sink_open_socket(sink), ret = 0;

	if (fd < 0)
		return fd;
	parts[0].iov_len = (size_t)snprintf(head, sizeof(head), "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nMESSAGE=",
					    priority, rcm_program_name(program));
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		ret = rcm_errno();
	close(fd);
	return ret;
}

int rcm_sink_write(const struct rcm_sink *sink, int priority, const char *line, size_t len)
{
	switch (sink->kind) {
	case RCM_SINK_FILE:
		return sink_write_file(sink, line, len);
	case RCM_SINK_SOCKET:
		return sink_write_socket(sink, priority, line, len);
	default:
		return sink_write_stderr(line, len);
	}
}

int rcm_sink_choose(const char *text, struct rcm_sink *ret_sink)
{
	struct rcm_sink sink = { .kind = RCM_SINK_STDERR };
	int fd = -EINVAL;

	if (!text || !*text) {
		*ret_sink = sink;
		return 0;
	}
	sink.path = text;
	if (!strcmp(text, "journal")) {
		sink = (struct rcm_sink){ .kind = RCM_SINK_SOCKET, .path = RCM_SINK_JOURNAL };
		fd = sink_open_socket(&sink);
	} else if (*text == '/') {
		sink.kind = RCM_SINK_FILE;
		fd = sink_open_file(&sink);
	}
	/* A FIFO may be read later, and a descriptor be had. */
	if (fd < 0 && fd != -ENXIO && !rcm_is_want(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	*ret_sink = sink;
	return 0;
}
