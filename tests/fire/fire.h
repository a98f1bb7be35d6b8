/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of a name server and of an SA, and the situations in which a program meets them; fire.c says what has to hold. */
#pragma once

#include <rdma/rai.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 10 };		/* times as long as bounds on time are meant */
#else
enum { SLOW = 1 };
#endif

enum { FIRE_NO_ROUTE = 1 };		/* "it resolves" with less, beside 0 and negative errnos */

/* What the other side does, and what the contract has come of that. */
struct fire_fault {
	const char *what;		/* in words: the first column */
	const char *how;		/* for the side: what a liar knows it by */
	int status;			/* of the events: 0, FIRE_NO_ROUTE or -errno */
	int other;			/* which some may have instead; 0: none has another one */
	unsigned deadline_ms;		/* of each resolution; 0: one that isn't reached */
	unsigned most;			/* how many are in flight at most; 0: as many as the situation has */
};

/* Who is asked. */
struct fire_side {
	const char *what;		/* the table's first heading */
	const struct fire_fault *faults;
	size_t count;

	/* In the process of a fault, before it makes a channel. NULL: nothing. */
	void (*begin)(const struct fire_fault *fault);

	/* Starts a resolution that no other is equal to: 0 or -errno. */
	int (*ask)(struct rdma_cm_id *id, const struct fire_fault *fault, unsigned number);

	/* 0: the results are what that side says; FIRE_NO_ROUTE: but there is no route; -1: nobody said that. */
	int (*look)(const struct rdma_addrinfo *list);
};

extern const struct fire_side fire_names, fire_services, fire_routes;

/* The port that the SA is asked through, in a /sys of this world's own; its cable; how often it is open. */
void fire_sa_make(void);
void fire_sa_done(void);
void fire_sa_link(bool up);
unsigned fire_sa_ports(void);

/* Prints it, and the run fails. */
void fire_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
