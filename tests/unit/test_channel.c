/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels: when the descriptor is readable, in which order events come, and who is woken. */
#include "cm/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/handlers.h"
#include "cm/id.h"
#include "cm/life.h"
#include "cm/migrate.h"
#include "cm/sync.h"
#include "cm/wait.h"
#include "fake_engine.h"
#include "fake_ucma.h"
#include "asleep.h"
#include "test.h"
#include "user_event.h"

static struct rcm_channel *channel;
static struct rcm_id *id, *other;
static unsigned dropped;

/* What handlers.c says in the library: here ADDR_ERROR is for nobody, the rest is delivered as it is. */
static int deliver(struct rcm_event *event)
{
	return event->pub.event == RDMA_CM_EVENT_ADDR_ERROR ? -ENOENT : 0;
}

static void count_drop(struct rcm_event *event)
{
	(void)event;
	dropped++;
}

static const struct rcm_event_ops kernel_ops = {
	.deliver = deliver,
	.drop = count_drop,
	.free = rcm_kernel_event_free,
};

const struct rcm_event_ops *rcm_event_kernel_ops(enum rdma_cm_event_type type)
{
	(void)type;
	return &kernel_ops;
}

static int make_ids(void)
{
	dropped = 0;
	return rcm_channel_new(&channel) || rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id) ||
	       rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other);
}

static int set_up(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_open_result(-ENODEV);
	return make_ids();
}

static int set_up_kernel(void **state)
{
	(void)state;
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	return make_ids();
}

static int tear_down(void **state)
{
	(void)state;
	rcm_id_destroy(id);
	rcm_id_destroy(other);
	rcm_channel_close(channel);
	rcm_fake_ucma_done();
	return 0;
}

static void write_user(struct rcm_id *to, uint64_t arg)
{
	struct rcm_event *event;

	assert_int_equal(rcm_user_event(to, 0, arg, &event), 0);
	assert_true(rcm_id_post(to, event));
}

/* As the kernel's event for the id that was created n-th (from 1) through the fake. */
static void write_kernel(struct rcm_id *to, enum rdma_cm_event_type type)
{
	rcm_fake_ucma_event_of(to->handle, type, 0);
}

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void set_nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

static struct rcm_event *get(void)
{
	struct rcm_event *event = NULL;

	assert_int_equal(rcm_channel_get(channel, &event), 0);
	return event;
}

static void get_user(uint64_t arg)
{
	struct rcm_event *event = get();

	assert_int_equal(event->pub.event, RDMA_CM_EVENT_USER);
	assert_int_equal(event->pub.param.arg, arg);
	rcm_event_ack(event);
}

static void get_kernel(enum rdma_cm_event_type type)
{
	struct rcm_event *event = get();

	assert_int_equal(event->pub.event, type);
	rcm_event_ack(event);
}

static void get_nothing(void)
{
	struct rcm_event *event;

	set_nonblocking(channel->pub.fd);
	assert_int_equal(rcm_channel_get(channel, &event), -EAGAIN);
	assert_false(is_readable(channel->pub.fd));
}

static void test_channel_is_readable_exactly_while_an_event_is_due(void **state)
{
	(void)state;
	assert_false(is_readable(channel->pub.fd));
	write_user(id, 1);
	assert_true(is_readable(channel->pub.fd));
	write_user(id, 2);
	get_user(1);
	assert_true(is_readable(channel->pub.fd));
	get_user(2);
	assert_false(is_readable(channel->pub.fd));
	get_nothing();
}

static void test_channel_duplicate_descriptor_polls_alike(void **state)
{
	int copy = dup(channel->pub.fd);

	(void)state;
	assert_true(copy >= 0);
	assert_false(is_readable(copy));
	write_user(id, 1);
	assert_true(is_readable(copy));
	get_user(1);
	assert_false(is_readable(copy));
	close(copy);
}

