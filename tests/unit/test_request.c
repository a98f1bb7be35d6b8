/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked, and how it ends. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/build.h"
#include "asker.h"
#include "base/clock.h"
#include "fake_dns.h"
#include "fake_time.h"
#include "resolve/answer.h"
#include "resolve/engine.h"
#include "test.h"

static struct rcm_asker asker, other;
static struct rdma_addrinfo *list;

static int set_up_elsewhere(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	rcm_fake_dns_services_ask(true);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_asker_done(&other);
	rcm_addrinfo_free(list);
	list = NULL;
	rcm_fake_dns_services_ask(false);
	return 0;
}

static int ask(const struct rcm_question *question)
{
	int status = rcm_asker_ask(&asker, question);

	assert_int_equal(rcm_asker_times(&asker), 1);
	return status;
}

static const struct rdma_addrinfo *listed(const struct rcm_question *question)
{
	assert_int_equal(rcm_answer_list(asker.outcome.answer, &question->hints, asker.outcome.port, &list), 0);
	return list;
}

static uint32_t in_addr_of(const struct rdma_addrinfo *ai)
{
	return ntohl(((struct sockaddr_in *)ai->ai_dst_addr)->sin_addr.s_addr);
}

/* F6: all of them, in order, each fully filled. */
static void test_request_of_a_name_gives_all_addresses_in_order(void **state)
{
	struct rcm_question q = rcm_question_name("all.a3.example");
	const struct rdma_addrinfo *ai;

	(void)state;
	q.service = "7471";
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.arg, 3);
	assert_int_equal(asker.outcome.port, 7471);
	assert_null(asker.outcome.text);
	assert_int_equal(asker.outcome.answer->count, 3);
	ai = listed(&q);
	assert_string_equal(ai->ai_dst_canonname, "all.a3.example");
	for (uint32_t i = 1; i <= 3; i++, ai = ai->ai_next) {
		assert_int_equal(in_addr_of(ai), 0x0a000000 + i);
		assert_int_equal(((struct sockaddr_in *)ai->ai_dst_addr)->sin_port, htons(7471));
	}
	assert_null(ai);
	assert_int_equal(rcm_answer_first(asker.outcome.answer)->sa.sa_family, AF_INET);
}

static void test_request_with_more_results_than_listed_tells_how_many_there_were(void **state)
{
	struct rcm_question q = rcm_question_name("many.a4097.example");

	(void)state;
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.arg, RCM_RESULTS_MAX + 1);
	assert_int_equal(asker.outcome.answer->count, RCM_RESULTS_MAX);
	q.node = "many.a4096.example";
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.arg, RCM_RESULTS_MAX);
	assert_int_equal(asker.outcome.answer->count, RCM_RESULTS_MAX);
}

/* F4: one status each, and the reason in words. */
static void test_request_that_fails_has_status_code_and_text(void **state)
{
	struct rcm_question q = rcm_question_name("no.e2.example");

	(void)state;
	assert_int_equal(ask(&q), -ENOENT);
	assert_int_equal((int)asker.outcome.arg, EAI_NONAME);
	assert_null(asker.outcome.answer);
	assert_string_equal(asker.outcome.text, "name no.e2.example: the fake says no");
	q.node = "No.e2.EXAMPLE";
	assert_int_equal(ask(&q), -ENOENT);
	assert_string_equal(asker.outcome.text, "name No.e2.EXAMPLE: the fake says no");
}

static void test_request_of_a_long_name_that_fails_still_tells_the_reason(void **state)
{
	char node[RCM_NODE_MAX + 1] = "", text[128];
	struct rcm_question q = rcm_question_name(node);

	(void)state;
	memset(node, 'x', RCM_NODE_MAX);
	memcpy(node, "e2.", 3);
	assert_int_equal(ask(&q), -ENOENT);
	snprintf(text, sizeof(text), "name %.60s...: the fake says no", node);
	assert_string_equal(asker.outcome.text, text);
	q.node = "e2.a-name-of-sixty-characters-as-many-as-are-shown-of-a-name";
	assert_int_equal(ask(&q), -ENOENT);
	snprintf(text, sizeof(text), "name %s: the fake says no", q.node);
	assert_string_equal(asker.outcome.text, text);
}

