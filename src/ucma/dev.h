/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the character device by path, so that its errors can be tested without one. */
#pragma once

/*
 * device: the node; abi: the file that holds the ABI's version. Returns a descriptor (close-on-exec, O_NONBLOCK), or
 * -ENODEV (no node, or no driver behind it), -EACCES, -EPROTONOSUPPORT (a version other than 4), or what open(2) says.
 */
int rcm_ucma_dev_open(const char *device, const char *abi);
