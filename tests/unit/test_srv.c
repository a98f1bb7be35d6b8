/* SPDX-License-Identifier: BSD-2-Clause */
/* A service by its SRV records: who is asked about which target, and what is told. */
#include "dns/srv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/container.h"
#include "fake_clock.h"
#include "fake_malloc.h"
#include "test.h"

enum { LOOKUPS = 300 };

/* A lookup that the test answers. */
struct asked {
	struct rcm_dns_lookup base;
	bool under_way, srv;
	int family;
	char name[300];
};

static struct rcm_loop loop;
static struct rcm_srv_list *list;
static struct asked asked[LOOKUPS];
static unsigned asked_count, cancelled;
static bool extras, hosts_fail;

static struct {
	unsigned done;
	int status, code, missing;
	uint32_t ttl;
	unsigned lost;
	char text[4096];
} told;

/* ---- Who is asked ---- */

static void asked_cancel(struct rcm_dns_lookup *lookup)
{
	struct asked *a = rcm_container(lookup, struct asked, base);

	assert_true(a->under_way);
	a->under_way = false;
	cancelled++;
}

static int ask(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
	       struct rcm_dns_lookup **ret_lookup)
{
	static const struct rcm_lookup_ops ops = { .cancel = asked_cancel };
	struct asked *a = &asked[asked_count];

	(void)dns;
	if (hosts_fail && !query->srv)
		return -ENOMEM;
	assert_true(asked_count < LOOKUPS);
	asked_count++;
	rcm_lookup_init(&a->base, &ops, query, done, arg);
	a->under_way = true;
	a->srv = query->srv;
	a->family = query->family;
	assert_int_equal(query->full, !query->srv);
	strcpy(a->name, query->name);
	*ret_lookup = &a->base;
	return 0;
}

/* The hosts file knows "inhosts". */
static int host_now(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg)
{
	union rcm_dns_address one = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001) } };
	const struct rcm_dns_answer answer = { .count = 1, .addresses = &one };

	(void)dns;
	if (strcmp(query->name, "inhosts") != 0)
		return 0;
	done(arg, &answer);
	return 1;
}

static bool extras_count(struct rcm_dns *dns, enum rcm_dns_source source)
{
	(void)dns;
	(void)source;
	return extras;
}

static const struct rcm_srv_ops ops = {
	.records = ask, .host_now = host_now, .host = ask, .extras_count = extras_count,
};

static unsigned under_way(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < asked_count; i++)
		count += asked[i].under_way;
	return count;
}

static struct asked *find(const char *name)
{
	for (unsigned i = 0; i < asked_count; i++)
		if (asked[i].under_way && !strcmp(asked[i].name, name))
			return &asked[i];
	fail_msg("%s is not asked for", name);
	return NULL;
}

static void answer(const char *name, const struct rcm_dns_answer *with)
{
	struct asked *a = find(name);

	a->under_way = false;
	a->base.done(a->base.arg, with);
}

static void put(union rcm_dns_address *to, const char *text)
{
	bool v6 = strchr(text, ':');

	memset(to, 0, sizeof(*to));
	to->sa.sa_family = v6 ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(to->sa.sa_family, text, v6 ? (void *)&to->in6.sin6_addr : (void *)&to->in.sin_addr), 1);
}

static void found(const char *name, const char *address, uint32_t ttl)
{
	union rcm_dns_address one;

	put(&one, address);
	answer(name, &(struct rcm_dns_answer){ .ttl = ttl, .count = 1, .addresses = &one });
}

static void failed(const char *name, int status, int code, uint32_t ttl)
{
	answer(name, &(struct rcm_dns_answer){ .status = status, .code = code, .ttl = ttl, .text = "for a reason" });
}

/* Records for these targets, of priorities 0, 1 and so on, and of those with addresses what came along. */
static void records(const char *const *targets, unsigned count, const char *first_extra, const char *second_extra)
{
	union rcm_dns_address along[2];
	struct rcm_dns_srv srv[LOOKUPS] = { 0 };
	struct rcm_dns_answer with = { .ttl = 60, .srv_count = count, .srv = srv, .addresses = along };

	for (unsigned i = 0; i < count; i++) {
		srv[i].priority = (uint16_t)i;
		srv[i].port = (uint16_t)(7000 + i);
		strcpy(srv[i].target, targets[i]);
	}
	if (first_extra)
		put(&along[srv[0].count++], first_extra);
	if (second_extra)
		put(&along[srv[0].count++], second_extra);
	with.count = srv[0].count;
	answer("_nfs._tcp.dom", &with);
}
#define RECORDS(...) records((const char *const[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
			     NULL, NULL)

/* ---- Who asks ---- */

