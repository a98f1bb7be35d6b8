/* SPDX-License-Identifier: BSD-2-Clause */
/* What events and results say, compared with getaddrinfo() on the same configuration. Servers: liar and NSD. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "../unit/test.h"
#include "user.h"

#define LIAR "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n"
#define PATIENT "nameserver 127.0.0.5\noptions timeout:20 attempts:1\n"
#define NSD "nameserver 127.0.0.2\noptions timeout:1 attempts:1\n"

static int with_liar(void **state)
{
	(void)state;
	user_write("/etc/resolv.conf", LIAR);
	return 0;
}

static int with_nsd(void **state)
{
	(void)state;
	user_write("/etc/resolv.conf", NSD);
	return 0;
}

static void libc_text(const char *node, int family, char *text, size_t size)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	char address[NI_MAXHOST];
	struct addrinfo *list;
	size_t len = 0;

	*text = '\0';
	if (getaddrinfo(node, NULL, &hints, &list))
		return;
	for (const struct addrinfo *ai = list; ai && len < size; ai = ai->ai_next) {
		getnameinfo(ai->ai_addr, ai->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST);
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? " " : "", address);
	}
	freeaddrinfo(list);
}

/* F4, F20: each way to fail is an event with one status, a negative errno, its EAI code, and a text. */
static void test_f4_event_each_failure_has_its_own_status_and_text(void **state)
{
	static const struct {
		const char *node;
		int status;
		int eai;
	} rows[] = {
		{ "nxdomain.liar.test", -ENOENT, EAI_NONAME },	{ "nodata.liar.test", -ENODATA, EAI_NODATA },
		{ "servfail.liar.test", -EAGAIN, EAI_AGAIN },	{ "refused.liar.test", -EIO, EAI_AGAIN },
		{ "formerr.liar.test", -EIO, EAI_FAIL },	{ "notimp.liar.test", -EIO, EAI_FAIL },
		{ "trunc.liar.test", -EAGAIN, EAI_AGAIN },	{ "silent.liar.test", -ETIMEDOUT, EAI_AGAIN },
		{ "wrongid.liar.test", -ETIMEDOUT, EAI_AGAIN }, { "garbage.liar.test", -ETIMEDOUT, EAI_AGAIN },
	};
	struct rdma_addrinfo *list = (void *)1;
	struct user u = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		user_write("/etc/resolv.conf", rows[i].status == -ETIMEDOUT ? LIAR : PATIENT);
		user_ask(&u, rows[i].node);
		if (u.status != rows[i].status || (int)u.arg != rows[i].eai)
			print_error("%s: %d, %d, \"%s\"\n", rows[i].node, u.status, (int)u.arg, u.text);
		assert_int_equal(u.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
		assert_int_equal(u.status, rows[i].status);
		assert_int_equal((int)u.arg, rows[i].eai);
		assert_non_null(strstr(u.text, "127.0.0.5"));
		assert_int_equal(rdma_query_addrinfo(u.id, &list), -1);
		assert_int_equal(errno, ENOENT);
		/* The same, waited for: an EAI code, or -1 with a positive errno, never another mixture. */
		errno = 0;
		if (rdma_getaddrinfo(rows[i].node, NULL, NULL, &list) == -1)
			assert_true(errno > 0);
	}
	user_destroy(&u);
}

