/* SPDX-License-Identifier: BSD-2-Clause */
/* What the SA benchmarks are measured against: a bare loop of umad_send() and umad_recv(), in the same run. */
#pragma once

#define SA_PEER_SERVICE "bench"		/* the service that is asked for: one record */
#define SA_PEER_ID 7
#define SA_ROUND_NS 100000000ULL

enum { SA_ROUNDS = 31 };

void sa_die(const char *what) __attribute__((noreturn));

/* Registers the service and opens the port; ends the program where it can't. */
void sa_peer_start(void);
void sa_peer_stop(void);

/* One round of the bare loop with so many questions outstanding. */
double sa_peer_per_second(unsigned window);

/* How long the bare loop takes for two answers, one after the other: all records of that name, all paths from this port
 * for that service id. Ends the program where they have less than so many records. */
double sa_peer_tables_ms(const char *name, unsigned long long id, unsigned count);

/* Rounds of ours and of the bare loop by turns, so that whatever else the machine does meets both; prints the medians
 * and the median of their ratios. aim NULL: none. */
void sa_compare(const char *name, unsigned window, double (*ours_per_second)(unsigned window), const char *aim);

/* Puts them in order. */
double sa_median(double *values, unsigned count);
