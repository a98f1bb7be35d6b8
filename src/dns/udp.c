/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by UDP. */
#include "dns/udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/container.h"
#include "base/fds.h"
#include "base/limits.h"
#include "base/log.h"
#include "dns/batch.h"
#include "dns/packets.h"

enum {
	RECEIVES_A_TURN = 4		/* so that one who floods us keeps nothing else from being done */
};

#define PORT_KEPT (10 * RCM_NS_PER_S)

struct rcm_udp_socket {
	TAILQ_ENTRY(rcm_udp_socket) entry;
	struct rcm_source source;
	struct rcm_udp *udp;
	int fd;
	bool busy;			/* in use further up: not to be freed */
	bool shares;			/* its questions share packets */
	unsigned asked;
	uint64_t opened_at;
	struct rcm_carried *out;	/* by id, the oldest first; those to be sent, too: */
	struct rcm_carrieds unsent;
};

void rcm_udp_init(struct rcm_udp *udp, struct rcm_carry *carry, const union rcm_dns_address *address)
{
	*udp = (struct rcm_udp){ .carry = carry, .address = *address };
	TAILQ_INIT(&udp->sockets);
}

static void udp_socket_free(struct rcm_udp_socket *socket)
{
	struct rcm_udp *udp = socket->udp;

	if (udp->current == socket)
		udp->current = NULL;
	TAILQ_REMOVE(&udp->sockets, socket, entry);
	udp->sockets_count--;
	if (socket->fd >= 0) {
		rcm_source_remove(&socket->source);
		rcm_fds_close(socket->fd);
	}
	free(socket);
}

/* The current one stays for a while, as another question may come. */
static void udp_socket_release(struct rcm_udp_socket *socket)
{
	if (!socket->busy && !socket->out && socket->udp->current != socket)
		udp_socket_free(socket);
}

static void udp_idle_over(struct rcm_timer *timer)
{
	struct rcm_udp *udp = rcm_container(timer, struct rcm_udp, idle);
	uint64_t end = udp->used_at + RCM_DNS_IDLE_MS * RCM_NS_PER_MS;

	if (udp->current && !udp->current->out && end <= udp->carry->loop->now)
		udp_socket_free(udp->current);
	else if (udp->current)
		rcm_timer_start(udp->carry->loop, &udp->idle, end > udp->carry->loop->now ? end :
				udp->carry->loop->now + RCM_DNS_IDLE_MS * RCM_NS_PER_MS, udp_idle_over);
}

static void udp_put_down(struct rcm_carried *carried)
{
	struct rcm_udp_socket *socket = carried->by;

	if (carried->unsent)
		TAILQ_REMOVE(&socket->unsent, carried, entry);
	carried->unsent = false;
	rcm_carried_unregister(&socket->out, carried);
	carried->by = NULL;
	socket->udp->used_at = socket->udp->carry->loop->now;
}

/* An error of a connected socket doesn't say which question it is about: it is about the server. */
static void udp_socket_fail(struct rcm_udp_socket *socket, int error)
{
	struct rcm_carried *carried;

	if (socket->udp->current == socket)
		socket->udp->current = NULL;
	while ((carried = socket->out)) {
		udp_put_down(carried);
		carried->ops->fail(carried, error);
	}
}

/* ---- Receiving ---- */

static void udp_take(struct rcm_udp_socket *socket, const uint8_t *bytes, size_t len)
{
	struct rcm_carried *carried = NULL;

	if (len >= 2)
		carried = rcm_carried_find(socket->out, (uint16_t)(bytes[0] << 8 | bytes[1]));
	if (!carried || carried->unsent || !carried->ops->take(carried, bytes, len))
		socket->udp->carry->dropped++;
}

/* How many came, or -errno. */
static int udp_receive(struct rcm_udp_socket *socket, uint8_t *room)
{
	struct mmsghdr messages[RCM_CARRY_BATCH] = { 0 };
	struct iovec iovs[RCM_CARRY_BATCH];
	int n;

	for (int i = 0; i < RCM_CARRY_BATCH; i++) {
		iovs[i] = (struct iovec){ room + (size_t)i * RCM_MESSAGE_MAX, RCM_MESSAGE_MAX };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &iovs[i], .msg_iovlen = 1 };
	}
	n = rcm_batch_receive(socket->fd, messages, RCM_CARRY_BATCH);
	for (int i = 0; i < n; i++)
		udp_take(socket, iovs[i].iov_base, messages[i].msg_len);
	return n;
}

