/* SPDX-License-Identifier: BSD-2-Clause */
/* One caller's resolution while it is under way: what it is made of, and its steps in words. */
#include "resolve/request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "addr/service.h"
#include "base/table.h"
#include "resolve/answer.h"
#include "resolve/config.h"
#include "resolve/key.h"

static const char *const step_texts[RCM_STEPS] = {
	[RCM_STEP_HERE] = "here", [RCM_STEP_POSTED] = "posted", [RCM_STEP_READING] = "reading",
	[RCM_STEP_NAMING] = "naming", [RCM_STEP_KEPT] = "kept", [RCM_STEP_ASKED] = "asked",
	[RCM_STEP_JOINED] = "joined", [RCM_STEP_LANDED] = "landed", [RCM_STEP_TOLD] = "told",
};

enum { STEP_TEXT_MAX = 600 };	/* a node and a service, and words about them */

const char *rcm_step_status(int status)
{
	const char *name = status ? strerrorname_np(-status) : "0";

	return name ? name : "?";
}

const char *rcm_step_text(enum rcm_step step)
{
	return step_texts[step];
}

void rcm_step_write(unsigned number, enum rcm_step step, const char *format, ...)
{
	char detail[STEP_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	rcm_tell_write(RCM_TELL_COURSE, number, NULL, "%s (%s)", step_texts[step], detail);
}

/* By how much. */
#define AHEAD_NS RCM_NS_PER_MS

uint64_t rcm_request_backend_deadline(const struct rcm_request *request, uint64_t now)
{
	uint64_t deadline = request->deadline;

	return deadline && deadline - now > 2 * AHEAD_NS ? deadline - AHEAD_NS : deadline;
}

static uint64_t request_deadline(const struct rcm_question *question)
{
	uint32_t ms = question->deadline_ms;

	if (ms == RCM_DEADLINE_DEFAULT)
		ms = rcm_config_get()->deadline_ms;
	/* Names: the resolv.conf's timeouts, which the back end keeps. */
	if (ms == RCM_DEADLINE_DEFAULT)
		ms = question->hints.flags & RAI_SA ? RCM_SA_DEADLINE_MS : 0;
	return ms ? rcm_clock_now() + ms * RCM_NS_PER_MS : 0;
}

/* Copies len - 1 characters behind the key. */
static const char *text_keep(char **at, const char *text, size_t len)
{
	char *to = *at;

	if (!text)
		return NULL;
	memcpy(to, text, len - 1);
	to[len - 1] = '\0';
	*at += len;
	return to;
}

static void key_make_for(struct rcm_request *request, const struct rcm_question *question)
{
	if (request->listing)
		request->key_len = rcm_key_listing(request->key, request->listing, &question->hints, question->service,
						   &question->port, question->sa, question->accept);
	else if (rcm_request_is_sa(request))
		request->key_len = rcm_key_service(request->key, &question->hints, question->service,
						   &question->port, question->traffic_class, question->sa,
						   question->accept);
	else if (question->node)
		request->key_len = rcm_key_host(request->key, question->node, question->hints.family,
						question->source, question->hints.flags & RAI_SRV);
	else
		return;
	request->key_hash = rcm_key_hash(request->key, request->key_len);
}

/* Longer texts are cut: a service of that length is still too long to be found. */
static size_t text_size(const char *text, size_t max)
{
	return text ? strnlen(text, max) + 1 : 0;
}

/* What can be known of the service without a file. */
static void service_take(struct rcm_request *request, const char *service)
{
	if (service && !rcm_request_is_sa(request))
		request->service_is_name = rcm_service_number(service, &request->port) != 1;
}

/* Bytes of its key at most. */
static size_t key_room(const struct rcm_question *question, size_t node_len)
{
	if (question->listing)
		return RCM_KEY_LISTING_MAX + rcm_accept_size(question->accept);
	if (question->hints.flags & RAI_SA)
		return RCM_KEY_SERVICE_MAX + rcm_accept_size(question->accept);
	return node_len + 3;
}

/* Few are such, and others shall not be the larger for it. */
static int listing_copy(const struct rcm_listing *from, struct rcm_listing **ret_listing)
{
	*ret_listing = from ? malloc(sizeof(*from)) : NULL;
	if (!from)
		return 0;
	if (!*ret_listing)
		return -ENOMEM;
	**ret_listing = *from;
	return 0;
}

int rcm_request_new(const struct rcm_question *question, struct rcm_request **ret_request)
{
	size_t node_len = text_size(question->node, RCM_NODE_MAX);
	size_t service_len = text_size(question->service, RCM_SERVICE_TEXT_MAX);
	size_t key_max = key_room(question, node_len);
	bool in_key = question->node && !(question->hints.flags & RAI_SA);
	struct rcm_listing *listing;
	struct rcm_request *request;
	char *at;
	int ret;

	ret = listing_copy(question->listing, &listing);
	if (ret)
		return ret;
	request = malloc(sizeof(*request) + key_max + (in_key ? 0 : node_len) + service_len);
	if (!request) {
		free(listing);
		return -ENOMEM;
	}
	*request = (struct rcm_request){
		.refs = 2,
		.flags = question->hints.flags, .family = (uint16_t)question->hints.family,
		.socket_type = (uint8_t)question->hints.socket_type,
		.by_id = question->hints.by_id, .service_id = question->hints.service_id,
		.port_gid = question->port, .traffic_class = question->traffic_class, .sa = question->sa,
		.listing = listing,
		.fresh = question->fresh, .waited = question->waited, .source = question->source,
		.deadline = request_deadline(question),
	};
	request->accept = rcm_accept_get(question->accept);
	key_make_for(request, question);
	at = (char *)request->key + key_max;
	if (in_key) {
		at[-1] = '\0';
		request->node = (char *)request->key + RCM_KEY_HOST_TEXT;
	} else {
		request->node = text_keep(&at, question->node, node_len);
	}
	request->service = text_keep(&at, question->service, service_len);
	service_take(request, question->service);
	*ret_request = request;
	return 0;
}

void rcm_request_unref(struct rcm_request *request)
{
	if (!request || atomic_fetch_sub_explicit(&request->refs, 1, memory_order_acq_rel) != 1)
		return;
	rcm_answer_put(request->answer);
	rcm_accept_put(request->accept);
	free(request->listing);
	free(request);
}
