/* SPDX-License-Identifier: BSD-2-Clause */
/* Random sequences of what happens to services of one process: in the end each is published, or another has its place. */
#include "publish/publisher.h"

#include <errno.h>
#include <stdlib.h>

#include "publishing.h"
#include "test.h"

enum { SERVICES = 6, SEEDS = 200, STEPS = 120, SETTLED_S = 500, CHANCES = 12 };

static const uint16_t pkeys[] = { 0xffff, 0x7fff, 0x8001 };
static struct rcm_publishing all[SERVICES];
static enum { GONE, LIVE, STOPPED } states[SERVICES];

static unsigned chance(unsigned below)
{
	return (unsigned)random() % below;
}

/* Of two service ids and four partitions, so that they get into each other's way. */
static void start(unsigned i)
{
	struct rcm_service_offer *offer = &all[i].published.registration.offer;

	if (states[i] != GONE)
		return;
	rcm_publishing_prepare(&all[i], 0x77 + chance(2));
	offer->port.raw[1] = 0x80;
	offer->pkey = chance(2) ? 0 : pkeys[chance(3)];
	offer->lease_s = chance(3) ? 120 : 3;
	offer->data[0] = (uint8_t)i;
	rcm_publishing_begin(&all[i]);
	states[i] = LIVE;
}

static void withdraw(unsigned i)
{
	if (states[i] == LIVE) {
		states[i] = STOPPED;
		rcm_publishing_stop(&all[i]);
	}
}

static void port_changes(void)
{
	switch (chance(4)) {
	case 0:
		rcm_publishing_port.pkey = pkeys[chance(3)];
		rcm_publishing_port.pkeys++;
		break;
	case 1:
		rcm_publishing_port_gone = chance(2);
		break;
	case 2:
		rcm_publishing_port.sm_lid = (uint16_t)(1 + chance(3));
		break;
	default:
		rcm_publishing_port.gid.raw[1] = chance(2) ? 0x80 : 0xc0;
	}
}

static void step(void)
{
	switch (chance(CHANCES)) {
	case 0 ... 2:
		start(chance(SERVICES));
		break;
	case 3:
		withdraw(chance(SERVICES));
		break;
	case 4 ... 6:
		port_changes();
		break;
	case 7:
		rcm_model_sa_mood((enum rcm_model_mood)chance(RCM_MODEL_DOWN + 1));
		break;
	case 8:
		rcm_model_sa_forget();
		break;
	case 9:
		rcm_publisher_ports_changed(&rcm_publishing_publisher, chance(2));
		break;
	case 10:
		rcm_model_sa_run(chance(3000) * RCM_NS_PER_MS);
		break;
	default:
		rcm_model_sa_run(chance(100) * RCM_TEST_S);
	}
	for (unsigned i = 0; i < SERVICES; i++)
		if (states[i] != GONE && all[i].over)
			states[i] = GONE;
}

static void settle(void)
{
	rcm_publishing_port_gone = false;
	rcm_model_sa_mood(RCM_MODEL_ANSWERS);
	rcm_model_sa_run(SETTLED_S * RCM_TEST_S);
}

static bool another_is_there(unsigned but)
{
	const struct rcm_registration *r = &all[but].published.registration;
	uint16_t pkey = r->offer.pkey ? r->offer.pkey : rcm_publishing_port.pkey;

	for (unsigned i = 0; i < SERVICES; i++) {
		const struct rcm_registration *other = &all[i].published.registration;

		if (i != but && states[i] == LIVE && other->there && other->place.id == r->offer.id &&
		    other->place.pkey == pkey)
			return true;
	}
	return false;
}

static void assert_settled(void)
{
	unsigned there = 0;

	for (unsigned i = 0; i < SERVICES; i++) {
		const struct rcm_registration *r = &all[i].published.registration;

		if (states[i] == STOPPED)
			assert_true(all[i].over);
		if (states[i] != LIVE)
			continue;
		there += r->there;
		assert_int_equal(r->told, r->there ? 0 : -EEXIST);
		assert_true(r->there != another_is_there(i));
	}
	assert_int_equal(rcm_model_sa_count(), there);
	assert_int_equal(rcm_publishing_publisher.turns, 0);
}

static void test_publisher_after_any_sequence_has_each_service_published_once(void **state)
{
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		srandom(seed);
		rcm_publishing_before(state);
		for (unsigned i = 0; i < STEPS; i++)
			step();
		settle();
		assert_settled();
		for (unsigned i = 0; i < SERVICES; i++)
			withdraw(i);
		settle();
		for (unsigned i = 0; i < SERVICES; i++)
			states[i] = GONE;
		assert_int_equal(rcm_model_sa_count(), 0);
		assert_int_equal(rcm_publishing_after(state), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publisher_after_any_sequence_has_each_service_published_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
