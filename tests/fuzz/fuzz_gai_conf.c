/* SPDX-License-Identifier: BSD-2-Clause */
/* A gai.conf, and the order in which it puts addresses. */
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "dns/order.h"
#include "file.h"
#include "fuzz.h"

static const char *const texts[] = {
	"192.0.2.1", "10.1.2.3", "127.0.0.1", "169.254.1.1", "2001:db8::7", "2001:0:1::1", "2002:c000:201::1", "fd00::1",
	"fec0::1", "fe80::1", "::1", "::192.0.2.9", "ff0e::1",
};
enum { COUNT = sizeof(texts) / sizeof(*texts) };

static void read_address(const char *text, union rcm_dns_address *to)
{
	memset(to, 0, sizeof(*to));
	to->sa.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	inet_pton(to->sa.sa_family, text, to->sa.sa_family == AF_INET ? (void *)&to->in.sin_addr : &to->in6.sin6_addr);
}

static void sort(const struct rcm_policy *policy)
{
	struct rcm_order orders[COUNT];
	unsigned seen = 0;

	memset(orders, 0, sizeof(orders));
	for (unsigned i = 0; i < COUNT; i++) {
		read_address(texts[i], &orders[i].to);
		orders[i].from = orders[i].to;
		orders[i].from_prefix = (uint8_t)(i * 8);
		orders[i].given = i;
	}
	rcm_order_sort(orders, COUNT, policy);
	for (unsigned i = 0; i < COUNT; i++)
		seen |= 1u << orders[i].given;
	assert(seen == (1u << COUNT) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_policy policy;
	union rcm_dns_address address;

	if (rcm_policy_read(fuzz_file(bytes, len), &policy))
		return 0;
	assert(policy.labels.count && policy.precedences.count && policy.scopes.count);
	assert(policy.labels.count <= RCM_POLICY_ROWS);
	for (unsigned i = 0; i < COUNT; i++) {
		read_address(texts[i], &address);
		assert(rcm_policy_find(&policy.precedences, &address) >= 0);
	}
	sort(&policy);
	return 0;
}
