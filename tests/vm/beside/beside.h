/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each public call in each state of an id, with each kind of argument, and what came of it: a line a case, which another
 * librdmacm's is held against (compare).
 *
 * A line is the case's name, STATE/CALL/ARGUMENT, and words KEY=VALUE without blanks. Nothing in a value depends on the
 * run: pointers are told by what they point to, ports and QP numbers by whose they are.
 */
#pragma once

#include "../vm.h"

#include <infiniband/ib.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>

enum { TEXT_MAX = 24000, EVENTS_MAX = 12 };

/* Words, each with a blank before it. */
struct text {
	size_t len;
	char at[TEXT_MAX];
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a case works on: the id, the other end, and what has been seen of both. */
struct world {
	const char *name;
	const char *address;			/* of the device */
	char gone[INET_ADDRSTRLEN];		/* of the case's own device, which is being removed, or "" */
	pid_t removal;
	uint64_t seed;				/* of the case's random arguments */
	enum rdma_port_space space;
	/* Of a queue pair that isn't there. No other case's: the kernel takes a second one for a connection that has ended. */
	uint32_t qpn;
	bool synchronous;
	bool peer_accepts;			/* requests that reach the other end */

	struct rdma_event_channel *channel, *peer_channel, *other_channel;
	struct rdma_cm_id *id, *peer, *listener;	/* peer: the other end of a connection, or NULL */
	struct rdma_cm_id *fresh;		/* a request that came to the id, where it listens */
	uint16_t port;				/* of the other end's listener, or the own one */
	int context, peer_context, mcast_context;

	struct ibv_context *foreign;		/* a device that the library doesn't know of */
	struct ibv_pd *given_pd;
	struct ibv_cq *given_cq;
	struct ibv_srq *given_srq;

	atomic_bool peer_established;
	atomic_bool peer_stop;
	pthread_t peer_thread;			/* where the id is synchronous */
	bool has_thread;

	struct text result, own, theirs, before, after;
	unsigned int own_events, their_events;
};

/* ---- beside.c ---- */

/*
 * Counts moments in which a processor had nothing better to do, IDLE_MS each: what doesn't get on for many of them never
 * will, however slow the machine is.
 */
unsigned int idle_moments(void);
enum { IDLE_MS = 10 };

/* ---- states.c ---- */

struct state {
	const char *name;
	enum rdma_port_space space;
	bool synchronous;
	void (*make)(struct world *w);
	bool own_device;			/* removed with the id on it; a library sees it come and go but once */
	const char *address;			/* of the device, where it is to be another than vm_address() */
};

extern const struct state states[];
extern const size_t states_count;

/* Both ends, until there is an id in this state. */
void state_make(struct world *w, const struct state *state);
/* Ends what is left; says how it went. */
void state_end(struct world *w);

void world_listen(struct world *w);
/* Of queue pairs that aren't connected. */
bool space_is_datagrams(enum rdma_port_space space);
/* A queue pair that serves everywhere. */
void world_qp(struct rdma_cm_id *id);

/* ---- removed.c ---- */

/* From now on the world's address is that of a device of its own. */
void device_own(struct world *w);
/* Removes it, which lasts until its ids are gone; the world's address is the old one again. */
void device_remove(struct world *w);
/* Waits until the kernel has taken this id from it. */
void device_left(struct rdma_cm_id *id);
/* Whether it has gone, where there was one. */
void device_end(struct world *w);
/* Takes what comes to the channel until this many ids were told that their device goes. */
void removals_take(struct rdma_event_channel *channel, int count);

/* ---- id_calls.c, conn_calls.c, own_calls.c ---- */

struct call {
	const char *name;
	void (*run)(struct world *w, const char *arg);
	const char *args;			/* words */
	const char *in;				/* states in which all are tried, elsewhere a few; NULL: all */
	bool in_alone;				/* elsewhere none */
};

extern const struct call id_calls[], conn_calls[], own_calls[];
extern const size_t id_calls_count, conn_calls_count, own_calls_count;

/* What the call returned, with errno where it is -1. Set errno to 0 before. */
void call_did(struct world *w, int ret);
#define DO(w, call) (errno = 0, call_did(w, call))
/* Of a call that returns nothing. */
#define DO_VOID(w, call) ((call), text_add(&(w)->result, "ret=void"))

/* ---- args.c ---- */

/* The address that arg names; NULL for "null". */
struct sockaddr *arg_address(struct world *w, const char *arg, uint16_t port);
/* The parameters that arg names; NULL for "null". */
struct rdma_conn_param *arg_param(struct world *w, const char *arg, struct rdma_conn_param *param);
/* Attributes of a queue pair; NULL for "null". */
struct ibv_qp_init_attr *arg_qp(struct world *w, const char *arg, struct ibv_qp_init_attr *attr);
/* A protection domain of the id's device, of a foreign one, or none. */
struct ibv_pd *arg_pd(struct world *w, const char *arg);
uint64_t arg_random(struct world *w);
bool arg_is(const char *arg, const char *name);

/* ---- sequence.c ---- */

/* A call, and what it changed, at once and when all events had come. */
void step_run(struct world *w, const struct call *call, const char *arg, int quiet_ms);
/*
 * So many calls one after the other, at either end, that the world's seed picks, from a state that it picks. Each step is
 * a line: STEP, then NAME:NUMBER/CALL/ARGUMENT before the call is made, its words after it.
 */
void sequence_run(struct world *w, int steps, int quiet_ms, int fd);
enum { STEP = 2 };

/* ---- events.c ---- */

/* Takes what is due on the channels until nothing came for so long, and notes it; the other end answers. */
void events_settle(struct world *w, int quiet_ms);
/* Takes, notes and acks one event of this channel; false where none is due. */
bool events_take(struct world *w, struct rdma_event_channel *channel);
/* The other end's, on a thread, from now on. */
void events_serve_peer(struct world *w);
void events_stop_peer(struct world *w);

/* ---- show.c ---- */

/* All public fields, each word with the prefix before it. */
void show_id(struct text *text, const char *prefix, struct world *w, struct rdma_cm_id *id);
/* An event, with all its fields. */
void show_event(struct text *text, const char *prefix, struct world *w, const struct rdma_cm_event *event);
void show_init_attr(struct text *text, struct world *w, const struct ibv_qp_init_attr *attr);
void show_qp_attr(struct text *text, struct world *w, const char *prefix, const struct ibv_qp_attr *attr);
const char *show_errno(int error);
/* The words of later that are not in earlier, with the prefix before them. */
void show_changes(struct text *text, const char *prefix, const struct text *earlier, const struct text *later);
