/* SPDX-License-Identifier: BSD-2-Clause */
/* From an address to a device and a route. */
#include "cm/address.h"

#include <errno.h>

#include "addr/sockaddr.h"
#include "cm/attach.h"
#include "cm/life.h"
#include "cm/option.h"
#include "alone.h"
#include "fake_ucma.h"
#include "fake_verbs.h"
#include "test.h"
#include "world.h"

static struct rcm_id *new_id(void)
{
	struct rcm_id *id;

	assert_int_equal(rcm_id_new(rcm_world_channel, NULL, RDMA_PS_TCP, IBV_QPT_RC, &id), 0);
	return id;
}

static int resolve(struct rcm_id *id)
{
	union rcm_sockaddr dst;

	assert_int_equal(rcm_sockaddr_parse("192.0.2.2", AF_INET, &dst), 1);
	return rcm_address_resolve(id, NULL, &dst.sa, 2000);
}

static void test_address_resolved_binds_id_to_device(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	const struct rdma_addr *addr = &id->pub.route.addr;

	(void)state;
	assert_non_null(id->pub.verbs);
	assert_string_equal(id->pub.verbs->device->name, "fake0");
	assert_ptr_equal(id->pub.pd->context, id->pub.verbs);
	assert_int_equal(id->pub.port_num, 1);
	assert_int_equal(addr->src_addr.sa_family, AF_INET);
	assert_int_equal(addr->dst_addr.sa_family, AF_INET);
	assert_int_equal(addr->addr.ibaddr.sgid.raw[15], 1);
	assert_int_equal(addr->addr.ibaddr.dgid.raw[15], 2);
	assert_int_equal(addr->addr.ibaddr.pkey, 0xffff);
	rcm_id_destroy(id);
}

static void test_gids_of_roce_are_the_addresses_and_not_asked_for(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2 };
	const struct rdma_ib_addr *gids;
	struct rcm_id *id;
	unsigned queries;

	(void)state;
	rcm_fake_verbs_link(IBV_LINK_LAYER_ETHERNET);
	queries = rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY);
	id = rcm_world_id(RDMA_PS_TCP);
	gids = &id->pub.route.addr.addr.ibaddr;
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY), queries + 1);
	assert_memory_equal(gids->sgid.raw, mapped, 15);
	assert_memory_equal(gids->dgid.raw, mapped, 15);
	assert_memory_equal(gids->sgid.raw + 12, &id->pub.route.addr.src_sin.sin_addr, 4);
	assert_memory_equal(gids->dgid.raw + 12, &id->pub.route.addr.dst_sin.sin_addr, 4);
	rcm_id_destroy(id);
}

/* It has Ethernet, too, and GIDs that are others. */
static void test_gids_of_iwarp_are_asked_for(void **state)
{
	struct rcm_id *id;
	unsigned queries;

	(void)state;
	rcm_fake_verbs_link(IBV_LINK_LAYER_ETHERNET);
	rcm_fake_verbs_iwarp();
	queries = rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY);
	id = rcm_world_id(RDMA_PS_TCP);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_QUERY), queries + 2);
	assert_int_equal(id->pub.route.addr.addr.ibaddr.sgid.raw[15], 1);
	rcm_id_destroy(id);
}

static struct rcm_id *dying;

static void die(uint32_t command)
{
	rcm_lock_acquire(&dying->lock);
	dying->dead = command == RDMA_USER_CM_CMD_QUERY || dying->dead;
	rcm_lock_release(&dying->lock);
}

static void test_address_of_an_id_that_is_destroyed_meanwhile_gets_no_device(void **state)
{
	(void)state;
	dying = new_id();
	rcm_fake_ucma_before(die);
	rcm_attach(dying);
	rcm_fake_ucma_before(NULL);
	assert_true(dying->dead);
	assert_null(dying->device);
	assert_null(dying->pub.verbs);
	dying->dead = false;
	rcm_id_destroy(dying);
}

