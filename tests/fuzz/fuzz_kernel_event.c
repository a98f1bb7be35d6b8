/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes as the kernel would answer GET_EVENT. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "ucma/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rdma_conn_param conn;
	struct rcm_ucma_event event;
	struct rdma_ud_param ud;
	uint8_t data[256];

	if (rcm_ucma_event_decode(bytes, len, &event))
		return 0;
	rcm_ucma_event_conn(&event, &conn);
	assert(!conn.private_data == !conn.private_data_len);
	if (conn.private_data)
		memcpy(data, conn.private_data, conn.private_data_len);
	rcm_ucma_event_ud(&event, &ud);
	if (ud.private_data)
		memcpy(data, ud.private_data, ud.private_data_len);
	return 0;
}
