/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by TCP. */
#include "dns/tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/container.h"
#include "base/err.h"
#include "base/fds.h"
#include "base/limits.h"
#include "dns/stream.h"

enum {
	RECEIVES_A_TURN = 4,
	PIPELINE = 128,
};

/* A connection that has been silent for so long gets no more questions while another can be made: its server may do
 * them one by one. One that has been for longer, and whose last question was taken back, is closed: its server may have
 * forgotten it. */
#define STUCK_AFTER (100 * RCM_NS_PER_MS)
#define DEAD_AFTER (500 * RCM_NS_PER_MS)

struct rcm_tcp_connection {
	TAILQ_ENTRY(rcm_tcp_connection) entry;
	struct rcm_source source;
	struct rcm_tcp *tcp;
	bool connected;
	bool busy;			/* in use further up: not to be freed */
	bool over;			/* to be freed then */
	unsigned answered;
	unsigned ahead;			/* questions that it may not have got to yet */
	bool lost;			/* one was taken back that it may still be busy with */
	uint64_t moved_at;		/* when it was made, answered, or got the first that it isn't past */
	struct rcm_carried *out;	/* by id, the oldest first; those to be sent, too: */
	struct rcm_carrieds unsent;
	struct rcm_timer idle;
	struct rcm_stream stream;
};

void rcm_tcp_init(struct rcm_tcp *tcp, struct rcm_carry *carry, const union rcm_dns_address *address)
{
	*tcp = (struct rcm_tcp){ .carry = carry, .address = *address, .pipeline = PIPELINE };
	TAILQ_INIT(&tcp->connections);
	TAILQ_INIT(&tcp->waiting);
	TAILQ_INIT(&tcp->failing);
}

static uint64_t tcp_now(const struct rcm_tcp *tcp)
{
	return tcp->carry->loop->now;
}

static void tcp_connection_free(struct rcm_tcp_connection *connection)
{
	struct rcm_tcp *tcp = connection->tcp;

	if (!connection->over) {
		TAILQ_REMOVE(&tcp->connections, connection, entry);
		tcp->connections_count--;
	}
	rcm_timer_stop(tcp->carry->loop, &connection->idle);
	if (connection->stream.fd >= 0) {
		rcm_source_remove(&connection->source);
		rcm_fds_close(connection->stream.fd);
	}
	connection->stream.fd = -1;
	connection->over = true;
	if (connection->busy)
		return;
	rcm_stream_done(&connection->stream);
	free(connection);
}

static void tcp_put_down(struct rcm_carried *carried)
{
	struct rcm_tcp_connection *connection = carried->by;

	if (carried->unsent)
		TAILQ_REMOVE(&connection->unsent, carried, entry);
	carried->unsent = false;
	rcm_carried_unregister(&connection->out, carried);
	carried->by = NULL;
}

static void tcp_flush_due(struct rcm_timer *timer);

static void tcp_flush_soon(struct rcm_tcp *tcp)
{
	if (tcp->flush.state == RCM_TIMER_IDLE)
		rcm_timer_start(tcp->carry->loop, &tcp->flush, 0, tcp_flush_due);
}

static void tcp_wait_for_connection(struct rcm_tcp *tcp, struct rcm_carried *carried)
{
	carried->by = tcp;
	TAILQ_INSERT_TAIL(&tcp->waiting, carried, entry);
	tcp_flush_soon(tcp);
}

/* What is put again meanwhile isn't among them. */
static void tcp_fail_waiting(struct rcm_tcp *tcp, int error)
{
	struct rcm_carried *carried;

	TAILQ_FOREACH(carried, &tcp->waiting, entry)
		carried->unsent = true;
	TAILQ_CONCAT(&tcp->failing, &tcp->waiting, entry);
	while ((carried = TAILQ_FIRST(&tcp->failing))) {
		TAILQ_REMOVE(&tcp->failing, carried, entry);
		carried->unsent = false;
		carried->by = NULL;
		carried->ops->fail(carried, error);
	}
}

