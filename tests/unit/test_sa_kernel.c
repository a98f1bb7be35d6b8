/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's SA resolver as a client of the SA, and our own client behind it. */
#include "sakernel/sa_kernel.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/sysfs.h"
#include "fake_clock.h"
#include "fake_malloc.h"
#include "fake_sysfs.h"
#include "fake_ucma.h"
#include "heard.h"
#include "sakernel/attempt.h"
#include "test.h"
#include "ucma/ucma.h"

static struct rcm_loop loop;
static struct rcm_sa *sa;

/* ---- Our own client's stand-in ---- */

static int umad_usable, umad_opens, umad_refuses;
static unsigned umad_opened, umad_paths, umad_asked, umad_cancelled, umad_looks, umad_abandoned;
static rcm_sa_done_fn *umad_done;
static void *umad_arg;

int rcm_sa_umad_usable(const struct rcm_gid *port)
{
	(void)port;
	return umad_usable;
}

static int umad_open(struct rcm_loop *on, struct rcm_sa **ret_sa)
{
	(void)on;
	umad_opened += !umad_opens;
	*ret_sa = umad_opens ? NULL : (struct rcm_sa *)&umad_asked;
	return umad_opens;
}

static int umad_ask(rcm_sa_done_fn *done, void *arg, struct rcm_sa_query **ret_query)
{
	if (umad_refuses)
		return umad_refuses;
	umad_asked++;
	umad_done = done;
	umad_arg = arg;
	*ret_query = (struct rcm_sa_query *)&umad_asked;
	return 0;
}

static int umad_service(struct rcm_sa *on, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done,
			void *arg, struct rcm_sa_query **ret_query)
{
	(void)on, (void)query;
	return umad_ask(done, arg, ret_query);
}

static int umad_path(struct rcm_sa *on, const struct rcm_sa_path_query *query, rcm_sa_done_fn *done, void *arg,
		     struct rcm_sa_query **ret_query)
{
	(void)on, (void)query;
	umad_paths++;
	return umad_ask(done, arg, ret_query);
}

static void umad_cancel(struct rcm_sa *on, struct rcm_sa_query *query)
{
	(void)on, (void)query;
	umad_cancelled++;
}

static void umad_stats(struct rcm_sa *on, struct rcm_sa_stats *ret_stats)
{
	(void)on;
	*ret_stats = (struct rcm_sa_stats){ .queries = 10 };
}

static void umad_close(struct rcm_sa *on)
{
	(void)on;
}

static void umad_abandon(struct rcm_sa *on)
{
	(void)on;
	umad_abandoned++;
}

static void umad_look(struct rcm_sa *on)
{
	(void)on;
	umad_looks++;
}

const struct rcm_sa_ops rcm_sa_umad = {
	.name = "stand-in", .open = umad_open, .service = umad_service, .path = umad_path, .cancel = umad_cancel,
	.look = umad_look, .stats = umad_stats, .close = umad_close, .abandon = umad_abandon,
};

/* ---- What keeps account of descriptors ---- */

static bool fds_are_full;

int __real_rcm_fds_add(int fd);
int __wrap_rcm_fds_add(int fd);

int __wrap_rcm_fds_add(int fd)
{
	struct rcm_ucma other;

	if (!fds_are_full)
		return __real_rcm_fds_add(fd);
	/* As the library does, but in the fake's way. */
	assert_int_equal(rcm_ucma_open(&other, O_NONBLOCK), 0);
	other.ops->close(fd);
	rcm_ucma_close(&other);
	return -ENOMEM;
}

static int set_up(void **state)
{
	(void)state;
	umad_usable = -EACCES;
	umad_opens = umad_refuses = 0;
	umad_opened = umad_paths = umad_asked = umad_cancelled = umad_looks = umad_abandoned = 0;
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_ucma_use();
	rcm_fake_ucma_lenient(true);
	rcm_fake_ucma_bind(7, 7, "192.0.2.1", NULL);
	rcm_sa_kernel_forget();
	if (rcm_loop_init(&loop))
		return -1;
	return rcm_sa_kernel.open(&loop, &sa);
}

static int tear_down(void **state)
{
	(void)state;
	rcm_sa_kernel.close(sa);
	rcm_loop_done(&loop);
	rcm_fake_ucma_done();
	rcm_clock_replace(NULL);
	return 0;
}

static void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