/* F21: an address resolves to a device that can't be opened. */
static void test_address_of_device_that_cannot_be_opened_is_an_error_event(void **state)
{
	static const int errors[] = { EACCES, ENODEV, ENOENT };

	(void)state;
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct rcm_id *id = new_id();
		struct rdma_cm_event *event;

		rcm_world_open_error(errors[i]);
		assert_int_equal(resolve(id), 0);
		event = rcm_world_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, RDMA_CM_EVENT_ADDR_ERROR);
		assert_int_equal(event->status, -ENODEV);
		assert_null(id->pub.verbs);
		rcm_world_ack(event);
		rcm_id_destroy(id);
	}
}

static void test_address_error_keeps_its_status(void **state)
{
	struct rcm_id *id = new_id();
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(resolve(id), 0);
	event = rcm_world_event(id, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(event->status, -ENETUNREACH);
	rcm_world_ack(event);
	rcm_id_destroy(id);
}

static void test_address_of_unknown_family_is_refused(void **state)
{
	const struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct rcm_id *id = new_id();

	(void)state;
	assert_int_equal(rcm_address_resolve(id, NULL, &unknown, 1), -EINVAL);
	rcm_id_destroy(id);
}

static void test_address_refused_by_kernel_is_refused(void **state)
{
	struct rcm_id *id = new_id();

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), ENETUNREACH);
	assert_int_equal(resolve(id), -ENETUNREACH);
	rcm_id_destroy(id);
}

/* The peer of a request that came in, say: a server logs it. */
static void test_address_refused_leaves_the_peer_that_the_id_has(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct sockaddr_storage before = id->pub.route.addr.dst_storage;
	union rcm_sockaddr other;

	(void)state;
	assert_int_equal(before.ss_family, AF_INET);
	id->chain.address_due = true;
	assert_int_equal(rcm_sockaddr_parse("2001:db8::9", AF_INET6, &other), 1);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), EINVAL);
	assert_int_equal(rcm_address_resolve(id, NULL, &other.sa, 2000), -EINVAL);
	assert_memory_equal(&id->pub.route.addr.dst_storage, &before, sizeof(before));
	assert_true(id->chain.address_due);
	id->chain.address_due = false;
	rcm_id_destroy(id);
}

/* The kernel would take some of it all the same, and lose the id in its tree of those that have routes. */
static void test_address_of_an_id_with_a_route_does_not_reach_the_kernel(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct sockaddr_storage before = id->pub.route.addr.dst_storage;
	unsigned given;

	(void)state;
	assert_int_equal(rcm_address_resolve_route(id, 1500), 0);
	given = rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ADDR);
	assert_int_equal(resolve(id), -EINVAL);
	/* As the kernel says of one whose device has gone. */
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND), ENXIO);
	assert_int_equal(resolve(id), -ENXIO);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ADDR), given);
	assert_memory_equal(&id->pub.route.addr.dst_storage, &before, sizeof(before));
	rcm_id_destroy(id);
}

static void test_address_of_an_id_whose_route_was_refused_is_the_kernels_to_judge(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ROUTE), EINVAL);
	assert_int_equal(rcm_address_resolve_route(id, 1500), -EINVAL);
	assert_int_equal(resolve(id), 0);
	rcm_id_destroy(id);
}

static void test_route_resolved_has_path_records(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rcm_address_resolve_route(id, 1500), 0);
		assert_int_equal(rcm_world_last(rdma_ucm_resolve_route).timeout_ms, 1500);
		rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, RDMA_CM_EVENT_ROUTE_RESOLVED));
		assert_int_equal(id->pub.route.num_paths, 1);
		assert_int_equal(id->pub.route.path_rec[0].traffic_class, 0x77);
	}
	rcm_id_destroy(id);
}

static void test_route_whose_paths_cannot_be_read_is_an_error_event(void **state)
{
	struct rcm_id *id = rcm_world_id(RDMA_PS_TCP);
	struct rdma_cm_event *event;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), ENOSPC);
	event = rcm_world_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, RDMA_CM_EVENT_ROUTE_ERROR);
	assert_int_equal(event->status, -ENOSPC);
	rcm_world_ack(event);
	rcm_id_destroy(id);
}

