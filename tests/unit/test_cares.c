/* SPDX-License-Identifier: BSD-2-Clause */
/* c-ares on our loop, with a name server in the test: a UDP and a TCP socket on loopback that the same loop serves. */
#include "dns/cares.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "dns_message.h"
#include "test.h"

/* What the server does with the questions it gets. */
enum mood { ANSWER, SILENT, FAIL, TRUNCATE };

struct asked {
	struct rcm_exchange exchange;
	unsigned answers;
	bool last;
	enum rcm_dns_verdict verdicts[2];
	bool from_server;
};

static struct rcm_loop loop;
static struct rcm_cares *cares;
static struct rcm_resolv *resolv;
static struct rcm_source udp, tcp_listener;
static enum mood mood;
static unsigned questions_udp, questions_tcp;

/* The name out of a question: one label and "test". */
static void answer(const uint8_t *question, struct dns_message *message, bool by_tcp)
{
	char name[80];
	uint8_t len = question[12];
	int type;

	memcpy(name, question + 13, len);
	strcpy(name + len, ".test");
	type = question[12 + 1 + len + 6 + 1];
	dns_message_begin(message, name, type, mood == FAIL ? ns_r_servfail : ns_r_noerror);
	if (mood == ANSWER || by_tcp)
		dns_message_add(message, name, type, 60, type == ns_t_a ? "127.0.0.1" : "::1");
	if (mood == TRUNCATE && !by_tcp)
		message->bytes[2] |= 0x02;
	memcpy(message->bytes, question, 2);
}

static void serve_udp(struct rcm_source *source, uint32_t events)
{
	static struct dns_message message;
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint8_t question[512];

	(void)events;
	assert_true(recvfrom(source->fd, question, sizeof(question), 0, (struct sockaddr *)&from, &len) > 12);
	questions_udp++;
	if (mood == SILENT)
		return;
	answer(question, &message, false);
	sendto(source->fd, message.bytes, message.len, 0, (struct sockaddr *)&from, len);
}

/* One question a connection, then the end of it. */
static void serve_connection(struct rcm_source *source, uint32_t events)
{
	static struct dns_message message;
	uint8_t question[514], length[2];

	(void)events;
	if (recv(source->fd, question, sizeof(question), 0) > 14) {
		questions_tcp++;
		answer(question + 2, &message, true);
		length[0] = (uint8_t)(message.len >> 8);
		length[1] = (uint8_t)message.len;
		send(source->fd, length, 2, MSG_MORE);
		send(source->fd, message.bytes, message.len, 0);
	}
	rcm_source_remove(source);
	close(source->fd);
	free(source);
}

static void accept_tcp(struct rcm_source *listener, uint32_t events)
{
	struct rcm_source *source = calloc(1, sizeof(*source));
	int fd = accept(listener->fd, NULL, NULL);

	(void)events;
	assert_non_null(source);
	assert_true(fd >= 0);
	assert_int_equal(rcm_source_add(&loop, source, fd, RCM_READABLE, serve_connection), 0);
}

static void open_server(struct sockaddr_in *sin)
{
	socklen_t len = sizeof(*sin);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*sin = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)sin, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)sin, &len), 0);
	assert_int_equal(bind(listener, (struct sockaddr *)sin, len), 0);
	assert_int_equal(listen(listener, 64), 0);
	memset(&udp, 0, sizeof(udp));
	memset(&tcp_listener, 0, sizeof(tcp_listener));
	assert_int_equal(rcm_source_add(&loop, &udp, fd, RCM_READABLE, serve_udp), 0);
	assert_int_equal(rcm_source_add(&loop, &tcp_listener, listener, RCM_READABLE, accept_tcp), 0);
}

static int open_cares(void **state)
{
	struct __res_state res = { .nscount = 1, .ndots = 1, .retrans = 1, .retry = 1 };

	(void)state;
	assert_int_equal(rcm_loop_init(&loop), 0);
	open_server(&res.nsaddr_list[0]);
	assert_int_equal(rcm_resolv_from(&res, &resolv), 0);
	assert_int_equal(rcm_cares_network.open(&loop, &cares), 0);
	mood = ANSWER;
	questions_udp = questions_tcp = 0;
	return 0;
}

