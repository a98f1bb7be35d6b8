/* SPDX-License-Identifier: BSD-2-Clause */
/* SA resolutions a second through the library, from call to event, beside a bare loop of umad_send() and umad_recv(). */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <time.h>

#include "sa_peer.h"

enum { IDS = 16 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *ids[IDS];

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

/* Each id asks for a service id of its own, so that no two questions are equal and shared. */
static void ask(struct rdma_cm_id *id)
{
	static const struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_NOROUTE };

	if (rdma_resolve_addrinfo(id, NULL, id->context, &hints))
		sa_die("a resolution was refused");
}

static void open_ids(void)
{
	static char services[IDS][16];
	struct sockaddr_ib own = { .sib_family = AF_IB };

	channel = rdma_create_event_channel();
	if (!channel || inet_pton(AF_INET6, "fe80::10:3", &own.sib_addr) != 1)
		sa_die("no channel");
	for (unsigned i = 0; i < IDS; i++) {
		snprintf(services[i], sizeof(services[i]), "%u", SA_PEER_ID + i);
		if (rdma_create_id(channel, &ids[i], services[i], RDMA_PS_IB) ||
		    rdma_bind_addr(ids[i], (struct sockaddr *)&own))
			sa_die("no id");
	}
}

static double ours_per_second(unsigned window)
{
	unsigned long long start = now(), count = 0;
	unsigned under_way;

	for (under_way = 0; under_way < window; under_way++)
		ask(ids[under_way]);
	while (under_way) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *id;

		if (rdma_get_cm_event(channel, &event) || event->status)
			sa_die("a resolution failed");
		id = event->id;
		rdma_ack_cm_event(event);
		count++;
		under_way--;
		if (now() - start < SA_ROUND_NS) {
			ask(id);
			under_way++;
		}
	}
	return (double)count * 1e9 / (double)(now() - start);
}

int main(void)
{
	sa_peer_start();
	open_ids();
	sa_compare("SA resolutions, 1 outstanding", 1, ours_per_second, NULL);
	sa_compare("SA resolutions, 16 outstanding", IDS, ours_per_second, NULL);
	for (unsigned i = 0; i < IDS; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(channel);
	sa_peer_stop();
	return 0;
}
