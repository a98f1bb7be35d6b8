/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes by which equal lookups are known. */
#include "resolve/key.h"

#include <string.h>

#include "base/ascii.h"

enum {
	KIND_HOST = 'h', KIND_SRV = 's', KIND_SERVICE_ID = 'i', KIND_SERVICE_NAME = 'n', KIND_LISTING = 'l',
	KIND_REMOVAL = 'r',
};

/* What stands before the letters of a name has a meaning by its bits. */
static bool key_is_host(const uint8_t *key, size_t len)
{
	return len > RCM_KEY_HOST_TEXT && (key[0] == KIND_HOST || key[0] == KIND_SRV);
}

int rcm_key_compare(const void *a, const void *b, size_t len)
{
	const uint8_t *x = a, *y = b;
	size_t i = RCM_KEY_HOST_TEXT;

	if (!memcmp(x, y, len))
		return 0;
	if (!key_is_host(x, len) || memcmp(x, y, RCM_KEY_HOST_TEXT) != 0)
		return 1;
	while (i < len && rcm_ascii_lower(x[i]) == rcm_ascii_lower(y[i]))
		i++;
	return i < len;
}

unsigned rcm_key_hash(const void *key, unsigned len)
{
	uint8_t low[RCM_KEY_HOST_TEXT + RCM_NODE_MAX];
	const uint8_t *from = key;

	if (!key_is_host(from, len) || len > sizeof(low))
		return rcm_hash(key, len);
	memcpy(low, from, RCM_KEY_HOST_TEXT);
	for (unsigned i = RCM_KEY_HOST_TEXT; i < len; i++)
		low[i] = rcm_ascii_lower(from[i]);
	return rcm_hash(low, len);
}

unsigned rcm_key_host(uint8_t *to, const char *node, int family, enum rcm_dns_source source, bool srv)
{
	uint8_t *at = to;

	*at++ = srv ? KIND_SRV : KIND_HOST;
	*at++ = (uint8_t)family;
	*at++ = (uint8_t)source;
	while (*node)
		*at++ = (uint8_t)*node++;
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

static uint8_t *key_put(uint8_t *at, const void *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

unsigned rcm_key_listing(uint8_t *to, const struct rcm_listing *listing, const struct rcm_hints *hints,
			 const char *service, const struct rcm_gid *port, const void *client,
			 const struct rcm_accept *accept)
{
	uint8_t *at = to;

	*at++ = listing->remove ? KIND_REMOVAL : KIND_LISTING;
	*at++ = (uint8_t)(hints->by_id | listing->by_gid << 1 | listing->by_pkey << 2 | !!service << 3);
	at = key_put(at, port->raw, sizeof(port->raw));
	at = key_put(at, &client, sizeof(client));
	if (hints->by_id)
		at = key_put(at, &hints->service_id, sizeof(hints->service_id));
	if (listing->by_gid)
		at = key_put(at, listing->gid.raw, sizeof(listing->gid.raw));
	if (listing->by_pkey)
		at = key_put(at, &listing->pkey, sizeof(listing->pkey));
	if (service) {
		*at++ = (uint8_t)strlen(service);
		at = key_put(at, service, strlen(service));
	}
	rcm_accept_write(accept, at);
	return (unsigned)(at - to) + rcm_accept_size(accept);
}