/* Any message fits: they are written to as far as they are long, so that most of this room is never touched. */
static uint8_t *udp_room_of(struct rcm_carry *carry)
{
	if (!carry->received)
		carry->received = malloc((size_t)RCM_CARRY_BATCH * RCM_MESSAGE_MAX);
	return carry->received;
}

static void udp_flush_socket(struct rcm_udp_socket *socket);

static void udp_socket_ready(struct rcm_source *source, uint32_t events)
{
	struct rcm_udp_socket *socket = rcm_container(source, struct rcm_udp_socket, source);
	uint8_t *room = udp_room_of(socket->udp->carry);
	int n = RCM_CARRY_BATCH;

	socket->busy = true;
	if (events & ~(uint32_t)RCM_WRITABLE) {
		for (int i = 0; room && i < RECEIVES_A_TURN && n == RCM_CARRY_BATCH; i++)
			n = udp_receive(socket, room);
		if (!room || (n < 0 && n != -EAGAIN && n != -EINTR))
			udp_socket_fail(socket, room ? n : -ENOMEM);
	}
	if (events & RCM_WRITABLE)
		udp_flush_socket(socket);
	socket->busy = false;
	udp_socket_release(socket);
}

/* ---- Sending ---- */

/* The first n of those to be sent have been. */
static void udp_mark_sent(struct rcm_udp_socket *socket, int n)
{
	while (n--) {
		struct rcm_carried *carried = TAILQ_FIRST(&socket->unsent);

		TAILQ_REMOVE(&socket->unsent, carried, entry);
		carried->unsent = false;
	}
}

/* How many were sent, or -errno. */
static int udp_send_packets(struct rcm_udp_socket *socket)
{
	struct rcm_packets packets;
	struct rcm_carried *carried;
	unsigned count = 0;

	rcm_packets_begin(&packets, socket->shares);
	TAILQ_FOREACH(carried, &socket->unsent, entry) {
		rcm_packets_add(&packets, carried->ops->write(carried, rcm_packets_room(&packets)));
		if (++count == RCM_CARRY_BATCH)
			break;
	}
	return rcm_packets_send(&packets, socket->fd);
}

static bool udp_is_for_later(int ret)
{
	return ret == -EAGAIN || ret == -EINTR;
}

/* What the kernel doesn't take in shared packets (EIO: they are encrypted on their way), it may take one by one. */
static int udp_send_batch(struct rcm_udp_socket *socket)
{
	int ret = udp_send_packets(socket);

	if (ret >= 0 || !socket->shares || udp_is_for_later(ret))
		return ret;
	socket->shares = false;
	return udp_send_packets(socket);
}

static void udp_watch(struct rcm_udp_socket *socket)
{
	uint32_t events = RCM_READABLE | (TAILQ_EMPTY(&socket->unsent) ? 0U : RCM_WRITABLE);
	int ret = rcm_source_change(&socket->source, events);

	if (ret)
		rcm_error("dns: can't watch a socket: %s", strerror(-ret));
}

/* What can't go out now waits until it can. */
static void udp_flush_socket(struct rcm_udp_socket *socket)
{
	bool busy = socket->busy;
	int n = 0;

	socket->busy = true;
	while (!TAILQ_EMPTY(&socket->unsent)) {
		n = udp_send_batch(socket);
		if (n < 0)
			break;
		udp_mark_sent(socket, n);
	}
	if (n < 0 && !udp_is_for_later(n))
		udp_socket_fail(socket, n);
	udp_watch(socket);
	socket->busy = busy;
	udp_socket_release(socket);
}

static bool udp_socket_hold(struct rcm_udp_socket *socket)
{
	bool busy = socket->busy;

	socket->busy = true;
	return busy;
}

/* A question that fails may have others taken back, and their sockets freed: the one that leads on is held. */
void rcm_udp_flush(struct rcm_udp *udp)
{
	struct rcm_udp_socket *socket, *next;

	rcm_timer_stop(udp->carry->loop, &udp->flush);
	for (socket = TAILQ_FIRST(&udp->sockets); socket; socket = next) {
		bool busy = udp_socket_hold(socket);

		if (!TAILQ_EMPTY(&socket->unsent) && !(socket->source.events & RCM_WRITABLE))
			udp_flush_socket(socket);
		next = TAILQ_NEXT(socket, entry);
		socket->busy = busy;
		udp_socket_release(socket);
	}
}

