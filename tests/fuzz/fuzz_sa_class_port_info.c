/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as an SA would answer who asks how long it may take. */
#include "fuzz.h"
#include "fuzz_sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t question[RCM_MAD_SIZE], *mad;
	struct rcm_wire_answer answer;

	rcm_wire_ask(RCM_SA_GET, RCM_SA_CLASS_PORT_INFO, 0, NULL, 0, question);
	mad = fuzz_sa_read(question, bytes, len, &answer);
	if (answer.count)
		assert(rcm_wire_response_time(answer.records) <= 4096ULL << 31);
	free(mad);
	return 0;
}
