/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each public call, with every allocation, descriptor and thread that it needs failing in turn. The kernel and the verbs
 * are fakes, which always have what they need; names are the fake's, too (tests/dns/test_exhaustion.c has the real ones).
 *
 * test_exhaustion [CALL]: of those calls alone whose name has this in it. Prints the table of docs/reliability.md.
 */
#include "exhaustion.h"

static struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { 0x010200c0 } };
static struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { 0x020200c0 } };
static struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr = { 0x010000ef } };

/* ---- Ids to call on ---- */

static void end_id(void)
{
	rdma_destroy_qp(id);
	assert_int_equal(rdma_destroy_id(id), 0);
}

static void resolved(void)
{
	id = &rcm_world_id(RDMA_PS_TCP)->pub;
	watch_id();
}

static void resolved_ud(void)
{
	id = &rcm_world_id(RDMA_PS_UDP)->pub;
	watch_id();
}

static void with_qp(void)
{
	id = &rcm_world_id_with_qp(RDMA_PS_TCP)->pub;
	watch_id();
}

static void synchronous_bound(void)
{
	id = &rcm_world_sync_id(RDMA_PS_TCP)->pub;
	watch_id();
}

/* ---- The calls ---- */

static int call_create_channel(void)
{
	channel = rdma_create_event_channel();
	return channel ? 0 : -errno;
}

static void undo_create_channel(void)
{
	rdma_destroy_event_channel(channel);
	channel = NULL;
}

static int call_destroy_channel(void)
{
	rdma_destroy_event_channel(channel);
	return 0;
}

static void make_channel(void)
{
	channel = rdma_create_event_channel();
	assert_non_null(channel);
}

static int call_create_id(void)
{
	return result(rdma_create_id(&rcm_world_channel->pub, &made, NULL, RDMA_PS_TCP));
}

static int call_create_sync_id(void)
{
	return result(rdma_create_id(NULL, &made, NULL, RDMA_PS_TCP));
}

static void undo_made(void)
{
	assert_int_equal(rdma_destroy_id(made), 0);
}

static int call_destroy_id(void)
{
	return result(rdma_destroy_id(id));
}

static int call_bind(void)
{
	return result(rdma_bind_addr(id, (struct sockaddr *)&own));
}

static int call_resolve_addr(void)
{
	return result(rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 2000));
}

static int call_resolve_route(void)
{
	return result(rdma_resolve_route(id, 2000));
}

static int call_listen(void)
{
	return result(rdma_listen(id, 5));
}

static int call_connect(void)
{
	struct rdma_conn_param param = { .qp_num = 7 };

	return result(rdma_connect(id, &param));
}

static int call_accept(void)
{
	struct rdma_conn_param param = { .qp_num = 7 };

	return result(rdma_accept(id, &param));
}

static int call_reject(void)
{
	return result(rdma_reject(id, NULL, 0));
}

static int call_disconnect(void)
{
	return result(rdma_disconnect(id));
}

static int call_establish(void)
{
	return result(rdma_establish(id));
}

static int call_notify(void)
{
	return result(rdma_notify(id, IBV_EVENT_COMM_EST));
}

static int call_create_qp(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };

	return result(rdma_create_qp(id, NULL, &attr));
}

static void undo_create_qp(void)
{
	rdma_destroy_qp(id);
}

static int call_create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1 } };

	return result(rdma_create_srq(id, NULL, &attr));
}

static void undo_create_srq(void)
{
	rdma_destroy_srq(id);
}

static int call_init_qp_attr(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	return result(rdma_init_qp_attr(id, &attr, &mask));
}

static int call_join(void)
{
	return result(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
}

static void undo_join(void)
{
	assert_int_equal(rdma_leave_multicast(id, (struct sockaddr *)&group), 0);
}

static int call_migrate(void)
{
	return result(rdma_migrate_id(id, channel));
}

static void undo_migrate(void)
{
	assert_int_equal(rdma_migrate_id(id, &rcm_world_channel->pub), 0);
}

static void with_second(void)
{
	make_channel();
	fresh();
}

static int call_migrate_to_none(void)
{
	return result(rdma_migrate_id(id, NULL));
}

static int call_set_option(void)
{
	uint8_t tos = 8;

	return result(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
}

static int call_set_gids(void)
{
	const uint8_t gids[2][16] = { { 0xfe, 0x80, [15] = 1 }, { 0xfe, 0x80, [15] = 2 } };

	return result(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, (void *)gids, sizeof(gids)));
}

static int call_write_event(void)
{
	return result(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0));
}

static void undo_event(void)
{
	assert_int_equal(outcome(), 0);
}

static bool event_waits;

