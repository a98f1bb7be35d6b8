/* SPDX-License-Identifier: BSD-2-Clause */
/* What an id is bound to: device, port, addresses and paths, as the kernel tells. */
#include "cm/attach.h"

#include <errno.h>
#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "verbs/device.h"

struct rcm_device *rcm_attach_device(struct rcm_id *id)
{
	struct rcm_device *device;

	rcm_lock_acquire(&id->lock);
	device = id->device;
	rcm_lock_release(&id->lock);
	return device;
}

/* Gives the id its device, unless it has one: the reference is taken over. */
static void attach_set_device(struct rcm_id *id, struct rcm_device *device)
{
	bool taken = false;

	rcm_lock_acquire(&id->queues);
	rcm_lock_acquire(&id->lock);
	if (!id->device && !id->dead) {
		id->laden = true;
		id->device = device;
		id->pub.verbs = device->verbs;
		id->pub.pd = device->pd;
		taken = true;
	}
	rcm_lock_release(&id->lock);
	rcm_lock_release(&id->queues);
	if (!taken)
		rcm_device_put(device);
}

static int attach_open_device(struct rcm_id *id, const struct rcm_ucma_addr *addr)
{
	struct rcm_device *device;
	int ret;

	if (!addr->node_guid)
		return 0;
	if (rcm_attach_device(id))
		return 0;
	ret = rcm_device_get(addr->node_guid, addr->device_index, &device);
	if (ret) {
		rcm_info("id %p: its device, index %lld, can't be opened, errno %d", (void *)id,
			 (long long)addr->device_index, -ret);
		return ret == -ENOMEM ? ret : -ENODEV;
	}
	attach_set_device(id, device);
	return 0;
}

static void attach_copy_gid(union ibv_gid *to, const struct sockaddr_storage *from)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)(const void *)from;

	if (from->ss_family == AF_IB)
		memcpy(to->raw, ib->sib_addr.sib_raw, sizeof(to->raw));
}

static int attach_query_gids(struct rcm_id *id)
{
	struct rdma_ib_addr *gids = &id->pub.route.addr.addr.ibaddr;
	struct rcm_ucma_addr addr;
	int ret;

	ret = rcm_kernel_give(id, rcm_ucma_query_gid, &addr);
	if (ret)
		return ret;
	rcm_lock_acquire(&id->lock);
	attach_copy_gid(&gids->sgid, &addr.src);
	attach_copy_gid(&gids->dgid, &addr.dst);
	gids->pkey = addr.pkey;
	rcm_lock_release(&id->lock);
	return 0;
}

/* False: it is no IP address. */
static bool attach_gid_of_ip(union ibv_gid *to, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)from;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)from;

	*to = (union ibv_gid){ 0 };
	switch (from->ss_family) {
	case AF_INET:
		memset(to->raw + 10, 0xff, 2);
		memcpy(to->raw + 12, &in->sin_addr, 4);
		return true;
	case AF_INET6:
		memcpy(to->raw, &in6->sin6_addr, sizeof(to->raw));
		return true;
	default:
		return false;
	}
}

/* The GIDs of RoCE, which the kernel makes of the addresses in this way, and needn't be asked for. False: they are
 * others. */
static bool attach_derive_gids_locked(struct rcm_id *id, const struct rcm_ucma_addr *addr) RCM_REQUIRES(id->lock)
{
	struct rdma_ib_addr *gids = &id->pub.route.addr.addr.ibaddr;
	union ibv_gid sgid, dgid;

	rcm_lock_assert_held(&id->lock);
	if (!id->device || !rcm_device_is_roce(id->device, addr->port) || !attach_gid_of_ip(&sgid, &addr->src))
		return false;
	/* Of an id that is bound and has no destination yet it is zeros. */
	if (!attach_gid_of_ip(&dgid, &addr->dst) && addr->dst.ss_family != AF_UNSPEC)
		return false;
	*gids = (struct rdma_ib_addr){ .sgid = sgid, .dgid = dgid, .pkey = addr->pkey };
	return true;
}

int rcm_attach(struct rcm_id *id)
{
	struct rcm_ucma_addr addr;
	bool derived;
	int ret;

	ret = rcm_kernel_give(id, rcm_ucma_query_addr, &addr);
	if (ret)
		return ret;
	ret = attach_open_device(id, &addr);
	if (ret)
		return ret;
	rcm_lock_acquire(&id->lock);
	id->pub.route.addr.src_storage = addr.src;
	id->pub.route.addr.dst_storage = addr.dst;
	id->pub.port_num = addr.port;
	derived = attach_derive_gids_locked(id, &addr);
	rcm_lock_release(&id->lock);
	return addr.node_guid && !derived ? attach_query_gids(id) : 0;
}

static void attach_set_paths(struct rcm_id *id, struct ibv_sa_path_rec *paths, int count)
{
	struct ibv_sa_path_rec *unused = paths;

	rcm_lock_acquire(&id->lock);
	/* Whoever destroys it has freed what it had, or is about to. */
	if (!id->dead) {
		unused = id->pub.route.path_rec;
		id->laden = true;
		id->pub.route.path_rec = paths;
		id->pub.route.num_paths = count;
	}
	rcm_lock_release(&id->lock);
	free(unused);
}

int rcm_attach_paths(struct rcm_id *id)
{
	struct ibv_path_data data[RCM_UCMA_PATHS_MAX];
	struct ibv_sa_path_rec *paths = NULL;
	uint32_t count;
	int ret;

	ret = rcm_kernel_give(id, rcm_ucma_query_path, data, &count);
	if (ret)
		return ret;
	if (count) {
		paths = calloc(count, sizeof(*paths));
		if (!paths)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		rcm_ucma_path_decode(&data[i], &paths[i]);
	attach_set_paths(id, paths, (int)count);
	return 0;
}

void rcm_detach(struct rcm_id *id)
{
	struct ibv_sa_path_rec *paths;
	struct rcm_device *device;

	rcm_lock_acquire(&id->queues);
	rcm_lock_acquire(&id->lock);
	device = id->device;
	id->device = NULL;
	paths = id->pub.route.path_rec;
	id->pub.route.path_rec = NULL;
	id->pub.route.num_paths = 0;
	rcm_lock_release(&id->lock);
	rcm_lock_release(&id->queues);
	rcm_device_put(device);
	free(paths);
}

int rcm_attach_xrcd_locked(struct rcm_id *id, struct ibv_xrcd **ret_xrcd)
{
	struct rcm_device *device = rcm_attach_device(id);

	rcm_lock_assert_held(&id->queues);
	return device ? rcm_device_xrcd(device, ret_xrcd) : -EINVAL;
}

struct rcm_depths rcm_attach_depths(struct rcm_id *id)
{
	struct rcm_depths depths = { 0 };

	rcm_lock_acquire(&id->lock);
	if (id->device)
		depths = (struct rcm_depths){
			.responder_resources = id->device->max_responder_resources,
			.initiator_depth = id->device->max_initiator_depth,
		};
	rcm_lock_release(&id->lock);
	return depths;
}
