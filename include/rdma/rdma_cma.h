/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA connection management and address resolution. Layouts, numbers and symbol versions are those of librdmacm.so.1.
 *
 * Unless a call says otherwise: it returns 0, or -1 with errno set to a positive errno; any number of threads may call
 * it; it neither blocks nor prints; pointers passed in are not kept.
 */
#ifndef RAI_RDMA_CMA_H
#define RAI_RDMA_CMA_H
#define RDMA_CMA_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an event says; 0-15 are the kernel's, 16 and 17 the kernel's (Linux 6.18) or the library's, 18 the user's. */
enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE,
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED,
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
	RDMA_CM_EVENT_ADDRINFO_RESOLVED,	/* status 0, param.arg: number of results found */
	RDMA_CM_EVENT_ADDRINFO_ERROR,		/* status -errno, (int)param.arg: EAI_* code or MAD status */
	RDMA_CM_EVENT_USER,			/* from rdma_write_cm_event() */
	RDMA_CM_EVENT_INTERNAL			/* never delivered */
};

/* IBTA annex A11: bytes 4 and 5 of the service id. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013F
};

#define RDMA_IB_IP_PS_MASK 0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP 0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP 0x0000000001110000ULL
#define RDMA_IB_PS_IB 0x00000000013F0000ULL

/* Q_Key of every UD queue pair that the connection manager sets up. */
#define RDMA_UDP_QKEY 0x01234567

struct rdma_ib_addr {
	union ibv_gid sgid;
	union ibv_gid dgid;
	__be16 pkey;
};

struct rdma_addr {
	union {
		struct sockaddr src_addr;
		struct sockaddr_in src_sin;
		struct sockaddr_in6 src_sin6;
		struct sockaddr_storage src_storage;
	};
	union {
		struct sockaddr dst_addr;
		struct sockaddr_in dst_sin;
		struct sockaddr_in6 dst_sin6;
		struct sockaddr_storage dst_storage;
	};
	union {
		struct rdma_ib_addr ibaddr;
	} addr;
};

struct rdma_route {
	struct rdma_addr addr;
	struct ibv_sa_path_rec *path_rec;
	int num_paths;
};

/*
 * fd is readable when rdma_get_cm_event() would return an event at once, and else only for an event of the kernel's
 * that turns out not to be for the application, as of an id that is gone: set O_NONBLOCK by fcntl(2), expect EAGAIN.
 * Edge-triggered watchers are woken by each event that finds the queue empty. Don't read or close it.
 */
struct rdma_event_channel {
	int fd;
};

/* A CM ID. An application reads its fields and writes context only. */
struct rdma_cm_id {
	struct ibv_context *verbs;
	struct rdma_event_channel *channel;
	void *context;
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	uint8_t port_num;
	struct rdma_cm_event *event;	/* synchronous ids: outcome of the last call; don't ack it */
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

enum {
	RDMA_MAX_RESP_RES = 0xFF,
	RDMA_MAX_INIT_DEPTH = 0xFF
};

struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t flow_control;
	uint8_t retry_count;		/* not used by rdma_accept() */
	uint8_t rnr_retry_count;
	uint8_t srq;			/* this and the next: only where the id has no QP of its own */
	uint32_t qp_num;
};

struct rdma_ud_param {
	const void *private_data;
	uint8_t private_data_len;
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num;
	uint32_t qkey;
};

/* Valid until rdma_ack_cm_event(). status: 0 or a negative errno; for REJECTED the CM's reject reason. */
struct rdma_cm_event {
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	enum rdma_cm_event_type event;
	int status;
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg;
	} param;
};

#define RAI_PASSIVE 0x00000001		/* the address is for rdma_bind_addr(): result in ai_src_addr */
#define RAI_NUMERICHOST 0x00000002	/* node is a number: no name service is asked */
#define RAI_NOROUTE 0x00000004		/* no path records wanted */
#define RAI_FAMILY 0x00000008		/* ai_family says how to read node */
#define RAI_SA 0x00000010		/* service is a service record of the InfiniBand SA */
#define RAI_DNS 0x00000020		/* node is a host name */

/* One result, chained by ai_next. A list is one object: free it from its head, with rdma_freeaddrinfo(). */
struct rdma_addrinfo {
	int ai_flags;
	int ai_family;
	int ai_qp_type;
	int ai_port_space;
	socklen_t ai_src_len;
	socklen_t ai_dst_len;
	struct sockaddr *ai_src_addr;
	struct sockaddr *ai_dst_addr;
	char *ai_src_canonname;
	char *ai_dst_canonname;
	size_t ai_route_len;		/* bytes */
	void *ai_route;			/* array of struct ibv_path_data */
	size_t ai_connect_len;
	void *ai_connect;
	struct rdma_addrinfo *ai_next;
};