static void test_request_answered_with_nothing_has_no_data(void **state)
{
	struct rcm_question q = rcm_question_name("empty.a0.example");

	(void)state;
	assert_int_equal(ask(&q), -ENODATA);
	assert_int_equal((int)asker.outcome.arg, EAI_NODATA);
}

static void test_request_whose_lookup_can_not_start_fails_with_that(void **state)
{
	struct rcm_question q = rcm_question_name("x.start24.example");

	(void)state;
	assert_int_equal(ask(&q), -EMFILE);
	assert_int_equal((int)asker.outcome.arg, EAI_SYSTEM);
	assert_string_equal(asker.outcome.text, "name x.start24.example: Too many open files");
}

static void test_request_of_a_number_asks_nobody(void **state)
{
	struct rcm_question q = rcm_question_name("192.0.2.7");

	(void)state;
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.arg, 1);
	assert_int_equal(in_addr_of(listed(&q)), 0xc0000207);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

/* F12: the scope is kept to the end; a wrong one is a clear error. */
static void test_request_of_a_scoped_number_keeps_the_scope(void **state)
{
	struct rcm_question q = rcm_question_name("fe80::1%lo");
	const struct rdma_addrinfo *ai;

	(void)state;
	assert_int_equal(ask(&q), 0);
	ai = listed(&q);
	assert_int_equal(((struct sockaddr_in6 *)ai->ai_dst_addr)->sin6_scope_id, if_nametoindex("lo"));
	q.node = "fe80::1%nonesuch";
	assert_int_equal(ask(&q), -ENOENT);
	assert_string_equal(asker.outcome.text, "name fe80::1%nonesuch: its scope is no interface, or it isn't link-local");
	assert_int_equal(rcm_fake_dns_started(), 0);
}

/* F26: family as asked. */
static void test_request_of_a_number_of_another_family_has_no_data(void **state)
{
	struct rcm_question q = rcm_question_name("192.0.2.7");

	(void)state;
	q.hints.family = AF_INET6;
	assert_int_equal(ask(&q), -ENODATA);
	assert_int_equal((int)asker.outcome.arg, EAI_ADDRFAMILY);
}

