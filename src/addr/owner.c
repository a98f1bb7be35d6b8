/* SPDX-License-Identifier: BSD-2-Clause */
/* The name whose SRV records are asked for. */
#include "addr/owner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { LABEL_MAX = 63 };

int rcm_owner_make(const char *node, const char *service, const struct rcm_hints *hints, char owner[RCM_NODE_MAX + 1])
{
	bool given = service && *service == '_', whole = given && strchr(service, '.');
	const char *protocol = hints->socket_type == SOCK_DGRAM ? "._udp" : "._tcp";
	int len;

	if (!node || !*node || (service && (!*service || *node == '_' || (!given && strchr(service, '.')))))
		return -EINVAL;
	if (service && !whole && strlen(service) + !given > LABEL_MAX)
		return -ENAMETOOLONG;
	/* The root has no label of its own for the dot to stand before. */
	if (service && strcmp(node, ".") == 0)
		node = "";
	if (service)
		len = snprintf(owner, RCM_NODE_MAX + 1, "%s%s%s.%s", given ? "" : "_", service, whole ? "" : protocol,
			       node);
	else
		len = snprintf(owner, RCM_NODE_MAX + 1, "%s", node);
	return len > RCM_NODE_MAX ? -ENAMETOOLONG : 0;
}
