/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes by which equal lookups are known. Pure. */
#pragma once

#include "addr/hints.h"
#include "base/limits.h"
#include "base/table.h"
#include "dns/dns.h"
#include "resolve/accept.h"
#include "resolve/question.h"
#include "sa/sa.h"

/* Longest key of a service, but for what it accepts; one of a name takes 3 bytes more than the name. */
enum { RCM_KEY_SERVICE_MAX = 28 + RCM_SERVICE_NAME_MAX, RCM_KEY_LISTING_MAX = 60 + 64 };

enum { RCM_KEY_HOST_TEXT = 3 };		/* where in the key of a name its letters are, as they are */

/* A name, of which case doesn't count, a trailing dot does; its addresses or its SRV records. to: 3 + strlen(node)
 * bytes. Returns the length. */
unsigned rcm_key_host(uint8_t *to, const char *node, int family, enum rcm_dns_source source, bool srv);

/*
 * A service of the SA, of which case counts. client: any pointer that tells SA clients apart. to: RCM_KEY_SERVICE_MAX
 * bytes and rcm_accept_size(). Returns the length.
 */
unsigned rcm_key_service(uint8_t *to, const struct rcm_hints *hints, const char *service, const struct rcm_gid *port,
			 uint8_t traffic_class, const void *client, const struct rcm_accept *accept);

/* Records of the SA that are listed, or one that is removed. service: NULL: of any name. to: RCM_KEY_LISTING_MAX bytes
 * and rcm_accept_size(). Returns the length. */
unsigned rcm_key_listing(uint8_t *to, const struct rcm_listing *listing, const struct rcm_hints *hints,
			 const char *service, const struct rcm_gid *port, const void *client,
			 const struct rcm_accept *accept);

/* Of two of one length: 0: they are the same. */
int rcm_key_compare(const void *a, const void *b, size_t len);
unsigned rcm_key_hash(const void *key, unsigned len);

/* Tables in files that include this are of such keys. */
#undef HASH_KEYCMP
#define HASH_KEYCMP(a, b, len) rcm_key_compare(a, b, len)
