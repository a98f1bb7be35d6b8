/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of lookups: equal where the answers must be, different where they may be. */
#include "resolve/key.h"
#include "test.h"

static uint8_t a[512], b[512];

/* What is in a and b. Each of both has to tell it. */
static bool are_same(unsigned len_a, unsigned len_b)
{
	bool same = len_a == len_b && !rcm_key_compare(a, b, len_a);

	assert_int_equal(rcm_key_hash(a, len_a) == rcm_key_hash(b, len_b), same);
	return same;
}

static bool same_host(const char *x, int fx, enum rcm_dns_source sx, const char *y, int fy,
		      enum rcm_dns_source sy)
{
	unsigned len = rcm_key_host(a, x, fx, sx, false);

	assert_int_equal(len, strlen(x) + 3);
	return are_same(len, rcm_key_host(b, y, fy, sy, false));
}

static void test_key_of_a_name_ignores_case_only(void **state)
{
	(void)state;
	assert_true(same_host("Host.EXAMPLE", AF_INET, RCM_DNS_CONFIGURED, "hOST.example", AF_INET,
			      RCM_DNS_CONFIGURED));
	assert_false(same_host("host.example", AF_INET, RCM_DNS_CONFIGURED, "host.example.", AF_INET,
			       RCM_DNS_CONFIGURED));
	assert_false(same_host("host@example", AF_INET, RCM_DNS_CONFIGURED, "host`example", AF_INET,
			       RCM_DNS_CONFIGURED));
	assert_false(same_host("h\xc4", AF_INET, RCM_DNS_CONFIGURED, "h\xe4", AF_INET, RCM_DNS_CONFIGURED));
	assert_false(same_host("host1", AF_INET, RCM_DNS_CONFIGURED, "host2", AF_INET, RCM_DNS_CONFIGURED));
}

static void test_key_of_the_longest_name_ignores_case_as_well(void **state)
{
	char low[RCM_NODE_MAX + 1], high[RCM_NODE_MAX + 1];

	(void)state;
	memset(low, 'x', sizeof(low));
	memset(high, 'X', sizeof(high));
	low[RCM_NODE_MAX] = high[RCM_NODE_MAX] = '\0';
	assert_true(same_host(low, AF_INET, RCM_DNS_CONFIGURED, high, AF_INET, RCM_DNS_CONFIGURED));
	high[RCM_NODE_MAX - 1] = 'y';
	assert_false(same_host(low, AF_INET, RCM_DNS_CONFIGURED, high, AF_INET, RCM_DNS_CONFIGURED));
}

static void test_key_of_a_name_is_another_of_its_records(void **state)
{
	unsigned len = rcm_key_host(a, "Host", AF_INET, RCM_DNS_CONFIGURED, true);

	(void)state;
	assert_false(are_same(len, rcm_key_host(b, "Host", AF_INET, RCM_DNS_CONFIGURED, false)));
	assert_true(are_same(len, rcm_key_host(b, "hOST", AF_INET, RCM_DNS_CONFIGURED, true)));
}

static void test_key_of_a_name_tells_families_and_sources_apart(void **state)
{
	(void)state;
	assert_false(same_host("h", AF_INET, RCM_DNS_CONFIGURED, "h", AF_INET6, RCM_DNS_CONFIGURED));
	assert_false(same_host("h", AF_UNSPEC, RCM_DNS_CONFIGURED, "h", AF_INET6, RCM_DNS_CONFIGURED));
	assert_false(same_host("h", AF_INET, RCM_DNS_CONFIGURED, "h", AF_INET, RCM_DNS_HOSTS));
}

struct service {
	struct rcm_hints hints;
	const char *name;
	struct rcm_gid port;
	const void *client;
	const struct rcm_accept *accept;
};

static bool same_service(const struct service *x, const struct service *y)
{
	unsigned len = rcm_key_service(a, &x->hints, x->name, &x->port, 0, x->client, x->accept);

	assert_true(len <= RCM_KEY_SERVICE_MAX + rcm_accept_size(x->accept));
	return are_same(len, rcm_key_service(b, &y->hints, y->name, &y->port, 0, y->client, y->accept));
}

