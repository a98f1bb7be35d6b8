/* SPDX-License-Identifier: BSD-2-Clause */
/* How the rai command asks several places at once, against a scripted library in place of the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <rdma/rai.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ask.h"

/* What the library is to say for the id of a place, in the order the ids are made. */
struct script {
	int create, bind, resolve;		/* errno; 0: the call succeeds */
	enum rdma_cm_event_type event;
	int status;
	uint64_t arg;
	int query;
};

static struct {
	const struct script *scripts;
	size_t made, destroyed;
	struct rdma_event_channel channel;
	bool channel_open, stray;		/* stray: an event of the application comes first */
	int channel_errno;
	struct rdma_cm_event events[8];
	size_t queued, taken, acked;
	uint32_t deadline_ms;
	struct rdma_addrinfo result;
	size_t lists;
	int flags;
	const struct rai_service_filter *filter;
	const struct rai_service_record *removed;
	bool silent;				/* no event follows a list */
} lib;

static int answer(int error)
{
	errno = error;
	return error ? -1 : 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	if (answer(lib.channel_errno))
		return NULL;
	lib.channel.fd = eventfd(0, EFD_CLOEXEC);
	lib.channel_open = true;
	return &lib.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	if (!channel)
		return;
	close(channel->fd);
	lib.channel_open = false;
}

static const struct script *script_of(const struct rdma_cm_id *id)
{
	return &lib.scripts[id->port_num];
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	struct rdma_cm_id *new;

	if (answer(lib.scripts[lib.made].create))
		return -1;
	new = calloc(1, sizeof(*new));
	new->channel = channel;
	new->context = context;
	new->ps = ps;
	new->port_num = (uint8_t)lib.made++;
	*id = new;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	lib.destroyed++;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	assert_int_equal(addr->sa_family, AF_IB);
	return answer(script_of(id)->bind);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
	(void)id;
	assert_int_equal(level, RDMA_OPTION_RAI);
	assert_int_equal(optname, RAI_OPTION_DEADLINE_MS);
	assert_int_equal(optlen, sizeof(uint32_t));
	memcpy(&lib.deadline_ms, optval, optlen);
	return 0;
}

static void queue(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg)
{
	lib.events[lib.queued++] = (struct rdma_cm_event) {
		.id = id, .event = event, .status = status, .param.arg = arg,
	};
	eventfd_write(lib.channel.fd, 1);
}

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	const struct script *script = script_of(id);

	(void)node, (void)service;
	lib.flags = hints->ai_flags;
	if (answer(script->resolve))
		return -1;
	if (lib.stray)
		queue(id, RDMA_CM_EVENT_USER, 0, 0);
	queue(id, script->event, script->status, script->arg);
	return 0;
}

int rai_service_list(struct rdma_cm_id *id, const struct rai_service_filter *filter)
{
	const struct script *script = script_of(id);

	lib.filter = filter;
	if (answer(script->resolve))
		return -1;
	if (!lib.silent)
		queue(id, script->event, script->status, script->arg);
	return 0;
}

int rai_service_remove(struct rdma_cm_id *id, const struct rai_service_record *record)
{
	const struct script *script = script_of(id);

	lib.removed = record;
	if (answer(script->resolve))
		return -1;
	queue(id, (enum rdma_cm_event_type)RAI_EVENT_SERVICE, script->status, 0);
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	if (lib.taken == lib.queued) {
		eventfd_t value;

		eventfd_read(channel->fd, &value);
		return answer(EAGAIN);
	}
	*event = &lib.events[lib.taken++];
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	lib.acked++;
	return 0;
}

int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	if (answer(script_of(id)->query))
		return -1;
	*info = &lib.result;
	lib.lists++;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *list)
{
	lib.lists -= list != NULL;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	return event == RDMA_CM_EVENT_ADDRINFO_ERROR ? "ERROR" : "other";
}