/*
 * The end of a connection. Without one nobody can be asked. If it was one, only the oldest question can be what the
 * server left for, and only if it never answered, and if no older one was taken back: the others are asked again, no
 * more of them at once than the server was seen to answer.
 */
static void tcp_connection_end(struct rcm_tcp_connection *connection, int error)
{
	struct rcm_tcp *tcp = connection->tcp;
	struct rcm_carried *carried, *culprit = NULL;
	bool busy = connection->busy;

	connection->busy = true;
	if (connection->out && connection->connected)
		tcp->pipeline = connection->answered;
	if (!connection->answered && connection->connected && !connection->lost)
		culprit = connection->out;
	if (culprit)
		tcp_put_down(culprit);
	while ((carried = connection->out)) {
		tcp_put_down(carried);
		tcp_wait_for_connection(tcp, carried);
	}
	tcp_connection_free(connection);
	if (!connection->connected)
		tcp_fail_waiting(tcp, error);
	else if (culprit)
		culprit->ops->fail(culprit, -ECONNRESET);
	connection->busy = busy;
	if (!busy)
		tcp_connection_free(connection);
}

static void tcp_idle_over(struct rcm_timer *timer)
{
	tcp_connection_free(rcm_container(timer, struct rcm_tcp_connection, idle));
}

static void tcp_watch_idle(struct rcm_tcp_connection *connection)
{
	if (!connection->out && !connection->over)
		rcm_timer_start(connection->tcp->carry->loop, &connection->idle,
				tcp_now(connection->tcp) + RCM_DNS_TCP_IDLE_MS * RCM_NS_PER_MS, tcp_idle_over);
}

/* ---- Receiving ---- */

/* How many questions the server still has to get to: not those it went past, whose answers may come late or never. */
static unsigned tcp_pending(const struct rcm_tcp_connection *connection)
{
	unsigned out = HASH_COUNT(connection->out);

	return out < connection->ahead ? out : connection->ahead;
}

/* A message that answers nothing says, too, that the server is done with a question. */
static void tcp_take(struct rcm_tcp_connection *connection, const uint8_t *bytes, size_t len)
{
	struct rcm_tcp *tcp = connection->tcp;
	struct rcm_carried *carried = NULL;

	connection->moved_at = tcp_now(tcp);
	if (connection->ahead)
		connection->ahead--;
	if (len >= 2)
		carried = rcm_carried_find(connection->out, (uint16_t)(bytes[0] << 8 | bytes[1]));
	if (!carried || carried->unsent || !carried->ops->take(carried, bytes, len)) {
		tcp->carry->dropped++;
	} else {
		connection->answered++;
		if (connection->out && tcp->pipeline < PIPELINE)
			tcp->pipeline++;
	}
	if (!TAILQ_EMPTY(&tcp->waiting))
		tcp_flush_soon(tcp);
}

static struct rcm_tcp_connection *tcp_connection_of(struct rcm_stream *stream)
{
	return rcm_container(stream, struct rcm_tcp_connection, stream);
}

static bool tcp_take_message(struct rcm_stream *stream, const uint8_t *bytes, size_t len)
{
	struct rcm_tcp_connection *connection = tcp_connection_of(stream);

	tcp_take(connection, bytes, len);
	return !connection->over;
}

/* ---- Sending ---- */

static size_t tcp_write_next(struct rcm_stream *stream, uint8_t bytes[RCM_MESSAGE_QUESTION_MAX])
{
	struct rcm_tcp_connection *connection = tcp_connection_of(stream);
	struct rcm_carried *carried = TAILQ_FIRST(&connection->unsent);

	if (!carried)
		return 0;
	TAILQ_REMOVE(&connection->unsent, carried, entry);
	carried->unsent = false;
	return carried->ops->write(carried, bytes);
}

