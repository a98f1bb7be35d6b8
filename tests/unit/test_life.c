/* SPDX-License-Identifier: BSD-2-Clause */
/* An id's end, and its way from channel to channel, while other threads are at it. */
#include "cm/life.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/sockaddr.h"
#include "base/limits.h"
#include "cm/address.h"
#include "cm/adopt.h"
#include "cm/conn.h"
#include "cm/listen.h"
#include "cm/mcast.h"
#include "cm/migrate.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "cm/wait.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "user_event.h"
#include "world.h"
#include "asleep.h"

static struct rcm_id *id;
static struct rcm_channel *second;
static atomic_int result;
static pthread_t thread;

static void make_second(void)
{
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(fcntl(second->pub.fd, F_SETFL, O_NONBLOCK), 0);
}

static void start(void *(*run)(void *))
{
	atomic_store(&result, 1);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
}

static int finish(void)
{
	pthread_join(thread, NULL);
	return atomic_load(&result);
}

static void *run_destroy(void *arg)
{
	(void)arg;
	atomic_store(&result, rcm_id_destroy(id));
	return NULL;
}

static void *run_migrate(void *arg)
{
	(void)arg;
	atomic_store(&result, rcm_id_migrate(id, second));
	return NULL;
}

static struct rcm_event *take(struct rcm_channel *from)
{
	struct rcm_event *event = NULL;

	assert_int_equal(rcm_channel_get(from, &event), 0);
	return event;
}

static void write_user(void)
{
	struct rcm_event *event;

	assert_int_equal(rcm_user_event(id, 0, 0, &event), 0);
	assert_true(rcm_id_post(id, event));
}

/* ---- Migration ---- */

static void test_migration_waits_for_what_was_taken_from_the_old_channel_alone(void **state)
{
	struct rcm_event *old, *new;

	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	make_second();
	write_user();
	old = take(rcm_world_channel);
	start(run_migrate);
	while (!rcm_world_is_on(id, second))
		sched_yield();
	/* A reader that always has an event of the id: it acks one when it has the next. */
	write_user();
	new = take(second);
	assert_int_equal(atomic_load(&result), 1);
	rcm_event_ack(old);
	assert_int_equal(finish(), 0);
	rcm_event_ack(new);
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
}

static void test_migration_follows_the_one_before_when_that_is_through(void **state)
{
	struct rcm_event *old;

	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	make_second();
	write_user();
	old = take(rcm_world_channel);
	start(run_migrate);
	while (!rcm_world_is_on(id, second))
		sched_yield();
	/* Another, back: its two stays are the same two, so it has to wait. */
	rcm_event_ack(old);
	assert_int_equal(rcm_id_migrate(id, rcm_world_channel), 0);
	assert_int_equal(finish(), 0);
	assert_true(rcm_world_is_on(id, rcm_world_channel));
	assert_int_equal(rcm_id_destroy(id), 0);
	rcm_channel_close(second);
}

static void test_migration_of_an_id_being_destroyed_is_refused(void **state)
{
	(void)state;
	id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
	make_second();
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(rcm_id_migrate(id, second), -EINVAL);
	assert_int_equal(rcm_id_migrate(id, NULL), -EINVAL);
	rcm_id_put(id);
	rcm_channel_close(second);
}

static void test_migration_and_destroy_both_wait_for_one_ack(void **state)
{
	struct rcm_event *old;
	pthread_t mover;

	(void)state;
	id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
	make_second();
	write_user();
	old = take(rcm_world_channel);
	assert_int_equal(pthread_create(&mover, NULL, run_migrate, NULL), 0);
	while (!rcm_world_is_on(id, second))
		sched_yield();
	start(run_destroy);
	while (atomic_load(&id->awaiting) < 2)
		sched_yield();
	rcm_event_ack(old);
	pthread_join(mover, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&result), 0);
	assert_int_equal(atomic_load(&id->entry.refs), 1);
	rcm_id_put(id);
	rcm_channel_close(second);
}

