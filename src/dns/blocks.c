/* SPDX-License-Identifier: BSD-2-Clause */
/* Destinations that have the same route. */
#include "dns/blocks.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "dns/netlink.h"

int rcm_blocks_add(struct rcm_blocks *blocks, const struct rcm_block *block)
{
	struct rcm_block *grown;

	for (unsigned i = 0; i < blocks->count; i++)
		if (!memcmp(&blocks->blocks[i], block, sizeof(*block)))
			return 0;
	if (blocks->count == RCM_BLOCKS_MAX) {
		blocks->blind[0] = blocks->blind[1] = true;
		return 0;
	}
	grown = realloc(blocks->blocks, (blocks->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	blocks->blocks = grown;
	grown[blocks->count++] = *block;
	return 0;
}

static bool blocks_are_blind(const struct rcm_blocks *blocks)
{
	return blocks->blind[0] && blocks->blind[1];
}

/* A rule's message begins as a route's does, and its attribute for the destination has the same number. */
static int blocks_take(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *msg = NLMSG_DATA(nlh);
	struct rcm_block block = { .family = msg->rtm_family, .bits = msg->rtm_dst_len };
	size_t len = RTM_PAYLOAD(nlh);
	struct rcm_blocks *blocks = arg;
	int ret;

	if ((nlh->nlmsg_type != RTM_NEWROUTE && nlh->nlmsg_type != RTM_NEWRULE) ||
	    (msg->rtm_family != AF_INET && msg->rtm_family != AF_INET6) || msg->rtm_flags & RTM_F_CLONED)
		return 0;
	for (const struct rtattr *a = RTM_RTA(msg); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == RTA_DST && RTA_PAYLOAD(a) <= sizeof(block.prefix))
			memcpy(block.prefix, RTA_DATA(a), RTA_PAYLOAD(a));
		if (a->rta_type == RTA_MULTIPATH && nlh->nlmsg_type == RTM_NEWROUTE)
			blocks->blind[msg->rtm_family == AF_INET6] = true;
	}
	ret = rcm_blocks_add(blocks, &block);
	return !ret && blocks_are_blind(blocks) ? -E2BIG : ret;
}

int rcm_blocks_read(struct rcm_blocks *blocks)
{
	static const struct {
		int type, family;
	} lists[] = { { RTM_GETROUTE, AF_INET }, { RTM_GETROUTE, AF_INET6 },
		      { RTM_GETRULE, AF_INET }, { RTM_GETRULE, AF_INET6 } };
	int ret = 0;

	rcm_blocks_clear(blocks);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !ret; i++)
		ret = rcm_netlink_dump(lists[i].type, lists[i].family, blocks_take, blocks);
	/* Of a million routes no more is read than tells that they are too many. */
	if (ret == -E2BIG)
		return 0;
	if (ret)
		rcm_blocks_clear(blocks);
	return ret;
}

void rcm_blocks_clear(struct rcm_blocks *blocks)
{
	free(blocks->blocks);
	memset(blocks, 0, sizeof(*blocks));
}

static bool block_has(const struct rcm_block *block, const uint8_t *address)
{
	unsigned bytes = block->bits / 8, rest = block->bits % 8;

	return !memcmp(block->prefix, address, bytes) &&
	       (!rest || !((block->prefix[bytes] ^ address[bytes]) >> (8 - rest)));
}

int rcm_blocks_find(const struct rcm_blocks *blocks, const union rcm_dns_address *address)
{
	bool v4 = address->sa.sa_family == AF_INET;
	const uint8_t *bytes = v4 ? (const uint8_t *)&address->in.sin_addr : address->in6.sin6_addr.s6_addr;
	int found = -1, bits = -1;

	if (blocks->blind[!v4])
		return -1;
	for (unsigned i = 0; i < blocks->count; i++) {
		const struct rcm_block *block = &blocks->blocks[i];

		if (block->family != address->sa.sa_family || block->bits <= bits || !block_has(block, bytes))
			continue;
		found = (int)i;
		bits = block->bits;
	}
	return found;
}
