/* SPDX-License-Identifier: BSD-2-Clause */
/* Services by their SRV records, at NSD, unbound and dnsmasq, and at a server that lies. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "user.h"

enum { LIST = 4096, CHAOS = 400 };

static const struct rdma_addrinfo srv = { .ai_flags = RAI_SRV };
static char told[LIST];

static void use(const char *server, const char *lines)
{
	char text[256];

	snprintf(text, sizeof(text), "nameserver %s\noptions timeout:1 attempts:1\n%s", server, lines);
	user_write("/etc/resolv.conf", text);
}

/* "10:7001 t1.rai.test 192.0.2.101\n" */
static void print(const struct rdma_addrinfo *list)
{
	char address[NI_MAXHOST];
	struct rai_srv_record r;
	size_t len = 0;

	for (const struct rdma_addrinfo *ai = list; ai && len < sizeof(told); ai = ai->ai_next) {
		assert_int_equal(ai->ai_flags, RAI_SRV);
		assert_int_equal(rai_addrinfo_srv(ai, &r), 0);
		assert_string_equal(ai->ai_dst_canonname, r.target);
		getnameinfo(ai->ai_dst_addr, ai->ai_dst_len, address, sizeof(address), NULL, 0, NI_NUMERICHOST);
		assert_int_equal(ntohs(((struct sockaddr_in *)ai->ai_dst_addr)->sin_port), r.port);
		len += (size_t)snprintf(told + len, sizeof(told) - len, "%u:%u %s %s\n", r.priority, r.port, r.target,
					address);
	}
}

/* What the event says: a list as above, or why not. */
static int ask(const char *node, const char *service, int family, int port_space)
{
	const struct rdma_addrinfo hints = {
		.ai_flags = RAI_SRV, .ai_family = family, .ai_port_space = port_space,
	};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo *list = NULL;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int status;

	told[0] = '\0';
	assert_non_null(channel);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, node, service, &hints), 0);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	status = event->status;
	if (status)
		rai_event_text(event, told, sizeof(told));
	if (!status) {
		assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
		assert_int_equal(rdma_query_addrinfo(id, &list), 0);
		print(list);
		rdma_freeaddrinfo(list);
	}
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return status;
}

static void assert_order(const char *first, const char *second)
{
	const char *a = strstr(told, first), *b = strstr(told, second);

	if (!a || !b || a > b)
		fail_msg("%s not before %s in\n%s", first, second, told);
}

static const char *const servers[] = { "127.0.0.2", "127.0.0.3", "127.0.0.4" };

static void test_srv_records_of_each_server_come_by_priority_with_ports(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		use(servers[i], "");
		assert_int_equal(ask("srv.rai.test", "nfs", 0, 0), 0);
		assert_non_null(strstr(told, "10:7001 t1.rai.test 192.0.2.101\n"));
		assert_non_null(strstr(told, "10:7001 t1.rai.test 2001:db8::101\n"));
		assert_order("10:7001", "20:7003 t3.rai.test 2001:db8::103\n");
		assert_order("10:7002 t2.rai.test 192.0.2.102\n", "20:7003");
		assert_int_equal(ask("srv.rai.test", "nfs", AF_INET, 0), 0);
		assert_null(strstr(told, "2001:db8"));
		assert_null(strstr(told, "7003"));
		assert_int_equal(ask("srv.rai.test", "nfs", 0, RDMA_PS_UDP), 0);
		assert_non_null(strstr(told, "0:7009 t1.rai.test"));
	}
}

/* A message of this size comes over TCP. */
static void test_srv_many_records_come_whole_and_in_order(void **state)
{
	char line[64];
	const char *at;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		use(servers[i], "");
		assert_int_equal(ask("srv.rai.test", "many", AF_INET, 0), 0);
		at = told;
		for (int n = 1; n <= 120 && at - told < LIST - 100; n++) {
			snprintf(line, sizeof(line), "%d:%d many%d.rai.test 192.0.2.%d\n", n, 7000 + n, n, n);
			if (strncmp(at, line, strlen(line)) != 0)
				fail_msg("%s not at its place in\n%s", line, told);
			at += strlen(line);
		}
	}
}

