/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#include "cm/mcast.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/sockaddr.h"
#include "asleep.h"
#include "cm/heir.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "cm/sync.h"
#include "cm/take.h"
#include "cm/wait.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "user_event.h"
#include "world.h"

static int context;

static union rcm_sockaddr group(const char *text)
{
	union rcm_sockaddr addr;

	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &addr), 1);
	return addr;
}

static uint32_t join(struct rcm_id *id, const char *text, uint16_t flags)
{
	const union rcm_sockaddr addr = group(text);

	assert_int_equal(rcm_mcast_join(id, &addr.sa, flags, &context), 0);
	return rcm_fake_ucma_last_handle();
}

static void end(struct rcm_id *id)
{
	rcm_queues_destroy_qp(id);
	rcm_id_destroy(id);
}

static struct rdma_cm_event *joined(uint32_t membership, int status, enum rdma_cm_event_type wanted)
{
	rcm_fake_ucma_event_of(membership, status ? RDMA_CM_EVENT_MULTICAST_ERROR : RDMA_CM_EVENT_MULTICAST_JOIN,
			       status);
	return rcm_world_take(wanted);
}

static void test_join_attaches_the_queue_pair_when_delivered(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("239.0.0.1");
	uint32_t membership = join(id, "239.0.0.1", RDMA_MC_JOIN_FLAG_FULLMEMBER);
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	event = joined(membership, 0, RDMA_CM_EVENT_MULTICAST_JOIN);
	assert_ptr_equal(event->id, &id->pub);
	assert_ptr_equal(event->param.ud.private_data, &context);
	assert_int_equal(rcm_fake_verbs_attached(), 1);
	rcm_world_ack(event);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), 0);
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_destroy_id).id, membership);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), -EADDRNOTAVAIL);
	end(id);
}

static void test_join_without_a_queue_pair_is_one_of_no_error(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("239.0.0.1");
	struct rdma_cm_event *event = joined(join(id, "239.0.0.1", 0), 0, RDMA_CM_EVENT_MULTICAST_JOIN);

	(void)state;
	assert_int_equal(event->status, 0);
	rcm_world_ack(event);
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), 0);
	rcm_id_destroy(id);
}

static void test_join_send_only_attaches_nothing(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("239.0.0.1");
	uint32_t membership = join(id, "239.0.0.1", RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);

	(void)state;
	assert_int_equal(rcm_world_last(rdma_ucm_join_mcast).join_flags, 1);
	rcm_world_ack(joined(membership, 0, RDMA_CM_EVENT_MULTICAST_JOIN));
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), 0);
	end(id);
}

static void test_join_that_fails_keeps_context_and_status(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	uint32_t membership = join(id, "239.0.0.1", 0);
	struct rdma_cm_event *event = joined(membership, -ENOENT, RDMA_CM_EVENT_MULTICAST_ERROR);

	(void)state;
	assert_int_equal(event->status, -ENOENT);
	assert_ptr_equal(event->param.ud.private_data, &context);
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	rcm_world_ack(event);
	end(id);
}

static void test_join_whose_attach_fails_is_an_error_event(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("239.0.0.1");
	uint32_t membership = join(id, "239.0.0.1", 0);
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_verbs_fail(FAKE_ATTACH_MCAST, ENOMEM);
	event = joined(membership, 0, RDMA_CM_EVENT_MULTICAST_ERROR);
	assert_int_equal(event->status, -ENOMEM);
	rcm_world_ack(event);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), 0);
	end(id);
}

static void test_join_refused_by_kernel_is_no_membership(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("ff15::1");
	const struct sockaddr unknown = { .sa_family = AF_UNIX };

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_JOIN_MCAST), EINVAL);
	assert_int_equal(rcm_mcast_join(id, &addr.sa, 0, NULL), -EINVAL);
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), -EADDRNOTAVAIL);
	assert_int_equal(rcm_mcast_join(id, &unknown, 0, NULL), -EINVAL);
	assert_int_equal(rcm_mcast_leave(id, &unknown), -EINVAL);
	rcm_id_destroy(id);
}