static int close_cares(void **state)
{
	(void)state;
	rcm_cares_network.close(cares);
	rcm_resolv_put(resolv);
	rcm_source_remove(&udp);
	rcm_source_remove(&tcp_listener);
	close(udp.fd);
	close(tcp_listener.fd);
	rcm_loop_done(&loop);
	return 0;
}

static void answered(struct rcm_exchange *exchange, const struct rcm_cares_answer *answer, bool last)
{
	struct asked *asked = (struct asked *)exchange;

	assert_false(asked->last);
	asked->answers++;
	asked->last = last;
	asked->verdicts[answer->type == ns_t_aaaa] = answer->verdict;
	asked->from_server = answer->server != NULL;
}

static int ask(struct asked *asked, const char *name)
{
	memset(asked, 0, sizeof(*asked));
	asked->exchange.answered = answered;
	return rcm_cares_network.ask(cares, resolv, name, true, true, &asked->exchange);
}

static void wait_last(const struct asked *asked)
{
	uint64_t end = rcm_clock_now() + 10 * RCM_NS_PER_S;

	while (!asked->last && rcm_clock_now() < end)
		assert_int_equal(rcm_loop_turn(&loop, 1000), 0);
	assert_true(asked->last);
}

static void test_cares_both_types_are_answered_and_the_last_is_marked(void **state)
{
	struct asked asked;

	(void)state;
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	assert_int_equal(asked.answers, 2);
	assert_int_equal(asked.verdicts[0], RCM_DNS_FOUND);
	assert_int_equal(asked.verdicts[1], RCM_DNS_FOUND);
	assert_null(asked.exchange.name);
}

/* c-ares would call it a refused connection. */
static void test_cares_rcode_of_a_lone_failing_server_is_kept(void **state)
{
	struct asked asked;

	(void)state;
	mood = FAIL;
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	assert_int_equal(asked.verdicts[0], RCM_DNS_SERVFAIL);
	assert_true(asked.from_server);
}

static void test_cares_silent_server_is_a_timeout(void **state)
{
	struct asked asked;
	uint64_t before = rcm_clock_now(), took;

	(void)state;
	mood = SILENT;
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	took = (rcm_clock_now() - before) / RCM_NS_PER_MS;
	assert_int_equal(asked.verdicts[0], RCM_DNS_TIMEOUT);
	assert_false(asked.from_server);
	assert_in_range(took, 950, 1500);
}

static void test_cares_truncated_answers_are_asked_for_again_by_tcp(void **state)
{
	struct asked asked[20];
	char name[16];

	(void)state;
	mood = TRUNCATE;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		assert_int_equal(ask(&asked[i], name), 0);
	}
	for (int i = 0; i < 20; i++) {
		wait_last(&asked[i]);
		assert_int_equal(asked[i].verdicts[0], RCM_DNS_FOUND);
		assert_int_equal(asked[i].verdicts[1], RCM_DNS_FOUND);
	}
	assert_int_equal(questions_udp, 40);
	assert_int_equal(questions_tcp, 40);
}

/* Not "can't be reached": it was, by UDP. */
static void test_cares_truncated_answer_and_no_tcp_is_told_as_such(void **state)
{
	struct asked asked;

	(void)state;
	mood = TRUNCATE;
	rcm_source_remove(&tcp_listener);
	assert_int_equal(shutdown(tcp_listener.fd, SHUT_RD), 0);
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	assert_int_equal(asked.verdicts[0], RCM_DNS_CUT_UNREACHABLE);
	assert_int_equal(asked.verdicts[1], RCM_DNS_CUT_UNREACHABLE);
	assert_true(asked.from_server);
}

