/* SPDX-License-Identifier: BSD-2-Clause */
/* A synchronous id on the kernel's descriptor alone, and what happens when an event of the library's own has to show. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "asleep.h"
#include "cm/id.h"
#include "cm/kernel.h"
#include "cm/life.h"
#include "cm/listen.h"
#include "cm/lookup.h"
#include "cm/migrate.h"
#include "cm/rouse.h"
#include "cm/sync.h"
#include "cm/take.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "fake_ucma.h"
#include "test.h"
#include "user_event.h"

static struct rcm_id *id;
static struct rcm_channel *channel;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	if (rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id))
		return -1;
	channel = rcm_channel_of(id->pub.channel);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_fake_ucma_done();
	rcm_fake_engine_reset();
	return 0;
}

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void write_user(uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_sync_show_own(id), 0);
	assert_int_equal(rcm_user_event(id, 0, arg, &event), 0);
	assert_true(rcm_id_post(id, event));
}

static void get(enum rdma_cm_event_type type)
{
	struct rcm_event *event;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	assert_int_equal(event->pub.event, type);
	rcm_event_ack(event);
}

static void test_sync_id_has_the_kernels_descriptor_alone(void **state)
{
	(void)state;
	assert_true(channel->bare);
	assert_int_equal(channel->pub.fd, channel->ucma.fd);
	assert_int_equal(channel->readiness.due_fd, -1);
	assert_false(fcntl(channel->pub.fd, F_GETFL) & O_NONBLOCK);
}

static void *establish_soon(void *arg)
{
	(void)arg;
	sched_yield();
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	return NULL;
}

static void test_sync_call_waits_for_the_kernel_on_it(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, establish_soon, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), 0);
	pthread_join(thread, NULL);
	assert_int_equal(id->pub.event->event, RDMA_CM_EVENT_ESTABLISHED);
	assert_true(channel->bare);
}

static void *resolve_soon(void *arg)
{
	(void)arg;
	sched_yield();
	rcm_fake_engine_resolve(1);
	return NULL;
}

static void test_sync_resolution_needs_no_descriptor(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, resolve_soon, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	pthread_join(thread, NULL);
	assert_true(channel->bare);
}

static void test_sync_resolution_that_ends_before_the_wait_needs_none_either(void **state)
{
	(void)state;
	rcm_fake_engine_immediate(true);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
	assert_true(channel->bare);
}

/* The next resolution may have begun before the call of the last is gone. */
static void test_sync_call_that_goes_leaves_another_rung(void **state)
{
	(void)state;
	rcm_channel_await_own(channel, 1);
	rcm_channel_await_own(channel, 1);
	rcm_channel_await_own(channel, -1);
	rcm_fake_engine_immediate(true);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(sem_trywait(&channel->own), 0);
	rcm_channel_await_own(channel, -1);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), 0);
}

static void *cover_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = rcm_channel_cover(channel);
	pthread_testcancel();
	return NULL;
}

static void test_sync_descriptor_is_changed_without_a_cancellation_point(void **state)
{
	pthread_t thread;
	int ret = -1;
	void *how;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, cover_cancelled, &ret), 0);
	assert_int_equal(pthread_join(thread, &how), 0);
	assert_ptr_equal(how, PTHREAD_CANCELED);
	assert_int_equal(ret, 0);
	assert_false(channel->bare);
	write_user(1);
	get(RDMA_CM_EVENT_USER);
}

static void test_sync_resolution_of_its_asynchronous_time_shows(void **state)
{
	struct rcm_channel *other;

	(void)state;
	assert_int_equal(rcm_channel_new(&other), 0);
	assert_int_equal(rcm_id_migrate(id, other), 0);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	channel = rcm_channel_of(id->pub.channel);
	rcm_fake_engine_resolve(1);
	assert_true(is_readable(channel->pub.fd));
	get(RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	rcm_channel_close(other);
}

static void test_sync_kernel_event_is_got_without_more_descriptors(void **state)
{
	(void)state;
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	get(RDMA_CM_EVENT_ESTABLISHED);
	assert_true(channel->bare);
}

static void *get_one(void *arg)
{
	struct rcm_event *event;

	*(int *)arg = rcm_channel_get(channel, &event);
	if (!*(int *)arg)
		rcm_event_ack(event);
	return NULL;
}

enum { READERS = 4 };

/* One event, and each of them sees it coming: the others go on waiting for whatever is next. */
static void test_sync_readers_of_one_event_wait_for_the_next_of_any_kind(void **state)
{
	pthread_t threads[READERS];
	int rets[READERS];

	(void)state;
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_one, &rets[i]), 0);
	for (int i = 1; i < READERS; i++)
		write_user((uint64_t)i);
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(rets[i], 0);
	}
}

