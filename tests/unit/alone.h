/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests whose thread is the only one: where it waits for another it would wait for ever, so that is the end. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

static atomic_bool alone_over;

static inline bool alone_waits(void)
{
	char futex[16];

	snprintf(futex, sizeof(futex), "%d ", SYS_futex);
	return !emulated() && thread_sleeps_in(getpid(), futex) && !alone_over;
}

static inline void *alone_watch(void *unused)
{
	while (!alone_over) {
		if (alone_waits()) {
			fputs("the test waits, and nobody is there to wake it\n", stderr);
			_exit(1);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return unused;
}

/* What run() returns, run alone. */
static inline int alone_run(int (*run)(void))
{
	pthread_t watcher;
	bool watched = !pthread_create(&watcher, NULL, alone_watch, NULL);
	int ret = run();

	alone_over = true;
	if (watched)
		pthread_join(watcher, NULL);
	return ret;
}
