/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for 200 names while the name server is stopped, and takes events of another id meanwhile.
 *
 * usage: stopped_server DOMAIN: prints how long the calls took, and what arrived until the deadline of half a second.
 */
#include <err.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMES = 200, DEADLINE_MS = 500 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct rdma_cm_id *make_id(struct rdma_event_channel *channel)
{
	uint32_t deadline_ms = DEADLINE_MS;
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &deadline_ms, sizeof(deadline_ms)))
		err(3, "making an id");
	return id;
}

/* Starts a resolution, and returns the microseconds that the call took. */
static double start(struct rdma_cm_id *id, const char *node)
{
	double before = now_us();

	if (rdma_resolve_addrinfo(id, node, NULL, NULL))
		err(3, "rdma_resolve_addrinfo");
	return now_us() - before;
}

/* Waits for the next event and returns its status. */
static int take(struct rdma_event_channel *channel, enum rdma_cm_event_type *ret_type)
{
	struct rdma_cm_event *event;
	int status;

	if (rdma_get_cm_event(channel, &event))
		err(3, "rdma_get_cm_event");
	status = event->status;
	*ret_type = event->event;
	rdma_ack_cm_event(event);
	return status;
}

static void start_all(struct rdma_cm_id *ids[NAMES], const char *domain)
{
	double took[NAMES];
	char name[300];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%d.%s", i, domain);
		took[i] = start(ids[i], name);
	}
	qsort(took, NAMES, sizeof(took[0]), compare);
	printf("%d calls of rdma_resolve_addrinfo() returned: median %.1f us, slowest %.1f us\n", NAMES,
	       took[NAMES / 2], took[NAMES - 1]);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *ids[NAMES], *other;
	enum rdma_cm_event_type type;
	double begin;
	int status, same = 0;

	if (argc != 2)
		errx(2, "usage: stopped_server DOMAIN");
	setenv("RAI_DEVICELESS", "1", 0);
	channel = rdma_create_event_channel();
	if (!channel)
		err(3, "rdma_create_event_channel");
	other = make_id(channel);
	for (int i = 0; i < NAMES; i++)
		ids[i] = make_id(channel);
	/* The first resolution starts the library's thread; a number asks nobody. */
	start(other, "192.0.2.1");
	take(channel, &type);

	begin = now_us();
	start_all(ids, argv[1]);
	if (rdma_write_cm_event(other, RDMA_CM_EVENT_USER, 0, 0))
		err(3, "rdma_write_cm_event");
	take(channel, &type);
	printf("after %.1f ms: %s of the other id\n", (now_us() - begin) / 1e3, rdma_event_str(type));
	status = take(channel, &type);
	for (same = 1; same < NAMES && take(channel, &type) == status; same++)
		;
	printf("after %.1f ms: %d times %s, %s\n", (now_us() - begin) / 1e3, same, rdma_event_str(type),
	       strerror(-status));

	for (int i = 0; i < NAMES; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_id(other);
	rdma_destroy_event_channel(channel);
	return same == NAMES ? 0 : 1;
}