static bool tcp_is_for_later(int error)
{
	return error == -EAGAIN || error == -EINTR;
}

static void tcp_flush_connection(struct rcm_tcp_connection *connection)
{
	int ret = connection->connected ? rcm_stream_send(&connection->stream, tcp_write_next) : -EAGAIN;

	if (!ret || tcp_is_for_later(ret))
		ret = rcm_source_change(&connection->source, RCM_READABLE | (ret ? RCM_WRITABLE : 0U));
	if (ret)
		tcp_connection_end(connection, ret);
}

/* ---- Connections ---- */

/* 0; or -errno why there is no connection. */
static int tcp_connected(struct rcm_tcp_connection *connection)
{
	socklen_t len = sizeof(int);
	int ret = 0;

	getsockopt(connection->stream.fd, SOL_SOCKET, SO_ERROR, &ret, &len);
	connection->connected = !ret;
	connection->moved_at = tcp_now(connection->tcp);
	return -ret;
}

static void tcp_connection_ready(struct rcm_source *source, uint32_t events)
{
	struct rcm_tcp_connection *connection = rcm_container(source, struct rcm_tcp_connection, source);
	int n = 1;

	connection->busy = true;
	if (!connection->connected)
		n = tcp_connected(connection) ?: 1;
	for (int i = 0; events & ~(uint32_t)RCM_WRITABLE && i < RECEIVES_A_TURN && n > 0 && !connection->over; i++)
		n = rcm_stream_receive(&connection->stream, tcp_take_message);
	if (!connection->over && n <= 0 && !tcp_is_for_later(n))
		tcp_connection_end(connection, n ? n : -ECONNRESET);
	if (!connection->over)
		tcp_flush_connection(connection);
	tcp_watch_idle(connection);
	connection->busy = false;
	if (connection->over)
		tcp_connection_free(connection);
}

/* 0 or -errno. */
static int tcp_connection_new(struct rcm_tcp *tcp, struct rcm_tcp_connection **ret_connection)
{
	struct rcm_tcp_connection *connection = calloc(1, sizeof(*connection));
	int ret;

	if (!connection)
		return -ENOMEM;
	connection->tcp = tcp;
	connection->moved_at = tcp_now(tcp);
	TAILQ_INIT(&connection->unsent);
	TAILQ_INSERT_TAIL(&tcp->connections, connection, entry);
	tcp->connections_count++;
	connection->stream.fd = rcm_carry_connect(&tcp->address, SOCK_STREAM);
	ret = connection->stream.fd < 0 ? connection->stream.fd :
	      rcm_source_add(tcp->carry->loop, &connection->source, connection->stream.fd, RCM_READABLE | RCM_WRITABLE,
			     tcp_connection_ready);
	if (ret)
		tcp_connection_free(connection);
	else
		*ret_connection = connection;
	return ret;
}

static bool tcp_is_usable(const struct rcm_tcp_connection *connection)
{
	const struct rcm_tcp *tcp = connection->tcp;

	unsigned pending = tcp_pending(connection);

	return !pending || (pending < tcp->pipeline && tcp_now(tcp) - connection->moved_at < STUCK_AFTER);
}

/* The one with the fewest questions that has room; NULL: none has. Silence alone is no reason to wait: a server may
 * well answer the next before it has an answer to the last (RFC 7766, section 6.2.1.1). */
static struct rcm_tcp_connection *tcp_least_loaded(const struct rcm_tcp *tcp)
{
	struct rcm_tcp_connection *connection, *least = NULL;
	unsigned fewest = tcp->pipeline;

	TAILQ_FOREACH(connection, &tcp->connections, entry) {
		if (tcp_pending(connection) >= fewest)
			continue;
		fewest = tcp_pending(connection);
		least = connection;
	}
	return least;
}

