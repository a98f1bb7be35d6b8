/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks name servers in the test. */
#include "name_asker.h"

#include "../unit/test.h"
#include "base/clock.h"
#include "fake_clock.h"

struct rcm_loop loop;
struct rcm_servers servers;
struct rcm_resolv *resolv;
unsigned rooms;

static struct rcm_families *under_way[8192];
static unsigned under_way_count;

static void forget(const struct rcm_families *families)
{
	unsigned i = 0;

	while (under_way[i] != families)
		i++;
	under_way[i] = under_way[--under_way_count];
}

static void have_room(void *arg)
{
	assert_ptr_equal(arg, &servers);
	rooms++;
}

int open_servers(void **state)
{
	(void)state;
	rcm_fake_clock_use(RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	name_server_open(&loop);
	rcm_servers_init(&servers, &loop, have_room, &servers);
	resolv = name_server_resolv(1, "");
	under_way_count = 0;
	return 0;
}

static void forget_all(void)
{
	while (under_way_count)
		rcm_families_network.free(under_way[--under_way_count]);
}

int close_servers(void **state)
{
	(void)state;
	name_server_assert_quiet();
	forget_all();
	rcm_servers_done(&servers);
	rcm_resolv_put(resolv);
	name_server_close();
	assert_null(loop.timers.root);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

void configure(unsigned count, const char *options)
{
	forget_all();
	rcm_servers_done(&servers);
	rcm_servers_init(&servers, &loop, have_room, &servers);
	rcm_resolv_put(resolv);
	resolv = name_server_resolv(count, options);
}

static void done(struct rcm_families *families, void *arg)
{
	struct asked *asked = arg;

	assert_false(asked->done);
	asked->done = true;
	asked->half = families->half;
	asked->missing = families->missing;
	asked->verdict = families->verdict;
	asked->speaker = families->speaker;
	asked->count = families->reply.count;
	asked->ttl = families->reply.ttl;
	forget(families);
	rcm_families_network.free(families);
}

int ask_to(struct asked *asked, const char *name, int family)
{
	int ret;

	memset(asked, 0, sizeof(*asked));
	ret = rcm_families_network.start(&servers, resolv, name, family, done, asked, &asked->families);
	if (ret)
		return ret;
	assert_true(under_way_count < sizeof(under_way) / sizeof(*under_way));
	under_way[under_way_count++] = asked->families;
	rcm_families_network.flush(&servers);
	return 0;
}

void ask(struct asked *asked, const char *name, int family)
{
	assert_int_equal(ask_to(asked, name, family), 0);
}

void drop(struct asked *asked)
{
	forget(asked->families);
	rcm_families_network.free(asked->families);
}

void take(unsigned server, struct name_server_question *question)
{
	if (!name_server_take(server, false, question))
		fail_msg("server %u was not asked", server);
}

void check(const struct asked *asked, enum rcm_dns_verdict verdict, unsigned count)
{
	assert_true(asked->done);
	assert_string_equal(rcm_verdict_text(asked->verdict), rcm_verdict_text(verdict));
	assert_int_equal(asked->count, count);
}

void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

void turn_twice(void)
{
	turn();
	turn();
}

void advance_ms(unsigned ms)
{
	rcm_fake_clock_advance(ms * RCM_NS_PER_MS);
	turn();
	turn();
}
