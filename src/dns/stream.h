/* SPDX-License-Identifier: BSD-2-Clause */
/* The octets of a TCP connection to a name server: messages, each with its length before it (RFC 1035 4.2.2). */
#pragma once

#include "dns/message.h"

enum { RCM_STREAM_OUT = 4096 };

/* Zeroed but for fd: nothing came, nothing is to be sent. */
struct rcm_stream {
	int fd;				/* that doesn't block; its owner's */
	size_t in_len, out_len, out_at;
	uint8_t *in;			/* NULL: nothing came yet */
	uint8_t out[RCM_STREAM_OUT];
};

/*
 * Takes what there is and hands out the whole messages. take: false: no more of them. How many octets came, 0 at the
 * end of the stream, or -errno.
 */
int rcm_stream_receive(struct rcm_stream *stream,
		       bool (*take)(struct rcm_stream *stream, const uint8_t *bytes, size_t len));

/* Sends all that next writes, until it says 0, as far as the connection takes it. 0 or -errno. */
int rcm_stream_send(struct rcm_stream *stream,
		    size_t (*next)(struct rcm_stream *stream, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX]));

/* Frees what it holds. */
void rcm_stream_done(struct rcm_stream *stream);