/* ---- Event channels and events ---- */

/*
 * Makes an event channel. Returns it, or NULL with errno:
 *   ENODEV   the machine has no RDMA device and RAI_DEVICELESS=1 is not in the environment
 *   ENOENT   there is one, but no rdma_cm device: its module is not loaded, or its node is not in this container
 *   EACCES   there is one, but this process may use neither the rdma_cm nor an umad device
 *   ENOMEM, EMFILE, ENFILE
 * Freed by rdma_destroy_event_channel().
 */
struct rdma_event_channel *rdma_create_event_channel(void);

/* Frees a channel. Its ids are to be destroyed, or migrated away, before. NULL: nothing. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/*
 * Takes the next event; waits for one unless channel->fd has O_NONBLOCK. Every event taken is to be acked. errno:
 *   EAGAIN   none is due and the descriptor has O_NONBLOCK
 *   EINTR    a signal handler ran while it waited, installed with SA_RESTART or not
 *   EINVAL   NULL
 *   ENOMEM
 */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);

/* Gives an event back, and frees it with what it points to; rdma_destroy_id() of its id waits for it. errno: EINVAL. */
int rdma_ack_cm_event(struct rdma_cm_event *event);

/*
 * Puts an event of the application's own on the channel of id: event must be RDMA_CM_EVENT_USER; status and arg are
 * delivered as given. Wakes a thread that waits in rdma_get_cm_event(). errno: EINVAL, ENOMEM.
 */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status, uint64_t arg);

/* The name of an event, "RDMA_CM_EVENT_..."; "UNKNOWN EVENT" for any other number. Never NULL; never freed. */
const char *rdma_event_str(enum rdma_cm_event_type event);

/* ---- CM IDs ---- */

/*
 * Makes an id. channel NULL: a synchronous id, whose calls wait for their own outcome and leave it in id->event. Where
 * that is a failure they fail: errno is its status, ECONNREFUSED of REJECTED, ENODEV of DEVICE_REMOVAL. Or EINTR,
 * EAGAIN (O_NONBLOCK on id->channel->fd), ECANCELED (destroyed or moved meanwhile).
 * errno: EINVAL (id NULL, unknown port space), ENODEV (as rdma_create_event_channel()), ENOMEM, EMFILE, and what the
 * kernel says to CREATE_ID. Freed by rdma_destroy_id().
 */
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps);

/*
 * Frees an id. A resolution under way is cancelled without an event and without waiting for the network; events not
 * yet taken are dropped; waits only for the ack of events that were taken. errno: EINVAL, and the kernel's.
 */
int rdma_destroy_id(struct rdma_cm_id *id);

/*
 * Moves an id, with the events it has not delivered, to another channel (NULL: to one of its own, as a synchronous
 * id). Waits for the ack of events taken from the old one. errno: EINVAL, ENOMEM, EMFILE, and the kernel's.
 */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

/*
 * Binds an id to a local address. An AF_IB address with the GID of a local InfiniBand port binds it to that port, also
 * on a machine without the rdma_cm device. errno: EINVAL, ENODEV (no port has that address), EADDRINUSE,
 * EADDRNOTAVAIL, and the kernel's.
 */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);

/* Port of the local and of the peer's address, in network order; 0 where there is none. Of an AF_IB address: the low
 * 16 bits of its service id. */
__be16 rdma_get_src_port(struct rdma_cm_id *id);
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

/* Addresses of the id, inside the id: valid as long as it is. sa_family 0: not known yet. */
static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}

/* Levels of rdma_set_option(); RDMA_OPTION_RAI is in <rdma/rai.h>. */
enum {
	RDMA_OPTION_ID = 0,
	RDMA_OPTION_IB = 1
};

enum {
	RDMA_OPTION_ID_TOS = 0,		/* uint8_t, RFC 2474 */
	RDMA_OPTION_ID_REUSEADDR = 1,	/* int, as SO_REUSEADDR */
	RDMA_OPTION_ID_AFONLY = 2,	/* int, as IPV6_V6ONLY */
	RDMA_OPTION_ID_ACK_TIMEOUT = 3	/* uint8_t, 4.096 us * 2^n */
};

enum {
	RDMA_OPTION_IB_PATH = 1		/* struct ibv_path_data[] */
};

