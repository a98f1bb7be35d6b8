/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SA behind libibumad, whose functions of these names come before the library's: what it does with questions for
 * services, or with those for routes, is the fault's. The rest it answers well. It needs no thread: what comes later waits
 * in the port, whose descriptor is a timer. Questions that are not answered in time it gives back, as the kernel does.
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/queue.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "../fakes/fake_sysfs.h"
#include "fire.h"

enum { SOON_MS = 400, PORTS = 8, TIMES = 1 << 16, MAD = 256, HEADER = 24, RECORDS_AT = 56 };
enum { CLASS_PORT_INFO = 0x01, SERVICE = 0x31, PATH = 0x35, TABLE = 0x12, SERVICE_SIZE = 176, PATH_SIZE = 64 };
enum { AT_METHOD = 3, AT_STATUS = 4, AT_TID = 8, AT_ATTRIBUTE = 17, AT_OFFSET = 44, AT_NAME = RECORDS_AT + 48 };

/* ---- What it does wrong: of services, and of routes, whose want fails no resolution ---- */

#define NO_ANSWER -ETIMEDOUT, .deadline_ms = SOON_MS
#define BUSY -EBUSY, .other = -ETIMEDOUT, .deadline_ms = SOON_MS	/* some wait in line, and were never asked for */

static const struct fire_fault service_faults[] = {
	{ "nothing", "well", 0 },
	{ "no question is answered", "silent", NO_ANSWER },
	{ "the first question is dropped", "drop-1", 0, .most = 32 },
	{ "answers 50 ms late", "delay-50", 0, .most = 100 },
	{ "answers after the deadline", "delay-3000", NO_ANSWER },
	{ "each answer twice", "twice", 0 },
	{ "answers in another order", "shuffle-20", 0 },
	{ "20 that nobody asked for, then the answer", "uncalled-20", 0 },
	{ "wrong transaction id", "wrongid", NO_ANSWER },
	{ "wrong attribute", "attribute-53", -EIO },
	{ "wrong method", "method-1", -EIO },
	{ "the question itself", "method-18", -EIO },
	{ "wrong class", "class-4", -EIO },
	{ "cut to the MAD's header", "length-24", -EIO },
	{ "cut to 55 octets", "length-55", -EIO },
	{ "records of size 0", "offset-0", -ENOENT },
	{ "records of 8 octets", "offset-1", -EIO },
	{ "records of 512 KiB", "offset-65535", 0 },
	{ "no record, and no status", "records-0", -ENOENT },
	{ "a table cut in the first record", "length-200", -EIO },
	{ "a table cut in the third record", "length-500", 0 },
	{ "records that were not asked for", "other", -EIO },
	{ "4,000 records", "records-4000", 0, .most = 16 },
	{ "90,000 records", "records-90000", 0, .most = 16 },
	{ "100,000 records, beyond the limit", "records-100000", -EIO, .most = 16 },
	{ "BUSY three times, then the answer", "busy-3", 0, .most = 32 },
	{ "MAD status 0x0001, BUSY", "status-1", BUSY },
	{ "MAD status 0x0002, REDIRECT", "status-2", -EIO },
	{ "MAD status 0x0004, bad version", "status-4", -EIO },
	{ "MAD status 0x0008, bad method", "status-8", -EIO },
	{ "MAD status 0x000c, bad attribute", "status-12", -EIO },
	{ "MAD status 0x001c, bad value", "status-28", -EIO },
	{ "SA status 1, NO_RESOURCES", "status-256", BUSY },
	{ "SA status 2, REQ_INVALID", "status-512", -EIO },
	{ "SA status 3, NO_RECORDS", "status-768", -ENOENT },
	{ "SA status 4, TOO_MANY_RECORDS", "status-1024", -EIO },
	{ "SA status 5, REQ_INVALID_GID", "status-1280", -EIO },
	{ "SA status 6, REQ_INSUFFICIENT_COMPONENTS", "status-1536", -EIO },
	{ "SA status 7, REQ_DENIED", "status-1792", -EIO },
	{ "SA status 8, PRIORITY_SUGGESTED", "status-2048", -EIO },
	{ "an SA status that there isn't", "status-65280", -EIO },
	{ "sending fails (EIO)", "unsendable", -EIO },
	/* Three times in 1,000 questions at most: what is lost a fourth time is given up. */
	{ "the device fails now and then", "reset-500", 0 },
	{ "the device is gone", "gone", -ENODEV },
};

