/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and opens the kernel's rdma_cm device, and tells apart why it can't be used. */
#include "ucma/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "uapi/ucma_abi.h"
#include "ucma/ucma.h"

static const char device_path[] = "/dev/infiniband/rdma_cm";
static const char abi_path[] = "/sys/class/misc/rdma_cm/abi_version";

/* The version that the kernel names; -1 where it names none (sysfs not mounted, as in some containers). */
static int abi_version(const char *path)
{
	char text[16];
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	return atoi(text);
}

int rcm_ucma_dev_open(const char *device, const char *abi)
{
	int version, fd = open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		int ret = rcm_errno();

		rcm_info("%s: can't be opened, errno %d", device, -ret);
		/* A node whose driver is gone says ENXIO. */
		if (ret == -ENOENT || ret == -ENOTDIR || ret == -ENXIO)
			return -ENODEV;
		return ret == -EPERM ? -EACCES : ret;
	}
	version = abi_version(abi);
	if (version >= 0 && version != RDMA_USER_CM_ABI_VERSION) {
		rcm_info("%s: ABI version %d, %d is needed", device, version, RDMA_USER_CM_ABI_VERSION);
		close(fd);
		return -EPROTONOSUPPORT;
	}
	return fd;
}

static int device_open(void)
{
	return rcm_ucma_dev_open(device_path, abi_path);
}

static int device_command(int fd, const void *bytes, size_t len)
{
	ssize_t written = write(fd, bytes, len);

	if (written < 0)
		return rcm_errno();
	return (size_t)written == len ? 0 : -EIO;
}

static void device_close(int fd)
{
	close(fd);
}

const struct rcm_ucma_ops rcm_ucma_device = {
	.name = "rdma_cm",
	.open = device_open,
	.command = device_command,
	.close = device_close,
};