static void test_channel_descriptor_above_1024_works(void **state)
{
	struct rlimit limit = { 4096, 4096 };
	int high;

	(void)state;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	high = fcntl(channel->pub.fd, F_DUPFD_CLOEXEC, 2000);
	assert_true(high >= 2000);
	close(channel->pub.fd);
	channel->pub.fd = high;
	write_user(id, 1);
	assert_true(is_readable(high));
	get_user(1);
	get_nothing();
}

static void test_channel_descriptors_are_closed_on_exec(void **state)
{
	(void)state;
	assert_true(fcntl(channel->pub.fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(channel->readiness.due_fd, F_GETFD) & FD_CLOEXEC);
}

static void test_channel_kernel_event_makes_it_readable_and_comes(void **state)
{
	(void)state;
	write_kernel(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_true(is_readable(channel->pub.fd));
	get_kernel(RDMA_CM_EVENT_ADDR_RESOLVED);
	get_nothing();
}

static void test_channel_kernel_event_refused_by_its_handler_is_dropped(void **state)
{
	(void)state;
	write_kernel(id, RDMA_CM_EVENT_ADDR_ERROR);
	write_kernel(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	get_kernel(RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(dropped, 1);
	assert_int_equal(atomic_load(&id->unacked[0]), 0);
}

/* Of a later kernel: nothing that is counted by type, or named, has a place for it. */
static void test_channel_kernel_event_of_an_unknown_type_is_an_internal_one(void **state)
{
	static const struct { int kernels, wanted; } types[] = {
		{ RDMA_CM_EVENT_USER, RDMA_CM_EVENT_USER }, { RDMA_CM_EVENT_INTERNAL, RDMA_CM_EVENT_INTERNAL },
		{ RDMA_CM_EVENT_INTERNAL + 1, RDMA_CM_EVENT_INTERNAL }, { 64, RDMA_CM_EVENT_INTERNAL },
		{ -1, RDMA_CM_EVENT_INTERNAL },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		write_kernel(id, (enum rdma_cm_event_type)types[i].kernels);
		get_kernel((enum rdma_cm_event_type)types[i].wanted);
	}
}

/* F14: found by slot and generation; a uid of a destroyed id is nobody's, also when the slot is in use again. */
static void test_channel_kernel_event_of_a_gone_id_is_dropped(void **state)
{
	struct rdma_ucm_event_resp stale = { .uid = id->entry.uid ^ 1ULL << 40, .event = RDMA_CM_EVENT_ADDR_RESOLVED };

	(void)state;
	rcm_fake_ucma_event(channel->ucma.fd, &stale);
	get_nothing();
	assert_int_equal(dropped, 1);
}

/* Nobody can have seen the kernel's; and what was read keeps its place. */
static void test_channel_event_of_ours_is_not_held_up_by_an_unread_kernel_event(void **state)
{
	(void)state;
	write_kernel(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	write_user(id, 1);
	get_user(1);
	get_kernel(RDMA_CM_EVENT_ADDR_RESOLVED);
	get_nothing();
}

/* Taking the last one looks at the kernel's descriptor for nothing: no look of its own, however many are taken. */
static void test_channel_user_events_one_at_a_time_cost_no_kernel_command(void **state)
{
	unsigned before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT);

	(void)state;
	for (int i = 0; i < 100; i++) {
		write_user(id, 1);
		get_user(1);
	}
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT), before);
}

static void test_channel_kernel_event_comes_among_ours_one_at_a_time(void **state)
{
	struct rcm_event *event;
	bool seen = false;

	(void)state;
	write_kernel(other, RDMA_CM_EVENT_ADDR_RESOLVED);
	for (int i = 0; i < 3 && !seen; i++) {
		write_user(id, 0);
		event = get();
		seen = event->pub.event == RDMA_CM_EVENT_ADDR_RESOLVED;
		rcm_event_ack(event);
	}
	assert_true(seen);
}

static void test_channel_flood_of_ours_does_not_starve_the_kernel(void **state)
{
	struct rcm_event *event;
	bool seen = false;

	(void)state;
	write_kernel(other, RDMA_CM_EVENT_ADDR_RESOLVED);
	write_user(id, 0);
	for (int i = 0; i < 64; i++) {
		write_user(id, 0);
		event = get();
		seen = seen || event->pub.event == RDMA_CM_EVENT_ADDR_RESOLVED;
		rcm_event_ack(event);
	}
	assert_true(seen);
}

/* The one before it was the last, and the kernel had none. */
static void test_channel_flood_of_ours_looks_at_the_kernel_once_in_so_many(void **state)
{
	unsigned before;

	(void)state;
	write_user(id, 0);
	get_user(0);
	for (unsigned i = 0; i < RCM_KERNEL_LOOK_EVERY + 1; i++)
		write_user(id, i);
	before = rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT);
	for (unsigned i = 0; i < RCM_KERNEL_LOOK_EVERY + 1; i++) {
		assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_GET_EVENT) - before, i == RCM_KERNEL_LOOK_EVERY);
		get_user(i);
	}
	get_nothing();
}

