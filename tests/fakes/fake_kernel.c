/* SPDX-License-Identifier: BSD-2-Clause */
/* The small kernel of the fake: files, ids, events, and what it does with a command. */
#include "fake_kernel.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "addr/sockaddr.h"
#include "fake_answer.h"
#include "test.h"

/* What opening gives: one end of a pair of sockets, which is told by its inode. The other end is written for it to be
 * readable. */
struct fake_file {
	LIST_ENTRY(fake_file) link;
	ino_t inode;
	int own, ring;
};

struct fake_event {
	TAILQ_ENTRY(fake_event) link;
	struct fake_file *file;
	uint32_t counted_on;		/* handle of the id that its reading counts for; CONNECT_REQUEST: the listener */
	struct rdma_ucm_event_resp resp;
};

static TAILQ_HEAD(, fake_event) events = TAILQ_HEAD_INITIALIZER(events);
static LIST_HEAD(, fake_id) ids = LIST_HEAD_INITIALIZER(ids);
static LIST_HEAD(, fake_file) files = LIST_HEAD_INITIALIZER(files);
static struct rdma_ucm_query_addr_resp bound;

uint32_t rcm_fake_kernel_last_handle;

struct fake_id *rcm_fake_kernel_id(uint32_t handle)
{
	struct fake_id *id;

	LIST_FOREACH(id, &ids, link)
		if (id->handle == handle)
			return id;
	return NULL;
}

struct fake_id *rcm_fake_kernel_add(uint32_t handle, uint64_t uid, struct fake_file *file)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	assert_non_null(id);
	*id = (struct fake_id){ .handle = handle, .uid = uid, .file = file };
	LIST_INSERT_HEAD(&ids, id, link);
	rcm_fake_kernel_last_handle = handle;
	return id;
}

struct fake_file *rcm_fake_kernel_file(int fd)
{
	struct fake_file *file;
	struct stat about;

	if (fstat(fd, &about))
		return NULL;
	LIST_FOREACH(file, &files, link)
		if (file->inode == about.st_ino)
			return file;
	return NULL;
}

static void ring(struct fake_file *file)
{
	assert_int_equal(send(file->ring, "", 1, 0), 1);
}

static void unring(struct fake_file *file)
{
	char one;

	assert_int_equal(recv(file->own, &one, 1, MSG_DONTWAIT), 1);
}

void rcm_fake_kernel_queue(struct fake_file *file, uint32_t counted_on, const struct rdma_ucm_event_resp *resp)
{
	struct fake_event *event = calloc(1, sizeof(*event));

	assert_non_null(event);
	*event = (struct fake_event){ .file = file, .counted_on = counted_on, .resp = *resp };
	TAILQ_INSERT_TAIL(&events, event, link);
	ring(file);
}

static void drop_event(struct fake_event *event)
{
	TAILQ_REMOVE(&events, event, link);
	unring(event->file);
	free(event);
}

int rcm_fake_kernel_get_event(struct fake_file *file, const uint8_t *body, uint16_t room)
{
	struct fake_event *event;
	struct fake_id *id;

	TAILQ_FOREACH(event, &events, link)
		if (event->file == file)
			break;
	if (!event && !(fcntl(file->own, F_GETFL) & O_NONBLOCK))
		rcm_fake_fail("reading an event that isn't there would wait", RDMA_USER_CM_CMD_GET_EVENT);
	if (!event)
		return -EAGAIN;
	id = rcm_fake_kernel_id(event->counted_on);
	if (id)
		id->events_read++;
	rcm_fake_answer(RDMA_USER_CM_CMD_GET_EVENT, body, room, &event->resp, sizeof(event->resp));
	drop_event(event);
	return 0;
}

static void forget_id(struct fake_id *id)
{
	struct fake_event *event, *next;
	struct fake_id *request;

	for (event = TAILQ_FIRST(&events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->counted_on != id->handle)
			continue;
		/* A request that nobody has read goes with its listener. */
		request = event->resp.event == RDMA_CM_EVENT_CONNECT_REQUEST ? rcm_fake_kernel_id(event->resp.id) : NULL;
		if (request) {
			LIST_REMOVE(request, link);
			free(request);
		}
		drop_event(event);
	}
	LIST_REMOVE(id, link);
	free(id);
}

static int destroy_id(uint32_t command, const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_destroy_id *in = (const void *)body;
	struct rdma_ucm_destroy_id_resp out;
	struct fake_id *id = rcm_fake_kernel_id(in->id), *member, *next;

	if (!id)
		return -ENOENT;
	out.events_reported = id->events_read;
	for (member = LIST_FIRST(&ids); member; member = next) {
		next = LIST_NEXT(member, link);
		if (member->member == in->id)
			forget_id(member);
	}
	forget_id(id);
	rcm_fake_answer(command, body, room, &out, sizeof(out));
	return 0;
}

