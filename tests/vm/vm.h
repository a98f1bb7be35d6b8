/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the guest's programs share: a runner that gives every test a process and a time limit of its own, checks that
 * say what failed, and the steps from an address to a connection. Everything here ends the test when it fails.
 *
 * The programs use the public API alone, so that each also runs on another librdmacm: what only ours has is between
 * #ifdef VM_RAI and #endif.
 */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef RAI_DNS
#include <rdma/rai.h>
#define VM_RAI 1
#endif

/* Longest private data of each message over IPv4 and IPv6 addresses (IBTA A11 takes 36 bytes of the request's 92). */
enum {
	VM_CONNECT_DATA_MAX = 56,
	VM_ACCEPT_DATA_MAX = 196,
	VM_REJECT_DATA_MAX = 148
};

/* How long a step may take before the test fails, in ms; software emulation is slow. */
enum { VM_STEP_MS = 10000 };

struct vm_test {
	const char *name;
	void (*run)(void);
	unsigned int seconds;	/* limit; 0: 20 */
};

/*
 * Runs the tests named in the arguments (none: all), each in a process of its own; prints "ok NAME", "not ok NAME # why"
 * or "ok NAME # SKIP why". With "--list" it prints their names instead. Returns the exit status: 0, or 1 when one failed.
 */
int vm_main(const struct vm_test *tests, size_t count, int argc, char **argv);

_Noreturn void vm_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void vm_skip(const char *why);

#define FAIL(...) vm_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			FAIL("%s", #condition); \
	} while (0)
#define CHECK_EQ(left, right) \
	do { \
		long long left_ = (left), right_ = (right); \
		if (left_ != right_) \
			FAIL("%s is %lld, not %s (%lld)", #left, left_, #right, right_); \
	} while (0)
/* The call is to return 0. */
#define TRY(call) \
	do { \
		int ret_ = (call); \
		if (ret_) \
			FAIL("%s: returned %d, errno %d (%s)", #call, ret_, errno, strerror(errno)); \
	} while (0)
/* The call is to return -1 with this errno. */
#define REFUSED(call, error) \
	do { \
		errno = 0; \
		int ret_ = (call), errno_ = errno; \
		if (ret_ != -1 || errno_ != (error)) \
			FAIL("%s: returned %d, errno %d (%s), not -1 with %s", #call, ret_, errno_, \
			     strerror(errno_), #error); \
	} while (0)

/* The i-th of the program's own addresses is named by the environment: VM_ADDR (default 10.2.0.1), VM_ADDR6. */
const char *vm_address(void);
const char *vm_address6(void);

/* A socket address from text, IPv4 or IPv6, with "%link" where it has a scope. The result lasts until 8 calls later. */
struct sockaddr *vm_sockaddr(const char *text, uint16_t port);

struct rdma_event_channel *vm_channel(void);
struct rdma_cm_id *vm_id(struct rdma_event_channel *channel, enum rdma_port_space space);

/* Takes the next event within VM_STEP_MS. The caller acks it. */
struct rdma_cm_event *vm_next(struct rdma_event_channel *channel);
/* The same; it must be of this type. */
struct rdma_cm_event *vm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* Takes and acks it; returns its status. */
int vm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* No event is to be due within that time. */
void vm_quiet(struct rdma_event_channel *channel, int ms);

/* Address and route of id to this destination. */
void vm_resolve(struct rdma_cm_id *id, struct sockaddr *destination);
void vm_qp(struct rdma_cm_id *id, enum ibv_qp_type type);

struct vm_listener {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	uint16_t port;		/* host order */
};

/* Listens on this address and a port of the kernel's choice; vm_unlisten() undoes it. */
struct vm_listener vm_listen(const char *address, enum rdma_port_space space, int backlog);
void vm_unlisten(struct vm_listener *listener);

/* Both ends of a connection, each id on a channel of its own. */
struct vm_pair {
	struct vm_listener listener;
	struct rdma_event_channel *client_channel;
	struct rdma_event_channel *server_channel;
	struct rdma_cm_id *client;
	struct rdma_cm_id *server;
};

/* A client with address, route and queue pair, not yet connecting. */
struct vm_pair vm_pair_resolved(const char *address);
/* Sends the client's request; leaves the server's id as it came, still on the listener's channel. */
void vm_pair_request(struct vm_pair *pair, const struct rdma_conn_param *param);
/* Accepts it, with this private data. */
void vm_pair_accept(struct vm_pair *pair, const void *data, uint8_t len);
/* All of these. */
struct vm_pair vm_pair_connected(const char *address);
/* Destroys what is left of it. */
void vm_pair_free(struct vm_pair *pair);

/* Connection parameters that serve everywhere. */
struct rdma_conn_param vm_param(const void *data, uint8_t len);
/* Monotonic time in microseconds. */
uint64_t vm_now_us(void);
