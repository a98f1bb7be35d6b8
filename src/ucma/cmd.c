/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's commands: one function each, one place that writes them. */
#include "ucma/ucma.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "uapi/ucma_abi.h"

/* A command as it is written: the body follows the header without a gap. */
#define MESSAGE(type) struct { struct rdma_ucm_cmd_hdr hdr; struct type body; }

#define SEND(ucma, number, message, answer_len) \
	send_message(ucma, number, &(message)->hdr, sizeof(*(message)), answer_len)

static _Atomic(const struct rcm_ucma_ops *) back_end = &rcm_ucma_device;

static int send_message(const struct rcm_ucma *ucma, uint32_t number, struct rdma_ucm_cmd_hdr *message,
			size_t len, size_t answer_len)
{
	int fd, ret;

	if (!ucma->ops)
		return -ENODEV;
	message->cmd = number;
	message->in = (uint16_t)(len - sizeof(*message));
	message->out = (uint16_t)answer_len;
	do {
		fd = atomic_load(&ucma->fd);
		ret = ucma->ops->command(fd, message, len);
	} while (ret == -EINVAL && fd != atomic_load(&ucma->fd));
	return ret;
}

static uint64_t address_of(void *answer)
{
	return (uintptr_t)answer;
}

static int copy_addr(struct __kernel_sockaddr_storage *to, const struct sockaddr *from, socklen_t len)
{
	if (len < sizeof(from->sa_family) || len > sizeof(*to))
		return -EINVAL;
	memcpy(to, from, len);
	return 0;
}

static void copy_param(struct rdma_ucm_conn_param *to, const struct rdma_conn_param *from)
{
	to->qp_num = from->qp_num;
	to->srq = from->srq;
	to->responder_resources = from->responder_resources;
	to->initiator_depth = from->initiator_depth;
	to->flow_control = from->flow_control;
	to->retry_count = from->retry_count;
	to->rnr_retry_count = from->rnr_retry_count;
	if (from->private_data && from->private_data_len) {
		memcpy(to->private_data, from->private_data, from->private_data_len);
		to->private_data_len = from->private_data_len;
	}
	to->valid = 1;
}

void rcm_ucma_replace(const struct rcm_ucma_ops *ops)
{
	atomic_store(&back_end, ops ? ops : &rcm_ucma_device);
}

int rcm_ucma_open(struct rcm_ucma *ret_ucma, int flags)
{
	const struct rcm_ucma_ops *ops = atomic_load(&back_end);
	int fd = ops->open(flags);

	if (fd < 0)
		return fd;
	*ret_ucma = (struct rcm_ucma){ .ops = ops, .fd = fd };
	return 0;
}

void rcm_ucma_close(struct rcm_ucma *ucma)
{
	if (ucma->ops)
		ucma->ops->close(ucma->fd);
	*ucma = (struct rcm_ucma)RCM_UCMA_CLOSED;
}

bool rcm_ucma_is(const struct rcm_ucma *ucma, int fd)
{
	return ucma->ops && ucma->ops->is(fd);
}

int rcm_ucma_usable(void)
{
	struct rcm_ucma ucma;
	int ret = rcm_ucma_open(&ucma, O_NONBLOCK);

	if (!ret)
		rcm_ucma_close(&ucma);
	return ret;
}

int rcm_ucma_create_id(const struct rcm_ucma *ucma, uint64_t uid, enum rdma_port_space ps,
		       enum ibv_qp_type qp_type, uint32_t *ret_handle)
{
	struct rdma_ucm_create_id_resp answer = { 0 };
	MESSAGE(rdma_ucm_create_id) m = { .body = {
		.uid = uid, .response = address_of(&answer), .ps = (uint16_t)ps, .qp_type = (uint8_t)qp_type,
	} };
	int ret = SEND(ucma, RDMA_USER_CM_CMD_CREATE_ID, &m, sizeof(answer));

	if (!ret)
		*ret_handle = answer.id;
	return ret;
}

