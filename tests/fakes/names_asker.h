/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for names by scripted name servers (fake_families.h), a clock that stands still, and a hosts file of one line. */
#pragma once

#include "base/limits.h"
#include "dns/names.h"

/* How a lookup ended; done counts the completions. */
struct result {
	unsigned done;
	int status;
	int code;
	unsigned count, srv_count;
	char target[RCM_NODE_MAX + 7];	/* of the first SRV record, with its port behind a colon */
	uint32_t ttl;
	int missing;
	char canonname[256];
	char text[RCM_TEXT_MAX];
	struct rcm_dns_lookup *lookup;
	char name[300];
};

extern struct rcm_loop loop;
extern struct rcm_names *names;
extern const enum rcm_pick_step files_dns[RCM_PICK_STEPS], dns_files[RCM_PICK_STEPS];

/* Set up and torn down around each test; the latter fails on questions left over. */
int open_names(void **state);
int close_names(void **state);

/* A configuration of that text; one name server on loopback and no domain to search. */
struct rcm_resolv *make_resolv(const char *text);
#define LOCAL "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"

/* "inhosts" only. */
struct rcm_hosts *make_hosts(void);

/* The completion, into the struct result that arg is. */
void done(void *arg, const struct rcm_dns_answer *answer);

/* Begins a lookup of both families as configured, or as said. */
void start(struct result *result, const char *name);
void start_as(struct result *result, const char *name, int family, enum rcm_dns_source source);
/* The same of SRV records; full: no domain is tried behind the name. */
void start_srv(struct result *result, const char *name, bool full, enum rcm_dns_source source);

/* One turn of the loop, at once or after the clock has been put forward. */
void turn(void);
void advance_ms(unsigned ms);

/* Takes the name that is asked about, ends it so, and turns. */
void fail_next(const char *name, enum rcm_dns_verdict verdict);
