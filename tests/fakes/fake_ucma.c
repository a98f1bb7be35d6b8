/* SPDX-License-Identifier: BSD-2-Clause */
/* A kernel's connection manager that plays a script. */
#include "fake_ucma.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "addr/sockaddr.h"
#include "test.h"
#include "ucma/ucma.h"

enum { COMMANDS = 32, CHECKS = 12, BODY_MAX = 512 };

struct check {
	size_t offset, len;
	uint8_t bytes[272];
};

struct rcm_fake_step {
	TAILQ_ENTRY(rcm_fake_step) link;
	uint32_t command;
	unsigned n_checks;
	struct check checks[CHECKS];
	int error;
	size_t answer_len;
	uint8_t *answer;
};

/* What opening gives: one end of a pair of sockets, which is told by its inode. The other end is written for it to be
 * readable. */
struct fake_file {
	LIST_ENTRY(fake_file) link;
	ino_t inode;
	int own, ring;
};

/* A CM ID, or a membership of a multicast group. */
struct fake_id {
	LIST_ENTRY(fake_id) link;
	uint32_t handle;
	uint32_t member;		/* of a membership: the id that it goes with */
	uint64_t uid;
	struct fake_file *file;
	uint32_t events_read;
	struct sockaddr_ib bound;	/* of BIND, as AF_IB; sib_family 0: not bound so */
	uint16_t pkey;			/* host order */
};

struct fake_event {
	TAILQ_ENTRY(fake_event) link;
	struct fake_file *file;
	uint32_t counted_on;		/* handle of the id that its reading counts for; CONNECT_REQUEST: the listener */
	struct rdma_ucm_event_resp resp;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, rcm_fake_step) script = TAILQ_HEAD_INITIALIZER(script);
static TAILQ_HEAD(, fake_event) events = TAILQ_HEAD_INITIALIZER(events);
static LIST_HEAD(, fake_id) ids = LIST_HEAD_INITIALIZER(ids);
static LIST_HEAD(, fake_file) files = LIST_HEAD_INITIALIZER(files);
static unsigned counts[COMMANDS];
static uint32_t last_handle;
static uint8_t last_body[BODY_MAX];
static size_t last_body_len;
static bool is_lenient;
static int open_result;
static struct rdma_ucm_query_addr_resp bound;
static char failure[256];
static void (*_Atomic before)(uint32_t command);

static void note_failure(const char *what, uint32_t command)
{
	if (!failure[0])
		snprintf(failure, sizeof(failure), "%s (command %u)", what, command);
}

static struct fake_id *find_id(uint32_t handle)
{
	struct fake_id *id;

	LIST_FOREACH(id, &ids, link)
		if (id->handle == handle)
			return id;
	return NULL;
}

static struct fake_id *add_id(uint32_t handle, uint64_t uid, struct fake_file *file)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	assert_non_null(id);
	*id = (struct fake_id){ .handle = handle, .uid = uid, .file = file };
	LIST_INSERT_HEAD(&ids, id, link);
	last_handle = handle;
	return id;
}

/* The file that a descriptor stands for, whatever number it has by now; NULL: it is none of these. */
static struct fake_file *find_file(int fd)
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

static void queue_event(struct fake_file *file, uint32_t counted_on, const struct rdma_ucm_event_resp *resp)
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

/* Where in its body a command says where the answer goes; -1: it has none. */
static int response_offset(uint32_t command)
{
	switch (command) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		return offsetof(struct rdma_ucm_create_id, response);
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_GET_EVENT:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
	case RDMA_USER_CM_CMD_QUERY:
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		return 0;
	default:
		return -1;
	}
}

static void write_answer(uint32_t command, const uint8_t *body, uint16_t room, const void *answer, size_t len)
{
	int offset = response_offset(command);
	uint64_t at;

	if (offset < 0) {
		if (room)
			note_failure("a command without an answer has room for one", command);
		return;
	}
	memcpy(&at, body + offset, sizeof(at));
	if (!at || !room)
		note_failure("a command with an answer has no room for it", command);
	else
		memcpy((void *)(uintptr_t)at, answer, len < room ? len : room);
}

