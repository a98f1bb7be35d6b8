/* SPDX-License-Identifier: BSD-2-Clause */
/* A umad whose kernel and SA are the test. */
#include "fake_umad.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/bytes.h"
#include "test.h"

enum { SENT_MAX = 128, QUEUE_MAX = 64 };

struct message {
	bool timed_out;
	uint8_t *mad;
	size_t len;
};

struct rcm_umad {
	struct rcm_sa_port port;
	int fd;				/* an eventfd that counts the messages */
	struct message queue[QUEUE_MAX];
	unsigned head, tail;
	uint8_t *last;			/* as long as the caller may look at it */
};

struct rcm_fake_umad rcm_fake_umad;
static struct rcm_fake_sent sent[SENT_MAX];
static unsigned sent_head, sent_tail;

void rcm_fake_umad_start(void)
{
	rcm_fake_umad = (struct rcm_fake_umad){ .sm_lid = 1, .device = "fake0" };
	sent_head = sent_tail = 0;
}

void rcm_fake_umad_finish(void)
{
	assert_int_equal(rcm_fake_umad.open_now, 0);
	assert_int_equal(rcm_fake_umad_unseen(), 0);
}

static int fake_find(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	if (gid->raw[0] != 0xfe)
		return -ENODEV;
	*ret_port = (struct rcm_sa_port){ .number = gid->raw[15], .infiniband = true, .active = true, .gid = *gid };
	snprintf(ret_port->device, sizeof(ret_port->device), "%s", rcm_fake_umad.device);
	return 0;
}

static int fake_open(const struct rcm_sa_port *port, struct rcm_umad **ret_umad)
{
	struct rcm_umad *umad;

	if (rcm_fake_umad.open_ret)
		return rcm_fake_umad.open_ret;
	umad = calloc(1, sizeof(*umad));
	assert_non_null(umad);
	umad->port = *port;
	umad->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	memcpy(rcm_fake_umad.opened, port->device, sizeof(rcm_fake_umad.opened));
	rcm_fake_umad.opens++;
	rcm_fake_umad.open_now++;
	*ret_umad = umad;
	return 0;
}

static int fake_fd(const struct rcm_umad *umad)
{
	return umad->fd;
}

static int fake_address(struct rcm_umad *umad, bool in_doubt, struct rcm_sa_address *ret_address)
{
	rcm_fake_umad.doubts += in_doubt;
	rcm_fake_umad.looks++;
	if (rcm_fake_umad.address_ret)
		return rcm_fake_umad.address_ret;
	*ret_address = (struct rcm_sa_address){ .lid = rcm_fake_umad.sm_lid, .gid = umad->port.gid };
	return 0;
}

static void push(struct rcm_umad *umad, bool timed_out, const void *mad, size_t len);

static void answer_info(struct rcm_umad *umad, const uint8_t question[256])
{
	static const uint8_t no_mask[8];
	uint8_t mad[256];

	assert_memory_equal(question + 48, no_mask, sizeof(no_mask));
	memcpy(mad, question, sizeof(mad));
	mad[3] |= 0x80;
	mad[4] = rcm_fake_umad.infos_none ? 3 : 0;
	mad[5] = rcm_fake_umad.infos_none || rcm_fake_umad.response_time ? 0 : 0x0c;
	mad[56 + 7] = rcm_fake_umad.response_time;
	rcm_fake_umad.infos++;
	push(umad, false, mad, sizeof(mad));
}

static int fake_send(struct rcm_umad *umad, unsigned agent, const struct rcm_sa_address *to,
		     const uint8_t mad[256], unsigned timeout_ms)
{
	struct rcm_fake_sent *s = &sent[sent_tail % SENT_MAX];

	if (rcm_fake_umad.send_ret)
		return rcm_fake_umad.send_ret;
	if (mad[17] == 0x01) {
		if (rcm_fake_umad.infos_lost)
			rcm_fake_umad.infos++;
		else
			answer_info(umad, mad);
		return 0;
	}
	assert_true(sent_tail - sent_head < SENT_MAX);
	*s = (struct rcm_fake_sent){ .umad = umad, .to = *to, .agent = agent, .timeout_ms = timeout_ms };
	memcpy(s->mad, mad, sizeof(s->mad));
	sent_tail++;
	return 0;
}