static void test_request_of_a_gid_with_af_ib_gives_an_ib_address(void **state)
{
	struct rcm_question q = rcm_question_name("fe80::2:c903:1:2");
	const struct sockaddr_ib *ib;

	(void)state;
	q.service = "7471";
	q.hints.family = AF_IB;
	q.hints.flags = RAI_FAMILY | RAI_NUMERICHOST;
	assert_int_equal(ask(&q), 0);
	ib = (const struct sockaddr_ib *)listed(&q)->ai_dst_addr;
	assert_int_equal(ib->sib_family, AF_IB);
	assert_int_equal(ib->sib_pkey, 0xffff);
	assert_int_equal(be64toh(ib->sib_sid), 0x1060000 + 7471);
	q.node = "host.example";
	assert_int_equal(ask(&q), -ENODATA);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

/* The same addresses in the same order as the C library gives for no node. */
static void same_as_getaddrinfo(bool passive)
{
	struct rcm_question q = rcm_question_name(NULL);
	struct addrinfo hints = { .ai_flags = passive ? AI_PASSIVE : 0, .ai_socktype = SOCK_STREAM }, *want, *w;
	const struct rdma_addrinfo *ai;

	q.service = "7471";
	q.hints.flags = passive ? RAI_PASSIVE : 0;
	assert_int_equal(ask(&q), 0);
	assert_int_equal(getaddrinfo(NULL, "7471", &hints, &want), 0);
	for (ai = listed(&q), w = want; ai && w; ai = ai->ai_next, w = w->ai_next)
		assert_true(rcm_sockaddr_equal(passive ? ai->ai_src_addr : ai->ai_dst_addr, w->ai_addr));
	assert_null(ai);
	assert_null(w);
	freeaddrinfo(want);
}

static void test_request_without_node_gives_loopback_as_getaddrinfo_does(void **state)
{
	(void)state;
	same_as_getaddrinfo(false);
}

static void test_request_without_node_but_passive_gives_the_wildcards(void **state)
{
	(void)state;
	same_as_getaddrinfo(true);
}

/* Linux rdma/ib.h: ::1 is loopback, zeros are any. */
static void test_request_without_node_with_af_ib_gives_loopback_or_any_port(void **state)
{
	struct rcm_question q = rcm_question_name(NULL);

	(void)state;
	q.service = "7471";
	q.hints.family = AF_IB;
	for (unsigned passive = 0; passive < 2; passive++) {
		const uint8_t gid[16] = { [15] = !passive };
		const struct rdma_addrinfo *ai;
		const struct sockaddr_ib *ib;

		q.hints.flags = RAI_FAMILY | (passive ? RAI_PASSIVE : 0);
		assert_int_equal(ask(&q), 0);
		ai = listed(&q);
		ib = (const struct sockaddr_ib *)(passive ? ai->ai_src_addr : ai->ai_dst_addr);
		assert_int_equal(ib->sib_family, AF_IB);
		assert_int_equal(ib->sib_pkey, 0xffff);
		assert_memory_equal(ib->sib_addr.sib_raw, gid, sizeof(gid));
		assert_int_equal(be64toh(ib->sib_sid), 0x1060000 + 7471);
		rcm_addrinfo_free(list);
		list = NULL;
	}
}

static void test_request_with_service_names_finds_their_port_by_transport(void **state)
{
	struct rcm_question q = rcm_question_name("svc.example");

	(void)state;
	q.service = "http";
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.port, 80);
	q.service = "tftp";
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.port, 69);
	q.hints.socket_type = SOCK_STREAM;
	assert_int_equal(ask(&q), -ENOENT);
	q.hints.socket_type = SOCK_DGRAM;
	assert_int_equal(ask(&q), 0);
}

static void test_request_with_an_unknown_service_fails_without_asking_for_the_name(void **state)
{
	static const char *const unknown[] = { "no-such-service", "65536" };
	struct rcm_question q = rcm_question_name("svc2.example");
	char text[80], long_name[600];

	(void)state;
	for (int i = 0; i < 2; i++) {
		q.service = unknown[i];
		assert_int_equal(ask(&q), -ENOENT);
		assert_int_equal((int)asker.outcome.arg, EAI_SERVICE);
		snprintf(text, sizeof(text), "service %s: no such service", unknown[i]);
		assert_string_equal(asker.outcome.text, text);
	}
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	q.service = long_name;
	assert_int_equal(ask(&q), -ENOENT);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

/* F1, F9: a service module that is stuck holds up nobody else. */
static void test_request_whose_service_is_asked_of_a_slow_module_delays_no_other(void **state)
{
	struct rcm_question slow = rcm_question_name("svc3.example"), q = rcm_question_name("other.example");

	(void)state;
	slow.service = "slow-service";
	assert_int_equal(rcm_asker_start(&other, &slow), 0);
	rcm_fake_dns_wait_services(1);
	assert_int_equal(ask(&q), 0);
	q.service = "http";
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.port, 80);
	assert_int_equal(rcm_asker_times(&other), 0);
	rcm_fake_dns_services_ask(false);
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(other.outcome.status, -ENOENT);
	assert_int_equal((int)other.outcome.arg, EAI_SERVICE);
	assert_string_equal(other.outcome.text, "service slow-service: no such service");
}