static struct rcm_sa_query *ask_service(struct heard *h, uint64_t deadline_s)
{
	const struct rcm_sa_service_query asked = {
		.port.raw = { 0xfe, 0x80, [15] = 5 }, .by_name = true, .service_name = "svc",
		.deadline = deadline_s ? rcm_clock_now() + deadline_s * RCM_NS_PER_S : 0,
	};
	struct rcm_sa_query *query = NULL;

	assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, h, &query), 0);
	return query;
}

static struct rcm_sa_query *ask_path(struct heard *h)
{
	const struct rcm_sa_path_query asked = {
		.port.raw = { 0xfe, 0x80, [15] = 5 }, .dgid.raw = { 0xfe, 0x80, [15] = 6 }, .pkey = 0x8001,
	};
	struct rcm_sa_query *query = NULL;

	assert_int_equal(rcm_sa_kernel.path(sa, &asked, hear, h, &query), 0);
	return query;
}

static void expect_records(uint32_t count, uint32_t total)
{
	struct {
		struct rcm_ucm_query_ib_service_resp head;
		struct rcm_ucm_service_rec recs[2];
	} answer = { .head.num_service_recs = total };

	for (uint32_t i = 0; i < count; i++)
		answer.recs[i] = (struct rcm_ucm_service_rec){
			.id = htobe64(0x42 + i), .gid = { 0xfe, 0x80, [15] = 9 }, .pkey = htobe16(0xffff),
			.lease = htobe32(60), .name = "svc", .data = { 1, 2, 3 },
		};
	rcm_fake_step_answer(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), &answer,
			     sizeof(answer.head) + count * sizeof(answer.recs[0]));
}

/* ---- Tests ---- */

static void test_kernel_with_the_command_is_usable(void **state)
{
	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), ENOENT);
	assert_true(rcm_sa_kernel_usable());
	assert_true(rcm_sa_kernel_usable());	/* asked once */
	assert_int_equal(rcm_fake_ucma_count(RCM_UCM_CMD_RESOLVE_IB_SERVICE), 1);
}

static void test_kernel_without_the_command_is_not_usable(void **state)
{
	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), EINVAL);
	assert_false(rcm_sa_kernel_usable());
	assert_false(rcm_sa_kernel_usable());	/* asked once */
	assert_int_equal(rcm_fake_ucma_count(RCM_UCM_CMD_RESOLVE_IB_SERVICE), 1);
}

/* It may come with its module, or the right to use it. */
static void test_kernel_that_can_not_be_opened_is_looked_for_again(void **state)
{
	(void)state;
	rcm_fake_ucma_open_result(-ENODEV);
	assert_false(rcm_sa_kernel_usable());
	rcm_fake_ucma_open_result(0);
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), ENOENT);
	assert_true(rcm_sa_kernel_usable());
}

/* By the number of no id, which asks nothing of a kernel that has the command. */
static void test_kernel_is_probed_with_no_id(void **state)
{
	struct rcm_fake_step *step = rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE);

	(void)state;
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, id, RCM_ATTEMPT_NO_HANDLE);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, flags, RCM_UCM_SERVICE_BY_ID);
	rcm_fake_step_field(step, rcm_ucm_resolve_ib_service, service_id, 1);
	rcm_fake_step_error(step, ENOENT);
	assert_true(rcm_sa_kernel_usable());
}

static void test_client_over_descriptor_0_is_as_any(void **state)
{
	struct heard h[2] = { 0 };
	struct rcm_sa_stats stats;

	(void)state;
	rcm_fake_ucma_open_as_0();
	for (unsigned i = 0; i < 2; i++) {
		ask_service(&h[i], 0);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
		turn();
		assert_int_equal(h[i].status, -ENOENT);
	}
	rcm_sa_kernel.stats(sa, &stats);
	assert_true(stats.queries == 2 && stats.retries == 0);
	rcm_fake_ucma_open_as_0();
	rcm_fake_step_error(rcm_fake_ucma_expect(RCM_UCM_CMD_RESOLVE_IB_SERVICE), ENOENT);
	rcm_sa_kernel.close(sa);
	assert_true(rcm_sa_kernel_usable());
	assert_int_equal(rcm_sa_kernel.open(&loop, &sa), 0);
}