static void udp_flush_due(struct rcm_timer *timer)
{
	rcm_udp_flush(rcm_container(timer, struct rcm_udp, flush));
}

/* ---- Sockets ---- */

/* 0 or -errno; the new one is the current one. */
static int udp_socket_open(struct rcm_udp *udp)
{
	struct rcm_udp_socket *socket = calloc(1, sizeof(*socket)), *before = udp->current;
	int ret;

	if (!socket)
		return -ENOMEM;
	socket->udp = udp;
	socket->opened_at = udp->carry->loop->now;
	TAILQ_INIT(&socket->unsent);
	TAILQ_INSERT_TAIL(&udp->sockets, socket, entry);
	udp->sockets_count++;
	socket->fd = rcm_carry_connect(&udp->address, SOCK_DGRAM);
	ret = socket->fd < 0 ? socket->fd :
	      rcm_source_add(udp->carry->loop, &socket->source, socket->fd, RCM_READABLE, udp_socket_ready);
	if (ret) {
		udp_socket_free(socket);
		return ret;
	}
	socket->shares = rcm_packets_may_share(socket->fd, &udp->address);
	udp->current = socket;
	if (before)
		udp_socket_release(before);
	if (udp->idle.state == RCM_TIMER_IDLE)
		rcm_timer_start(udp->carry->loop, &udp->idle,
				udp->carry->loop->now + RCM_DNS_IDLE_MS * RCM_NS_PER_MS, udp_idle_over);
	return 0;
}

static bool udp_is_used_up(const struct rcm_udp_socket *socket)
{
	return socket->asked >= RCM_DNS_SOCKET_QUESTIONS ||
	       socket->udp->carry->loop->now - socket->opened_at >= PORT_KEPT;
}

/* Where all sockets are taken up by silent questions, those there are have to do. */
static int udp_choose_socket(struct rcm_udp *udp, const void *other_than)
{
	struct rcm_udp_socket *current = udp->current;
	int ret;

	if (current && current != other_than && !udp_is_used_up(current))
		return 0;
	if (udp->sockets_count < RCM_DNS_SOCKETS) {
		ret = udp_socket_open(udp);
		return ret && !current ? ret : 0;
	}
	if (!current || current == other_than || current->asked >= RCM_DNS_SOCKET_QUESTIONS) {
		udp->current = TAILQ_FIRST(&udp->sockets);
		udp->current->asked = 0;
		TAILQ_REMOVE(&udp->sockets, udp->current, entry);
		TAILQ_INSERT_TAIL(&udp->sockets, udp->current, entry);
		if (current)
			udp_socket_release(current);
	}
	return 0;
}

int rcm_udp_put(struct rcm_udp *udp, struct rcm_carried *carried, const void *other_than)
{
	int ret = udp_choose_socket(udp, other_than);

	if (!ret)
		ret = rcm_carried_register(udp->carry, &udp->current->out, carried);
	if (ret)
		return ret;
	carried->by = udp->current;
	carried->unsent = true;
	TAILQ_INSERT_TAIL(&udp->current->unsent, carried, entry);
	udp->current->asked++;
	udp->used_at = udp->carry->loop->now;
	if (udp->flush.state == RCM_TIMER_IDLE)
		rcm_timer_start(udp->carry->loop, &udp->flush, 0, udp_flush_due);
	return 0;
}

void rcm_udp_take_back(struct rcm_carried *carried)
{
	struct rcm_udp_socket *socket = carried->by;

	udp_put_down(carried);
	udp_socket_release(socket);
}

void rcm_udp_done(struct rcm_udp *udp)
{
	struct rcm_udp_socket *socket;

	while ((socket = TAILQ_FIRST(&udp->sockets))) {
		while (socket->out)
			udp_put_down(socket->out);
		udp_socket_free(socket);
	}
	rcm_timer_stop(udp->carry->loop, &udp->idle);
	rcm_timer_stop(udp->carry->loop, &udp->flush);
}
