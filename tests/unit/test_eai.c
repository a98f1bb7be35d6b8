/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of ends and codes. */
#include "dns/eai.h"

#include <errno.h>
#include <netdb.h>

#include "test.h"

/* F4, F20: never zero for a failure, never positive. */
static void test_verdict_every_failure_is_a_negative_errno_with_code_and_text(void **state)
{
	(void)state;
	for (int v = 0; v < RCM_DNS_VERDICTS; v++) {
		assert_non_null(rcm_verdict_text(v));
		if (v == RCM_DNS_FOUND)
			continue;
		assert_true(rcm_verdict_errno(v) < 0);
		assert_true(rcm_verdict_eai(v) < 0);
	}
	assert_int_equal(rcm_verdict_errno(RCM_DNS_FOUND), 0);
	assert_int_equal(rcm_verdict_eai(RCM_DNS_FOUND), 0);
}

static void test_verdict_codes_are_those_of_the_contract(void **state)
{
	static const struct { int status, eai; } rows[RCM_DNS_VERDICTS] = {
		[RCM_DNS_NXDOMAIN] = { -ENOENT, EAI_NONAME }, [RCM_DNS_NO_HOST] = { -ENOENT, EAI_NONAME },
		[RCM_DNS_DECLINED] = { -ENOENT, EAI_NONAME }, [RCM_DNS_NODATA] = { -ENODATA, EAI_NODATA },
		[RCM_DNS_FORMERR] = { -EIO, EAI_FAIL }, [RCM_DNS_NOTIMP] = { -EIO, EAI_FAIL },
		[RCM_DNS_REFUSED] = { -EIO, EAI_AGAIN }, [RCM_DNS_OTHER_RCODE] = { -EIO, EAI_FAIL },
		[RCM_DNS_LAME] = { -EIO, EAI_AGAIN }, [RCM_DNS_MALFORMED] = { -EIO, EAI_FAIL },
		[RCM_DNS_SERVFAIL] = { -EAGAIN, EAI_AGAIN }, [RCM_DNS_UNREACHABLE] = { -EAGAIN, EAI_AGAIN },
		[RCM_DNS_CUT_UNREACHABLE] = { -EAGAIN, EAI_AGAIN }, [RCM_DNS_TIMEOUT] = { -ETIMEDOUT, EAI_AGAIN },
		[RCM_DNS_CUT_TIMEOUT] = { -ETIMEDOUT, EAI_AGAIN }, [RCM_DNS_NOFILE] = { -EMFILE, EAI_SYSTEM },
		[RCM_DNS_NOMEM] = { -ENOMEM, EAI_MEMORY }, [RCM_DNS_FOUND] = { 0, 0 },
	};

	(void)state;
	for (int v = 0; v < RCM_DNS_VERDICTS; v++) {
		assert_int_equal(rcm_verdict_errno(v), rows[v].status);
		assert_int_equal(rcm_verdict_eai(v), rows[v].eai);
	}
}

/* The merge of A and AAAA takes the greater. */
static void test_verdict_order_puts_our_own_failures_first_then_found_and_no_such_name_last(void **state)
{
	(void)state;
	for (int v = 0; v < RCM_DNS_VERDICTS; v++) {
		assert_int_equal(rcm_verdict_is_ours(v), v == RCM_DNS_NOMEM || v == RCM_DNS_NOFILE);
		assert_true(v <= RCM_DNS_FOUND || rcm_verdict_is_ours(v));
	}
	assert_true(RCM_DNS_NXDOMAIN < RCM_DNS_NODATA);
	assert_true(RCM_DNS_NODATA < RCM_DNS_SERVFAIL);
	assert_true(RCM_DNS_NODATA < RCM_DNS_TIMEOUT);
}