static int get_event(struct fake_file *file, const uint8_t *body, uint16_t room)
{
	struct fake_event *event;
	struct fake_id *id;

	TAILQ_FOREACH(event, &events, link)
		if (event->file == file)
			break;
	if (!event && !(fcntl(file->own, F_GETFL) & O_NONBLOCK))
		note_failure("reading an event that isn't there would wait", RDMA_USER_CM_CMD_GET_EVENT);
	if (!event)
		return -EAGAIN;
	id = find_id(event->counted_on);
	if (id)
		id->events_read++;
	write_answer(RDMA_USER_CM_CMD_GET_EVENT, body, room, &event->resp, sizeof(event->resp));
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
		request = event->resp.event == RDMA_CM_EVENT_CONNECT_REQUEST ? find_id(event->resp.id) : NULL;
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
	struct fake_id *id = find_id(in->id), *member, *next;

	if (!id)
		return -ENOENT;
	out.events_reported = id->events_read;
	for (member = LIST_FIRST(&ids); member; member = next) {
		next = LIST_NEXT(member, link);
		if (member->member == in->id)
			forget_id(member);
	}
	forget_id(id);
	write_answer(command, body, room, &out, sizeof(out));
	return 0;
}

static int migrate_id(struct fake_file *file, const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_migrate_id *in = (const void *)body;
	struct rdma_ucm_migrate_resp out;
	struct fake_id *id = find_id(in->id), *member;
	struct fake_event *event;

	if (!id || id->file != find_file((int)in->fd))
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
	write_answer(RDMA_USER_CM_CMD_MIGRATE_ID, body, room, &out, sizeof(out));
	return 0;
}

/* The P_Key and GID of a bound id are BIND's for good; of another those of the source, else the destination's. */
static int bind_id(const uint8_t *body)
{
	const struct rdma_ucm_bind *in = (const void *)body;
	struct fake_id *id = find_id(in->id);

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
	struct fake_id *id = find_id(in->id);

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
	write_answer(RDMA_USER_CM_CMD_QUERY, body, room, &resp, sizeof(resp));
}

static void answer_query(const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_query *in = (const void *)body;
	const struct fake_id *id = find_id(in->id);
	struct rdma_ucm_query_addr_resp gids = { .pkey = 0xffff, .node_guid = bound.node_guid };
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ibv_path_data path;
	} path = { .head.num_paths = bound.node_guid ? 1 : 0, .path.path.tclass = 0x77 };

	if (in->option != RDMA_USER_CM_QUERY_PATH && id && id->bound.sib_family) {
		answer_bound(id, body, room);
	} else if (in->option == RDMA_USER_CM_QUERY_ADDR) {
		write_answer(RDMA_USER_CM_CMD_QUERY, body, room, &bound, sizeof(bound));
	} else if (in->option == RDMA_USER_CM_QUERY_PATH) {
		write_answer(RDMA_USER_CM_CMD_QUERY, body, room, &path, sizeof(path));
	} else {
		rcm_sockaddr_ib((void *)&gids.src_addr, (const uint8_t[16]){ 0xfe, 0x80, [15] = 1 }, 0, 0, 0);
		rcm_sockaddr_ib((void *)&gids.dst_addr, (const uint8_t[16]){ 0xfe, 0x80, [15] = 2 }, 0, 0, 0);
		write_answer(RDMA_USER_CM_CMD_QUERY, body, room, &gids, sizeof(gids));
	}
}

static void answer_qp_attr(const uint8_t *body, uint16_t room)
{
	const struct rdma_ucm_init_qp_attr *in = (const void *)body;
	struct ib_uverbs_qp_attr attr = {
		.qp_attr_mask = IBV_QP_STATE, .qp_state = in->qp_state, .max_rd_atomic = 1, .max_dest_rd_atomic = 2,
	};

	write_answer(RDMA_USER_CM_CMD_INIT_QP_ATTR, body, room, &attr, sizeof(attr));
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
	id = find_id(handle);
	return id && id->file != file;
}

