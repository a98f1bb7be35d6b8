/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer of the SA as a fuzzer gives it. */
#pragma once

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sa/wire.h"

/* Reads the bytes as the answer to a question. A copy of exactly that length, so that a sanitizer sees each byte that is
 * read beyond it; the caller frees it. */
static inline uint8_t *fuzz_sa_read(const uint8_t question[RCM_MAD_SIZE], const uint8_t *bytes, size_t len,
				    struct rcm_wire_answer *ret_answer)
{
	uint8_t *mad = malloc(len ? len : 1);

	assert(mad);
	if (len)
		memcpy(mad, bytes, len);
	*ret_answer = (struct rcm_wire_answer){ .count = 0 };
	if (rcm_wire_read(question, mad, len, ret_answer))
		return mad;
	assert(!ret_answer->status || !ret_answer->count);
	assert(rcm_wire_status_name(ret_answer->status));
	rcm_wire_verdict(ret_answer->status);
	return mad;
}