/* F10, F31 */
static void test_request_whose_service_is_asked_of_a_slow_module_keeps_its_deadline(void **state)
{
	struct rcm_question q = rcm_question_name("svc4.example");

	(void)state;
	q.service = "slow-service";
	q.deadline_ms = 20;
	assert_int_equal(ask(&q), -ETIMEDOUT);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

static void test_request_whose_service_is_asked_of_a_slow_module_can_be_cancelled(void **state)
{
	struct rcm_question q = rcm_question_name("svc5.example");

	(void)state;
	q.service = "slow-service";
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_services(1);
	rcm_request_cancel(asker.request);
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ECANCELED);
	assert_int_equal(rcm_asker_times(&asker), 1);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

static int child_outcome(void)
{
	rcm_asker_again(&asker);
	rcm_fake_dns_services_ask(false);
	return rcm_asker_wait(&asker) ? asker.outcome.status : 0;
}

static void test_request_whose_service_is_asked_of_a_slow_module_goes_on_in_a_forked_child(void **state)
{
	struct rcm_question q = rcm_question_name("svc7.example");
	int status = 0;
	pid_t pid;

	(void)state;
	q.service = "slow-service";
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_services(1);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child_outcome() != -ENOENT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rcm_asker_times(&asker), 0);
	rcm_fake_dns_services_ask(false);
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ENOENT);
}

static void test_request_whose_service_a_worker_found_goes_on_within_its_deadline(void **state)
{
	struct rcm_question q = rcm_question_name("svc6.never.example");

	(void)state;
	q.service = "tftp";
	q.deadline_ms = 300;
	assert_int_equal(ask(&q), -ETIMEDOUT);
	assert_int_equal(rcm_fake_dns_started(), 1);
	assert_int_equal(rcm_fake_dns_under_way(), 0);
}

/* The same as from local files. */
static void test_request_whose_service_a_worker_found_has_the_port_of_its_transport(void **state)
{
	test_request_with_service_names_finds_their_port_by_transport(state);
	rcm_fake_dns_reset();
	test_request_with_an_unknown_service_fails_without_asking_for_the_name(state);
}

static void test_request_cancelled_ends_once_and_ends_the_lookup(void **state)
{
	struct rcm_question q = rcm_question_name("cancel.never.example");

	(void)state;
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_started(1);
	rcm_request_cancel(asker.request);
	rcm_request_cancel(asker.request);
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ECANCELED);
	assert_int_equal((int)asker.outcome.arg, EAI_CANCELED);
	assert_string_equal(asker.outcome.text, "name cancel.never.example: cancelled by the application");
	assert_int_equal(rcm_fake_dns_cancelled(), 1);
	assert_int_equal(rcm_fake_dns_under_way(), 0);
	rcm_request_cancel(asker.request);
	q.node = "after.example";
	assert_int_equal(rcm_asker_ask(&other, &q), 0);
	assert_int_equal(rcm_asker_times(&asker), 1);
}

/* How long an unanswered lookup with a deadline takes, in ns, where the processor is free. */
static uint64_t time_to_fail(const struct rcm_question *q)
{
	uint64_t begun;

	rcm_fake_time_freeze();
	begun = rcm_clock_now();
	assert_int_equal(rcm_asker_start(&asker, q), 0);
	rcm_fake_time_leap(RCM_NS_PER_S);
	assert_true(rcm_asker_wait(&asker));
	rcm_fake_time_thaw();
	assert_int_equal(asker.outcome.status, -ETIMEDOUT);
	assert_int_equal((int)asker.outcome.arg, EAI_AGAIN);
	return asker.at - begun;
}

