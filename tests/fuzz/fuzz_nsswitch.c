/* SPDX-License-Identifier: BSD-2-Clause */
/* A nsswitch.conf that is a host.conf, too. */
#include <assert.h>

#include "dns/pick.h"
#include "file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *path = fuzz_file(bytes, len);
	const struct rcm_pick_files files = { .nsswitch = path, .gai = "/nonexistent", .host = path };
	struct rcm_pick pick;

	if (rcm_pick_read(&files, &pick))
		return 0;
	for (int i = 0; i < RCM_PICK_STEPS; i++)
		assert(pick.steps[i] <= RCM_PICK_DNS);
	assert(!pick.steps[1] || (pick.steps[0] && pick.steps[0] != pick.steps[1]));
	assert(pick.hosts_line || pick.system);
	return 0;
}
