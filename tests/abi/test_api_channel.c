/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels as applications use them: every kind of poller, blocking and not, many threads, signals. */
#include "api.h"

#include "../unit/asleep.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void write_user(uint64_t arg)
{
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, arg), 0);
}

static void get_user(uint64_t arg)
{
	struct rdma_cm_event *event = get_event(channel);

	assert_int_equal(event->event, RDMA_CM_EVENT_USER);
	assert_ptr_equal(event->id, id);
	assert_true(event->param.arg == arg);
	assert_int_equal(rdma_ack_cm_event(event), 0);
}

static bool selects(int fd)
{
	struct timeval none = { 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &none) == 1;
}

static bool epolls(int epfd)
{
	struct epoll_event event;

	return epoll_wait(epfd, &event, 1, 0) == 1;
}

static int epoll_of(int fd, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	assert_true(epfd >= 0);
	assert_int_equal(epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event), 0);
	return epfd;
}

static void test_channel_is_readable_for_every_poller_exactly_while_an_event_is_due(void **state)
{
	int epfd = epoll_of(channel->fd, 0), edge = epoll_of(channel->fd, EPOLLET), copy = dup(channel->fd);

	(void)state;
	for (int round = 0; round < 100; round++) {
		assert_false(is_readable(channel->fd) || selects(channel->fd) || epolls(epfd) ||
			     is_readable(copy) || epolls(edge));
		write_user(1);
		assert_true(is_readable(channel->fd) && selects(channel->fd) && epolls(epfd) &&
			    is_readable(copy) && epolls(edge));
		write_user(2);
		get_user(1);
		assert_true(is_readable(channel->fd) && selects(channel->fd) && epolls(epfd) &&
			    is_readable(copy));
		get_user(2);
	}
	close(epfd);
	close(edge);
	close(copy);
}

static void test_channel_moved_by_dup2_goes_on(void **state)
{
	int spare = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(dup2(channel->fd, spare), spare);
	close(channel->fd);
	channel->fd = spare;
	write_user(1);
	assert_true(is_readable(spare));
	get_user(1);
	assert_false(is_readable(spare));
}

static void test_channel_above_descriptor_1024_works(void **state)
{
	struct rlimit limit = { 4096, 4096 };
	struct rdma_event_channel *high;
	struct rdma_cm_id *other;
	int fillers[1100];

	(void)state;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 1100; i++)
		assert_true((fillers[i] = dup(channel->fd)) >= 0);
	high = rdma_create_event_channel();
	assert_non_null(high);
	assert_true(high->fd > 1024);
	assert_int_equal(rdma_create_id(high, &other, NULL, RDMA_PS_UDP), 0);
	assert_int_equal(rdma_resolve_addrinfo(other, "192.0.2.1", "7471", NULL), 0);
	rdma_ack_cm_event(get_event(high));
	assert_false(is_readable(high->fd));
	assert_int_equal(rdma_destroy_id(other), 0);
	rdma_destroy_event_channel(high);
	for (int i = 0; i < 1100; i++)
		close(fillers[i]);
}

static void test_channel_without_event_says_eagain_when_nonblocking(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	set_nonblocking(channel->fd);
	assert_errno(rdma_get_cm_event(channel, &event), EAGAIN);
	write_user(1);
	get_user(1);
	assert_errno(rdma_get_cm_event(channel, &event), EAGAIN);
}

static void test_channel_descriptor_is_closed_on_exec_and_with_the_channel(void **state)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	int fd = other->fd;

	(void)state;
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	rdma_destroy_event_channel(other);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	rdma_destroy_event_channel(NULL);
}

static void test_channel_null_arguments_are_einval(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	assert_errno(rdma_get_cm_event(NULL, &event), EINVAL);
	assert_errno(rdma_get_cm_event(channel, NULL), EINVAL);
	assert_errno(rdma_ack_cm_event(NULL), EINVAL);
	assert_errno(rai_event_text(NULL, NULL, 0), EINVAL);
}

/* ---- rdma_write_cm_event ---- */

static void test_write_accepts_user_events_only(void **state)
{
	(void)state;
	for (int type = -1; type < 25; type++)
		if (type != RDMA_CM_EVENT_USER)
			assert_errno(rdma_write_cm_event(id, (enum rdma_cm_event_type)type, 0, 0), EINVAL);
	assert_errno(rdma_write_cm_event(NULL, RDMA_CM_EVENT_USER, 0, 0), EINVAL);
	assert_false(is_readable(channel->fd));
}

static void test_write_delivers_status_and_arg_as_given(void **state)
{
	static const int statuses[] = { 0, 1, -1, -ENOENT, 77, INT32_MAX, INT32_MIN };
	static const uint64_t args[] = { 0, 1, UINT32_MAX, UINT64_MAX, 1ULL << 63 };
	struct rdma_cm_event *event;

	(void)state;
	for (unsigned s = 0; s < sizeof(statuses) / sizeof(*statuses); s++)
		for (unsigned a = 0; a < sizeof(args) / sizeof(*args); a++) {
			assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, statuses[s], args[a]), 0);
			event = get_event(channel);
			assert_int_equal(event->status, statuses[s]);
			assert_true(event->param.arg == args[a]);
			assert_null(event->listen_id);
			assert_true(rai_event_text(event, NULL, 0) > 0);
			assert_int_equal(rdma_ack_cm_event(event), 0);
		}
}

