/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions of all kinds through many ports whose links and SMs flap: SAs that are slow, silent, busy, refuse and lie,
 * devices that fail and come back, cancels, deadlines. Each question is told of once, or was cancelled; nothing is
 * under way at the end. -l: a million of them.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "fake_clock.h"
#include "sa/client.h"
#include "sa/wire.h"
#include "test.h"

enum { PORTS = 80, UNDER_WAY = 300, QUEUE = 256 };

static unsigned long total = 20000;

/* ---- The kernel and the SAs ---- */

struct message {
	bool timed_out;
	uint64_t at;			/* ns; when it can be received */
	uint8_t mad[256 + 2 * 176];
	size_t len;
};

struct rcm_umad {
	unsigned port;
	int fd;
	unsigned count;
	struct message queue[QUEUE];
	struct message last;
	LIST_ENTRY(rcm_umad) entry;
};

static LIST_HEAD(, rcm_umad) open_ports = LIST_HEAD_INITIALIZER(open_ports);

static bool chance(unsigned one_in)
{
	return !(rand() % (int)one_in);
}

static int storm_find(const struct rcm_gid *gid, struct rcm_sa_port *ret_port)
{
	if (chance(500))
		return -ENODEV;
	*ret_port = (struct rcm_sa_port){ .device = "storm", .number = gid->raw[15], .infiniband = true, .active = true,
					  .gid = *gid };
	return 0;
}

static int storm_open(const struct rcm_sa_port *port, struct rcm_umad **ret_umad)
{
	struct rcm_umad *umad;

	if (chance(100))
		return chance(2) ? -ENODEV : -EPERM;
	umad = calloc(1, sizeof(*umad));
	assert_non_null(umad);
	umad->port = port->number;
	umad->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(umad->fd >= 0);
	LIST_INSERT_HEAD(&open_ports, umad, entry);
	*ret_umad = umad;
	return 0;
}

static int storm_fd(const struct rcm_umad *umad)
{
	return umad->fd;
}

static int storm_address(struct rcm_umad *umad, bool in_doubt, struct rcm_sa_address *ret_address)
{
	(void)in_doubt;
	if (chance(200))
		return -ENETDOWN;
	*ret_address = (struct rcm_sa_address){ .lid = chance(20) ? (uint16_t)(1 + rand() % 3) : 1, .sl = 0 };
	(void)umad;
	return 0;
}

static void answer_write(struct message *m, const uint8_t question[256])
{
	static const uint16_t statuses[] = { 0x0001, 0x0100, 0x0300, 0x0200, 0x001c };
	unsigned records = (unsigned)rand() % 3, size = question[17] == 0x31 ? 176 : question[17] == 0x35 ? 64 : 72;

	memcpy(m->mad, question, 256);
	m->mad[3] = (question[3] == 0x02 ? 0x01 : question[3]) | 0x80;
	m->mad[45] = (uint8_t)(size / 8);
	m->len = 56 + (question[3] == 0x12 ? records * size : size);
	if (m->mad[3] == 0x92 && records == 2)
		memcpy(m->mad + 56 + size, question + 56, size < 200 ? size : 200);
	if (question[17] == 0x35)
		for (unsigned i = 0; i < 2; i++)
			m->mad[56 + 64 * i + 49] = 0x80;
	if (chance(10)) {
		uint16_t status = statuses[rand() % 5];

		m->mad[4] = (uint8_t)(status >> 8);
		m->mad[5] = (uint8_t)status;
	}
	if (chance(50))
		m->len = (size_t)rand() % (m->len + 1);
	if (chance(50))
		m->mad[rand() % 56] ^= (uint8_t)(1 << rand() % 8);
}

static int storm_send(struct rcm_umad *umad, unsigned agent, const struct rcm_sa_address *to, const uint8_t mad[256],
		      unsigned timeout_ms)
{
	static const int failures[] = { -EIO, -ENODEV, -EINVAL, -ENOMEM };
	struct message *m;

	(void)agent;
	(void)to;
	if (chance(300))
		return failures[rand() % 4];
	if (umad->count == QUEUE || chance(8))
		return 0;		/* lost, and the kernel never tells */
	m = &umad->queue[umad->count++];
	*m = (struct message){ .at = rcm_clock_now(), .len = 24 };
	if (chance(10)) {
		m->timed_out = true;
		m->at += timeout_ms * RCM_NS_PER_MS;
		memcpy(m->mad, mad, 24);
	} else {
		m->at += chance(4) ? (uint64_t)rand() % 2000 * RCM_NS_PER_MS : 0;
		answer_write(m, mad);
	}
	return 0;
}

