/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA devices as libibverbs shows them, each opened once, when first needed. */
#include "verbs/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"

static struct rcm_lock lock = RCM_LOCK_INIT;
static LIST_HEAD(, rcm_device) opened RCM_GUARDED_BY(lock) = LIST_HEAD_INITIALIZER(opened);

static bool is_that(__be64 guid, int64_t index, __be64 other_guid, int other_index)
{
	if (guid != other_guid)
		return false;
	/* GUIDs can repeat (virtual devices); the index tells such apart wherever both sides know it. */
	return index < 0 || other_index < 0 || index == other_index;
}

static void device_close(struct rcm_device *device)
{
	struct ibv_xrcd *xrcd = atomic_load(&device->xrcd);

	if (xrcd)
		ibv_close_xrcd(xrcd);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	ibv_close_device(device->verbs);
	free(device);
}

/* iWARP has Ethernet, too. */
static uint64_t device_roce_ports(struct ibv_context *verbs, unsigned count)
{
	struct ibv_port_attr attr;
	uint64_t ports = 0;

	if (verbs->device->transport_type != IBV_TRANSPORT_IB)
		return 0;
	for (unsigned port = 1; port <= count && port < 64; port++)
		if (!ibv_query_port(verbs, (uint8_t)port, &attr) && attr.link_layer == IBV_LINK_LAYER_ETHERNET)
			ports |= UINT64_C(1) << port;
	return ports;
}

static int device_open(struct ibv_device *found, struct rcm_device **ret_device)
{
	struct rcm_device *device = calloc(1, sizeof(*device));
	struct ibv_device_attr attr;
	int ret;

	if (!device)
		return -ENOMEM;
	device->verbs = ibv_open_device(found);
	if (!device->verbs) {
		ret = rcm_errno();
		rcm_error("device %s: can't be opened, errno %d", ibv_get_device_name(found), -ret);
		free(device);
		return ret;
	}
	device->guid = ibv_get_device_guid(found);
	device->index = ibv_get_device_index(found);
	device->pd = ibv_alloc_pd(device->verbs);
	/* Unlike the others this one returns its errno. */
	ret = device->pd ? -ibv_query_device(device->verbs, &attr) : rcm_errno();
	if (ret) {
		device_close(device);
		return ret;
	}
	device->max_responder_resources = (uint8_t)(attr.max_qp_rd_atom < 255 ? attr.max_qp_rd_atom : 255);
	device->max_initiator_depth =
		(uint8_t)(attr.max_qp_init_rd_atom < 255 ? attr.max_qp_init_rd_atom : 255);
	device->roce_ports = device_roce_ports(device->verbs, attr.phys_port_cnt);
	*ret_device = device;
	return 0;
}

/* The one that is open already, with a reference for the caller; or NULL. */
static struct rcm_device *device_find_locked(__be64 guid, int64_t index) RCM_REQUIRES(lock)
{
	struct rcm_device *device;

	rcm_lock_assert_held(&lock);
	LIST_FOREACH(device, &opened, link) {
		if (!device->removed && is_that(guid, index, device->guid, device->index)) {
			device->refs++;
			return device;
		}
	}
	return NULL;
}

static struct rcm_device *device_find(__be64 guid, int64_t index)
{
	struct rcm_device *device;

	rcm_lock_acquire(&lock);
	device = device_find_locked(guid, index);
	rcm_lock_release(&lock);
	return device;
}

/* Enters a device that was opened just now; where another thread was first, that one's serves. */
static struct rcm_device *device_enter(struct rcm_device *device)
{
	struct rcm_device *other;

	rcm_lock_acquire(&lock);
	other = device_find_locked(device->guid, device->index);
	if (!other) {
		device->refs = 1;
		LIST_INSERT_HEAD(&opened, device, link);
	}
	rcm_lock_release(&lock);
	if (!other)
		return device;
	device_close(device);
	return other;
}

static int get_listed(struct ibv_device *listed, struct rcm_device **ret_device)
{
	struct rcm_device *device = device_find(ibv_get_device_guid(listed), ibv_get_device_index(listed));
	int ret = 0;

	if (!device) {
		ret = device_open(listed, &device);
		if (!ret)
			device = device_enter(device);
	}
	if (!ret)
		*ret_device = device;
	return ret;
}