static int migrate_id(struct fake_file *file, const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_migrate_id *in = (const void *)body;
	struct rdma_ucm_migrate_resp out;
	struct fake_id *id = rcm_fake_kernel_id(in->id), *member;
	struct fake_event *event;

	if (!id || id->file != rcm_fake_kernel_file((int)in->fd))
		return -ENOENT;
	out.events_reported = id->events_read;
	TAILQ_FOREACH(event, &events, link) {
		if (event->counted_on != in->id || event->file == file)
			continue;
		unring(event->file);
		event->file = file;
		ring(file);
	}
	id->file = file;
	LIST_FOREACH(member, &ids, link)
		if (member->member == in->id)
			member->file = file;
	rcm_fake_answer(RDMA_USER_CM_CMD_MIGRATE_ID, body, room, &out, sizeof(out));
	return 0;
}

/* The P_Key and GID of a bound id are BIND's for good; of another those of the source, else the destination's. */
static int bind_id(const uint8_t *body)
{
	const struct rdma_ucm_bind *in = (const void *)body;
	struct fake_id *id = rcm_fake_kernel_id(in->id);

	if (!id || in->addr.ss_family != AF_IB)
		return 0;
	if (id->bound.sib_family)
		return -EINVAL;
	memcpy(&id->bound, &in->addr, sizeof(id->bound));
	id->pkey = be16toh(id->bound.sib_pkey);
	return 0;
}

static int resolve_id(const uint8_t *body)
{
	const struct rdma_ucm_resolve_addr *in = (const void *)body;
	const struct sockaddr_ib *src = (const void *)&in->src_addr, *dst = (const void *)&in->dst_addr;
	struct fake_id *id = rcm_fake_kernel_id(in->id);

	if (id && !id->bound.sib_family && in->dst_addr.ss_family == AF_IB)
		id->pkey = be16toh(in->src_size ? src->sib_pkey : dst->sib_pkey);
	return 0;
}

static void answer_bound(const struct fake_id *id, const uint8_t *body, uint16_t room)
{
	struct rdma_ucm_query_addr_resp resp = {
		.pkey = id->bound.sib_pkey, .node_guid = bound.node_guid, .ibdev_index = bound.ibdev_index,
		.port_num = bound.port_num, .src_size = sizeof(id->bound),
	};

	memcpy(&resp.src_addr, &id->bound, sizeof(id->bound));
	rcm_fake_answer(RDMA_USER_CM_CMD_QUERY, body, room, &resp, sizeof(resp));
}

static void answer_query(const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_query *in = (const void *)body;
	const struct fake_id *id = rcm_fake_kernel_id(in->id);
	struct rdma_ucm_query_addr_resp gids = { .pkey = 0xffff, .node_guid = bound.node_guid };
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ibv_path_data path;
	} path = { .head.num_paths = bound.node_guid ? 1 : 0, .path.path.tclass = 0x77 };

	if (in->option != RDMA_USER_CM_QUERY_PATH && id && id->bound.sib_family) {
		answer_bound(id, body, room);
	} else if (in->option == RDMA_USER_CM_QUERY_ADDR) {
		rcm_fake_answer(RDMA_USER_CM_CMD_QUERY, body, room, &bound, sizeof(bound));
	} else if (in->option == RDMA_USER_CM_QUERY_PATH) {
		rcm_fake_answer(RDMA_USER_CM_CMD_QUERY, body, room, &path, sizeof(path));
	} else {
		rcm_sockaddr_ib((void *)&gids.src_addr, (const uint8_t[16]){ 0xfe, 0x80, [15] = 1 }, 0, 0, 0);
		rcm_sockaddr_ib((void *)&gids.dst_addr, (const uint8_t[16]){ 0xfe, 0x80, [15] = 2 }, 0, 0, 0);
		rcm_fake_answer(RDMA_USER_CM_CMD_QUERY, body, room, &gids, sizeof(gids));
	}
}

static void answer_qp_attr(const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_init_qp_attr *in = (const void *)body;
	struct ib_uverbs_qp_attr attr = {
		.qp_attr_mask = IBV_QP_STATE, .qp_state = in->qp_state, .max_rd_atomic = 1, .max_dest_rd_atomic = 2,
	};

	rcm_fake_answer(RDMA_USER_CM_CMD_INIT_QP_ATTR, body, room, &attr, sizeof(attr));
}

/* Where in its body a command says which id it is for; -1: nowhere that matters. */
static int id_offset(uint32_t command)
{
#define CASE(number, type) case RDMA_USER_CM_CMD_##number: return offsetof(struct rdma_ucm_##type, id)
	switch (command) {
	CASE(DESTROY_ID, destroy_id);
	CASE(BIND, bind);
	CASE(RESOLVE_ADDR, resolve_addr);
	CASE(RESOLVE_ROUTE, resolve_route);
	CASE(QUERY, query);
	CASE(CONNECT, connect);
	CASE(LISTEN, listen);
	CASE(ACCEPT, accept);
	CASE(REJECT, reject);
	CASE(DISCONNECT, disconnect);
	CASE(INIT_QP_ATTR, init_qp_attr);
	CASE(SET_OPTION, set_option);
	CASE(NOTIFY, notify);
	CASE(JOIN_MCAST, join_mcast);
	CASE(LEAVE_MCAST, destroy_id);
	default: return -1;
	}
#undef CASE
}

