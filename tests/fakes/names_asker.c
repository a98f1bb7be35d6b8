/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for names by scripted name servers. */
#include "names_asker.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "../unit/test.h"
#include "base/clock.h"
#include "fake_cares.h"
#include "fake_clock.h"

struct rcm_loop loop;
struct rcm_names *names;
const enum rcm_pick_step files_dns[RCM_PICK_STEPS] = { RCM_PICK_FILES, RCM_PICK_DNS };
const enum rcm_pick_step dns_files[RCM_PICK_STEPS] = { RCM_PICK_DNS, RCM_PICK_FILES };

struct rcm_resolv *make_resolv(const char *domain, unsigned long options)
{
	struct __res_state res = { .nscount = 1, .ndots = 1, .retrans = 1, .retry = 1, .options = options };
	struct rcm_resolv *resolv;

	res.nsaddr_list[0] = (struct sockaddr_in){ .sin_family = AF_INET,
						   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	res.dnsrch[0] = (char *)domain;
	assert_int_equal(rcm_resolv_from(&res, &resolv), 0);
	return resolv;
}

struct rcm_hosts *make_hosts(void)
{
	char path[] = "/tmp/rai-names-XXXXXX";
	int fd = mkstemp(path);
	struct rcm_hosts *hosts;

	assert_int_equal(write(fd, "192.0.2.77 inhosts\n", 19), 19);
	close(fd);
	assert_int_equal(rcm_hosts_read(path, false, &hosts), 0);
	unlink(path);
	return hosts;
}

int open_names(void **state)
{
	(void)state;
	rcm_fake_clock_use(RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_names_open(&loop, &fake_cares, &names), 0);
	rcm_names_configure(names, files_dns, make_resolv(NULL, 0), make_hosts());
	return 0;
}

int close_names(void **state)
{
	(void)state;
	fake_cares_assert_over();
	fake_cares_speaker(NULL);
	rcm_names_close(names);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

void done(void *arg, const struct rcm_dns_answer *answer)
{
	struct result *result = arg;

	result->done++;
	result->status = answer->status;
	result->code = answer->code;
	result->count = answer->count;
	result->ttl = answer->ttl;
	strcpy(result->canonname, answer->canonname ? answer->canonname : "");
	strcpy(result->text, answer->text ? answer->text : "");
}

void start_as(struct result *result, const char *name, int family, enum rcm_dns_source source, uint32_t timeout)
{
	const struct rcm_dns_query query = { .name = name, .family = family, .source = source, .timeout_ms = timeout };

	memset(result, 0, sizeof(*result));
	assert_int_equal(rcm_names_start(names, &query, done, result, &result->lookup), 0);
}

void start(struct result *result, const char *name)
{
	start_as(result, name, AF_UNSPEC, RCM_DNS_CONFIGURED, 0);
	assert_int_equal(result->done, 0);
}

void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

void advance_ms(unsigned ms)
{
	rcm_fake_clock_advance(ms * RCM_NS_PER_MS);
	turn();
}

void fail_both(const char *name, enum rcm_dns_verdict verdict)
{
	struct rcm_exchange *x = fake_cares_take(name, true, true);

	fake_cares_fail(x, ns_t_a, verdict);
	fake_cares_fail(x, ns_t_aaaa, verdict);
	turn();
}
