/* SPDX-License-Identifier: BSD-2-Clause */
/* Monotonic time in nanoseconds, from one replaceable source. */
#include "base/clock.h"

#include <time.h>

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * RCM_NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t monotonic_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

static uint64_t (*source)(void) = monotonic_now;

uint64_t rcm_clock_now(void)
{
	return source();
}

uint64_t rcm_clock_lately(void)
{
	return source == monotonic_now ? clock_read(CLOCK_MONOTONIC_COARSE) : source();
}

uint64_t rcm_clock_boot(void)
{
	return source == monotonic_now ? clock_read(CLOCK_BOOTTIME) : source();
}

void rcm_clock_replace(uint64_t (*now)(void))
{
	source = now ? now : monotonic_now;
}
