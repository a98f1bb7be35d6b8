/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks RDMA netlink for the rdma_cm character device. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* What the kernel says of the device. */
struct rcm_chardev {
	char name[64];			/* of its node, without a folder */
	dev_t number;			/* of its node; 0: not told */
	int64_t abi;			/* version; -1: not told */
};

/*
 * One exchange with the kernel (RDMA_NLDEV_CMD_GET_CHARDEV, Linux 5.2), which loads the module that has the device
 * where it isn't loaded yet, and may wait for that. Needs no privilege. 0; -ENODEV: the kernel has no such device;
 * another -errno: it can't be asked.
 */
int rcm_chardev_ask(struct rcm_chardev *ret_chardev);