/* What a small kernel would do with a command that no step is about. */
static int serve(struct fake_file *file, uint32_t command, const uint8_t *body, uint16_t room)
{
	static const uint8_t zeros[BODY_MAX];
	struct rdma_ucm_create_id_resp created = { .id = last_handle + 1 };

	if (is_elsewhere(file, command, body))
		return -EINVAL;
	switch (command) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		add_id(created.id, ((const struct rdma_ucm_create_id *)(const void *)body)->uid, file);
		write_answer(command, body, room, &created, sizeof(created));
		return 0;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		add_id(created.id, ((const struct rdma_ucm_join_mcast *)(const void *)body)->uid, file)->member =
			((const struct rdma_ucm_join_mcast *)(const void *)body)->id;
		write_answer(command, body, room, &created, sizeof(created));
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
		if (response_offset(command) >= 0)
			write_answer(command, body, room, zeros, sizeof(zeros));
		return 0;
	}
}

/* An id's life is followed in scripted commands too, so that events find it. */
static void follow(struct fake_file *file, const struct rcm_fake_step *step, const uint8_t *body)
{
	uint32_t handle;

	if (step->command == RDMA_USER_CM_CMD_CREATE_ID && step->answer_len >= sizeof(handle)) {
		memcpy(&handle, step->answer, sizeof(handle));
		add_id(handle, ((const struct rdma_ucm_create_id *)(const void *)body)->uid, file);
	}
}

static int play(struct rcm_fake_step *step, struct fake_file *file, const uint8_t *body, size_t len, uint16_t room)
{
	int ret = -step->error;

	for (unsigned i = 0; i < step->n_checks; i++) {
		const struct check *c = &step->checks[i];

		if (c->offset + c->len > len || memcmp(body + c->offset, c->bytes, c->len)) {
			char what[64];

			snprintf(what, sizeof(what), "wrong bytes at %zu, %zu long", c->offset, c->len);
			note_failure(what, step->command);
		}
	}
	if (!ret && step->answer) {
		follow(file, step, body);
		write_answer(step->command, body, room, step->answer, step->answer_len);
	} else if (!ret) {
		ret = serve(file, step->command, body, room);
	}
	TAILQ_REMOVE(&script, step, link);
	free(step->answer);
	free(step);
	return ret;
}

static void follow_accept(uint32_t command, const uint8_t *body)
{
	const struct rdma_ucm_accept *accept = (const void *)body;
	struct fake_id *id;

	if (command != RDMA_USER_CM_CMD_ACCEPT || !accept->conn_param.valid)
		return;
	id = find_id(accept->id);
	if (id)
		id->uid = accept->uid;
}

static int take(struct fake_file *file, const struct rdma_ucm_cmd_hdr *hdr, const uint8_t *body)
{
	struct rcm_fake_step *step = TAILQ_FIRST(&script);

	counts[hdr->cmd]++;
	if (hdr->cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return get_event(file, body, hdr->out);
	last_body_len = hdr->in;
	memcpy(last_body, body, hdr->in);
	follow_accept(hdr->cmd, body);
	if (step && step->command == hdr->cmd)
		return play(step, file, body, hdr->in, hdr->out);
	if (is_lenient)
		return serve(file, hdr->cmd, body, hdr->out);
	note_failure("a command that the script doesn't have here", hdr->cmd);
	return -EPROTO;
}

static int fake_command(int fd, const void *bytes, size_t len)
{
	struct rdma_ucm_cmd_hdr hdr;
	_Alignas(8) uint8_t body[BODY_MAX];
	void (*hook)(uint32_t command);
	struct fake_file *file;
	int ret = -EINVAL;

	if (len < sizeof(hdr))
		return ret;
	memcpy(&hdr, bytes, sizeof(hdr));
	hook = atomic_load(&before);
	if (hook && hdr.cmd != RDMA_USER_CM_CMD_GET_EVENT)
		hook(hdr.cmd);
	pthread_mutex_lock(&mutex);
	if (hdr.in + sizeof(hdr) > len || hdr.in > sizeof(body) || hdr.cmd >= COMMANDS)
		goto out;
	memcpy(body, (const uint8_t *)bytes + sizeof(hdr), hdr.in);
	file = find_file(fd);
	if (file)
		ret = take(file, &hdr, body);
out:
	pthread_mutex_unlock(&mutex);
	return ret;
}

static int file_new(void)
{
	struct fake_file *file = calloc(1, sizeof(*file));
	struct stat about;
	int ends[2];

	assert_non_null(file);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends)) {
		free(file);
		return -errno;
	}
	assert_int_equal(fstat(ends[0], &about), 0);
	*file = (struct fake_file){
		.inode = about.st_ino, .own = fcntl(ends[0], F_DUPFD_CLOEXEC, 0), .ring = ends[1],
	};
	pthread_mutex_lock(&mutex);
	LIST_INSERT_HEAD(&files, file, link);
	pthread_mutex_unlock(&mutex);
	return ends[0];
}