static void test_sync_user_event_shows_under_the_same_number(void **state)
{
	int fd = channel->pub.fd;

	(void)state;
	write_user(1);
	assert_false(channel->bare);
	assert_int_equal(channel->pub.fd, fd);
	assert_true(is_readable(fd));
	get(RDMA_CM_EVENT_USER);
	assert_false(is_readable(fd));
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_true(is_readable(fd));
	get(RDMA_CM_EVENT_ESTABLISHED);
	assert_false(is_readable(fd));
}

static void test_sync_without_a_descriptor_left_refuses_the_user_event(void **state)
{
	struct rlimit limit, few;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	few = (struct rlimit){ 3, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	assert_int_equal(rcm_sync_show_own(id), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &limit);
	test_sync_call_waits_for_the_kernel_on_it(state);
}

static void test_sync_with_o_nonblock_shows_the_resolution_that_comes_later(void **state)
{
	(void)state;
	assert_int_equal(fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_lookup_start(id, "host.test", NULL, NULL), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_NAMES), -EAGAIN);
	assert_false(is_readable(channel->pub.fd));
	rcm_fake_engine_resolve(1);
	assert_true(is_readable(channel->pub.fd));
	get(RDMA_CM_EVENT_ADDRINFO_RESOLVED);
}

static void test_sync_with_o_nonblock_gets_the_kernels_event_later(void **state)
{
	(void)state;
	assert_int_equal(fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcm_sync_complete(id, RCM_SYNC_CONNECT), -EAGAIN);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_true(is_readable(channel->pub.fd));
	get(RDMA_CM_EVENT_ESTABLISHED);
	assert_true(channel->bare);
}

static void *complete_connect(void *arg)
{
	*(int *)arg = rcm_sync_complete(id, RCM_SYNC_CONNECT);
	return NULL;
}

/* However far it is on its way into the wait. */
static void test_sync_call_that_waits_ends_though_the_descriptor_changes(void **state)
{
	pthread_t thread;
	int ret = 1;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, complete_connect, &ret), 0);
	sched_yield();
	write_user(1);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	pthread_join(thread, NULL);
	assert_int_equal(ret, 0);
	get(RDMA_CM_EVENT_USER);
}

static void test_sync_reader_is_woken_by_a_user_event(void **state)
{
	pthread_t thread;
	int ret = 1;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, get_one, &ret), 0);
	sched_yield();
	write_user(1);
	pthread_join(thread, NULL);
	assert_int_equal(ret, 0);
}

/* Whoever waits, asleep in poll(2). */
struct waiter {
	pthread_t thread;
	atomic_int tid, ret;
};

static void *get_asleep(void *arg)
{
	struct waiter *waiter = arg;
	int ret;

	atomic_store(&waiter->tid, gettid());
	get_one(&ret);
	atomic_store(&waiter->ret, ret);
	return NULL;
}

/* Of one type, so that it doesn't cover the descriptor before: nor does who finds an event there, which another reads. */
static void *get_user_asleep(void *arg)
{
	struct waiter *waiter = arg;
	struct rcm_event *event;
	int ret;

	atomic_store(&waiter->tid, gettid());
	ret = rcm_channel_get_of(channel, RCM_EVENT_BIT(RDMA_CM_EVENT_USER), &event);
	if (!ret)
		rcm_event_ack(event);
	atomic_store(&waiter->ret, ret);
	return NULL;
}

static void start_asleep(struct waiter *waiter, void *(*run)(void *waiter))
{
	assert_int_equal(pthread_create(&waiter->thread, NULL, run, waiter), 0);
	while (!atomic_load(&waiter->tid))
		sched_yield();
	await_lasting_sleep(atomic_load(&waiter->tid));
}

static void test_sync_reader_asleep_on_the_bare_descriptor_is_woken_by_a_user_event(void **state)
{
	struct waiter waiter = { .tid = 0 };

	(void)state;
	start_asleep(&waiter, get_user_asleep);
	assert_true(channel->bare);
	write_user(1);
	pthread_join(waiter.thread, NULL);
	assert_int_equal(atomic_load(&waiter.ret), 0);
}

