/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and opens the kernel's rdma_cm device, and tells apart why it can't be used. */
#include "ucma/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/sysfs.h"
#include "uapi/ucma_abi.h"
#include "ucma/ucma.h"

static const char device_name[] = "rdma_cm";

/* Where /sys isn't mounted either, as in some containers, nothing is told, and the node is believed. */
static int dev_from_sysfs(struct rcm_chardev *ret_chardev)
{
	struct rcm_chardev chardev = { .abi = -1 };
	unsigned number[2];
	char line[32];

	snprintf(chardev.name, sizeof(chardev.name), "%s", device_name);
	if (!rcm_sysfs_line(line, sizeof(line), "class/misc/%s/dev", device_name) &&
	    sscanf(line, "%u:%u", &number[0], &number[1]) == 2)
		chardev.number = makedev(number[0], number[1]);
	else if (rcm_sysfs_has("class/misc"))
		return -ENODEV;
	if (!rcm_sysfs_line(line, sizeof(line), "class/misc/%s/abi_version", device_name) && *line)
		chardev.abi = atoi(line);
	*ret_chardev = chardev;
	return 0;
}

/* The kernel has a process started that loads modules: not again and again, and not on hosts that don't know RDMA. */
static int dev_from_kernel(struct rcm_ucma_dev *dev, struct rcm_chardev *ret_chardev)
{
	uint64_t now = rcm_clock_now();
	int ret;

	if (now < atomic_load(&dev->missing_until) || !rcm_sysfs_has("class/infiniband"))
		return -EAGAIN;
	ret = dev->ask(ret_chardev);
	if (ret == -ENODEV)
		atomic_store(&dev->missing_until, now + RCM_NS_PER_S);
	return ret;
}

/* number 0: any is taken. */
static int dev_open_node(const char *path, dev_t number, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0) {
		int ret = rcm_errno();

		rcm_info("%s: can't be opened, errno %d", path, -ret);
		/* A node whose driver is gone says ENXIO. */
		if (ret == -ENOENT || ret == -ENOTDIR || ret == -ENXIO)
			return -ENODEV;
		return ret == -EPERM ? -EACCES : ret;
	}
	if (number && (fstat(fd, &st) || st.st_rdev != number)) {
		rcm_info("%s: is not device %u:%u", path, major(number), minor(number));
		close(fd);
		return -ENODEV;
	}
	return fd;
}

/* False: it is too long. */
static bool dev_join(char *path, size_t size, const char *folder, const char *name)
{
	if (strlen(folder) + 1 + strlen(name) >= size)
		return false;
	stpcpy(stpcpy(stpcpy(path, folder), "/"), name);
	return true;
}

static int dev_open_in(const struct rcm_ucma_dev *dev, bool by_number, const char *name, dev_t number, int flags)
{
	char path[256], by[32];

	if (by_number)
		snprintf(by, sizeof(by), "%u:%u", major(number), minor(number));
	/* Not by snprintf(), which would be half of what a channel costs this library. */
	if (!dev_join(path, sizeof(path), by_number ? dev->numbers : dev->folder, by_number ? by : name))
		return -ENODEV;
	return dev_open_node(path, number, flags);
}

/* Where udev names nodes its own way, or a container has got this one alone, its number leads there. */
static int dev_find(struct rcm_ucma_dev *dev, int flags)
{
	struct rcm_chardev chardev;
	bool by_number = false;
	int ret, fd;

	ret = dev_from_kernel(dev, &chardev);
	if (ret && ret != -ENODEV)
		ret = dev_from_sysfs(&chardev);
	if (ret)
		return ret;
	if (chardev.abi >= 0 && chardev.abi != RDMA_USER_CM_ABI_VERSION) {
		rcm_info("%s: ABI version %lld, %d is needed", device_name, (long long)chardev.abi,
			 RDMA_USER_CM_ABI_VERSION);
		return -EPROTONOSUPPORT;
	}
	fd = dev_open_in(dev, false, chardev.name, chardev.number, flags);
	if (fd == -ENODEV && chardev.number) {
		by_number = true;
		fd = dev_open_in(dev, true, NULL, chardev.number, flags);
	}
	if (fd >= 0)
		atomic_store(&dev->good, chardev.number << 1 | by_number);
	return fd;
}

int rcm_ucma_dev_open(struct rcm_ucma_dev *dev, int flags)
{
	uint64_t good = atomic_load(&dev->good);
	int fd = -ENODEV;

	if (good)
		fd = dev_open_in(dev, good & 1, device_name, good >> 1, flags);
	/* Its module may have come anew, with another number. */
	return fd == -ENODEV ? dev_find(dev, flags) : fd;
}

bool rcm_ucma_dev_is(const struct rcm_ucma_dev *dev, int fd)
{
	dev_t number = atomic_load(&dev->good) >> 1;
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) && (!number || st.st_rdev == number);
}

static struct rcm_ucma_dev the_dev = { .folder = "/dev/infiniband", .numbers = "/dev/char", .ask = rcm_chardev_ask };

static int dev_open(int flags)
{
	return rcm_ucma_dev_open(&the_dev, flags);
}

static bool dev_is(int fd)
{
	return rcm_ucma_dev_is(&the_dev, fd);
}

/* Not write(2), which is a cancellation point: commands are given under locks, and most end at once. */
static int device_command(int fd, const void *bytes, size_t len)
{
	ssize_t written = syscall(SYS_write, fd, bytes, len);

	if (written < 0)
		return rcm_errno();
	return (size_t)written == len ? 0 : -EIO;
}

static void dev_close(int fd)
{
	close(fd);
}

const struct rcm_ucma_ops rcm_ucma_device = {
	.name = "rdma_cm",
	.open = dev_open,
	.command = device_command,
	.close = dev_close,
	.is = dev_is,
};
