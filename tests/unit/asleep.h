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
 * other threads run may hang in the emulator's own locks,. */
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

static inline bool thread_sleeps_in_poll(int tid)
{
	char text[256];
	long number = -1;

	if (emulated()) {
		thread_file(tid, "stat", text, sizeof(text));
		return strstr(text, ") S ");
	}
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
