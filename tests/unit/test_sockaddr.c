/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses of the three families. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>

#include "addr/sockaddr.h"
#include "test.h"

static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 7 };

static union rcm_sockaddr parsed(const char *text, int family)
{
	union rcm_sockaddr u;

	assert_int_equal(rcm_sockaddr_parse(text, family, &u), 1);
	return u;
}

static void test_sockaddr_len_is_zero_for_other_families(void **state)
{
	(void)state;
	assert_int_equal(rcm_sockaddr_len(AF_INET), 16);
	assert_int_equal(rcm_sockaddr_len(AF_INET6), 28);
	assert_int_equal(rcm_sockaddr_len(AF_IB), 48);
	assert_int_equal(rcm_sockaddr_len(AF_UNIX), 0);
	assert_int_equal(rcm_sockaddr_len(AF_UNSPEC), 0);
}

static void test_sockaddr_copy_of_a_short_or_foreign_address_is_refused_and_zeroed(void **state)
{
	union rcm_sockaddr from = parsed("fe80::1", AF_INET6), to, zero = { 0 };
	char *octet = malloc(1);

	(void)state;
	assert_true(rcm_sockaddr_copy(&to, &from.sa, 28));
	assert_true(rcm_sockaddr_equal(&to.sa, &from.sa));
	assert_false(rcm_sockaddr_copy(&to, &from.sa, 27));
	assert_memory_equal(&to, &zero, sizeof(to));
	assert_false(rcm_sockaddr_copy(&to, &from.sa, 1));
	assert_non_null(octet);
	assert_false(rcm_sockaddr_copy(&to, (struct sockaddr *)octet, 1));
	free(octet);
	from.sa.sa_family = AF_UNIX;
	assert_false(rcm_sockaddr_copy(&to, &from.sa, 0));
	assert_memory_equal(&to, &zero, sizeof(to));
}

static void test_sockaddr_port_of_each_family_survives_a_round_trip(void **state)
{
	union rcm_sockaddr all[3] = { parsed("192.0.2.1", AF_INET), parsed("::1", AF_INET6) }, v6 = all[1];

	(void)state;
	rcm_sockaddr_ib(&all[2], gid, 0xffff, 0x1060000, 0xffffffffffff0000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rcm_sockaddr_port(&all[i].sa), 0);
		rcm_sockaddr_set_port(&all[i], htons(7471));
		assert_int_equal(ntohs(rcm_sockaddr_port(&all[i].sa)), 7471);
	}
	v6.in6.sin6_port = htons(7471);
	assert_memory_equal(&all[1], &v6, sizeof(v6));
	assert_int_equal(be64toh(all[2].ib.sib_sid), 0x1060000 + 7471);
	assert_int_equal(be64toh(all[2].ib.sib_sid_mask), UINT64_MAX);
	rcm_sockaddr_set_port(&all[2], htons(0x100));
	assert_int_equal(be64toh(all[2].ib.sib_sid), 0x1060100);
}

static void test_sockaddr_ib_port_counts_only_bits_of_the_mask(void **state)
{
	union rcm_sockaddr u;

	(void)state;
	rcm_sockaddr_ib(&u, gid, 0xffff, 0x1061234, 0xffffffffffffff00);
	assert_int_equal(ntohs(rcm_sockaddr_port(&u.sa)), 0x1200);
}

/* F12: two interfaces may have the same link-local address. */
static void test_sockaddr_that_differs_in_scope_or_port_is_not_equal(void **state)
{
	union rcm_sockaddr a = parsed("fe80::1", AF_INET6), b = a;

	(void)state;
	assert_true(rcm_sockaddr_equal(&a.sa, &b.sa));
	b.in6.sin6_scope_id = 3;
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	b = a;
	rcm_sockaddr_set_port(&b, 1);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	b = parsed("fe80::2", AF_INET6);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	a = parsed("::", AF_INET6);
	b = parsed("0.0.0.0", AF_INET);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	assert_false(rcm_sockaddr_equal(&b.sa, &a.sa));
	b = parsed("127.0.0.1", AF_INET);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	a = b;
	assert_true(rcm_sockaddr_equal(&a.sa, &b.sa));
	rcm_sockaddr_set_port(&a, 1);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	a = parsed("127.0.0.2", AF_INET);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	a.sa.sa_family = b.sa.sa_family = AF_UNIX;
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	assert_int_equal(rcm_sockaddr_port(&a.sa), 0);
}