static void test_channel_wait_for_types_leaves_the_others_in_order(void **state)
{
	struct rcm_event *event;

	(void)state;
	write_user(id, 1);
	write_user(other, 2);
	write_kernel(id, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(rcm_channel_get_of(channel, RCM_EVENT_BIT(RDMA_CM_EVENT_ESTABLISHED), &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ESTABLISHED);
	rcm_event_ack(event);
	assert_true(is_readable(channel->pub.fd));
	get_user(1);
	get_user(2);
	get_nothing();
}

static void test_channel_withdrawn_events_are_taken_by_nobody(void **state)
{
	struct rcm_event_list list = TAILQ_HEAD_INITIALIZER(list);
	struct rcm_event *event;

	(void)state;
	write_user(id, 1);
	write_user(other, 2);
	write_user(id, 3);
	event = TAILQ_FIRST(&id->undelivered);
	assert_true(rcm_channel_withdraw_one(channel, event));
	assert_false(rcm_channel_withdraw_one(channel, event));
	rcm_event_discard(event);
	rcm_lock_acquire(&channel->lock);
	rcm_channel_withdraw_locked(channel, id, &list);
	rcm_lock_release(&channel->lock);
	assert_int_equal(TAILQ_FIRST(&list)->pub.param.arg, 3);
	assert_null(TAILQ_NEXT(TAILQ_FIRST(&list), in_channel));
	rcm_event_discard_all(&list);
	get_user(2);
	get_nothing();
}

static void test_channel_closed_discards_what_is_queued(void **state)
{
	struct rcm_channel *second;
	struct rcm_id *mine;

	(void)state;
	assert_int_equal(rcm_channel_new(&second), 0);
	assert_int_equal(rcm_id_new(second, NULL, RDMA_PS_TCP, IBV_QPT_RC, &mine), 0);
	write_user(mine, 1);
	rcm_channel_close(second);
	assert_int_equal(second->pub.fd, -1);
	assert_int_equal(atomic_load(&mine->entry.refs), 1);
	assert_int_equal(rcm_id_destroy(mine), 0);
	rcm_channel_close(NULL);
}

/* As of a daemon that has closed its standard input. */
static void test_channel_over_descriptor_0_is_as_any(void **state)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET }, told;
	struct rcm_channel *zero, *before = channel;
	struct rcm_id *moved = other;
	int watcher = epoll_create1(EPOLL_CLOEXEC);

	(void)state;
	rcm_fake_ucma_open_as_0();
	assert_int_equal(rcm_channel_new(&zero), 0);
	assert_int_equal(zero->ucma.fd, 0);
	assert_int_equal(rcm_id_new(zero, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	assert_true(other->has_handle);
	write_kernel(other, RDMA_CM_EVENT_ADDR_RESOLVED);
	channel = zero;
	get_kernel(RDMA_CM_EVENT_ADDR_RESOLVED);
	write_kernel(moved, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(epoll_ctl(watcher, EPOLL_CTL_ADD, zero->pub.fd, &edge), 0);
	assert_int_equal(rcm_id_migrate(moved, zero), 0);
	assert_int_equal(epoll_wait(watcher, &told, 1, 0), 1);
	get_kernel(RDMA_CM_EVENT_ADDR_RESOLVED);
	get_nothing();
	rcm_id_destroy(moved);
	rcm_id_destroy(other);
	channel = before;
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &other), 0);
	rcm_channel_close(zero);
	close(watcher);
}

/* As one that found its descriptors to be other files. */
static void test_channel_without_its_device_is_none_to_migrate_to(void **state)
{
	struct rcm_channel *lost;
	int kernels;

	(void)state;
	assert_int_equal(rcm_channel_new(&lost), 0);
	kernels = atomic_exchange(&lost->ucma.fd, -1);
	assert_int_equal(rcm_id_migrate(id, lost), -ENODEV);
	atomic_store(&lost->ucma.fd, kernels);
	assert_int_equal(rcm_id_migrate(id, lost), 0);
	assert_int_equal(rcm_id_migrate(id, channel), 0);
	rcm_channel_close(lost);
}

/* ---- Threads and signals ---- */

static atomic_int waiter_tid, waiter_ret;

static void *wait_for_one(void *arg)
{
	struct rcm_event *event;
	int ret;

	(void)arg;
	atomic_store(&waiter_tid, (int)syscall(SYS_gettid));
	ret = rcm_channel_get(channel, &event);
	if (!ret)
		rcm_event_ack(event);
	atomic_store(&waiter_ret, ret);
	return NULL;
}

static pthread_t start_waiter(void)
{
	pthread_t thread;

	atomic_store(&waiter_tid, 0);
	atomic_store(&waiter_ret, 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_one, NULL), 0);
	while (!atomic_load(&waiter_tid))
		sched_yield();
	await_sleep(atomic_load(&waiter_tid));
	return thread;
}

