/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding and opening the rdma_cm device; where and how is a parameter, so that its errors can be tested. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "ucma/chardev.h"

struct rcm_ucma_dev {
	const char *folder;			/* of the node, by its name */
	const char *numbers;			/* of nodes by "major:minor", where it isn't there */
	int (*ask)(struct rcm_chardev *ret_chardev);
	_Atomic(uint64_t) good;			/* number of the node that was good, times 2; 1 for numbers; 0: none */
	_Atomic(uint64_t) missing_until;	/* ns: the kernel isn't asked again so long, as it said there is none */
};

/*
 * Returns a descriptor (close-on-exec; flags: O_NONBLOCK or 0), or -ENODEV (no device, or no node of it here), -EACCES,
 * -EPROTONOSUPPORT (an ABI other than version 4), or what open(2) says. Until the device was good once the kernel is
 * asked for it, by netlink where it has RDMA at all, else and without an answer by sysfs; again where the node is not
 * what it was. It is asked to load the module once a second at most. A node that is another device isn't taken.
 * Any thread.
 */
int rcm_ucma_dev_open(struct rcm_ucma_dev *dev, int flags);

/* Whether fd is that device; any character device, where nothing told its number. */
bool rcm_ucma_dev_is(const struct rcm_ucma_dev *dev, int fd);
