/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolv.conf, and what it makes of names and addresses. */
#include <assert.h>
#include <string.h>

#include "dns/explain.h"
#include "dns/message.h"
#include "dns/search.h"
#include "file.h"
#include "fuzz.h"

static void walk(const struct rcm_resolv *resolv, const char *name, enum rcm_dns_verdict verdict)
{
	struct rcm_search search = { 0 };
	char candidate[RCM_SEARCH_NAME_MAX];
	uint8_t labels[RCM_LABELS_MAX];
	unsigned steps = 0;

	while (rcm_search_next(&search, resolv, name, candidate)) {
		assert(strlen(candidate) < sizeof(candidate));
		assert(rcm_labels_read(candidate, labels) <= sizeof(labels));
		rcm_search_fail(&search, resolv, name, verdict, NULL);
		assert(++steps <= resolv->search_count + 2);
	}
}

static void sort(const struct rcm_resolv *resolv)
{
	union rcm_dns_address addresses[64];
	uint64_t seen = 0;

	memset(addresses, 0, sizeof(addresses));
	for (unsigned i = 0; i < 64; i++) {
		addresses[i].in.sin_family = AF_INET;
		addresses[i].in.sin_addr.s_addr = htonl(i * 0x04010101);
	}
	rcm_sortlist_apply(&resolv->sortlist, addresses, 64);
	for (unsigned i = 0; i < 64; i++)
		seen |= 1ULL << (ntohl(addresses[i].in.sin_addr.s_addr) / 0x04010101);
	assert(seen == UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const names[] = { "a", "a.b", "a.b.c.", "a..b", "-a" };
	struct rcm_explain explain = { .known = true, .verdict = RCM_DNS_TIMEOUT };
	struct rcm_resolv *resolv;
	char text[RCM_TEXT_MAX];

	if (rcm_resolv_read(fuzz_file(bytes, len), &resolv))
		return 0;
	assert(resolv->servers_count && resolv->servers_count <= RCM_RESOLV_SERVERS);
	assert(resolv->ndots <= 15 && resolv->timeout_ms >= 1000 && resolv->timeout_ms <= 30000);
	assert(resolv->attempts >= 0 && resolv->attempts <= 5 && resolv->sortlist.count <= RCM_SORTLIST_MAX);
	assert(rcm_resolv_is_same(resolv, resolv) && rcm_resolv_has(resolv, &resolv->servers[0]));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		walk(resolv, names[i], RCM_DNS_NXDOMAIN);
		walk(resolv, names[i], RCM_DNS_REFUSED);
	}
	sort(resolv);
	explain.resolv = resolv;
	rcm_explain(&explain, text, sizeof(text));
	rcm_resolv_put(resolv);
	return 0;
}