#define NONE FIRE_NO_ROUTE
/* Time enough for the service on a busy host, too. */
#define NONE_IN_TIME FIRE_NO_ROUTE, .deadline_ms = 2000, .most = 16

static const struct fire_fault route_faults[] = {
	{ "nothing", "well", 0 },
	{ "no question is answered", "silent", NONE_IN_TIME },
	{ "the first question is dropped", "drop-1", 0, .most = 32 },
	{ "answers after the deadline", "delay-3000", NONE_IN_TIME },
	{ "each answer twice", "twice", 0 },
	{ "answers in another order", "shuffle-20", 0 },
	{ "wrong transaction id", "wrongid", NONE_IN_TIME },
	{ "wrong attribute", "attribute-49", NONE },
	{ "cut to the MAD's header", "length-24", NONE },
	{ "cut in the record", "length-100", NONE },
	{ "a path that was not asked for", "other", NONE },
	{ "BUSY three times, then the answer", "busy-3", 0, .most = 32 },
	{ "BUSY", "status-1", NONE_IN_TIME },
	{ "SA status 3, NO_RECORDS", "status-768", NONE },
	{ "SA status 7, REQ_DENIED", "status-1792", NONE },
};

/* What is in force: of questions for that attribute. */
static const char *how;
static uint8_t attribute;

/* Behaviour w is in force: what follows "w-", as a number; 0 for a bare w. -1: another is. */
static long in_force(const char *w)
{
	size_t n = strlen(w);

	if (strncmp(how, w, n) || (how[n] && how[n] != '-'))
		return -1;
	return how[n] ? strtol(how + n + 1, NULL, 10) : 0;
}

/* ---- Ports ---- */

struct message {
	TAILQ_ENTRY(message) entry;
	uint64_t due;			/* ns */
	uint32_t status;		/* of the kernel */
	size_t len;			/* beyond the MAD, records like its first */
	uint8_t mad[RECORDS_AT + SERVICE_SIZE + MAD];
};

static TAILQ_HEAD(messages, message) waiting[PORTS];
static int fds[PORTS];			/* 0: closed */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t times[TIMES];		/* that a question was asked, by its hash */
static unsigned long sends;
static bool failing;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The timer of a port is that of the first message in it; 0 stops it. */
static void port_arm(int port)
{
	struct message *first = TAILQ_FIRST(&waiting[port]);
	uint64_t due = failing ? 1 : first ? first->due : 0;
	struct itimerspec at = { .it_value = { (time_t)(due / 1000000000), (long)(due % 1000000000) } };

	timerfd_settime(fds[port], TFD_TIMER_ABSTIME, &at, NULL);
}

static void port_put(int port, struct message *message)
{
	struct message *before;

	TAILQ_FOREACH_REVERSE(before, &waiting[port], messages, entry)
		if (before->due <= message->due)
			break;
	if (before)
		TAILQ_INSERT_AFTER(&waiting[port], before, message, entry);
	else
		TAILQ_INSERT_HEAD(&waiting[port], message, entry);
}

static void port_drop_first(int port)
{
	struct message *first = TAILQ_FIRST(&waiting[port]);

	TAILQ_REMOVE(&waiting[port], first, entry);
	free(first);
}

/* ---- Answers ---- */