static void test_key_of_a_service_tells_name_port_route_and_client_apart(void **state)
{
	struct service base = { .name = "storage" }, s = base;
	const struct rcm_gid gids[] = { { { 1 } }, { { 2 } } };
	struct rcm_accept *full, *one, *other;

	(void)state;
	assert_true(same_service(&base, &s));
	s.name = "Storage";
	assert_false(same_service(&base, &s));
	s = base;
	s.port.raw[15] = 1;
	assert_false(same_service(&base, &s));
	s = base;
	s.hints.flags = RAI_NOROUTE;
	assert_false(same_service(&base, &s));
	s = base;
	s.client = &s;
	assert_false(same_service(&base, &s));
	s = base;
	assert_int_equal(rcm_accept_new(true, NULL, 0, &full), 0);
	s.accept = full;
	assert_false(same_service(&base, &s));
	rcm_accept_put(full);
	assert_int_equal(rcm_accept_new(false, &gids[0], 1, &one), 0);
	assert_int_equal(rcm_accept_new(false, &gids[1], 1, &other), 0);
	base.accept = one;
	s.accept = other;
	assert_false(same_service(&base, &s));
	rcm_accept_put(one);
	rcm_accept_put(other);
}

static void test_key_of_a_service_id_is_its_number_however_written(void **state)
{
	struct service x = { .hints = { .by_id = true, .service_id = 16 }, .name = "0x10" }, y = x;

	(void)state;
	y.name = "16";
	assert_true(same_service(&x, &y));
	y.hints.service_id = 17;
	assert_false(same_service(&x, &y));
	y = x;
	y.hints.by_id = false;
	assert_false(same_service(&x, &y));
}

static void test_key_of_the_longest_service_name_fits(void **state)
{
	char name[64];
	struct service s = { .name = name };

	(void)state;
	memset(name, 'x', sizeof(name));
	name[63] = '\0';
	assert_int_equal(rcm_key_service(a, &s.hints, s.name, &s.port, 0, NULL, NULL), 20 + sizeof(void *) + 63);
}

static void test_key_of_a_listing_tells_all_that_is_asked_apart(void **state)
{
	const struct rcm_listing listings[] = {
		{ .by_gid = false }, { .by_gid = true, .gid = { { 1 } } }, { .by_gid = true, .gid = { { 2 } } },
		{ .by_pkey = true, .pkey = 1 }, { .by_pkey = true, .pkey = 2 },
		{ .remove = true, .by_gid = true, .by_pkey = true, .pkey = 1, .gid = { { 1 } } },
		{ .by_gid = true, .by_pkey = true, .pkey = 1, .gid = { { 1 } } },
	};
	const struct rcm_hints hints[] = { { 0 }, { .by_id = true, .service_id = 1 }, { .by_id = true, .service_id = 2 } };
	char longest[65] = "";
	const char *names[] = { NULL, "", "a", "b", longest };
	enum { L = sizeof(listings) / sizeof(*listings), H = 3, N = 5, ALL = L * H * N };
	static uint8_t keys[ALL][RCM_KEY_LISTING_MAX];
	static unsigned lens[ALL];
	const struct rcm_gid port = { { 9 } };
	struct rcm_accept *full;

	(void)state;
	memset(longest, 'x', 64);
	for (unsigned i = 0; i < ALL; i++) {
		lens[i] = rcm_key_listing(keys[i], &listings[i % L], &hints[i / L % H], names[i / L / H], &port, NULL, NULL);
		assert_true(lens[i] <= RCM_KEY_LISTING_MAX);
		for (unsigned j = 0; j < i; j++)
			assert_false(lens[i] == lens[j] && !rcm_key_compare(keys[i], keys[j], lens[i]));
	}
	/* What is accepted stands behind the name, and is no part of it. */
	assert_int_equal(rcm_accept_new(true, NULL, 0, &full), 0);
	assert_false(are_same(rcm_key_listing(a, &listings[0], &hints[0], "a", &port, NULL, full),
			      rcm_key_listing(b, &listings[0], &hints[0], "a\x01", &port, NULL, NULL)));
	rcm_accept_put(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_of_a_name_ignores_case_only),
		cmocka_unit_test(test_key_of_a_name_tells_families_and_sources_apart),
		cmocka_unit_test(test_key_of_the_longest_name_ignores_case_as_well),
		cmocka_unit_test(test_key_of_a_name_is_another_of_its_records),
		cmocka_unit_test(test_key_of_a_service_tells_name_port_route_and_client_apart),
		cmocka_unit_test(test_key_of_a_service_id_is_its_number_however_written),
		cmocka_unit_test(test_key_of_the_longest_service_name_fits),
		cmocka_unit_test(test_key_of_a_listing_tells_all_that_is_asked_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
