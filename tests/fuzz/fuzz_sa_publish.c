/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as an SA would answer who sets a record, deletes it, or asks whether it is there still: the first chooses. */
#include "fuzz.h"
#include "fuzz_sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_sa_publication publication = {
		.record = { .id = 0x1234, .gid.raw = { 0xfe, 0x80, [15] = 1 }, .pkey = 0xffff, .name = "storage" },
	};
	const struct rcm_sa_service_query query = {
		.by_id = true, .service_id = 0x1234, .by_name = true, .service_name = "storage", .by_gid = true,
		.gid.raw = { 0xfe, 0x80, [15] = 1 }, .by_pkey = true, .pkey = 0xffff, .by_key = true, .key = { 1 },
	};
	uint8_t question[RCM_MAD_SIZE], *mad;
	struct rcm_wire_answer answer;

	if (!len)
		return 0;
	publication.remove = bytes[0] & 1;
	if (bytes[0] & 2)
		rcm_wire_ask_service(&query, question);
	else
		rcm_wire_publish(&publication, question);
	mad = fuzz_sa_read(question, bytes + 1, len - 1, &answer);
	for (size_t i = 0; i < answer.count; i++) {
		const uint8_t *record = answer.records + i * answer.stride;
		struct rcm_sa_service_record read;

		rcm_wire_service_record(record, &read);
		assert(strlen(read.name) <= 64);
		if (rcm_wire_service_matches(&query, record))
			assert(read.id == query.service_id && read.pkey == query.pkey);
	}
	free(mad);
	return 0;
}
