/* SPDX-License-Identifier: BSD-2-Clause */
/* From an address to a device and a route, by the kernel. */
#include "cm/address.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "cm/attach.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/option.h"

enum { PKEY_DEFAULT = 0xffff, PKEY_NUMBER = 0x7fff };

/* The P_Key to reach dst with, where the source has another one: no partition has number 0. */
static uint16_t pkey_for(const struct sockaddr_ib *dst, uint16_t source)
{
	uint16_t pkey = be16toh(dst->sib_pkey);

	if (!pkey)
		pkey = source ? source : PKEY_DEFAULT;
	return (pkey ^ source) & PKEY_NUMBER ? pkey : source;
}

static bool is_ib_host(const union rcm_sockaddr *addr)
{
	return addr->sa.sa_family == AF_IB && !ib_addr_any(&addr->ib.sib_addr) &&
	       !ib_addr_loopback(&addr->ib.sib_addr);
}

/* What a bound id is bound to, as an AF_IB address. */
static void address_bound_locked(struct rcm_id *id, union rcm_sockaddr *ret_src) RCM_REQUIRES(id->lock)
{
	const struct rdma_addr *addr = &id->pub.route.addr;

	rcm_lock_assert_held(&id->lock);
	if (addr->src_storage.ss_family == AF_IB)
		memcpy(ret_src, &addr->src_storage, sizeof(*ret_src));
	else
		rcm_sockaddr_ib(ret_src, addr->addr.ibaddr.sgid.raw, 0, 0, 0);
}

/* What a destination begins with, and what it finds. */
struct address_start {
	bool routed;				/* it is refused, and nothing has begun */
	bool settled;				/* the id was so before */
	bool elsewhere;				/* the kernel's id is bound to another partition, or not as AF_IB */
	union rcm_sockaddr src;			/* where so: what it has to be bound to */
};

static bool address_is_elsewhere_locked(struct rcm_id *id, const union rcm_sockaddr *dst, union rcm_sockaddr *ret_src)
	RCM_REQUIRES(id->lock)
{
	uint16_t source, pkey;

	rcm_lock_assert_held(&id->lock);
	if (!is_ib_host(dst) || !id->bound || !id->has_handle || !id->pub.verbs || id->chain.settled ||
	    !LIST_EMPTY(&id->mcasts))
		return false;
	address_bound_locked(id, ret_src);
	source = be16toh(ret_src->ib.sib_pkey);
	pkey = pkey_for(&dst->ib, source);
	ret_src->ib.sib_pkey = htobe16(pkey);
	return pkey != source;
}

/* Settled before the command: its event may be delivered by another thread before this one goes on. */
static struct address_start address_begin(struct rcm_id *id, const union rcm_sockaddr *dst)
{
	struct address_start start = { .routed = false };

	rcm_lock_acquire(&id->lock);
	start.routed = id->chain.routed;
	if (!start.routed) {
		start.elsewhere = address_is_elsewhere_locked(id, dst, &start.src);
		start.settled = id->chain.settled;
		id->chain.settled = true;
	}
	rcm_lock_release(&id->lock);
	return start;
}

/*
 * The kernel asks for the path, and readies the QP, with the P_Key of BIND, whatever RESOLVE_ADDR says (docs/af-ib.md),
 * and binds once: so the id gets another kernel's id, bound to the same GID in the destination's partition.
 */
static int address_move(struct rcm_id *id, const union rcm_sockaddr *src)
{
	int ret = rcm_kernel_renew(id);

	if (ret)
		return ret;
	ret = rcm_option_replay(id);
	if (!ret)
		ret = rcm_kernel_give(id, rcm_ucma_bind, &src->sa, rcm_sockaddr_len(AF_IB));
	if (!ret)
		return rcm_attach(id);
	rcm_lock_acquire(&id->lock);
	id->bound = false;
	rcm_lock_release(&id->lock);
	return ret;
}

/* Returns what it was. */
static bool address_set(struct rcm_id *id, bool *flag, bool value)
{
	bool before;

	rcm_lock_acquire(&id->lock);
	before = *flag;
	*flag = value;
	rcm_lock_release(&id->lock);
	return before;
}

