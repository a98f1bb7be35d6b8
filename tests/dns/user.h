/* SPDX-License-Identifier: BSD-2-Clause */
/* An application that resolves names on one event channel: what the tests through the public API share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rdma/rai.h>
#include <rdma/rdma_cma.h>

enum {
	USER_TEXT = 512,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SLOW = 10		/* times as long as bounds on time are meant */
#else
	SLOW = 1
#endif
};

/* An ID and what became of its resolution. */
struct user {
	struct rdma_cm_id *id;
	bool done;
	int event;
	int status;
	uint64_t arg;
	uint64_t started;		/* ns */
	uint64_t call_ns;		/* time inside rdma_resolve_addrinfo() */
	double took_ms;			/* from there to the event */
	char text[USER_TEXT];		/* the addresses, or why not */
};

extern struct rdma_event_channel *user_channel;

/* Skips the program (77) outside the test world; makes a non-blocking channel. */
void user_open(void);
void user_close(void);

uint64_t user_now(void);		/* ns */

/* Makes an id with that channel; NULL: the one above. Fails the test where it can't. */
void user_create(struct user *user, struct rdma_event_channel *channel);
void user_destroy(struct user *user);

/* On the user's id, made first if it has none. Fails the test where the call does. */
void user_start(struct user *user, const char *node, const char *service, const struct rdma_addrinfo *hints);

/* Serves events until it is done; false: not within max_ms. */
bool user_wait(struct user *user, unsigned max_ms);

/* All three: start, wait, and fail the test if there is no event in 30 s. */
void user_ask(struct user *user, const char *node);

/* "1.2.3.4 2001:db8::1" */
void user_print(const struct rdma_addrinfo *list, char *text, size_t size);

/* Stops and continues a server of the world, NSD or LIAR. */
void user_pause(const char *server);
void user_resume(const char *server);

/* Replaces a file by rename(). */
void user_write(const char *path, const char *text);