/* F10, F31 */
static void test_request_ends_within_10_ms_of_its_deadline(void **state)
{
	static const uint32_t deadlines[] = { 1, 7, 50, 120 };
	struct rcm_question q = rcm_question_name("late.never.example");

	(void)state;
	for (size_t i = 0; i < sizeof(deadlines) / sizeof(*deadlines); i++) {
		q.deadline_ms = deadlines[i];
		assert_uint_in_range(time_to_fail(&q), deadlines[i] * RCM_NS_PER_MS, (deadlines[i] + 10) * RCM_NS_PER_MS);
	}
	assert_string_equal(asker.outcome.text, "name late.never.example: no answer before the deadline");
	assert_int_equal(rcm_fake_dns_under_way(), 0);
}

/* Half an answer is for those whose time is over: the lookup goes on for others. */
static void test_request_at_its_deadline_gets_the_half_that_is_there(void **state)
{
	struct rcm_question q = rcm_question_name("half.ms300.example");

	(void)state;
	assert_int_equal(rcm_asker_start(&other, &q), 0);
	q.deadline_ms = 50;
	assert_int_equal(ask(&q), 0);
	assert_int_equal(asker.outcome.arg, 1);
	assert_string_equal(asker.outcome.text, "name half.ms300.example: found without IPv6 addresses, "
			    "which nobody told in time");
	rcm_asker_wait(&other);
	assert_int_equal(other.outcome.status, 0);
	assert_null(other.outcome.text);
	rcm_asker_done(&other);
}

/* F34: answers come in the order they are had, not asked. */
static void test_request_asked_later_may_be_answered_first(void **state)
{
	struct rcm_question q = rcm_question_name("first.hold.example");

	(void)state;
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	q.node = "second.hold.example";
	assert_int_equal(rcm_asker_start(&other, &q), 0);
	rcm_fake_dns_release("second.hold.example");
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(rcm_asker_times(&asker), 0);
	rcm_fake_dns_release("first.hold.example");
	assert_true(rcm_asker_wait(&asker));
	assert_true(other.order < asker.order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_request_of_a_name_gives_all_addresses_in_order),
		T(test_request_with_more_results_than_listed_tells_how_many_there_were),
		T(test_request_that_fails_has_status_code_and_text),
		T(test_request_of_a_long_name_that_fails_still_tells_the_reason),
		T(test_request_answered_with_nothing_has_no_data),
		T(test_request_whose_lookup_can_not_start_fails_with_that),
		T(test_request_of_a_number_asks_nobody),
		T(test_request_of_a_scoped_number_keeps_the_scope),
		T(test_request_of_a_number_of_another_family_has_no_data),
		T(test_request_of_a_gid_with_af_ib_gives_an_ib_address),
		T(test_request_without_node_gives_loopback_as_getaddrinfo_does),
		T(test_request_without_node_but_passive_gives_the_wildcards),
		T(test_request_without_node_with_af_ib_gives_loopback_or_any_port),
		T(test_request_with_service_names_finds_their_port_by_transport),
		T(test_request_with_an_unknown_service_fails_without_asking_for_the_name),
#define E(name) cmocka_unit_test_setup_teardown(name, set_up_elsewhere, teardown)
		E(test_request_whose_service_is_asked_of_a_slow_module_delays_no_other),
		E(test_request_whose_service_is_asked_of_a_slow_module_keeps_its_deadline),
		E(test_request_whose_service_is_asked_of_a_slow_module_can_be_cancelled),
		E(test_request_whose_service_is_asked_of_a_slow_module_goes_on_in_a_forked_child),
		E(test_request_whose_service_a_worker_found_goes_on_within_its_deadline),
		E(test_request_whose_service_a_worker_found_has_the_port_of_its_transport),
		T(test_request_cancelled_ends_once_and_ends_the_lookup),
		T(test_request_ends_within_10_ms_of_its_deadline),
		T(test_request_at_its_deadline_gets_the_half_that_is_there),
		T(test_request_asked_later_may_be_answered_first),
	};

	rcm_engine_use(&(struct rcm_backends){
		.dns = &rcm_fake_dns,
	});
	rcm_fake_time_use();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
