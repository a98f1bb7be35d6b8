/* SPDX-License-Identifier: BSD-2-Clause */
/* What a request that waits for a name server takes: itself, its flight, its name, and the event that is ready. */
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "cm/lookup.h"
#include "dns/lookup.h"
#include "dns/names.h"
#include "fake_dns.h"
#include "fake_families.h"
#include "resolve/engine.h"
#include "resolve/resolve.h"
#include "test.h"

enum { MANY = 2000 };

static const struct rcm_dns_ops *fake = &rcm_fake_dns;
static struct rcm_names *names;
static struct rcm_request *requests[MANY];
static _Atomic unsigned started, told;

/* The fake but for names, which are the real thing and find no room at any server. */
static int names_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		       struct rcm_dns_lookup **ret_lookup)
{
	static const enum rcm_pick_step steps[RCM_PICK_STEPS] = { RCM_PICK_DNS };
	struct rcm_resolv *resolv;
	int ret;

	(void)dns;
	if (!names) {
		assert_int_equal(rcm_names_open(&rcm_engine_the()->loop, &fake_families, &names), 0);
		assert_int_equal(rcm_resolv_read("/dev/null", &resolv), 0);
		rcm_names_configure(names, steps, resolv, NULL);
		fake_families_room(0);
	}
	ret = rcm_names_start(names, query, done, arg, ret_lookup);
	started++;
	return ret;
}

static void names_cancel(struct rcm_dns *dns, struct rcm_dns_lookup *lookup)
{
	(void)dns;
	lookup->ops->cancel(lookup);
	started--;
}

static void done(void *arg, struct rcm_outcome *outcome)
{
	(void)arg;
	rcm_answer_put(outcome->answer);
	free(outcome->text);
	told++;
}

/* Names of len characters, all different. */
static void start_all(unsigned len, char first)
{
	struct rcm_question question = { .deadline_ms = RCM_DEADLINE_DEFAULT };
	char name[RCM_NODE_MAX + 1];

	for (unsigned i = 0; i < MANY; i++) {
		for (unsigned at = 0; at < len; at++)
			name[at] = at % 50 == 49 ? '.' : 'x';
		name[len] = '\0';
		snprintf(name, sizeof(name), "%c%05u", first, i);
		name[6] = 'x';
		question.node = name;
		assert_int_equal(rcm_request_start(&question, done, NULL, &requests[i]), 0);
	}
	while (started < MANY)
		sched_yield();
}

static void end_all(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		rcm_request_cancel(requests[i]);
		rcm_request_put(requests[i]);
	}
	while (told < MANY)
		sched_yield();
	told = 0;
}

static size_t bytes_each(unsigned len, char first)
{
	size_t before, bytes;

	/* Once for what is kept afterwards: tables, the loop's heap. */
	start_all(len, first);
	end_all();
	before = mallinfo2().uordblks;
	start_all(len, first);
	bytes = (mallinfo2().uordblks - before) / MANY + RCM_LOOKUP_BYTES;
	end_all();
	print_message("%u characters: %zu bytes\n", len, bytes);
	return bytes;
}

static void test_waiting_request_takes_at_most_1_kib_for_any_name(void **state)
{
	static const unsigned lengths[] = { 24, RCM_NODE_MAX };

	(void)state;
	assert_true(mallinfo2().uordblks);
	for (int i = 0; i < 2; i++) {
		assert_uint_in_range(bytes_each(lengths[i], 'h'), 512, 1024);
		assert_uint_in_range(bytes_each(lengths[i], 'H'), 512, 1024);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting_request_takes_at_most_1_kib_for_any_name),
	};
	struct rcm_dns_ops ops = *fake;
	const struct rcm_backends backends = { .dns = &ops };

	ops.start = names_start;
	ops.cancel = names_cancel;
	rcm_engine_use(&backends);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
