/* SPDX-License-Identifier: BSD-2-Clause */
/* Many ids at once, and a million random operations beside a dumb model: nothing lost, nothing twice. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { IDS = 64, CHANNELS = 3, OPERATIONS = 1000000 / API_SLOWER };

/* What the application knows of an id. */
struct model {
	struct rdma_cm_id *id;
	unsigned on;			/* which channel */
	bool resolving;			/* a call returned 0, and its event has not come yet */
	uint64_t written, read;		/* user events: they come in order */
};

static struct rdma_event_channel *channels[CHANNELS];
static struct model models[IDS];
static uint64_t started, resolved, failed, dropped, refused, operations;

static struct model *model_new(struct model *model)
{
	*model = (struct model){ .on = (unsigned)random() % CHANNELS };
	assert_int_equal(rdma_create_id(channels[model->on], &model->id, model, RDMA_PS_TCP), 0);
	return model;
}

static void start(struct model *model)
{
	static const char *const names[] = { "192.0.2.1", "2001:db8::1", "no-such-host.invalid" };
	uint32_t source = RAI_SOURCE_HOSTS;
	int ret;

	rdma_set_option(model->id, RDMA_OPTION_RAI, RAI_OPTION_SOURCE, &source, sizeof(source));
	ret = rdma_resolve_addrinfo(model->id, names[random() % 3], "7471", NULL);
	if (model->resolving) {
		assert_int_equal(ret, -1);
		assert_int_equal(errno, EBUSY);
		refused++;
		return;
	}
	assert_int_equal(ret, 0);
	model->resolving = true;
	started++;
}

static void write_event(struct model *model)
{
	assert_int_equal(rdma_write_cm_event(model->id, RDMA_CM_EVENT_USER, 0, model->written), 0);
	model->written++;
}

static void cancel(struct model *model)
{
	int ret = rai_cancel(model->id);

	assert_int_equal(ret, model->resolving ? 0 : -1);
}

static void destroy(struct model *model)
{
	assert_int_equal(rdma_destroy_id(model->id), 0);
	if (model->resolving)
		dropped++;
	model_new(model);
}

static void migrate(struct model *model)
{
	model->on = (model->on + 1) % CHANNELS;
	assert_int_equal(rdma_migrate_id(model->id, channels[model->on]), 0);
}

static void query(struct model *model)
{
	struct rdma_addrinfo *list = NULL;

	if (rdma_query_addrinfo(model->id, &list))
		assert_int_equal(errno, ENOENT);
	rdma_freeaddrinfo(list);
}

static void account(const struct rdma_cm_event *event)
{
	struct model *model = event->id->context;

	assert_ptr_equal(event->id, model->id);
	if (event->event == RDMA_CM_EVENT_USER) {
		assert_true(event->param.arg == model->read);
		model->read++;
		return;
	}
	assert_true(model->resolving);
	model->resolving = false;
	if (event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED) {
		assert_int_equal(event->status, 0);
		resolved++;
	} else {
		assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_ERROR);
		assert_true(event->status == -ENOENT || event->status == -ECANCELED);
		failed++;
	}
}

/* Takes up to max events that are due, on all channels. */
static unsigned take(unsigned max)
{
	struct rdma_cm_event *event;
	unsigned count = 0;

	for (unsigned i = 0; i < CHANNELS; i++)
		while (count < max && !rdma_get_cm_event(channels[i], &event)) {
			account(event);
			assert_int_equal(rdma_ack_cm_event(event), 0);
			count++;
		}
	return count;
}

static void operate(struct model *model)
{
	switch (random() % 20) {
	case 0 ... 5: start(model); break;
	case 6 ... 8: write_event(model); break;
	case 9: cancel(model); break;
	case 10: destroy(model); break;
	case 11: migrate(model); break;
	case 12 ... 13: query(model); break;
	default: take(2); break;
	}
}

/* Waits for what is still to come. */
static void drain(void)
{
	struct pollfd polled[CHANNELS];
	bool left = true;

	for (unsigned i = 0; i < CHANNELS; i++)
		polled[i] = (struct pollfd){ .fd = channels[i]->fd, .events = POLLIN };
	while (left) {
		while (take(UINT32_MAX))
			;
		left = false;
		for (unsigned i = 0; i < IDS; i++)
			left = left || models[i].resolving;
		if (left)
			assert_true(poll(polled, CHANNELS, 10000) > 0);
	}
}

static void test_million_random_operations_lose_no_event_and_bring_none_twice(void **state)
{
	(void)state;
	srandom(7471);
	for (unsigned i = 0; i < CHANNELS; i++) {
		channels[i] = rdma_create_event_channel();
		assert_non_null(channels[i]);
		set_nonblocking(channels[i]->fd);
	}
	for (unsigned i = 0; i < IDS; i++)
		model_new(&models[i]);
	for (operations = 0; operations < OPERATIONS; operations++)
		operate(&models[random() % IDS]);
	drain();
	assert_int_equal(started, resolved + failed + dropped);
	for (unsigned i = 0; i < IDS; i++) {
		assert_int_equal(models[i].written, models[i].read);
		assert_int_equal(rdma_destroy_id(models[i].id), 0);
	}
	for (unsigned i = 0; i < CHANNELS; i++) {
		assert_false(is_readable(channels[i]->fd));
		rdma_destroy_event_channel(channels[i]);
	}
	printf("%u operations: %ju started = %ju resolved + %ju failed + %ju destroyed; %ju refused\n",
	       OPERATIONS, (uintmax_t)started, (uintmax_t)resolved, (uintmax_t)failed, (uintmax_t)dropped,
	       (uintmax_t)refused);
}

/* ---- F16 ---- */

enum { PARALLEL = 4096 };

/* F16: thousands at once, each resolved and destroyed; some destroyed before, some after their event. */
static void test_4096_ids_in_parallel_resolve_and_go(void **state)
{
	static struct rdma_cm_id *ids[PARALLEL];
	struct rdma_cm_event *event;

	(void)state;
	for (unsigned i = 0; i < PARALLEL; i++) {
		assert_int_equal(rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP), 0);
		assert_int_equal(rdma_resolve_addrinfo(ids[i], "192.0.2.1", "7471", NULL), 0);
	}
	for (unsigned i = 0; i < PARALLEL / 2; i++) {
		event = get_event(channel);
		assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	for (unsigned i = 0; i < PARALLEL; i++)
		assert_int_equal(rdma_destroy_id(ids[i]), 0);
	assert_false(is_readable(channel->fd));
}

static void *create_resolve_destroy(void *arg)
{
	struct rdma_cm_id *mine;

	(void)arg;
	for (int i = 0; i < PARALLEL / 8 / API_SLOWER; i++)
		if (rdma_create_id(channel, &mine, NULL, RDMA_PS_TCP) ||
		    rdma_resolve_addrinfo(mine, "192.0.2.1", "7471", NULL) || rdma_destroy_id(mine))
			abort();
	return NULL;
}

/* F16 */
static void test_threads_create_resolve_and_destroy_without_an_event(void **state)
{
	pthread_t threads[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, create_resolve_destroy, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	assert_false(is_readable(channel->fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_million_random_operations_lose_no_event_and_bring_none_twice),
		API_TEST(test_4096_ids_in_parallel_resolve_and_go),
		API_TEST(test_threads_create_resolve_and_destroy_without_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
