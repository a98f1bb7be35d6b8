/* SPDX-License-Identifier: BSD-2-Clause */
/* The one attachment of this process to ibsim, through umad2sim, shared by all its umad ports. */
#include "sim_wire.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim_port.h"
#include "sim_rmpp.h"
#include "sim_sysfs.h"

/* How often the reader looks for timed-out requests and for the end of the process. */
enum { TICK_MS = 10 };

/* ibsim's packet: where the source is, the status, and the MAD. */
enum { PACKET_SLID = 4, PACKET_SQP = 12, PACKET_STATUS = 16, PACKET_MAD = 32, PACKET_LEN = PACKET_MAD + RCM_SIM_MAD };

/* umad2sim's attachment begins with this. */
struct sim_client {
	int id, in, out, ctl;
};

static struct {
	int (*attach)(struct sim_client *client);
	int (*open_port)(const char *ca, int portnum);
	int (*close_port)(int fd);
	int (*register_agent)(int fd, int mgmt_class, int version, uint8_t rmpp, long *mask);
	int (*send)(int fd, int agent, void *umad, int len, int timeout_ms, int retries);
} next;

static pthread_once_t looked_up = PTHREAD_ONCE_INIT, seen_off = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sim_fd = -1, packets = -1;
static int sim_agents[256]; /* the agent for each class, plus one; 0 is none */
static pthread_t reader;
static pid_t owner;
static atomic_bool attached, stopping;

static void look_up(void)
{
	next.attach = (__typeof__(next.attach))dlsym(RTLD_NEXT, "sim_client_init");
	next.open_port = (__typeof__(next.open_port))dlsym(RTLD_NEXT, "umad_open_port");
	next.close_port = (__typeof__(next.close_port))dlsym(RTLD_NEXT, "umad_close_port");
	next.register_agent = (__typeof__(next.register_agent))dlsym(RTLD_NEXT, "umad_register");
	next.send = (__typeof__(next.send))dlsym(RTLD_NEXT, "umad_send");
}

static void resend(const void *umad, size_t len)
{
	rcm_sim_wire_send(umad, len);
}

static void deliver(const uint8_t packet[PACKET_LEN])
{
	_Alignas(struct ib_user_mad) uint8_t umad[sizeof(struct ib_user_mad) + RCM_SIM_MAD] = { 0 };
	struct ib_user_mad *head = (struct ib_user_mad *)umad;
	uint32_t status, slid;

	memcpy(&status, packet + PACKET_STATUS, sizeof(status));
	memcpy(&slid, packet + PACKET_SLID, sizeof(slid));
	memcpy(&head->addr.qpn, packet + PACKET_SQP, sizeof(head->addr.qpn));
	head->status = ntohl(status);
	head->addr.lid = (uint16_t)slid;
	head->length = (uint32_t)umad_size() + RCM_SIM_MAD;
	memcpy(umad_get_mad(umad), packet + PACKET_MAD, RCM_SIM_MAD);
	rcm_sim_port_deliver(head, RCM_SIM_MAD);
}

static void *read_all(void *arg)
{
	uint8_t packet[PACKET_LEN];

	(void)arg;
	while (!atomic_load(&stopping)) {
		if (recv(packets, packet, sizeof(packet), 0) == sizeof(packet))
			deliver(packet);
		rcm_sim_port_expire(resend);
	}
	return NULL;
}

static int start_reader(void)
{
	struct timeval tick = { .tv_usec = TICK_MS * 1000L };
	sigset_t all, before;
	int rc;

	if (setsockopt(packets, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick)))
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&reader, NULL, read_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

/*
 * umad2sim attaches by this. Its exit handler joins its receiver with the lock held that the receiver takes for each
 * packet, and a packet that comes before a port is open ends in a null pointer there: the receiver gets a descriptor on
 * which nothing ever comes, and packets are read here.
 */
EXPORT int sim_client_init(struct sim_client *client)
{
	int rc, nothing;

	pthread_once(&looked_up, look_up);
	rc = next.attach(client);
	if (rc < 0)
		return rc;
	nothing = eventfd(0, EFD_CLOEXEC);
	if (nothing < 0)
		return -1;
	packets = client->in;
	client->in = nothing;
	owner = getpid();
	if (start_reader())
		return -1;
	atomic_store(&attached, true);
	return rc;
}

/*
 * Runs before umad2sim's handler, after which nothing may be sent. A forked child has no reader and no attachment of its
 * own; it must not run that handler, which would wait for a thread that isn't there.
 */
static void stop_reader(int status, void *arg)
{
	(void)arg;
	if (getpid() != owner) {
		fflush(NULL);
		_exit(status);
	}
	rcm_sim_sysfs_give_up();
	atomic_store(&stopping, true);
	pthread_join(reader, NULL);
}

static void see_off(void)
{
	on_exit(stop_reader, NULL);
}

void rcm_sim_wire_see_off(void)
{
	if (atomic_load(&attached))
		pthread_once(&seen_off, see_off);
}

int rcm_sim_wire_open(const char *ca, int portnum)
{
	int fd, rc = 0;

	pthread_once(&looked_up, look_up);
	pthread_mutex_lock(&lock);
	fd = next.open_port(ca, portnum);
	if (fd < 0)
		rc = fd;
	else if (sim_fd >= 0 || !atomic_load(&attached))
		next.close_port(fd);
	else
		sim_fd = fd;
	if (!rc && sim_fd < 0)
		rc = -ENOSYS; /* an umad2sim that doesn't attach by sim_client_init() */
	pthread_mutex_unlock(&lock);
	rcm_sim_wire_see_off();
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

/* A simulator that has ended doesn't come back to this process, and umad2sim prints each write that fails. */
static int wire_write(int agent, void *umad)
{
	static atomic_bool over;
	int rc = atomic_load(&over) ? -ENOTCONN : next.send(sim_fd, agent, umad, RCM_SIM_MAD, 0, 0);

	if (rc < 0)
		atomic_store(&over, true);
	return rc;
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
		/* As by the kernel, what is shorter is sent as a whole MAD. */
		len = len < RCM_SIM_MAD ? len : RCM_SIM_MAD;
		memcpy(umad_get_mad(one), mad, len);
		return wire_write(agent, one);
	}
	for (unsigned int i = 1; i <= n && !rc; i++) {
		rcm_sim_cut(mad, len, i, umad_get_mad(one));
		rc = wire_write(agent, one);
	}
	return rc;
}