/* By name, by id, or by both. */
static void test_service_is_asked_by_what_is_known_of_it(void **state)
{
	static const struct { bool by_id, by_name; uint32_t flags; } ways[] = {
		{ true, false, RCM_UCM_SERVICE_BY_ID }, { false, true, RCM_UCM_SERVICE_BY_NAME },
		{ true, true, RCM_UCM_SERVICE_BY_ID | RCM_UCM_SERVICE_BY_NAME },
	};
	struct rcm_ucm_resolve_ib_service sent;

	(void)state;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		const struct rcm_sa_service_query asked = {
			.port.raw = { 0xfe, 0x80, [15] = 5 }, .by_id = ways[i].by_id, .by_name = ways[i].by_name,
			.service_id = 0x42, .service_name = "svc",
		};
		struct rcm_sa_query *query = NULL;
		struct heard h = { 0 };

		assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, &h, &query), 0);
		rcm_fake_ucma_last_body(&sent, sizeof(sent));
		assert_int_equal(sent.id, rcm_fake_ucma_last_handle());
		assert_int_equal(sent.flags, ways[i].flags);
		assert_true(sent.service_id == (ways[i].by_id ? 0x42 : 0));
		assert_string_equal((const char *)sent.service_name, ways[i].by_name ? "svc" : "");
		rcm_sa_kernel.cancel(sa, query);
	}
}

static void test_path_is_asked_to_its_destination_in_two_seconds_a_step(void **state)
{
	const struct rcm_sa_path_query asked = {
		.port.raw = { 0xfe, 0x80, [15] = 5 }, .dgid.raw = { 0xfe, 0x80, [15] = 6 }, .pkey = 0x8001, .service_id = 0x42,
	};
	struct rdma_ucm_resolve_route route;
	struct rdma_ucm_resolve_addr sent;
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };
	struct sockaddr_ib dst;

	(void)state;
	assert_int_equal(rcm_sa_kernel.path(sa, &asked, hear, &h, &query), 0);
	rcm_fake_ucma_last_body(&sent, sizeof(sent));
	memcpy(&dst, &sent.dst_addr, sizeof(dst));
	assert_int_equal(sent.timeout_ms, 2000);
	assert_int_equal(sent.src_size, 0);
	assert_int_equal(sent.dst_size, sizeof(dst));
	assert_int_equal(dst.sib_addr.sib_raw[15], 6);
	assert_int_equal(dst.sib_pkey, htobe16(0x8001));
	assert_true(dst.sib_sid == htobe64(0x42) && dst.sib_sid_mask == UINT64_MAX);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	turn();
	rcm_fake_ucma_last_body(&route, sizeof(route));
	assert_int_equal(route.id, rcm_fake_ucma_last_handle());
	assert_int_equal(route.timeout_ms, 2000);
	rcm_sa_kernel.cancel(sa, query);
}

/* The kernel's status isn't the SA's: but for "none" and "too late" it tells what the kernel said. */
static void test_query_failure_says_what_the_kernel_says(void **state)
{
	static const struct { int kernels, wanted; const char *text; } failures[] = {
		{ -ENODATA, -ENOENT, "none that this port may see" }, { -ENOENT, -ENOENT, "none that this port may see" },
		{ -EINVAL, -EIO, "the kernel's question to the SA failed" },
		{ 0, -EIO, "the kernel's question to the SA failed" },
		{ -ENOMEM, -ENOMEM, "the kernel's question to the SA failed" },
	};
	static const enum rdma_cm_event_type types[] = {
		RDMA_CM_EVENT_ADDRINFO_ERROR, RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR,
	};

	(void)state;
	for (unsigned i = 0; i < 3 * sizeof(failures) / sizeof(*failures); i++) {
		struct heard h = { 0 };

		if (i % 3)
			ask_path(&h);
		else
			ask_service(&h, 0);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), types[i % 3], failures[i / 3].kernels);
		turn();
		assert_int_equal(h.calls, 1);
		assert_int_equal(h.status, failures[i / 3].wanted);
		assert_string_equal(h.text, failures[i / 3].text);
	}
}

/* It is opened once; a path is asked for as a path. */
static void test_path_the_kernel_gives_up_is_asked_over_umad(void **state)
{
	struct heard h[3] = { 0 };
	struct rcm_sa_stats stats;

	(void)state;
	umad_usable = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (i == 1)
			ask_service(&h[i], 0);
		else
			ask_path(&h[i]);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);
		turn();
		assert_int_equal(umad_asked, i + 1);
		assert_int_equal(rcm_fake_ucma_ids(), 0);
		umad_done(umad_arg, &(struct rcm_sa_answer){ .status = -EBUSY });
		assert_int_equal(h[i].calls, 1);
	}
	assert_int_equal(umad_paths, 2);
	assert_int_equal(umad_opened, 1);
	rcm_sa_kernel.stats(sa, &stats);
	assert_true(stats.queries == 13 && stats.retries == 0);
}

