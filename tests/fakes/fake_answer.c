/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's answers to commands, and what failed first. */
#include "fake_answer.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "uapi/ucma_abi.h"

static char failure[256];

void rcm_fake_answer_reset(void)
{
	failure[0] = '\0';
}

const char *rcm_fake_failure(void)
{
	return failure[0] ? failure : NULL;
}

void rcm_fake_fail(const char *what, uint32_t command)
{
	if (!failure[0])
		snprintf(failure, sizeof(failure), "%s (command %u)", what, command);
}

/* Where in its body a command says where the answer goes; -1: it has none. */
static int response_offset(uint32_t command)
{
	switch (command) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		return offsetof(struct rdma_ucm_create_id, response);
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_GET_EVENT:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
	case RDMA_USER_CM_CMD_QUERY:
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		return 0;
	default:
		return -1;
	}
}

bool rcm_fake_has_answer(uint32_t command)
{
	return response_offset(command) >= 0;
}

void rcm_fake_answer(uint32_t command, const uint8_t *body, uint16_t room, const void *answer, size_t len)
{
	int offset = response_offset(command);
	uint64_t at;

	if (offset < 0)
		return;
	memcpy(&at, body + offset, sizeof(at));
	if (!at || !room)
		rcm_fake_fail("a command with an answer has no room for it", command);
	else
		memcpy((void *)(uintptr_t)at, answer, len < room ? len : room);
}