/* Of these a server is named, of the others none spoke. */
static void test_verdict_spoken_ones_are_those_of_a_server(void **state)
{
	static const enum rcm_dns_verdict silent[] = { RCM_DNS_UNREACHABLE, RCM_DNS_TIMEOUT, RCM_DNS_NOMEM,
						       RCM_DNS_NOFILE };
	static const enum rcm_dns_verdict spoken[] = { RCM_DNS_NXDOMAIN, RCM_DNS_NODATA, RCM_DNS_SERVFAIL, RCM_DNS_LAME,
						       RCM_DNS_MALFORMED, RCM_DNS_CUT_TIMEOUT, RCM_DNS_FOUND };

	(void)state;
	for (size_t i = 0; i < sizeof(silent) / sizeof(*silent); i++)
		assert_false(rcm_verdict_is_spoken(silent[i]));
	for (size_t i = 0; i < sizeof(spoken) / sizeof(*spoken); i++)
		assert_true(rcm_verdict_is_spoken(spoken[i]));
}

static void test_eai_errno_known_codes_unknown_codes_and_system(void **state)
{
	static const struct { int eai, system, status; } rows[] = {
		{ 0, EMFILE, 0 }, { EAI_NONAME, 0, -ENOENT }, { EAI_SERVICE, 0, -ENOENT }, { EAI_NODATA, 0, -ENODATA },
		{ EAI_ADDRFAMILY, 0, -ENODATA }, { EAI_AGAIN, 0, -EAGAIN }, { EAI_FAIL, 0, -EIO },
		{ EAI_MEMORY, 0, -ENOMEM }, { EAI_FAMILY, 0, -EAFNOSUPPORT }, { EAI_OVERFLOW, 0, -ENAMETOOLONG },
		{ EAI_BADFLAGS, 0, -EINVAL }, { EAI_SOCKTYPE, 0, -EINVAL }, { -12345, ENOMEM, -EIO },
		{ EAI_SYSTEM, EMFILE, -EMFILE }, { EAI_SYSTEM, ENFILE, -ENFILE }, { EAI_SYSTEM, ENOMEM, -ENOMEM },
		{ EAI_SYSTEM, EACCES, -EACCES }, { EAI_SYSTEM, EPERM, -EPERM }, { EAI_SYSTEM, 0, -EIO },
		/* glibc 2.36 with "hosts: FILES"; EBUSY is the SA's, ENOENT would say that there is no such name. */
		{ EAI_SYSTEM, EBUSY, -EIO }, { EAI_SYSTEM, ENOENT, -EIO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(rcm_eai_errno(rows[i].eai, rows[i].system), rows[i].status);
}

/* What rdma_getaddrinfo() returns of a resolution's end. */
static void test_eai_of_a_status_is_the_code_that_getaddrinfo_has_for_it(void **state)
{
	static const struct { int status, eai; } rows[] = {
		{ 0, 0 }, { -ENOENT, EAI_NONAME }, { -ENODATA, EAI_NODATA }, { -EAGAIN, EAI_AGAIN },
		{ -ETIMEDOUT, EAI_AGAIN }, { -ENOMEM, EAI_MEMORY }, { -EIO, EAI_FAIL }, { -EMFILE, EAI_SYSTEM },
		{ -EINVAL, EAI_SYSTEM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(rcm_status_eai(rows[i].status), rows[i].eai);
	/* F20: no failure's is that of success. */
	for (int e = 1; e < 133; e++)
		assert_int_not_equal(rcm_status_eai(-e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict_every_failure_is_a_negative_errno_with_code_and_text),
		cmocka_unit_test(test_verdict_codes_are_those_of_the_contract),
		cmocka_unit_test(test_verdict_order_puts_our_own_failures_first_then_found_and_no_such_name_last),
		cmocka_unit_test(test_verdict_spoken_ones_are_those_of_a_server),
		cmocka_unit_test(test_eai_errno_known_codes_unknown_codes_and_system),
		cmocka_unit_test(test_eai_of_a_status_is_the_code_that_getaddrinfo_has_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
