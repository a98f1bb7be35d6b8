/* SPDX-License-Identifier: BSD-2-Clause */
/* The local side: three ways of having no device, service ids of an AF_IB bind, the port that asks the SA. */
#include "cm/local.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>

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

/* What kernel, /sys and umad ports say together; each of a channel of its own. */
static void test_local_usable_is_what_the_kernel_the_devices_and_the_ports_say(void **state)
{
	enum { NO_PORT = 1 };
	static const struct { int kernel; bool device; int port, wanted; } cases[] = {
		{ 0, true, NO_PORT, 0 }, { 0, true, -EACCES, 0 }, { 0, true, 0, 0 },
		{ 0, false, NO_PORT, -ENODEV }, { 0, false, -EACCES, -EACCES }, { 0, false, 0, 0 },
		{ 0, false, -EMFILE, -EMFILE }, { 0, false, -EIO, -ENODEV },
		{ -ENODEV, true, NO_PORT, -ENOENT }, { -ENODEV, true, -EACCES, -EACCES }, { -ENODEV, true, 0, 0 },
		{ -ENODEV, true, -ENOMEM, -ENOMEM }, { -ENODEV, true, -EIO, -ENOENT },
		{ -ENODEV, false, NO_PORT, -ENODEV }, { -ENODEV, false, -EACCES, -EACCES }, { -ENODEV, false, 0, 0 },
		{ -EACCES, true, NO_PORT, -EACCES }, { -EACCES, true, 0, 0 }, { -EACCES, false, NO_PORT, -ENODEV },
		{ -EPROTONOSUPPORT, true, -EACCES, -EPROTONOSUPPORT }, { -EPROTONOSUPPORT, true, 0, 0 },
		{ -EPROTONOSUPPORT, false, -EACCES, -EACCES }, { -EPROTONOSUPPORT, true, -ENFILE, -ENFILE },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rcm_fake_clock_advance(RCM_NS_PER_S);
		rcm_fake_sysfs_done();
		rcm_sysfs_replace(rcm_fake_sysfs_new());
		if (cases[i].device)
			rcm_fake_sysfs_add("class/infiniband/rxe0", NULL);
		rcm_fake_ports_clear();
		if (cases[i].port != NO_PORT)
			rcm_fake_ports_add(1, true, cases[i].port);
		rcm_fake_ucma_open_result(cases[i].kernel);
		if (usable() != cases[i].wanted)
			fail_msg("case %u: %d", i, usable());
	}
}

/* The first that will do is enough, wherever it is. */
static void test_local_usable_is_what_the_best_port_says(void **state)
{
	static const struct { int ports[3], wanted; } cases[] = {
		{ { 0, -EACCES, -EIO }, 0 }, { { -EACCES, 0, -EACCES }, 0 }, { { -EIO, -EIO, 0 }, 0 },
		{ { -EACCES, -EIO, -EIO }, -EACCES }, { { -EIO, -EACCES, -EIO }, -EACCES }, { { -EIO, -EIO, -EIO }, -ENOENT },
	};

	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rcm_fake_ports_clear();
		for (uint8_t n = 0; n < 3; n++)
			rcm_fake_ports_add(n + 1, true, cases[i].ports[n]);
		assert_int_equal(usable(), cases[i].wanted);
	}
}

/* Of other failures nothing is told but that there is none. */
static void test_local_ports_that_can_not_be_looked_for_are_none_but_for_want(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	rcm_fake_ports_fail(-EMFILE);
	assert_int_equal(usable(), -EMFILE);
	rcm_fake_ports_fail(-EIO);
	assert_int_equal(usable(), -ENOENT);
}

static void test_local_usable_over_descriptor_0(void **state)
{
	(void)state;
	rcm_fake_ucma_open_as_0();
	assert_int_equal(usable(), 0);
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
	rcm_fake_clock_advance(RCM_NS_PER_S - 1);
	assert_int_equal(usable(), 0);
	rcm_fake_clock_advance(1);
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

static bool is_random_told;
static uint64_t told_random;

void __real_rcm_random_fill(void *bytes, size_t len);
void __wrap_rcm_random_fill(void *bytes, size_t len);

void __wrap_rcm_random_fill(void *bytes, size_t len)
{
	if (!is_random_told) {
		__real_rcm_random_fill(bytes, len);
		return;
	}
	assert_int_equal(len, sizeof(told_random));
	memcpy(bytes, &told_random, len);
}

static uint64_t port_for(uint64_t random)
{
	union rcm_sockaddr addr = address(0, 0);
	struct rcm_sa_port port;

	is_random_told = true;
	told_random = random;
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), 0);
	is_random_told = false;
	assert_true((be64toh(addr.ib.sib_sid) & RDMA_IB_IP_PS_MASK) == RDMA_IB_PS_IB);
	return be64toh(addr.ib.sib_sid) & ~(uint64_t)RDMA_IB_IP_PS_MASK;
}