/* Of each state the event that ends it waits when the id moves, and is taken whole from where it went. */
static void test_migration_takes_the_event_of_every_state_along(void **state)
{
	static const enum rdma_cm_event_type kernels[] = {
		RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_RESOLVED,
		RDMA_CM_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_RESPONSE,
		RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED,
		RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_ADDR_CHANGE,
		RDMA_CM_EVENT_TIMEWAIT_EXIT,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct rcm_event *event;

		id = rcm_world_id(RDMA_PS_TCP);
		make_second();
		if (kernels[i] == RDMA_CM_EVENT_CONNECT_REQUEST)
			rcm_fake_ucma_connect_request(id->handle, NULL);
		else
			rcm_fake_ucma_event_of(id->handle, kernels[i], 0);
		assert_int_equal(rcm_id_migrate(id, second), 0);
		event = take(second);
		assert_int_equal(event->pub.event, kernels[i]);
		assert_ptr_equal(event->id, id);
		if (kernels[i] == RDMA_CM_EVENT_CONNECT_REQUEST) {
			assert_ptr_equal(event->pub.id->channel, &second->pub);
			assert_int_equal(rcm_id_destroy(rcm_id_of(event->pub.id)), 0);
		}
		rcm_event_ack(event);
		assert_int_equal(rcm_id_destroy(id), 0);
		rcm_channel_close(second);
	}
}

/* The new id is on the old descriptor, which is closed when a synchronous listener has moved. */
static void test_migration_takes_a_waiting_request_from_a_channel_that_goes(void **state)
{
	struct rdma_cm_event *event;
	struct rcm_id *request;

	(void)state;
	id = rcm_world_sync_id(RDMA_PS_TCP);
	rcm_fake_ucma_connect_request(id->handle, NULL);
	assert_int_equal(rcm_id_migrate(id, rcm_world_channel), 0);
	event = rcm_world_take(RDMA_CM_EVENT_CONNECT_REQUEST);
	request = rcm_id_of(event->id);
	assert_int_equal(rcm_conn_reject(request, 28, NULL, 0), 0);
	rcm_world_ack(event);
	assert_int_equal(rcm_id_destroy(request), 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static void test_migration_refused_by_the_kernel_leaves_a_synchronous_id_as_it_was(void **state)
{
	(void)state;
	id = rcm_world_sync_id(RDMA_PS_TCP);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_MIGRATE_ID), EINVAL);
	assert_int_equal(rcm_id_migrate(id, rcm_world_channel), -EINVAL);
	assert_true(rcm_id_is_sync(id));
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_ROUTE), 0);
	assert_int_equal(rcm_id_migrate(id, rcm_world_channel), 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static void test_reader_that_comes_late_to_a_destroyed_channel_is_told(void **state)
{
	struct rcm_channel *channel;
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_channel_new(&channel), 0);
	rcm_channel_close(channel);
	assert_int_equal(rcm_channel_get(channel, &event), -ECANCELED);
	assert_int_equal(rcm_channel_get(channel, &event), -ECANCELED);
	/* Its memory goes once, when so many others have gone. */
	for (int i = 0; i < 2 * RCM_RETIRED_MAX; i++) {
		assert_int_equal(rcm_channel_new(&channel), 0);
		rcm_channel_close(channel);
	}
}

/* ---- Who waits on a synchronous id ---- */

static void *run_connect(void *arg)
{
	(void)arg;
	atomic_store(&result, rcm_sync_complete(id, RCM_SYNC_CONNECT));
	rcm_id_put(id);
	return NULL;
}

static bool is_waited_for(struct rcm_channel *channel)
{
	bool waited;

	rcm_lock_acquire(&channel->lock);
	waited = channel->users > 0;
	rcm_lock_release(&channel->lock);
	return waited;
}

static void start_waiting(void *(*run)(void *))
{
	struct rcm_channel *channel;

	id = rcm_id_ref(rcm_world_sync_id(RDMA_PS_TCP));
	channel = rcm_id_channel(id);
	start(run);
	while (!is_waited_for(channel))
		sched_yield();
	rcm_channel_put(channel);
}