/* As an answer of the SA leaves it. */
static struct rcm_id *id_with_sa_destination(void)
{
	const uint8_t gid[16] = { 0xfe, 0x80, [15] = 9 };
	struct rcm_id *id = new_id();

	rcm_sockaddr_ib((union rcm_sockaddr *)&id->pub.route.addr.dst_storage, gid, 0xffff, 0x42, UINT64_MAX);
	id->chain.address_due = true;
	return id;
}

static void test_route_after_sa_answer_resolves_the_address_first(void **state)
{
	struct rcm_id *id = id_with_sa_destination();
	unsigned routes = rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE);

	(void)state;
	assert_int_equal(rcm_address_resolve_route(id, 1200), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_resolve_addr).timeout_ms, 1200);
	assert_int_equal(rcm_world_last(rdma_ucm_resolve_addr).dst_addr.ss_family, AF_IB);
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE), routes);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	rcm_world_expect_quiet();
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE), routes + 1);
	assert_int_equal(rcm_world_last(rdma_ucm_resolve_route).timeout_ms, 1200);
	assert_non_null(id->pub.verbs);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, RDMA_CM_EVENT_ROUTE_RESOLVED));
	rcm_id_destroy(id);
}

static void test_route_after_sa_answer_without_address_is_a_route_error(void **state)
{
	struct rcm_id *id = id_with_sa_destination();
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(rcm_address_resolve_route(id, 1200), 0);
	event = rcm_world_event(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, RDMA_CM_EVENT_ROUTE_ERROR);
	assert_int_equal(event->status, -ETIMEDOUT);
	rcm_world_ack(event);
	rcm_id_destroy(id);
}

/* Whoever of the two calls was refused can be called again. */
static void test_route_after_sa_answer_that_is_refused_leaves_the_answer(void **state)
{
	struct rcm_id *id = id_with_sa_destination();
	struct sockaddr_storage before = id->pub.route.addr.dst_storage;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), ENODEV);
	assert_int_equal(rcm_address_resolve_route(id, 1200), -ENODEV);
	assert_memory_equal(&id->pub.route.addr.dst_storage, &before, sizeof(before));
	assert_true(id->chain.address_due);
	assert_false(id->chain.under_way);
	assert_int_equal(rcm_address_resolve_route(id, 1300), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_resolve_addr).timeout_ms, 1300);
	rcm_id_destroy(id);
}

static void test_address_refused_leaves_the_route_that_is_under_way(void **state)
{
	struct rcm_id *id = id_with_sa_destination();
	unsigned routes = rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE);

	(void)state;
	assert_int_equal(rcm_address_resolve_route(id, 1200), 0);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), EINVAL);
	assert_int_equal(resolve(id), -EINVAL);
	rcm_fake_ucma_event_of(id->handle, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	rcm_world_expect_quiet();
	assert_int_equal(rcm_fake_ucma_count(RDMA_USER_CM_CMD_RESOLVE_ROUTE), routes + 1);
	rcm_id_destroy(id);
}

static void test_address_of_the_callers_own_choice_replaces_sa_answer(void **state)
{
	struct rcm_id *id = id_with_sa_destination();

	(void)state;
	assert_int_equal(resolve(id), 0);
	rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, RDMA_CM_EVENT_ADDR_RESOLVED));
	assert_int_equal(rcm_address_resolve_route(id, 1), 0);
	assert_int_equal(rcm_world_last(rdma_ucm_resolve_route).id, id->handle);
	rcm_id_destroy(id);
}

/* ---- Partitions: the kernel's P_Key is that of BIND ---- */

static union rcm_sockaddr ib_address(uint8_t n, uint16_t pkey)
{
	union rcm_sockaddr addr;

	rcm_sockaddr_ib(&addr, (const uint8_t[16]){ 0xfe, 0x80, [15] = n }, pkey, 0x42, UINT64_MAX);
	return addr;
}

