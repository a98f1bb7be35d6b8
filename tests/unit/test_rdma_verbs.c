/* SPDX-License-Identifier: BSD-2-Clause */
/* What <rdma/rdma_verbs.h> posts: a device sees the request and gives an errno; its memory was dirty before. */
#include <errno.h>
#include <rdma/rdma_verbs.h>

#include "test.h"

/* What the device got last. The rest of a request is as it lay on the stack, so only what the opcode reads counts. */
static struct ibv_send_wr sent;
static struct ibv_recv_wr received;
static struct ibv_sge sge;
static unsigned srq_posts;
static int post_result;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp, (void)bad;
	sent = *wr;
	sge = *wr->sg_list;
	return post_result;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp, (void)bad;
	received = *wr;
	sge = *wr->sg_list;
	return post_result;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	srq_posts++;
	return post_recv(NULL, wr, bad);
}

static struct ibv_context context = {
	.ops = { .post_send = post_send, .post_recv = post_recv, .post_srq_recv = post_srq_recv },
};
static struct ibv_qp qp = { .context = &context };
static struct ibv_srq srq = { .context = &context };
static struct ibv_mr mr = { .lkey = 0x77 };
static char data[10];

/* Dirties the stack that the next calls use. */
__attribute__((noinline)) static void dirty(void)
{
	volatile uint8_t stack[1024];

	for (unsigned i = 0; i < sizeof(stack); i++)
		stack[i] = 0xa5;
	memset(&sent, 0xa5, sizeof(sent));
}

static void expect_sent(enum ibv_wr_opcode opcode, unsigned flags)
{
	assert_int_equal(sent.wr_id, (uintptr_t)&sent);
	assert_null(sent.next);
	assert_int_equal(sent.num_sge, 1);
	assert_int_equal(sent.opcode, opcode);
	assert_int_equal(sent.send_flags, flags);
	assert_int_equal(sge.addr, (uintptr_t)data);
	assert_int_equal(sge.length, sizeof(data));
}

static void test_post_send_has_all_that_a_send_reads(void **state)
{
	struct rdma_cm_id id = { .qp = &qp };

	(void)state;
	dirty();
	assert_int_equal(rdma_post_send(&id, &sent, data, sizeof(data), &mr, IBV_SEND_SIGNALED), 0);
	expect_sent(IBV_WR_SEND, IBV_SEND_SIGNALED);
	assert_int_equal(sge.lkey, 0x77);
	dirty();
	assert_int_equal(rdma_post_send(&id, &sent, data, sizeof(data), NULL, IBV_SEND_INLINE), 0);
	expect_sent(IBV_WR_SEND, IBV_SEND_INLINE);
	assert_int_equal(sge.lkey, 0);
}

static void test_post_read_and_write_have_the_remote_memory(void **state)
{
	struct rdma_cm_id id = { .qp = &qp };

	(void)state;
	dirty();
	assert_int_equal(rdma_post_read(&id, &sent, data, sizeof(data), &mr, 0, 0x1122334455667788, 9), 0);
	expect_sent(IBV_WR_RDMA_READ, 0);
	assert_true(sent.wr.rdma.remote_addr == 0x1122334455667788);
	assert_int_equal(sent.wr.rdma.rkey, 9);
	dirty();
	assert_int_equal(rdma_post_write(&id, &sent, data, sizeof(data), &mr, IBV_SEND_FENCE, 0x99, 8), 0);
	expect_sent(IBV_WR_RDMA_WRITE, IBV_SEND_FENCE);
	assert_true(sent.wr.rdma.remote_addr == 0x99);
	assert_int_equal(sent.wr.rdma.rkey, 8);
}

static void test_post_ud_send_has_the_peers_address(void **state)
{
	struct rdma_cm_id id = { .qp = &qp };
	struct ibv_ah ah;

	(void)state;
	dirty();
	assert_int_equal(rdma_post_ud_send(&id, &sent, data, sizeof(data), &mr, 0, &ah, 5), 0);
	expect_sent(IBV_WR_SEND, 0);
	assert_ptr_equal(sent.wr.ud.ah, &ah);
	assert_int_equal(sent.wr.ud.remote_qpn, 5);
	assert_int_equal(sent.wr.ud.remote_qkey, RDMA_UDP_QKEY);
}

static void test_post_recv_goes_to_the_srq_where_there_is_one(void **state)
{
	struct rdma_cm_id id = { .qp = &qp };

	(void)state;
	assert_int_equal(rdma_post_recv(&id, &received, data, sizeof(data), &mr), 0);
	assert_int_equal(received.wr_id, (uintptr_t)&received);
	assert_null(received.next);
	assert_int_equal(received.num_sge, 1);
	assert_int_equal(sge.lkey, 0x77);
	assert_int_equal(srq_posts, 0);
	id.srq = &srq;
	assert_int_equal(rdma_post_recv(&id, &received, data, sizeof(data), &mr), 0);
	assert_int_equal(srq_posts, 1);
}

static void test_post_that_device_refuses_has_its_errno(void **state)
{
	struct rdma_cm_id id = { .qp = &qp };

	(void)state;
	post_result = ENOMEM;
	errno = 0;
	assert_int_equal(rdma_post_send(&id, &sent, data, sizeof(data), &mr, 0), -1);
	assert_int_equal(errno, ENOMEM);
	errno = EIO;
	post_result = -1;
	assert_int_equal(rdma_post_recv(&id, &received, data, sizeof(data), &mr), -1);
	assert_int_equal(errno, EIO);
	post_result = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_post_send_has_all_that_a_send_reads),
		cmocka_unit_test(test_post_read_and_write_have_the_remote_memory),
		cmocka_unit_test(test_post_ud_send_has_the_peers_address),
		cmocka_unit_test(test_post_recv_goes_to_the_srq_where_there_is_one),
		cmocka_unit_test(test_post_that_device_refuses_has_its_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