static void test_local_bind_without_port_gives_an_ephemeral_one(void **state)
{
	(void)state;
	assert_int_equal(port_for(0), 32768);
	assert_int_equal(port_for(60999 - 32768), 60999);
	assert_int_equal(port_for(60999 - 32768 + 1), 32768);
	assert_in_range(port_for(UINT64_MAX), 32768, 60999);
}

/* It is on every port, or none. */
static void test_local_bind_to_any_or_loopback_needs_no_port(void **state)
{
	union rcm_sockaddr addr = address(0, 0);
	struct rcm_sa_port port = { .number = 99 };

	(void)state;
	addr.ib.sib_addr.sib_raw[15] = 1;
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), 0);
	assert_int_equal(port.number, 0);
	addr.ib.sib_addr.sib_raw[15] = 2;
	assert_int_equal(rcm_local_bind(&addr, RDMA_PS_IB, &port), -ENODEV);
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

/* The kernel has it on no InfiniBand port, or can't say. */
static void test_local_of_a_kernel_id_that_has_no_gid_is_refused(void **state)
{
	struct rdma_ucm_query_addr_resp answer = { .node_guid = 7, .src_size = 16 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	const struct rcm_sa_ops *sa;
	struct rcm_channel *channel;
	struct rcm_gid gid;
	struct rcm_id *id;

	(void)state;
	assert_int_equal(rcm_channel_new(&channel), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	assert_int_equal(rcm_id_new(channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	memcpy(&answer.src_addr, &in, sizeof(in));
	rcm_fake_step_answer(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), &answer, sizeof(answer));
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -EINVAL);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), EPERM);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -EPERM);
	expect_gid_query(7, 1);
	rcm_fake_ports_fail(-EMFILE);
	assert_int_equal(rcm_local_sa_port(id, &gid, &sa), -EMFILE);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_id_destroy(id);
	rcm_channel_close(channel);
}

/* ---- Of one that is bound here ---- */

static struct rcm_channel *bare_channel;

static struct rcm_id *bound_here(uint8_t port, bool infiniband)
{
	struct rcm_id *id;

	rcm_fake_ucma_open_result(-ENODEV);
	assert_int_equal(rcm_channel_new(&bare_channel), 0);
	assert_int_equal(rcm_id_new(bare_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	id->port = (struct rcm_sa_port){
		.number = port, .infiniband = infiniband, .gid.raw = { 0xfe, 0x80, [15] = port },
	};
	return id;
}

static void done(struct rcm_id *id)
{
	rcm_id_destroy(id);
	rcm_channel_close(bare_channel);
}

static void test_local_port_that_publishes_is_one_of_infiniband_that_may_be_used(void **state)
{
	static const struct { uint8_t port; bool infiniband; int wanted; } cases[] = {
		{ 0, true, -EINVAL }, { 1, true, 0 }, { 1, false, -ENOTSUP }, { 3, true, -EACCES }, { 4, true, -ENODEV },
	};
	struct sockaddr_ib bound;

	(void)state;
	rcm_fake_ports_add(1, true, 0);
	rcm_fake_ports_add(3, true, -EACCES);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rcm_id *id = bound_here(cases[i].port, cases[i].infiniband);
		struct rcm_gid gid = { { 0 } };

		assert_int_equal(rcm_local_publish_port(id, &gid, &bound), cases[i].wanted);
		assert_int_equal(gid.raw[15], cases[i].wanted ? 0 : cases[i].port);
		done(id);
	}
}

/* The flow label is below it, the version above. */
static void test_local_traffic_class_is_that_of_the_address_that_is_bound(void **state)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_flowinfo = htobe32(0x6a5fffff) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = 0xffffffff };
	struct rcm_id *id = bound_here(1, true);

	(void)state;
	assert_int_equal(rcm_local_traffic_class(id), 0);
	memcpy(&id->pub.route.addr.src_storage, &in, sizeof(in));
	assert_int_equal(rcm_local_traffic_class(id), 0);
	memcpy(&id->pub.route.addr.src_storage, &ib, sizeof(ib));
	assert_int_equal(rcm_local_traffic_class(id), 0xa5);
	done(id);
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
		TEST(test_local_usable_is_what_the_kernel_the_devices_and_the_ports_say),
		TEST(test_local_usable_is_what_the_best_port_says),
		TEST(test_local_ports_that_can_not_be_looked_for_are_none_but_for_want),
		TEST(test_local_usable_over_descriptor_0),
		TEST(test_local_bind_to_any_or_loopback_needs_no_port),
		TEST(test_local_of_a_kernel_id_that_has_no_gid_is_refused),
		TEST(test_local_port_that_publishes_is_one_of_infiniband_that_may_be_used),
		TEST(test_local_traffic_class_is_that_of_the_address_that_is_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
