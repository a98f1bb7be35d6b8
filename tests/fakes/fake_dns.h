/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name back end whose behaviour is written in the name, label by label:
 *   now         answers in the next turn (where no other label says when)
 *   ms<N>       after N ms
 *   hold        when the test calls rcm_fake_dns_release()
 *   never       not at all
 *   half        has found 10.0.0.1, and no IPv6 address yet
 *   a<N>        with N addresses 10.0.0.1, 10.0.0.2, ... (default 1); with family AF_INET6 fd00::1 ...
 *   ttl<N>      that may be kept N seconds (default 0)
 *   e<N>        with status -N
 *   start<N>    start() fails with -N
 *   local       may be answered without being asked for
 * Asked for SRV records it has one for each of these addresses (4 at most), of targets t1, t2, ... and ports 7001, 7002, ...
 * Any other label is just a name. It runs on the engine's thread; these calls are for the test's.
 *
 * Service names: http is 80 by tcp, tftp is 69 by udp; others don't exist.
 */
#pragma once

#include "dns/dns.h"

extern const struct rcm_dns_ops rcm_fake_dns;

/* Lets the oldest held lookup of that name answer; waits until there is one. */
void rcm_fake_dns_release(const char *name);

/* The same of all that there are; one of them may end by itself meanwhile. */
void rcm_fake_dns_release_all(const char *name);

/* Lookups started, cancelled, and under way since the last reset. */
unsigned rcm_fake_dns_started(void);
unsigned rcm_fake_dns_cancelled(void);
unsigned rcm_fake_dns_under_way(void);
void rcm_fake_dns_reset(void);

/* Waits until that many lookups were started since the last reset. */
void rcm_fake_dns_wait_started(unsigned count);

/* How often somebody wanted to know whether they are, since the last reset. */
unsigned rcm_fake_dns_looks(void);

/* While on: the host's files are being read, and whoever asks waits until it is off. */
void rcm_fake_dns_reading(bool on);

/* What names mean is another thing from now on; waits until the engine knows. */
void rcm_fake_dns_change(void);

/* Routes have changed since it last looked at them, which settle() does. */
void rcm_fake_dns_strange_ways(bool strange);

/* While on, what was kept is handed out in reverse. */
void rcm_fake_dns_reverse(bool on);

/* While on, service names have to be asked for, and those that begin with "slow-" are answered when it is off. */
void rcm_fake_dns_services_ask(bool on);

/* Waits until that many were asked for since it was on. */
void rcm_fake_dns_wait_services(unsigned count);