/* F29: an AF_IB address is told apart by each of its parts. */
static void test_sockaddr_ib_differs_by_gid_pkey_service_id_and_mask(void **state)
{
	union rcm_sockaddr a, b;

	(void)state;
	memset(&a, 0xff, sizeof(a));
	rcm_sockaddr_ib(&a, gid, 0x8001, 5, UINT64_MAX);
	assert_int_equal(a.ib.sib_flowinfo, 0);
	assert_int_equal(a.ib.sib_scope_id, 0);
	rcm_sockaddr_ib(&b, gid, 0x8001, 5, UINT64_MAX);
	assert_true(rcm_sockaddr_equal(&a.sa, &b.sa));
	rcm_sockaddr_ib(&b, gid, 0x8002, 5, UINT64_MAX);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	rcm_sockaddr_ib(&b, gid, 0x8001, 6, UINT64_MAX);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	rcm_sockaddr_ib(&b, gid, 0x8001, 5, 0xff);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
	rcm_sockaddr_ib(&b, (const uint8_t[16]){ 1 }, 0x8001, 5, UINT64_MAX);
	assert_false(rcm_sockaddr_equal(&a.sa, &b.sa));
}

static void test_sockaddr_parse_reads_numbers_as_getaddrinfo_does(void **state)
{
	union rcm_sockaddr u;

	(void)state;
	u = parsed("0.0.0.0", AF_UNSPEC);
	u = parsed("9.9.9.9", AF_UNSPEC);
	u = parsed("a::", AF_UNSPEC);
	u = parsed("127.1", AF_UNSPEC);
	assert_int_equal(u.in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(rcm_sockaddr_parse("host", AF_UNSPEC, &u), 0);
	assert_int_equal(rcm_sockaddr_parse("1host.example", AF_UNSPEC, &u), 0);
	assert_int_equal(rcm_sockaddr_parse("a:b", AF_UNSPEC, &u), 0);
	assert_int_equal(rcm_sockaddr_parse("127.0.0.1", AF_INET6, &u), -ENODATA);
	assert_int_equal(rcm_sockaddr_parse("::1", AF_INET, &u), -ENODATA);
}

/* F12: by name and by index; a scope that is no interface is not a name to ask for. */
static void test_sockaddr_parse_keeps_the_scope_and_refuses_a_wrong_one(void **state)
{
	unsigned lo = if_nametoindex("lo");
	union rcm_sockaddr u;

	(void)state;
	assert_true(lo > 0);
	u = parsed("fe80::1%lo", AF_UNSPEC);
	assert_int_equal(u.in6.sin6_scope_id, lo);
	u = parsed("fe80::1%7", AF_UNSPEC);
	assert_int_equal(u.in6.sin6_scope_id, 7);
	assert_int_equal(rcm_sockaddr_parse("fe80::1%nonesuch", AF_UNSPEC, &u), -ENOENT);
	/* As long as an address can be written, and longer. */
	assert_int_equal(rcm_sockaddr_parse("0000:0000:0000:0000:0000:ffff:255.255.255.255%nonesuch", AF_UNSPEC, &u), -ENOENT);
	assert_int_equal(rcm_sockaddr_parse("0000:0000:0000:0000:0000:ffff:255.255.255.2555%nonesuch", AF_UNSPEC, &u), 0);
	assert_int_equal(rcm_sockaddr_parse("0a:b%lo", AF_UNSPEC, &u), 0);
}

static void test_sockaddr_parse_reads_a_gid_with_af_ib(void **state)
{
	union rcm_sockaddr u = parsed("fe80::7", AF_IB);

	(void)state;
	assert_int_equal(u.ib.sib_family, AF_IB);
	assert_memory_equal(u.ib.sib_addr.sib_raw, gid, 16);
	assert_int_equal(u.ib.sib_pkey, 0xffff);
	assert_int_equal(u.ib.sib_sid, 0);
	assert_int_equal(u.ib.sib_sid_mask, 0);
	assert_int_equal(rcm_sockaddr_parse("10.0.0.1", AF_IB, &u), 0);
	u = parsed("fe80::7%9", AF_IB);
	assert_memory_equal(u.ib.sib_addr.sib_raw, gid, 16);
	assert_int_equal(u.ib.sib_scope_id, 9);
	assert_int_equal(rcm_sockaddr_parse("fe80::1%nonesuch", AF_IB, &u), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockaddr_len_is_zero_for_other_families),
		cmocka_unit_test(test_sockaddr_copy_of_a_short_or_foreign_address_is_refused_and_zeroed),
		cmocka_unit_test(test_sockaddr_port_of_each_family_survives_a_round_trip),
		cmocka_unit_test(test_sockaddr_ib_port_counts_only_bits_of_the_mask),
		cmocka_unit_test(test_sockaddr_that_differs_in_scope_or_port_is_not_equal),
		cmocka_unit_test(test_sockaddr_ib_differs_by_gid_pkey_service_id_and_mask),
		cmocka_unit_test(test_sockaddr_parse_reads_numbers_as_getaddrinfo_does),
		cmocka_unit_test(test_sockaddr_parse_keeps_the_scope_and_refuses_a_wrong_one),
		cmocka_unit_test(test_sockaddr_parse_reads_a_gid_with_af_ib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