static void test_query_that_umad_can_not_take_is_the_kernels_again(void **state)
{
	struct heard h[2] = { 0 };
	struct rcm_sa_stats stats;

	(void)state;
	umad_usable = 0;
	for (unsigned i = 0; i < 2; i++) {
		umad_opens = i ? 0 : -EMFILE;
		umad_refuses = i ? -ENOMEM : 0;
		ask_service(&h[i], 0);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
		turn();
		assert_int_equal(h[i].calls, 0);
		assert_int_equal(umad_opened, i);
		assert_int_equal(rcm_fake_ucma_ids(), 1);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
		turn();
		assert_int_equal(h[i].status, -ENOENT);
	}
	rcm_sa_kernel.stats(sa, &stats);
	assert_true(stats.queries == 4 + 10 && stats.retries == 2);
}

static void test_answer_is_of_the_query_that_asked(void **state)
{
	struct heard h[2] = { 0 };
	uint32_t first, second;

	(void)state;
	ask_service(&h[0], 0);
	first = rcm_fake_ucma_last_handle();
	ask_service(&h[1], 0);
	second = rcm_fake_ucma_last_handle();
	rcm_fake_ucma_event_of(second, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	turn();
	assert_int_equal(h[0].calls, 0);
	assert_int_equal(h[1].status, -ENOENT);
	expect_records(1, 3);
	rcm_fake_ucma_event_of(first, RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
	turn();
	assert_int_equal(h[0].status, 0);
	assert_int_equal(h[0].total, 3);
}

static void test_service_is_asked_on_an_id_of_its_own(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_service(&h, 0);
	assert_int_equal(rcm_fake_ucma_ids(), 1);
	expect_records(2, 2);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.count, 2);
	assert_true(h.first.id == 0x42);
	assert_int_equal(h.first.gid.raw[15], 9);
	assert_int_equal(h.first.pkey, 0xffff);
	assert_int_equal(h.first.lease, 60);
	assert_string_equal(h.first.name, "svc");
	assert_int_equal(h.first.data[2], 3);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* In no partition of its own: the kernel asks in the one that the port has. */
static void test_service_is_asked_at_its_port_in_no_partition(void **state)
{
	struct sockaddr_ib port = { .sib_family = AF_IB, .sib_addr.sib_raw = { 0xfe, 0x80, [15] = 5 } };
	struct heard h = { 0 };
	struct rcm_fake_step *step;

	(void)state;
	rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
	step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
	rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_bind, addr), &port, sizeof(port));
	rcm_sa_kernel.cancel(sa, ask_service(&h, 0));
}

static void test_service_that_is_not_there_is_enoent(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_service(&h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	turn();
	assert_int_equal(h.status, -ENOENT);
	ask_service(&h, 0);
	expect_records(0, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
	turn();
	assert_int_equal(h.calls, 2);
	assert_int_equal(h.status, -ENOENT);
	h.status = 0;
	umad_usable = 0;
	ask_service(&h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENOENT);
	turn();
	assert_int_equal(h.calls, 3);
	assert_int_equal(h.status, -ENOENT);
	assert_int_equal(umad_asked, 0);
}

/* The query, then what holds the answer and its records. */
static void test_service_without_memory_is_told_once(void **state)
{
	const struct rcm_sa_service_query asked = { .port.raw = { 0xfe, 0x80, [15] = 5 }, .by_name = true };
	const struct rcm_sa_path_query path = { .port.raw = { 0xfe, 0x80, [15] = 5 } };
	struct rcm_sa_query *query = NULL;
	struct rcm_sa *other = NULL;
	struct heard h = { 0 };

	(void)state;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_sa_kernel.open(&loop, &other), -ENOMEM);
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, &h, &query), -ENOMEM);
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_sa_kernel.path(sa, &path, hear, &h, &query), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_null(other);
	assert_null(query);
	for (unsigned nth = 1; nth <= 3; nth++) {
		ask_service(&h, 0);
		if (nth == 3)
			expect_records(2, 2);
		rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
		rcm_fake_malloc_fail(nth);
		turn();
		assert_true(rcm_fake_malloc_calm());
		assert_int_equal(h.calls, nth);
		assert_int_equal(h.status, -ENOMEM);
		assert_int_equal(rcm_fake_ucma_ids(), 0);
	}
}