/*
 * The kernel refuses a second destination to an id that has a route, but takes a part, its scope, before it looks,
 * and finds the id by that in a tree of all that have routes. What it can't find there it frees and leaves in the tree,
 * and dies of it later (docs/testing.md). It says the same of a second address to be bound to, unharmed.
 */
static int address_refuse(struct rcm_id *id, const union rcm_sockaddr *dst)
{
	int ret = rcm_kernel_give(id, rcm_ucma_bind, &dst->sa, rcm_sockaddr_len(dst->sa.sa_family));

	return ret ? ret : -EINVAL;
}

static int address_give(struct rcm_id *id, const union rcm_sockaddr *src, const union rcm_sockaddr *dst, int timeout_ms)
{
	union rcm_sockaddr from;

	if (src) {
		from = *src;
		if (is_ib_host(dst) && from.sa.sa_family == AF_IB)
			from.ib.sib_pkey = htobe16(pkey_for(&dst->ib, be16toh(from.ib.sib_pkey)));
	}
	return rcm_kernel_give(id, rcm_ucma_resolve_addr, src ? &from.sa : NULL,
			       src ? rcm_sockaddr_len(from.sa.sa_family) : 0, &dst->sa,
			       rcm_sockaddr_len(dst->sa.sa_family), (uint32_t)timeout_ms);
}

static int address_send(struct rcm_id *id, const union rcm_sockaddr *src, const union rcm_sockaddr *dst,
			int timeout_ms)
{
	struct address_start start = address_begin(id, dst);
	int ret = 0;

	if (start.routed)
		return address_refuse(id, dst);
	if (start.elsewhere)
		ret = address_move(id, &start.src);
	if (!ret)
		ret = address_give(id, src, dst, timeout_ms);
	if (ret)
		address_set(id, &id->chain.settled, start.settled);
	return ret;
}

static int address_send_route(struct rcm_id *id, int timeout_ms)
{
	bool routed = address_set(id, &id->chain.routed, true);
	int ret = rcm_kernel_give(id, rcm_ucma_resolve_route, (uint32_t)timeout_ms);

	if (ret)
		address_set(id, &id->chain.routed, routed);
	return ret;
}

/* The application's view of where it goes, until the kernel's comes with the event. */
struct destination {
	union rcm_sockaddr addr;
	bool due, under_way;			/* as in the id's chain */
};

static void address_swap_destination(struct rcm_id *id, struct destination *to)
{
	struct destination before = { .due = false };

	rcm_lock_acquire(&id->lock);
	memcpy(&before.addr, &id->pub.route.addr.dst_storage, sizeof(before.addr));
	before.due = id->chain.address_due;
	before.under_way = id->chain.under_way;
	memcpy(&id->pub.route.addr.dst_storage, &to->addr, sizeof(to->addr));
	id->chain.address_due = to->due;
	id->chain.under_way = to->under_way;
	rcm_lock_release(&id->lock);
	*to = before;
}

int rcm_address_resolve(struct rcm_id *id, const struct sockaddr *src, const struct sockaddr *dst,
			   int timeout_ms)
{
	struct destination other = { .due = false };
	union rcm_sockaddr from, to;
	int ret;

	if (!rcm_sockaddr_copy(&to, dst, 0) || (src && !rcm_sockaddr_copy(&from, src, 0)))
		return -EINVAL;
	/* Before the command: its event may be delivered by another thread before this one goes on. */
	other.addr = to;
	address_swap_destination(id, &other);
	ret = address_send(id, src ? &from : NULL, &to, timeout_ms);
	/* Refused: a peer that the id has already stays what it was. */
	if (ret)
		address_swap_destination(id, &other);
	return ret;
}

