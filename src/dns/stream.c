/* SPDX-License-Identifier: BSD-2-Clause */
/* The octets of a TCP connection. */
#include "dns/stream.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"

/* PREFIX: octets of a message's length. */
enum { PREFIX = 2, IN_SIZE = PREFIX + RCM_MESSAGE_MAX };

/* Of the last message the beginning may stay. */
static void stream_hand_out(struct rcm_stream *stream,
			    bool (*take)(struct rcm_stream *stream, const uint8_t *bytes, size_t len))
{
	size_t at = 0, len;
	bool more = true;

	while (more && stream->in_len - at >= PREFIX) {
		len = (size_t)(stream->in[at] << 8 | stream->in[at + 1]);
		if (stream->in_len - at < PREFIX + len)
			break;
		more = take(stream, stream->in + at + PREFIX, len);
		at += PREFIX + len;
	}
	stream->in_len -= at;
	memmove(stream->in, stream->in + at, stream->in_len);
}

int rcm_stream_receive(struct rcm_stream *stream,
		       bool (*take)(struct rcm_stream *stream, const uint8_t *bytes, size_t len))
{
	const int on = 1;
	ssize_t n;

	if (!stream->in)
		stream->in = malloc(IN_SIZE);
	if (!stream->in)
		return -ENOMEM;
	n = recv(stream->fd, stream->in + stream->in_len, IN_SIZE - stream->in_len, MSG_DONTWAIT);
	if (n < 0)
		return rcm_errno();
	/* A server that gathers small answers (Nagle) waits for our word that the last came; it must not wait 40 ms. */
	setsockopt(stream->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	stream->in_len += (size_t)n;
	stream_hand_out(stream, take);
	return (int)n;
}

static void stream_fill(struct rcm_stream *stream,
			size_t (*next)(struct rcm_stream *stream, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX]))
{
	uint8_t *at;
	size_t len;

	stream->out_at = stream->out_len = 0;
	while (RCM_STREAM_OUT - stream->out_len >= PREFIX + RCM_MESSAGE_QUESTION_MAX) {
		at = stream->out + stream->out_len;
		len = next(stream, at + PREFIX);
		if (!len)
			break;
		at[0] = (uint8_t)(len >> 8);
		at[1] = (uint8_t)len;
		stream->out_len += PREFIX + len;
	}
}

int rcm_stream_send(struct rcm_stream *stream,
		    size_t (*next)(struct rcm_stream *stream, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX]))
{
	ssize_t n;

	for (;;) {
		if (stream->out_at == stream->out_len)
			stream_fill(stream, next);
		if (!stream->out_len)
			return 0;
		n = send(stream->fd, stream->out + stream->out_at, stream->out_len - stream->out_at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return rcm_errno();
		stream->out_at += (size_t)n;
	}
}

void rcm_stream_done(struct rcm_stream *stream)
{
	free(stream->in);
}
