/* SPDX-License-Identifier: BSD-2-Clause */
/* The local side: whether there is a device, what an AF_IB address binds to, which port asks the SA. */
#include "cm/local.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/sysfs.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "sakernel/sa_kernel.h"

static int local_found_device(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return 1;
}

/* What was there is believed to be there for a second: /sys isn't read for every channel and id. */
static int local_look_for_device(void)
{
	static _Atomic(uint64_t) believed_until;
	uint64_t now = rcm_clock_lately();
	int ret;

	if (now < atomic_load_explicit(&believed_until, memory_order_relaxed))
		return 0;
	ret = rcm_sysfs_each(local_found_device, NULL, "class/infiniband");
	if (ret <= 0)
		return rcm_is_want(ret) ? ret : -ENODEV;
	atomic_store_explicit(&believed_until, now + RCM_NS_PER_S, memory_order_relaxed);
	return 0;
}

/* The best of all ports that may have an SA, which one of Ethernet never has: 0, -EACCES, -ENODEV. */
static int umad_usable(void)
{
	struct rcm_sa_port *ports = calloc(RCM_SA_PORTS_MAX, sizeof(*ports));
	int best = -ENODEV, count, ret;

	if (!ports)
		return -ENOMEM;
	count = rcm_sa_ports(ports, RCM_SA_PORTS_MAX);
	if (rcm_is_want(count))
		best = count;
	for (int i = 0; i < count && best; i++) {
		ret = ports[i].infiniband ? rcm_sa_umad_usable(&ports[i].gid) : -ENODEV;
		if (!ret || ret == -EACCES || rcm_is_want(ret))
			best = ret;
	}
	free(ports);
	return best;
}

static bool is_deviceless(void)
{
	const char *text = secure_getenv("RAI_DEVICELESS");

	return text && !strcmp(text, "1");
}

int rcm_local_usable(const struct rcm_channel *channel)
{
	int present = local_look_for_device(), kernel = -ENODEV, umad;

	if ((channel->ucma.fd >= 0 && !present) || is_deviceless())
		return 0;
	if (rcm_is_want(present))
		return present;
	if (!present)
		kernel = rcm_ucma_usable();
	umad = umad_usable();
	if (!umad || rcm_is_want(umad))
		return umad;
	if (kernel != -ENODEV)
		return kernel;
	if (umad == -EACCES)
		return umad;
	return present ? -ENODEV : -ENOENT;
}

/* Whether an id of port space ps may have a service id of this prefix (shared by the kernel: an RDMA_PS_IB id may have
 * those of TCP and UDP too). */
static bool prefix_fits(enum rdma_port_space ps, uint64_t prefix)
{
	uint64_t own = (uint64_t)ps << 16;

	if (ps == RDMA_PS_IB && (prefix == RDMA_IB_IP_PS_TCP || prefix == RDMA_IB_IP_PS_UDP))
		return true;
	return prefix == own;
}

/* Of Linux's default range of ephemeral ports. Not arc4random_uniform(), which glibc has since 2.36 only. */
static uint16_t ephemeral_port(void)
{
	uint64_t random;

	rcm_random_fill(&random, sizeof(random));
	return (uint16_t)(32768 + random % (60999 - 32768 + 1));
}

static int complete_sid(struct sockaddr_ib *ib, enum rdma_port_space ps)
{
	uint64_t sid = be64toh(ib->sib_sid) & be64toh(ib->sib_sid_mask);
	uint64_t prefix = sid & RDMA_IB_IP_PS_MASK, port = sid & RDMA_IB_IP_PORT_MASK;

	if (!prefix)
		prefix = (uint64_t)ps << 16;
	if (!prefix_fits(ps, prefix))
		return -EPROTONOSUPPORT;
	ib->sib_sid = htobe64(prefix | (port ? port : ephemeral_port()));
	ib->sib_sid_mask = UINT64_MAX;
	return 0;
}