/* ---- Names and words ---- */

static void test_event_str_names_all_twenty(void **state)
{
	(void)state;
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT), "RDMA_CM_EVENT_TIMEWAIT_EXIT");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_INTERNAL), "RDMA_CM_EVENT_INTERNAL");
	for (int type = 0; type < 20; type++)
		assert_memory_equal(rdma_event_str((enum rdma_cm_event_type)type), "RDMA_CM_EVENT_", 14);
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)20), "UNKNOWN EVENT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)-1), "UNKNOWN EVENT");
}

/* ---- Threads and signals ---- */

static atomic_int waiter_tid, waiter_errno;

static void *wait_for_one(void *arg)
{
	struct rdma_cm_event *event;

	(void)arg;
	atomic_store(&waiter_tid, (int)syscall(SYS_gettid));
	if (rdma_get_cm_event(channel, &event)) {
		atomic_store(&waiter_errno, errno);
		return NULL;
	}
	rdma_ack_cm_event(event);
	atomic_store(&waiter_errno, 0);
	return NULL;
}

static pthread_t start_waiter(void)
{
	pthread_t thread;

	atomic_store(&waiter_tid, 0);
	atomic_store(&waiter_errno, -1);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_one, NULL), 0);
	while (!atomic_load(&waiter_tid))
		sched_yield();
	await_sleep(atomic_load(&waiter_tid));
	return thread;
}

/* F16: ending a program whose thread sits in rdma_get_cm_event(). */
static void test_channel_waiting_thread_is_woken_by_rdma_write_cm_event(void **state)
{
	pthread_t thread = start_waiter();

	(void)state;
	write_user(0);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_errno), 0);
}

static void test_channel_waiting_thread_can_be_cancelled(void **state)
{
	pthread_t thread = start_waiter();

	(void)state;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	write_user(1);
	get_user(1);
	assert_false(is_readable(channel->fd));
}

static atomic_int handled;

static void on_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void handle_usr1(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	atomic_store(&handled, 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

/* F18 */
static void test_channel_wait_is_interrupted_by_a_handler_without_restart(void **state)
{
	pthread_t thread;

	(void)state;
	handle_usr1(0);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_errno), EINTR);
	signal(SIGUSR1, SIG_DFL);
}

/* poll(2) doesn't tell which handler ran. */
static void test_channel_wait_is_interrupted_by_a_handler_with_restart(void **state)
{
	pthread_t thread;

	(void)state;
	handle_usr1(SA_RESTART);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_errno), EINTR);
	signal(SIGUSR1, SIG_DFL);
}

/* A flag that a handler of one use sets is seen. */
static void test_channel_wait_is_interrupted_by_a_handler_that_ran_for_the_last_time(void **state)
{
	pthread_t thread;

	(void)state;
	handle_usr1((int)SA_RESETHAND);
	thread = start_waiter();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&waiter_errno), EINTR);
}

enum { READERS = 4, EVENTS = 20000 / API_SLOWER };

static atomic_uint taken[EVENTS + READERS];

static void *read_until_told(void *arg)
{
	struct rdma_cm_event *event;
	uint64_t number;

	(void)arg;
	do {
		if (rdma_get_cm_event(channel, &event))
			return NULL;
		number = event->param.arg;
		atomic_fetch_add(&taken[number], 1);
		rdma_ack_cm_event(event);
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
		write_user(i);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	for (unsigned i = 0; i < EVENTS + READERS; i++)
		assert_int_equal(atomic_load(&taken[i]), 1);
	assert_false(is_readable(channel->fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_channel_is_readable_for_every_poller_exactly_while_an_event_is_due),
		API_TEST(test_channel_moved_by_dup2_goes_on),
		API_TEST(test_channel_above_descriptor_1024_works),
		API_TEST(test_channel_without_event_says_eagain_when_nonblocking),
		API_TEST(test_channel_descriptor_is_closed_on_exec_and_with_the_channel),
		API_TEST(test_channel_null_arguments_are_einval),
		API_TEST(test_write_accepts_user_events_only),
		API_TEST(test_write_delivers_status_and_arg_as_given),
		cmocka_unit_test(test_event_str_names_all_twenty),
		API_TEST(test_channel_waiting_thread_is_woken_by_rdma_write_cm_event),
		API_TEST(test_channel_waiting_thread_can_be_cancelled),
		API_TEST(test_channel_wait_is_interrupted_by_a_handler_without_restart),
		API_TEST(test_channel_wait_is_interrupted_by_a_handler_with_restart),
		API_TEST(test_channel_wait_is_interrupted_by_a_handler_that_ran_for_the_last_time),
		API_TEST(test_channel_many_threads_take_each_event_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
