/* SPDX-License-Identifier: BSD-2-Clause */
/* The port of a service name, found where it may take its time. */
#include "resolve/servname.h"

#include <stdlib.h>

#include "addr/service.h"
#include "base/err.h"
#include "dns/lookup.h"
#include "dns/nss.h"

int rcm_servname_ask(const char *service, int type, struct addrinfo **ret_list)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = type, .ai_flags = AI_PASSIVE };
	char *end;

	/* getaddrinfo() would take " 80" and 65536 for ports. */
	strtoul(service, &end, 10);
	return *end ? getaddrinfo(NULL, service, &hints, ret_list) : EAI_SERVICE;
}

static bool any_transport(const struct rcm_request *request)
{
	return !request->qp_type;
}

static bool is_datagram(const struct rcm_request *request)
{
	return request->qp_type == IBV_QPT_UD;
}

/* Where both transports are open, any that has it will do. */
static int find(struct rcm_request *request)
{
	int ret;

	ret = rcm_service_port(request->service, is_datagram(request), &request->port);
	if (ret == -ENOENT && any_transport(request))
		ret = rcm_service_port(request->service, true, &request->port);
	return ret ? ret : 1;
}

static void leave(struct rcm_request *request)
{
	TAILQ_REMOVE(&request->engine->naming, request, waiter);
	request->naming = NULL;
}

static void answered(void *arg, const struct rcm_dns_answer *answer)
{
	struct rcm_request *request = arg;
	int status = answer->status;

	leave(request);
	if (!status && !answer->count)
		status = -ENOENT;
	if (!status)
		request->port = ntohs(answer->addresses[0].in.sin_port);
	rcm_request_resume(request, status);
}

int rcm_servname_start(struct rcm_engine *engine, struct rcm_request *request)
{
	const struct rcm_dns_query query = {
		.name = request->service,
		.family = any_transport(request) ? 0 : is_datagram(request) ? SOCK_DGRAM : SOCK_STREAM,
	};
	int ret = 0;

	if (!engine->backends.ask_service || engine->backends.services_are_local())
		return find(request);
	if (!engine->services)
		ret = rcm_nss_open(&engine->loop, engine->backends.ask_service, &engine->services);
	if (!ret)
		ret = rcm_nss_start(engine->services, &query, answered, request, &request->naming);
	if (ret)
		return ret;
	request->state = RCM_REQUEST_NAMING;
	TAILQ_INSERT_TAIL(&engine->naming, request, waiter);
	return 0;
}

void rcm_servname_cancel(struct rcm_request *request)
{
	request->naming->cancel(request->naming);
	leave(request);
}

void rcm_servname_reset(struct rcm_engine *engine)
{
	struct rcm_request *request;

	while ((request = TAILQ_LAST(&engine->naming, rcm_waiters))) {
		leave(request);
		rcm_timer_stop(&engine->loop, &request->timer);
		request->state = RCM_REQUEST_POSTED;
		STAILQ_INSERT_HEAD(&engine->backlog, request, queued);
	}
	rcm_nss_abandon(engine->services);
	engine->services = NULL;
}
