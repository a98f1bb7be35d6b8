/* SPDX-License-Identifier: BSD-2-Clause */
/* Name servers: what tests/dns/liar.c does is in the name that is asked for. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fire.h"

enum { SOON_MS = 400 };			/* for what nobody answers */

static const struct fire_fault faults[] = {
	{ "nothing", "live", 0 },
	{ "no question is answered", "silent", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "the first question is dropped", "drop-1", 0 },
	{ "one address family is silent", "four-silent", 0, .most = 100 },
	{ "answers 50 ms late", "delay-50", 0 },
	{ "answers after the deadline", "delay-3000", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "each answer twice", "twice", 0 },
	{ "answers in another order", "shuffle-60", 0 },
	{ "truncated; TCP answers", "tcp", 0 },
	{ "truncated; TCP answers octet by octet", "pieces", 0 },
	{ "truncated; TCP closed behind each answer", "hangup", 0, .most = 100 },
	{ "truncated; TCP with rubbish in front", "junk", 0 },
	{ "truncated; TCP closed without an answer", "trunc", -EAGAIN, .most = 32 },
	{ "truncated; TCP closed in the middle", "half", -EAGAIN, .most = 32 },
	{ "truncated; TCP that says nothing", "stall", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "truncated; TCP that stalls in the middle", "stuck", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "wrong id", "wrongid", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "wrong question", "wrongname", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "no question in the answer", "noquestion", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "the question itself", "echo", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "from another address", "elsewhere", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "20 that nobody asked for, then the answer", "uncalled-20", 0, .most = 50 },
	{ "rubbish behind the header", "garbage", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "three octets", "short", -ETIMEDOUT, .deadline_ms = SOON_MS },
	{ "a record cut off", "badlength", -EIO },
	{ "16 octets behind the answer", "padded", 0 },
	{ "a chain of 25 aliases", "chain-25", 0 },
	{ "aliases of each other", "loop", -ENODATA },
	{ "records of another type", "othertype", -ENODATA },
	{ "no record", "nodata", -ENODATA },
	{ "2,000 records by UDP", "many-2000", 0, .most = 4 },
	{ "4,000 records, as many as fit", "many-4000", 0, .most = 4 },
	{ "lame", "lame", -EIO },
	{ "RCODE 1, FORMERR", "formerr", -EIO },
	{ "RCODE 2, SERVFAIL", "servfail", -EAGAIN },
	{ "RCODE 3, NXDOMAIN", "nxdomain", -ENOENT },
	{ "RCODE 4, NOTIMP", "notimp", -EIO },
	{ "RCODE 5, REFUSED", "refused", -EIO },
	{ "RCODE 6, YXDOMAIN", "rcode-6", -EIO },
	{ "RCODE 7, YXRRSET", "rcode-7", -EIO },
	{ "RCODE 8, NXRRSET", "rcode-8", -EIO },
	{ "RCODE 9, NOTAUTH", "rcode-9", -EIO },
	{ "RCODE 10, NOTZONE", "rcode-10", -EIO },
	{ "RCODE 11", "rcode-11", -EIO },
	{ "RCODE 12", "rcode-12", -EIO },
	{ "RCODE 13", "rcode-13", -EIO },
	{ "RCODE 14", "rcode-14", -EIO },
	{ "RCODE 15", "rcode-15", -EIO },
};

static int names_ask(struct rdma_cm_id *id, const struct fire_fault *fault, unsigned number)
{
	char name[128];

	snprintf(name, sizeof(name), "%s-%u.liar.test", fault->how, number);
	return rdma_resolve_addrinfo(id, name, NULL, NULL) ? -errno : 0;
}

/* Documentation addresses, and those of the long lists: nothing else was ever answered. */
static bool is_liars(const struct sockaddr *address)
{
	static const uint8_t v4[4] = { 192, 0, 2, 5 }, v6[4] = { 0x20, 0x01, 0x0d, 0xb8 };
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->sa_family == AF_INET6)
		return !memcmp(&in6->sin6_addr, v6, sizeof(v6));
	return !memcmp(&in->sin_addr, v4, sizeof(v4)) || !memcmp(&in->sin_addr, v6, sizeof(v6)) ||
	       !memcmp(&in->sin_addr, "\x0a\x09", 2);
}

static int names_look(const struct rdma_addrinfo *list)
{
	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next)
		if (!is_liars(ai->ai_dst_addr))
			return -1;
	return list ? 0 : -1;
}

const struct fire_side fire_names = {
	.what = "the name server's fault", .faults = faults, .count = sizeof(faults) / sizeof(*faults),
	.ask = names_ask, .look = names_look,
};
