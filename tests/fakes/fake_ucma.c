/* SPDX-License-Identifier: BSD-2-Clause */
/* A kernel's connection manager that plays a script: the device. */
#include "fake_ucma.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fake_answer.h"
#include "fake_kernel.h"
#include "fake_script.h"
#include "test.h"
#include "ucma/ucma.h"

enum { COMMANDS = 32 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned counts[COMMANDS];
static uint8_t last_body[RCM_FAKE_BODY_MAX];
static size_t last_body_len;
static bool is_lenient;
static int open_result;
static bool is_next_0;
static int input;				/* what descriptor 0 was before */
static void (*_Atomic before)(uint32_t command);
static void (*_Atomic before_read)(void);

static int take(struct fake_file *file, const struct rdma_ucm_cmd_hdr *hdr, const uint8_t *body)
{
	counts[hdr->cmd]++;
	if (hdr->out && !rcm_fake_has_answer(hdr->cmd))
		rcm_fake_fail("a command without an answer has room for one", hdr->cmd);
	if (hdr->cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return rcm_fake_kernel_get_event(file, body, hdr->out);
	last_body_len = hdr->in;
	memcpy(last_body, body, hdr->in);
	rcm_fake_kernel_follow_accept(hdr->cmd, body);
	if (rcm_fake_script_has_next(hdr->cmd))
		return rcm_fake_script_play(file, body, hdr->in, hdr->out);
	if (is_lenient)
		return rcm_fake_kernel_serve(file, hdr->cmd, body, hdr->out);
	rcm_fake_fail("a command that the script doesn't have here", hdr->cmd);
	return -EPROTO;
}

static void call_hooks(uint32_t command)
{
	void (*hook)(uint32_t) = atomic_load(&before);
	void (*read_hook)(void) = atomic_load(&before_read);

	if (command != RDMA_USER_CM_CMD_GET_EVENT && hook)
		hook(command);
	else if (command == RDMA_USER_CM_CMD_GET_EVENT && read_hook)
		read_hook();
}

static int fake_command(int fd, const void *bytes, size_t len)
{
	struct rdma_ucm_cmd_hdr hdr;
	_Alignas(8) uint8_t body[RCM_FAKE_BODY_MAX];
	struct fake_file *file;
	int ret = -EINVAL;

	if (len < sizeof(hdr))
		return ret;
	memcpy(&hdr, bytes, sizeof(hdr));
	call_hooks(hdr.cmd);
	pthread_mutex_lock(&mutex);
	if (hdr.in + sizeof(hdr) > len || hdr.in > sizeof(body) || hdr.cmd >= COMMANDS)
		goto out;
	memcpy(body, (const uint8_t *)bytes + sizeof(hdr), hdr.in);
	file = rcm_fake_kernel_file(fd);
	if (file)
		ret = take(file, &hdr, body);
out:
	pthread_mutex_unlock(&mutex);
	return ret;
}

static int move_to_0(int fd)
{
	is_next_0 = false;
	input = fcntl(0, F_DUPFD_CLOEXEC, 0);
	dup3(fd, 0, O_CLOEXEC);
	close(fd);
	return 0;
}

static int fake_open(int flags)
{
	int ret = open_result;

	if (ret)
		return ret;
	pthread_mutex_lock(&mutex);
	if (flags & ~O_NONBLOCK)
		rcm_fake_fail("opened with flags that the device doesn't have", (uint32_t)flags);
	ret = rcm_fake_kernel_open(flags);
	if (ret >= 0 && is_next_0)
		ret = move_to_0(ret);
	pthread_mutex_unlock(&mutex);
	return ret;
}

static void fake_close(int fd)
{
	pthread_mutex_lock(&mutex);
	rcm_fake_kernel_close(fd);
	if (!fd) {
		dup2(input, 0);
		close(input);
	}
	pthread_mutex_unlock(&mutex);
}

static bool fake_is(int fd)
{
	bool is;

	pthread_mutex_lock(&mutex);
	is = rcm_fake_kernel_file(fd);
	pthread_mutex_unlock(&mutex);
	return is;
}

static const struct rcm_ucma_ops fake_ops = {
	.name = "fake",
	.open = fake_open,
	.command = fake_command,
	.close = fake_close,
	.is = fake_is,
};

void rcm_fake_ucma_use(void)
{
	memset(counts, 0, sizeof(counts));
	open_result = 0;
	is_lenient = false;
	rcm_fake_kernel_reset();
	rcm_ucma_replace(&fake_ops);
}

void rcm_fake_ucma_done(void)
{
	const char *failure;

	rcm_ucma_replace(NULL);
	atomic_store(&before, NULL);
	atomic_store(&before_read, NULL);
	rcm_fake_script_end();
	failure = rcm_fake_kernel_end();
	if (failure)
		fail_msg("fake kernel: %s", failure);
}

void rcm_fake_ucma_before(void (*hook)(uint32_t command))
{
	atomic_store(&before, hook);
}

void rcm_fake_ucma_before_read(void (*hook)(void))
{
	atomic_store(&before_read, hook);
}

void rcm_fake_ucma_lenient(bool lenient)
{
	is_lenient = lenient;
}

void rcm_fake_ucma_bind(uint64_t node_guid, uint32_t index, const char *src, const char *dst)
{
	rcm_fake_kernel_bind(node_guid, index, src, dst);
}

void rcm_fake_ucma_open_result(int result)
{
	open_result = result;
}

void rcm_fake_ucma_open_as_0(void)
{
	is_next_0 = true;
}

struct rcm_fake_step *rcm_fake_ucma_expect(uint32_t command)
{
	struct rcm_fake_step *step;

	pthread_mutex_lock(&mutex);
	step = rcm_fake_script_add(command);
	pthread_mutex_unlock(&mutex);
	return step;
}

void rcm_fake_ucma_event(int fd, const struct rdma_ucm_event_resp *event)
{
	pthread_mutex_lock(&mutex);
	rcm_fake_kernel_queue(rcm_fake_kernel_file(fd), event->id, event);
	pthread_mutex_unlock(&mutex);
}

void rcm_fake_ucma_event_of(uint32_t handle, uint32_t type, int status)
{
	struct rdma_ucm_event_resp resp = { .id = handle, .event = type, .status = (uint32_t)status };
	struct fake_id *id;

	pthread_mutex_lock(&mutex);
	id = rcm_fake_kernel_id(handle);
	if (id) {
		resp.uid = id->uid;
		rcm_fake_kernel_queue(id->file, handle, &resp);
	} else {
		rcm_fake_fail("an event of an id that is gone", handle);
	}
	pthread_mutex_unlock(&mutex);
}

static uint32_t connect_request(uint32_t listener, struct rdma_ucm_event_resp resp)
{
	struct fake_id *id;

	resp.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	pthread_mutex_lock(&mutex);
	id = rcm_fake_kernel_id(listener);
	if (!id) {
		rcm_fake_fail("a request to a listener that is gone", listener);
		goto out;
	}
	resp.uid = id->uid;
	resp.id = rcm_fake_kernel_last_handle + 1;
	rcm_fake_kernel_add(resp.id, 0, id->file);
	rcm_fake_kernel_queue(id->file, listener, &resp);
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
	uint32_t handle;

	pthread_mutex_lock(&mutex);
	handle = rcm_fake_kernel_last_handle;
	pthread_mutex_unlock(&mutex);
	return handle;
}

unsigned rcm_fake_ucma_ids(void)
{
	unsigned n;

	pthread_mutex_lock(&mutex);
	n = rcm_fake_kernel_count();
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
	id = rcm_fake_kernel_id(handle);
	if (id)
		pkey = id->pkey;
	else
		rcm_fake_fail("the P_Key of an id that is gone", handle);
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
