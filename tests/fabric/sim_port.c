/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel keeps per open umad descriptor: agents, received messages, unanswered requests. */
#include "sim_port.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "sim_rmpp.h"

enum { METHOD = 3, STATUS_LOW = 5, TID_LOW = 12, MAD_HEADER = 24, STATUS_BUSY = 1 };

struct msg {
	STAILQ_ENTRY(msg) link;
	int agent;
	size_t len; /* of the MAD, without the umad header */
	uint8_t umad[];
};

struct agent {
	bool used, unsolicited;
	uint8_t mgmt_class;
};

struct port {
	LIST_ENTRY(port) link;
	int fd;
	struct agent agents[RCM_SIM_AGENTS];
	STAILQ_HEAD(, msg) ready;
};

/* A request that waits for its answer. */
struct wait {
	LIST_ENTRY(wait) link;
	struct port *port;
	uint32_t wire_tid, user_tid;
	int agent, timeout_ms, retries;
	int64_t due_ms;
	struct rcm_sim_join join;
	uint8_t umad[sizeof(struct ib_user_mad) + RCM_SIM_MAD];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, port) ports = LIST_HEAD_INITIALIZER(ports);
static LIST_HEAD(, wait) waits = LIST_HEAD_INITIALIZER(waits);
static uint32_t last_wire_tid;
static struct {
	unsigned int lost, busy; /* percent */
	uint32_t random;
} faults;

int64_t rcm_sim_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint32_t tid_get(const uint8_t *mad)
{
	uint32_t v;

	memcpy(&v, mad + TID_LOW, sizeof(v));
	return be32toh(v);
}

static void tid_set(uint8_t *mad, uint32_t v)
{
	v = htobe32(v);
	memcpy(mad + TID_LOW, &v, sizeof(v));
}

static struct port *port_find_locked(int fd)
{
	struct port *p;

	LIST_FOREACH(p, &ports, link)
		if (p->fd == fd)
			return p;
	return NULL;
}

static struct wait *wait_find_locked(uint32_t wire_tid)
{
	struct wait *w;

	LIST_FOREACH(w, &waits, link)
		if (w->wire_tid == wire_tid)
			return w;
	return NULL;
}

static void wait_free_locked(struct wait *w)
{
	LIST_REMOVE(w, link);
	free(w->join.mad);
	free(w);
}

static void port_free_locked(struct port *p)
{
	struct wait *w, *next_wait;
	struct msg *m;

	for (w = LIST_FIRST(&waits); w; w = next_wait) {
		next_wait = LIST_NEXT(w, link);
		if (w->port == p)
			wait_free_locked(w);
	}
	while ((m = STAILQ_FIRST(&p->ready))) {
		STAILQ_REMOVE_HEAD(&p->ready, link);
		free(m);
	}
	LIST_REMOVE(p, link);
	free(p);
}

int rcm_sim_port_open(void)
{
	struct port *p = calloc(1, sizeof(*p)), *stale;

	if (!p)
		return -ENOMEM;
	STAILQ_INIT(&p->ready);
	p->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
	if (p->fd < 0) {
		free(p);
		return -errno;
	}
	pthread_mutex_lock(&lock);
	/* A port closed by plain close() leaves its number behind. */
	stale = port_find_locked(p->fd);
	if (stale)
		port_free_locked(stale);
	LIST_INSERT_HEAD(&ports, p, link);
	pthread_mutex_unlock(&lock);
	return p->fd;
}

int rcm_sim_port_close(int fd)
{
	struct port *p;

	pthread_mutex_lock(&lock);
	p = port_find_locked(fd);
	if (p)
		port_free_locked(p);
	pthread_mutex_unlock(&lock);
	if (!p)
		return -EINVAL;
	close(fd);
	return 0;
}