static int fake_open(void)
{
	return open_result ? open_result : file_new();
}

static void file_free(struct fake_file *file)
{
	close(file->own);
	close(file->ring);
	LIST_REMOVE(file, link);
	free(file);
}

static void fake_close(int fd)
{
	struct fake_event *event, *next;
	struct fake_file *file;

	pthread_mutex_lock(&mutex);
	file = find_file(fd);
	for (event = TAILQ_FIRST(&events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->file == file)
			drop_event(event);
	}
	if (file)
		file_free(file);
	else
		note_failure("what is closed isn't the device's", (uint32_t)fd);
	close(fd);
	pthread_mutex_unlock(&mutex);
}

static const struct rcm_ucma_ops fake_ops = {
	.name = "fake",
	.open = fake_open,
	.command = fake_command,
	.close = fake_close,
};

void rcm_fake_ucma_use(void)
{
	memset(counts, 0, sizeof(counts));
	failure[0] = '\0';
	last_handle = 0;
	open_result = 0;
	is_lenient = false;
	memset(&bound, 0, sizeof(bound));
	rcm_ucma_replace(&fake_ops);
}

void rcm_fake_ucma_done(void)
{
	struct rcm_fake_step *step;
	struct fake_event *event;
	struct fake_id *id;
	bool left = !LIST_EMPTY(&files);

	rcm_ucma_replace(NULL);
	atomic_store(&before, NULL);
	while ((step = TAILQ_FIRST(&script))) {
		note_failure("a step was not played", step->command);
		TAILQ_REMOVE(&script, step, link);
		free(step->answer);
		free(step);
	}
	while ((event = TAILQ_FIRST(&events))) {
		note_failure("an event was not read", event->resp.event);
		drop_event(event);
	}
	while ((id = LIST_FIRST(&ids))) {
		LIST_REMOVE(id, link);
		free(id);
	}
	if (left)
		note_failure("a descriptor was not closed", 0);
	while (!LIST_EMPTY(&files))
		file_free(LIST_FIRST(&files));
	if (failure[0])
		fail_msg("fake kernel: %s", failure);
}

void rcm_fake_ucma_before(void (*hook)(uint32_t command))
{
	atomic_store(&before, hook);
}

void rcm_fake_ucma_lenient(bool lenient)
{
	is_lenient = lenient;
}

static void parse(struct __kernel_sockaddr_storage *to, const char *text)
{
	union rcm_sockaddr sa;

	if (!text)
		return;
	assert_int_equal(rcm_sockaddr_parse(text, AF_UNSPEC, &sa), 1);
	memcpy(to, &sa, sizeof(sa));
}

void rcm_fake_ucma_bind(uint64_t node_guid, uint32_t index, const char *src, const char *dst)
{
	memset(&bound, 0, sizeof(bound));
	bound.node_guid = node_guid;
	bound.ibdev_index = index;
	bound.port_num = node_guid ? 1 : 0;
	parse(&bound.src_addr, src);
	parse(&bound.dst_addr, dst);
}

void rcm_fake_ucma_open_result(int result)
{
	open_result = result;
}

struct rcm_fake_step *rcm_fake_ucma_expect(uint32_t command)
{
	struct rcm_fake_step *step = calloc(1, sizeof(*step));

