/* SPDX-License-Identifier: BSD-2-Clause */
/* What is found of the hosts that SRV records name, and what is told of it. */
#include "dns/targets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "test.h"

enum { TTL = 300 };

static struct rcm_targets targets;
static union rcm_dns_address some[RCM_SRV_ADDRESSES_MAX + 1];

static int set_up(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= RCM_SRV_ADDRESSES_MAX; i++)
		some[i].in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000200 + i) };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_targets_clear(&targets);
	assert_null(targets.text);
	return 0;
}

/* One record of each: "a", "b", "A". */
static void take(int family)
{
	static struct rcm_dns_srv records[] = { { 1, 2, 3, .target = "a" }, { .target = "b" }, { .port = 9, .target = "A" } };
	const struct rcm_dns_answer answer = { .ttl = TTL, .srv_count = 3, .srv = records };

	rcm_targets_clear(&targets);
	assert_true(rcm_targets_take(&targets, &answer, family));
}

static bool end(unsigned i, struct rcm_dns_answer answer)
{
	return rcm_target_end(&targets.targets[i], &answer);
}

/* The last octets of a target's addresses. */
static void check_addresses(unsigned i, const char *expected)
{
	const struct rcm_target *target = &targets.targets[i];
	char text[256] = "";

	for (unsigned j = 0; j < target->count; j++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", j ? " " : "",
			 ntohl(targets.addresses[target->first + j].in.sin_addr.s_addr) & 0xff);
	assert_string_equal(text, expected);
}

static void test_targets_are_each_there_once_whatever_its_letters(void **state)
{
	(void)state;
	take(AF_INET6);
	assert_int_equal(targets.count, 2);
	assert_int_equal(targets.records_count, 3);
	assert_string_equal(targets.targets[0].name, "a");
	assert_string_equal(targets.targets[1].name, "b");
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(targets.targets[i].all, &targets);
		assert_int_equal(targets.targets[i].family, AF_INET6);
		assert_false(targets.targets[i].over);
	}
	assert_int_equal(targets.ttl, TTL);
	assert_int_equal(targets.records[2].port, 9);
}

static void test_target_has_its_addresses_together_as_they_came(void **state)
{
	(void)state;
	take(AF_UNSPEC);
	assert_true(rcm_target_add(&targets.targets[0], &some[1], 2));
	assert_true(rcm_target_add(&targets.targets[0], &some[3], 1));
	assert_int_equal(targets.addresses_count, 3);
	assert_int_equal(targets.found, 1);
	assert_true(rcm_target_add(&targets.targets[1], &some[10], 1));
	assert_int_equal(targets.found, 2);
	/* Another's are in between. */
	assert_true(rcm_target_add(&targets.targets[0], &some[4], 1));
	assert_true(rcm_target_add(&targets.targets[1], &some[11], 2));
	check_addresses(0, "1 2 3 4");
	check_addresses(1, "10 11 12");
	assert_int_equal(targets.found, 2);
	assert_true(rcm_target_add(&targets.targets[1], NULL, 0));
	check_addresses(1, "10 11 12");
}

static void test_target_has_no_more_addresses_than_the_limit(void **state)
{
	(void)state;
	take(AF_UNSPEC);
	assert_true(rcm_target_add(&targets.targets[0], some, RCM_SRV_ADDRESSES_MAX + 1));
	assert_int_equal(targets.targets[0].count, RCM_SRV_ADDRESSES_MAX);
	assert_true(rcm_target_add(&targets.targets[0], some, 1));
	assert_int_equal(targets.targets[0].count, RCM_SRV_ADDRESSES_MAX);
	assert_true(rcm_target_add(&targets.targets[1], some, RCM_SRV_ADDRESSES_MAX - 1));
	assert_true(rcm_target_add(&targets.targets[1], some, 2));
	assert_int_equal(targets.targets[1].count, RCM_SRV_ADDRESSES_MAX);
}