/* F6: two addresses of each family, all four, in order, each filled in all its fields. */
static void test_f6_results_all_four_addresses_each_filled(void **state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo *list, *ai;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char text[USER_TEXT], libc[USER_TEXT];
	int count = 0;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, "two.rai.test", "7471", NULL), 0);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(event->param.arg, 4);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	for (ai = list; ai; ai = ai->ai_next, count++) {
		assert_int_equal(ai->ai_family, ai->ai_dst_addr->sa_family);
		assert_int_equal(ai->ai_dst_len, ai->ai_family == AF_INET ? sizeof(struct sockaddr_in) :
									    sizeof(struct sockaddr_in6));
		assert_int_equal(ntohs(((struct sockaddr_in *)ai->ai_dst_addr)->sin_port), 7471);
		assert_int_equal(ai->ai_qp_type, IBV_QPT_RC);
		assert_int_equal(ai->ai_port_space, RDMA_PS_TCP);
	}
	assert_int_equal(count, 4);
	assert_string_equal(list->ai_dst_canonname, "two.rai.test");
	user_print(list, text, sizeof(text));
	libc_text("two.rai.test", AF_UNSPEC, libc, sizeof(libc));
	assert_string_equal(text, libc);
	rdma_freeaddrinfo(list);
	assert_int_equal(rdma_query_addrinfo(id, &list), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

static void test_results_wanted_family_only_as_getaddrinfo(void **state)
{
	static const char *const nodes[] = { "two.rai.test", "alias.rai.test", "four.rai.test", "v6.rai.test",
					     "kinds.rai.test", "large.rai.test" };
	char text[8192], libc[8192];

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		for (int j = 0; j < 3; j++) {
			const int family = (int[]){ AF_UNSPEC, AF_INET, AF_INET6 }[j];
			const struct rdma_addrinfo hints = { .ai_family = family, .ai_port_space = RDMA_PS_TCP };
			struct rdma_addrinfo *list = NULL;

			rdma_getaddrinfo(nodes[i], NULL, &hints, &list);
			user_print(list, text, sizeof(text));
			rdma_freeaddrinfo(list);
			libc_text(nodes[i], family, libc, sizeof(libc));
			assert_string_equal(text, libc);
		}
	}
}

/* F37: a rewritten resolv.conf is in force for the next call. */
static void test_f37_resolve_after_resolv_conf_changed_asks_the_new_server(void **state)
{
	struct user u = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		user_write("/etc/resolv.conf", "nameserver 127.0.0.99\noptions timeout:1 attempts:1\n");
		user_ask(&u, "v4.rai.test");
		assert_int_equal(u.event, RDMA_CM_EVENT_ADDRINFO_ERROR);
		user_write("/etc/resolv.conf", NSD "search rai.test\n");
		user_ask(&u, i % 2 ? "v6" : "four");
		assert_string_equal(u.text, i % 2 ? "2001:db8::6" : "192.0.2.1 192.0.2.2 198.51.100.3 203.0.113.4");
	}
	user_destroy(&u);
}

/* F38: hosts file, its order, search list, ndots, as getaddrinfo() has them. */
static void test_f38_resolve_by_hosts_order_and_search_as_getaddrinfo(void **state)
{
	static const char *const orders[] = { "hosts: files dns\n", "hosts: dns files\n", "hosts: files\n",
					      "hosts: files [NOTFOUND=return] dns\n", "hosts: dns\n" };
	static const char *const resolvs[] = { NSD, NSD "search rai.test\n", NSD "search .\n",
					       NSD "search sub.rai.test rai.test\noptions ndots:2\n" };
	static const char *const nodes[] = { "inhosts.rai.test", "inhosts", "short", "a.b", "localhost" };
	char libc[USER_TEXT];
	struct user u = { 0 };
	const uint32_t fresh = 1;

	(void)state;
	user_create(&u, NULL);
	assert_int_equal(rdma_set_option(u.id, RDMA_OPTION_RAI, RAI_OPTION_FRESH, (void *)&fresh, sizeof(fresh)), 0);
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		for (size_t j = 0; j < sizeof(resolvs) / sizeof(*resolvs); j++) {
			user_write("/etc/nsswitch.conf", orders[i]);
			user_write("/etc/resolv.conf", resolvs[j]);
			for (size_t k = 0; k < sizeof(nodes) / sizeof(*nodes); k++) {
				user_ask(&u, nodes[k]);
				libc_text(nodes[k], AF_UNSPEC, libc, sizeof(libc));
				assert_string_equal(u.event == RDMA_CM_EVENT_ADDRINFO_RESOLVED ? u.text : "", libc);
			}
		}
	}
	user_write("/etc/nsswitch.conf", "hosts: files dns\n");
	user_destroy(&u);
}

