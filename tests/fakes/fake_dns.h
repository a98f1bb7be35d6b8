/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name back end whose behaviour is written in the name, label by label:
 *   now         answers in the next turn (where no other label says when)
 *   ms<N>       after N ms
 *   hold        when the test calls rcm_fake_dns_release()
 *   never       not at all
 *   a<N>        with N addresses 10.0.0.1, 10.0.0.2, ... (default 1); with family AF_INET6 fd00::1 ...
 *   ttl<N>      that may be kept N seconds (default 0)
 *   e<N>        with status -N
 *   start<N>    start() fails with -N
 * Any other label is just a name. It runs on the engine's thread; these calls are for the test's.
 */
#pragma once

#include "dns/dns.h"

extern const struct rcm_dns_ops rcm_fake_dns;

/* Lets the oldest held lookup of that name answer; waits until there is one. */
void rcm_fake_dns_release(const char *name);

/* Lookups started, cancelled, and under way since the last reset. */
unsigned rcm_fake_dns_started(void);
unsigned rcm_fake_dns_cancelled(void);
unsigned rcm_fake_dns_under_way(void);
void rcm_fake_dns_reset(void);

/* Waits until that many lookups were started since the last reset. */
void rcm_fake_dns_wait_started(unsigned count);

/* timeout_ms of the last lookup started. */
uint32_t rcm_fake_dns_last_timeout(void);
