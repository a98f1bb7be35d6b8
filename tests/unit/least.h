/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long something takes at the least. A machine that is busy otherwise is late by itself, now and then; what takes too
 * long takes it each time.
 */
#pragma once

#include <time.h>

enum { LEAST_S = 60 };

/* The least of what measure() gives, measured until it is enough or a minute has passed. */
static inline double least(double (*measure)(void *arg), void *arg, double enough)
{
	struct timespec now;
	double best, one;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + LEAST_S;
	best = measure(arg);
	while (best > enough && now.tv_sec < end) {
		one = measure(arg);
		best = one < best ? one : best;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return best;
}
