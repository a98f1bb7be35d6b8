/* SPDX-License-Identifier: BSD-2-Clause */
/* Name resolution by others, to be measured beside ours: a bare c-ares loop, and getaddrinfo() in threads. */
#pragma once

/* How many names n0000.bench.test, n0001... the test world's zone has. */
enum { BENCH_NAMES = 20000 };

/* The index-th of them, which wraps around; into buf of 32 bytes. */
const char *bench_name(unsigned index, char *buf);

/* Monotonic seconds. */
double bench_now(void);

/* Names a second over about that many seconds, both families, with window names in flight. A name that fails ends the
 * program. */
double bench_cares(unsigned window, double seconds);
double bench_getaddrinfo(unsigned threads, double seconds);
