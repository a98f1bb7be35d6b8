/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of a connection of rai ping. */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "raiping1";

void cli_hello_make(uint32_t size, struct cli_hello *ret_hello)
{
	memcpy(ret_hello->magic, magic, sizeof(ret_hello->magic));
	ret_hello->size = htonl(size);
}

uint32_t cli_hello_read(const void *data, size_t len)
{
	struct cli_hello hello;
	uint32_t size;

	if (!data || len < sizeof(hello))
		return 0;
	memcpy(&hello, data, sizeof(hello));
	size = ntohl(hello.size);
	return memcmp(hello.magic, magic, sizeof(hello.magic)) == 0 && size <= CLI_PING_MAX ? size : 0;
}

int cli_wire_open(struct cli_wire *wire, struct rdma_cm_id *id, uint32_t size, const char **ret_call)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	int rc;

	*wire = (struct cli_wire) { .size = size };
	*ret_call = "allocating a buffer";
	wire->in = calloc(2, size);
	if (!wire->in)
		return -ENOMEM;
	wire->out = wire->in + size;
	*ret_call = "rdma_create_qp";
	if (rdma_create_qp(id, NULL, &attr))
		goto failed;
	*ret_call = "rdma_reg_msgs";
	wire->mr = rdma_reg_msgs(id, wire->in, (size_t)size * 2);
	if (!wire->mr)
		goto failed;
	*ret_call = "ibv_req_notify_cq";
	if (ibv_req_notify_cq(id->recv_cq, 0))
		goto failed;
	*ret_call = "rdma_post_recv";
	if (rdma_post_recv(id, NULL, wire->in, size, wire->mr))
		goto failed;
	wire->id = id;
	return 0;
failed:
	rc = errno ? -errno : -EIO;
	if (wire->mr)
		rdma_dereg_mr(wire->mr);
	if (id->qp)
		rdma_destroy_qp(id);
	free(wire->in);
	*wire = (struct cli_wire) { 0 };
	return rc;
}

void cli_wire_close(struct cli_wire *wire)
{
	if (!wire->id)
		return;
	rdma_destroy_qp(wire->id);
	rdma_dereg_mr(wire->mr);
	rdma_destroy_id(wire->id);
	free(wire->in);
	*wire = (struct cli_wire) { 0 };
}

const char *cli_wire_fault(struct cli_wire *wire)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(wire->id->send_cq, 1, &wc) > 0)
		if (wc.status != IBV_WC_SUCCESS)
			return ibv_wc_status_str(wc.status);
	return NULL;
}

int cli_wire_send(struct cli_wire *wire)
{
	cli_wire_fault(wire);	/* one message is under way at a time: the last one's place is free */
	return rdma_post_send(wire->id, NULL, wire->out, wire->size, wire->mr, 0) ? -errno : 0;
}

/* What the descriptor told is taken from it, and asked for again, before the queue is looked at for the last time. */
static int wire_rearm(struct cli_wire *wire)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(wire->id->recv_cq_channel, &cq, &context))
		return -errno;
	ibv_ack_cq_events(cq, 1);
	return ibv_req_notify_cq(wire->id->recv_cq, 0) ? -EIO : 0;
}

static int wire_poll(struct cli_wire *wire, const char **ret_why)
{
	struct ibv_wc wc;
	const char *fault;
	int n = ibv_poll_cq(wire->id->recv_cq, 1, &wc);

	*ret_why = "the completion queue is lost";
	if (n <= 0)
		return n < 0 ? -EIO : 0;
	if (wc.status == IBV_WC_SUCCESS) {
		if (!rdma_post_recv(wire->id, NULL, wire->in, wire->size, wire->mr))
			return 1;
		*ret_why = "rdma_post_recv failed";
		return -EIO;
	}
	fault = cli_wire_fault(wire);
	*ret_why = fault ? fault : ibv_wc_status_str(wc.status);
	return -EIO;
}

int cli_wire_take(struct cli_wire *wire, const char **ret_why)
{
	struct pollfd pollfd = { .fd = wire->id->recv_cq_channel->fd, .events = POLLIN };
	int rc = wire_poll(wire, ret_why);

	if (rc != 0)
		return rc;
	while (poll(&pollfd, 1, 0) == 1) {
		*ret_why = "the completion channel is lost";
		if (wire_rearm(wire))
			return -EIO;
		rc = wire_poll(wire, ret_why);
		if (rc != 0)
			return rc;
	}
	return 0;
}