static void test_srv_failures_have_their_status_and_words(void **state)
{
	static const struct { const char *service, *word; int status; } rows[] = {
		{ "nosuch", "no such name", -ENOENT }, { "none", "no SRV record", -ENODATA },
		{ "gone", "decidedly not available", -ENOENT }, { "lost", "no target has an address", -ENODATA },
		{ "loop1", "", -ENODATA },
	};

	(void)state;
	use("127.0.0.2", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(ask("srv.rai.test", rows[i].service, 0, 0), rows[i].status);
		if (!strstr(told, rows[i].word) || (*rows[i].word && !strstr(told, ".srv.rai.test")))
			fail_msg("%s: %s", rows[i].service, told);
	}
}

static void test_srv_targets_that_do_not_resolve_are_passed_over(void **state)
{
	(void)state;
	use("127.0.0.2", "");
	assert_int_equal(ask("srv.rai.test", "half", AF_INET, 0), 0);
	assert_string_equal(told, "1:7001 t1.rai.test 192.0.2.101\n");
}

static void test_srv_aliases_of_owner_and_target_are_followed(void **state)
{
	(void)state;
	use("127.0.0.2", "");
	assert_int_equal(ask("srv.rai.test", "alias", 0, 0), 0);
	assert_order("10:7001 t1.rai.test 192.0.2.101\n", "20:7003");	/* the two of priority 10 come by chance */
	assert_order("10:7002 t2.rai.test 192.0.2.102\n", "20:7003");
	assert_int_equal(ask("srv.rai.test", "talias", AF_INET, 0), 0);
	assert_order("0:7001 alias.rai.test 192.0.2.1\n", "0:7001 alias.rai.test 192.0.2.2\n");
}