/* Of records of "b" and "a", that one's addresses are 1 (IPv4) and 2 (IPv6). */
static void test_target_takes_of_what_came_with_the_records_what_is_wanted(void **state)
{
	static const struct { int wanted; unsigned first, count, taken; bool over; int left; } rows[] = {
		{ AF_UNSPEC, 1, 0, 0, false, AF_UNSPEC }, { AF_UNSPEC, 1, 1, 1, false, AF_INET6 },
		{ AF_UNSPEC, 2, 1, 1, false, AF_INET }, { AF_UNSPEC, 1, 2, 2, true, AF_UNSPEC },
		{ AF_INET, 1, 2, 1, true, AF_INET }, { AF_INET, 2, 1, 0, false, AF_INET },
		{ AF_INET6, 1, 2, 1, true, AF_INET6 }, { AF_INET6, 1, 1, 0, false, AF_INET6 },
	};

	(void)state;
	some[2] = (union rcm_dns_address){ .in6.sin6_family = AF_INET6 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_dns_srv records[] = { { .target = "b", .first = 0, .count = 1 },
						 { .target = "A", .first = rows[i].first, .count = rows[i].count } };
		const struct rcm_dns_answer answer = { .srv_count = 2, .srv = records, .addresses = some, .count = 3 };
		struct rcm_target *target;

		take(rows[i].wanted);
		target = &targets.targets[0];
		assert_true(rcm_target_take_extras(target, &answer));
		assert_int_equal(target->count, rows[i].taken);
		assert_int_equal(target->over, rows[i].over);
		assert_int_equal(target->family, rows[i].left);
	}
}

static void test_targets_of_which_none_has_an_address_tell_what_may_be_over_soonest(void **state)
{
	/* From what lasts longest on; of what has no place the middle. */
	static const struct { int status; unsigned weight; } rows[] = {
		{ -ENOENT, 0 }, { -ENODATA, 1 }, { -EIO, 2 }, { -EACCES, 2 }, { -EAGAIN, 3 }, { -ETIMEDOUT, 4 },
	};
	enum { N = sizeof(rows) / sizeof(*rows) };

	(void)state;
	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j < N; j++) {
			bool second = rows[j].weight > rows[i].weight;

			take(AF_UNSPEC);
			assert_true(end(0, (struct rcm_dns_answer){ .status = rows[i].status, .code = 70, .text = "no" }));
			assert_true(targets.targets[0].over);
			assert_false(targets.targets[1].over);
			assert_true(end(1, (struct rcm_dns_answer){ .status = rows[j].status, .code = 71 }));
			assert_int_equal(targets.status, second ? rows[j].status : rows[i].status);
			assert_int_equal(targets.code, second ? 71 : 70);
			assert_string_equal(targets.text, second ? "target b: failed" : "target a: no");
			assert_int_equal(targets.found, 0);
		}
}