static void put_u16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void write_service(uint8_t *record, const uint8_t *asked)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 100 };

	memcpy(record, asked, SERVICE_SIZE);
	record[7] = 1;
	memcpy(record + 8, gid, sizeof(gid));
	put_u16(record + 24, 0xffff);
	memset(record + 28, 0xff, 4);		/* for ever */
}

static void write_path(uint8_t *record, const uint8_t *asked)
{
	memcpy(record, asked, PATH_SIZE);
	if (!record[8])
		record[8] = 0xfe, record[9] = 0x80, record[23] = 100;	/* to all: the one that there is */
	put_u16(record + 40, 4);		/* DLID, SLID */
	put_u16(record + 42, 1);
	record[49] = 0x80;			/* reversible */
	put_u16(record + 50, 0xffff);
}

static void write_well(struct message *m, const uint8_t *question)
{
	size_t size = question[AT_ATTRIBUTE] == SERVICE ? SERVICE_SIZE : question[AT_ATTRIBUTE] == PATH ? PATH_SIZE : 72;

	memset(m->mad, 0, sizeof(m->mad));
	memcpy(m->mad, question, RECORDS_AT);
	m->mad[AT_METHOD] |= 0x80;
	put_u16(m->mad + AT_OFFSET, (unsigned)size / 8);
	if (question[AT_ATTRIBUTE] == SERVICE)
		write_service(m->mad + RECORDS_AT, question + RECORDS_AT);
	else if (question[AT_ATTRIBUTE] == PATH)
		write_path(m->mad + RECORDS_AT, question + RECORDS_AT);
	m->status = 0;
	m->len = RECORDS_AT + size;
}

static void set_status(struct message *m, long status)
{
	put_u16(m->mad + AT_STATUS, (unsigned)status);
	m->len = RECORDS_AT;
}

static void spoil(struct message *m, unsigned asked_before)
{
	long n;

	if ((n = in_force("attribute")) >= 0)
		m->mad[AT_ATTRIBUTE] = (uint8_t)n;
	else if ((n = in_force("method")) >= 0)
		m->mad[AT_METHOD] = (uint8_t)n;
	else if ((n = in_force("class")) >= 0)
		m->mad[1] = (uint8_t)n;
	else if ((n = in_force("length")) >= 0)
		m->len = (size_t)n;
	else if ((n = in_force("offset")) >= 0)
		put_u16(m->mad + AT_OFFSET, (unsigned)n);
	else if ((n = in_force("records")) >= 0)
		m->len = RECORDS_AT + (size_t)n * SERVICE_SIZE;
	else if ((n = in_force("status")) >= 0)
		set_status(m, n);
	else if (asked_before < in_force("busy") && in_force("busy") > 0)
		set_status(m, 1);
	else if (in_force("wrongid") >= 0)
		m->mad[15] ^= 0xff;
	else if (in_force("other") >= 0)
		m->mad[m->mad[AT_ATTRIBUTE] == SERVICE ? AT_NAME : RECORDS_AT + 8 + 15] ^= 0xff;
	if ((n = in_force("shuffle")) >= 0)
		m->due += (uint64_t)rand() % (uint64_t)n * 1000000;
	if ((n = in_force("delay")) >= 0)
		m->due += (uint64_t)n * 1000000;
}

static unsigned count_asked(const uint8_t *question)
{
	uint32_t hash = 5381;

	for (int i = RECORDS_AT; i < MAD; i++)
		hash = hash * 33 + question[i];
	return times[hash % TIMES]++;
}

static void answer_once(int port, const uint8_t *question, uint64_t until, bool uncalled)
{
	struct message *m = calloc(1, sizeof(*m));
	bool spoilt = question[AT_ATTRIBUTE] == attribute;
	unsigned asked_before = spoilt && !uncalled ? count_asked(question) : 0;

	if (!m)
		abort();
	m->due = now_ns();
	write_well(m, question);
	if (uncalled)
		m->mad[12] ^= 0x80;	/* that no other question has */
	else if (spoilt)
		spoil(m, asked_before);
	if (spoilt && (in_force("silent") >= 0 || asked_before < in_force("drop")))
		m->due = until;
	/* Unanswered, or in vain, as the kernel sees it: it gives the question back. */
	if (m->due >= until || (spoilt && in_force("wrongid") >= 0)) {
		m->due = until;
		memcpy(m->mad, question, HEADER);
		m->len = HEADER;
		m->status = ETIMEDOUT;
	}
	port_put(port, m);
}