static int call_get_event(void)
{
	struct rdma_cm_event *event;

	if (!event_waits)
		rcm_fake_ucma_event_of(handle, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
	event_waits = true;
	if (rdma_get_cm_event(&rcm_world_channel->pub, &event))
		return -errno;
	event_waits = false;
	rdma_ack_cm_event(event);
	return 0;
}

/* The device is opened for it, the first time. */
static int call_get_address_event(void)
{
	struct rdma_cm_event *event;
	int status;

	if (!event_waits)
		assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 2000), 0);
	if (!event_waits)
		rcm_fake_ucma_event_of(handle, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	event_waits = rdma_get_cm_event(&rcm_world_channel->pub, &event);
	if (event_waits)
		return -errno;
	status = event->status;
	assert_int_equal(event->event, status ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED);
	rdma_ack_cm_event(event);
	if (status)
		exhaust_by_event();
	return status;
}

/* To where it was to be resolved, the id keeps. */
static void fresh_unwatched(void)
{
	fresh();
	exhaust_watch(NULL, 0);
}

static void renew_unwatched(void)
{
	end_id();
	fresh_unwatched();
}

static int call_get_request_event(void)
{
	struct rdma_cm_event *event;

	if (!event_waits)
		rcm_fake_ucma_connect_request(handle, NULL);
	event_waits = false;
	if (rdma_get_cm_event(&rcm_world_channel->pub, &event)) {
		event_waits = errno == ENOMEM;
		return -errno;
	}
	made = event->id;
	rdma_ack_cm_event(event);
	return 0;
}

static int no_event(void)
{
	return -EAGAIN;
}

/* A request that no means are left for is refused: the next is waited for. */
static int call_get_request(void)
{
	rcm_fake_ucma_connect_request(handle, NULL);
	rcm_fake_ucma_connect_request(handle, NULL);
	return result(rdma_get_request(id, &made));
}

/* ---- The table ---- */

static void renew_fresh(void)
{
	end_id();
	fresh();
}

static void renew_resolved(void)
{
	end_id();
	resolved();
}

static void renew_with_qp(void)
{
	end_id();
	with_qp();
}

static void keep(void)
{
}

static const struct exhaust_call calls[] = {
	{ "`rdma_create_event_channel()`", NULL, call_create_channel, undo_create_channel, NULL },
	{ "`rdma_destroy_event_channel()`", make_channel, call_destroy_channel, make_channel, NULL },
	{ "`rdma_create_id()`", NULL, call_create_id, undo_made, NULL },
	{ "`rdma_create_id()`, synchronous", NULL, call_create_sync_id, undo_made, NULL },
	{ "`rdma_destroy_id()`", fresh, call_destroy_id, fresh, NULL },
	{ "`rdma_bind_addr()`", fresh, call_bind, renew_fresh, NULL },
	{ "`rdma_resolve_addr()`", fresh, call_resolve_addr, renew_fresh, NULL },
	{ "`rdma_resolve_route()`", resolved, call_resolve_route, renew_resolved, NULL },
	{ "`rdma_listen()`", resolved, call_listen, renew_resolved, NULL },
	{ "`rdma_connect()`", with_qp, call_connect, renew_with_qp, NULL },
	{ "`rdma_accept()`", with_qp, call_accept, renew_with_qp, NULL },
	{ "`rdma_establish()`", resolved, call_establish, renew_resolved, NULL },
	{ "`rdma_reject()`", resolved, call_reject, renew_resolved, NULL },
	{ "`rdma_disconnect()`", with_qp, call_disconnect, renew_with_qp, NULL },
	{ "`rdma_notify()`", resolved, call_notify, keep, NULL },
	{ "`rdma_create_qp()`", resolved, call_create_qp, undo_create_qp, NULL },
	{ "`rdma_create_srq()`", resolved, call_create_srq, undo_create_srq, NULL },
	{ "`rdma_init_qp_attr()`", resolved, call_init_qp_attr, keep, NULL },
	{ "`rdma_join_multicast()`, `rdma_leave_multicast()`", resolved_ud, call_join, undo_join, NULL },
	{ "`rdma_migrate_id()`", with_second, call_migrate, undo_migrate, NULL },
	{ "`rdma_migrate_id()` to no channel", fresh, call_migrate_to_none, undo_migrate, NULL },
	{ "`rdma_set_option()`", fresh, call_set_option, keep, NULL },
	{ "`rdma_set_option()` of GIDs", fresh, call_set_gids, keep, NULL },
	{ "`rdma_write_cm_event()`", fresh, call_write_event, undo_event, NULL },
	{ "`rdma_get_cm_event()`", fresh, call_get_event, keep, NULL },
	{ "`rdma_get_cm_event()` of an address", fresh_unwatched, call_get_address_event, renew_unwatched, NULL },
	{ "`rdma_get_cm_event()` of a request", resolved, call_get_request_event, undo_made, no_event },
	{ "`rdma_get_request()`", synchronous_bound, call_get_request, undo_made, NULL },
};

static const char *only = "";

static void test_call_on_an_id_whose_means_run_out_says_so_and_leaves_all_as_it_was(void **state)
{
	(void)state;
	assert_true(run_calls(calls, sizeof(calls) / sizeof(*calls), only));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_on_an_id_whose_means_run_out_says_so_and_leaves_all_as_it_was),
	};

	if (argc > 1)
		only = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