/* F16 */
static void test_channel_waiting_thread_is_woken_by_a_user_event(void **state)
{
	pthread_t thread = start_waiter();

	(void)state;
	write_user(id, 1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), 0);
}

static void test_channel_waiting_thread_is_woken_by_the_kernel(void **state)
{
	pthread_t thread = start_waiter();

	(void)state;
	write_kernel(id, RDMA_CM_EVENT_ADDR_ERROR);
	write_kernel(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), 0);
}

static atomic_int handled;

static void on_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void install(int sig, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	atomic_store(&handled, 0);
	assert_int_equal(sigaction(sig, &action, NULL), 0);
}

/* F18 */
static void test_channel_handler_without_restart_interrupts_the_wait(void **state)
{
	pthread_t thread;

	(void)state;
	install(SIGUSR1, 0);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), -EINTR);
	assert_int_equal(atomic_load(&handled), 1);
	signal(SIGUSR1, SIG_DFL);
}

/* poll(2) doesn't tell which handler ran: callers loop, and none misses its flag. */
static void test_channel_handler_with_restart_interrupts_the_wait_too(void **state)
{
	pthread_t thread;

	(void)state;
	install(SIGUSR1, SA_RESTART);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), -EINTR);
	signal(SIGUSR1, SIG_DFL);
}

static void test_channel_handler_for_one_time_interrupts_the_wait(void **state)
{
	pthread_t thread;

	(void)state;
	install(SIGUSR1, (int)SA_RESETHAND);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_ret), -EINTR);
}

static void test_channel_cancelled_waiter_leaves_it_usable(void **state)
{
	pthread_t thread = start_waiter();
	void *result;

	(void)state;
	pthread_cancel(thread);
	pthread_join(thread, &result);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	write_user(id, 1);
	get_user(1);
	get_nothing();
}