static struct rcm_id *bound_id(uint16_t pkey)
{
	union rcm_sockaddr own = ib_address(1, pkey);
	struct rcm_id *id = new_id();

	assert_int_equal(rcm_id_bind(id, &own.sa), 0);
	assert_non_null(id->pub.verbs);
	return id;
}

/* By rdma_resolve_addr(), or by rdma_resolve_route() right after an answer of the SA. */
static void go_to(struct rcm_id *id, uint16_t pkey, bool after_sa)
{
	union rcm_sockaddr dst = ib_address(9, pkey);

	if (after_sa) {
		memcpy(&id->pub.route.addr.dst_storage, &dst, sizeof(dst));
		id->chain.address_due = true;
		assert_int_equal(rcm_address_resolve_route(id, 1000), 0);
	} else {
		assert_int_equal(rcm_address_resolve(id, NULL, &dst.sa, 1000), 0);
	}
}

static void test_address_in_another_partition_gets_a_kernels_id_bound_there(void **state)
{
	/* Bound with, of the destination, then the kernel's. */
	static const uint16_t pkeys[][3] = {
		{ 0, 0x8001, 0x8001 }, { 0xffff, 0x8001, 0x8001 }, { 0x8001, 0xffff, 0xffff },
		{ 0, 0, 0xffff }, { 0x8001, 0, 0x8001 }, { 0xffff, 0x7fff, 0xffff }, { 0x8002, 0x8002, 0x8002 },
	};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(pkeys) / sizeof(*pkeys); i++) {
		const uint16_t *p = pkeys[i / 2];
		struct rcm_id *id = bound_id(p[0]);
		unsigned ids = rcm_fake_ucma_ids();
		uint32_t handle = id->handle;

		go_to(id, p[1], i % 2);
		assert_int_equal(rcm_fake_ucma_pkey(id->handle), p[2]);
		assert_int_equal(id->handle != handle, p[0] != p[2]);
		assert_int_equal(rcm_fake_ucma_ids(), ids);
		/* Its events find it. */
		rcm_world_ack(rcm_world_event(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, i % 2 ?
					      RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ADDR_ERROR));
		assert_int_equal(id->pub.route.addr.addr.ibaddr.sgid.raw[15], 1);
		rcm_id_destroy(id);
	}
}

/* It has no destination, so it can still be bound anew. */
static void test_address_refused_leaves_the_id_free_for_another_partition(void **state)
{
	union rcm_sockaddr dst = ib_address(9, 0x8001);
	struct rcm_id *id = bound_id(0x8001);
	uint32_t handle = id->handle;

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ADDR), ENODEV);
	assert_int_equal(rcm_address_resolve(id, NULL, &dst.sa, 1000), -ENODEV);
	assert_int_equal(id->handle, handle);
	go_to(id, 0x8002, false);
	assert_int_not_equal(id->handle, handle);
	assert_int_equal(rcm_fake_ucma_pkey(id->handle), 0x8002);
	rcm_id_destroy(id);
}

/* Its GID is the one that its address has; a service id it has not. */
static void test_address_of_an_id_bound_by_ip_is_bound_by_its_gid_in_the_destinations_partition(void **state)
{
	union rcm_sockaddr own, dst = ib_address(9, 0x8001), bound;
	struct rcm_id *id = new_id();
	struct rcm_fake_step *step;

	(void)state;
	assert_int_equal(rcm_sockaddr_parse("192.0.2.1", AF_INET, &own), 1);
	assert_int_equal(rcm_id_bind(id, &own.sa), 0);
	rcm_sockaddr_ib(&bound, id->pub.route.addr.addr.ibaddr.sgid.raw, 0x8001, 0, 0);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_bind, addr), &bound, sizeof(bound.ib));
	assert_int_equal(rcm_address_resolve(id, NULL, &dst.sa, 1000), 0);
	rcm_id_destroy(id);
}

