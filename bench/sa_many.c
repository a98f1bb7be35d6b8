/* SPDX-License-Identifier: BSD-2-Clause */
/* A service of 1,700 hosts: its records and a route to each through the library, beside a bare loop's two tables. */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sa_peer.h"

enum { HOSTS = 1700, ID = 0x5000 };

static struct rdma_cm_id *open_id(struct rdma_event_channel *channel)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id;

	if (!channel || inet_pton(AF_INET6, "fe80::10:3", &own.sib_addr) != 1 ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_IB) || rdma_bind_addr(id, (struct sockaddr *)&own))
		sa_die("no id");
	return id;
}

static unsigned count_routes(const struct rdma_addrinfo *list)
{
	unsigned count = 0;

	for (; list; list = list->ai_next)
		count += list->ai_route_len > 0;
	return count;
}

static double ours_ms(struct rdma_cm_id *id)
{
	static const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct timespec start, end;
	struct rdma_cm_event *event;
	struct rdma_addrinfo *list;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (rdma_resolve_addrinfo(id, NULL, "farm", &hints) || rdma_get_cm_event(id->channel, &event) || event->status)
		sa_die("a resolution failed");
	rdma_ack_cm_event(event);
	if (rdma_query_addrinfo(id, &list))
		sa_die("no list");
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (count_routes(list) != HOSTS)
		sa_die("routes are missing");
	rdma_freeaddrinfo(list);
	return (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
}

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	double ours[SA_ROUNDS], bare[SA_ROUNDS], ratio[SA_ROUNDS];
	struct rdma_cm_id *id = open_id(channel);

	sa_peer_start();
	if (system("\"$RAI_FABRIC\" on hca2 \"$RAI_FABRIC_PARTS/records\" -n farm -i 0x5000 -g fe80::10:1 -c 1700 -s 2"))
		sa_die("no service could be registered");
	for (unsigned i = 0; i < SA_ROUNDS; i++) {
		ours[i] = ours_ms(id);
		bare[i] = sa_peer_tables_ms("farm", ID, HOSTS);
		ratio[i] = ours[i] / bare[i];
	}
	printf("{\"name\": \"SA name with 1,700 hosts, and their routes\", \"value\": %.1f, \"unit\": \"ms\", "
	       "\"peer\": \"bare umad loop, two tables\", \"peer_value\": %.1f, \"ratio\": %.3f, "
	       "\"aim\": \"<= 1.5\"}\n",
	       sa_median(ours, SA_ROUNDS), sa_median(bare, SA_ROUNDS), sa_median(ratio, SA_ROUNDS));
	sa_peer_stop();
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
