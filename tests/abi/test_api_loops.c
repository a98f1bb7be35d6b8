/* SPDX-License-Identifier: BSD-2-Clause */
/* The channel's descriptor in other people's event loops: libuv and io_uring. */
#include "api.h"

#include <unistd.h>
#ifdef HAVE_URING
#include <liburing.h>
#endif
#ifdef HAVE_UV
#include <uv.h>
#endif

enum { EVENTS = 1000 / API_SLOWER };

#ifdef HAVE_UV
static unsigned calls, got;

/* Takes one event a call: the loop is to call again while more are due, and not once more. */
static void on_readable(uv_poll_t *handle, int status, int events)
{
	struct rdma_cm_event *event = get_event(channel);
	enum rdma_cm_event_type type = event->event;

	rdma_ack_cm_event(event);
	assert_int_equal(status, 0);
	assert_int_equal(events, UV_READABLE);
	calls++;
	got += type == RDMA_CM_EVENT_ADDRINFO_RESOLVED;
	if (got == EVENTS)
		uv_poll_stop(handle);
	else if (type == RDMA_CM_EVENT_USER)
		assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
	else
		assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), 0);
}

static void test_channel_in_a_libuv_loop_is_called_once_an_event(void **state)
{
	uv_poll_t handle;
	uv_loop_t loop;

	(void)state;
	set_nonblocking(channel->fd);
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(uv_poll_init(&loop, &handle, channel->fd), 0);
	assert_int_equal(uv_poll_start(&handle, UV_READABLE, on_readable), 0);
	assert_int_equal(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0), 0);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(got, EVENTS);
	assert_int_equal(calls, 2 * EVENTS);
	uv_close((uv_handle_t *)&handle, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}
#endif

#ifdef HAVE_URING
static void wait_by_ring(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;

	io_uring_prep_poll_add(sqe, channel->fd, POLLIN);
	assert_int_equal(io_uring_submit(ring), 1);
	assert_int_equal(io_uring_wait_cqe(ring, &cqe), 0);
	assert_true(cqe->res & POLLIN);
	io_uring_cqe_seen(ring, cqe);
}

static void test_channel_polled_by_io_uring_is_readable_when_an_event_is_due(void **state)
{
	struct io_uring ring;

	(void)state;
	if (io_uring_queue_init(8, &ring, 0))
		skip();
	set_nonblocking(channel->fd);
	for (int i = 0; i < EVENTS; i++) {
		struct rdma_cm_event *event;

		assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
		wait_by_ring(&ring);
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		rdma_ack_cm_event(event);
		assert_errno(rdma_get_cm_event(channel, &event), EAGAIN);
	}
	io_uring_queue_exit(&ring);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_UV
		API_TEST(test_channel_in_a_libuv_loop_is_called_once_an_event),
#endif
#ifdef HAVE_URING
		API_TEST(test_channel_polled_by_io_uring_is_readable_when_an_event_is_due),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