int rai_event_text(const struct rdma_cm_event *event, char *buf, size_t len)
{
	assert_int_equal(lib.acked, event - lib.events);
	return snprintf(buf, len, "in words");
}

static int ask(const struct script *scripts, size_t places, bool ports, struct cli_answer *answers)
{
	static struct cli_port some[4] = {
		{ .name = "a/1", .gid.sib_family = AF_IB }, { .name = "b/1", .gid.sib_family = AF_IB },
		{ .name = "b/2", .gid.sib_family = AF_IB },
	};
	static const uint32_t deadline_ms = 250;
	struct cli_question question = {
		.service = "s", .places = places, .ports = ports ? some : NULL, .deadline_ms = &deadline_ms,
		.hints.ai_flags = ports ? RAI_SA : 0,
	};
	const char *step = NULL;
	int rc;

	lib.scripts = scripts;
	memset(answers, 0, places * sizeof(*answers));
	rc = cli_ask(&question, answers, &step);
	assert_non_null(step);
	assert_false(lib.channel_open);
	assert_int_equal(lib.destroyed, lib.made);
	assert_int_equal(lib.taken, lib.queued);
	assert_int_equal(lib.acked, lib.taken);
	return rc;
}

static int setup(void **state)
{
	(void)state;
	memset(&lib, 0, sizeof(lib));
	return 0;
}

static void test_ask_of_three_ports_keeps_each_outcome_apart(void **state)
{
	static const struct script scripts[] = {
		{ .bind = ENODEV },
		{ .event = RDMA_CM_EVENT_ADDRINFO_RESOLVED, .arg = 7 },
		{ .event = RDMA_CM_EVENT_ADDRINFO_ERROR, .status = -ENOENT, .arg = 0x0300 },
	};
	struct cli_answer answers[3];

	(void)state;
	assert_int_equal(ask(scripts, 3, true, answers), 0);
	assert_int_equal(answers[0].status, -ENODEV);
	assert_null(answers[0].event);
	assert_string_equal(answers[0].text, "binding to the port: no such RDMA device or port here");
	assert_ptr_equal(answers[1].list, &lib.result);
	assert_int_equal(answers[1].found, 7);
	assert_string_equal(answers[1].port, "b/1");
	assert_null(answers[2].list);
	assert_int_equal(answers[2].status, -ENOENT);
	assert_int_equal(answers[2].code, 0x0300);
	assert_string_equal(answers[2].event, "ERROR");
	assert_string_equal(answers[2].text, "in words");
	assert_int_equal(lib.deadline_ms, 250);
	assert_int_equal(lib.flags, RAI_SA);
	cli_answers_free(answers, 3);
	assert_int_equal(lib.lists, 0);
}

static void test_ask_of_a_refused_name_waits_for_nothing(void **state)
{
	static const struct script scripts[] = { { .resolve = EINVAL } };
	struct cli_answer answers[1];

	(void)state;
	assert_int_equal(ask(scripts, 1, false, answers), 0);
	assert_int_equal(answers[0].status, -EINVAL);
	assert_null(answers[0].port);
	assert_string_equal(answers[0].text, "starting the resolution: Invalid argument");
}

static void test_ask_is_not_ended_by_an_event_of_another_kind(void **state)
{
	static const struct script scripts[] = { { .event = RDMA_CM_EVENT_ADDRINFO_RESOLVED, .arg = 1 } };
	struct cli_answer answers[1];

	(void)state;
	lib.stray = true;
	assert_int_equal(ask(scripts, 1, false, answers), 0);
	assert_non_null(answers[0].list);
	cli_answers_free(answers, 1);
}

static void test_ask_whose_results_cant_be_had_is_a_failure(void **state)
{
	static const struct script scripts[] = {
		{ .event = RDMA_CM_EVENT_ADDRINFO_RESOLVED, .arg = 1, .query = ENOMEM },
	};
	struct cli_answer answers[1];

	(void)state;
	assert_int_equal(ask(scripts, 1, false, answers), 0);
	assert_null(answers[0].list);
	assert_int_equal(answers[0].status, -ENOMEM);
}