static void take(void *arg, const struct rcm_dns_answer *a)
{
	char one[INET6_ADDRSTRLEN];
	size_t len = 0;

	(void)arg;
	told.done++;
	told.status = a->status;
	told.code = a->code;
	told.ttl = a->ttl;
	told.missing = a->missing;
	told.lost = a->targets_lost;
	strcpy(told.text, a->text ? a->text : "");
	for (unsigned r = 0; r < a->srv_count; r++) {
		len += (size_t)sprintf(told.text + len, "%s%s:%u", r ? "|" : "", a->srv[r].target, a->srv[r].port);
		for (unsigned i = a->srv[r].first; i < a->srv[r].first + a->srv[r].count; i++) {
			const union rcm_dns_address *address = &a->addresses[i];
			const void *bytes = address->sa.sa_family == AF_INET ? (void *)&address->in.sin_addr :
									      (void *)&address->in6.sin6_addr;

			if (len < sizeof(told.text) - 200)
				len += (size_t)sprintf(told.text + len, " %s",
						       inet_ntop(address->sa.sa_family, bytes, one, sizeof(one)));
		}
	}
}

static struct rcm_dns_lookup *start(int family)
{
	const struct rcm_dns_query query = { .name = "_nfs._tcp.dom", .family = family, .srv = true };
	struct rcm_dns_lookup *lookup;

	memset(&told, 0, sizeof(told));
	assert_int_equal(rcm_srv_start(list, &query, take, NULL, &lookup), 0);
	assert_true(find("_nfs._tcp.dom")->srv);
	return lookup;
}

static void assert_told(int status, const char *text)
{
	assert_int_equal(told.done, 1);
	assert_int_equal(told.status, status);
	assert_string_equal(told.text, text);
	assert_int_equal(under_way(), 0);
}