int rcm_sim_port_register(int fd, uint8_t mgmt_class, bool unsolicited)
{
	struct port *p;
	int rc = -EINVAL;

	pthread_mutex_lock(&lock);
	p = port_find_locked(fd);
	for (int i = 0; p && i < RCM_SIM_AGENTS; i++) {
		if (p->agents[i].used) {
			rc = -ENOMEM;
			continue;
		}
		p->agents[i] = (struct agent){ true, unsolicited, mgmt_class };
		rc = i;
		break;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static struct agent *agent_find_locked(int fd, int agent)
{
	struct port *p = port_find_locked(fd);

	if (!p || agent < 0 || agent >= RCM_SIM_AGENTS || !p->agents[agent].used)
		return NULL;
	return &p->agents[agent];
}

int rcm_sim_port_unregister(int fd, int agent)
{
	struct agent *a;

	pthread_mutex_lock(&lock);
	a = agent_find_locked(fd, agent);
	if (a)
		a->used = false;
	pthread_mutex_unlock(&lock);
	return a ? 0 : -EINVAL;
}

int rcm_sim_port_class(int fd, int agent)
{
	struct agent *a;
	int rc = -EINVAL;

	pthread_mutex_lock(&lock);
	a = agent_find_locked(fd, agent);
	if (a)
		rc = a->mgmt_class;
	pthread_mutex_unlock(&lock);
	return rc;
}

int rcm_sim_port_expect(int fd, int agent, void *umad, int timeout_ms, int retries,
			uint32_t *ret_wire_tid)
{
	struct wait *w = calloc(1, sizeof(*w));
	int rc = 0;

	if (!w)
		return -ENOMEM;
	w->agent = agent;
	w->timeout_ms = timeout_ms;
	w->retries = retries;
	w->due_ms = rcm_sim_now_ms() + timeout_ms;
	w->user_tid = tid_get(umad_get_mad(umad));
	pthread_mutex_lock(&lock);
	w->port = port_find_locked(fd);
	if (w->port) {
		w->wire_tid = ++last_wire_tid;
		tid_set(umad_get_mad(umad), w->wire_tid);
		memcpy(w->umad, umad, umad_size() + RCM_SIM_MAD);
		*ret_wire_tid = w->wire_tid;
		LIST_INSERT_HEAD(&waits, w, link);
	} else {
		free(w);
		rc = -EINVAL;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void rcm_sim_port_forget(uint32_t wire_tid)
{
	struct wait *w;

	pthread_mutex_lock(&lock);
	w = wait_find_locked(wire_tid);
	if (w)
		wait_free_locked(w);
	pthread_mutex_unlock(&lock);
}

static void push_locked(struct port *p, int agent, const struct ib_user_mad *head,
			const uint8_t *mad, size_t len, uint32_t tid)
{
	struct msg *m = calloc(1, sizeof(*m) + umad_size() + len);

	if (!m)
		return;
	m->agent = agent;
	m->len = len;
	memcpy(m->umad, head, umad_size());
	memcpy(umad_get_mad(m->umad), mad, len);
	((struct ib_user_mad *)m->umad)->agent_id = (uint32_t)agent;
	((struct ib_user_mad *)m->umad)->length = (uint32_t)(umad_size() + len);
	tid_set(umad_get_mad(m->umad), tid);
	STAILQ_INSERT_TAIL(&p->ready, m, link);
	eventfd_write(p->fd, 1);
}

/* The kernel gives a timed-out request back with its status and the 24 bytes of its MAD header. */
static void timeout_locked(struct wait *w)
{
	struct ib_user_mad *head = (struct ib_user_mad *)w->umad;

	head->status = ETIMEDOUT;
	push_locked(w->port, w->agent, head, umad_get_mad(head), MAD_HEADER, w->user_tid);
	wait_free_locked(w);
}

static void answer_locked(struct wait *w, const struct ib_user_mad *umad, size_t len)
{
	const uint8_t *mad = umad_get_mad((void *)(uintptr_t)umad);
	int done = 1;

	/* ibsim says this at once where no port has the LID; the kernel would wait. */
	if (umad->status)
		return;
	if (rcm_sim_is_segment(mad)) {
		done = rcm_sim_join_add(&w->join, mad);
		mad = w->join.mad;
		len = w->join.len;
	}
	if (done == 0)
		return;
	if (done > 0)
		push_locked(w->port, w->agent, umad, mad, len, w->user_tid);
	wait_free_locked(w);
}

/* Requests of others go to the agent that asked for them, the latest first. */
static void request_locked(const struct ib_user_mad *umad, size_t len)
{
	const uint8_t *mad = umad_get_mad((void *)(uintptr_t)umad);
	struct port *p;

	LIST_FOREACH(p, &ports, link) {
		for (int i = 0; i < RCM_SIM_AGENTS; i++) {
			struct agent *a = &p->agents[i];

			if (!a->used || !a->unsolicited || a->mgmt_class != mad[1])
				continue;
			push_locked(p, i, umad, mad, len, tid_get(mad));
			return;
		}
	}
}

void rcm_sim_port_faults(unsigned int lost_percent, unsigned int busy_percent)
{
	pthread_mutex_lock(&lock);
	faults.lost = lost_percent;
	faults.busy = busy_percent;
	pthread_mutex_unlock(&lock);
}

/* The same faults each time: a test that fails can be run again. */
static bool meets_locked(unsigned int percent)
{
	faults.random = faults.random * 1103515245 + 12345; /* ISO C's own example of rand() */
	return (faults.random >> 16) % 100 < percent;
}

bool rcm_sim_port_fault(const struct ib_user_mad *umad)
{
	uint8_t mad[RCM_SIM_MAD];
	bool fault = false;
	struct wait *w;

	memcpy(mad, umad_get_mad((void *)(uintptr_t)umad), sizeof(mad));
	if (mad[1] != RCM_SIM_SA_CLASS)
		return false;
	pthread_mutex_lock(&lock);
	w = wait_find_locked(tid_get(mad));
	if (w && meets_locked(faults.lost)) {
		fault = true;
	} else if (w && meets_locked(faults.busy)) {
		mad[METHOD] |= RCM_SIM_RESPONSE;
		mad[STATUS_LOW] = STATUS_BUSY;
		push_locked(w->port, w->agent, umad, mad, sizeof(mad), w->user_tid);
		wait_free_locked(w);
		fault = true;
	}
	pthread_mutex_unlock(&lock);
	return fault;
}

void rcm_sim_port_deliver(const struct ib_user_mad *umad, size_t len)
{
	const uint8_t *mad = umad_get_mad((void *)(uintptr_t)umad);
	struct wait *w;

	pthread_mutex_lock(&lock);
	if (mad[1] == RCM_SIM_SA_CLASS && rcm_sim_is_last(mad) && meets_locked(faults.lost)) {
		/* Lost on its way here; RMPP sees to it that a long answer is lost no more often than a short one. */
	} else if ((mad[METHOD] & RCM_SIM_RESPONSE) || umad->status) {
		w = wait_find_locked(tid_get(mad));
		if (w)
			answer_locked(w, umad, len);
	} else {
		request_locked(umad, len);
	}
	pthread_mutex_unlock(&lock);
}

void rcm_sim_port_expire(void (*resend)(const void *umad, size_t len))
{
	int64_t now = rcm_sim_now_ms();
	struct wait *w, *next_wait;

	pthread_mutex_lock(&lock);
	for (w = LIST_FIRST(&waits); w; w = next_wait) {
		next_wait = LIST_NEXT(w, link);
		if (w->due_ms > now)
			continue;
		if (w->retries-- > 0) {
			w->due_ms = now + w->timeout_ms;
			resend(w->umad, RCM_SIM_MAD);
		} else {
			timeout_locked(w);
		}
	}
	pthread_mutex_unlock(&lock);
}

int rcm_sim_port_take(int fd, void *umad, int *len)
{
	struct port *p;
	struct msg *m = NULL;
	int rc = -EINVAL, room = *len;

	pthread_mutex_lock(&lock);
	p = port_find_locked(fd);
	if (!p)
		goto out;
	m = STAILQ_FIRST(&p->ready);
	rc = -EAGAIN;
	if (!m)
		goto out;
	*len = (int)m->len;
	if (room < *len) {
		memcpy(umad, m->umad, umad_size() + (size_t)(room < RCM_SIM_MAD ? 0 : RCM_SIM_MAD));
		m = NULL;
		rc = room < RCM_SIM_MAD ? -EINVAL : -ENOSPC;
		goto out;
	}
	rc = m->agent;
	memcpy(umad, m->umad, umad_size() + m->len);
	STAILQ_REMOVE_HEAD(&p->ready, link);
	eventfd_read(fd, &(eventfd_t){ 0 });
out:
	pthread_mutex_unlock(&lock);
	free(m);
	return rc;
}