/* Neither the next id nor anything else. */
static void test_service_too_late_that_can_not_be_asked_again_is_told_as_such(void **state)
{
	struct heard h = { 0 };
	uint32_t handle;

	(void)state;
	ask_service(&h, 0);
	handle = rcm_fake_ucma_last_handle();
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID), ENOMEM);
	rcm_fake_ucma_event_of(handle, RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, -ETIMEDOUT);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

static void test_kernel_refuses_what_it_has_no_command_for(void **state)
{
	const struct rcm_sa_path_query all = { .port.raw = { 0xfe, 0x80, [15] = 5 }, .to_all = true };
	const struct rcm_sa_publication publication = { .port.raw = { 0xfe, 0x80, [15] = 5 } };
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };

	(void)state;
	assert_int_equal(rcm_sa_kernel.path(sa, &all, hear, &h, &query), -EOPNOTSUPP);
	assert_int_equal(rcm_sa_kernel.publish(sa, &publication, hear, &h, &query), -EACCES);
	assert_null(query);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
	rcm_sa_kernel.close(NULL);
	rcm_sa_kernel.abandon(NULL);
}

static void test_event_that_a_query_does_not_wait_for_leaves_it_as_it_is(void **state)
{
	struct heard h = { 0 };
	struct rcm_sa_query *query = ask_service(&h, 0);

	(void)state;
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_UNREACHABLE, 0);
	turn();
	assert_int_equal(h.calls, 0);
	rcm_sa_kernel.cancel(sa, query);
}

static void test_service_failure_without_umad_is_eio(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_service(&h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -EINVAL);
	turn();
	assert_int_equal(h.status, -EIO);
	assert_true(h.text[0]);
}

static void test_kernels_two_seconds_are_not_the_deadline(void **state)
{
	struct heard h = { 0 };
	uint32_t first, second;

	(void)state;
	ask_service(&h, 5);
	first = rcm_fake_ucma_last_handle();
	rcm_fake_ucma_event_of(first, RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	turn();
	assert_int_equal(h.calls, 0);
	second = rcm_fake_ucma_last_handle();
	assert_int_not_equal(first, second);	/* the kernel resolves once per id */
	assert_int_equal(rcm_fake_ucma_ids(), 1);
	rcm_fake_clock_advance(5 * RCM_NS_PER_S);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, -ETIMEDOUT);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* The kernel gives up, and umad is asked. */
static void ask_until_umad_has_it(struct heard *h)
{
	umad_usable = 0;
	ask_service(h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	turn();
}

static void test_service_the_kernel_gives_up_is_asked_over_umad(void **state)
{
	struct heard h = { 0 };
	struct rcm_sa_stats stats;

	(void)state;
	ask_until_umad_has_it(&h);
	assert_int_equal(umad_asked, 1);
	assert_int_equal(h.calls, 0);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
	umad_done(umad_arg, &(struct rcm_sa_answer){ .status = -EBUSY });
	assert_int_equal(h.status, -EBUSY);
	rcm_sa_kernel.stats(sa, &stats);
	assert_true(stats.queries == 11);
}

/* The kernel asks on until its time is over. */
static void test_query_whose_port_went_down_fails_as_soon_as_that_is_told(void **state)
{
	struct heard h[RCM_SA_WINDOW + 1] = { 0 };

	(void)state;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/a/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0005");
	rcm_fake_sysfs_add("class/infiniband/a/ports/1/state", "4: ACTIVE");
	for (unsigned i = 0; i < RCM_SA_WINDOW + 1; i++)
		ask_service(&h[i], 5);
	rcm_sa_kernel.look(sa);
	turn();
	assert_int_equal(h[0].calls, 0);
	rcm_fake_sysfs_add("class/infiniband/a/ports/1/state", "1: DOWN");
	rcm_sa_kernel.look(sa);
	rcm_sa_kernel.look(sa);
	assert_int_equal(h[0].calls, 0);
	turn();
	for (unsigned i = 0; i < RCM_SA_WINDOW + 1; i++) {
		assert_int_equal(h[i].calls, 1);
		assert_int_equal(h[i].status, -ENETDOWN);
		assert_string_equal(h[i].text, "the port is down");
	}
	assert_int_equal(rcm_fake_ucma_ids(), 0);
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
}

/* Both in one turn: the kernel's answer comes before what the port's being down leads to. */
static void test_query_whose_port_went_down_leaves_nothing_with_umad(void **state)
{
	struct heard h = { 0 };

	(void)state;
	umad_usable = 0;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband/a/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0005");
	rcm_fake_sysfs_add("class/infiniband/a/ports/1/state", "1: DOWN");
	ask_service(&h, 5);
	rcm_sa_kernel.look(sa);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, -ENETDOWN);
	assert_int_equal(umad_cancelled, umad_asked);
	rcm_sysfs_replace(NULL);
	rcm_fake_sysfs_done();
}

/* That client looks at its own. */
static void test_query_that_umad_has_is_left_to_it_where_ports_changed(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_until_umad_has_it(&h);
	rcm_sa_kernel.look(sa);
	assert_int_equal(umad_looks, 1);
	assert_int_equal(h.calls, 0);
	umad_done(umad_arg, &(struct rcm_sa_answer){ .status = -ENETDOWN });
}

static void test_deadline_during_umad_cancels_it(void **state)
{
	struct heard h = { 0 };

	(void)state;
	umad_usable = 0;
	ask_service(&h, 3);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ETIMEDOUT);
	turn();
	rcm_fake_clock_advance(3 * RCM_NS_PER_S);
	turn();
	assert_int_equal(umad_cancelled, 1);
	assert_int_equal(h.status, -ETIMEDOUT);
}

