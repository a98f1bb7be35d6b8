/* SPDX-License-Identifier: BSD-2-Clause */
/* The name whose SRV records are asked for (RFC 2782, "The format of the SRV RR"). Pure. */
#pragma once

#include "addr/hints.h"
#include "base/limits.h"

/*
 * "_service._tcp.node", or "_udp" where the hints are for datagrams. A service that begins with "_" is not given one
 * more, and one that has a dot behind that has its protocol in it. Without a service, node is the whole name. 0;
 * -EINVAL: there is no node, one of both is empty, a service has a dot and no "_", or a service is given with a node
 * that begins with "_"; -ENAMETOOLONG. hints have been checked, but for these two.
 */
int rcm_owner_make(const char *node, const char *service, const struct rcm_hints *hints, char owner[RCM_NODE_MAX + 1]);
