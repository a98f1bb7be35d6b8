/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 6724 rule by rule: of two destinations, which goes first, whatever their order was. */
#include "dns/order.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/tell.h"
#include "test.h"

static void read_address(const char *text, union rcm_dns_address *to)
{
	memset(to, 0, sizeof(*to));
	if (!text)
		return;
	if (inet_pton(AF_INET, text, &to->in.sin_addr) == 1)
		to->in.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &to->in6.sin6_addr) == 1)
		to->in6.sin6_family = AF_INET6;
	else
		fail_msg("%s", text);
}

static struct rcm_order make(const char *to, const char *from, uint8_t prefix)
{
	struct rcm_order order = { .from_prefix = prefix, .native = true };

	read_address(to, &order.to);
	read_address(from, &order.from);
	return order;
}

/* True where a goes before b, however they were given. */
static bool is_before(struct rcm_order a, struct rcm_order b)
{
	struct rcm_order one[2] = { a, b }, other[2] = { b, a };

	one[1].given = other[1].given = 1;
	rcm_order_sort(one, 2, &rcm_policy_default);
	rcm_order_sort(other, 2, &rcm_policy_default);
	return !memcmp(&one[0].to, &a.to, sizeof(a.to)) && !memcmp(&other[0].to, &a.to, sizeof(a.to));
}

/* Which rule is told of the two. */
static int rule_of(struct rcm_order a, struct rcm_order b)
{
	struct rcm_order both[2] = { a, b };

	both[1].given = 1;
	rcm_order_sort(both, 2, &rcm_policy_default);
	rcm_order_explain(both, 2, &rcm_policy_default);
	assert_int_equal(both[1].rule, 0);
	return both[0].rule;
}

static void test_order_rules_of_rfc_6724(void **state)
{
	static const struct {
		int rule;
		const char *first, *first_from;
		uint8_t first_prefix;
		const char *second, *second_from;
		uint8_t second_prefix;
	} rows[] = {
		{ 1, "192.0.2.1", "192.0.2.9", 24, "2001:db8::1", NULL, 0 },
		{ 2, "2001:db8::1", "2001:db8::9", 64, "fe80::1", "2001:db8::9", 64 },
		{ 2, "198.51.100.1", "192.0.2.9", 24, "127.0.0.1", "192.0.2.9", 24 },
		{ 2, "169.254.1.1", "169.254.9.9", 16, "192.0.2.1", "169.254.9.9", 16 },
		{ 5, "2001:db8::1", "2001:db8::9", 64, "2002:c000:201::1", "2001:db8::9", 64 },
		{ 5, "192.0.2.1", "192.0.2.9", 24, "fd00::1", "2001:db8::9", 64 },
		{ 5, "192.0.2.1", "192.0.2.9", 24, "2001:0:1::1", "2001:db8::9", 64 },
		{ 6, "2001:db8::1", "2001:db8::9", 64, "192.0.2.1", "192.0.2.9", 24 },
		{ 6, "::1", "::1", 128, "127.0.0.1", "127.0.0.1", 8 },
		{ 6, "2001:db8::1", NULL, 0, "192.0.2.1", NULL, 0 },
		{ 8, "fe80::1", "fe80::9", 64, "2001:db8::1", "2001:db8::9", 64 },
		{ 8, "ff11::1", NULL, 0, "fe80::1", NULL, 0 },
		{ 8, "fe80::1", NULL, 0, "ff03::1", NULL, 0 },
		{ 8, "ff02::1", NULL, 0, "ff13::1", NULL, 0 },
		{ 8, "ff12::1", NULL, 0, "ff05::1", NULL, 0 },
		{ 8, "ff04::1", NULL, 0, "fec0::1", NULL, 0 },
		{ 8, "fec0::1", NULL, 0, "ff06::1", NULL, 0 },
		{ 8, "ff0d::1", NULL, 0, "2001:db8::1", NULL, 0 },
		{ 8, "2001:db8::1", NULL, 0, "ff0f::1", NULL, 0 },
		{ 8, "127.0.0.1", NULL, 0, "192.0.2.1", NULL, 0 },
		{ 9, "2001:db8::8", "2001:db8::8", 128, "2001:db8::9", "2001:db8::8", 128 },
		{ 9, "2001:db8::9", "2001:db8::8", 128, "2001:db8::a", "2001:db8::8", 128 },
		{ 9, "2001:db8::a", "2001:db8::8", 128, "2001:db8::8:8", "2001:db8::8", 128 },
		{ 9, "2001:db8::1", "2001:db8::9", 64, "2001:db8:ffff::1", "2001:db8::9", 64 },
		{ 9, "2001:ffff::1", "2001:db8::9", 64, "3001:db8::1", "2001:db8::9", 64 },
		{ 9, "192.0.2.10", "192.0.2.9", 24, "192.0.2.200", "192.0.2.9", 24 },
		{ 9, "192.0.2.200", "192.0.2.9", 24, "198.51.100.1", "192.0.2.9", 24 },
		{ 9, "192.0.2.1", "129.0.0.1", 1, "10.0.0.1", "192.0.2.9", 24 },
		{ 9, "192.0.2.9", "192.0.2.9", 32, "192.0.2.8", "192.0.2.9", 32 },
		{ 9, "192.0.2.8", "192.0.2.9", 31, "192.0.2.11", "192.0.2.9", 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rcm_order first = make(rows[i].first, rows[i].first_from, rows[i].first_prefix);
		struct rcm_order second = make(rows[i].second, rows[i].second_from, rows[i].second_prefix);

		if (!is_before(first, second))
			fail_msg("rule %d: %s, %s", rows[i].rule, rows[i].first, rows[i].second);
		assert_int_equal(rule_of(first, second), rows[i].rule);
		assert_int_equal(rule_of(second, first), rows[i].rule);
	}
}

static void test_order_deprecated_home_and_tunnel_sources(void **state)
{
	struct rcm_order plain = make("2001:db8::1", "2001:db8::9", 64), other = make("2001:db8::2", "2001:db8::9", 64);

	(void)state;
	other.from_deprecated = true;
	assert_true(is_before(plain, other));
	assert_int_equal(rule_of(plain, other), 3);
	other.from_deprecated = false;
	other.from_home = true;
	assert_true(is_before(other, plain));
	assert_int_equal(rule_of(plain, other), 4);
	other.from_home = false;
	other.native = false;
	assert_true(is_before(plain, other));
	assert_int_equal(rule_of(plain, other), 7);
}

/* The rules about sources are for two that have one, and the ninth is for two of one family. */
static void test_order_sources_of_what_is_out_of_reach_or_of_another_family_say_nothing(void **state)
{
	struct rcm_order a = make("2001:db8::1", NULL, 0), b = make("2001:db8::8000:1", NULL, 0);

	(void)state;
	b.from_deprecated = b.from_home = true;
	b.native = false;
	assert_int_equal(rule_of(a, b), 10);
	assert_int_equal(rule_of(b, a), 10);
	a = make("::ffff:192.0.2.1", "::ffff:192.0.2.1", 128);
	b = make("192.0.2.1", "192.0.2.1", 32);
	assert_int_equal(rule_of(a, b), 10);
	assert_int_equal(rule_of(b, a), 10);
	/* Nor does the device count as bits of the address. */
	a = b = make("fe80::1", "fe80::1", 64);
	b.to.in6.sin6_scope_id = 1;
	assert_int_equal(rule_of(a, b), 10);
	assert_int_equal(rule_of(b, a), 10);
}

static void test_order_class_tells_scopes_and_labels_apart(void **state)
{
	static const char *const texts[] = { "2001:db8::1", "fe80::1", "ff02::1", "ff05::1", "fd00::1", "2002::1", "fec0::1",
					     "192.0.2.1", "127.0.0.1" };
	union rcm_dns_address a, b;
	bool same;

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (unsigned j = 0; j < sizeof(texts) / sizeof(*texts); j++) {
			read_address(texts[i], &a);
			read_address(texts[j], &b);
			/* Both have the scope of a link, and the label of all others. */
			same = i == j || (i + j == 3 && i * j == 2);
			if (same != (rcm_order_class(&a) == rcm_order_class(&b)))
				fail_msg("%s and %s", texts[i], texts[j]);
		}
	}
	read_address("2001:db8::2", &b);
	read_address(texts[0], &a);
	assert_int_equal(rcm_order_class(&a), rcm_order_class(&b));
}

