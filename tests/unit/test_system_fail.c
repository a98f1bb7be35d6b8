/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own way to names, with each allocation, descriptor and thread that it needs failing in turn. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "dns/dns.h"
#include "dns/pick.h"
#include "dns/resolv.h"
#include "fake_means.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_dns *dns;
static const struct rcm_pick *picked;

int __real_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick);
int __wrap_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick);

int __wrap_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick)
{
	int ret = __real_rcm_pick_read(files, pick);

	if (!ret)
		*pick = *picked;
	return ret;
}

/* What came of a question: calls 1 once it is told. */
struct told {
	unsigned calls;
	int status;
	unsigned count;
};

static struct told settled;
static enum fake_means means;

static bool is_want(int status)
{
	return status == -fake_means_errno(means) || status == -ENOMEM || status == -EAGAIN || status == -EMFILE;
}

static void changed(void *arg)
{
	(void)arg;
}

static void is_settled(void *arg, int status)
{
	(void)arg;
	settled.calls++;
	settled.status = status;
}

static void take(void *arg, const struct rcm_dns_answer *answer)
{
	struct told *told = arg;

	told->calls++;
	told->status = answer->status;
	told->count = answer->count;
}

static void take_port(void *arg, int status, uint16_t port)
{
	struct told *told = arg;

	told->calls++;
	told->status = status;
	told->count = port;
}

static void wait_for(const struct told *told)
{
	while (!told->calls)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	assert_int_equal(told->calls, 1);
}

/* Started, or refused for want of what fails; what is started is told once. */
static struct told of_start(int ret, struct told *told)
{
	if (!ret)
		wait_for(told);
	else
		told->status = ret;
	assert_int_equal(told->calls, !ret);
	return *told;
}

static struct told ask(const char *name, enum rcm_dns_source source, bool srv)
{
	const struct rcm_dns_query query = { .name = name, .family = AF_INET, .source = source, .srv = srv };
	struct rcm_dns_lookup *lookup;
	struct told told = { 0 };

	return of_start(rcm_dns_system.start(dns, &query, take, &told, &lookup), &told);
}

static struct told ask_service(void)
{
	struct rcm_dns_service *service;
	struct told told = { 0 };

	return of_start(rcm_dns_system.service_start(dns, "discard", SOCK_STREAM, take_port, &told, &service), &told);
}

/* Opened and read, then asked, one thing after the other, for what needs no name server. Whether all came as it does where
 * nothing fails. */
static bool asked_all(void)
{
	const struct rcm_dns_owner owner = { .changed = changed, .settled = is_settled };
	union rcm_dns_address both[] = {
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } },
		{ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } },
	};
	struct told name, none, records, service;
	int ret;

	settled = (struct told){ 0 };
	ret = rcm_dns_system.open(&loop, &owner, &dns);
	if (ret) {
		assert_true(is_want(ret));
		return false;
	}
	ret = rcm_dns_system.settle(dns);
	if (!ret)
		wait_for(&settled);
	/* Without a configuration nobody asks. */
	if (ret < 0 || settled.status) {
		assert_true(is_want(ret < 0 ? ret : settled.status));
		rcm_dns_system.close(dns);
		return false;
	}
	rcm_dns_system.sort(dns, both, 2);
	name = ask("localhost", picked->system ? RCM_DNS_CONFIGURED : RCM_DNS_HOSTS, false);
	none = ask("none.test", RCM_DNS_HOSTS, false);
	records = ask("_x._tcp.none.test", RCM_DNS_HOSTS, true);
	service = ask_service();
	rcm_dns_system.close(dns);
	assert_true(!name.status || is_want(name.status) || (!picked->system && name.status == -ENOENT));
	assert_true(none.status == -ENOENT || is_want(none.status));
	assert_true(records.status == -ENOENT || is_want(records.status));
	assert_true(!service.status || is_want(service.status));
	return !name.status && name.count == 1 && none.status == -ENOENT &&
	       records.status == -ENOENT && !service.status && service.count == 9;
}

/* How many uses of it there are. */
static unsigned fail_each(void)
{
	unsigned nth = 1;

	for (;; nth++) {
		bool whole, failed;

		assert_int_equal(rcm_loop_init(&loop), 0);
		fake_means_fail(means, nth);
		whole = asked_all();
		failed = fake_means_calm();
		rcm_loop_done(&loop);
		if (!failed) {
			assert_true(whole);
			return nth - 1;
		}
		assert_true(nth < 2000);
	}
}

static void fail_all(void)
{
	static const unsigned least[FAKE_MEANS] = { 20, 8, 2 };

	for (means = 0; means < FAKE_MEANS; means++)
		assert_true(fail_each() >= least[means]);
}

static void test_system_without_means_anywhere_is_refused_or_told_once(void **state)
{
	const struct rcm_pick pick = { .steps = { RCM_PICK_FILES, RCM_PICK_DNS }, .policy = rcm_policy_default };

	(void)state;
	picked = &pick;
	fail_all();
}

/* By getaddrinfo(). */
static void test_system_of_modules_without_means_anywhere_is_refused_or_told_once(void **state)
{
	const struct rcm_pick pick = { .system = true, .policy = rcm_policy_default };

	(void)state;
	picked = &pick;
	fail_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_without_means_anywhere_is_refused_or_told_once),
		cmocka_unit_test(test_system_of_modules_without_means_anywhere_is_refused_or_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
