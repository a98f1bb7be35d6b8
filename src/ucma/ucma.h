/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's connection manager, one function a command.
 *
 * All calls return 0 or -errno, may be made by any thread, and leave outputs untouched on failure. A handle is the
 * kernel's number of a CM ID on the descriptor that made it. Commands that name no event don't wait for the network.
 * Sources: <rdma/rdma_user_cm.h>, uapi/ucma_abi.h.
 */
#pragma once

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ucma/decode.h"

/* The character device, or a script that plays it. */
struct rcm_ucma_ops {
	const char *name;

	/* A descriptor of its own, close-on-exec; flags: O_NONBLOCK, so that GET_EVENT never waits, or 0. -errno:
	 * ENODEV no device, EACCES no permission, EPROTONOSUPPORT an ABI other than version 4, EMFILE, ENFILE. */
	int (*open)(int flags);

	/* Writes one command, header first; the answer goes where the command's response field points. 0 or -errno.
	 * No cancellation point. */
	int (*command)(int fd, const void *bytes, size_t len);

	void (*close)(int fd);

	/* Whether a number is a descriptor of it, as far as can be told. */
	bool (*is)(int fd);
};

/* /dev/infiniband/rdma_cm */
extern const struct rcm_ucma_ops rcm_ucma_device;

/* Which back end rcm_ucma_open() uses from now on; NULL: the device. For tests, before the first open. */
void rcm_ucma_replace(const struct rcm_ucma_ops *ops);

/* One open descriptor. Its fd polls readable while an event waits. */
struct rcm_ucma {
	const struct rcm_ucma_ops *ops;
	atomic_int fd;			/* may get another number: a command refused meanwhile is given again */
};

#define RCM_UCMA_CLOSED { .ops = NULL, .fd = -1 }

/* Flags: as of the ops. */
int rcm_ucma_open(struct rcm_ucma *ret_ucma, int flags);

/* Also one that is closed, or RCM_UCMA_CLOSED. */
void rcm_ucma_close(struct rcm_ucma *ucma);

/* Whether fd, by which it was opened, is the device yet, and no other file. */
bool rcm_ucma_is(const struct rcm_ucma *ucma, int fd);

/* What rcm_ucma_open() would say, without keeping a descriptor: 0, -ENODEV, -EACCES, -EPROTONOSUPPORT. */
int rcm_ucma_usable(void);

/* CREATE_ID. uid comes back in every event of the id. */
int rcm_ucma_create_id(const struct rcm_ucma *ucma, uint64_t uid, enum rdma_port_space ps,
		       enum ibv_qp_type qp_type, uint32_t *ret_handle);

/* DESTROY_ID. *ret_events: how many events of the id were read so far; events not read are gone. */
int rcm_ucma_destroy_id(const struct rcm_ucma *ucma, uint32_t handle, uint32_t *ret_events);

/* MIGRATE_ID to ucma from the descriptor from_fd. *ret_events: as above, read from the old one. */
int rcm_ucma_migrate_id(const struct rcm_ucma *ucma, uint32_t handle, int from_fd,
			uint32_t *ret_events);

/* BIND. addr: IPv4, IPv6 or AF_IB. */
int rcm_ucma_bind(const struct rcm_ucma *ucma, uint32_t handle, const struct sockaddr *addr,
		  socklen_t len);

/* RESOLVE_ADDR; ADDR_RESOLVED or ADDR_ERROR follows. src may be NULL. */
int rcm_ucma_resolve_addr(const struct rcm_ucma *ucma, uint32_t handle, const struct sockaddr *src,
			  socklen_t src_len, const struct sockaddr *dst, socklen_t dst_len,
			  uint32_t timeout_ms);

/* RESOLVE_ROUTE; ROUTE_RESOLVED or ROUTE_ERROR follows. */
int rcm_ucma_resolve_route(const struct rcm_ucma *ucma, uint32_t handle, uint32_t timeout_ms);

/* RESOLVE_IB_SERVICE (Linux 6.18; else -EINVAL); ADDRINFO_RESOLVED or ADDRINFO_ERROR follows. name: NULL, or at most
 * 63 bytes; by_id and name may both be given. */
int rcm_ucma_resolve_ib_service(const struct rcm_ucma *ucma, uint32_t handle, bool by_id,
				uint64_t service_id, const char *name);