/* Sets an option of an id. errno: EINVAL (wrong length or value), ENOSYS (unknown level or option), ENODEV. */
int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* ---- Connections ---- */

/*
 * Finds the local device that reaches dst_addr, and binds the id to it. src_addr: the local address to use, or NULL;
 * its port is bound too. An ADDR_RESOLVED or ADDR_ERROR event follows; then verbs, port_num, pd and route.addr of the
 * id are set. A synchronous id waits. errno: EINVAL, ENODEV, ENETUNREACH, and the kernel's. Event
 * status: -ENODEV (no device of that address, or none that this process can open), -ETIMEDOUT, -EHOSTUNREACH, other
 * -errno.
 */
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms);

/*
 * Finds the route to the address that was resolved. Right after an RAI_SA resolution it resolves the first record's
 * address too. A ROUTE_RESOLVED or ROUTE_ERROR event follows. A synchronous id waits. errno: EINVAL (no address yet),
 * ENODEV, and the kernel's.
 */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/*
 * Asks the peer for a connection, or, on an id for datagrams, for its QP. conn_param: NULL for the most that the device
 * can do and seven retries. With a QP of the id's: ESTABLISHED follows; without: CONNECT_RESPONSE, then
 * rdma_establish() is due. Or CONNECT_ERROR, UNREACHABLE, REJECTED (status: the CM's reason). A synchronous id waits.
 * errno: EINVAL (not resolved, more than the device can do, neither a QP nor conn_param on an id of RDMA_PS_TCP),
 * ECONNREFUSED (synchronous), and the kernel's.
 */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/* Ends the handshake of an id without a QP, after CONNECT_RESPONSE. errno: EINVAL (it has a QP), and the kernel's. */
int rdma_establish(struct rdma_cm_id *id);

/* Lets requests come in: each is a CONNECT_REQUEST event with a new id. errno: EINVAL, EADDRINUSE, and the kernel's. */
int rdma_listen(struct rdma_cm_id *id, int backlog);

/*
 * Waits for a request of a synchronous listener. *id is synchronous too; its event holds the request until it is
 * accepted, rejected or destroyed. Of a listener made by rdma_create_ep() it has a QP. errno: EINVAL (another event
 * came, and is in listen->event), EINTR, EAGAIN (O_NONBLOCK on listen->channel->fd), and those of rdma_create_qp().
 */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);

/*
 * Accepts a request. conn_param: NULL for what the request asks, within what the device can do. An id's QP goes to RTS
 * before. ESTABLISHED follows, except for datagrams. A synchronous id waits. errno: EINVAL, and the kernel's.
 */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);

/* Rejects a request; _ece: because the peer's ECE options don't do. errno: EINVAL, and the kernel's. */
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);

/* Tells the CM of an event that a QP saw: IBV_EVENT_COMM_EST. errno: EINVAL, and the kernel's. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);

/* Ends a connection; the QP goes to ERR, on iWARP to SQD. DISCONNECTED follows on both sides. A synchronous id waits.
 * errno: EINVAL. */
int rdma_disconnect(struct rdma_cm_id *id);

/*
 * Makes the id's QP on a device that it is bound to: ready to receive, for datagrams also to send. pd: NULL for the
 * id's, which is the device's own, shared one unless another was given. CQs that qp_init_attr doesn't name are made,
 * with a completion channel each, and are in the id. qp_init_attr gets what the device gave, and those CQs, which go
 * with the QP: fill it in anew for another id. On failure it and the id are as before. errno: EINVAL (no
 * device, another device's pd, has one), and the verbs'.
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);

/* Frees the id's QP, and the CQs and channels that are in the id; id->pd stays. No QP, or NULL: nothing. */
void rdma_destroy_qp(struct rdma_cm_id *id);

/* What to give ibv_modify_qp() for the move to qp_attr->qp_state. errno: EINVAL, and the kernel's. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

/* ECE of an id without a QP: what REQ or REP is to carry, and what the peer's carried. A REP has the vendor of the REQ.
 * errno: EINVAL (it has a QP; to set: no vendor, or a comp_mask). */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/*
 * Makes a synchronous id from one entry of rdma_getaddrinfo() or rdma_query_addrinfo(): with RAI_PASSIVE bound, to be
 * listened on, pd and qp_init_attr being for the QPs of its requests; else with address and route resolved, and with a
 * QP of the entry's type where qp_init_attr isn't NULL, which then gets what the device gave, as by rdma_create_qp().
 * Blocks. errno: those of the calls it is made of. Freed by rdma_destroy_ep().
 */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr);