static void test_event_of_a_group_that_was_left_is_dropped(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	const union rcm_sockaddr addr = group("239.0.0.1");
	uint32_t membership = join(id, "239.0.0.1", 0);
	struct rcm_event *user, *taken;

	(void)state;
	rcm_fake_ucma_event_of(membership, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	/* Posting reads what the kernel has ready. */
	assert_int_equal(rcm_user_event(id, 0, 0, &user), 0);
	assert_true(rcm_id_post(id, user));
	assert_int_equal(rcm_mcast_leave(id, &addr.sa), 0);
	assert_int_equal(rcm_channel_get(rcm_world_channel, &taken), 0);
	assert_int_equal(taken->pub.event, RDMA_CM_EVENT_USER);
	rcm_event_ack(taken);
	assert_int_equal(rcm_fake_verbs_attached(), 0);
	end(id);
}

static void test_two_groups_are_left_one_by_one(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	const union rcm_sockaddr one = group("239.0.0.1"), two = group("239.0.0.2");
	uint32_t first = join(id, "239.0.0.1", 0), second = join(id, "239.0.0.2", 0);

	(void)state;
	rcm_world_ack(joined(second, 0, RDMA_CM_EVENT_MULTICAST_JOIN));
	rcm_world_ack(joined(first, 0, RDMA_CM_EVENT_MULTICAST_JOIN));
	assert_int_equal(rcm_mcast_leave(id, &one.sa), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_destroy_id).id, first);
	assert_int_equal(rcm_mcast_leave(id, &two.sa), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_destroy_id).id, second);
	end(id);
}

/* ---- Against a reader of a synchronous id ---- */

static struct rcm_id *sync_id;
static void (*take_back)(void);
static pthread_t taker;
static atomic_int taker_tid;
static atomic_bool taken_back;

static void take_back_membership(void)
{
	const union rcm_sockaddr addr = group("239.0.0.1");

	assert_int_equal(rcm_mcast_leave(sync_id, &addr.sa), 0);
}

static struct rcm_id *guest;			/* another id on the channel of sync_id */

static void take_back_guest(void)
{
	assert_int_equal(rcm_id_destroy(guest), 0);
}

/* Until the kernel says that a thread sleeps in this system call, or it is not to be waited for. */
static void await_sleep_in(int tid, const char *call, const atomic_bool *enough)
{
	while (!atomic_load(enough) && !thread_sleeps_in(tid, call))
		sched_yield();
}

