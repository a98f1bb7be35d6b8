/* SPDX-License-Identifier: BSD-2-Clause */
/* The one attachment of this process to ibsim, through umad2sim, shared by all its umad ports. */
#include "sim_wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_port.h"
#include "sim_rmpp.h"

/* How often the reader looks for timed-out requests and for the end of the process. */
enum { TICK_MS = 10 };

static struct {
	int (*open_port)(const char *ca, int portnum);
	int (*close_port)(int fd);
	int (*register_agent)(int fd, int mgmt_class, int version, uint8_t rmpp, long *mask);
	int (*send)(int fd, int agent, void *umad, int len, int timeout_ms, int retries);
	int (*recv)(int fd, void *umad, int *len, int timeout_ms);
} next;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sim_fd = -1;
static int sim_agents[256]; /* the agent for each class, plus one; 0 is none */
static pthread_t reader;
static pid_t owner;
static atomic_bool stopping;

static void look_up(void)
{
	next.open_port = (__typeof__(next.open_port))dlsym(RTLD_NEXT, "umad_open_port");
	next.close_port = (__typeof__(next.close_port))dlsym(RTLD_NEXT, "umad_close_port");
	next.register_agent = (__typeof__(next.register_agent))dlsym(RTLD_NEXT, "umad_register");
	next.send = (__typeof__(next.send))dlsym(RTLD_NEXT, "umad_send");
	next.recv = (__typeof__(next.recv))dlsym(RTLD_NEXT, "umad_recv");
}

static void resend(const void *umad, size_t len)
{
	rcm_sim_wire_send(umad, len);
}

static void *read_all(void *arg)
{
	uint8_t umad[sizeof(struct ib_user_mad) + RCM_SIM_MAD];
	int len, rc;

	(void)arg;
	while (!atomic_load(&stopping)) {
		/* As in the kernel, what is shorter arrives as a whole MAD. */
		memset(umad, 0, sizeof(umad));
		len = RCM_SIM_MAD;
		rc = next.recv(sim_fd, umad, &len, TICK_MS);
		if (rc >= 0)
			rcm_sim_port_deliver((struct ib_user_mad *)umad, RCM_SIM_MAD);
		rcm_sim_port_expire(resend);
	}
	return NULL;
}

/*
 * umad2sim frees its queues in an exit handler of its own, registered before this one and so run
 * after it: the reader must be gone by then. A forked child has no reader and no attachment of its
 * own; it must not run umad2sim's handler, which would wait for a thread that isn't there.
 */
static void stop_reader(int status, void *arg)
{
	(void)arg;
	if (getpid() != owner) {
		fflush(NULL);
		_exit(status);
	}
	atomic_store(&stopping, true);
	pthread_join(reader, NULL);
	/*
	 * umad2sim's handler waits for its receiver with its lock held, for which that thread waits where a packet comes
	 * just then: what was asked for last is given the time to come before.
	 */
	usleep(20000);
}

static int start_reader(void)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&reader, NULL, read_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return -rc;
	owner = getpid();
	on_exit(stop_reader, NULL);
	return 0;
}

int rcm_sim_wire_open(const char *ca, int portnum)
{
	int fd, rc = 0;

	pthread_once(&once, look_up);
	pthread_mutex_lock(&lock);
	fd = next.open_port(ca, portnum);
	if (fd < 0) {
		rc = fd;
	} else if (sim_fd >= 0) {
		next.close_port(fd);
	} else {
		sim_fd = fd;
		rc = start_reader();
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int rcm_sim_wire_listen(uint8_t mgmt_class, uint8_t class_version)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!sim_agents[mgmt_class]) {
		rc = next.register_agent(sim_fd, mgmt_class, class_version, 0, NULL);
		if (rc >= 0)
			sim_agents[mgmt_class] = rc + 1;
	}
	pthread_mutex_unlock(&lock);
	return rc < 0 ? rc : 0;
}

int rcm_sim_wire_send(const void *umad, size_t len)
{
	uint8_t one[sizeof(struct ib_user_mad) + RCM_SIM_MAD] = { 0 };
	const uint8_t *mad = umad_get_mad((void *)(uintptr_t)umad);
	bool answer = mad[1] == RCM_SIM_SA_CLASS && (mad[3] & RCM_SIM_RESPONSE);
	unsigned int n = answer ? rcm_sim_segments(len) : 1;
	int agent, rc = 0;

	pthread_mutex_lock(&lock);
	agent = sim_agents[mad[1]] - 1;
	/* One agent sends both kinds of SMP: by directed route (0x81) and by LID (0x01). */
	if (agent < 0)
		agent = sim_agents[mad[1] ^ 0x80] - 1;
	pthread_mutex_unlock(&lock);
	if (agent < 0)
		return -EINVAL;
	memcpy(one, umad, umad_size());
	if (n == 1) {
		len = len < RCM_SIM_MAD ? len : RCM_SIM_MAD;
		memcpy(umad_get_mad(one), mad, len);
		return next.send(sim_fd, agent, one, RCM_SIM_CARRIED, 0, 0);
	}
	for (unsigned int i = 1; i <= n && !rc; i++) {
		rcm_sim_cut(mad, len, i, umad_get_mad(one));
		rc = next.send(sim_fd, agent, one, RCM_SIM_CARRIED, 0, 0);
	}
	return rc;
}
