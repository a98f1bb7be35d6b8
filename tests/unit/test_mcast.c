/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that an id is a member of. */
#include "cm/mcast.h"

#include <errno.h>

#include "addr/sockaddr.h"
#include "cm/life.h"
#include "cm/queues.h"
#include "cm/wait.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
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
	assert_int_equal(rcm_mcast_join(id, &unknown, 0, NULL), -EAFNOSUPPORT);
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
	assert_int_equal(rcm_event_new_user(id, 0, 0, &user), 0);
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

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_join_attaches_the_queue_pair_when_delivered),
		T(test_join_send_only_attaches_nothing),
		T(test_join_that_fails_keeps_context_and_status),
		T(test_join_whose_attach_fails_is_an_error_event),
		T(test_join_refused_by_kernel_is_no_membership),
		T(test_event_of_a_group_that_was_left_is_dropped),
		T(test_two_groups_are_left_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
