/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own way to names: what is done on whose thread. */
#include <sys/socket.h>
#include <unistd.h>

#include "dns/dns.h"
#include "dns/hosts.h"
#include "dns/netlink.h"
#include "dns/pick.h"
#include "test.h"
#include "asleep.h"

static unsigned dumps;
static bool news;

int __real_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg);
ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);
int __real_rcm_hosts_read(const char *path, bool first_line_only, struct rcm_hosts **ret_hosts);
int __wrap_rcm_hosts_read(const char *path, bool first_line_only, struct rcm_hosts **ret_hosts);
int __real_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick);
int __wrap_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick);

/* In their place, where there is another. */
static const char *hosts_file;
static const struct rcm_pick *picked;

int __wrap_rcm_hosts_read(const char *path, bool first_line_only, struct rcm_hosts **ret_hosts)
{
	return __real_rcm_hosts_read(hosts_file ? hosts_file : path, first_line_only, ret_hosts);
}

int __wrap_rcm_pick_read(const struct rcm_pick_files *files, struct rcm_pick *pick)
{
	int ret = __real_rcm_pick_read(files, pick);

	if (picked)
		*pick = *picked;
	return picked ? 0 : ret;
}

int __wrap_rcm_netlink_dump(int type, int family, int (*take)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	dumps++;
	return __real_rcm_netlink_dump(type, family, take, arg);
}

/* A route came or went. */
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	if (!news || flags != MSG_DONTWAIT)
		return __real_recv(fd, buf, len, flags);
	news = false;
	return 1;
}

static void changed(void *arg)
{
	(void)arg;
}

static void settled(void *arg, int status)
{
	assert_int_equal(status, 0);
	*(bool *)arg = true;
}

static void sort_both(struct rcm_dns *dns)
{
	union rcm_dns_address both[] = {
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } },
		{ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } },
	};

	rcm_dns_system.sort(dns, both, 2);
}

static void open_settled(struct rcm_loop *loop, struct rcm_dns **ret_dns)
{
	bool is_settled = false;
	const struct rcm_dns_owner owner = { .changed = changed, .settled = settled, .arg = &is_settled };

	assert_int_equal(rcm_loop_init(loop), 0);
	assert_int_equal(rcm_dns_system.open(loop, &owner, ret_dns), 0);
	assert_int_equal(rcm_dns_system.settle(*ret_dns), 0);
	while (!is_settled)
		assert_int_equal(rcm_loop_turn(loop, 1000), 0);
}

static void take_first(void *arg, const struct rcm_dns_answer *answer)
{
	assert_int_equal(answer->status, 0);
	assert_int_equal(answer->count, 1);
	*(uint32_t *)arg = ntohl(answer->addresses[0].in.sin_addr.s_addr);
}

/* The address that is answered at once, without another; 0: none is. */
static uint32_t answer_of(struct rcm_dns *dns, enum rcm_dns_source source)
{
	const struct rcm_dns_query query = { .name = "here.test", .family = AF_INET, .source = source };
	uint32_t address = 0;
	int ret = rcm_dns_system.answer_now(dns, &query, take_first, &address);

	assert_int_equal(ret, address != 0);
	return address;
}

static void test_system_hosts_file_answers_at_once_where_it_is_asked_first_or_alone(void **state)
{
	static const char text[] = "192.0.2.7 here.test\n";
	char path[] = "/tmp/rai-system-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	hosts_file = path;
	for (int first = 0; first < 2; first++) {
		const struct rcm_pick pick = {
			.steps = { first ? RCM_PICK_FILES : RCM_PICK_DNS, first ? RCM_PICK_DNS : RCM_PICK_FILES },
			.policy = rcm_policy_default,
		};
		struct rcm_loop loop;
		struct rcm_dns *dns;

		picked = &pick;
		open_settled(&loop, &dns);
		assert_int_equal(answer_of(dns, RCM_DNS_HOSTS), 0xc0000207);
		assert_int_equal(answer_of(dns, RCM_DNS_CONFIGURED), first ? 0xc0000207 : 0);
		assert_int_equal(answer_of(dns, RCM_DNS_SERVERS), 0);
		rcm_dns_system.close(dns);
		rcm_loop_done(&loop);
		picked = NULL;
	}
	hosts_file = NULL;
	unlink(path);
}

static void test_system_routes_that_changed_are_read_on_the_loop_s_thread_alone(void **state)
{
	struct rcm_loop loop;
	struct rcm_dns *dns;
	unsigned before;

	(void)state;
	if (emulated())
		skip();	/* qemu translates no dump of routes */
	open_settled(&loop, &dns);
	assert_true(rcm_dns_system.is_settled(dns));
	assert_true(rcm_dns_system.knows_ways(dns));
	before = dumps;
	news = true;
	assert_false(rcm_dns_system.knows_ways(dns));
	sort_both(dns);
	assert_int_equal(dumps, before);
	assert_true(rcm_dns_system.settle(dns) >= 0);
	assert_true(dumps > before);
	assert_true(rcm_dns_system.knows_ways(dns));
	before = dumps;
	sort_both(dns);
	assert_int_equal(dumps, before);
	rcm_dns_system.close(dns);
	rcm_loop_done(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_routes_that_changed_are_read_on_the_loop_s_thread_alone),
		cmocka_unit_test(test_system_hosts_file_answers_at_once_where_it_is_asked_first_or_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
