/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

static int waiting;

struct rdma_event_channel *names_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		err(3, "rdma_create_event_channel");
	if (fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK))
		err(3, "fcntl");
	return channel;
}

int names_start(struct rdma_event_channel *channel, int count, char **names)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_cm_id *id;

	for (int i = 0; i < count; i++) {
		if (rdma_create_id(channel, &id, names[i], RDMA_PS_TCP))	/* the name is the id's context */
			err(3, "rdma_create_id");
		if (rdma_resolve_addrinfo(id, names[i], "7471", &hints)) {	/* no event follows */
			printf("%s: %s\n", names[i], strerror(errno));
			rdma_destroy_id(id);
			continue;
		}
		waiting++;
	}
	return waiting;
}

static void addresses_print(struct rdma_cm_id *id)
{
	const struct sockaddr *address;
	struct rdma_addrinfo *list;
	char text[INET6_ADDRSTRLEN];
	const void *bytes;

	if (rdma_query_addrinfo(id, &list))
		err(3, "rdma_query_addrinfo");
	printf("%s:", (const char *)id->context);
	for (const struct rdma_addrinfo *a = list; a; a = a->ai_next) {
		address = a->ai_dst_addr;
		bytes = address->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr :
			(const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
		printf(" %s", inet_ntop(address->sa_family, bytes, text, sizeof(text)));
	}
	putchar('\n');
	rdma_freeaddrinfo(list);
}

int names_take(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char text[256];

	while (rdma_get_cm_event(channel, &event) == 0) {
		id = event->id;
		if (event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED)
			addresses_print(id);
		else if (rai_event_text(event, text, sizeof(text)) > 0)
			printf("%s: %s\n", (const char *)id->context, text);
		rdma_ack_cm_event(event);	/* before the id is destroyed, which waits for it */
		rdma_destroy_id(id);
		waiting--;
	}
	if (errno != EAGAIN)
		err(3, "rdma_get_cm_event");
	return waiting;
}
