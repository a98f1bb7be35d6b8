/* SPDX-License-Identifier: BSD-2-Clause */
/* The same as test_exhaustion.c for names, devices and endpoints. */
#include "exhaustion.h"

static struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { 0x010200c0 } };
static struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { 0x020200c0 } };

static void synchronous(void)
{
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	watch_id();
}

/* ---- Names ---- */

static int resolve(const char *node, const char *service, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	int ret = rdma_resolve_addrinfo(id, node, service, &hints);

	return ret ? -errno : outcome();
}

static int call_resolve_number(void)
{
	return resolve("192.0.2.7", "7471", 0);
}

static int call_resolve_name(void)
{
	return resolve("a9.ttl60.example", "http", 0);
}

static int call_resolve_unknown(void)
{
	int ret = resolve("e2.example", NULL, 0);

	return ret == -ENOENT ? 0 : ret;
}

static int call_cancel(void)
{
	int ret = rdma_resolve_addrinfo(id, "never.example", NULL, NULL) ? -errno : 0;

	if (ret)
		return ret;
	/* Without means it may have ended by itself. */
	if (rai_cancel(id))
		assert_int_equal(errno, ENOENT);
	ret = outcome();
	return ret == -ECANCELED ? 0 : ret;
}

static int call_query(void)
{
	struct rdma_addrinfo *list;

	if (rdma_query_addrinfo(id, &list))
		return -errno;
	rdma_freeaddrinfo(list);
	return 0;
}

static void answered(void)
{
	fresh();
	assert_int_equal(call_resolve_name(), 0);
}

/* The results are handed over once; and what the engine opens later than a cancelled resolution needs is open. */
static void undo_query(void)
{
	assert_int_equal(call_resolve_name(), 0);
}

static int getaddrinfo_of(const char *node)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *list;

	int ret = rdma_getaddrinfo(node, "7471", &hints, &list);

	if (ret)
		return ret == EAI_MEMORY ? -ENOMEM : -errno;
	rdma_freeaddrinfo(list);
	return 0;
}

static int call_getaddrinfo_number(void)
{
	return getaddrinfo_of("192.0.2.7");
}

static int call_getaddrinfo_name(void)
{
	return getaddrinfo_of("a9.example");
}

static int call_resolve_name_sync(void)
{
	return result(rdma_resolve_addrinfo(id, "a9.example", NULL, NULL));
}

static void failed_name(void)
{
	fresh();
	assert_int_equal(rdma_resolve_addrinfo(id, "e2.example", NULL, NULL), 0);
	failed_event = take();
}

static int call_event_text(void)
{
	char text[200];

	return rai_event_text(failed_event, text, sizeof(text)) < 0 ? -errno : 0;
}

static void nobody_told(void *arg, const struct rai_step *step)
{
	(void)arg;
	(void)step;
}

static int call_watch_steps(void)
{
	static const struct rai_watcher watcher = { .step = nobody_told };

	rai_watch_steps(NULL);
	return rai_watch_steps(&watcher) ? -errno : 0;
}

/* Each step is told while a name's means run out. */
static void watched(void)
{
	call_watch_steps();
	fresh();
}

/* ---- Devices and endpoints ---- */

static int call_get_devices(void)
{
	int count;
	struct ibv_context **list = rdma_get_devices(&count);

	if (!list)
		return -errno;
	rdma_free_devices(list);
	keeps_devices = true;
	return 0;
}

static bool on_id;

static int create_ep(int flags)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct rdma_addrinfo info = {
		.ai_flags = flags, .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC,
		.ai_src_addr = (struct sockaddr *)&own, .ai_src_len = sizeof(own),
		.ai_dst_addr = flags ? NULL : (struct sockaddr *)&peer, .ai_dst_len = flags ? 0 : sizeof(peer),
	};
	int ret;

	on_id = true;
	ret = result(rdma_create_ep(&made, &info, NULL, &attr));
	on_id = false;
	return ret;
}

static int call_create_ep(void)
{
	return create_ep(0);
}

static int call_create_passive_ep(void)
{
	return create_ep(RAI_PASSIVE);
}

static void undo_create_ep(void)
{
	rdma_destroy_ep(made);
}

static void answer(uint32_t command)
{
	if (on_id && command == RDMA_USER_CM_CMD_RESOLVE_ADDR)
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	if (on_id && command == RDMA_USER_CM_CMD_RESOLVE_ROUTE)
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static void answering(void)
{
	rcm_fake_ucma_before(answer);
}

static const struct exhaust_call calls[] = {
	{ "`rdma_resolve_addrinfo()` of a number", fresh, call_resolve_number, NULL, NULL },
	{ "`rdma_resolve_addrinfo()` of a name", fresh, call_resolve_name, NULL, NULL },
	{ "`rdma_resolve_addrinfo()` of a name that isn't", fresh, call_resolve_unknown, NULL, NULL },
	{ "`rdma_resolve_addrinfo()`, synchronous", synchronous, call_resolve_name_sync, NULL, NULL },
	{ "`rai_cancel()`", fresh, call_cancel, undo_query, NULL },
	{ "`rdma_query_addrinfo()`", answered, call_query, undo_query, NULL },
	{ "`rdma_getaddrinfo()` of a number", NULL, call_getaddrinfo_number, NULL, NULL },
	{ "`rdma_getaddrinfo()` of a name", NULL, call_getaddrinfo_name, NULL, NULL },
	{ "`rai_event_text()`", failed_name, call_event_text, NULL, NULL },
	{ "`rai_watch_steps()`", NULL, call_watch_steps, NULL, NULL },
	{ "`rdma_resolve_addrinfo()` of a name, watched", watched, call_resolve_name, NULL, NULL },
	{ "`rdma_get_devices()`", NULL, call_get_devices, NULL, NULL },
	{ "`rdma_create_ep()`", answering, call_create_ep, undo_create_ep, NULL },
	{ "`rdma_create_ep()` with `RAI_PASSIVE`", answering, call_create_passive_ep, undo_create_ep, NULL },
};

static const char *only = "";

static void test_resolution_whose_means_run_out_says_so_and_leaves_all_as_it_was(void **state)
{
	(void)state;
	assert_true(run_calls(calls, sizeof(calls) / sizeof(*calls), only));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolution_whose_means_run_out_says_so_and_leaves_all_as_it_was),
	};

	if (argc > 1)
		only = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
