/* SPDX-License-Identifier: BSD-2-Clause */
/* The sortlist of resolv.conf. That glibc sorts the same is shown by tests/dns/test_gai.c. */
#include "dns/sortlist.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "test.h"

static struct rcm_sortlist list;

static void read_text(const char *text)
{
	char copy[1024];

	snprintf(copy, sizeof(copy), "%s", text);
	memset(&list, 0, sizeof(list));
	rcm_sortlist_read(&list, copy);
}

static void check(const char *given, const char *expected)
{
	union rcm_dns_address addresses[64];
	char copy[1024], text[1024] = "", one[INET_ADDRSTRLEN], *rest;
	unsigned count = 0;

	snprintf(copy, sizeof(copy), "%s", given);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		addresses[count].in = (struct sockaddr_in){ .sin_family = AF_INET };
		assert_int_equal(inet_pton(AF_INET, word, &addresses[count++].in.sin_addr), 1);
	}
	rcm_sortlist_apply(&list, addresses, count);
	for (unsigned i = 0; i < count; i++) {
		inet_ntop(AF_INET, &addresses[i].in.sin_addr, one, sizeof(one));
		strcat(strcat(text, i ? " " : ""), one);
	}
	assert_string_equal(text, expected);
}

static void test_sortlist_addresses_of_earlier_networks_come_first_and_equal_ones_stay(void **state)
{
	(void)state;
	check("10.0.0.2 10.0.0.1", "10.0.0.2 10.0.0.1");
	read_text("203.0.113.0 198.51.100.0/255.255.255.0 203.0.113.9&255.255.255.255");
	check("192.0.2.2 192.0.2.1 198.51.100.2 203.0.113.9 198.51.100.1 203.0.113.1",
	      "203.0.113.9 203.0.113.1 198.51.100.2 198.51.100.1 192.0.2.2 192.0.2.1");
}

static void test_sortlist_network_without_a_mask_has_that_of_its_class(void **state)
{
	(void)state;
	read_text("10.0.0.0 172.16.0.0/rubbish 192.168.7.0/");
	check("10.1.0.0 10.255.255.255", "10.1.0.0 10.255.255.255");
	check("192.168.8.1 192.168.7.255 172.17.0.1 172.16.255.1 11.0.0.1 10.255.255.255",
	      "10.255.255.255 172.16.255.1 192.168.7.255 192.168.8.1 172.17.0.1 11.0.0.1");
	read_text("128.0.0.0 192.0.0.0");
	check("191.255.0.1 192.0.0.1", "192.0.0.1 191.255.0.1");
	check("192.0.1.1 192.0.0.1 128.1.0.1 128.0.1.1", "128.0.1.1 192.0.0.1 192.0.1.1 128.1.0.1");
}

static void test_sortlist_words_that_are_no_networks_are_left_out(void **state)
{
	(void)state;
	read_text("# rubbish 10.0.0.0x 10.0.0.0,11.0.0.0 /255.0.0.0\t12.0.0.0 ; 13.0.0.0");
	assert_int_equal(list.count, 1);
	check("13.0.0.1 12.0.0.1", "12.0.0.1 13.0.0.1");
	/* An address that its own mask cuts is none's. */
	read_text("12.0.0.1/255.0.0.0");
	check("13.0.0.1 12.0.0.1", "13.0.0.1 12.0.0.1");
}

static void test_sortlist_is_as_long_as_its_limit(void **state)
{
	char text[64];

	(void)state;
	memset(&list, 0, sizeof(list));
	for (int i = 0; i < RCM_SORTLIST_MAX + 5; i++) {
		snprintf(text, sizeof(text), "10.0.0.%d/255.255.255.255", i);
		rcm_sortlist_read(&list, text);
	}
	assert_int_equal(list.count, RCM_SORTLIST_MAX);
	check("10.0.0.64 10.0.0.63 10.0.0.0", "10.0.0.0 10.0.0.63 10.0.0.64");
}

static void test_sortlist_of_a_long_answer_sorts_the_first_48(void **state)
{
	char given[1024] = "", expected[1024] = "10.0.0.48";

	(void)state;
	read_text("10.0.0.48/255.255.255.255 10.0.0.49/255.255.255.255");
	for (int i = 1; i <= 60; i++) {
		sprintf(given + strlen(given), "%s10.0.0.%d", i > 1 ? " " : "", i);
		if (i != 48)
			sprintf(expected + strlen(expected), " 10.0.0.%d", i);
	}
	check(given, expected);
}

static void test_sortlist_is_the_same_by_all_its_networks(void **state)
{
	static const char *const texts[] = { "10.0.0.0", "10.0.0.0/255.0.0.0", "10.0.0.0/255.255.0.0", "11.0.0.0", "",
					     "10.0.0.0 11.0.0.0", "11.0.0.0 10.0.0.0" };
	enum { N = sizeof(texts) / sizeof(*texts) };

	(void)state;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			struct rcm_sortlist other;

			read_text(texts[i]);
			other = list;
			read_text(texts[j]);
			/* The first two are one, with its natural mask. */
			assert_int_equal(rcm_sortlist_is_same(&other, &list), i == j || i + j == 1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sortlist_is_the_same_by_all_its_networks),
		cmocka_unit_test(test_sortlist_addresses_of_earlier_networks_come_first_and_equal_ones_stay),
		cmocka_unit_test(test_sortlist_network_without_a_mask_has_that_of_its_class),
		cmocka_unit_test(test_sortlist_words_that_are_no_networks_are_left_out),
		cmocka_unit_test(test_sortlist_is_as_long_as_its_limit),
		cmocka_unit_test(test_sortlist_of_a_long_answer_sorts_the_first_48),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
