/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel which source address it would use for each destination, and puts destinations in order by it. */
#pragma once

#include "dns/order.h"
#include "loop/loop.h"

struct rcm_srcaddr;

/* 0, or what memory and descriptors ran out by. Where the kernel doesn't tell this process of its addresses and routes
 * (AF_NETLINK refused), nothing is kept, and sources are known without their flags and prefixes. One thread. */
int rcm_srcaddr_open(struct rcm_srcaddr **ret_srcaddr);
void rcm_srcaddr_close(struct rcm_srcaddr *srcaddr);

/* How addresses rank from now on; at first as is built in. */
void rcm_srcaddr_rank(struct rcm_srcaddr *srcaddr, const struct rcm_policy *policy);

/* Has the loop tell of changes from now on: the calls are its thread's, and what changed before a turn began is told in
 * it before its timers. */
void rcm_srcaddr_watch(struct rcm_srcaddr *srcaddr, struct rcm_loop *loop);

/* Whether the host's own addresses or routes changed since they were read. One system call; none where the loop would
 * have told. Until they are read anew each sort asks for every way. */
bool rcm_srcaddr_is_stale(struct rcm_srcaddr *srcaddr);

/* Reads them anew where they changed, which takes as long as they are many. To be called before a sort. */
void rcm_srcaddr_follow(struct rcm_srcaddr *srcaddr);

/* Another that ranks alike and has just read them; srcaddr is not changed, and may be in use. 0 or -errno. */
int rcm_srcaddr_renew(const struct rcm_srcaddr *srcaddr, struct rcm_srcaddr **ret_srcaddr);

/*
 * Puts count addresses in the order of order.h. Waits for nothing but the kernel's routing tables: a UDP socket that
 * is connected sends no packet. Without memory, descriptors or UDP sockets the order is left as it is this time.
 */
void rcm_srcaddr_sort(struct rcm_srcaddr *srcaddr, union rcm_dns_address *addresses, unsigned count);

/* The same, and why: as many as there are addresses, explained, to be freed; NULL where it didn't sort them. */
struct rcm_order *rcm_srcaddr_sort_why(struct rcm_srcaddr *srcaddr, union rcm_dns_address *addresses, unsigned count);

