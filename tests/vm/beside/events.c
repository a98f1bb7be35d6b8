/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes to both ends, noted as it is taken, and what the other end answers. */
#include "beside.h"

enum { TURN_MS = 20 };

/* What the other end does: it accepts what is asked of it. */
static void peer_answers(struct world *w, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = vm_param("accepted", 8);

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == w->listener && w->listener != w->id &&
	    !w->peer) {
		w->peer = event->id;
		w->peer->context = &w->peer_context;
		if (!w->peer_accepts)
			return;
		world_qp(w->peer);
		if (rdma_accept(w->peer, &param))
			text_add(&w->theirs, "accept=%s", show_errno(errno));
	}
	/* It answers, so that the one that disconnected need not wait for its time to run out. */
	if (event->event == RDMA_CM_EVENT_DISCONNECTED && event->id == w->peer)
		rdma_disconnect(w->peer);
	if (event->event == RDMA_CM_EVENT_ESTABLISHED && event->id == w->peer)
		atomic_store(&w->peer_established, true);
}

bool events_take(struct world *w, struct rdma_event_channel *channel)
{
	bool theirs = channel == w->peer_channel;
	struct pollfd due = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	char prefix[16];

	/* The kernel's descriptor may be readable for what is not for us: the library then would wait. */
	fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	if (poll(&due, 1, 0) != 1 || rdma_get_cm_event(channel, &event))
		return false;
	/* When the kernel is done with a connection that has ended is a matter of seconds, and of the load. */
	if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		snprintf(prefix, sizeof(prefix), "%c%u", theirs ? 'p' : 'e',
			 theirs ? ++w->their_events : ++w->own_events);
		show_event(theirs ? &w->theirs : &w->own, prefix, w, event);
	}
	if (theirs)
		peer_answers(w, event);
	else if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		w->fresh = event->id;
	if (rdma_ack_cm_event(event))
		text_add(&w->own, "ack=%s", show_errno(errno));
	return true;
}

void events_settle(struct world *w, int quiet_ms)
{
	struct pollfd due[3];
	struct rdma_event_channel *channels[3];
	nfds_t count = 0;

	if (w->channel)
		channels[count++] = w->channel;
	if (w->other_channel)
		channels[count++] = w->other_channel;
	if (w->peer_channel && !w->has_thread)
		channels[count++] = w->peer_channel;
	for (nfds_t i = 0; i < count; i++)
		due[i] = (struct pollfd){.fd = channels[i]->fd, .events = POLLIN};
	while (w->own_events + w->their_events < EVENTS_MAX && poll(due, count, quiet_ms) > 0) {
		bool any = false;

		for (nfds_t i = 0; i < count; i++)
			any |= due[i].revents && events_take(w, channels[i]);
		if (!any)
			usleep(1000);
	}
}

static void *events_peer_thread(void *arg)
{
	struct world *w = arg;
	struct pollfd due = {.fd = w->peer_channel->fd, .events = POLLIN};

	while (!atomic_load(&w->peer_stop)) {
		if (poll(&due, 1, TURN_MS) == 1)
			events_take(w, w->peer_channel);
	}
	return NULL;
}

void events_serve_peer(struct world *w)
{
	CHECK_EQ(pthread_create(&w->peer_thread, NULL, events_peer_thread, w), 0);
	w->has_thread = true;
}

void events_stop_peer(struct world *w)
{
	if (!w->has_thread)
		return;
	atomic_store(&w->peer_stop, true);
	pthread_join(w->peer_thread, NULL);
	w->has_thread = false;
}
