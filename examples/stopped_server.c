/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for a name while its name server is stopped, and takes events of another id meanwhile.
 *
 * usage: stopped_server NAME: prints how long the call took, and what arrived until the deadline of half a second.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <rdma/rai.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct rdma_cm_id *make_id(struct rdma_event_channel *channel, const char *name)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, (void *)name, RDMA_PS_TCP))
		err(3, "rdma_create_id");
	return id;
}

/* Waits for an event, prints it, and returns its status; 1 for an event of the application. */
static int take(struct rdma_event_channel *channel, double start)
{
	struct rdma_cm_event *event;
	char text[256];
	int status;

	if (rdma_get_cm_event(channel, &event))
		err(3, "rdma_get_cm_event");
	rai_event_text(event, text, sizeof(text));
	printf("%9.1f us  %s of the %s id: %s\n", now_us() - start, rdma_event_str(event->event),
	       (const char *)event->id->context, event->event == RDMA_CM_EVENT_USER ? "hello" : text);
	status = event->event == RDMA_CM_EVENT_USER ? 1 : event->status;
	rdma_ack_cm_event(event);
	return status;
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *asking, *other;
	uint32_t deadline_ms = 500;
	double start, took;
	int first, second;

	if (argc != 2)
		errx(2, "usage: stopped_server NAME");
	setenv("RAI_DEVICELESS", "1", 0);
	channel = rdma_create_event_channel();
	if (!channel)
		err(3, "rdma_create_event_channel");
	asking = make_id(channel, "asking");
	other = make_id(channel, "other");
	if (rdma_set_option(asking, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &deadline_ms, sizeof(deadline_ms)))
		err(3, "rdma_set_option");
	/* The first call starts the library's thread; a number asks nobody. */
	if (rdma_resolve_addrinfo(other, "192.0.2.1", NULL, NULL))
		err(3, "rdma_resolve_addrinfo");
	take(channel, now_us());

	start = now_us();
	if (rdma_resolve_addrinfo(asking, argv[1], NULL, NULL))
		err(3, "rdma_resolve_addrinfo");
	took = now_us() - start;
	printf("%9.1f us  rdma_resolve_addrinfo() has returned\n", took);
	if (rdma_write_cm_event(other, RDMA_CM_EVENT_USER, 0, 0))
		err(3, "rdma_write_cm_event");
	first = take(channel, start);
	second = take(channel, start);

	rdma_destroy_id(asking);
	rdma_destroy_id(other);
	rdma_destroy_event_channel(channel);
	return first == 1 && second == -ETIMEDOUT ? 0 : 1;
}