int rcm_local_bind(union rcm_sockaddr *addr, enum rdma_port_space ps, struct rcm_sa_port *ret_port)
{
	struct sockaddr_ib *ib = &addr->ib;
	struct rcm_sa_port port = { .number = 0 };
	struct rcm_gid gid;
	int ret = 0;

	memcpy(gid.raw, ib->sib_addr.sib_raw, sizeof(gid.raw));
	if (!ib_addr_any(&ib->sib_addr) && !ib_addr_loopback(&ib->sib_addr))
		ret = rcm_sa_port_by_gid(&gid, &port);
	if (!ret)
		ret = complete_sid(ib, ps);
	if (!ret)
		*ret_port = port;
	return ret;
}

/* Of an id that the kernel bound: by the GID that the kernel tells. */
static int local_port_from_kernel(struct rcm_id *id, struct rcm_sa_port *ret_port)
{
	const struct sockaddr_ib *ib;
	struct rcm_ucma_addr addr;
	struct rcm_gid gid;
	int ret;

	ret = rcm_kernel_give(id, rcm_ucma_query_gid, &addr);
	if (ret)
		return ret;
	if (!addr.node_guid || addr.src.ss_family != AF_IB)
		return -EINVAL;
	ib = (const struct sockaddr_ib *)(const void *)&addr.src;
	memcpy(gid.raw, ib->sib_addr.sib_raw, sizeof(gid.raw));
	ret = rcm_sa_port_by_gid(&gid, ret_port);
	/* A GID that no umad port has is that of a device without an SA: RoCE, iWARP. */
	return ret == -ENODEV ? -ENOTSUP : ret;
}

static int local_port_of(struct rcm_id *id, struct rcm_sa_port *ret_port)
{
	struct rcm_sa_port port;
	int ret = 0;

	rcm_lock_acquire(&id->lock);
	port = id->port;
	rcm_lock_release(&id->lock);
	/* rdma_resolve_addr() binds an id too, so the kernel is asked in any case. */
	if (rcm_kernel_has(id))
		ret = local_port_from_kernel(id, &port);
	else if (!port.number)
		ret = -EINVAL;
	if (!ret)
		*ret_port = port;
	return ret;
}

int rcm_local_sa_port(struct rcm_id *id, struct rcm_gid *ret_gid, const struct rcm_sa_ops **ret_sa)
{
	struct rcm_sa_port port;
	bool kernel;
	int ret;

	ret = local_port_of(id, &port);
	if (ret)
		return ret;
	if (!port.infiniband)
		return -ENOTSUP;
	/* The kernel gives up after two seconds, cuts long answers, and doesn't say what the SA did. */
	ret = rcm_sa_umad_usable(&port.gid);
	kernel = ret && rcm_sa_kernel_usable();
	if (ret && !kernel)
		return ret;
	*ret_gid = port.gid;
	*ret_sa = kernel ? &rcm_sa_kernel : &rcm_sa_umad;
	return 0;
}

/* Zeros where it is of another family. */
static struct sockaddr_ib local_bound(struct rcm_id *id)
{
	struct sockaddr_ib ib;

	rcm_lock_acquire(&id->lock);
	memcpy(&ib, &id->pub.route.addr.src_storage, sizeof(ib));
	rcm_lock_release(&id->lock);
	return ib.sib_family == AF_IB ? ib : (struct sockaddr_ib){ 0 };
}

int rcm_local_publish_port(struct rcm_id *id, struct rcm_gid *ret_gid, struct sockaddr_ib *ret_bound)
{
	struct rcm_sa_port port;
	int ret = local_port_of(id, &port);

	if (!ret && !port.infiniband)
		ret = -ENOTSUP;
	if (!ret)
		ret = rcm_sa_umad_usable(&port.gid);
	if (ret)
		return ret;
	*ret_gid = port.gid;
	*ret_bound = local_bound(id);
	return 0;
}

uint8_t rcm_local_traffic_class(struct rcm_id *id)
{
	struct sockaddr_ib ib = local_bound(id);

	return (uint8_t)(be32toh(ib.sib_flowinfo) >> 20);
}