static void test_address_in_another_partition_keeps_the_options(void **state)
{
	struct rcm_id *id = bound_id(0);
	uint8_t tos = 0x28;
	int reuse = 1;

	(void)state;
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	assert_int_equal(rcm_option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)), 0);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_DESTROY_ID);
	rcm_fake_step_field(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION), rdma_ucm_set_option, optname,
			    RDMA_OPTION_ID_TOS);
	rcm_fake_step_field(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_SET_OPTION), rdma_ucm_set_option, optname,
			    RDMA_OPTION_ID_REUSEADDR);
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	go_to(id, 0x8001, false);
	rcm_id_destroy(id);
}

/* Not while the kernel's id is at something: a second destination is the kernel's to refuse. */
static void test_address_of_an_id_that_has_a_destination_keeps_the_kernels_id(void **state)
{
	struct rcm_id *id = bound_id(0x8001);
	uint32_t handle;

	(void)state;
	go_to(id, 0x8001, false);
	handle = id->handle;
	go_to(id, 0x8002, false);
	assert_int_equal(id->handle, handle);
	rcm_id_destroy(id);
}

static void test_address_with_a_source_goes_in_the_destinations_partition(void **state)
{
	union rcm_sockaddr src = ib_address(1, 0), dst = ib_address(9, 0x8001);
	struct rcm_id *id = new_id();

	(void)state;
	assert_int_equal(rcm_address_resolve(id, &src.sa, &dst.sa, 1000), 0);
	assert_int_equal(rcm_fake_ucma_pkey(id->handle), 0x8001);
	rcm_id_destroy(id);
}

static void test_address_whose_partition_can_not_be_bound_is_refused(void **state)
{
	union rcm_sockaddr dst = ib_address(9, 0x8001), own = ib_address(1, 0xffff);
	struct rcm_id *id = bound_id(0xffff);

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND), ENODEV);
	assert_int_equal(rcm_address_resolve(id, NULL, &dst.sa, 1000), -ENODEV);
	/* It is bound to nothing now, and can be bound again. */
	assert_int_equal(rcm_id_bind(id, &own.sa), 0);
	rcm_id_destroy(id);
}

static int run(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rcm_world_before, rcm_world_after)
	const struct CMUnitTest tests[] = {
		T(test_address_resolved_binds_id_to_device),
		T(test_gids_of_roce_are_the_addresses_and_not_asked_for),
		T(test_gids_of_iwarp_are_asked_for),
		T(test_address_of_an_id_that_is_destroyed_meanwhile_gets_no_device),
		T(test_address_of_device_that_cannot_be_opened_is_an_error_event),
		T(test_address_error_keeps_its_status),
		T(test_address_of_unknown_family_is_refused),
		T(test_address_refused_by_kernel_is_refused),
		T(test_address_refused_leaves_the_peer_that_the_id_has),
		T(test_address_of_an_id_with_a_route_does_not_reach_the_kernel),
		T(test_address_of_an_id_whose_route_was_refused_is_the_kernels_to_judge),
		T(test_route_resolved_has_path_records),
		T(test_route_whose_paths_cannot_be_read_is_an_error_event),
		T(test_route_after_sa_answer_resolves_the_address_first),
		T(test_route_after_sa_answer_without_address_is_a_route_error),
		T(test_route_after_sa_answer_that_is_refused_leaves_the_answer),
		T(test_address_refused_leaves_the_route_that_is_under_way),
		T(test_address_of_the_callers_own_choice_replaces_sa_answer),
		T(test_address_in_another_partition_gets_a_kernels_id_bound_there),
		T(test_address_refused_leaves_the_id_free_for_another_partition),
		T(test_address_of_an_id_bound_by_ip_is_bound_by_its_gid_in_the_destinations_partition),
		T(test_address_in_another_partition_keeps_the_options),
		T(test_address_of_an_id_that_has_a_destination_keeps_the_kernels_id),
		T(test_address_with_a_source_goes_in_the_destinations_partition),
		T(test_address_whose_partition_can_not_be_bound_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return alone_run(run);
}
