/* SPDX-License-Identifier: BSD-2-Clause */
/* A service that lives: publishes a name at its host's port until it is ended, or killed. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric.h"

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* Says so in a file of that name once it is registered: its process. */
static int say_registered(const char *path)
{
	char part[300];
	FILE *file;

	snprintf(part, sizeof(part), "%s.part", path);
	file = fopen(part, "w");
	if (!file)
		return -1;
	fprintf(file, "%d\n", getpid());
	fclose(file);
	return rename(part, path);
}

static int bind_to_port(struct rdma_cm_id *id, unsigned host)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB };

	rcm_fabric_gid(host, ib.sib_addr.sib_raw);
	return rdma_bind_addr(id, (struct sockaddr *)&ib);
}

/* usage: publish HOST NAME LEASE FILE */
int main(int argc, char **argv)
{
	struct rai_service service = { .name = argc > 2 ? argv[2] : NULL };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	uint64_t registration;

	if (argc != 5 || !channel || rdma_create_id(channel, &id, NULL, RDMA_PS_IB))
		return 2;
	signal(SIGTERM, end);
	alarm(120);		/* a test that fails leaves it behind */
	service.lease_s = (uint32_t)atoi(argv[3]);
	if (bind_to_port(id, (unsigned)atoi(argv[1])) || rai_service_register(id, &service, &registration)) {
		perror("publish");
		return 2;
	}
	while (!ended && !rdma_get_cm_event(channel, &event)) {
		if (event->event == RAI_EVENT_SERVICE && !event->status)
			say_registered(argv[4]);
		rdma_ack_cm_event(event);
	}
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
