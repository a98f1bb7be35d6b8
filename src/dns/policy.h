/* SPDX-License-Identifier: BSD-2-Clause */
/* How addresses rank before routes are looked at: RFC 6724's policy table and scopes, as gai.conf(5) may have them. */
#pragma once

#include "base/limits.h"
#include "dns/dns.h"

/* What an address that begins with these bits has. IPv4 addresses are looked up in their mapped form. */
struct rcm_policy_row {
	uint8_t prefix[16];
	uint8_t bits;
	int value;
};

/* The longest prefix first, of equal ones the first of the file; the last matches everything. */
struct rcm_policy_table {
	unsigned count;
	struct rcm_policy_row rows[RCM_POLICY_ROWS];
};

struct rcm_policy {
	struct rcm_policy_table labels;
	struct rcm_policy_table precedences;
	struct rcm_policy_table scopes;		/* of IPv4 addresses */
};

/* What glibc has built in: RFC 3484's, with rows for Teredo and unique local addresses. */
extern const struct rcm_policy rcm_policy_default;

int rcm_policy_find(const struct rcm_policy_table *table, const union rcm_dns_address *address);

/*
 * Reads gai.conf as glibc does. A line that it wouldn't take is none; a kind of which there is no line stays as built
 * in. "reload" is not needed: who asks here reads the file again when it changes. 0; -EFBIG: there are more lines of a
 * kind than there is room for; or what the file could not be read for.
 */
int rcm_policy_read(const char *path, struct rcm_policy *ret_policy);
