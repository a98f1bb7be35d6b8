/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists that the kernel gives by rtnetlink(7): addresses, routes, rules. */
#pragma once

#include <linux/netlink.h>

/* Asks for a list (RTM_GETADDR, AF_UNSPEC), and hands out its messages; take ends it by -errno. 0 or -errno; a
 * list that the kernel was built without is empty. Waits for nothing. */
int rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