/* An id's binding. The device is told by node_guid (network order) and, where index >= 0, by its kernel index. */
struct rcm_ucma_addr {
	uint64_t node_guid;		/* 0: bound to no device */
	int64_t device_index;		/* as in NLDEV; -1: the kernel doesn't say */
	uint8_t port;
	uint16_t pkey;			/* network order */
	struct sockaddr_storage src, dst;	/* ss_family 0: none */
};

/* QUERY, options ADDR and GID; the latter gives src and dst as sockaddr_ib. */
int rcm_ucma_query_addr(const struct rcm_ucma *ucma, uint32_t handle, struct rcm_ucma_addr *ret_addr);
int rcm_ucma_query_gid(const struct rcm_ucma *ucma, uint32_t handle, struct rcm_ucma_addr *ret_addr);

enum { RCM_UCMA_PATHS_MAX = 6 };	/* the kernel keeps primary and alternate, three records each */

/* QUERY, option PATH. *ret_count: how many of paths were filled. */
int rcm_ucma_query_path(const struct rcm_ucma *ucma, uint32_t handle,
			struct ibv_path_data paths[RCM_UCMA_PATHS_MAX], uint32_t *ret_count);

enum { RCM_UCMA_SERVICES_MAX = (65535 - 8) / 176 };	/* what an answer's 16-bit length holds */

/* QUERY, option IB service. records: room for max ServiceRecords, 176 bytes as on the wire. *ret_count: how many were
 * filled; *ret_total: how many the kernel has. -ENODATA: none was resolved. */
int rcm_ucma_query_ib_service(const struct rcm_ucma *ucma, uint32_t handle, uint8_t (*records)[176],
			      uint32_t max, uint32_t *ret_count, uint32_t *ret_total);

/* CONNECT; param->qp_num and srq are sent as they are. ece: zeros where none is offered. */
int rcm_ucma_connect(const struct rcm_ucma *ucma, uint32_t handle, const struct rdma_conn_param *param,
		     struct rcm_ucma_ece ece);

int rcm_ucma_listen(const struct rcm_ucma *ucma, uint32_t handle, int backlog);

/* ACCEPT. uid is that of the new id from now on. param NULL: completes an active side without a QP (establish). */
int rcm_ucma_accept(const struct rcm_ucma *ucma, uint32_t handle, uint64_t uid,
		    const struct rdma_conn_param *param, struct rcm_ucma_ece ece);

/* REJECT. reason: 0 for consumer defined, else the CM's (IBTA 12.6.7.2). */
int rcm_ucma_reject(const struct rcm_ucma *ucma, uint32_t handle, uint8_t reason, const void *data,
		    uint8_t len);

int rcm_ucma_disconnect(const struct rcm_ucma *ucma, uint32_t handle);

int rcm_ucma_notify(const struct rcm_ucma *ucma, uint32_t handle, enum ibv_event_type event);

/* INIT_QP_ATTR: what to give ibv_modify_qp() for the move to state. */
int rcm_ucma_init_qp_attr(const struct rcm_ucma *ucma, uint32_t handle, enum ibv_qp_state state,
			  struct ibv_qp_attr *ret_attr, int *ret_mask);

int rcm_ucma_set_option(const struct rcm_ucma *ucma, uint32_t handle, int level, int name,
			const void *value, size_t len);

/* JOIN_MCAST; MULTICAST_JOIN or MULTICAST_ERROR follows, with uid. flags: enum of the kernel, 0 full member. The
 * handle is the membership's own, for LEAVE_MCAST. */
int rcm_ucma_join_mcast(const struct rcm_ucma *ucma, uint32_t handle, uint64_t uid,
			const struct sockaddr *addr, socklen_t len, uint16_t flags, uint32_t *ret_handle);

/* LEAVE_MCAST. *ret_events: how many events of the membership were read so far. */
int rcm_ucma_leave_mcast(const struct rcm_ucma *ucma, uint32_t mcast, uint32_t *ret_events);

/* GET_EVENT: the next one, or -EAGAIN; on a descriptor without O_NONBLOCK it waits for one. */
int rcm_ucma_get_event(const struct rcm_ucma *ucma, struct rcm_ucma_event *ret_event);