/* glibc: a longer common prefix of IPv4 addresses means nothing outside of the subnet. */
static void test_order_equal_ones_stay_as_given(void **state)
{
	struct rcm_order a = make("198.51.100.1", "192.0.2.9", 24), b = make("203.0.113.1", "192.0.2.9", 24);

	(void)state;
	assert_false(is_before(a, b));
	assert_false(is_before(b, a));
	assert_int_equal(rule_of(a, b), 10);
}

static void test_order_many_equal_ones_stay_as_given(void **state)
{
	struct rcm_order many[500];

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		many[i] = make("198.51.100.1", "192.0.2.9", 24);
		many[i].given = i;
	}
	for (int i = 0; i < 2; i++) {
		rcm_order_sort(many, 500, &rcm_policy_default);
		for (unsigned j = 0; j < 500; j++)
			assert_int_equal(many[j].given, j);
		/* By their places, not by where they lie. */
		for (unsigned j = 0; j < 500; j++)
			many[j].given = 499 - j;
	}
}

static char told[3][160];
static unsigned tellings;

static void hear(const void *watcher, const struct rcm_tell_step *step)
{
	(void)watcher;
	assert_int_equal(step->kind, RCM_TELL_ORDER);
	assert_true(tellings < 3);
	snprintf(told[tellings++], sizeof(*told), "%s", step->text);
}

static void test_order_is_told_with_sources_and_rules(void **state)
{
	struct rcm_order *orders = malloc(3 * sizeof(*orders));

	(void)state;
	assert_non_null(orders);
	orders[0] = make("192.0.2.1", NULL, 0);
	orders[1] = make("2001:db8::1", "2001:db8::9", 64);
	orders[2] = make("198.51.100.1", "192.0.2.9", 24);
	rcm_order_sort(orders, 3, &rcm_policy_default);
	rcm_order_explain(orders, 3, &rcm_policy_default);
	rcm_tell_watch(hear, &tellings);
	rcm_order_tell(NULL, 3);
	rcm_order_tell(orders, 3);
	rcm_tell_watch(NULL, NULL);
	assert_int_equal(tellings, 3);
	assert_string_equal(told[0], "2001:db8::1, source 2001:db8::9; before the next by rule 6: it has a higher precedence");
	assert_string_equal(told[1], "198.51.100.1, source 192.0.2.9; before the next by rule 1: the next can't be reached");
	assert_string_equal(told[2], "192.0.2.1, source none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_rules_of_rfc_6724),
		cmocka_unit_test(test_order_deprecated_home_and_tunnel_sources),
		cmocka_unit_test(test_order_sources_of_what_is_out_of_reach_or_of_another_family_say_nothing),
		cmocka_unit_test(test_order_class_tells_scopes_and_labels_apart),
		cmocka_unit_test(test_order_equal_ones_stay_as_given),
		cmocka_unit_test(test_order_many_equal_ones_stay_as_given),
		cmocka_unit_test(test_order_is_told_with_sources_and_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
