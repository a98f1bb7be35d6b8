/* SPDX-License-Identifier: BSD-2-Clause */
/* The local side: three ways of having no device, service ids of an AF_IB bind, the port that asks the SA. */
#include "cm/local.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/clock.h"
#include "base/sysfs.h"
#include "cm/id.h"
#include "cm/life.h"
#include "sakernel/sa_kernel.h"
#include "fake_clock.h"
#include "fake_engine.h"
#include "fake_ports.h"
#include "fake_sysfs.h"
#include "fake_ucma.h"
#include "few_fds.h"
#include "test.h"

static int set_up(void **state)
{
	static uint64_t now;

	(void)state;
	/* What the test before knew holds no longer. */
	rcm_fake_clock_use(now += 2 * RCM_NS_PER_S);
	unsetenv("RAI_DEVICELESS");
	rcm_fake_ports_clear();
	rcm_fake_ucma_use();
	rcm_sa_kernel_forget();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/rxe0", NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_fake_ucma_done();
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(NULL);
	rcm_clock_replace(NULL);
	return 0;
}

/* Of a new channel. */
static int usable(void)
{
	struct rcm_channel *channel;
	int ret = rcm_channel_new(&channel);

	if (!ret) {
		ret = rcm_local_usable(channel);
		rcm_channel_close(channel);
	}
	return ret;
}

static void test_local_usable_with_rdma_cm_and_a_device(void **state)
{
	(void)state;
	assert_int_equal(usable(), 0);
}

static void test_local_usable_without_descriptors_is_emfile_not_enodev(void **state)
{
	struct rcm_channel *channel;

	(void)state;
	assert_int_equal(rcm_channel_new(&channel), 0);
	few_fds_left(0);
	assert_int_equal(rcm_local_usable(channel), -EMFILE);
	few_fds_left(UINT_MAX);
	assert_int_equal(rcm_local_usable(channel), 0);
	rcm_channel_close(channel);
}

/* F23: no module, no node, no permission: different answers. */
static void test_local_unusable_says_whether_device_or_permission_lacks(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	assert_int_equal(usable(), -ENOENT);
	rcm_fake_ucma_open_result(-EACCES);
	assert_int_equal(usable(), -EACCES);
	rcm_fake_ucma_open_result(-ENODEV);
	rcm_fake_ports_add(1, true, -EACCES);
	assert_int_equal(usable(), -EACCES);
	rcm_fake_ports_clear();
	rcm_fake_ucma_open_result(-EPROTONOSUPPORT);
	assert_int_equal(usable(), -EPROTONOSUPPORT);
	rcm_fake_ucma_open_result(-EMFILE);
	assert_int_equal(usable(), -EMFILE);
}

/* F22: also where it was, or wasn't, there before. */
static void test_local_device_that_comes_or_goes_is_noticed(void **state)
{
	(void)state;
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	assert_int_equal(usable(), -ENODEV);
	rcm_fake_sysfs_add("class/infiniband/rxe0", NULL);
	assert_int_equal(usable(), 0);
	rcm_fake_sysfs_done();
	rcm_fake_clock_advance(RCM_NS_PER_S);
	assert_int_equal(usable(), -ENODEV);
}

/* No SA will answer there, so a channel would be good for nothing. */
static void test_local_umad_port_of_ethernet_is_not_enough(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	rcm_fake_ports_add(1, false, 0);
	assert_int_equal(usable(), -ENOENT);
}

static void test_local_usable_where_one_umad_port_is(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	rcm_fake_ports_add(1, true, -EACCES);
	rcm_fake_ports_add(2, true, 0);
	rcm_fake_sysfs_done();
	assert_int_equal(usable(), 0);
}

static void test_local_deviceless_mode_needs_none(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	rcm_fake_sysfs_done();
	setenv("RAI_DEVICELESS", "0", 1);
	assert_int_equal(usable(), -ENODEV);
	setenv("RAI_DEVICELESS", "1", 1);
	assert_int_equal(usable(), 0);
}

static union rcm_sockaddr address(uint64_t sid, uint64_t mask)
{
	union rcm_sockaddr addr = { .ib = { .sib_family = AF_IB } };

	addr.ib.sib_sid = htobe64(sid);
	addr.ib.sib_sid_mask = htobe64(mask);
	return addr;
}

static void expect_bind(enum rdma_port_space ps, uint64_t sid, uint64_t mask, int ret, uint64_t bound)
{
	union rcm_sockaddr addr = address(sid, mask);
	struct rcm_sa_port port = { .number = 99 };

	assert_int_equal(rcm_local_bind(&addr, ps, &port), ret);
	assert_int_equal(port.number, ret ? 99 : 0);
	if (!ret)
		assert_true(be64toh(addr.ib.sib_sid) == bound && addr.ib.sib_sid_mask == UINT64_MAX);
}