static void *destroy(void *doomed)
{
	rcm_id_destroy(doomed);
	return NULL;
}

static void await_rouse(const struct rcm_rouse *rouse)
{
	struct pollfd p = { .fd = rcm_rouse_fd(rouse), .events = POLLIN };

	while (poll(&p, 1, -1) != 1)
		;
}

/* Held up, in a signal handler say, while its id is destroyed. */
static void test_sync_wait_that_is_held_up_holds_up_no_other(void **state)
{
	struct rcm_rouse rouse = { 0 };
	struct rcm_reader held_up = { .types = RCM_EVENTS_ALL };
	struct waiter waiter = { .tid = 0 };
	struct rcm_id *doomed;
	pthread_t destroyer;

	(void)state;
	assert_int_equal(rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &doomed), 0);
	held_up.channel = rcm_channel_of(doomed->pub.channel);
	assert_int_equal(rcm_reader_begin(&held_up), -EAGAIN);
	start_asleep(&waiter, get_asleep);
	rcm_rouse_join(&rouse);
	assert_int_equal(pthread_create(&destroyer, NULL, destroy, doomed), 0);
	await_rouse(&rouse);
	write_user(1);
	pthread_join(waiter.thread, NULL);
	assert_int_equal(atomic_load(&waiter.ret), 0);
	rcm_reader_end(&held_up);
	pthread_join(destroyer, NULL);
	rcm_rouse_leave(&rouse);
}

static atomic_bool covered;

static void *give_commands(void *arg)
{
	int *ret = arg;

	while (!*ret && !atomic_load(&covered))
		*ret = rcm_kernel_give(id, rcm_ucma_notify, IBV_EVENT_COMM_EST);
	return NULL;
}

/* The kernel is told by the number that its descriptor has by then. */
static void test_sync_commands_arrive_while_the_descriptor_changes(void **state)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		int ret = 0;

		atomic_store(&covered, false);
		assert_int_equal(pthread_create(&thread, NULL, give_commands, &ret), 0);
		for (int yields = 0; yields < i; yields++)
			sched_yield();
		assert_int_equal(rcm_channel_cover(channel), 0);
		atomic_store(&covered, true);
		pthread_join(thread, NULL);
		assert_int_equal(ret, 0);
		rcm_id_destroy(id);
		assert_int_equal(rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
		channel = rcm_channel_of(id->pub.channel);
	}
	(void)state;
}

static void test_sync_id_that_comes_with_events_shows_them(void **state)
{
	struct rcm_channel *other;

	(void)state;
	assert_int_equal(rcm_channel_new(&other), 0);
	assert_int_equal(rcm_id_migrate(id, other), 0);
	write_user(1);
	assert_int_equal(rcm_id_migrate(id, NULL), 0);
	channel = rcm_channel_of(id->pub.channel);
	assert_true(is_readable(channel->pub.fd));
	get(RDMA_CM_EVENT_USER);
	rcm_channel_close(other);
}

/* Requests are read on the way of the first, so those that wait have to show. */
static void test_sync_listener_shows_what_was_read_with_another_request(void **state)
{
	struct rcm_id *first, *second;

	(void)state;
	assert_int_equal(rcm_listen(id, 4), 0);
	rcm_fake_ucma_connect_request(id->handle, NULL);
	rcm_fake_ucma_connect_request(id->handle, NULL);
	assert_int_equal(rcm_listen_get_request(id, PTHREAD_CANCEL_DISABLE, &first), 0);
	assert_true(is_readable(channel->pub.fd));
	assert_int_equal(rcm_listen_get_request(id, PTHREAD_CANCEL_DISABLE, &second), 0);
	assert_false(is_readable(channel->pub.fd));
	assert_true(rcm_channel_of(first->pub.channel)->bare);
	rcm_id_destroy(first);
	rcm_id_destroy(second);
}

/* On a descriptor that waits: what was seen there may be another reader's by now. */
static void test_sync_read_of_what_another_reader_took_does_not_wait(void **state)
{
	unsigned before;

	(void)state;
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	before = atomic_load(&channel->reads);
	assert_int_equal(rcm_channel_read_bare(channel, &before), 0);
	assert_int_equal(rcm_channel_read_bare(channel, &before), -EAGAIN);
	get(RDMA_CM_EVENT_ESTABLISHED);
}