static int storm_recv(struct rcm_umad *umad, struct rcm_umad_message *ret_message)
{
	eventfd_t ignored;
	uint64_t now = rcm_clock_now();

	if (chance(2000))
		return chance(2) ? -EIO : -ENOMEM;
	for (unsigned i = 0; i < umad->count; i++) {
		if (umad->queue[i].at > now)
			continue;
		umad->last = umad->queue[i];
		umad->queue[i] = umad->queue[--umad->count];
		*ret_message = (struct rcm_umad_message){ umad->last.timed_out, umad->last.mad, umad->last.len };
		return chance(1000) ? -EMSGSIZE : 0;
	}
	eventfd_read(umad->fd, &ignored);
	return -EAGAIN;
}

static void storm_close(struct rcm_umad *umad)
{
	if (!umad)
		return;
	LIST_REMOVE(umad, entry);
	close(umad->fd);
	free(umad);
}

static const struct rcm_umad_ops storm_ops = {
	.name = "storm", .find = storm_find, .open = storm_open, .fd = storm_fd, .address = storm_address,
	.send = storm_send, .recv = storm_recv, .close = storm_close,
};

/* What has come by now can be received. */
static void kernel_tick(void)
{
	uint64_t now = rcm_clock_now();
	struct rcm_umad *umad;

	LIST_FOREACH(umad, &open_ports, entry)
		for (unsigned i = 0; i < umad->count; i++)
			if (umad->queue[i].at <= now)
				eventfd_write(umad->fd, 1);
}

/* ---- Those who ask ---- */

struct asked {
	struct rcm_sa_query *query;	/* NULL: free */
	unsigned told;
};

static struct rcm_loop loop;
static struct rcm_sa *sa;
static struct asked asked[UNDER_WAY];
static unsigned long begun, told, cancelled, refused, well;

static void ask(struct asked *a);

static void hear(void *arg, const struct rcm_sa_answer *answer)
{
	struct asked *a = arg;

	assert_non_null(a->query);
	assert_int_equal(a->told++, 0);
	a->query = NULL;
	told++;
	well += !answer->status;
	if (!answer->status && answer->services)
		assert_true(answer->count > 0);
	/* One who is told asks again, from within. */
	if (begun < total && chance(3))
		ask(a);
}

static void ask(struct asked *a)
{
	struct rcm_gid port = { { 0xfe, 0x80, [15] = (uint8_t)(1 + rand() % PORTS) } };
	uint64_t deadline = chance(50) ? 0 : rcm_clock_now() + (uint64_t)rand() % 4000 * RCM_NS_PER_MS + 1;
	struct rcm_sa_service_query service = { .port = port, .by_id = true, .deadline = deadline };
	struct rcm_sa_path_query path = { .port = port, .dgid = port, .deadline = deadline, .to_all = chance(4) };
	int ret;

	a->told = 0;
	begun++;
	if (chance(2))
		ret = rcm_sa_umad.service(sa, &service, hear, a, &a->query);
	else
		ret = rcm_sa_umad.path(sa, &path, hear, a, &a->query);
	if (ret) {
		a->query = NULL;
		refused++;
	}
}

static void turn(void)
{
	kernel_tick();
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

static bool any_under_way(void)
{
	for (unsigned i = 0; i < UNDER_WAY; i++)
		if (asked[i].query)
			return true;
	return false;
}

/* Those without a deadline and without luck are cancelled in the end. */
static void finish(void)
{
	for (unsigned i = 0; i < 3000 && any_under_way(); i++) {
		rcm_fake_clock_advance(20 * RCM_NS_PER_MS);
		turn();
	}
	for (unsigned i = 0; i < UNDER_WAY; i++) {
		if (!asked[i].query)
			continue;
		rcm_sa_umad.cancel(sa, asked[i].query);
		asked[i].query = NULL;
		cancelled++;
	}
}

static void test_storm_of_questions_is_told_of_each_once(void **state)
{
	(void)state;
	srand(1);
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_client_open(&loop, &storm_ops, &sa), 0);
	while (begun < total) {
		struct asked *a = &asked[rand() % UNDER_WAY];

		if (!a->query) {
			ask(a);
		} else if (chance(10)) {
			rcm_sa_umad.cancel(sa, a->query);
			a->query = NULL;
			cancelled++;
		}
		if (chance(4))
			rcm_fake_clock_advance((uint64_t)rand() % 10 * RCM_NS_PER_MS);
		if (chance(2))
			turn();
	}
	finish();
	assert_int_equal(begun, told + cancelled + refused);
	assert_true(well > begun / 10);
	rcm_sa_umad.close(sa);
	assert_true(LIST_EMPTY(&open_ports));
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storm_of_questions_is_told_of_each_once),
	};

	if (argc > 1 && !strcmp(argv[1], "-l"))
		total = 1000000;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
