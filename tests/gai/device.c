/* SPDX-License-Identifier: BSD-2-Clause */
/* To be preloaded: a device, so that the system's librdmacm goes to work where there is none. It only looks for one. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#undef ibv_get_device_list

static struct ibv_device device = { .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "none0" };
static struct ibv_device *devices[] = { &device, NULL };

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	if (num_devices)
		*num_devices = 1;
	return devices;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

__be64 ibv_get_device_guid(struct ibv_device *dev)
{
	(void)dev;
	return 1;
}

int ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return 1;
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* The version of the rdma_cm device is all that it reads. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	(void)dir;
	(void)file;
	if (size < 2)
		return -1;
	memcpy(buf, "4", 2);
	return 1;
}