enum { READERS = 4, EVENTS = 2000 };

static atomic_uint taken[EVENTS + READERS];

static void *read_until_told(void *arg)
{
	struct rcm_event *event;
	uint64_t number;

	(void)arg;
	do {
		if (rcm_channel_get(channel, &event))
			return NULL;
		number = event->pub.param.arg;
		atomic_fetch_add(&taken[number], 1);
		rcm_event_ack(event);
	} while (number < EVENTS);
	return NULL;
}

static void test_channel_many_threads_take_each_event_once(void **state)
{
	pthread_t readers[READERS];

	(void)state;
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_until_told, NULL), 0);
	for (unsigned i = 0; i < EVENTS + READERS; i++)
		write_user(i & 1 ? id : other, i);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	for (unsigned i = 0; i < EVENTS + READERS; i++)
		assert_int_equal(atomic_load(&taken[i]), 1);
	get_nothing();
}

static atomic_bool enough;

static void *poll_until_told(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough))
		is_readable(channel->pub.fd);
	return NULL;
}

/* epoll's look for something to take may miss it while others poll: the descriptor is right nevertheless. */
static void test_channel_taken_while_others_poll_is_not_readable(void **state)
{
	pthread_t pollers[READERS];

	(void)state;
	atomic_store(&enough, false);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&pollers[i], NULL, poll_until_told, NULL), 0);
	for (unsigned i = 0; i < EVENTS; i++) {
		write_user(id, i);
		assert_true(is_readable(channel->pub.fd));
		get_user(i);
		assert_false(is_readable(channel->pub.fd));
	}
	atomic_store(&enough, true);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(pollers[i], NULL);
}

/* As after an epoll_wait(2) of somebody's on the descriptor itself, or where memory ran out. */
static void test_channel_whose_own_readiness_was_lost_shows_the_next_event(void **state)
{
	struct epoll_event event;

	(void)state;
	write_user(id, 1);
	assert_int_equal(epoll_wait(channel->pub.fd, &event, 1, 0), 1);
	get_user(1);
	assert_int_equal(epoll_ctl(channel->pub.fd, EPOLL_CTL_DEL, channel->readiness.due_fd, NULL), 0);
	for (uint64_t i = 2; i < 4; i++) {
		write_user(id, i);
		assert_true(is_readable(channel->pub.fd));
		get_user(i);
		assert_false(is_readable(channel->pub.fd));
	}
}

static void move(int from, int to)
{
	assert_int_equal(dup3(from, to, O_CLOEXEC), to);
	close(from);
}

/* An event loop of the program's, over another file of its, by the numbers of a channel's that it has closed. */
static void take_numbers(int fd, int due_fd)
{
	struct epoll_event theirs = { .events = EPOLLIN | EPOLLET, .data.u64 = 7 };

	move(epoll_create1(EPOLL_CLOEXEC), fd);
	move(eventfd(1, EFD_CLOEXEC), due_fd);
	assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, due_fd, &theirs), 0);
}

static int destroy_after_all_is_closed(void)
{
	int fd = channel->pub.fd, due_fd = channel->readiness.due_fd;
	struct epoll_event ready;

	take_numbers(fd, due_fd);
	rcm_id_destroy(id);
	if (epoll_wait(fd, &ready, 1, 0) != 1 || ready.data.u64 != 7)
		return 1;
	eventfd_write(due_fd, 1);
	return epoll_wait(fd, &ready, 1, 0) == 1 && ready.data.u64 == 7 ? 0 : 2;
}