/* DESTROY_ID and LEAVE_MCAST have one shape. */
static int ucma_release(const struct rcm_ucma *ucma, uint32_t number, uint32_t handle, uint32_t *ret_events)
{
	struct rdma_ucm_destroy_id_resp answer = { 0 };
	MESSAGE(rdma_ucm_destroy_id) m = { .body = { .response = address_of(&answer), .id = handle } };
	int ret = SEND(ucma, number, &m, sizeof(answer));

	if (!ret)
		*ret_events = answer.events_reported;
	return ret;
}

int rcm_ucma_destroy_id(const struct rcm_ucma *ucma, uint32_t handle, uint32_t *ret_events)
{
	return ucma_release(ucma, RDMA_USER_CM_CMD_DESTROY_ID, handle, ret_events);
}

int rcm_ucma_leave_mcast(const struct rcm_ucma *ucma, uint32_t mcast, uint32_t *ret_events)
{
	return ucma_release(ucma, RDMA_USER_CM_CMD_LEAVE_MCAST, mcast, ret_events);
}

int rcm_ucma_migrate_id(const struct rcm_ucma *ucma, uint32_t handle, int from_fd, uint32_t *ret_events)
{
	struct rdma_ucm_migrate_resp answer = { 0 };
	MESSAGE(rdma_ucm_migrate_id) m = { .body = {
		.response = address_of(&answer), .id = handle, .fd = (uint32_t)from_fd,
	} };
	int ret = SEND(ucma, RDMA_USER_CM_CMD_MIGRATE_ID, &m, sizeof(answer));

	if (!ret)
		*ret_events = answer.events_reported;
	return ret;
}

int rcm_ucma_bind(const struct rcm_ucma *ucma, uint32_t handle, const struct sockaddr *addr, socklen_t len)
{
	MESSAGE(rdma_ucm_bind) m = { .body = { .id = handle, .addr_size = (uint16_t)len } };
	int ret = copy_addr(&m.body.addr, addr, len);

	return ret ? ret : SEND(ucma, RDMA_USER_CM_CMD_BIND, &m, 0);
}

int rcm_ucma_resolve_addr(const struct rcm_ucma *ucma, uint32_t handle, const struct sockaddr *src,
			  socklen_t src_len, const struct sockaddr *dst, socklen_t dst_len,
			  uint32_t timeout_ms)
{
	MESSAGE(rdma_ucm_resolve_addr) m = { .body = {
		.id = handle, .timeout_ms = timeout_ms,
		.src_size = src ? (uint16_t)src_len : 0, .dst_size = (uint16_t)dst_len,
	} };
	int ret = src ? copy_addr(&m.body.src_addr, src, src_len) : 0;

	if (!ret)
		ret = copy_addr(&m.body.dst_addr, dst, dst_len);
	return ret ? ret : SEND(ucma, RDMA_USER_CM_CMD_RESOLVE_ADDR, &m, 0);
}

int rcm_ucma_resolve_route(const struct rcm_ucma *ucma, uint32_t handle, uint32_t timeout_ms)
{
	MESSAGE(rdma_ucm_resolve_route) m = { .body = { .id = handle, .timeout_ms = timeout_ms } };

	return SEND(ucma, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &m, 0);
}

int rcm_ucma_resolve_ib_service(const struct rcm_ucma *ucma, uint32_t handle, bool by_id, uint64_t service_id,
				const char *name)
{
	MESSAGE(rcm_ucm_resolve_ib_service) m = { .body = { .id = handle } };
	size_t len = name ? strlen(name) : 0;

	if (len >= sizeof(m.body.service_name))
		return -ENAMETOOLONG;
	if (by_id) {
		m.body.service_id = service_id;
		m.body.flags |= RCM_UCM_SERVICE_BY_ID;
	}
	if (name) {
		memcpy(m.body.service_name, name, len);
		m.body.flags |= RCM_UCM_SERVICE_BY_NAME;
	}
	return SEND(ucma, RCM_UCM_CMD_RESOLVE_IB_SERVICE, &m, 0);
}

static int ucma_query(const struct rcm_ucma *ucma, uint32_t handle, uint32_t option, void *answer, size_t len)
{
	MESSAGE(rdma_ucm_query) m = { .body = {
		.response = address_of(answer), .id = handle, .option = option,
	} };

	return SEND(ucma, RDMA_USER_CM_CMD_QUERY, &m, len);
}