static bool is_listed(const struct rcm_device *device, struct ibv_device **list)
{
	for (; *list; list++)
		if (is_that(device->guid, device->index, ibv_get_device_guid(*list), ibv_get_device_index(*list)))
			return true;
	return false;
}

/* Notices which devices are gone, and closes those that nobody uses. */
static void device_sweep(struct ibv_device **list)
{
	LIST_HEAD(, rcm_device) gone = LIST_HEAD_INITIALIZER(gone);
	struct rcm_device *device, *next;

	rcm_lock_acquire(&lock);
	for (device = LIST_FIRST(&opened); device; device = next) {
		next = LIST_NEXT(device, link);
		if (is_listed(device, list))
			continue;
		device->removed = true;
		if (device->refs || device->pinned)
			continue;
		LIST_REMOVE(device, link);
		LIST_INSERT_HEAD(&gone, device, link);
	}
	rcm_lock_release(&lock);
	while ((device = LIST_FIRST(&gone))) {
		LIST_REMOVE(device, link);
		device_close(device);
	}
}

static int list_devices(struct ibv_device ***ret_list)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return errno == ENOMEM ? -ENOMEM : -ENODEV;
	device_sweep(list);
	*ret_list = list;
	return 0;
}

int rcm_device_get(__be64 guid, int64_t index, struct rcm_device **ret_device)
{
	struct rcm_device *device = device_find(guid, index);
	struct ibv_device **list;
	int ret;

	if (device) {
		*ret_device = device;
		return 0;
	}
	ret = list_devices(&list);
	if (ret)
		return ret;
	ret = -ENODEV;
	for (struct ibv_device **at = list; *at; at++) {
		if (is_that(guid, index, ibv_get_device_guid(*at), ibv_get_device_index(*at))) {
			ret = get_listed(*at, ret_device);
			break;
		}
	}
	ibv_free_device_list(list);
	return ret;
}

void rcm_device_put(struct rcm_device *device)
{
	bool close;

	if (!device)
		return;
	rcm_lock_acquire(&lock);
	close = !--device->refs && device->removed && !device->pinned;
	if (close)
		LIST_REMOVE(device, link);
	rcm_lock_release(&lock);
	if (close)
		device_close(device);
}

void rcm_device_set_removed(struct rcm_device *device)
{
	rcm_lock_acquire(&lock);
	device->removed = true;
	rcm_lock_release(&lock);
}

int rcm_device_xrcd(struct rcm_device *device, struct ibv_xrcd **ret_xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = atomic_load(&device->xrcd), *mine;

	if (!xrcd) {
		mine = ibv_open_xrcd(device->verbs, &attr);
		if (!mine)
			return rcm_errno();
		if (atomic_compare_exchange_strong(&device->xrcd, &xrcd, mine))
			xrcd = mine;
		else
			ibv_close_xrcd(mine);
	}
	*ret_xrcd = xrcd;
	return 0;
}

static void device_pin(struct rcm_device *device)
{
	rcm_lock_acquire(&lock);
	device->pinned = true;
	rcm_lock_release(&lock);
	rcm_device_put(device);
}

int rcm_device_list_open(struct ibv_context ***ret_list, int *ret_count)
{
	struct ibv_context **contexts;
	struct ibv_device **list;
	struct rcm_device *device;
	int count = 0, skipped = 0, ret = list_devices(&list);

	if (ret)
		return ret;
	while (list[count])
		count++;
	contexts = calloc((size_t)count + 1, sizeof(struct ibv_context *));
	if (!contexts) {
		ret = -ENOMEM;
		goto out;
	}
	count = 0;
	for (struct ibv_device **at = list; *at; at++) {
		ret = get_listed(*at, &device);
		if (ret) {
			skipped = ret;
			continue;
		}
		contexts[count++] = device->verbs;
		device_pin(device);
	}
	/* Without means there are devices, and the caller may try again. */
	ret = count ? 0 : rcm_is_want(skipped) ? skipped : -ENODEV;
	if (ret) {
		free(contexts);
		goto out;
	}
	*ret_list = contexts;
	*ret_count = count;
out:
	ibv_free_device_list(list);
	return ret;
}

__attribute__((constructor)) static void device_watch_forks(void)
{
	rcm_fork_watch_lock(RCM_FORK_DEVICES, &lock);
}