static void test_srv_target_of_the_hosts_file_has_its_address(void **state)
{
	(void)state;
	use("127.0.0.2", "");
	assert_int_equal(ask("srv.rai.test", "inhosts", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 inhosts.rai.test 192.0.2.77\n");
}

static void test_srv_name_forms_and_search_list(void **state)
{
	(void)state;
	use("127.0.0.4", "search sub.rai.test rai.test\n");
	assert_int_equal(ask("srv", "nfs", AF_INET, 0), 0);
	assert_non_null(strstr(told, "10:7001 t1.rai.test"));
	assert_int_equal(ask("srv.rai.test.", "_nfs", AF_INET, 0), 0);
	assert_int_equal(ask("srv.rai.test", "_nfs._udp", AF_INET, 0), 0);
	assert_non_null(strstr(told, "7009"));
	assert_int_equal(ask("_nfs._tcp.srv.rai.test", NULL, AF_INET, 0), 0);
	assert_int_equal(ask("plain.srv.rai.test", NULL, AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 t1.rai.test 192.0.2.101\n");
	/* "t1.rai.test" is a full name: its domain isn't tried twice; a dot at the end of node ends the search. */
	assert_int_equal(ask("srv.", "nfs", AF_INET, 0), -ENOENT);
}

static void test_srv_domain_may_be_the_root(void **state)
{
	(void)state;
	use("127.0.0.5", "search rai.test\n");
	assert_int_equal(ask(".", "srv-plain", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 live 192.0.2.5\n");
	assert_int_equal(ask("_srv-plain._tcp.", NULL, AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 live 192.0.2.5\n");
	/* All names are below the root, so of an address that comes along nothing is believed. */
	assert_int_equal(ask(".", "srv-stranger", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 live 192.0.2.5\n");
	assert_int_equal(ask(".", "srv-root", AF_INET, 0), -ENOENT);
	assert_non_null(strstr(told, "decidedly"));
}

/* Kept as it is, the order is drawn for each: 60 times the same one of four has a chance of 4^-59. */
static void test_srv_kept_answer_has_an_order_of_its_own_each_time(void **state)
{
	struct rai_stats before, after;
	unsigned first[4] = { 0 }, seen = 0;

	(void)state;
	use("127.0.0.2", "");
	assert_int_equal(ask("srv.rai.test", "equal", AF_INET, 0), 0);
	rai_get_stats(&before, sizeof(before));
	for (int i = 0; i < 60; i++) {
		assert_int_equal(ask("srv.rai.test", "equal", AF_INET, 0), 0);
		first[told[5] - '1']++;
	}
	rai_get_stats(&after, sizeof(after));
	assert_int_equal(after.kept_hits - before.kept_hits, 60);
	for (int i = 0; i < 4; i++)
		seen += !!first[i];
	assert_true(seen > 1);
}

static void test_srv_lies_beside_the_records_are_not_believed(void **state)
{
	(void)state;
	use("127.0.0.5", "");
	/* Of the domain asked for: it is believed, and the silent host not asked. */
	assert_int_equal(ask("liar.test", "srv-in", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 silent.liar.test 10.1.1.1\n");
	assert_int_equal(ask("liar.test", "srv-out", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 live.other.test 192.0.2.5\n");
	assert_int_equal(ask("liar.test", "srv-stranger", AF_INET, 0), 0);
	assert_string_equal(told, "0:7001 live.liar.test 192.0.2.5\n");
}

static void test_srv_broken_records_are_told_as_such(void **state)
{
	(void)state;
	use("127.0.0.5", "");
	assert_int_equal(ask("liar.test", "srv-short", 0, 0), -EIO);
	assert_non_null(strstr(told, "malformed"));
	assert_int_equal(ask("liar.test", "srv-long", 0, 0), -EIO);
	assert_int_equal(ask("liar.test", "srv-host", 0, 0), -EIO);
	assert_int_equal(ask("liar.test", "srv-root", 0, 0), -ENOENT);
	assert_non_null(strstr(told, "decidedly"));
	assert_int_equal(ask("liar.test", "servfail", 0, 0), -EAGAIN);
	assert_int_equal(ask("liar.test", "silent", 0, 0), -ETIMEDOUT);
	assert_int_equal(ask("liar.test", "loop", 0, 0), -ENODATA);
	assert_int_equal(ask("liar.test", "pieces", AF_INET, 0), 0);
}

static void test_srv_silent_target_does_not_hold_up_the_others(void **state)
{
	(void)state;
	use("127.0.0.5", "options timeout:30\n");
	assert_int_equal(ask("liar.test", "srv-half", AF_INET, 0), 0);
	assert_string_equal(told, "1:7001 live.liar.test 192.0.2.5\n");
	use("127.0.0.5", "");
	/* One that isn't there, and one that may be soon. */
	assert_int_equal(ask("liar.test", "srv-void", 0, 0), -EAGAIN);
	assert_non_null(strstr(told, "target servfail.liar.test"));
}

static void test_srv_waited_for_is_the_same(void **state)
{
	const struct rdma_addrinfo datagrams = { .ai_flags = RAI_SRV, .ai_qp_type = IBV_QPT_UD };
	struct rdma_addrinfo *list;

	(void)state;
	use("127.0.0.2", "");
	assert_int_equal(rdma_getaddrinfo("srv.rai.test", "nfs", &srv, &list), 0);
	print(list);
	rdma_freeaddrinfo(list);
	assert_non_null(strstr(told, "10:7001 t1.rai.test"));
	assert_int_equal(rdma_getaddrinfo("srv.rai.test", "nfs", &datagrams, &list), 0);
	print(list);
	rdma_freeaddrinfo(list);
	assert_non_null(strstr(told, "0:7009 t1.rai.test"));
	assert_int_equal(rdma_getaddrinfo("srv.rai.test", "gone", &srv, &list), EAI_NONAME);
	assert_int_equal(rdma_getaddrinfo("srv.rai.test", "a.b", &srv, &list), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_srv_source_hosts_has_none(void **state)
{
	const uint32_t source = RAI_SOURCE_HOSTS;
	struct user u = { 0 };

	(void)state;
	use("127.0.0.2", "");
	user_create(&u, NULL);
	assert_int_equal(rdma_set_option(u.id, RDMA_OPTION_RAI, RAI_OPTION_SOURCE, (void *)&source, sizeof(source)), 0);
	user_start(&u, "srv.rai.test", "nfs", &srv);
	assert_true(user_wait(&u, 30000));
	assert_int_equal(u.status, -ENOENT);
	assert_non_null(strstr(u.text, "hosts file has no SRV records"));
	user_destroy(&u);
}

static void test_srv_cancelled_is_told_once(void **state)
{
	struct user u = { 0 };

	(void)state;
	use("127.0.0.5", "");
	for (int i = 0; i < 2; i++) {
		user_start(&u, "liar.test", i ? "srv-half" : "silent", &srv);
		assert_int_equal(rai_cancel(u.id), 0);
		assert_true(user_wait(&u, 30000));
		assert_int_equal(u.status, -ECANCELED);
		u.done = false;
	}
	user_start(&u, "liar.test", "srv-half", &srv);
	user_destroy(&u);
}

/* Whatever the server does: one event each, and no id is left waiting. */
static void test_srv_chaos_each_is_told_once(void **state)
{
	static struct user users[CHAOS];
	char service[32];
	unsigned found = 0;

	(void)state;
	use("127.0.0.5", "");
	for (int i = 0; i < CHAOS; i++) {
		snprintf(service, sizeof(service), "chaos-%d", i);
		user_start(&users[i], "liar.test", service, &srv);
	}
	for (int i = 0; i < CHAOS; i++) {
		assert_true(user_wait(&users[i], 60000));
		found += !users[i].status;
		user_destroy(&users[i]);
	}
	assert_uint_in_range(found, CHAOS / 8, CHAOS - CHAOS / 8);
}

#ifndef __SANITIZE_THREAD__
/* Asked in the parent, told in the child, at whichever step it was. */
static void test_srv_under_way_at_a_fork_is_told_in_the_child(void **state)
{
	struct rdma_cm_event *event;
	struct user u = { 0 };
	int status;
	pid_t pid;

	(void)state;
	use("127.0.0.5", "");
	for (int step = 0; step < 2; step++) {
		user_start(&u, "liar.test", step ? "srv-late" : "delay-200", &srv);
		/* The records are there at once, the target is not. */
		if (step)
			user_wait(&u, 100);
		assert_false(u.done);
		pid = fork();
		assert_true(pid >= 0);
		/* It goes on with the first call. */
		if (!pid && rdma_get_cm_event(user_channel, &event))
			_exit(!(user_wait(&u, 60000) && !u.status));
		assert_true(user_wait(&u, 60000));
		assert_int_equal(u.status, 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		u.done = false;
	}
	user_destroy(&u);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_srv_records_of_each_server_come_by_priority_with_ports),
		cmocka_unit_test(test_srv_many_records_come_whole_and_in_order),
		cmocka_unit_test(test_srv_failures_have_their_status_and_words),
		cmocka_unit_test(test_srv_targets_that_do_not_resolve_are_passed_over),
		cmocka_unit_test(test_srv_aliases_of_owner_and_target_are_followed),
		cmocka_unit_test(test_srv_target_of_the_hosts_file_has_its_address),
		cmocka_unit_test(test_srv_name_forms_and_search_list),
		cmocka_unit_test(test_srv_domain_may_be_the_root),
		cmocka_unit_test(test_srv_kept_answer_has_an_order_of_its_own_each_time),
		cmocka_unit_test(test_srv_lies_beside_the_records_are_not_believed),
		cmocka_unit_test(test_srv_broken_records_are_told_as_such),
		cmocka_unit_test(test_srv_silent_target_does_not_hold_up_the_others),
		cmocka_unit_test(test_srv_waited_for_is_the_same),
		cmocka_unit_test(test_srv_source_hosts_has_none),
		cmocka_unit_test(test_srv_cancelled_is_told_once),
		cmocka_unit_test(test_srv_chaos_each_is_told_once),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_srv_under_way_at_a_fork_is_told_in_the_child),
#endif
	};
	int rc;

	user_open();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	user_close();
	return rc;
}
