/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether another thread sleeps already, and what user emulation (make check-arch) can't show. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/syscall.h>

/* Run through another program, so that exec() of /proc/self/exe starts that one. */
static inline bool wrapped(void)
{
	return getenv("MESON_EXE_WRAPPER");
}

/* Under qemu-user: threads, signal masks and system calls in /proc are those of the emulator, a process that forks while
 * other threads run may hang in the emulator's own locks. */
static inline bool emulated(void)
{
	const char *through = getenv("MESON_EXE_WRAPPER");

	return through && strstr(through, "qemu");
}

/* The first line of a file of the thread's in /proc; "" where the thread is gone. */
static inline void thread_file(int tid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	file = fopen(path, "r");
	if (!file || !fgets(text, (int)size, file))
		text[0] = '\0';
	if (file)
		fclose(file);
}

/* In the system call that /proc shows so; emulated: in any. */
static inline bool thread_sleeps_in(int tid, const char *call)
{
	char text[256];

	thread_file(tid, emulated() ? "stat" : "syscall", text, sizeof(text));
	return emulated() ? strstr(text, ") S ") != NULL : !strncmp(text, call, strlen(call));
}

static inline bool thread_sleeps_in_poll(int tid)
{
	char text[256];
	long number = -1;

	if (emulated())
		return thread_sleeps_in(tid, "");
	thread_file(tid, "syscall", text, sizeof(text));
	sscanf(text, "%ld", &number);
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
#ifdef SYS_ppoll_time64
	if (number == SYS_ppoll_time64)
		return true;
#endif
#ifdef SYS_ppoll
	if (number == SYS_ppoll)
		return true;
#endif
	return false;
}

/* Until the kernel says that the thread sleeps in poll(2). */
static inline void await_sleep(int tid)
{
	while (!thread_sleeps_in_poll(tid))
		sched_yield();
}

/* The same where it has no deadline, which emulation doesn't show. */
static inline void await_lasting_sleep(int tid)
{
	unsigned long timeout;
	char text[256];
	bool lasts;

	do {
		await_sleep(tid);
		thread_file(tid, "syscall", text, sizeof(text));
		lasts = sscanf(text, "%*d %*s %*s %lx", &timeout) == 1;
#ifdef SYS_poll
		lasts = lasts && (int)timeout == -1;
#else
		lasts = lasts && !timeout;
#endif
	} while (!lasts && !emulated());
}