static void test_local_bind_takes_service_ids_of_its_port_space(void **state)
{
	(void)state;
	expect_bind(RDMA_PS_TCP, RDMA_IB_IP_PS_TCP | 7471, UINT64_MAX, 0, RDMA_IB_IP_PS_TCP | 7471);
	expect_bind(RDMA_PS_UDP, RDMA_IB_IP_PS_UDP | 7471, UINT64_MAX, 0, RDMA_IB_IP_PS_UDP | 7471);
	expect_bind(RDMA_PS_IB, RDMA_IB_IP_PS_TCP | 7471, UINT64_MAX, 0, RDMA_IB_IP_PS_TCP | 7471);
	expect_bind(RDMA_PS_IB, RDMA_IB_IP_PS_UDP | 7471, UINT64_MAX, 0, RDMA_IB_IP_PS_UDP | 7471);
	expect_bind(RDMA_PS_IB, 7471, UINT64_MAX, 0, RDMA_IB_PS_IB | 7471);
	expect_bind(RDMA_PS_TCP, RDMA_IB_IP_PS_UDP | 7471, RDMA_IB_IP_PORT_MASK, 0, RDMA_IB_IP_PS_TCP | 7471);
	expect_bind(RDMA_PS_TCP, RDMA_IB_IP_PS_UDP | 7471, UINT64_MAX, -EPROTONOSUPPORT, 0);
	expect_bind(RDMA_PS_TCP, RDMA_IB_PS_IB | 7471, UINT64_MAX, -EPROTONOSUPPORT, 0);
}

static void test_local_bind_without_port_gives_an_ephemeral_one(void **state)
{
	union rcm_sockaddr addr = address(0, 0);
	struct rcm_sa_port port;
	uint64_t sid;

	(void)state;
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), 0);
	sid = be64toh(addr.ib.sib_sid);
	assert_true((sid & RDMA_IB_IP_PS_MASK) == RDMA_IB_PS_IB);
	assert_true((sid & 0xffff) >= 32768 && (sid & 0xffff) <= 60999);
}

static void test_local_bind_to_a_gid_needs_a_port_that_has_it(void **state)
{
	union rcm_sockaddr addr = address(0, 0);
	struct rcm_sa_port port;

	(void)state;
	addr.ib.sib_addr.sib_raw[0] = 0xfe;
	addr.ib.sib_addr.sib_raw[1] = 0x80;
	addr.ib.sib_addr.sib_raw[15] = 5;
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), -ENODEV);
	rcm_fake_ports_add(5, true, 0);
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), 0);
	assert_int_equal(port.number, 5);
}

/* ---- Of an id that the kernel bound ---- */

static void expect_gid_query(uint64_t node_guid, uint8_t n)
{
	struct rdma_ucm_query_addr_resp answer = { .node_guid = node_guid, .src_size = 48 };
	struct sockaddr_ib ib = { .sib_family = AF_IB };
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY);

	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[1] = 0x80;
	ib.sib_addr.sib_raw[15] = n;
	memcpy(&answer.src_addr, &ib, sizeof(ib));
	rcm_fake_step_field(step, rdma_ucm_query, option, RDMA_USER_CM_QUERY_GID);
	rcm_fake_step_answer(step, &answer, sizeof(answer));
}

/* What Linux before 6.18 says. */
static void expect_no_sa_in_kernel(void)
{
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), EINVAL);
}

static void test_local_of_a_kernel_id_is_found_by_the_gid_that_it_has(void **state)
{
	const struct rcm_sa_ops *sa;
	struct rcm_channel *channel;
	struct rcm_gid gid;
	struct rcm_id *id;

	(void)state;
	rcm_fake_ports_add(1, true, 0);
	rcm_fake_ports_add(2, false, 0);
	rcm_fake_ports_add(3, true, -EACCES);
	assert_int_equal(rcm_channel_new(&channel), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	expect_gid_query(0, 1);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -EINVAL);
	expect_gid_query(7, 9);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -ENOTSUP);
	expect_gid_query(7, 2);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -ENOTSUP);
	expect_gid_query(7, 3);
	expect_no_sa_in_kernel();
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -EACCES);
	expect_gid_query(7, 1);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), 0);
	assert_int_equal(gid.raw[15], 1);
	assert_ptr_equal(sa, &rcm_sa_umad);

	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_id_destroy(id);
	rcm_channel_close(channel);
}

static void test_local_kernel_that_asks_the_sa_needs_no_umad(void **state)
{
	const struct rcm_sa_ops *sa;
	struct rcm_channel *channel;
	struct rcm_gid gid;
	struct rcm_id *id;

	(void)state;
	rcm_fake_ports_add(3, true, -EACCES);
	rcm_fake_ports_add(4, true, 0);
	assert_int_equal(rcm_channel_new(&channel), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	expect_gid_query(7, 3);
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), ENOENT);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), 0);
	assert_int_equal(gid.raw[15], 3);
	assert_ptr_equal(sa, &rcm_sa_kernel);
	/* Where both may be used, our own: more records, more time, and it says what the SA did. */
	expect_gid_query(7, 4);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), 0);
	assert_ptr_equal(sa, &rcm_sa_umad);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_id_destroy(id);
	rcm_channel_close(channel);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_local_usable_with_rdma_cm_and_a_device),
		TEST(test_local_usable_without_descriptors_is_emfile_not_enodev),
		TEST(test_local_unusable_says_whether_device_or_permission_lacks),
		TEST(test_local_device_that_comes_or_goes_is_noticed),
		TEST(test_local_umad_port_of_ethernet_is_not_enough),
		TEST(test_local_usable_where_one_umad_port_is),
		TEST(test_local_deviceless_mode_needs_none),
		TEST(test_local_bind_takes_service_ids_of_its_port_space),
		TEST(test_local_bind_without_port_gives_an_ephemeral_one),
		TEST(test_local_bind_to_a_gid_needs_a_port_that_has_it),
		TEST(test_local_of_a_kernel_id_is_found_by_the_gid_that_it_has),
		TEST(test_local_kernel_that_asks_the_sa_needs_no_umad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
