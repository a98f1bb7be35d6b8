/* SPDX-License-Identifier: BSD-2-Clause */
/* One attempt at a question by the kernel. */
#include "sakernel/attempt.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

#include "addr/sockaddr.h"
#include "sa/wire.h"

enum { STEP_TIMEOUT_MS = 2000, PKEY_DEFAULT = 0xffff };

/* The kernel asks for a path with what the id was bound with, P_Key and traffic class, and always with a P_Key. */
static int attempt_bind(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
			const struct rcm_attempt_question *question)
{
	const struct rcm_sa_path_query *path = &question->path;
	union rcm_sockaddr port;
	uint16_t pkey = 0;

	if (question->by_path)
		pkey = path->pkey ? path->pkey : PKEY_DEFAULT;
	rcm_sockaddr_ib(&port, rcm_attempt_port(question)->raw, pkey, 0, 0);
	if (question->by_path)
		port.ib.sib_flowinfo = htobe32((uint32_t)path->traffic_class << 20);
	return rcm_ucma_bind(ucma, attempt->handle, &port.sa, sizeof(port.ib));
}

static int attempt_ask(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
		       const struct rcm_attempt_question *question)
{
	const struct rcm_sa_service_query *service = &question->service;
	const struct rcm_sa_path_query *path = &question->path;
	union rcm_sockaddr dst;

	if (!question->by_path)
		return rcm_ucma_resolve_ib_service(ucma, attempt->handle, service->by_id, service->service_id,
						   service->by_name ? service->service_name : NULL);
	rcm_sockaddr_ib(&dst, path->dgid.raw, path->pkey, path->service_id, UINT64_MAX);
	return rcm_ucma_resolve_addr(ucma, attempt->handle, NULL, 0, &dst.sa, sizeof(dst.ib), STEP_TIMEOUT_MS);
}

int rcm_attempt_start(struct rcm_attempt *attempt, struct rcm_ucma *ucma, uint64_t uid,
		      const struct rcm_attempt_question *question)
{
	int ret;

	attempt->uid = uid;
	ret = rcm_ucma_create_id(ucma, uid, RDMA_PS_IB, IBV_QPT_RC, &attempt->handle);
	if (!ret)
		ret = attempt_bind(attempt, ucma, question);
	if (!ret)
		ret = attempt_ask(attempt, ucma, question);
	if (ret)
		rcm_attempt_end(attempt, ucma);
	return ret;
}

int rcm_attempt_go_on(const struct rcm_attempt *attempt, struct rcm_ucma *ucma)
{
	return rcm_ucma_resolve_route(ucma, attempt->handle, STEP_TIMEOUT_MS);
}

int rcm_attempt_services(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
			 struct rcm_sa_service_record **ret_records, unsigned *ret_count, unsigned *ret_total)
{
	struct rcm_sa_service_record *records = NULL;
	uint8_t (*raw)[176] = calloc(RCM_UCMA_SERVICES_MAX, sizeof(*raw));
	uint32_t count = 0, total = 0;
	int ret = -ENOMEM;

	if (raw)
		ret = rcm_ucma_query_ib_service(ucma, attempt->handle, raw, RCM_UCMA_SERVICES_MAX, &count, &total);
	if (!ret && !count)
		ret = -ENODATA;
	if (ret)
		goto out;
	records = calloc(count, sizeof(*records));
	if (!records) {
		ret = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < count; i++)
		rcm_wire_service_record(raw[i], &records[i]);
	*ret_records = records;
	*ret_count = count;
	*ret_total = total;
out:
	free(raw);
	return ret;
}

int rcm_attempt_paths(const struct rcm_attempt *attempt, struct rcm_ucma *ucma,
		      uint8_t ret_paths[RCM_UCMA_PATHS_MAX][64], unsigned *ret_count)
{
	struct ibv_path_data data[RCM_UCMA_PATHS_MAX];
	uint32_t count;
	int ret = rcm_ucma_query_path(ucma, attempt->handle, data, &count);

	if (!ret && !count)
		ret = -ENODATA;
	if (ret)
		return ret;
	for (uint32_t i = 0; i < count; i++)
		memcpy(ret_paths[i], &data[i].path, sizeof(ret_paths[i]));
	*ret_count = count;
	return 0;
}

void rcm_attempt_end(struct rcm_attempt *attempt, struct rcm_ucma *ucma)
{
	uint32_t events;

	if (attempt->handle != RCM_ATTEMPT_NO_HANDLE)
		rcm_ucma_destroy_id(ucma, attempt->handle, &events);
	attempt->handle = RCM_ATTEMPT_NO_HANDLE;
}

const struct rcm_gid *rcm_attempt_port(const struct rcm_attempt_question *q)
{
	return q->by_path ? &q->path.port : &q->service.port;
}

uint64_t rcm_attempt_deadline(const struct rcm_attempt_question *q)
{
	return q->by_path ? q->path.deadline : q->service.deadline;
}

bool rcm_attempt_is_down(const struct rcm_attempt_question *q)
{
	struct rcm_sa_port port;

	return !rcm_sa_port_by_gid(rcm_attempt_port(q), &port) && !port.active;
}