static bool is_elsewhere(struct fake_file *file, uint32_t command, const uint8_t *body)
{
	const struct fake_id *id;
	uint32_t handle;

	if (id_offset(command) < 0)
		return false;
	memcpy(&handle, body + id_offset(command), sizeof(handle));
	id = rcm_fake_kernel_id(handle);
	return id && id->file != file;
}

int rcm_fake_kernel_serve(struct fake_file *file, uint32_t command, const uint8_t *body, uint16_t room)
{
	static const uint8_t zeros[RCM_FAKE_BODY_MAX];
	struct rdma_ucm_create_id_resp created = { .id = rcm_fake_kernel_last_handle + 1 };

	if (is_elsewhere(file, command, body))
		return -EINVAL;
	switch (command) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		rcm_fake_kernel_add(created.id, ((const struct rdma_ucm_create_id *)(const void *)body)->uid, file);
		rcm_fake_answer(command, body, room, &created, sizeof(created));
		return 0;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		rcm_fake_kernel_add(created.id, ((const struct rdma_ucm_join_mcast *)(const void *)body)->uid, file)->member =
			((const struct rdma_ucm_join_mcast *)(const void *)body)->id;
		rcm_fake_answer(command, body, room, &created, sizeof(created));
		return 0;
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
		return destroy_id(command, body, room);
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		return migrate_id(file, body, room);
	case RDMA_USER_CM_CMD_BIND:
		return bind_id(body);
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		return resolve_id(body);
	case RDMA_USER_CM_CMD_QUERY:
		answer_query(body, room);
		return 0;
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		answer_qp_attr(body, room);
		return 0;
	default:
		if (rcm_fake_has_answer(command))
			rcm_fake_answer(command, body, room, zeros, sizeof(zeros));
		return 0;
	}
}

void rcm_fake_kernel_follow_accept(uint32_t command, const uint8_t *body)
{
	const struct rdma_ucm_accept *accept = (const void *)body;
	struct fake_id *id;

	if (command != RDMA_USER_CM_CMD_ACCEPT || !accept->conn_param.valid)
		return;
	id = rcm_fake_kernel_id(accept->id);
	if (id)
		id->uid = accept->uid;
}

int rcm_fake_kernel_open(int flags)
{
	struct fake_file *file = calloc(1, sizeof(*file));
	struct stat about;
	int ends[2];

	assert_non_null(file);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends)) {
		free(file);
		return -errno;
	}
	assert_int_equal(fcntl(ends[0], F_SETFL, flags), 0);
	assert_int_equal(fstat(ends[0], &about), 0);
	*file = (struct fake_file){
		.inode = about.st_ino, .own = fcntl(ends[0], F_DUPFD_CLOEXEC, 0), .ring = ends[1],
	};
	LIST_INSERT_HEAD(&files, file, link);
	return ends[0];
}

static void file_free(struct fake_file *file)
{
	close(file->own);
	close(file->ring);
	LIST_REMOVE(file, link);
	free(file);
}

void rcm_fake_kernel_close(int fd)
{
	struct fake_event *event, *next;
	struct fake_file *file;

	file = rcm_fake_kernel_file(fd);
	for (event = TAILQ_FIRST(&events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->file == file)
			drop_event(event);
	}
	if (file)
		file_free(file);
	else
		rcm_fake_fail("what is closed isn't the device's", (uint32_t)fd);
	close(fd);
}

static void parse(struct __kernel_sockaddr_storage *to, const char *text)
{
	union rcm_sockaddr sa;

	if (!text)
		return;
	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &sa), 1);
	memcpy(to, &sa, sizeof(sa));
}

void rcm_fake_kernel_bind(uint64_t node_guid, uint32_t index, const char *src, const char *dst)
{
	memset(&bound, 0, sizeof(bound));
	bound.node_guid = node_guid;
	bound.ibdev_index = index;
	bound.port_num = node_guid ? 1 : 0;
	parse(&bound.src_addr, src);
	parse(&bound.dst_addr, dst);
}

void rcm_fake_kernel_reset(void)
{
	rcm_fake_answer_reset();
	rcm_fake_kernel_last_handle = 0;
	memset(&bound, 0, sizeof(bound));
}

const char *rcm_fake_kernel_end(void)
{
	struct fake_event *event;
	struct fake_id *id;
	bool left = !LIST_EMPTY(&files);

	while ((event = TAILQ_FIRST(&events))) {
		rcm_fake_fail("an event was not read", event->resp.event);
		drop_event(event);
	}
	while ((id = LIST_FIRST(&ids))) {
		LIST_REMOVE(id, link);
		free(id);
	}
	if (left)
		rcm_fake_fail("a descriptor was not closed", 0);
	while (!LIST_EMPTY(&files))
		file_free(LIST_FIRST(&files));
	return rcm_fake_failure();
}

unsigned rcm_fake_kernel_count(void)
{
	struct fake_id *id;
	unsigned n = 0;

	LIST_FOREACH(id, &ids, link)
		n++;
	return n;
}
