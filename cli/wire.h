/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of a connection of rai ping: a queue pair, and a buffer each for a message that comes and one that goes. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CLI_PING_MAX = 1 << 20,		/* bytes of a message */
	CLI_PING_CLIENTS_MAX = 64,	/* that a server serves at a time; more are refused */
};

/* What a client sends with its request and a server with its answer, so that each knows the other for what it is. */
struct cli_hello {
	char magic[8];
	uint32_t size;		/* of a message, network order */
};

void cli_hello_make(uint32_t size, struct cli_hello *ret_hello);

/* The size of messages, or 0: it is none. len: as an event has it, padded maybe. */
uint32_t cli_hello_read(const void *data, size_t len);

struct cli_wire {
	struct rdma_cm_id *id;		/* NULL: none */
	struct ibv_mr *mr;
	char *in, *out;			/* of one allocation */
	uint32_t size;
};

/* Makes the queue pair of an id that has a device, and is ready for a message. 0, or -errno with the call in *ret_call;
 * then it is empty and the id is the caller's. */
int cli_wire_open(struct cli_wire *wire, struct rdma_cm_id *id, uint32_t size, const char **ret_call);

/* Destroys the id, too. Empty: nothing. */
void cli_wire_close(struct cli_wire *wire);

/* Sends size bytes of out; 0 or -errno. */
int cli_wire_send(struct cli_wire *wire);

/*
 * Takes a message that came, and is ready for the next: 1; 0: there is none, and recv_cq_channel's descriptor will
 * tell; -EIO: the connection has failed, *ret_why says how. The message is in in until this is called again.
 */
int cli_wire_take(struct cli_wire *wire, const char **ret_why);

/* Why a message could not be sent, as far as is known yet; NULL: nothing. */
const char *cli_wire_fault(struct cli_wire *wire);