/* Frees an id with its QP and SRQ. NULL: nothing. */
void rdma_destroy_ep(struct rdma_cm_id *id);

/* ---- Multicast ---- */

enum rdma_cm_join_mc_attr_mask {
	RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1 << 0,
	RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1,
	RDMA_CM_JOIN_MC_ATTR_RESERVED = 1 << 2
};

enum rdma_cm_mc_join_flags {
	RDMA_MC_JOIN_FLAG_FULLMEMBER,
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
	RDMA_MC_JOIN_FLAG_RESERVED
};

struct rdma_cm_join_mc_attr_ex {
	uint32_t comp_mask;		/* of rdma_cm_join_mc_attr_mask: which of these are set; ADDRESS has to be */
	uint32_t join_flags;		/* one of rdma_cm_mc_join_flags */
	struct sockaddr *addr;
};

/*
 * Joins a group. MULTICAST_JOIN or MULTICAST_ERROR follows, with context in param.ud.private_data; the id's QP is
 * attached then, unless the membership is send-only. A synchronous id waits. errno: EINVAL, ENOTSUP (unknown bit),
 * ENOMEM, and the kernel's.
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context);
int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context);

/* Leaves it, or gives up joining; detaches the QP. errno: EADDRNOTAVAIL (not a member), EINVAL, and the kernel's. */
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* ---- Devices ---- */

/*
 * The devices that this process can open, opened, NULL at the end; *num_devices, where not NULL, tells how many. The
 * list is freed by rdma_free_devices(); the devices stay open. NULL with errno: ENODEV; ENOMEM, EMFILE (none could be
 * opened for want of that).
 */
struct ibv_context **rdma_get_devices(int *num_devices);
void rdma_free_devices(struct ibv_context **list);

/*
 * poll(2). Programs that use no rsocket (rping among them) are linked with it; this library has no rsockets, so every
 * descriptor is the kernel's. May be cancelled.
 */
struct pollfd;
int rpoll(struct pollfd *fds, unsigned long nfds, int timeout);

/* ---- Address resolution ---- */

/*
 * Starts resolving and returns at once: 0, and exactly one event follows on the id's channel,
 * RDMA_CM_EVENT_ADDRINFO_RESOLVED or RDMA_CM_EVENT_ADDRINFO_ERROR; or -1, and none does. A synchronous id waits.
 *   node     host name or number, at most 253 characters; NULL with a service: loopback, with RAI_PASSIVE the wildcard
 *   service  service name or port number; with RAI_SA a service record's name (at most 63 bytes) or, a number in C
 *            notation, its service id
 *   hints    ai_flags, ai_family, ai_qp_type, ai_port_space, ai_src_addr; NULL: none
 * RAI_SA asks the InfiniBand SA through the port that id is bound to; otherwise names are resolved as the host is
 * configured (hosts file, DNS, nsswitch modules). All arguments are copied. errno:
 *   EINVAL        id NULL; nothing to resolve; unknown flag; ai_qp_type and ai_port_space that contradict each other;
 *                 RAI_NUMERICHOST with a node that is no number; an empty string; an all-digit SA service beyond 64
 *                 bits; RAI_SA without service, or on an id that is bound to no device
 *   ENOTSUP       RAI_SA with RAI_DNS, with a node, or on a port that is not InfiniBand
 *   ENAMETOOLONG  node or SA service name too long
 *   EBUSY         an earlier resolution of this id is not yet delivered
 *   EACCES        RAI_SA, and this process may use no way to the SA
 *   ENODEV, ENOMEM, EMFILE, EAGAIN
 * Event status: -ENOENT no such host, service or record; -ENODATA no address of that family; -ETIMEDOUT; -EAGAIN name
 * server failure; -EBUSY SA busy; -EIO refused or malformed answer; -ENETDOWN port down; -ECANCELED; -EBADF all
 * descriptors were closed, the library's among them; -ENOMEM.
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);

/*
 * Hands over what the last resolution found, best first, once. The caller frees it with rdma_freeaddrinfo().
 * errno: EINVAL (NULL), ENOENT (nothing to hand over), ENOMEM.
 */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/*
 * The same resolution, waited for, without an id; with RAI_SA every active InfiniBand port is asked and the answers are
 * merged. Works without an RDMA device. Returns 0, an EAI_* code (gai_strerror(3)), or -1 with errno. Blocks.
 */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res);

/* Frees a list. NULL: nothing. */
void rdma_freeaddrinfo(struct rdma_addrinfo *res);

#ifdef __cplusplus
}
#endif
#endif