static void answer(int port, const uint8_t *question, unsigned timeout_ms)
{
	uint64_t until = now_ns() + timeout_ms * UINT64_C(1000000);
	bool spoilt = question[AT_ATTRIBUTE] == attribute;

	if (spoilt && in_force("wrongid") >= 0)
		answer_once(port, question, UINT64_MAX, true);
	for (long i = in_force("uncalled"); spoilt && i > 0; i--)
		answer_once(port, question, UINT64_MAX, true);
	answer_once(port, question, until, false);
	if (spoilt && in_force("twice") >= 0)
		answer_once(port, question, until, false);
}

/* ---- libibumad ---- */

static bool device_fails(void)
{
	if (in_force("gone") >= 0 || (in_force("reset") > 0 && sends++ % (unsigned long)in_force("reset") == 0))
		failing = true;
	return failing;
}

int umad_open_port(const char *ca_name, int portnum)
{
	int port = 0;

	(void)ca_name;
	(void)portnum;
	pthread_mutex_lock(&mutex);
	while (port < PORTS && fds[port])
		port++;
	failing = false;
	fds[port] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	TAILQ_INIT(&waiting[port]);
	pthread_mutex_unlock(&mutex);
	return port;
}

int umad_get_fd(int portid)
{
	int fd;

	pthread_mutex_lock(&mutex);
	fd = fds[portid];
	pthread_mutex_unlock(&mutex);
	return fd;
}

int umad_close_port(int portid)
{
	pthread_mutex_lock(&mutex);
	while (!TAILQ_EMPTY(&waiting[portid]))
		port_drop_first(portid);
	close(fds[portid]);
	fds[portid] = 0;
	pthread_mutex_unlock(&mutex);
	return 0;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version, long method_mask[16 / sizeof(long)])
{
	static int agents;

	(void)portid, (void)mgmt_class, (void)mgmt_version, (void)rmpp_version, (void)method_mask;
	return ++agents;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *question = umad_get_mad(umad);
	int ret = 0;

	(void)agentid, (void)length, (void)retries;
	pthread_mutex_lock(&mutex);
	if (question[AT_ATTRIBUTE] == attribute && in_force("unsendable") >= 0)
		ret = -EIO;
	else if (!device_fails())
		answer(portid, question, (unsigned)timeout_ms);
	port_arm(portid);
	pthread_mutex_unlock(&mutex);
	errno = -ret;
	return ret;
}

/* Its first record, as often as there is room. */
static void message_copy(uint8_t *to, const struct message *m)
{
	size_t size = sizeof(m->mad) < m->len ? sizeof(m->mad) : m->len;

	memcpy(to, m->mad, size);
	for (size_t at = RECORDS_AT + SERVICE_SIZE; at < m->len; at += SERVICE_SIZE)
		memcpy(to + at, m->mad + RECORDS_AT, m->len - at < SERVICE_SIZE ? m->len - at : SERVICE_SIZE);
}

static int receive(int port, void *umad, int *length)
{
	struct message *first = TAILQ_FIRST(&waiting[port]);
	int room = *length;

	if (failing)
		return -ENODEV;
	if (!first || first->due > now_ns())
		return -EAGAIN;
	memset(umad, 0, umad_size());
	((struct ib_user_mad *)umad)->status = first->status;
	*length = (int)first->len;
	if (room < *length) {
		memcpy(umad_get_mad(umad), first->mad, MAD);
		return -ENOSPC;
	}
	message_copy(umad_get_mad(umad), first);
	port_drop_first(port);
	return 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	int ret;

	(void)timeout_ms;
	pthread_mutex_lock(&mutex);
	ret = receive(portid, umad, length);
	port_arm(portid);
	pthread_mutex_unlock(&mutex);
	errno = -ret;
	return ret;
}

