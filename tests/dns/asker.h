/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the library's own source of names, and getaddrinfo(), in one form that can be compared. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/dns.h"

enum {
	OUTCOME_TEXT = 32768,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SLOW = 10		/* times as long as bounds on time are meant */
#else
	SLOW = 1
#endif
};

/* One lookup's end. */
struct outcome {
	bool done;
	int status;
	int code;
	uint32_t ttl;
	int missing;
	unsigned count;
	uint64_t took_ms;
	char text[OUTCOME_TEXT];	/* canonical name and addresses, or the EAI code's text */
	char why[256];			/* the answer's text */
	uint64_t started;
	char name[512];			/* as asked: the source of names goes by it until the end */
	struct rcm_dns_lookup *lookup;
};

/* First in main(): opens as below, or, in a process that asker_libc() started, answers and ends. */
void asker_main(int argc, char **argv);

/* The loop and the source; skips the whole program (exit status 77) outside the test world. */
void asker_open(void);
void asker_close(void);

void asker_start(struct outcome *outcome, const char *name, int family);
void asker_cancel(struct outcome *outcome);

/* What there is of it so far; false: nothing. */
bool asker_partial(struct outcome *outcome, struct outcome *part);

/* Turns the loop until it is done, at most max_ms. */
void asker_wait(struct outcome *outcome, unsigned max_ms);
void asker_turn(unsigned ms);

/* Both in one. */
void asker_ask(struct outcome *outcome, const char *name, int family);

/* What getaddrinfo() says in another process, a new one after each asker_write(). */
void asker_libc(struct outcome *outcome, const char *name, int family);

/* True where both say the same. */
bool asker_is_same(const struct outcome *ours, const struct outcome *theirs);

/* Puts the words of text into an order that doesn't depend on the server's. */
void asker_sort(struct outcome *outcome);

uint64_t asker_now_ms(void);

/* Writes a file in one step, by rename(); text NULL removes it. */
void asker_write(const char *path, const char *text);