static int query_addresses(const struct rcm_ucma *ucma, uint32_t handle, uint32_t option,
			   struct rcm_ucma_addr *ret_addr)
{
	/* A kernel that doesn't know device indexes leaves this one alone. */
	struct rdma_ucm_query_addr_resp answer = { .ibdev_index = UINT32_MAX };
	int ret = ucma_query(ucma, handle, option, &answer, sizeof(answer));

	if (ret)
		return ret;
	_Static_assert(sizeof(answer.src_addr) == sizeof(ret_addr->src), "socket address storage");
	memcpy(&ret_addr->src, &answer.src_addr, sizeof(ret_addr->src));
	memcpy(&ret_addr->dst, &answer.dst_addr, sizeof(ret_addr->dst));
	ret_addr->node_guid = answer.node_guid;
	ret_addr->device_index = answer.ibdev_index == UINT32_MAX ? -1 : (int64_t)answer.ibdev_index;
	ret_addr->port = answer.port_num;
	ret_addr->pkey = answer.pkey;
	return 0;
}

int rcm_ucma_query_addr(const struct rcm_ucma *ucma, uint32_t handle, struct rcm_ucma_addr *ret_addr)
{
	return query_addresses(ucma, handle, RDMA_USER_CM_QUERY_ADDR, ret_addr);
}

int rcm_ucma_query_gid(const struct rcm_ucma *ucma, uint32_t handle, struct rcm_ucma_addr *ret_addr)
{
	return query_addresses(ucma, handle, RDMA_USER_CM_QUERY_GID, ret_addr);
}

int rcm_ucma_query_path(const struct rcm_ucma *ucma, uint32_t handle,
			struct ibv_path_data paths[RCM_UCMA_PATHS_MAX], uint32_t *ret_count)
{
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ibv_path_data paths[RCM_UCMA_PATHS_MAX];
	} answer = { 0 };
	int ret = ucma_query(ucma, handle, RDMA_USER_CM_QUERY_PATH, &answer, sizeof(answer));
	uint32_t count = answer.head.num_paths;

	if (ret)
		return ret;
	if (count > RCM_UCMA_PATHS_MAX)
		count = RCM_UCMA_PATHS_MAX;
	memcpy(paths, answer.paths, count * sizeof(*paths));
	*ret_count = count;
	return 0;
}

int rcm_ucma_query_ib_service(const struct rcm_ucma *ucma, uint32_t handle, uint8_t (*records)[176],
			      uint32_t max, uint32_t *ret_count, uint32_t *ret_total)
{
	struct rcm_ucm_query_ib_service_resp *answer;
	uint32_t count;
	size_t len;
	int ret;

	if (max > RCM_UCMA_SERVICES_MAX)
		max = RCM_UCMA_SERVICES_MAX;
	len = sizeof(*answer) + max * sizeof(*answer->recs);
	answer = calloc(1, len);
	if (!answer)
		return -ENOMEM;
	ret = ucma_query(ucma, handle, RCM_UCM_QUERY_IB_SERVICE, answer, len);
	if (ret)
		goto out;
	count = answer->num_service_recs < max ? answer->num_service_recs : max;
	memcpy(records, answer->recs, count * sizeof(*records));
	*ret_count = count;
	*ret_total = answer->num_service_recs;
out:
	free(answer);
	return ret;
}

int rcm_ucma_connect(const struct rcm_ucma *ucma, uint32_t handle, const struct rdma_conn_param *param,
		     struct rcm_ucma_ece ece)
{
	MESSAGE(rdma_ucm_connect) m = { .body = {
		.id = handle, .ece = { .vendor_id = ece.vendor_id, .attr_mod = ece.attr_mod },
	} };

	copy_param(&m.body.conn_param, param);
	return SEND(ucma, RDMA_USER_CM_CMD_CONNECT, &m, 0);
}

int rcm_ucma_listen(const struct rcm_ucma *ucma, uint32_t handle, int backlog)
{
	MESSAGE(rdma_ucm_listen) m = { .body = { .id = handle, .backlog = (uint32_t)backlog } };

	return SEND(ucma, RDMA_USER_CM_CMD_LISTEN, &m, 0);
}