	assert_non_null(step);
	step->command = command;
	pthread_mutex_lock(&mutex);
	TAILQ_INSERT_TAIL(&script, step, link);
	pthread_mutex_unlock(&mutex);
	return step;
}

void rcm_fake_step_bytes(struct rcm_fake_step *step, size_t offset, const void *bytes, size_t len)
{
	struct check *c = &step->checks[step->n_checks++];

	assert_in_range(step->n_checks, 1, CHECKS);
	assert_in_range(len, 1, sizeof(c->bytes));
	c->offset = offset;
	c->len = len;
	memcpy(c->bytes, bytes, len);
}

void rcm_fake_step_answer(struct rcm_fake_step *step, const void *answer, size_t len)
{
	step->answer = malloc(len);
	assert_non_null(step->answer);
	memcpy(step->answer, answer, len);
	step->answer_len = len;
}

void rcm_fake_step_error(struct rcm_fake_step *step, int error)
{
	step->error = error;
}

void rcm_fake_ucma_event(int fd, const struct rdma_ucm_event_resp *event)
{
	pthread_mutex_lock(&mutex);
	queue_event(find_file(fd), event->id, event);
	pthread_mutex_unlock(&mutex);
}

void rcm_fake_ucma_event_of(uint32_t handle, uint32_t type, int status)
{
	struct rdma_ucm_event_resp resp = { .id = handle, .event = type, .status = (uint32_t)status };
	struct fake_id *id;

	pthread_mutex_lock(&mutex);
	id = find_id(handle);
	if (id) {
		resp.uid = id->uid;
		queue_event(id->file, handle, &resp);
	} else {
		note_failure("an event of an id that is gone", handle);
	}
	pthread_mutex_unlock(&mutex);
}

static uint32_t connect_request(uint32_t listener, struct rdma_ucm_event_resp resp)
{
	struct fake_id *id;

	resp.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	pthread_mutex_lock(&mutex);
	id = find_id(listener);
	if (!id) {
		note_failure("a request to a listener that is gone", listener);
		goto out;
	}
	resp.uid = id->uid;
	resp.id = last_handle + 1;
	add_id(resp.id, 0, id->file);
	queue_event(id->file, listener, &resp);
out:
	pthread_mutex_unlock(&mutex);
	return resp.id;
}

uint32_t rcm_fake_ucma_connect_request(uint32_t listener, const struct rdma_ucm_conn_param *param)
{
	struct rdma_ucm_event_resp resp = { 0 };

	if (param)
		resp.param.conn = *param;
	return connect_request(listener, resp);
}

uint32_t rcm_fake_ucma_connect_request_ece(uint32_t listener, uint32_t vendor, uint32_t options)
{
	return connect_request(listener, (struct rdma_ucm_event_resp){ .ece = { vendor, options } });
}

uint32_t rcm_fake_ucma_last_handle(void)
{
	return last_handle;
}

unsigned rcm_fake_ucma_ids(void)
{
	struct fake_id *id;
	unsigned n = 0;

	pthread_mutex_lock(&mutex);
	LIST_FOREACH(id, &ids, link)
		n++;
	pthread_mutex_unlock(&mutex);
	return n;
}

size_t rcm_fake_ucma_last_body(void *body, size_t max)
{
	size_t len;

	pthread_mutex_lock(&mutex);
	len = last_body_len < max ? last_body_len : max;
	memcpy(body, last_body, len);
	pthread_mutex_unlock(&mutex);
	return len;
}

uint16_t rcm_fake_ucma_pkey(uint32_t handle)
{
	const struct fake_id *id;
	uint16_t pkey = 0;

	pthread_mutex_lock(&mutex);
	id = find_id(handle);
	if (id)
		pkey = id->pkey;
	else
		note_failure("the P_Key of an id that is gone", handle);
	pthread_mutex_unlock(&mutex);
	return pkey;
}

unsigned rcm_fake_ucma_count(uint32_t command)
{
	unsigned n;

	pthread_mutex_lock(&mutex);
	n = command < COMMANDS ? counts[command] : 0;
	pthread_mutex_unlock(&mutex);
	return n;
}