static void test_path_goes_by_address_and_route(void **state)
{
	struct heard h = { 0 };
	struct rdma_ucm_resolve_addr sent;

	(void)state;
	ask_path(&h);
	rcm_fake_ucma_last_body(&sent, sizeof(sent));
	assert_int_equal(sent.dst_addr.ss_family, AF_IB);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	turn();
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.count, 1);
	assert_int_equal(((const struct ibv_path_record *)h.path)->tclass, 0x77);
	ask_path(&h);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
	turn();
	assert_int_equal(h.status, -EHOSTUNREACH);
}

/* The kernel's path question has the P_Key of BIND, whatever RESOLVE_ADDR says. */
static void test_path_is_asked_with_the_pkey_and_traffic_class_of_its_id(void **state)
{
	struct rcm_sa_path_query asked = {
		.port.raw = { 0xfe, 0x80, [15] = 5 }, .dgid.raw = { 0xfe, 0x80, [15] = 6 }, .pkey = 0x8001,
		.traffic_class = 0x28,
	};
	static const uint16_t pkeys[][2] = { { 0x8001, 0x8001 }, { 0, 0xffff } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rcm_fake_step *step;
		struct sockaddr_ib port = { .sib_family = AF_IB, .sib_pkey = htobe16(pkeys[i][1]) };
		struct rcm_sa_query *query = NULL;
		struct heard h = { 0 };

		rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID);
		step = rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND);
		port.sib_flowinfo = htobe32(0x28 << 20);
		memcpy(port.sib_addr.sib_raw, asked.port.raw, 16);
		rcm_fake_step_bytes(step, offsetof(struct rdma_ucm_bind, addr), &port, sizeof(port));
		asked.pkey = pkeys[i][0];
		assert_int_equal(rcm_sa_kernel.path(sa, &asked, hear, &h, &query), 0);
		rcm_sa_kernel.cancel(sa, query);
	}
}