/* ---- A second id on the channel ---- */

static struct rcm_id *guest;
static struct rcm_channel *other;
static pthread_t mover;
static atomic_int mover_tid, moved;
static bool holds_up;

static void *move_guest(void *arg)
{
	(void)arg;
	atomic_store(&mover_tid, gettid());
	assert_int_equal(rcm_id_migrate(guest, other), 0);
	atomic_store(&moved, true);
	return NULL;
}

/* Either it is through, or it waits for who reads. */
static void await_mover(void)
{
	char futex[64];

	while (!atomic_load(&mover_tid))
		sched_yield();
	snprintf(futex, sizeof(futex), "%d 0x%lx ", SYS_futex, (unsigned long)(uintptr_t)&channel->reading.mutex);
	while (!atomic_load(&moved) && !thread_sleeps_in(atomic_load(&mover_tid), futex))
		sched_yield();
}

int __wrap_rcm_ucma_get_event(const struct rcm_ucma *ucma, struct rcm_ucma_event *ret_event);
int __real_rcm_ucma_get_event(const struct rcm_ucma *ucma, struct rcm_ucma_event *ret_event);

/* Who has read is held up before it queues the event. */
int __wrap_rcm_ucma_get_event(const struct rcm_ucma *ucma, struct rcm_ucma_event *ret_event)
{
	int ret = __real_rcm_ucma_get_event(ucma, ret_event);

	if (holds_up) {
		holds_up = false;
		assert_int_equal(ret, 0);
		assert_int_equal(pthread_create(&mover, NULL, move_guest, NULL), 0);
		await_mover();
	}
	return ret;
}

static void test_sync_read_event_of_a_second_id_moves_with_it(void **state)
{
	struct rcm_event *event;

	(void)state;
	assert_int_equal(rcm_channel_new(&other), 0);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &guest), 0);
	assert_int_equal(fcntl(channel->pub.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(other->pub.fd, F_SETFL, O_NONBLOCK), 0);
	rcm_fake_ucma_event_of(guest->handle, RDMA_CM_EVENT_ROUTE_ERROR, -EIO);
	holds_up = true;
	assert_int_equal(rcm_channel_get_of(channel, RCM_SYNC_CONNECT, &event), -EAGAIN);
	pthread_join(mover, NULL);
	assert_int_equal(rcm_channel_get(other, &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ROUTE_ERROR);
	assert_ptr_equal(event->pub.id, &guest->pub);
	rcm_event_ack(event);
	rcm_id_destroy(guest);
	rcm_channel_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sync_id_has_the_kernels_descriptor_alone),
		TEST(test_sync_call_waits_for_the_kernel_on_it),
		TEST(test_sync_resolution_needs_no_descriptor),
		TEST(test_sync_resolution_that_ends_before_the_wait_needs_none_either),
		TEST(test_sync_call_that_goes_leaves_another_rung),
		TEST(test_sync_descriptor_is_changed_without_a_cancellation_point),
		TEST(test_sync_resolution_of_its_asynchronous_time_shows),
		TEST(test_sync_kernel_event_is_got_without_more_descriptors),
		TEST(test_sync_read_of_what_another_reader_took_does_not_wait),
		TEST(test_sync_readers_of_one_event_wait_for_the_next_of_any_kind),
		TEST(test_sync_read_event_of_a_second_id_moves_with_it),
		TEST(test_sync_user_event_shows_under_the_same_number),
		TEST(test_sync_without_a_descriptor_left_refuses_the_user_event),
		TEST(test_sync_with_o_nonblock_shows_the_resolution_that_comes_later),
		TEST(test_sync_with_o_nonblock_gets_the_kernels_event_later),
		TEST(test_sync_call_that_waits_ends_though_the_descriptor_changes),
		TEST(test_sync_reader_is_woken_by_a_user_event),
		TEST(test_sync_reader_asleep_on_the_bare_descriptor_is_woken_by_a_user_event),
		TEST(test_sync_wait_that_is_held_up_holds_up_no_other),
		TEST(test_sync_commands_arrive_while_the_descriptor_changes),
		TEST(test_sync_id_that_comes_with_events_shows_them),
		TEST(test_sync_listener_shows_what_was_read_with_another_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
