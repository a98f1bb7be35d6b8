/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks name servers in the test (name_server.h) about full names, on a clock that stands still. */
#pragma once

#include "dns/families.h"
#include "name_server.h"

/* What became of a name; families is freed when it is done. */
struct asked {
	struct rcm_families *families;
	bool done, half;
	int missing;
	enum rcm_dns_verdict verdict;
	const union rcm_dns_address *speaker;
	unsigned count;
	uint32_t ttl;
};

extern struct rcm_loop loop;
extern struct rcm_servers servers;
extern struct rcm_resolv *resolv;
extern unsigned rooms;			/* how often there was said to be room */

/* Around each test: three servers, of which the first is configured, without options. */
int open_servers(void **state);
int close_servers(void **state);
#define SERVERS_TEST(f) cmocka_unit_test_setup_teardown(f, open_servers, close_servers)

/* Others, and all forgotten that was known of them. */
void configure(unsigned count, const char *options);

/* Asks, and has it sent; ask_to() may be told that there is no room. */
void ask(struct asked *asked, const char *name, int family);
int ask_to(struct asked *asked, const char *name, int family);

/* Isn't interested any more. */
void drop(struct asked *asked);

/* The next question to that server by UDP; fails where there is none. */
void take(unsigned server, struct name_server_question *question);

/* Fails unless it is done so, with so many addresses. */
void check(const struct asked *asked, enum rcm_dns_verdict verdict, unsigned count);

void turn(void);
void turn_twice(void);			/* what one turn begins, the next may send */
void advance_ms(unsigned ms);
