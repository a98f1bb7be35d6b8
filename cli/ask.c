/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks one question at several places at once: an id a place, all on one channel, and a poll loop. */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rai.h>
#include <string.h>

/* What a call of the library refused, in words that name the step. */
static void refused(struct cli_answer *answer, const char *step, int error)
{
	const char *why = strerror(error);

	if (error == ENODEV)
		why = "no such RDMA device or port here";
	else if (error == EACCES)
		why = "this process may use neither the umad device nor the kernel's resolver";
	else if (error == ENOTSUP)
		why = "not supported by this port";
	answer->status = -error;
	snprintf(answer->text, sizeof(answer->text), "%s: %s", step, why);
}

static int id_set_deadline(struct rdma_cm_id *id, const uint32_t *deadline_ms)
{
	uint32_t ms;

	if (!deadline_ms)
		return 0;
	ms = *deadline_ms;
	return rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms));
}

static int ask(struct rdma_cm_id *id, const struct cli_question *question)
{
	if (question->remove)
		return rai_service_remove(id, question->remove);
	if (question->filter)
		return rai_service_list(id, question->filter);
	return rdma_resolve_addrinfo(id, question->node, question->service, &question->hints);
}

bool cli_question_start(struct rdma_event_channel *channel, const struct cli_question *question, size_t place,
			struct cli_answer *answer, struct rdma_cm_id **ret_id)
{
	struct rdma_cm_id *id = NULL;
	struct cli_port port;
	const char *step = "making an id";

	if (rdma_create_id(channel, &id, answer, question->ports ? RDMA_PS_IB : RDMA_PS_TCP))
		goto failed;
	step = "binding to the port";
	if (question->ports) {
		port = question->ports[place];
		if (rdma_bind_addr(id, (struct sockaddr *)&port.gid))
			goto failed;
	}
	step = "setting the deadline";
	if (id_set_deadline(id, question->deadline_ms))
		goto failed;
	step = question->remove ? "removing the record" : "starting the resolution";
	if (ask(id, question))
		goto failed;
	*ret_id = id;
	return true;
failed:
	refused(answer, step, errno);
	if (id)
		rdma_destroy_id(id);
	return false;
}

bool cli_answer_take(const struct rdma_cm_event *event)
{
	struct cli_answer *answer = event->id->context;

	if (event->event != RDMA_CM_EVENT_ADDRINFO_RESOLVED && event->event != RDMA_CM_EVENT_ADDRINFO_ERROR &&
	    (int)event->event != RAI_EVENT_SERVICE)
		return false;
	answer->code = event->param.arg;
	answer->status = event->status;
	answer->event = rdma_event_str(event->event);
	if (event->event != RDMA_CM_EVENT_ADDRINFO_RESOLVED) {
		rai_event_text(event, answer->text, sizeof(answer->text));
		return true;
	}
	answer->found = event->param.arg;
	if (rdma_query_addrinfo(event->id, &answer->list))
		refused(answer, "fetching the results", errno);
	return true;
}

/* Takes what is due: how many, or -errno. */
static int drain(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	int taken = 0;

	while (rdma_get_cm_event(channel, &event) == 0) {
		taken += cli_answer_take(event);
		rdma_ack_cm_event(event);
	}
	return errno == EAGAIN ? taken : -errno;
}

static int wait_all(struct rdma_event_channel *channel, int stop, size_t pending)
{
	struct pollfd fds[] = {
		{ .fd = channel->fd, .events = POLLIN }, { .fd = stop > 0 ? stop : -1, .events = POLLIN },
	};
	int rc = 0;

	while (pending > 0 && rc >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			return -ECANCELED;
		rc = drain(channel);
		if (rc > 0)
			pending -= (size_t)rc;
	}
	return rc < 0 ? rc : 0;
}

int cli_ask(const struct cli_question *question, struct cli_answer *answers, const char **ret_step)
{
	struct rdma_event_channel *channel = NULL;
	struct rdma_cm_id *ids[CLI_PORTS_MAX] = { 0 };
	size_t pending = 0;
	int rc;

	*ret_step = "opening an event channel";
	channel = rdma_create_event_channel();
	if (!channel || fcntl(channel->fd, F_SETFL, O_NONBLOCK) < 0) {
		rc = -errno;
		goto out;
	}
	for (size_t i = 0; i < question->places; i++) {
		answers[i].port = question->ports ? question->ports[i].name : NULL;
		pending += cli_question_start(channel, question, i, &answers[i], &ids[i]);
	}
	*ret_step = "waiting for events";
	rc = wait_all(channel, question->stop, pending);
out:
	for (size_t i = 0; i < question->places; i++)
		if (ids[i])
			rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(channel);
	return rc;
}

void cli_answers_free(struct cli_answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		rdma_freeaddrinfo(answers[i].list);
		answers[i].list = NULL;
	}
}
