/* SPDX-License-Identifier: BSD-2-Clause */
/* A publisher of the test's own. */
#include "publishing.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/container.h"
#include "fake_clock.h"
#include "test.h"

struct rcm_publisher rcm_publishing_publisher;
struct rcm_loop rcm_publishing_loop;
struct rcm_publish_port rcm_publishing_port;
bool rcm_publishing_port_gone;
int rcm_publishing_look_fails;
unsigned rcm_publishing_looks;

static unsigned alive;

static int get_sa(struct rcm_publisher *publisher, const struct rcm_sa_ops **ret_ops, struct rcm_sa **ret_sa)
{
	(void)publisher;
	*ret_ops = &rcm_model_sa;
	*ret_sa = NULL;
	return 0;
}

static int look(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port)
{
	uint16_t pkey = ret_port->pkey;
	unsigned hash = ret_port->pkeys;

	assert_int_equal(gid->raw[15], 1);
	rcm_publishing_looks++;
	if (rcm_publishing_look_fails)
		return rcm_publishing_look_fails;
	if (rcm_publishing_port_gone)
		return -ENODEV;
	*ret_port = rcm_publishing_port;
	if (pkeys)
		return 0;
	ret_port->pkey = pkey;
	ret_port->pkeys = hash;
	return 0;
}

static uint64_t no_chance(struct rcm_publisher *publisher)
{
	(void)publisher;
	return 0;
}

int rcm_publishing_before(void **state)
{
	static const struct rcm_publisher_ops ops = { get_sa, look, no_chance };

	(void)state;
	rcm_fake_clock_use(1000 * RCM_TEST_S);
	assert_int_equal(rcm_loop_init(&rcm_publishing_loop), 0);
	rcm_model_sa_reset(&rcm_publishing_loop);
	rcm_publishing_port = (struct rcm_publish_port){
		.gid = { { 0xfe, 0x80, [15] = 1 } }, .active = true, .lid = 4, .sm_lid = 1, .pkey = 0xffff, .pkeys = 7,
	};
	rcm_publishing_port_gone = false;
	rcm_publishing_look_fails = 0;
	rcm_publishing_looks = 0;
	alive = 0;
	rcm_publisher_init(&rcm_publishing_publisher, &rcm_publishing_loop, &ops);
	return 0;
}

int rcm_publishing_after(void **state)
{
	(void)state;
	rcm_loop_done(&rcm_publishing_loop);
	rcm_clock_replace(NULL);
	return !!alive;
}

static struct rcm_publishing *publishing_of(struct rcm_published *published)
{
	return rcm_container(published, struct rcm_publishing, published);
}

static void told(struct rcm_published *published, const struct rcm_service_outcome *outcome)
{
	struct rcm_publishing *publishing = publishing_of(published);

	assert_false(publishing->over);
	if (publishing->told < 8)
		publishing->told_status[publishing->told] = outcome->status;
	publishing->told++;
	snprintf(publishing->text, sizeof(publishing->text), "%s", outcome->text);
}

static void over(struct rcm_published *published)
{
	assert_false(publishing_of(published)->over);
	publishing_of(published)->over = true;
	alive--;
}

void rcm_publishing_prepare(struct rcm_publishing *publishing, uint64_t id)
{
	static uint8_t keys;

	*publishing = (struct rcm_publishing){
		.published = {
			.tell = told, .over = over, .registration = {
				.key = { 1, ++keys },
				.offer = { .port = rcm_publishing_port.gid, .id = id, .name = "storage",
					   .lease_s = 120, .data = { [15] = 9 } },
			},
		},
	};
}

void rcm_publishing_begin(struct rcm_publishing *publishing)
{
	alive++;
	rcm_publisher_add(&rcm_publishing_publisher, &publishing->published);
}

void rcm_publishing_start(struct rcm_publishing *publishing, uint64_t id)
{
	rcm_publishing_prepare(publishing, id);
	rcm_publishing_begin(publishing);
}

void rcm_publishing_stop(struct rcm_publishing *publishing)
{
	rcm_publisher_remove(&publishing->published);
}