/* Nobody has found yet that they are lost. */
static void test_channel_whose_id_ends_with_events_leaves_the_loop_that_has_its_numbers_alone(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	write_user(id, 1);
	pid = fork();
	if (!pid)
		_exit(destroy_after_all_is_closed());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A device whose descriptors nobody counts: what the program closes is gone for the kernel, too. */
static int device_open(int flags)
{
	return eventfd(0, EFD_CLOEXEC | (flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
}

static void device_close(int fd)
{
	close(fd);
}

/* A program that has closed all descriptors, or that of the kernel's alone. */
static void test_channel_closes_no_number_that_is_another_file_by_now(void **state)
{
	static const struct rcm_ucma_ops device = { .open = device_open, .close = device_close };
	struct rcm_channel *closed;

	(void)state;
	rcm_ucma_replace(&device);
	for (size_t first = 0; first < 3; first += 2) {
		assert_int_equal(rcm_channel_new(&closed), 0);
		int numbers[] = { closed->pub.fd, closed->readiness.due_fd, closed->ucma.fd };

		for (size_t i = first; i < 3; i++) {
			close(numbers[i]);
			assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), numbers[i]);
		}
		rcm_channel_close(closed);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(fcntl(numbers[i], F_GETFD) >= 0, i >= first);
		for (size_t i = first; i < 3; i++)
			close(numbers[i]);
	}
}

/* As the real one: the file of all its descriptors is one node. */
static int node_open(int flags)
{
	return open("/dev/random", O_RDONLY | O_CLOEXEC | flags);
}

static bool node_is(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static struct rcm_channel *new_after_all_is_closed(int (*make)(struct rcm_channel **), const struct rcm_channel *closed)
{
	int numbers[] = { closed->pub.fd, closed->readiness.due_fd, closed->ucma.fd };
	struct rcm_channel *made;

	for (size_t i = 0; i < 3; i++)
		close(numbers[i]);
	if (make(&made) || made->pub.fd != numbers[0] || made->readiness.due_fd != numbers[1])
		return NULL;
	return made;
}

static bool is_whole(const struct rcm_channel *made)
{
	return fcntl(made->pub.fd, F_GETFD) >= 0 && fcntl(made->ucma.fd, F_GETFD) >= 0 &&
	       (made->bare || rcm_readiness_knows(&made->readiness, made->pub.fd));
}

/* 0: what was made by those numbers is whole. */
static int make_another_and_destroy(int (*make)(struct rcm_channel **), struct rcm_channel *closed)
{
	struct rcm_channel *made = new_after_all_is_closed(make, closed);
	int ret = 1;

	if (made) {
		rdma_destroy_event_channel(&closed->pub);
		ret = is_whole(made) ? 0 : 2;
		rcm_channel_close(made);
	}
	return ret;
}

/* Of one that a program, or a daemon made by fork(2), opens when it has closed all descriptors. */
static void test_channel_closes_none_of_the_descriptors_of_another_that_has_its_numbers_by_now(void **state)
{
	static int (*const make[])(struct rcm_channel **) = { rcm_channel_new, rcm_channel_new_sync };
	static const struct rcm_ucma_ops device = { .open = node_open, .close = device_close, .is = node_is };
	struct rcm_channel *closed;
	int status;
	pid_t pid;

	(void)state;
	rcm_ucma_replace(&device);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(make[i](&closed), 0);
		pid = fork();
		if (!pid)
			_exit(make_another_and_destroy(make[i], closed));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(make_another_and_destroy(make[i], closed), 0);
	}
}

static bool node_is_device(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode);
}

/* Any other file gets what is written. */
static int node_command(int fd, const void *bytes, size_t len)
{
	return node_is_device(fd) || write(fd, bytes, len) == (ssize_t)len ? 0 : -errno;
}

