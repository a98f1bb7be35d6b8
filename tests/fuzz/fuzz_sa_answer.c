/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as an SA would answer: the first chooses the question, the others are the MAD. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sa/wire.h"

static void records_read(const struct rcm_sa_service_query *query, const struct rcm_wire_answer *answer)
{
	struct rcm_sa_service_record record;

	for (size_t i = 0; i < answer->count; i++) {
		const uint8_t *bytes = answer->records + i * answer->stride;

		rcm_wire_service_record(bytes, &record);
		assert(strlen(record.name) <= 64);
		if (rcm_wire_service_matches(query, bytes))
			assert(record.id == query->service_id);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const struct rcm_sa_service_query service = { .by_id = true, .service_id = 0x1234 };
	static const struct rcm_sa_path_query path = { .pkey = 0xffff };
	uint8_t question[RCM_MAD_SIZE], copy[64], *mad;
	struct rcm_wire_answer answer;

	if (!len)
		return 0;
	/* A copy of exactly that length, so that a sanitizer sees each byte read beyond it. */
	mad = malloc(len - 1 ? len - 1 : 1);
	assert(mad);
	memcpy(mad, bytes + 1, len - 1);
	if (bytes[0] & 1)
		rcm_wire_ask_path(&path, question);
	else
		rcm_wire_ask_service(&service, question);
	if (!rcm_wire_read(question, mad, len - 1, &answer)) {
		assert(!answer.status || !answer.count);
		assert(rcm_wire_status_name(answer.status));
		rcm_wire_verdict(answer.status);
		if (bytes[0] & 1 && answer.count)
			memcpy(copy, answer.records, sizeof(copy));
		else if (answer.count)
			records_read(&service, &answer);
	}
	free(mad);
	return 0;
}
