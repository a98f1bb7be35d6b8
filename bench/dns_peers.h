/* SPDX-License-Identifier: BSD-2-Clause */
/* Name resolution by others, to be measured beside ours: a bare c-ares loop, getaddrinfo() in threads, and dnsperf. */
#pragma once

/* Of each kind the test world's zone has so many names: n0000.bench.test, n0001... have an address of each family,
 * a0000.bench.test, a0001... an IPv4 address alone. More than are ever in flight: equal ones would be asked once. */
enum { BENCH_NAMES = 120000 };
enum bench_kind { BENCH_BOTH = 'n', BENCH_ONE = 'a' };

/* The index-th of a kind, which wraps around; into buf of 32 bytes. */
const char *bench_name(enum bench_kind kind, unsigned index, char *buf);

/* Monotonic seconds. */
double bench_now(void);

/* What a measurement gives. */
struct bench_figure {
	double rate;		/* names a second */
	double cpu_us;		/* processor time of whoever asks, a name */
};

/* About so many seconds, both families, with window names in flight. A name that fails ends the program. */
struct bench_figure bench_cares(unsigned window, double seconds);
struct bench_figure bench_getaddrinfo(unsigned threads, double seconds);

/* By dnsperf, which asks two questions a name and looks at no answer; window of them in flight. */
struct bench_figure bench_dnsperf(enum bench_kind kind, unsigned window, double seconds);

/* Seconds of processor time that this process has used. */
double bench_cpu(void);
