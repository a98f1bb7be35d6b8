/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes by which equal lookups are known. */
#include "resolve/key.h"

#include <string.h>

enum { KIND_HOST = 'h', KIND_SERVICE_ID = 'i', KIND_SERVICE_NAME = 'n' };

unsigned rcm_key_host(uint8_t *to, const char *node, int family, enum rcm_dns_source source)
{
	uint8_t *at = to;

	*at++ = KIND_HOST;
	*at++ = (uint8_t)family;
	*at++ = (uint8_t)source;
	/* ASCII only, whatever the locale: RFC 4343. */
	for (; *node; node++)
		*at++ = (uint8_t)(*node >= 'A' && *node <= 'Z' ? *node | 0x20 : *node);
	return (unsigned)(at - to);
}

unsigned rcm_key_service(uint8_t *to, const struct rcm_hints *hints, const char *service, const struct rcm_gid *port,
			 uint8_t traffic_class, const void *client, const struct rcm_accept *accept)
{
	size_t len = hints->by_id ? sizeof(hints->service_id) : strlen(service);
	uint8_t *at = to;

	*at++ = hints->by_id ? KIND_SERVICE_ID : KIND_SERVICE_NAME;
	*at++ = !!(hints->flags & RAI_NOROUTE);
	*at++ = traffic_class;
	memcpy(at, port->raw, sizeof(port->raw));
	at += sizeof(port->raw);
	memcpy(at, &client, sizeof(client));
	at += sizeof(client);
	*at++ = (uint8_t)len;
	memcpy(at, hints->by_id ? (const void *)&hints->service_id : service, len);
	at += len;
	rcm_accept_write(accept, at);
	return (unsigned)(at - to) + rcm_accept_size(accept);
}
