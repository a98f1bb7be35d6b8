/* SPDX-License-Identifier: BSD-2-Clause */
/* A hosts file, and the names in it: the first byte says whether the first line alone counts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dns/hosts.h"
#include "file.h"
#include "fuzz.h"

static void find(const struct rcm_hosts *hosts, const char *name, int family)
{
	union rcm_dns_address *addresses;
	const char *canonname = NULL;
	int found = rcm_hosts_find(hosts, name, family, &addresses, &canonname);

	if (found <= 0)
		return;
	assert(canonname && *canonname);
	for (int i = 0; i < found; i++)
		assert(addresses[i].sa.sa_family == AF_INET || addresses[i].sa.sa_family == AF_INET6);
	for (int i = 0; i < found && family; i++)
		assert(addresses[i].sa.sa_family == family);
	free(addresses);
}

static void find_all(const struct rcm_hosts *hosts, const char *name)
{
	find(hosts, name, AF_UNSPEC);
	find(hosts, name, AF_INET);
	find(hosts, name, AF_INET6);
}

/* Each word of the file is looked for. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_hosts *hosts;
	char *text, *rest;

	if (!len || rcm_hosts_read(fuzz_file(bytes + 1, len - 1), bytes[0] & 1, &hosts))
		return 0;
	text = strndup((const char *)bytes + 1, len - 1);
	assert(text);
	find_all(hosts, "");
	for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
		find_all(hosts, word);
	free(text);
	rcm_hosts_free(hosts);
	return 0;
}