static int set_up(void **state)
{
	(void)state;
	asked_count = cancelled = 0;
	extras = true;
	hosts_fail = false;
	rcm_fake_clock_use(RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	return rcm_srv_open(&loop, &ops, NULL, &list);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_srv_close(list);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void advance_ms(unsigned ms)
{
	rcm_fake_clock_advance(ms * RCM_NS_PER_MS);
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

/* ---- What comes of it ---- */

static void test_srv_targets_are_asked_about_and_told_together(void **state)
{
	(void)state;
	start(AF_UNSPEC);
	RECORDS("a", "b", "A");
	assert_int_equal(under_way(), 2);
	found("b", "2001:db8::1", 30);
	assert_int_equal(told.done, 0);
	found("a", "192.0.2.1", 40);
	assert_told(0, "a:7000 192.0.2.1|b:7001 2001:db8::1|A:7002 192.0.2.1");
	assert_int_equal(told.ttl, 30);
}

static void test_srv_addresses_of_a_target_are_told_up_to_their_limit(void **state)
{
	union rcm_dns_address many[RCM_SRV_ADDRESSES_MAX + 1];
	unsigned count = 0;
	char text[20];

	(void)state;
	for (unsigned i = 0; i <= RCM_SRV_ADDRESSES_MAX; i++) {
		snprintf(text, sizeof(text), "192.0.2.%u", i);
		put(&many[i], text);
	}
	start(AF_INET);
	RECORDS("a.dom");
	answer("a.dom", &(struct rcm_dns_answer){ .ttl = 60, .count = RCM_SRV_ADDRESSES_MAX + 1, .addresses = many });
	assert_int_equal(told.done, 1);
	for (const char *at = told.text; (at = strstr(at, " 192.0.2.")); at++)
		count++;
	assert_int_equal(count, RCM_SRV_ADDRESSES_MAX);
}

static void test_srv_without_records_is_told_as_it_came(void **state)
{
	(void)state;
	start(AF_UNSPEC);
	failed("_nfs._tcp.dom", -ENODATA, EAI_NODATA, 9);
	assert_told(-ENODATA, "for a reason");
	assert_int_equal(told.code, EAI_NODATA);
	assert_int_equal(told.ttl, 9);
}

static void test_srv_extras_save_the_question_they_answer(void **state)
{
	(void)state;
	start(AF_INET);
	records((const char *[]){ "a" }, 1, "192.0.2.1", "2001:db8::1");
	assert_told(0, "a:7000 192.0.2.1");
	start(AF_UNSPEC);
	records((const char *[]){ "a" }, 1, "192.0.2.1", "2001:db8::1");
	assert_told(0, "a:7000 192.0.2.1 2001:db8::1");
	/* One family of both: the other is asked for. */
	start(AF_UNSPEC);
	records((const char *[]){ "a", "b" }, 2, "192.0.2.1", NULL);
	assert_int_equal(find("a")->family, AF_INET6);
	assert_int_equal(find("b")->family, AF_UNSPEC);
	found("b", "192.0.2.2", 60);
	found("a", "2001:db8::1", 50);
	assert_told(0, "a:7000 192.0.2.1 2001:db8::1|b:7001 192.0.2.2");
	assert_int_equal(told.ttl, 50);
	/* None of the wanted family. */
	start(AF_INET6);
	records((const char *[]){ "a" }, 1, "192.0.2.1", NULL);
	assert_int_equal(find("a")->family, AF_INET6);
	failed("a", -ENODATA, EAI_NODATA, 5);
	assert_told(-ENODATA, "target a: for a reason");
	/* Where others than name servers say what hosts are. */
	extras = false;
	start(AF_INET);
	records((const char *[]){ "a" }, 1, "192.0.2.1", NULL);
	found("a", "192.0.2.9", 60);
	assert_told(0, "a:7000 192.0.2.9");
}

static void test_srv_extras_stay_where_the_other_family_fails(void **state)
{
	static const struct { int status; uint32_t ttl; int missing; } rows[] = {
		{ -ENODATA, 33, 0 }, { -ETIMEDOUT, 0, AF_INET6 }, { -EAGAIN, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(AF_UNSPEC);
		records((const char *[]){ "a" }, 1, "192.0.2.1", NULL);
		failed("a", rows[i].status, EAI_AGAIN, 33);
		assert_told(0, "a:7000 192.0.2.1");
		assert_int_equal(told.ttl, rows[i].ttl);
		assert_int_equal(told.missing, rows[i].missing);
	}
}

static void test_srv_hosts_file_goes_before_extras_and_servers(void **state)
{
	(void)state;
	start(AF_INET);
	records((const char *[]){ "inhosts" }, 1, "192.0.2.1", NULL);
	assert_told(0, "inhosts:7000 10.0.0.1");
	assert_int_equal(told.ttl, 60);
}

static void test_srv_lost_targets_are_passed_over_and_limit_the_ttl(void **state)
{
	static const struct { int status; uint32_t ttl, kept; } rows[] = {
		{ -ENOENT, 30, RCM_TTL_NEGATIVE_S }, { -ENOENT, 0, 0 }, { -ETIMEDOUT, 30, 0 }, { -EIO, 30, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		start(AF_INET);
		RECORDS("a", "b");
		found("b", "192.0.2.2", 60);
		failed("a", rows[i].status, EAI_NONAME, rows[i].ttl);
		assert_told(0, "b:7001 192.0.2.2");
		assert_int_equal(told.lost, 1);
		assert_int_equal(told.ttl, rows[i].kept);
	}
}

static void test_srv_of_failures_the_one_that_may_pass_is_told(void **state)
{
	static const int rising[] = { -ENOENT, -ENODATA, -EIO, -EAGAIN, -ETIMEDOUT };

	(void)state;
	for (size_t worse = 1; worse < 5; worse++) {
		for (int first = 0; first < 2; first++) {
			start(AF_INET);
			RECORDS("a", "b");
			failed("a", rising[first ? worse : worse - 1], 100, 1);
			failed("b", rising[first ? worse - 1 : worse], 200, 1);
			assert_told(rising[worse], first ? "no target has an address; target a: for a reason" :
							   "no target has an address; target b: for a reason");
			assert_int_equal(told.code, first ? 100 : 200);
		}
	}
}

static void test_srv_want_of_this_process_ends_it(void **state)
{
	(void)state;
	start(AF_INET);
	RECORDS("a", "b", "c");
	found("a", "192.0.2.1", 60);
	failed("b", -EMFILE, EAI_SYSTEM, 0);
	assert_told(-EMFILE, "for a reason");
	assert_int_equal(cancelled, 1);
	hosts_fail = true;
	start(AF_INET);
	RECORDS("a");
	assert_int_equal(told.status, -ENOMEM);
	assert_int_equal(under_way(), 0);
}

static void test_srv_silent_targets_are_waited_for_a_while_after_others(void **state)
{
	(void)state;
	start(AF_INET);
	RECORDS("a", "b", "c");
	advance_ms(5000);
	assert_int_equal(told.done, 0);
	found("b", "192.0.2.2", 60);
	advance_ms(RCM_SRV_WAIT_MS - 1);
	assert_int_equal(told.done, 0);
	/* Another answer: others may be on their way. */
	found("c", "192.0.2.3", 60);
	advance_ms(RCM_SRV_WAIT_MS - 1);
	assert_int_equal(told.done, 0);
	advance_ms(1);
	assert_told(0, "b:7001 192.0.2.2|c:7002 192.0.2.3");
	assert_int_equal(told.ttl, 0);
	assert_int_equal(told.lost, 1);
	assert_int_equal(cancelled, 1);
}

static void test_srv_many_targets_are_asked_about_in_turn(void **state)
{
	static char names[LOOKUPS][8];
	const char *targets[100];

	(void)state;
	for (int i = 0; i < 100; i++) {
		sprintf(names[i], "t%d", i);
		targets[i] = names[i];
	}
	start(AF_INET);
	records(targets, 100, NULL, NULL);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(under_way(), 100 - i < RCM_SRV_AT_ONCE ? 100 - i : RCM_SRV_AT_ONCE);
		assert_int_equal(told.done, 0);
		found(names[i], "192.0.2.1", 60);
	}
	assert_int_equal(told.done, 1);
	assert_int_equal(told.lost, 0);
}

static void test_srv_whose_time_is_over_tells_what_was_found(void **state)
{
	struct rcm_dns_lookup *lookup;

	(void)state;
	lookup = start(AF_INET);
	assert_false(lookup->ops->partial(lookup, take, NULL));
	RECORDS("a", "b");
	assert_false(lookup->ops->partial(lookup, take, NULL));
	found("a", "192.0.2.1", 60);
	assert_true(lookup->ops->partial(lookup, take, NULL));
	assert_string_equal(told.text, "a:7000 192.0.2.1");
	assert_int_equal(told.ttl, 0);
	/* It goes on. */
	found("b", "192.0.2.2", 60);
	assert_int_equal(told.done, 2);
	assert_int_equal(told.ttl, 60);
}

static void test_srv_cancelled_or_closed_asks_nobody_any_more(void **state)
{
	struct rcm_dns_lookup *lookup;

	(void)state;
	lookup = start(AF_INET);
	lookup->ops->cancel(lookup);
	assert_int_equal(cancelled, 1);
	lookup = start(AF_INET);
	RECORDS("a", "b");
	found("a", "192.0.2.1", 60);
	lookup->ops->cancel(lookup);
	assert_int_equal(cancelled, 2);
	assert_int_equal(told.done, 0);
	assert_int_equal(under_way(), 0);
	/* Closed: who was asked is closed next, and isn't touched. */
	start(AF_INET);
	RECORDS("a", "b");
	rcm_srv_close(list);
	assert_int_equal(cancelled, 2);
	assert_int_equal(rcm_srv_open(&loop, &ops, NULL, &list), 0);
}

/* Each allocation failing in turn: it is told once, of that or of all. */
static void test_srv_without_memory_anywhere_is_told_once(void **state)
{
	const struct rcm_dns_query query = { .name = "_nfs._tcp.dom", .family = AF_UNSPEC, .srv = true };
	struct rcm_dns_lookup *lookup;
	bool failed_one = true;
	unsigned whole = 0;

	(void)state;
	for (unsigned nth = 1; failed_one; nth++) {
		memset(&told, 0, sizeof(told));
		rcm_fake_malloc_fail(nth);
		if (!rcm_srv_start(list, &query, take, NULL, &lookup)) {
			records((const char *[]){ "inhosts", "a", "b" }, 3, "192.0.2.1", NULL);
			for (unsigned i = 0; i < asked_count && !told.done; i++)
				if (asked[i].under_way && !strcmp(asked[i].name, "a"))
					found("a", "192.0.2.3", 60);
			if (!told.done)
				failed("b", -ETIMEDOUT, EAI_AGAIN, 0);
			if (told.done != 1)
				fail_msg("%u: %u, %u under way", nth, told.done, under_way());
		}
		failed_one = rcm_fake_malloc_calm();
		assert_int_equal(under_way(), 0);
		assert_true(!told.done || told.status == 0 || told.status == -ENOMEM);
		whole += told.done && !told.status;
		asked_count = 0;
	}
	assert_true(whole > 0);
	assert_int_equal(told.status, 0);
}

#define SRV_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SRV_TEST(test_srv_targets_are_asked_about_and_told_together),
		SRV_TEST(test_srv_addresses_of_a_target_are_told_up_to_their_limit),
		SRV_TEST(test_srv_without_records_is_told_as_it_came),
		SRV_TEST(test_srv_extras_save_the_question_they_answer),
		SRV_TEST(test_srv_extras_stay_where_the_other_family_fails),
		SRV_TEST(test_srv_hosts_file_goes_before_extras_and_servers),
		SRV_TEST(test_srv_lost_targets_are_passed_over_and_limit_the_ttl),
		SRV_TEST(test_srv_of_failures_the_one_that_may_pass_is_told),
		SRV_TEST(test_srv_want_of_this_process_ends_it),
		SRV_TEST(test_srv_silent_targets_are_waited_for_a_while_after_others),
		SRV_TEST(test_srv_many_targets_are_asked_about_in_turn),
		SRV_TEST(test_srv_whose_time_is_over_tells_what_was_found),
		SRV_TEST(test_srv_without_memory_anywhere_is_told_once),
		SRV_TEST(test_srv_cancelled_or_closed_asks_nobody_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