static int fake_recv(struct rcm_umad *umad, struct rcm_umad_message *ret_message)
{
	struct message *m;
	eventfd_t one;
	int ret = rcm_fake_umad.recv_ret;

	rcm_fake_umad.recvs++;
	if (ret && ret != -EMSGSIZE)
		return ret;
	if (umad->head == umad->tail)
		return -EAGAIN;
	assert_int_equal(eventfd_read(umad->fd, &one), 0);
	m = &umad->queue[umad->head++ % QUEUE_MAX];
	free(umad->last);
	umad->last = m->mad;
	*ret_message = (struct rcm_umad_message){ m->timed_out, m->mad, m->len };
	return ret;
}

static void fake_close(struct rcm_umad *umad)
{
	if (!umad)
		return;
	assert_int_equal(umad->head, umad->tail);
	free(umad->last);
	close(umad->fd);
	free(umad);
	rcm_fake_umad.open_now--;
}

const struct rcm_umad_ops rcm_fake_umad_ops = {
	.name = "fake",
	.find = fake_find,
	.open = fake_open,
	.fd = fake_fd,
	.address = fake_address,
	.send = fake_send,
	.recv = fake_recv,
	.close = fake_close,
};

struct rcm_fake_sent rcm_fake_umad_sent(void)
{
	assert_true(sent_head < sent_tail);
	return sent[sent_head++ % SENT_MAX];
}

unsigned rcm_fake_umad_unseen(void)
{
	return sent_tail - sent_head;
}

static void push(struct rcm_umad *umad, bool timed_out, const void *mad, size_t len)
{
	struct message *m = &umad->queue[umad->tail++ % QUEUE_MAX];

	assert_true(umad->tail - umad->head <= QUEUE_MAX);
	*m = (struct message){ timed_out, malloc(len), len };
	assert_non_null(m->mad);
	memcpy(m->mad, mad, len);
	assert_int_equal(eventfd_write(umad->fd, 1), 0);
}

void rcm_fake_umad_bytes(const struct rcm_fake_sent *s, const void *mad, size_t len)
{
	push(s->umad, false, mad, len);
}

void rcm_fake_umad_timeout(const struct rcm_fake_sent *s)
{
	push(s->umad, true, s->mad, 24);
}

void rcm_fake_umad_answer(const struct rcm_fake_sent *s, uint16_t status, unsigned record_size, const void *records,
			  size_t len)
{
	uint8_t *mad = calloc(1, 56 + len);

	assert_non_null(mad);
	memcpy(mad, s->mad, 56);
	mad[3] |= 0x80;
	mad[4] = (uint8_t)(status >> 8);
	mad[5] = (uint8_t)status;
	memset(mad + 8, 0xab, 4);	/* the kernel's half of the transaction id */
	mad[44] = (uint8_t)(record_size / 8 >> 8);
	mad[45] = (uint8_t)(record_size / 8);
	if (len)
		memcpy(mad + 56, records, len);
	push(s->umad, false, mad, 56 + len);
	free(mad);
}

void rcm_fake_record(uint64_t id, const char *name, uint8_t ret_record[176])
{
	struct rcm_writer w = rcm_writer_init(ret_record, 176);

	memset(ret_record, 0, 176);
	rcm_write_u64(&w, id);
	rcm_write_u8(&w, 0xfe);
	rcm_write_zeros(&w, 15);
	rcm_write_u16(&w, 0xffff);
	rcm_write_zeros(&w, 2);
	rcm_write_u32(&w, 600);
	rcm_write_zeros(&w, 16);
	rcm_write_bytes(&w, name, strlen(name));
}