static void test_wait_on_a_synchronous_id_ends_when_it_is_destroyed(void **state)
{
	(void)state;
	start_waiting(run_connect);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(finish(), -ECANCELED);
}

static void test_wait_on_a_synchronous_id_ends_when_it_is_moved(void **state)
{
	(void)state;
	start_waiting(run_connect);
	assert_int_equal(rcm_id_migrate(id, rcm_world_channel), 0);
	assert_int_equal(finish(), -ECANCELED);
	assert_null(id->pub.event);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static void *run_get_event(void *channel)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(channel, &event);
	return NULL;
}

/* As with librdmacm; rping's event thread, left waiting, would end the program with an error. Nothing but the reader
 * itself keeps the channel's memory. */
static void test_reader_whose_channel_is_destroyed_does_not_come_back(void **state)
{
	struct rcm_channel *channel;
	void *how;

	(void)state;
	assert_int_equal(rcm_channel_new(&channel), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_get_event, &channel->pub), 0);
	while (!is_waited_for(channel))
		sched_yield();
	rcm_channel_close(channel);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &how), 0);
	assert_ptr_equal(how, PTHREAD_CANCELED);
}

static void *run_get_request(void *arg)
{
	struct rcm_id *request;

	(void)arg;
	atomic_store(&result, rcm_listen_get_request(id, PTHREAD_CANCEL_DISABLE, &request));
	rcm_id_put(id);
	return NULL;
}

static void test_wait_for_a_request_ends_when_the_listener_is_destroyed(void **state)
{
	(void)state;
	start_waiting(run_get_request);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(finish(), -ECANCELED);
}

/* An event left in an id that nobody owns any more would be waited for, for ever. */
static void test_event_of_a_wait_is_not_left_in_an_id_being_destroyed(void **state)
{
	struct rcm_channel *channel;
	struct rcm_event *event;

	(void)state;
	id = rcm_id_ref(rcm_world_sync_id(RDMA_PS_TCP));
	channel = rcm_id_channel(id);
	write_user();
	event = take(channel);
	start(run_destroy);
	while (!atomic_load(&id->awaiting))
		sched_yield();
	rcm_sync_keep(id, channel, event);
	assert_int_equal(finish(), 0);
	assert_null(id->pub.event);
	rcm_channel_put(channel);
	rcm_id_put(id);
}

/* An event written while its id is being destroyed looks for a descriptor to show on. */
static void test_channel_that_goes_needs_no_descriptor_for_events_of_ours(void **state)
{
	struct rcm_channel *channel;

	(void)state;
	id = rcm_id_ref(rcm_world_sync_id(RDMA_PS_TCP));
	channel = rcm_id_channel(id);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(rcm_channel_cover(channel), 0);
	rcm_channel_put(channel);
	rcm_id_put(id);
}

/* Nobody else has it: it is ended without its lock. */
static void test_id_that_nobody_else_has_is_destroyed_without_waiting_for_its_lock(void **state)
{
	(void)state;
	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	rcm_id_ref(id);
	alarm(60);
	rcm_lock_acquire(&id->lock);
	assert_int_equal(rcm_id_destroy_held(id), 0);
	rcm_lock_release(&id->lock);
	alarm(0);
	rcm_id_put(id);
}

