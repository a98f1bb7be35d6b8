/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels, ids and resolutions in the child of a fork: each step by itself, on what a parent may have left. */
#include "cm/heir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cm/lookup.h"
#include "cm/take.h"
#include "cm/user.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "few_fds.h"
#include "one_id.h"
#include "test.h"

static struct rcm_event *write_user(uint64_t arg)
{
	assert_int_equal(rcm_user_post(id, 0, arg), 0);
	return TAILQ_LAST(&channel->queue, rcm_event_list);
}

static void get_user(uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_USER);
	assert_int_equal(event->pub.param.arg, arg);
	rcm_event_ack(event);
}

static void get_nothing(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), -EAGAIN);
}

static bool is_readable(void)
{
	struct pollfd p = { .fd = channel->pub.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void set_aside(struct rcm_event *event)
{
	rcm_lock_acquire(&channel->lock);
	TAILQ_REMOVE(&channel->queue, event, in_channel);
	TAILQ_INSERT_TAIL(&channel->aside, event, in_channel);
	event->list = &channel->aside;
	rcm_lock_release(&channel->lock);
}

/* Those who waited, counted, or held something aren't here. */
static void test_channel_renewed_is_used_by_nobody(void **state)
{
	int rung;

	(void)state;
	channel->users = 3;
	channel->own_awaited = 2;
	channel->closing = channel->recognized = channel->readiness.shown = true;
	sem_post(&channel->own);
	rcm_channel_rest(channel, id);
	rcm_channel_renew(channel);
	assert_int_equal(channel->users, 0);
	assert_int_equal(channel->own_awaited, 0);
	assert_false(channel->closing || channel->recognized || channel->readiness.shown || channel->torn);
	assert_true(channel->shared && channel->foreign);
	assert_int_equal(sem_getvalue(&channel->own, &rung), 0);
	assert_int_equal(rung, 0);
	assert_null(rcm_channel_next_resting(channel));
	id->rests = false;
}

static void test_channel_renewed_has_what_was_aside_where_it_was(void **state)
{
	struct rcm_event *first = write_user(1), *second = write_user(2);

	(void)state;
	write_user(3);
	set_aside(first);
	set_aside(second);
	rcm_channel_renew(channel);
	assert_ptr_equal(first->list, &channel->queue);
	assert_ptr_equal(second->list, &channel->queue);
	assert_int_equal(rcm_channel_own(channel), 0);
	for (uint64_t i = 1; i <= 3; i++)
		get_user(i);
	get_nothing();
}

#ifndef __SANITIZE_THREAD__
/* A thread of the parent's was changing it. ThreadSanitizer goes on to see this thread hold the lock. */
static void test_channel_renewed_while_its_lock_was_held_forgets_its_events(void **state)
{
	struct rcm_event *events[3] = { write_user(1), write_user(2), write_user(3) };
	struct rcm_kernel_event *spare = calloc(1, sizeof(*spare));

	(void)state;
	set_aside(events[0]);
	rcm_lock_acquire(&channel->lock);
	TAILQ_REMOVE(&channel->queue, events[1], in_channel);
	TAILQ_INSERT_TAIL(&channel->nobodys, events[1], in_channel);
	channel->spare = spare;
	rcm_channel_renew(channel);
	assert_true(channel->torn);
	assert_true(TAILQ_EMPTY(&channel->queue) && TAILQ_EMPTY(&channel->aside) && TAILQ_EMPTY(&channel->nobodys));
	assert_null(channel->spare);
	assert_true(rcm_id_renew(id));
	assert_true(TAILQ_EMPTY(&id->undelivered));
	assert_int_equal(rcm_channel_own(channel), 0);
	write_user(4);
	get_user(4);
	free(spare);
	for (unsigned i = 0; i < 3; i++)
		rcm_event_discard(events[i]);
}
#endif

static void test_id_renewed_owes_nothing(void **state)
{
	struct rcm_event *queued = write_user(1);

	(void)state;
	id->unacked[0] = id->unacked[1] = id->commands[0] = id->commands[1] = 1;
	for (unsigned place = 0; place < RCM_EVENT_PLACES; place++)
		id->unacked_of[place] = 1;
	id->renewals = id->awaiting = 1;
	id->migrating = true;
	rcm_lock_acquire(&id->lock);
	rcm_lock_acquire(&id->queues);
	assert_false(rcm_id_renew(id));
	assert_true(rcm_id_renew(id));
	for (unsigned stay = 0; stay < 2; stay++)
		assert_false(id->unacked[stay] || id->commands[stay]);
	for (unsigned place = 0; place < RCM_EVENT_PLACES; place++)
		assert_int_equal(id->unacked_of[place], 0);
	assert_false(id->renewals || id->awaiting || id->migrating);
	assert_ptr_equal(TAILQ_FIRST(&id->undelivered), queued);
	rcm_lock_acquire(&id->queues);
	rcm_lock_release(&id->queues);
}

static int replace_by_another_file(int fd)
{
	int file = eventfd(0, EFD_CLOEXEC);

	assert_int_equal(dup3(file, fd, O_CLOEXEC), fd);
	close(file);
	return fd;
}

static void test_channel_is_recognized_once(void **state)
{
	int fd = channel->pub.fd;

	(void)state;
	channel->recognized = false;
	rcm_channel_recognize(channel);
	assert_true(channel->recognized);
	assert_int_equal(channel->pub.fd, fd);
	replace_by_another_file(fd);
	rcm_channel_recognize(channel);
	assert_int_equal(channel->pub.fd, fd);
	channel->recognized = false;
	rcm_channel_recognize(channel);
	assert_int_equal(channel->pub.fd, -1);
	close(fd);
}

static void test_channel_owned_shows_by_itself_under_its_number(void **state)
{
	int fd = channel->pub.fd;

	(void)state;
	write_user(1);
	rcm_channel_renew(channel);
	assert_int_equal(rcm_channel_own(channel), 0);
	assert_false(channel->shared);
	assert_int_equal(channel->pub.fd, fd);
	assert_true(is_readable());
	get_user(1);
	assert_false(is_readable());
	/* The second time there is nothing to do. */
	few_fds_left(0);
	assert_int_equal(rcm_channel_own(channel), 0);
	few_fds_left(UINT_MAX);
}

static void test_channel_without_descriptors_is_owned_later(void **state)
{
	(void)state;
	write_user(1);
	rcm_channel_renew(channel);
	few_fds_left(0);
	assert_int_equal(rcm_channel_own(channel), -EMFILE);
	few_fds_left(UINT_MAX);
	assert_true(channel->shared);
	assert_int_equal(rcm_channel_own(channel), 0);
	assert_true(is_readable());
	get_user(1);
}

static void test_id_rests_once_until_it_is_taken(void **state)
{
	unsigned refs = id->entry.refs;

	(void)state;
	rcm_channel_unrest(channel, id);
	rcm_channel_rest(channel, id);
	rcm_channel_rest(channel, id);
	assert_true(id->rests);
	assert_ptr_equal(rcm_channel_next_resting(channel), id);
	assert_false(id->rests);
	assert_int_equal(id->entry.refs, refs + 1);
	rcm_id_put(id);
	assert_null(rcm_channel_next_resting(channel));
	rcm_channel_rest(channel, id);
	rcm_channel_unrest(channel, id);
	assert_false(id->rests);
	assert_null(rcm_channel_next_resting(channel));
}

/* ---- Resolutions ---- */

static void start(bool sync)
{
	id->sync = sync;
	assert_int_equal(rcm_lookup_start(id, "host.test", "7471", NULL), 0);
	id->sync = false;
}

static void get_resolved(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	rcm_event_ack(event);
}

static struct rcm_event *take(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_take(channel, &event), 0);
	return event;
}

/* What is left of one that has ended: whether its event comes in the child, queued or taken in the parent. */
static void test_lookup_that_has_ended_comes_unless_a_call_waited_or_it_may_be_half_changed(void **state)
{
	static const struct { bool sync, taken, whole, torn, comes; } cases[] = {
		{ false, false, true, false, true }, { false, false, false, false, true },
		{ false, true, true, false, true }, { false, true, false, false, false },
		{ true, false, true, false, false }, { true, true, true, false, false },
		{ false, false, true, true, true }, { false, false, false, true, false },
		{ true, false, true, true, false },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rcm_event *event;

		start(cases[i].sync);
		rcm_fake_engine_resolve(1);
		event = TAILQ_FIRST(&channel->queue);
		if (cases[i].taken)
			assert_ptr_equal(take(), event);
		id->rests = true;
		if (cases[i].torn) {
			TAILQ_INIT(&channel->queue);
			TAILQ_INIT(&id->undelivered);
		}
		channel->torn = cases[i].torn;
		rcm_lookup_renew(id, cases[i].whole);
		channel->torn = false;
		assert_false(id->rests);
		assert_int_equal(id->lookup != NULL, cases[i].comes);
		if (cases[i].comes)
			get_resolved();
		get_nothing();
		assert_true(TAILQ_EMPTY(&id->undelivered));
		if (!cases[i].comes)
			rcm_event_discard(event);
		memset(id->unacked, 0, sizeof(id->unacked));
		memset(id->unacked_of, 0, sizeof(id->unacked_of));
	}
}

static void test_lookup_under_way_rests_or_is_forgotten(void **state)
{
	(void)state;
	rcm_lookup_renew(id, true);
	assert_null(rcm_channel_next_resting(channel));
	start(false);
	rcm_lookup_renew(id, true);
	assert_null(id->lookup);
	assert_null(rcm_channel_next_resting(channel));
	rcm_fake_engine_resolve(1);
	get_nothing();
}

/* Somebody in the parent was about to cancel it. */
static void test_lookup_whose_request_was_taken_rests_with_it_again(void **state)
{
	(void)state;
	rcm_fake_engine_hold_cancels(true);
	start(false);
	assert_int_equal(rcm_lookup_cancel(id), 0);
	assert_int_equal(rcm_fake_engine_cancels(), 1);
	rcm_fake_engine_rest();
	rcm_lookup_renew(id, true);
	assert_ptr_equal(rcm_channel_next_resting(channel), id);
	rcm_id_put(id);
	assert_int_equal(rcm_lookup_cancel(id), 0);
	assert_int_equal(rcm_fake_engine_cancels(), 2);
	rcm_fake_engine_fail(-ECANCELED, 0, "");
	rcm_event_ack(take());
}

static void test_lookup_starts_again_unless_it_has_ended_or_a_call_waited(void **state)
{
	(void)state;
	assert_int_equal(rcm_lookup_again(id), 0);
	assert_int_equal(rcm_fake_engine_agains(), 0);
	start(false);
	assert_int_equal(rcm_lookup_again(id), 0);
	assert_int_equal(rcm_fake_engine_agains(), 1);
	rcm_fake_engine_resolve(1);
	assert_int_equal(rcm_lookup_again(id), 0);
	assert_int_equal(rcm_fake_engine_agains(), 1);
	get_resolved();
	start(true);
	assert_int_equal(rcm_lookup_again(id), 0);
	assert_int_equal(rcm_fake_engine_agains(), 1);
	assert_int_equal(rcm_fake_engine_cancels(), 1);
	assert_null(id->lookup);
	get_nothing();
}

static void test_lookup_that_can_not_start_again_rests(void **state)
{
	(void)state;
	start(false);
	rcm_fake_engine_refuse_again(-EAGAIN);
	assert_int_equal(rcm_lookup_again(id), -EAGAIN);
	rcm_fake_engine_refuse_again(0);
	assert_ptr_equal(rcm_channel_next_resting(channel), id);
	assert_int_equal(rcm_lookup_again(id), 0);
	assert_null(rcm_channel_next_resting(channel));
	rcm_id_put(id);
	rcm_fake_engine_resolve(1);
	get_resolved();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_id, close_id)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_channel_renewed_is_used_by_nobody),
		TEST(test_channel_renewed_has_what_was_aside_where_it_was),
#ifndef __SANITIZE_THREAD__
		TEST(test_channel_renewed_while_its_lock_was_held_forgets_its_events),
#endif
		TEST(test_id_renewed_owes_nothing),
		TEST(test_channel_is_recognized_once),
		TEST(test_channel_owned_shows_by_itself_under_its_number),
		TEST(test_channel_without_descriptors_is_owned_later),
		TEST(test_id_rests_once_until_it_is_taken),
		TEST(test_lookup_that_has_ended_comes_unless_a_call_waited_or_it_may_be_half_changed),
		TEST(test_lookup_under_way_rests_or_is_forgotten),
		TEST(test_lookup_whose_request_was_taken_rests_with_it_again),
		TEST(test_lookup_starts_again_unless_it_has_ended_or_a_call_waited),
		TEST(test_lookup_that_can_not_start_again_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
