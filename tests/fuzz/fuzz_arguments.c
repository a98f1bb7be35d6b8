/* SPDX-License-Identifier: BSD-2-Clause */
/* What an application may hand to rdma_resolve_addrinfo(): hints, then node and service, each ended by a NUL. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "addr/hints.h"
#include "addr/service.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "fuzz.h"

/* Takes a string of its own from the reader; NULL where the first byte is 0xff. */
static const char *take_string(struct rcm_reader *r, char *to, size_t size)
{
	size_t used = 0;
	uint8_t byte;

	while (rcm_reader_left(r) && (byte = rcm_read_u8(r)) && used + 1 < size) {
		if (!used && byte == 0xff)
			return NULL;
		to[used++] = (char)byte;
	}
	to[used] = 0;
	return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rcm_reader r = rcm_reader_init(bytes, len);
	struct rdma_addrinfo hints = { 0 };
	union rcm_sockaddr src, number;
	const char *node, *service;
	char room[2][600];
	struct rcm_hints checked;

	hints.ai_flags = rcm_read_u8(&r);
	hints.ai_family = (int8_t)rcm_read_u8(&r);
	hints.ai_qp_type = rcm_read_u8(&r);
	hints.ai_port_space = rcm_read_u16(&r);
	hints.ai_src_len = rcm_read_u8(&r) % (sizeof(src) + 1);
	rcm_read_bytes(&r, &src, sizeof(src));
	hints.ai_src_addr = &src.sa;
	node = take_string(&r, room[0], sizeof(room[0]));
	service = take_string(&r, room[1], sizeof(room[1]));
	if (node)
		rcm_sockaddr_parse(node, AF_UNSPEC, &number);
	if (rcm_hints_check(node, service, &hints, &checked))
		return 0;
	assert(!node || strlen(node) <= RCM_NODE_MAX);
	assert(!(checked.flags & RAI_SA) || service);
	assert(!checked.src.sa.sa_family || rcm_sockaddr_len(checked.src.sa.sa_family) <= hints.ai_src_len);
	return 0;
}