/* 0; -EAGAIN: all are in use; or another -errno: there can't be one. */
static int tcp_choose(struct rcm_tcp *tcp, struct rcm_tcp_connection **ret_connection)
{
	struct rcm_tcp_connection *connection;

	TAILQ_FOREACH(connection, &tcp->connections, entry) {
		if (tcp_is_usable(connection)) {
			*ret_connection = connection;
			return 0;
		}
	}
	if (tcp->connections_count < RCM_DNS_CONNECTIONS)
		return tcp_connection_new(tcp, ret_connection);
	*ret_connection = tcp_least_loaded(tcp);
	return *ret_connection ? 0 : -EAGAIN;
}

static void tcp_assign(struct rcm_tcp_connection *connection, struct rcm_carried *carried)
{
	struct rcm_tcp *tcp = connection->tcp;
	unsigned pending = tcp_pending(connection);
	int ret = rcm_carried_register(tcp->carry, &connection->out, carried);

	TAILQ_REMOVE(&tcp->waiting, carried, entry);
	carried->by = NULL;
	if (ret) {
		carried->ops->fail(carried, ret);
		return;
	}
	if (!pending)
		connection->moved_at = tcp_now(tcp);
	connection->ahead++;
	rcm_timer_stop(tcp->carry->loop, &connection->idle);
	carried->by = connection;
	carried->unsent = true;
	TAILQ_INSERT_TAIL(&connection->unsent, carried, entry);
}

void rcm_tcp_flush(struct rcm_tcp *tcp)
{
	struct rcm_tcp_connection *connection, *next;
	struct rcm_carried *carried;
	int ret = 0;

	rcm_timer_stop(tcp->carry->loop, &tcp->flush);
	while (!ret && (carried = TAILQ_FIRST(&tcp->waiting))) {
		ret = tcp_choose(tcp, &connection);
		if (!ret)
			tcp_assign(connection, carried);
	}
	for (connection = TAILQ_FIRST(&tcp->connections); connection; connection = next) {
		next = TAILQ_NEXT(connection, entry);
		if (connection->connected && !TAILQ_EMPTY(&connection->unsent))
			tcp_flush_connection(connection);
	}
	if (ret && ret != -EAGAIN)
		tcp_fail_waiting(tcp, ret);
}

static void tcp_flush_due(struct rcm_timer *timer)
{
	rcm_tcp_flush(rcm_container(timer, struct rcm_tcp, flush));
}

void rcm_tcp_put(struct rcm_tcp *tcp, struct rcm_carried *carried)
{
	carried->unsent = false;
	tcp_wait_for_connection(tcp, carried);
}

void rcm_tcp_take_back(struct rcm_tcp *tcp, struct rcm_carried *carried)
{
	struct rcm_tcp_connection *connection = carried->by;
	bool dead;

	if (carried->by == tcp) {
		TAILQ_REMOVE(carried->unsent ? &tcp->failing : &tcp->waiting, carried, entry);
		carried->unsent = false;
		carried->by = NULL;
		return;
	}
	dead = tcp_now(tcp) - connection->moved_at >= DEAD_AFTER;
	connection->lost |= !carried->unsent;
	tcp_put_down(carried);
	if (dead && !connection->out)
		tcp_connection_free(connection);
	else
		tcp_watch_idle(connection);
	if (!TAILQ_EMPTY(&tcp->waiting))
		tcp_flush_soon(tcp);
}

void rcm_tcp_done(struct rcm_tcp *tcp)
{
	struct rcm_tcp_connection *connection;

	while (!TAILQ_EMPTY(&tcp->waiting))
		rcm_tcp_take_back(tcp, TAILQ_FIRST(&tcp->waiting));
	while ((connection = TAILQ_FIRST(&tcp->connections))) {
		while (connection->out)
			tcp_put_down(connection->out);
		tcp_connection_free(connection);
	}
	rcm_timer_stop(tcp->carry->loop, &tcp->flush);
}
