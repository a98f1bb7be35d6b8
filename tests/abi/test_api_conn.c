/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a connection where there is no device: arguments first, then ENODEV, and nothing left behind. */
#include "api.h"

#include <arpa/inet.h>
#include <unistd.h>

static void test_connection_calls_refuse_null(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr *addr = (struct sockaddr *)&in;
	struct rdma_cm_join_mc_attr_ex join = { 0 };
	struct rdma_cm_id *request;
	struct ibv_ece ece = { 0 };

	(void)state;
	assert_errno(rdma_resolve_addr(NULL, NULL, addr, 1000), EINVAL);
	assert_errno(rdma_resolve_addr(id, NULL, NULL, 1000), EINVAL);
	assert_errno(rdma_resolve_route(NULL, 1000), EINVAL);
	assert_errno(rdma_connect(NULL, NULL), EINVAL);
	assert_errno(rdma_establish(NULL), EINVAL);
	assert_errno(rdma_listen(NULL, 1), EINVAL);
	assert_errno(rdma_get_request(NULL, &request), EINVAL);
	assert_errno(rdma_get_request(id, NULL), EINVAL);
	assert_errno(rdma_accept(NULL, NULL), EINVAL);
	assert_errno(rdma_reject(NULL, NULL, 0), EINVAL);
	assert_errno(rdma_reject_ece(NULL, NULL, 0), EINVAL);
	assert_errno(rdma_notify(NULL, IBV_EVENT_COMM_EST), EINVAL);
	assert_errno(rdma_disconnect(NULL), EINVAL);
	assert_errno(rdma_set_local_ece(NULL, &ece), EINVAL);
	assert_errno(rdma_set_local_ece(id, NULL), EINVAL);
	assert_errno(rdma_get_remote_ece(NULL, &ece), EINVAL);
	assert_errno(rdma_get_remote_ece(id, NULL), EINVAL);
	assert_errno(rdma_join_multicast(NULL, addr, NULL), EINVAL);
	assert_errno(rdma_join_multicast(id, NULL, NULL), EINVAL);
	assert_errno(rdma_join_multicast_ex(NULL, &join, NULL), EINVAL);
	assert_errno(rdma_join_multicast_ex(id, NULL, NULL), EINVAL);
	assert_errno(rdma_join_multicast_ex(id, &join, NULL), EINVAL);
	assert_errno(rdma_leave_multicast(NULL, addr), EINVAL);
}

static void test_queue_calls_refuse_null_and_ids_without_device(void **state)
{
	struct ibv_qp_init_attr_ex qp_ex = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_init_attr qp = { .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr_ex srq_ex = { 0 };
	struct ibv_srq_init_attr srq = { 0 };
	struct ibv_qp_attr attr = { 0 };
	struct rdma_addrinfo info = { 0 };
	struct rdma_cm_id *made;
	int mask;

	(void)state;
	assert_errno(rdma_create_qp(NULL, NULL, &qp), EINVAL);
	assert_errno(rdma_create_qp(id, NULL, NULL), EINVAL);
	assert_errno(rdma_create_qp(id, NULL, &qp), EINVAL);
	assert_errno(rdma_create_qp_ex(NULL, &qp_ex), EINVAL);
	assert_errno(rdma_create_qp_ex(id, &qp_ex), EINVAL);
	assert_errno(rdma_create_srq(NULL, NULL, &srq), EINVAL);
	assert_errno(rdma_create_srq(id, NULL, &srq), EINVAL);
	assert_errno(rdma_create_srq_ex(NULL, &srq_ex), EINVAL);
	assert_errno(rdma_create_srq_ex(id, &srq_ex), EINVAL);
	assert_errno(rdma_init_qp_attr(NULL, &attr, &mask), EINVAL);
	assert_errno(rdma_init_qp_attr(id, NULL, &mask), EINVAL);
	assert_errno(rdma_create_ep(NULL, &info, NULL, NULL), EINVAL);
	assert_errno(rdma_create_ep(&made, NULL, NULL, NULL), EINVAL);
	rdma_destroy_qp(NULL);
	rdma_destroy_qp(id);
	rdma_destroy_srq(NULL);
	rdma_destroy_srq(id);
	rdma_destroy_ep(NULL);
}

static void test_connection_calls_without_a_device_fail_and_bring_no_event(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = inet_addr("192.0.2.1") };
	struct sockaddr *addr = (struct sockaddr *)&in;

	(void)state;
	if (!access("/dev/infiniband/rdma_cm", F_OK))
		skip();
	assert_errno(rdma_resolve_addr(id, NULL, addr, 1000), ENODEV);
	assert_errno(rdma_listen(id, 1), ENODEV);
	assert_errno(rdma_join_multicast(id, addr, NULL), ENODEV);
	assert_errno(rdma_leave_multicast(id, addr), EADDRNOTAVAIL);
	assert_int_equal(rdma_resolve_route(id, 1000), -1);
	assert_int_equal(rdma_connect(id, NULL), -1);
	assert_int_equal(rdma_establish(id), -1);
	assert_int_equal(rdma_accept(id, NULL), -1);
	assert_int_equal(rdma_reject(id, NULL, 0), -1);
	assert_int_equal(rdma_reject_ece(id, NULL, 0), -1);
	assert_int_equal(rdma_notify(id, IBV_EVENT_COMM_EST), -1);
	assert_int_equal(rdma_disconnect(id), -1);
	assert_false(is_readable(channel->fd));
}

static void test_devices_without_any_is_no_list(void **state)
{
	int count = 7;

	(void)state;
	if (!access("/sys/class/infiniband_verbs/abi_version", F_OK))
		skip();
	errno = 0;
	assert_null(rdma_get_devices(&count));
	assert_int_equal(errno, ENODEV);
	assert_int_equal(count, 0);
	rdma_free_devices(NULL);
}

/* Programs without rsockets are linked with it all the same. */
static void test_rpoll_is_poll(void **state)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };

	(void)state;
	assert_int_equal(rpoll(&p, 1, 0), 0);
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), 0);
	assert_int_equal(rpoll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLIN);
	rdma_ack_cm_event(get_event(channel));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_connection_calls_refuse_null),
		API_TEST(test_queue_calls_refuse_null_and_ids_without_device),
		API_TEST(test_connection_calls_without_a_device_fail_and_bring_no_event),
		cmocka_unit_test(test_devices_without_any_is_no_list),
		API_TEST(test_rpoll_is_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
