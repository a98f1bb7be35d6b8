/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as an SA would answer who asks for paths: the first chooses for one or for those to all, in a partition or any. */
#include "fuzz.h"
#include "fuzz_sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_sa_path_query query = { .port.raw = { 0xfe, 0x80, [15] = 1 }, .dgid.raw = { 0xfe, 0x80, [15] = 2 } };
	uint8_t question[RCM_MAD_SIZE], *mad;
	struct rcm_wire_answer answer;

	if (!len)
		return 0;
	query.to_all = bytes[0] & 1;
	query.pkey = bytes[0] & 2 ? 0x8001 : 0;
	rcm_wire_ask_path(&query, question);
	mad = fuzz_sa_read(question, bytes + 1, len - 1, &answer);
	for (size_t i = 0; i < answer.count; i++) {
		const uint8_t *path = answer.records + i * answer.stride;

		if (rcm_wire_path_matches(&query, path))
			assert(!memcmp(path + 24, query.port.raw, sizeof(query.port.raw)));
	}
	free(mad);
	return 0;
}