static void test_query_cancelled_is_not_answered(void **state)
{
	struct heard h = { 0 };
	struct rcm_sa_query *query;

	(void)state;
	query = ask_service(&h, 1);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	rcm_sa_kernel.cancel(sa, query);
	turn();
	rcm_fake_clock_advance(2 * RCM_NS_PER_S);
	turn();
	assert_int_equal(h.calls, 0);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* Who waited for its place isn't told inside of the call that it can't have it, as its lookup may be what is given up. */
static void test_query_cancelled_makes_room_in_the_next_turn(void **state)
{
	struct heard h[RCM_SA_WINDOW + 2] = { 0 };
	struct rcm_sa_query *first, *last;
	uint32_t handle;

	(void)state;
	first = ask_path(&h[0]);
	for (unsigned i = 1; i < RCM_SA_WINDOW + 1; i++)
		ask_path(&h[i]);
	last = ask_path(&h[RCM_SA_WINDOW + 1]);
	handle = rcm_fake_ucma_last_handle();
	rcm_sa_kernel.cancel(sa, first);
	assert_int_equal(h[RCM_SA_WINDOW].calls, 0);
	assert_int_equal(rcm_fake_ucma_last_handle(), handle);
	rcm_sa_kernel.cancel(sa, last);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_CREATE_ID), ENODEV);
	turn();
	assert_int_equal(h[RCM_SA_WINDOW].calls, 1);
	assert_int_equal(h[RCM_SA_WINDOW].status, -ENODEV);
	assert_int_equal(h[RCM_SA_WINDOW + 1].calls, 0);
}

static void test_port_that_cannot_be_bound_is_refused_at_once(void **state)
{
	const struct rcm_sa_service_query asked = { .by_id = true, .service_id = 1 };
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };

	(void)state;
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND), ENODEV);
	assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, &h, &query), -ENODEV);
	assert_int_equal(h.calls, 0);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

static void test_device_that_can_not_be_kept_account_of_is_opened_anew(void **state)
{
	const struct rcm_sa_service_query asked = { .by_id = true, .service_id = 1 };
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };

	(void)state;
	fds_are_full = true;
	assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, &h, &query), -ENOMEM);
	fds_are_full = false;
	assert_int_equal(h.calls, 0);
	rcm_sa_kernel.cancel(sa, ask_service(&h, 0));
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* It is closed again, and the next query opens another. */
static void test_device_that_the_loop_does_not_take_is_opened_anew(void **state)
{
	const struct rcm_sa_service_query asked = { .by_id = true, .service_id = 1 };
	struct rcm_sa_query *query = NULL;
	struct heard h = { 0 };
	int epfd = atomic_exchange(&loop.epfd, -1);

	(void)state;
	assert_int_equal(rcm_sa_kernel.service(sa, &asked, hear, &h, &query), -EBADF);
	assert_int_equal(h.calls, 0);
	atomic_store(&loop.epfd, epfd);
	ask_service(&h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	turn();
	assert_int_equal(h.calls, 1);
	assert_int_equal(h.status, -ENOENT);
}

static void test_device_removed_ends_its_query(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_service(&h, 0);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	turn();
	assert_int_equal(h.status, -ENODEV);
}

static void test_step_that_the_kernel_refuses_ends_its_query(void **state)
{
	struct heard route = { 0 }, records = { 0 };

	(void)state;
	ask_path(&route);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_RESOLVE_ROUTE), ENODEV);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	turn();
	assert_int_equal(route.calls, 1);
	assert_int_equal(route.status, -ENODEV);
	ask_service(&records, 0);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_QUERY), ENOMEM);
	rcm_fake_ucma_event_of(rcm_fake_ucma_last_handle(), RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0);
	turn();
	assert_int_equal(records.calls, 1);
	assert_int_equal(records.status, -ENOMEM);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