static void test_cares_without_descriptors_is_told_as_such_and_asks_when_there_are_some(void **state)
{
	struct asked asked;
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(asked.verdicts[0], RCM_DNS_NOFILE);
	assert_int_equal(asked.verdicts[1], RCM_DNS_NOFILE);
	assert_false(asked.from_server);
	assert_int_equal(ask(&asked, "a.test"), 0);
	wait_last(&asked);
	assert_int_equal(asked.verdicts[0], RCM_DNS_FOUND);
}

static void test_cares_bad_name_ends_without_a_question(void **state)
{
	struct asked asked;

	(void)state;
	assert_int_equal(ask(&asked, "a..test"), 0);
	assert_true(asked.last);
	assert_int_equal(asked.verdicts[0], RCM_DNS_NXDOMAIN);
	assert_int_equal(questions_udp, 0);
}

static void test_cares_names_beyond_all_channels_are_told_to_wait(void **state)
{
	enum { ALL = RCM_DNS_WINDOW * RCM_DNS_CHANNELS_MAX };
	struct asked *asked = calloc(ALL + 1, sizeof(*asked));

	(void)state;
	mood = SILENT;
	for (int i = 0; i < ALL; i++)
		assert_int_equal(ask(&asked[i], "a.test"), 0);
	assert_int_equal(ask(&asked[ALL], "a.test"), -EAGAIN);
	/* Dropped, all of a channel's names make room at once. */
	for (int i = 0; i < RCM_DNS_WINDOW; i++)
		rcm_cares_network.drop(&asked[i].exchange);
	assert_int_equal(ask(&asked[ALL], "a.test"), 0);
	rcm_cares_network.close(cares);
	for (int i = 0; i <= ALL; i++)
		assert_int_equal(asked[i].answers, 0);
	free(asked);
	assert_int_equal(rcm_cares_network.open(&loop, &cares), 0);
}

static void test_cares_dropped_exchange_is_not_told(void **state)
{
	struct asked dropped, other;

	(void)state;
	assert_int_equal(ask(&dropped, "a.test"), 0);
	assert_int_equal(ask(&other, "b.test"), 0);
	rcm_cares_network.drop(&dropped.exchange);
	rcm_cares_network.drop(&dropped.exchange);
	wait_last(&other);
	assert_int_equal(dropped.answers, 0);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 3; fd < 256; fd++)
		count += !lseek(fd, 0, SEEK_CUR) || errno != EBADF;
	return count;
}

static void test_cares_idle_keeps_no_sockets(void **state)
{
	struct asked asked;
	int before = count_descriptors();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(&asked, "a.test"), 0);
		assert_true(count_descriptors() > before);
		wait_last(&asked);
		assert_int_equal(count_descriptors(), before);
	}
}

static void test_cares_abandoned_closes_its_sockets_without_completions(void **state)
{
	struct asked asked;
	int before = count_descriptors();

	(void)state;
	mood = SILENT;
	assert_int_equal(ask(&asked, "a.test"), 0);
	rcm_cares_network.abandon(cares);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(asked.answers, 0);
	assert_int_equal(rcm_cares_network.open(&loop, &cares), 0);
}

#define CARES_TEST(f) cmocka_unit_test_setup_teardown(f, open_cares, close_cares)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CARES_TEST(test_cares_both_types_are_answered_and_the_last_is_marked),
		CARES_TEST(test_cares_rcode_of_a_lone_failing_server_is_kept),
		CARES_TEST(test_cares_silent_server_is_a_timeout),
		CARES_TEST(test_cares_truncated_answers_are_asked_for_again_by_tcp),
		CARES_TEST(test_cares_truncated_answer_and_no_tcp_is_told_as_such),
		CARES_TEST(test_cares_without_descriptors_is_told_as_such_and_asks_when_there_are_some),
		CARES_TEST(test_cares_bad_name_ends_without_a_question),
		CARES_TEST(test_cares_names_beyond_all_channels_are_told_to_wait),
		CARES_TEST(test_cares_dropped_exchange_is_not_told),
		CARES_TEST(test_cares_idle_keeps_no_sockets),
		CARES_TEST(test_cares_abandoned_closes_its_sockets_without_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