/* The program closed it, and opened its own, by both numbers that a covered one has. */
static void lose_and_destroy(struct rcm_id *sync)
{
	struct rcm_channel *own = rcm_channel_of(sync->pub.channel);
	int numbers[] = { own->pub.fd, own->ucma.fd }, file = memfd_create("own", MFD_CLOEXEC);
	bool was_bare = own->bare;
	struct stat was, is;

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(dup2(file, numbers[i]), numbers[i]);
	assert_int_equal(fstat(file, &was), 0);
	assert_int_equal(rcm_sync_show_own(sync), was_bare ? -EBADF : 0);
	assert_int_equal(rcm_id_destroy(sync), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(fstat(numbers[i], &is), 0);
		assert_int_equal(is.st_ino, was.st_ino);
		assert_int_equal(is.st_size, 0);
	}
	for (size_t i = was_bare ? 1 : 0; i < 2; i++)
		close(numbers[i]);
	close(file);
}

static void test_channel_of_a_synchronous_id_leaves_the_file_that_has_its_number_alone(void **state)
{
	static const struct rcm_ucma_ops device = {
		.open = node_open, .command = node_command, .close = device_close, .is = node_is_device,
	};
	struct rcm_id *sync;

	(void)state;
	rcm_ucma_replace(&device);
	for (int covered = 0; covered < 2; covered++) {
		assert_int_equal(rcm_id_new(NULL, NULL, RDMA_PS_TCP, IBV_QPT_RC, &sync), 0);
		if (covered)
			assert_int_equal(rcm_sync_show_own(sync), 0);
		lose_and_destroy(sync);
	}
}

#define PLAIN(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define KERNEL(name) cmocka_unit_test_setup_teardown(name, set_up_kernel, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_channel_is_readable_exactly_while_an_event_is_due),
		PLAIN(test_channel_duplicate_descriptor_polls_alike),
		PLAIN(test_channel_descriptor_above_1024_works),
		PLAIN(test_channel_descriptors_are_closed_on_exec),
		KERNEL(test_channel_kernel_event_makes_it_readable_and_comes),
		KERNEL(test_channel_kernel_event_refused_by_its_handler_is_dropped),
		KERNEL(test_channel_kernel_event_of_an_unknown_type_is_an_internal_one),
		KERNEL(test_channel_kernel_event_of_a_gone_id_is_dropped),
		KERNEL(test_channel_event_of_ours_is_not_held_up_by_an_unread_kernel_event),
		KERNEL(test_channel_user_events_one_at_a_time_cost_no_kernel_command),
		KERNEL(test_channel_kernel_event_comes_among_ours_one_at_a_time),
		KERNEL(test_channel_flood_of_ours_does_not_starve_the_kernel),
		KERNEL(test_channel_flood_of_ours_looks_at_the_kernel_once_in_so_many),
		KERNEL(test_channel_wait_for_types_leaves_the_others_in_order),
		PLAIN(test_channel_withdrawn_events_are_taken_by_nobody),
		PLAIN(test_channel_closed_discards_what_is_queued),
		KERNEL(test_channel_over_descriptor_0_is_as_any),
		KERNEL(test_channel_without_its_device_is_none_to_migrate_to),
		PLAIN(test_channel_waiting_thread_is_woken_by_a_user_event),
		KERNEL(test_channel_waiting_thread_is_woken_by_the_kernel),
		PLAIN(test_channel_handler_without_restart_interrupts_the_wait),
		PLAIN(test_channel_handler_with_restart_interrupts_the_wait_too),
		PLAIN(test_channel_handler_for_one_time_interrupts_the_wait),
		PLAIN(test_channel_cancelled_waiter_leaves_it_usable),
		PLAIN(test_channel_many_threads_take_each_event_once),
		PLAIN(test_channel_taken_while_others_poll_is_not_readable),
		PLAIN(test_channel_whose_own_readiness_was_lost_shows_the_next_event),
		PLAIN(test_channel_closes_no_number_that_is_another_file_by_now),
		PLAIN(test_channel_whose_id_ends_with_events_leaves_the_loop_that_has_its_numbers_alone),
		PLAIN(test_channel_closes_none_of_the_descriptors_of_another_that_has_its_numbers_by_now),
		PLAIN(test_channel_of_a_synchronous_id_leaves_the_file_that_has_its_number_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
