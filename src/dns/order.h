/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts addresses in the order in which to try them, as getaddrinfo() of this host's libc does. Pure, but for
 * what is told of it. */
#pragma once

#include "dns/policy.h"

/* A destination, and what is known of the way there. */
struct rcm_order {
	union rcm_dns_address to;
	union rcm_dns_address from;	/* the source the kernel would use; sa_family AF_UNSPEC: none, unreachable */
	uint8_t from_prefix;		/* length of that source's prefix */
	bool from_deprecated;		/* RFC 4862 5.5.4 */
	bool from_home;			/* a mobile node's home address, RFC 6275 */
	bool native;			/* not by a tunnel device */
	uint8_t rule;			/* by which it goes before the next, once sorted: 1 to 10; of the last 0 */
	unsigned given;			/* place in the answer: the last resort, which makes the order stable */
};

/* Destinations of the same class can't have different sources for what they are: their scope and label, as the kernel
 * knows them, which reads no gai.conf. */
unsigned rcm_order_class(const union rcm_dns_address *to);

/*
 * Sorts by the ten rules of RFC 6724, section 6, with glibc's reading of rule 9 for IPv4: a prefix counts only where
 * source and destination are on one subnet.
 */
void rcm_order_sort(struct rcm_order *orders, unsigned count, const struct rcm_policy *policy);

/* Says of each that is sorted by which rule it goes before the next. */
void rcm_order_explain(struct rcm_order *orders, unsigned count, const struct rcm_policy *policy);

/* Tells of those that are explained, in order, and frees them. NULL: nothing. */
void rcm_order_tell(struct rcm_order *orders, unsigned count);