/* How long the whole may be kept. */
static void test_targets_live_as_long_as_the_least_of_what_counts(void **state)
{
	static const struct { bool has_one; struct rcm_dns_answer answer; uint32_t ttl; int missing; } rows[] = {
		{ false, { .ttl = TTL + 1 }, TTL, 0 }, { false, { .ttl = 60 }, 60, 0 },
		{ false, { .ttl = 60, .missing = AF_INET }, 60, AF_INET },
		{ false, { .status = -ENOENT, .ttl = 60 }, RCM_TTL_NEGATIVE_S, 0 },
		{ false, { .status = -ENODATA, .ttl = 60 }, RCM_TTL_NEGATIVE_S, 0 },
		{ false, { .status = -ENOENT, .ttl = 0 }, 0, 0 }, { false, { .status = -EIO, .ttl = 60 }, 0, 0 },
		{ false, { .status = -ETIMEDOUT, .ttl = 60 }, 0, 0 },
		/* The other family. */
		{ true, { .status = -ENODATA, .ttl = 60 }, 60, 0 }, { true, { .status = -ENOENT, .ttl = 60 }, 0, 0 },
		{ true, { .status = -ETIMEDOUT, .ttl = 60 }, 0, AF_INET6 }, { true, { .status = -EIO, .ttl = 60 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		take(AF_INET6);
		if (rows[i].has_one)
			assert_true(rcm_target_add(&targets.targets[0], some, 1));
		assert_true(end(0, rows[i].answer));
		assert_int_equal(targets.ttl, rows[i].ttl);
		assert_int_equal(targets.missing, rows[i].missing);
		assert_true(targets.targets[0].over);
		if (rows[i].has_one)
			assert_int_equal(targets.status, 0);
	}
}

static struct rcm_dns_answer told;
static struct rcm_dns_srv told_records[3];
static char told_text[RCM_TEXT_MAX];

static void note(void *arg, const struct rcm_dns_answer *answer)
{
	assert_ptr_equal(arg, &told);
	told = *answer;
	if (answer->srv_count)
		memcpy(told_records, answer->srv, answer->srv_count * sizeof(*answer->srv));
	strcpy(told_text, answer->text ? answer->text : "");
}

static void test_targets_tell_the_records_whose_hosts_have_addresses(void **state)
{
	(void)state;
	take(AF_UNSPEC);
	assert_true(rcm_target_add(&targets.targets[1], &some[1], 1));
	assert_true(end(0, (struct rcm_dns_answer){ .ttl = TTL, .count = 2, .addresses = &some[5] }));
	assert_true(end(1, (struct rcm_dns_answer){ .status = -ETIMEDOUT }));
	rcm_targets_tell(&targets, 7, "name", note, &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(told.ttl, 7);
	assert_string_equal(told.canonname, "name");
	assert_int_equal(told.count, 3);
	assert_ptr_equal(told.addresses, targets.addresses);
	assert_int_equal(told.srv_count, 3);
	assert_int_equal(told.targets, 2);
	assert_int_equal(told.targets_lost, 0);
	assert_int_equal(told_records[0].first, 1);
	assert_int_equal(told_records[0].count, 2);
	assert_int_equal(told_records[0].port, 3);
	assert_int_equal(told_records[1].first, 0);
	assert_int_equal(told_records[1].count, 1);
	assert_int_equal(told_records[2].first, 1);
	assert_int_equal(told_records[2].port, 9);
	/* One without is passed over, and counted. */
	take(AF_UNSPEC);
	assert_true(end(0, (struct rcm_dns_answer){ .status = -ENOENT }));
	assert_true(end(1, (struct rcm_dns_answer){ .missing = AF_INET6, .count = 1, .addresses = some }));
	rcm_targets_tell(&targets, 7, "name", note, &told);
	assert_int_equal(told.srv_count, 1);
	assert_string_equal(told_records[0].target, "b");
	assert_int_equal(told.targets, 2);
	assert_int_equal(told.targets_lost, 1);
	assert_int_equal(told.missing, AF_INET6);
}

static void test_targets_without_an_address_tell_why(void **state)
{
	struct rcm_dns_srv one = { .target = "a" };

	(void)state;
	take(AF_UNSPEC);
	assert_true(end(0, (struct rcm_dns_answer){ .status = -EIO, .code = EAI_FAIL, .text = "no" }));
	rcm_targets_tell(&targets, 7, "name", note, &told);
	assert_int_equal(told.status, -EIO);
	assert_int_equal(told.code, EAI_FAIL);
	assert_int_equal(told.ttl, 7);
	assert_string_equal(told_text, "no target has an address; target a: no");
	rcm_targets_clear(&targets);
	assert_true(rcm_targets_take(&targets, &(struct rcm_dns_answer){ .srv_count = 1, .srv = &one }, AF_UNSPEC));
	rcm_targets_tell(&targets, 7, "name", note, &told);
	assert_string_equal(told_text, "its target has no address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_targets_are_each_there_once_whatever_its_letters),
		T(test_target_has_its_addresses_together_as_they_came),
		T(test_target_has_no_more_addresses_than_the_limit),
		T(test_target_takes_of_what_came_with_the_records_what_is_wanted),
		T(test_targets_of_which_none_has_an_address_tell_what_may_be_over_soonest),
		T(test_targets_live_as_long_as_the_least_of_what_counts),
		T(test_targets_tell_the_records_whose_hosts_have_addresses),
		T(test_targets_without_an_address_tell_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