/* The reader, having read, waits for this. */
static void *take_back_and_establish(void *arg)
{
	(void)arg;
	atomic_store(&taker_tid, gettid());
	take_back();
	atomic_store(&taken_back, true);
	await_sleep(getpid());
	rcm_fake_ucma_event_of(sync_id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	return NULL;
}

/* Either it is through, and the event is gone, or it waits until the event is read. */
static void await_taker(const struct rcm_lock *lock)
{
	char futex[64];

	while (!atomic_load(&taker_tid))
		sched_yield();
	snprintf(futex, sizeof(futex), "%d 0x%lx ", SYS_futex, (unsigned long)(uintptr_t)&lock->mutex);
	await_sleep_in(atomic_load(&taker_tid), futex, &taken_back);
}

/* The reader has been told of the event, and goes to read it. */
static void take_back_now(void)
{
	rcm_fake_ucma_before_read(NULL);
	assert_int_equal(pthread_create(&taker, NULL, take_back_and_establish, NULL), 0);
	await_taker(&rcm_channel_of(sync_id->pub.channel)->reading);
}

/* Else it would wait in the kernel, with nobody to wake it: the fake says so. */
static void read_what_is_taken_back(void (*by)(void))
{
	struct rcm_event *event;

	take_back = by;
	atomic_store(&taker_tid, 0);
	atomic_store(&taken_back, false);
	rcm_fake_ucma_before_read(take_back_now);
	assert_int_equal(rcm_channel_get(rcm_channel_of(sync_id->pub.channel), &event), 0);
	assert_int_equal(event->pub.event, RDMA_CM_EVENT_ESTABLISHED);
	rcm_event_ack(event);
	assert_int_equal(pthread_join(taker, NULL), 0);
}

static void test_leave_takes_no_event_from_a_reader_that_was_told_of_it(void **state)
{
	const union rcm_sockaddr addr = group("239.0.0.1");

	(void)state;
	sync_id = rcm_world_sync_id(RDMA_PS_UDP);
	assert_int_equal(rcm_mcast_join(sync_id, &addr.sa, 0, NULL), 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	read_what_is_taken_back(take_back_membership);
	rcm_id_destroy(sync_id);
}

static void test_destroy_takes_no_event_from_a_reader_that_was_told_of_it(void **state)
{
	(void)state;
	sync_id = rcm_world_sync_id(RDMA_PS_UDP);
	assert_int_equal(rcm_id_new(rcm_channel_of(sync_id->pub.channel), NULL, RDMA_PS_UDP, IBV_QPT_UD, &guest), 0);
	rcm_fake_ucma_event_of(guest->handle, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
	read_what_is_taken_back(take_back_guest);
	rcm_id_destroy(sync_id);
}

/* The same a moment earlier: told of it, but not reading yet. */
static void test_reader_looks_again_for_what_may_have_been_taken_back(void **state)
{
	const union rcm_sockaddr addr = group("239.0.0.1");
	struct rcm_channel *channel;
	unsigned seen;

	(void)state;
	sync_id = rcm_world_sync_id(RDMA_PS_UDP);
	channel = rcm_channel_of(sync_id->pub.channel);
	assert_int_equal(rcm_mcast_join(sync_id, &addr.sa, 0, NULL), 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	seen = channel->reads;
	assert_int_equal(rcm_mcast_leave(sync_id, &addr.sa), 0);
	assert_int_equal(rcm_channel_read_bare(channel, &seen), -EAGAIN);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_UDP, IBV_QPT_UD, &guest), 0);
	rcm_fake_ucma_event_of(guest->handle, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
	seen = channel->reads;
	take_back_guest();
	assert_int_equal(rcm_channel_read_bare(channel, &seen), -EAGAIN);
	rcm_id_destroy(sync_id);
}

static void *join_and_wait(void *arg)
{
	const union rcm_sockaddr addr = group("239.0.0.1");

	*(int *)arg = rcm_mcast_join_sync(sync_id, &addr.sa, 0, &context);
	return NULL;
}

static void test_join_that_waits_ends_where_its_group_is_left(void **state)
{
	const union rcm_sockaddr addr = group("239.0.0.1");
	pthread_t thread;
	int joined = 0;

	(void)state;
	sync_id = rcm_world_sync_id(RDMA_PS_UDP);
	assert_int_equal(pthread_create(&thread, NULL, join_and_wait, &joined), 0);
	while (rcm_mcast_leave(sync_id, &addr.sa) == -EADDRNOTAVAIL)
		sched_yield();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(joined, -ECANCELED);
	/* The id's channel serves on. */
	rcm_fake_ucma_event_of(sync_id->handle, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(rcm_sync_complete(sync_id, RCM_SYNC_CONNECT), 0);
	rcm_id_destroy(sync_id);
}

/* ---- In the child of a fork ---- */

static void in_child(int (*run)(struct rcm_id *id), struct rcm_id *id)
{
	int status;
	pid_t pid;

	/* Threads and forks don't go together there. */
	if (emulated())
		return;
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(run(id));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int renew_and_leave(struct rcm_id *id)
{
	const union rcm_sockaddr addr = group("239.0.0.1");

	rcm_channel_renew(rcm_channel_of(id->pub.channel));
	rcm_mcast_renew_all(id, rcm_id_renew(id));
	return rcm_mcast_leave(id, &addr.sa) ? 1 : LIST_EMPTY(&id->mcasts) ? 0 : 2;
}

static int renew_whole(struct rcm_id *id)
{
	rcm_mcast_renew_all(id, true);
	return LIST_EMPTY(&id->mcasts) ? 0 : 1;
}

static int renew_torn(struct rcm_id *id)
{
	rcm_mcast_renew_all(id, false);
	return LIST_EMPTY(&id->mcasts) ? 0 : 1;
}

static void test_child_leaves_a_group_whose_event_the_parent_has_not_acked(void **state)
{
	struct rcm_id *id = rcm_world_id_with_qp(RDMA_PS_UDP);
	struct rdma_cm_event *event = joined(join(id, "239.0.0.1", 0), 0, RDMA_CM_EVENT_MULTICAST_JOIN);

	(void)state;
	in_child(renew_and_leave, id);
	/* Nobody can tell what of a list is whole that was being changed. */
	in_child(renew_torn, id);
	rcm_world_ack(event);
	end(id);
}

static struct rcm_id *leaves;

static void fork_before_leave(uint32_t command)
{
	if (command == RDMA_USER_CM_CMD_LEAVE_MCAST)
		in_child(renew_whole, leaves);
}

static void test_child_has_no_group_that_the_parent_is_leaving(void **state)
{
	const union rcm_sockaddr addr = group("239.0.0.1");

	(void)state;
	leaves = rcm_world_id(RDMA_PS_UDP);
	rcm_world_ack(joined(join(leaves, "239.0.0.1", 0), 0, RDMA_CM_EVENT_MULTICAST_JOIN));
	rcm_fake_ucma_before(fork_before_leave);
	assert_int_equal(rcm_mcast_leave(leaves, &addr.sa), 0);
	rcm_fake_ucma_before(NULL);
	rcm_id_destroy(leaves);
}

static void test_child_leaves_a_group_for_which_a_call_of_the_parents_waits(void **state)
{
	struct rcm_channel *channel;
	pthread_t thread;
	int ret = 1;

	(void)state;
	sync_id = rcm_world_sync_id(RDMA_PS_UDP);
	channel = rcm_channel_of(sync_id->pub.channel);
	assert_int_equal(pthread_create(&thread, NULL, join_and_wait, &ret), 0);
	for (unsigned users = 0; !users; sched_yield()) {
		rcm_lock_acquire(&channel->lock);
		users = channel->users;
		rcm_lock_release(&channel->lock);
	}
	in_child(renew_and_leave, sync_id);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ret, 0);
	rcm_id_destroy(sync_id);
}

static void test_join_ex_takes_what_its_mask_names(void **state)
{
	static const struct { uint32_t mask, flags; int error; uint16_t sent; } cases[] = {
		{ RDMA_CM_JOIN_MC_ATTR_ADDRESS, 9, 0, RDMA_MC_JOIN_FLAG_FULLMEMBER },
		{ RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, 0,
		  RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER },
		{ RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, RDMA_MC_JOIN_FLAG_RESERVED, EINVAL, 0 },
		{ RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, RDMA_MC_JOIN_FLAG_FULLMEMBER, EINVAL, 0 },
		{ RDMA_CM_JOIN_MC_ATTR_RESERVED | RDMA_CM_JOIN_MC_ATTR_ADDRESS, 0, ENOTSUP, 0 },
	};
	union rcm_sockaddr addr = group("239.0.0.1");
	struct rcm_id *id = rcm_world_id(RDMA_PS_UDP);

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rdma_cm_join_mc_attr_ex attr = {
			.comp_mask = cases[i].mask, .join_flags = cases[i].flags, .addr = &addr.sa,
		};
		unsigned joins = rcm_fake_ucma_count(RDMA_USER_CM_CMD_JOIN_MCAST);

		assert_int_equal(rdma_join_multicast_ex(&id->pub, &attr, &context), cases[i].error ? -1 : 0);
		if (cases[i].error)
			assert_int_equal(errno, cases[i].error);
		else
			assert_int_equal(rcm_world_last(rdma_ucm_join_mcast).join_flags, cases[i].sent);
		assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_JOIN_MCAST), joins + !cases[i].error);
	}
	rcm_id_destroy(id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_join_attaches_the_queue_pair_when_delivered),
		T(test_join_send_only_attaches_nothing),
		T(test_join_ex_takes_what_its_mask_names),
		T(test_join_without_a_queue_pair_is_one_of_no_error),
		T(test_join_that_fails_keeps_context_and_status),
		T(test_join_whose_attach_fails_is_an_error_event),
		T(test_join_refused_by_kernel_is_no_membership),
		T(test_event_of_a_group_that_was_left_is_dropped),
		T(test_two_groups_are_left_one_by_one),
		T(test_leave_takes_no_event_from_a_reader_that_was_told_of_it),
		T(test_destroy_takes_no_event_from_a_reader_that_was_told_of_it),
		T(test_reader_looks_again_for_what_may_have_been_taken_back),
		T(test_join_that_waits_ends_where_its_group_is_left),
		T(test_child_leaves_a_group_whose_event_the_parent_has_not_acked),
		T(test_child_has_no_group_that_the_parent_is_leaving),
		T(test_child_leaves_a_group_for_which_a_call_of_the_parents_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