/* F12: what is a number and what is none, in which family, with which scope. */
static void test_f12_results_of_odd_literals_as_getaddrinfo(void **state)
{
	static const char *const texts[] = {
		"127.0.0.1", "127.1", "0x7f.1", "0177.0.0.1", "010.0.0.1", "1.2.3", "1.2", "1", "0", "4294967295",
		"4294967296", "256.1.1.1", "1.2.3.256", "1.2.3.4.5", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4x", "1..2.3", "1.2.3.",
		"0x", "0xffffffff", "08.1.1.1", "0x7f000001", "127.0.0.0x1", "255.255.255.255", "0.0.0.0", "224.0.0.1", "1e1",
		"1.2.3.4%rai0", "+1.2.3.4", "-1", "::", "::1", "1::2::3", "::ffff:1.2.3.4", "::1.2.3.4", "::ffff:1.2.3.256",
		"fe80::1", "fe80::1%rai0", "fe80::1%lo", "fe80::1%1", "fe80::1%99999", "fe80::1%nosuch", "fe80::1%",
		"2001:db8::1%rai0", "2001:db8::1%1", "ff02::1%rai0", "ff02::1%2", "::1%lo", "[::1]", "::1 ", "2001:DB8::A",
		"2001:0db8:0:0:0:0:0:1", "2001:db8::1/64", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:1.2.3.4",
		":::", ":", "::g", "0:0:0:0:0:0:0:0", "00000::1",
	};
	static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6 };
	struct user u = { 0 };
	char theirs[USER_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (int j = 0; j < 3; j++) {
			const struct rdma_addrinfo hints = { .ai_family = families[j] };

			libc_text(texts[i], families[j], theirs, sizeof(theirs));
			user_start(&u, texts[i], NULL, &hints);
			assert_true(user_wait(&u, 30000));
			if (strcmp(u.status ? "" : u.text, theirs))
				print_error("\"%s\", family %d: status %d\n", texts[i], families[j], u.status);
			assert_string_equal(u.status ? "" : u.text, theirs);
		}
	}
	user_destroy(&u);
}

/* Equal lookups in flight share one question, and the answer is kept for its TTL. */
static void test_results_equal_lookups_ask_once_and_kept_answers_not_at_all(void **state)
{
	struct rai_stats before, after;
	struct user *u = calloc(100, sizeof(*u));

	(void)state;
	/* The files that the test before changed are taken for changed until a while after. */
	user_ask(&u[0], "delay-50-before.liar.test");
	user_destroy(&u[0]);
	user_ask(&u[0], "delay-50-then.liar.test");
	user_destroy(&u[0]);
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	for (int i = 0; i < 100; i++)
		user_start(&u[i], "delay-50-shared.liar.test", NULL, NULL);
	for (int i = 0; i < 100; i++) {
		assert_true(user_wait(&u[i], 5000));
		assert_string_equal(u[i].text, "2001:db8::5 192.0.2.5");
	}
	user_ask(&u[0], "delay-50-shared.liar.test");
	assert_string_equal(u[0].text, "2001:db8::5 192.0.2.5");
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(after.lookups - before.lookups, 1);
	assert_int_equal(after.shared - before.shared + after.kept_hits - before.kept_hits, 100);
	for (int i = 0; i < 100; i++)
		user_destroy(&u[i]);
	free(u);
}

/* Asked a few times, as one may come a second after the other on a busy machine. */
static void assert_kept(struct user *u, const char *node, bool kept)
{
	struct rai_stats before, after;

	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	for (int i = 0; i < 10; i++) {
		user_ask(u, node);
		assert_int_equal(u->status, -ENOENT);
	}
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(after.kept_hits > before.kept_hits, kept);
}

/* RFC 2308, section 5. */
static void test_results_no_such_name_is_kept_if_its_zone_says_so(void **state)
{
	struct user u = { 0 };

	(void)state;
	assert_kept(&u, "soa-60-kept.liar.test", true);
	assert_kept(&u, "soa-0-unkept.liar.test", false);
	assert_kept(&u, "nxdomain-unkept.liar.test", false);
	user_destroy(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_f4_event_each_failure_has_its_own_status_and_text, with_liar),
		cmocka_unit_test_setup(test_f6_results_all_four_addresses_each_filled, with_nsd),
		cmocka_unit_test_setup(test_results_wanted_family_only_as_getaddrinfo, with_nsd),
		cmocka_unit_test_setup(test_f37_resolve_after_resolv_conf_changed_asks_the_new_server, with_nsd),
		cmocka_unit_test_setup(test_f38_resolve_by_hosts_order_and_search_as_getaddrinfo, with_nsd),
		cmocka_unit_test_setup(test_f12_results_of_odd_literals_as_getaddrinfo, with_nsd),
		cmocka_unit_test_setup(test_results_equal_lookups_ask_once_and_kept_answers_not_at_all, with_liar),
		cmocka_unit_test_setup(test_results_no_such_name_is_kept_if_its_zone_says_so, with_liar),
	};
	int rc;

	user_open();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	user_close();
	return rc;
}