int rcm_ucma_accept(const struct rcm_ucma *ucma, uint32_t handle, uint64_t uid,
		    const struct rdma_conn_param *param, struct rcm_ucma_ece ece)
{
	MESSAGE(rdma_ucm_accept) m = { .body = {
		.uid = uid, .id = handle, .ece = { .vendor_id = ece.vendor_id, .attr_mod = ece.attr_mod },
	} };

	if (param)
		copy_param(&m.body.conn_param, param);
	return SEND(ucma, RDMA_USER_CM_CMD_ACCEPT, &m, 0);
}

int rcm_ucma_reject(const struct rcm_ucma *ucma, uint32_t handle, uint8_t reason, const void *data, uint8_t len)
{
	MESSAGE(rdma_ucm_reject) m = { .body = { .id = handle, .reason = reason } };

	if (data && len) {
		memcpy(m.body.private_data, data, len);
		m.body.private_data_len = len;
	}
	return SEND(ucma, RDMA_USER_CM_CMD_REJECT, &m, 0);
}

int rcm_ucma_disconnect(const struct rcm_ucma *ucma, uint32_t handle)
{
	MESSAGE(rdma_ucm_disconnect) m = { .body = { .id = handle } };

	return SEND(ucma, RDMA_USER_CM_CMD_DISCONNECT, &m, 0);
}

int rcm_ucma_notify(const struct rcm_ucma *ucma, uint32_t handle, enum ibv_event_type event)
{
	MESSAGE(rdma_ucm_notify) m = { .body = { .id = handle, .event = event } };

	return SEND(ucma, RDMA_USER_CM_CMD_NOTIFY, &m, 0);
}

int rcm_ucma_init_qp_attr(const struct rcm_ucma *ucma, uint32_t handle, enum ibv_qp_state state,
			  struct ibv_qp_attr *ret_attr, int *ret_mask)
{
	struct ib_uverbs_qp_attr answer = { 0 };
	MESSAGE(rdma_ucm_init_qp_attr) m = { .body = {
		.response = address_of(&answer), .id = handle, .qp_state = state,
	} };
	int ret = SEND(ucma, RDMA_USER_CM_CMD_INIT_QP_ATTR, &m, sizeof(answer));

	if (!ret)
		rcm_ucma_qp_attr_decode(&answer, ret_attr, ret_mask);
	return ret;
}

int rcm_ucma_set_option(const struct rcm_ucma *ucma, uint32_t handle, int level, int name, const void *value,
			size_t len)
{
	MESSAGE(rdma_ucm_set_option) m = { .body = {
		.optval = (uintptr_t)value, .id = handle, .level = (uint32_t)level, .optname = (uint32_t)name,
		.optlen = (uint32_t)len,
	} };

	if (len > UINT32_MAX)
		return -EINVAL;
	return SEND(ucma, RDMA_USER_CM_CMD_SET_OPTION, &m, 0);
}

int rcm_ucma_join_mcast(const struct rcm_ucma *ucma, uint32_t handle, uint64_t uid, const struct sockaddr *addr,
			socklen_t len, uint16_t flags, uint32_t *ret_handle)
{
	struct rdma_ucm_create_id_resp answer = { 0 };
	MESSAGE(rdma_ucm_join_mcast) m = { .body = {
		.response = address_of(&answer), .uid = uid, .id = handle, .addr_size = (uint16_t)len,
		.join_flags = flags,
	} };
	int ret = copy_addr(&m.body.addr, addr, len);

	if (!ret)
		ret = SEND(ucma, RDMA_USER_CM_CMD_JOIN_MCAST, &m, sizeof(answer));
	if (!ret)
		*ret_handle = answer.id;
	return ret;
}

int rcm_ucma_get_event(const struct rcm_ucma *ucma, struct rcm_ucma_event *ret_event)
{
	struct rdma_ucm_event_resp answer = { 0 };
	MESSAGE(rdma_ucm_get_event) m = { .body = { .response = address_of(&answer) } };
	int ret = SEND(ucma, RDMA_USER_CM_CMD_GET_EVENT, &m, sizeof(answer));

	return ret ? ret : rcm_ucma_event_decode(&answer, sizeof(answer), ret_event);
}