/* ---- Both sides ---- */

/* The port that the SA is asked through, in a /sys of this world's own. */
void fire_sa_make(void)
{
	static const char *const files[][2] = {
		{ "class/infiniband_mad/abi_version", "5" }, { "class/infiniband/fake0/ports/1/state", "4: ACTIVE" },
		{ "class/infiniband/fake0/ports/1/lid", "0x1" }, { "class/infiniband/fake0/ports/1/sm_lid", "0x1" },
		{ "class/infiniband/fake0/ports/1/sm_sl", "0" }, { "class/infiniband/fake0/ports/1/lid_mask_count", "0" },
		{ "class/infiniband/fake0/ports/1/link_layer", "InfiniBand" },
		{ "class/infiniband/fake0/ports/1/gids/0", "fe80::1" }, { "class/infiniband/fake0/ports/1/pkeys/0", "0xffff" },
	};
	const char *folder = rcm_fake_sysfs_new();

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		rcm_fake_sysfs_add(files[i][0], files[i][1]);
	if (mount(folder, "/sys", NULL, MS_BIND, NULL))
		err(77, "mount on /sys");
}

void fire_sa_done(void)
{
	rcm_fake_sysfs_done();
}

void fire_sa_link(bool up)
{
	rcm_fake_sysfs_add("class/infiniband/fake0/ports/1/state", up ? "4: ACTIVE" : "1: DOWN");
}

unsigned fire_sa_ports(void)
{
	unsigned count = 0;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < PORTS; i++)
		count += fds[i] > 0;
	pthread_mutex_unlock(&mutex);
	return count;
}

static void begin(const struct fire_fault *fault, uint8_t of)
{
	pthread_mutex_lock(&mutex);
	how = fault->how;
	attribute = of;
	sends = 0;
	pthread_mutex_unlock(&mutex);
}

static void services_begin(const struct fire_fault *fault)
{
	begin(fault, SERVICE);
}

static void routes_begin(const struct fire_fault *fault)
{
	begin(fault, PATH);
}

static int services_ask(struct rdma_cm_id *id, const struct fire_fault *fault, unsigned number)
{
	struct sockaddr_ib port = { .sib_family = AF_IB, .sib_addr.sib_raw = { 0xfe, 0x80, [15] = 1 } };
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char name[64];

	(void)fault;
	snprintf(name, sizeof(name), "service%u", number);
	if (rdma_bind_addr(id, (struct sockaddr *)&port) || rdma_resolve_addrinfo(id, NULL, name, &hints))
		return -errno;
	return 0;
}

static int services_look(const struct rdma_addrinfo *list)
{
	const struct sockaddr_ib *to;

	for (const struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next) {
		to = (const struct sockaddr_ib *)ai->ai_dst_addr;
		if (to->sib_family != AF_IB || to->sib_addr.sib_raw[15] != 100)
			return -1;
	}
	return list ? 0 : -1;
}

static int routes_look(const struct rdma_addrinfo *list)
{
	if (services_look(list))
		return -1;
	return list->ai_route_len ? 0 : FIRE_NO_ROUTE;
}

const struct fire_side fire_services = {
	.what = "the SA's fault, asked for a service", .faults = service_faults,
	.count = sizeof(service_faults) / sizeof(*service_faults), .begin = services_begin, .ask = services_ask,
	.look = services_look,
};

const struct fire_side fire_routes = {
	.what = "the SA's fault, asked for its route", .faults = route_faults,
	.count = sizeof(route_faults) / sizeof(*route_faults), .begin = routes_begin, .ask = services_ask,
	.look = routes_look,
};