static void test_query_that_waited_is_told_that_the_kernel_refuses_it(void **state)
{
	struct heard h[RCM_SA_WINDOW + 1] = { 0 };
	uint32_t first;

	(void)state;
	ask_service(&h[0], 0);
	first = rcm_fake_ucma_last_handle();
	for (unsigned i = 1; i <= RCM_SA_WINDOW; i++)
		ask_service(&h[i], 1);
	rcm_fake_ucma_event_of(first, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	rcm_fake_step_error(rcm_fake_ucma_expect(RDMA_USER_CM_CMD_BIND), ENODEV);
	turn();
	assert_int_equal(h[RCM_SA_WINDOW].calls, 1);
	assert_int_equal(h[RCM_SA_WINDOW].status, -ENODEV);
	assert_int_equal(rcm_fake_ucma_ids(), RCM_SA_WINDOW - 1);
}

static void test_queries_beyond_the_window_wait_in_order(void **state)
{
	struct heard h[RCM_SA_WINDOW + 2] = { 0 };
	uint32_t first;

	(void)state;
	ask_service(&h[0], 0);
	first = rcm_fake_ucma_last_handle();
	for (unsigned i = 1; i < RCM_SA_WINDOW + 2; i++)
		ask_service(&h[i], 1);
	assert_int_equal(rcm_fake_ucma_ids(), RCM_SA_WINDOW);
	rcm_fake_ucma_event_of(first, RDMA_CM_EVENT_ADDRINFO_ERROR, -ENODATA);
	turn();
	assert_int_equal(h[0].calls, 1);
	assert_int_equal(rcm_fake_ucma_ids(), RCM_SA_WINDOW);
	rcm_fake_clock_advance(2 * RCM_NS_PER_S);
	turn();
	for (unsigned i = 1; i < RCM_SA_WINDOW + 2; i++)
		assert_int_equal(h[i].calls, 1);
	assert_int_equal(rcm_fake_ucma_ids(), 0);
}

/* What is left over a sanitizer tells. */
static void test_queries_of_a_client_that_is_closed_are_not_answered(void **state)
{
	struct heard h[RCM_SA_WINDOW + 2] = { 0 };

	for (unsigned i = 0; i < RCM_SA_WINDOW + 2; i++)
		ask_service(&h[i], 1);
	tear_down(state);
	for (unsigned i = 0; i < RCM_SA_WINDOW + 2; i++)
		assert_int_equal(h[i].calls, 0);
}

/* As in the child of a fork: no loop is touched. */
static void test_client_that_is_abandoned_abandons_umad(void **state)
{
	struct heard h = { 0 };

	(void)state;
	ask_until_umad_has_it(&h);
	assert_int_equal(umad_asked, 1);
	rcm_sa_kernel.abandon(sa);
	sa = NULL;
	assert_int_equal(umad_abandoned, 1);
	assert_int_equal(h.calls, 0);
}

static void test_client_that_never_asked_umad_is_abandoned_alone(void **state)
{
	(void)state;
	rcm_sa_kernel.abandon(sa);
	sa = NULL;
	assert_int_equal(umad_abandoned, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_kernel_with_the_command_is_usable),
		T(test_kernel_without_the_command_is_not_usable),
		T(test_kernel_that_can_not_be_opened_is_looked_for_again),
		T(test_kernel_is_probed_with_no_id),
		T(test_client_over_descriptor_0_is_as_any),
		T(test_service_is_asked_by_what_is_known_of_it),
		T(test_path_is_asked_to_its_destination_in_two_seconds_a_step),
		T(test_query_failure_says_what_the_kernel_says),
		T(test_path_the_kernel_gives_up_is_asked_over_umad),
		T(test_query_that_umad_can_not_take_is_the_kernels_again),
		T(test_answer_is_of_the_query_that_asked),
		T(test_service_is_asked_on_an_id_of_its_own),
		T(test_service_that_is_not_there_is_enoent),
		T(test_service_without_memory_is_told_once),
		T(test_service_too_late_that_can_not_be_asked_again_is_told_as_such),
		T(test_kernel_refuses_what_it_has_no_command_for),
		T(test_event_that_a_query_does_not_wait_for_leaves_it_as_it_is),
		T(test_service_is_asked_at_its_port_in_no_partition),
		T(test_service_failure_without_umad_is_eio),
		T(test_kernels_two_seconds_are_not_the_deadline),
		T(test_service_the_kernel_gives_up_is_asked_over_umad),
		T(test_query_whose_port_went_down_fails_as_soon_as_that_is_told),
		T(test_query_whose_port_went_down_leaves_nothing_with_umad),
		T(test_query_that_umad_has_is_left_to_it_where_ports_changed),
		T(test_deadline_during_umad_cancels_it),
		T(test_path_goes_by_address_and_route),
		T(test_path_is_asked_with_the_pkey_and_traffic_class_of_its_id),
		T(test_query_cancelled_is_not_answered),
		T(test_query_cancelled_makes_room_in_the_next_turn),
		T(test_port_that_cannot_be_bound_is_refused_at_once),
		T(test_device_that_can_not_be_kept_account_of_is_opened_anew),
		T(test_device_that_the_loop_does_not_take_is_opened_anew),
		T(test_device_removed_ends_its_query),
		T(test_step_that_the_kernel_refuses_ends_its_query),
		T(test_query_that_waited_is_told_that_the_kernel_refuses_it),
		T(test_queries_beyond_the_window_wait_in_order),
		T(test_client_that_is_abandoned_abandons_umad),
		T(test_client_that_never_asked_umad_is_abandoned_alone),
		cmocka_unit_test_setup(test_queries_of_a_client_that_is_closed_are_not_answered, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