/* True where the address has to be resolved first: *ret_dst. */
static bool chain_begin(struct rcm_id *id, int timeout_ms, union rcm_sockaddr *ret_dst)
{
	bool due;

	rcm_lock_acquire(&id->lock);
	due = id->chain.address_due;
	if (due) {
		id->chain.address_due = false;
		id->chain.under_way = true;
		id->chain.route_timeout_ms = timeout_ms;
		memcpy(ret_dst, &id->pub.route.addr.dst_storage, sizeof(*ret_dst));
	}
	rcm_lock_release(&id->lock);
	return due;
}

/* Whether a route waits for this address; *ret_timeout_ms of it. */
static bool chain_end(struct rcm_id *id, int *ret_timeout_ms)
{
	bool chained;

	rcm_lock_acquire(&id->lock);
	chained = id->chain.under_way;
	id->chain.under_way = false;
	*ret_timeout_ms = id->chain.route_timeout_ms;
	rcm_lock_release(&id->lock);
	return chained;
}

int rcm_address_resolve_route(struct rcm_id *id, int timeout_ms)
{
	struct destination other = { .due = true };
	union rcm_sockaddr dst;
	int ret;

	if (!chain_begin(id, timeout_ms, &dst))
		return address_send_route(id, timeout_ms);
	ret = address_send(id, NULL, &dst, timeout_ms);
	other.addr = dst;
	/* Refused: it may be called again. */
	if (ret)
		address_swap_destination(id, &other);
	return ret;
}

static int address_deliver(struct rcm_event *event)
{
	struct rcm_id *id = event->id;
	int timeout_ms, ret = rcm_attach(id);

	/* Another thread destroys it, and its handle is nobody's now, or somebody else's. */
	if (ret && rcm_id_is_dead(id))
		return ret;
	rcm_kernel_event_param(event, id);
	if (!chain_end(id, &timeout_ms)) {
		if (ret)
			rcm_event_retype(event, RDMA_CM_EVENT_ADDR_ERROR, ret);
		return 0;
	}
	if (!ret)
		ret = address_send_route(id, timeout_ms);
	if (!ret)
		return -EINPROGRESS;
	rcm_event_retype(event, RDMA_CM_EVENT_ROUTE_ERROR, ret);
	return 0;
}

static int address_deliver_error(struct rcm_event *event)
{
	int timeout_ms;

	rcm_kernel_event_param(event, event->id);
	address_set(event->id, &event->id->chain.settled, false);
	if (chain_end(event->id, &timeout_ms))
		rcm_event_retype(event, RDMA_CM_EVENT_ROUTE_ERROR, event->pub.status);
	return 0;
}

static int address_deliver_route(struct rcm_event *event)
{
	int ret = rcm_attach_paths(event->id);

	if (ret && rcm_id_is_dead(event->id))
		return ret;
	rcm_kernel_event_param(event, event->id);
	if (ret)
		rcm_event_retype(event, RDMA_CM_EVENT_ROUTE_ERROR, ret);
	return 0;
}

/* Which step, and why, where the status alone is hard to read. */
static const char *address_text(const struct rcm_event *event)
{
	switch (event->pub.status) {
	case -ENODEV:
		return event->pub.event == RDMA_CM_EVENT_ADDR_ERROR ?
		       "resolving the address: no RDMA device that this process sees reaches it" :
		       "resolving the route: the device can't be used";
	case -ETIMEDOUT:
		return event->pub.event == RDMA_CM_EVENT_ADDR_ERROR ?
		       "resolving the address: no neighbour answered in time" :
		       "resolving the route: no answer in time";
	case -ENETUNREACH:
	case -EHOSTUNREACH:
		return "resolving the address: there is no route to it";
	default:
		return NULL;
	}
}

const struct rcm_event_ops rcm_address_resolved_ops = {
	.deliver = address_deliver,
	.text = address_text,
	.free = rcm_kernel_event_free,
};

const struct rcm_event_ops rcm_address_error_ops = {
	.deliver = address_deliver_error,
	.text = address_text,
	.free = rcm_kernel_event_free,
};

const struct rcm_event_ops rcm_address_route_ops = {
	.deliver = address_deliver_route,
	.text = address_text,
	.free = rcm_kernel_event_free,
};
