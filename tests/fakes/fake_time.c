/* SPDX-License-Identifier: BSD-2-Clause */
/* Time that passes as a test wants it, for a loop that runs on a thread of its own. */
#include "fake_time.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool frozen;
static uint64_t at;				/* where it stands, frozen */
static uint64_t ahead;				/* of the real one, which it never falls behind */
static atomic_bool awake;			/* the loop, in a turn */
static uint64_t left;				/* to leap over; 0: it doesn't */

static uint64_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RCM_NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	uint64_t ns;

	pthread_mutex_lock(&lock);
	ns = frozen ? at : real_now() + ahead;
	pthread_mutex_unlock(&lock);
	return ns;
}

void rcm_fake_time_use(void)
{
	rcm_clock_replace(now);
}

void rcm_fake_time_freeze(void)
{
	pthread_mutex_lock(&lock);
	left = 0;
	if (!frozen)
		at = real_now() + ahead;
	frozen = true;
	pthread_mutex_unlock(&lock);
}

void rcm_fake_time_leap(uint64_t ns)
{
	pthread_mutex_lock(&lock);
	left = ns;
	pthread_mutex_unlock(&lock);
}

void rcm_fake_time_thaw(void)
{
	uint64_t real;

	pthread_mutex_lock(&lock);
	left = 0;
	real = real_now();
	if (at > real + ahead)
		ahead = at - real;
	frozen = false;
	pthread_mutex_unlock(&lock);
}

void rcm_fake_time_advance(uint64_t ns)
{
	while (atomic_load(&awake))
		sched_yield();
	pthread_mutex_lock(&lock);
	*(frozen ? &at : &ahead) += ns;
	pthread_mutex_unlock(&lock);
}

static bool may_leap(uint64_t ns)
{
	bool may;

	pthread_mutex_lock(&lock);
	may = ns && ns <= left;
	pthread_mutex_unlock(&lock);
	return may;
}

static bool leap(uint64_t ns)
{
	bool may;

	pthread_mutex_lock(&lock);
	may = ns <= left;
	if (may) {
		left -= ns;
		at += ns;
	}
	pthread_mutex_unlock(&lock);
	return may;
}

int __real_epoll_wait(int fd, struct epoll_event *events, int max, int timeout);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout);

int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	uint64_t ns = timeout > 0 ? (uint64_t)timeout * RCM_NS_PER_MS : 0;
	/* Asked first: what was begun before time was let go is seen before it leaps. */
	bool may = may_leap(ns);
	int n = ns ? __real_epoll_wait(fd, events, max, 0) : 0;

	if (n || (may && leap(ns)))
		return n;
	atomic_store(&awake, false);
	n = __real_epoll_wait(fd, events, max, timeout);
	atomic_store(&awake, true);
	return n;
}