static void test_ask_without_a_channel_names_the_step(void **state)
{
	struct cli_question question = { .node = "a", .places = 1 };
	struct cli_answer answers[1] = { 0 };
	const char *step = NULL;

	(void)state;
	lib.channel_errno = EACCES;
	assert_int_equal(cli_ask(&question, answers, &step), -EACCES);
	assert_string_equal(step, "opening an event channel");
	assert_int_equal(lib.made, 0);
}

static void test_ask_for_a_list_asks_for_what_the_filter_has(void **state)
{
	static const struct script scripts[] = { { .event = RDMA_CM_EVENT_ADDRINFO_RESOLVED, .arg = 3 } };
	static const struct cli_port port = { .name = "a/1", .gid.sib_family = AF_IB };
	static const struct rai_service_filter filter;
	const struct cli_question question = { .filter = &filter, .ports = &port, .places = 1 };
	struct cli_answer answers[1] = { 0 };
	const char *step;

	(void)state;
	lib.scripts = scripts;
	assert_int_equal(cli_ask(&question, answers, &step), 0);
	assert_ptr_equal(lib.filter, &filter);
	assert_int_equal(answers[0].found, 3);
	assert_ptr_equal(answers[0].list, &lib.result);
	cli_answers_free(answers, 1);
}

static void test_ask_for_a_removal_has_a_status_and_no_list(void **state)
{
	static const struct script scripts[] = { { .status = 0 }, { .status = -EIO } };
	static const struct cli_port ports[] = {
		{ .name = "a/1", .gid.sib_family = AF_IB }, { .name = "b/1", .gid.sib_family = AF_IB },
	};
	static const struct rai_service_record record;
	const struct cli_question question = { .remove = &record, .ports = ports, .places = 2 };
	struct cli_answer answers[2] = { 0 };
	const char *step;

	(void)state;
	lib.scripts = scripts;
	assert_int_equal(cli_ask(&question, answers, &step), 0);
	assert_ptr_equal(lib.removed, &record);
	assert_int_equal(answers[0].status, 0);
	assert_null(answers[0].list);
	assert_int_equal(answers[1].status, -EIO);
	assert_string_equal(answers[1].text, "in words");
}

static void test_ask_that_is_stopped_waits_no_longer(void **state)
{
	static const struct script scripts[] = { { .resolve = 0 } };
	static const struct cli_port port = { .name = "a/1", .gid.sib_family = AF_IB };
	static const struct rai_service_filter filter;
	struct cli_question question = { .filter = &filter, .ports = &port, .places = 1 };
	struct cli_answer answers[1] = { 0 };
	const char *step;

	(void)state;
	lib.scripts = scripts;
	lib.silent = true;
	question.stop = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(cli_ask(&question, answers, &step), -ECANCELED);
	assert_int_equal(lib.destroyed, 1);
	assert_false(lib.channel_open);
	close(question.stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ask_of_three_ports_keeps_each_outcome_apart, setup),
		cmocka_unit_test_setup(test_ask_of_a_refused_name_waits_for_nothing, setup),
		cmocka_unit_test_setup(test_ask_is_not_ended_by_an_event_of_another_kind, setup),
		cmocka_unit_test_setup(test_ask_whose_results_cant_be_had_is_a_failure, setup),
		cmocka_unit_test_setup(test_ask_without_a_channel_names_the_step, setup),
		cmocka_unit_test_setup(test_ask_for_a_list_asks_for_what_the_filter_has, setup),
		cmocka_unit_test_setup(test_ask_for_a_removal_has_a_status_and_no_list, setup),
		cmocka_unit_test_setup(test_ask_that_is_stopped_waits_no_longer, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