/* At the fork two threads of the parent are at it: one that destroys it, one that holds its lock, to ack say. */
static void test_id_being_destroyed_at_a_fork_can_be_locked_in_the_child(void **state)
{
	struct rcm_event *event;
	int status;
	pid_t pid;

	(void)state;
	id = rcm_id_ref(rcm_world_id(RDMA_PS_TCP));
	write_user();
	event = take(rcm_world_channel);
	start(run_destroy);
	while (!atomic_load(&id->awaiting))
		sched_yield();
	rcm_lock_acquire(&id->lock);
	pid = fork();
	if (!pid) {
		alarm(60);
		rcm_adopt_enter();
		rcm_lock_acquire(&id->lock);
		_exit(0);
	}
	rcm_lock_release(&id->lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_event_ack(event);
	assert_int_equal(finish(), 0);
	rcm_id_put(id);
}

/* The threads that were at it are not there. */
static void test_channel_of_before_a_fork_is_nobodys_in_the_child(void **state)
{
	struct rcm_channel *channel = rcm_world_channel;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		alarm(60);
		channel->users = 1;
		channel->own_awaited = 1;
		channel->closing = true;
		channel->recognized = true;
		channel->shared = false;
		channel->readiness.shown = true;
		sem_post(&channel->own);
		rcm_adopt_enter();
		_exit(channel->users || channel->own_awaited || channel->closing || channel->recognized ||
		      !channel->shared || channel->readiness.shown || !sem_trywait(&channel->own) ||
		      !atomic_load(&channel->foreign));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_id_of_before_a_fork_counts_nothing_in_the_child(void **state)
{
	unsigned left = 0;
	int status;
	pid_t pid;

	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	pid = fork();
	if (!pid) {
		alarm(60);
		for (unsigned i = 0; i < 2; i++) {
			atomic_store(&id->unacked[i], 1);
			atomic_store(&id->commands[i], 1);
		}
		for (unsigned i = 0; i < RCM_EVENT_PLACES; i++)
			atomic_store(&id->unacked_of[i], 1);
		atomic_store(&id->renewals, 1);
		atomic_store(&id->awaiting, 1);
		id->migrating = true;
		rcm_adopt_enter();
		for (unsigned i = 0; i < 2; i++)
			left += atomic_load(&id->unacked[i]) + atomic_load(&id->commands[i]);
		for (unsigned i = 0; i < RCM_EVENT_PLACES; i++)
			left += atomic_load(&id->unacked_of[i]);
		left += atomic_load(&id->renewals) + atomic_load(&id->awaiting) + id->migrating;
		_exit((int)left);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

/* What a thread that isn't there was at can be anything; the rest of the channel is as good as new. */
static void test_channel_whose_lock_was_held_at_a_fork_is_empty_in_the_child(void **state)
{
	struct rcm_channel *channel = rcm_world_channel;
	int status;
	pid_t pid;

	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	write_user();
	rcm_lock_acquire(&channel->lock);
	pid = fork();
	if (!pid) {
		alarm(60);
		memset(&channel->queue, 0x5a, sizeof(channel->queue));
		memset(&channel->aside, 0x5a, sizeof(channel->aside));
		memset(&channel->nobodys, 0x5a, sizeof(channel->nobodys));
		memset(&channel->spare, 0x5a, sizeof(channel->spare));
		rcm_adopt_enter();
		_exit(!TAILQ_EMPTY(&channel->queue) || !TAILQ_EMPTY(&channel->aside) ||
		      !TAILQ_EMPTY(&channel->nobodys) || channel->spare || !TAILQ_EMPTY(&id->undelivered));
	}
	rcm_lock_release(&channel->lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

/* ThreadSanitizer has a fork's child make no threads. */
#ifndef __SANITIZE_THREAD__
struct adopter {
	pthread_t thread;
	atomic_int tid;
	int ret;
};

static void *adopt(void *arg)
{
	struct adopter *adopter = arg;

	atomic_store(&adopter->tid, gettid());
	adopter->ret = rcm_adopt_channel(rcm_world_channel);
	return NULL;
}

/* One is at it when the other comes. */
static bool two_adopt(void)
{
	struct adopter two[2] = { 0 };
	char futex[16];

	snprintf(futex, sizeof(futex), "%d ", (int)SYS_futex);
	rcm_adopt_enter();
	rcm_lock_acquire(&rcm_world_channel->lock);
	for (unsigned i = 0; i < 2; i++) {
		if (pthread_create(&two[i].thread, NULL, adopt, &two[i]))
			return false;
		while (!atomic_load(&two[i].tid) || !thread_sleeps_in(atomic_load(&two[i].tid), futex))
			sched_yield();
	}
	rcm_lock_release(&rcm_world_channel->lock);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(two[i].thread, NULL);
	return !two[0].ret && !two[1].ret;
}

static void test_channel_that_two_threads_of_a_forks_child_use_at_once_is_both_s(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		alarm(60);
		_exit(!two_adopt());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
#endif

static void *run_free(void *arg)
{
	(void)arg;
	atomic_store(&result, rcm_id_migrate(id, NULL));
	return NULL;
}

static void free_before_disconnect(uint32_t command)
{
	if (command != RDMA_USER_CM_CMD_DISCONNECT || rcm_id_is_sync(id))
		return;
	start(run_free);
	while (!rcm_id_is_sync(id))
		sched_yield();
}

/* Its event may have been taken from the channel that the id was on. */
static void test_call_on_an_id_that_becomes_synchronous_meanwhile_does_not_wait(void **state)
{
	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	rcm_fake_ucma_before(free_before_disconnect);
	assert_int_equal(rdma_disconnect(&id->pub), 0);
	rcm_fake_ucma_before(NULL);
	assert_int_equal(finish(), 0);
	assert_int_equal(rcm_id_destroy(id), 0);
}

/* ---- A listener that goes under a request ---- */

static void destroy_before_query(uint32_t command)
{
	if (command != RDMA_USER_CM_CMD_QUERY || rcm_id_is_dead(id))
		return;
	start(run_destroy);
	while (!rcm_id_is_dead(id))
		sched_yield();
}

static void test_request_to_a_listener_being_destroyed_is_dropped(void **state)
{
	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	rcm_fake_ucma_connect_request(id->handle, NULL);
	rcm_fake_ucma_before(destroy_before_query);
	rcm_world_expect_quiet();
	rcm_fake_ucma_before(NULL);
	assert_int_equal(finish(), 0);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* ---- Groups ---- */

static union rcm_sockaddr group(void)
{
	union rcm_sockaddr addr;

	assert_int_equal(rcm_sockaddr_parse("239.0.0.1", AF_INET, &addr), 1);
	return addr;
}

static int leave(void)
{
	const union rcm_sockaddr addr = group();

	return rcm_mcast_leave(id, &addr.sa);
}

static void *run_leave(void *arg)
{
	(void)arg;
	atomic_store(&result, leave());
	return NULL;
}

/* *ret_event: the join's, delivered. */
static void join(struct rdma_cm_event **ret_event)
{
	const union rcm_sockaddr addr = group();

	id = rcm_world_id_with_qp(RDMA_PS_UDP);
	assert_int_equal(rcm_mcast_join(id, &addr.sa, RDMA_MC_JOIN_FLAG_FULLMEMBER, NULL), 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	if (ret_event)
		*ret_event = rcm_world_take(RDMA_CM_EVENT_MULTICAST_JOIN);
}

static void end_group(void)
{
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	rcm_queues_destroy_qp(id);
	assert_int_equal(rcm_id_destroy(id), 0);
}

static void leave_before_leave(uint32_t command)
{
	if (command == RDMA_USER_CM_CMD_LEAVE_MCAST)
		assert_int_equal(leave(), -EADDRNOTAVAIL);
}

static void test_group_left_by_two_threads_is_left_once(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	join(&event);
	rcm_world_ack(event);
	rcm_fake_ucma_before(leave_before_leave);
	assert_int_equal(leave(), 0);
	rcm_fake_ucma_before(NULL);
	end_group();
}

static void test_group_left_waits_for_the_ack_of_its_event(void **state)
{
	struct rdma_cm_event *event;
	unsigned before;

	(void)state;
	join(&event);
	before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_LEAVE_MCAST);
	start(run_leave);
	while (rcm_fake_ucma_count(RDMA_USER_CM_CMD_LEAVE_MCAST) == before)
		sched_yield();
	for (int i = 0; i < 100; i++)
		sched_yield();
	assert_int_equal(atomic_load(&result), 1);
	rcm_world_ack(event);
	assert_int_equal(finish(), 0);
	end_group();
}

static void leave_before_attach(uint32_t command)
{
	(void)command;
	assert_int_equal(leave(), 0);
}

/* The queue pair is not attached to a group that is left before its event is delivered. */
static void test_group_left_before_its_event_attaches_nothing(void **state)
{
	(void)state;
	join(NULL);
	leave_before_attach(0);
	rcm_world_expect_quiet();
	end_group();
}

static void test_group_of_a_destroyed_id_is_left_by_nobody(void **state)
{
	(void)state;
	join(NULL);
	rcm_queues_destroy_qp(id);
	rcm_id_ref(id);
	assert_int_equal(rcm_id_destroy(id), 0);
	assert_int_equal(leave(), -EADDRNOTAVAIL);
	rcm_id_put(id);
}

/* ---- What a later kernel may say ---- */

static void test_event_of_a_type_unknown_here_is_for_nobody(void **state)
{
	static const uint32_t types[] = {
		RDMA_CM_EVENT_USER, RDMA_CM_EVENT_INTERNAL, RCM_EVENT_TYPES, RCM_EVENT_TYPES + 1, 31, 32, 33,
		RAI_EVENT_SERVICE, UINT32_MAX,
	};

	(void)state;
	id = rcm_world_id(RDMA_PS_TCP);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		rcm_fake_ucma_event_of(id->handle, types[i], 0);
		rcm_world_expect_quiet();
		assert_int_equal(atomic_load(&id->unacked[0]), 0);
		assert_int_equal(atomic_load(&id->awaiting), 0);
	}
	assert_int_equal(rcm_id_destroy(id), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_migration_waits_for_what_was_taken_from_the_old_channel_alone),
		TEST(test_migration_follows_the_one_before_when_that_is_through),
		TEST(test_migration_of_an_id_being_destroyed_is_refused),
		TEST(test_migration_and_destroy_both_wait_for_one_ack),
		TEST(test_migration_takes_the_event_of_every_state_along),
		TEST(test_migration_takes_a_waiting_request_from_a_channel_that_goes),
		TEST(test_migration_refused_by_the_kernel_leaves_a_synchronous_id_as_it_was),
		TEST(test_wait_on_a_synchronous_id_ends_when_it_is_destroyed),
		TEST(test_wait_on_a_synchronous_id_ends_when_it_is_moved),
		TEST(test_reader_whose_channel_is_destroyed_does_not_come_back),
		TEST(test_reader_that_comes_late_to_a_destroyed_channel_is_told),
		TEST(test_wait_for_a_request_ends_when_the_listener_is_destroyed),
		TEST(test_event_of_a_wait_is_not_left_in_an_id_being_destroyed),
		TEST(test_id_being_destroyed_at_a_fork_can_be_locked_in_the_child),
		TEST(test_id_that_nobody_else_has_is_destroyed_without_waiting_for_its_lock),
		TEST(test_channel_of_before_a_fork_is_nobodys_in_the_child),
		TEST(test_id_of_before_a_fork_counts_nothing_in_the_child),
		TEST(test_channel_whose_lock_was_held_at_a_fork_is_empty_in_the_child),
#ifndef __SANITIZE_THREAD__
		TEST(test_channel_that_two_threads_of_a_forks_child_use_at_once_is_both_s),
#endif
		TEST(test_channel_that_goes_needs_no_descriptor_for_events_of_ours),
		TEST(test_call_on_an_id_that_becomes_synchronous_meanwhile_does_not_wait),
		TEST(test_request_to_a_listener_being_destroyed_is_dropped),
		TEST(test_group_left_by_two_threads_is_left_once),
		TEST(test_group_left_waits_for_the_ack_of_its_event),
		TEST(test_group_left_before_its_event_attaches_nothing),
		TEST(test_group_of_a_destroyed_id_is_left_by_nobody),
		TEST(test_event_of_a_type_unknown_here_is_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
