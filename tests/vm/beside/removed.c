/* SPDX-License-Identifier: BSD-2-Clause */
/* A device of the case's own, that is removed while ids live on it. */
#include "beside.h"

#include <sys/wait.h>

enum { LEAVE = 1000 / IDLE_MS, GIDS = 8 };

static pid_t device_shell(const char *format)
{
	unsigned int pid = (unsigned int)getpid();
	char command[512];
	pid_t child;

	/* Its names and its address are those of no other process. */
	snprintf(command, sizeof(command), format, pid, pid >> 8 & 0xff, pid & 0xff);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return child;
}

static bool device_has_gid(const char *gid)
{
	char path[96], said[64] = "";
	FILE *file;

	for (int i = 0; i < GIDS; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/rxb%u/ports/1/gids/%d", (unsigned int)getpid(), i);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(said, sizeof(said), file))
			said[0] = '\0';
		fclose(file);
		if (strstr(said, gid))
			return true;
	}
	return false;
}

void device_own(struct world *w)
{
	unsigned int pid = (unsigned int)getpid();
	int status;
	char gid[16];
	pid_t shell = device_shell("printf 'link add rxb%1$u type dummy\naddr add 10.66.%2$u.%3$u/32 dev rxb%1$u\n"
				   "link set rxb%1$u up\n' | ip -batch - && exec rdma link add rxb%1$u type rxe"
				   " netdev rxb%1$u");

	CHECK_EQ(waitpid(shell, &status, 0), shell);
	CHECK_EQ(status, 0);
	/* Its address's GID is there a little later. */
	snprintf(gid, sizeof(gid), "0a42:%02x%02x", pid >> 8 & 0xff, pid & 0xff);
	while (!device_has_gid(gid))
		usleep(5000);
	snprintf(w->gone, sizeof(w->gone), "10.66.%u.%u", pid >> 8 & 0xff, pid & 0xff);
	w->address = w->gone;
}

void device_remove(struct world *w)
{
	/* It holds nothing of the case's, which it may outlive. */
	w->removal = device_shell("exec 2> /dev/null; rdma link del rxb%1$u; ip link del rxb%1$u");
	w->address = vm_address();
}

void device_left(struct rdma_cm_id *id)
{
	uint8_t tos = 0;

	/* The kernel closes the id on a thread of its own, and answers so from then on. */
	while (!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) || errno != ENXIO)
		usleep(5000);
}

void device_end(struct world *w)
{
	unsigned int since = idle_moments();
	int status;

	if (!w->removal)
		return;
	while (waitpid(w->removal, &status, WNOHANG) != w->removal) {
		if (idle_moments() - since > LEAVE) {
			text_add(&w->result, "end.device=held");
			return;
		}
		usleep(5000);
	}
	text_add(&w->result, "end.device=gone");
}

void removals_take(struct rdma_event_channel *channel, int count)
{
	while (count > 0) {
		struct rdma_cm_event *event = vm_next(channel);

		count -= event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
		TRY(rdma_ack_cm_event(event));
	}
}
