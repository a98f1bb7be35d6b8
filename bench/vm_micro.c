/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_micro WHAT SECONDS: how often a second the library does WHAT. Prints the number; status 77 where the library has no
 * such call. WHAT is:
 *   ids       create and destroy
 *   events    write, get and ack an event of the application's own, of an id that has done nothing else
 *   used      the same, of an id that has resolved an address
 *   bursts    the same, 64 written before they are taken
 *   binds     create, bind and destroy
 *   resolves  create, resolve an address, get, ack and destroy
 *   syncs     a connection between two synchronous ids, from rdma_create_id() to rdma_destroy_id()
 *   asyncs    the same between two ids of one channel, by one thread's events, with rdma_disconnect() of both
 * Or vm_micro descriptors 0: how many descriptors a synchronous id that is connected takes.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIPPED = 77, BATCH = 64, EVENT_USER = 18 };

static struct rdma_event_channel *channel;
static struct sockaddr_in near;

/* Looked up at run time: not every librdmacm has it, nor every header. */
static int (*write_event)(struct rdma_cm_id *id, int event, int status, uint64_t arg);

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct rdma_cm_id *create(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	return id;
}

static void destroy(struct rdma_cm_id *id)
{
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
}

static void take(void)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	rdma_ack_cm_event(event);
}

static void one_id(void)
{
	destroy(create());
}

static void write_one(struct rdma_cm_id *id)
{
	if (write_event(id, EVENT_USER, 0, 1))
		die("rdma_write_cm_event");
}

static void one_event(void)
{
	static struct rdma_cm_id *id;

	if (!id)
		id = create();
	write_one(id);
	take();
}

static struct rdma_cm_id *create_used(void)
{
	struct rdma_cm_id *id = create();

	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&near, 2000))
		die("rdma_resolve_addr");
	take();
	return id;
}

static void one_used(void)
{
	static struct rdma_cm_id *id;

	if (!id)
		id = create_used();
	write_one(id);
	take();
}

/* As one of BATCH: rate() calls it that often. */
static void one_of_burst(void)
{
	static struct rdma_cm_id *id;
	static unsigned calls;

	if (!id)
		id = create_used();
	if (calls++ % BATCH)
		return;
	for (int i = 0; i < BATCH; i++)
		write_one(id);
	for (int i = 0; i < BATCH; i++)
		take();
}

static void one_bind(void)
{
	struct rdma_cm_id *id = create();

	if (rdma_bind_addr(id, (struct sockaddr *)&near))
		die("rdma_bind_addr");
	destroy(id);
}

static void one_resolve(void)
{
	struct rdma_cm_id *id = create();

	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&near, 2000))
		die("rdma_resolve_addr");
	take();
	destroy(id);
}

/* ---- Synchronous ids ---- */

static struct rdma_cm_id *listener;

static struct rdma_conn_param param_of(uint32_t qp_num)
{
	return (struct rdma_conn_param){
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .qp_num = qp_num,
	};
}

static void *serve(void *arg)
{
	struct rdma_conn_param param = param_of(0x2000);
	struct rdma_cm_id *id;

	(void)arg;
	for (;;) {
		if (rdma_get_request(listener, &id))
			die("rdma_get_request");
		param.qp_num++;
		if (rdma_accept(id, &param))
			die("rdma_accept");
		if (rdma_destroy_id(id))
			die("rdma_destroy_id of an accepted id");
	}
	return NULL;
}

static void start_server(void)
{
	pthread_t thread;

	near.sin_port = htons(7100);
	if (rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&near) || rdma_listen(listener, 64))
		die("rdma_listen");
	if (pthread_create(&thread, NULL, serve, NULL))
		die("pthread_create");
}

static struct rdma_cm_id *connect_sync(void)
{
	static uint32_t number = 0x8000;
	struct rdma_conn_param param = param_of(number++);
	struct rdma_cm_id *id;

	if (!listener)
		start_server();
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&near, 2000) || rdma_resolve_route(id, 2000) ||
	    rdma_connect(id, &param) || rdma_establish(id))
		die("connecting");
	return id;
}

static void one_sync(void)
{
	destroy(connect_sync());
}

/* ---- Asynchronous ids ---- */

/* Both ends are served by one thread: nothing hangs on who of two comes first. */
static struct pair {
	struct rdma_cm_id *client, *server;
	int established, disconnected;
} pair;

static void listen_async(void)
{
	near.sin_port = htons(7200);
	listener = create();
	if (rdma_bind_addr(listener, (struct sockaddr *)&near) || rdma_listen(listener, 64))
		die("rdma_listen");
}

static int accept_async(struct rdma_cm_id *id)
{
	static uint32_t number = 0x2000;
	struct rdma_conn_param param = param_of(number++);

	pair.server = id;
	return rdma_accept(id, &param);
}

static int connect_async(void)
{
	static uint32_t number = 0x8000;
	struct rdma_conn_param param = param_of(number++);

	return rdma_connect(pair.client, &param);
}

/* Once both ends know. */
static int disconnect_async(void)
{
	return ++pair.established == 2 ? rdma_disconnect(pair.client) : 0;
}

static int step_async(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(id, 2000);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect_async();
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept_async(id);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return rdma_establish(id) ? -1 : disconnect_async();
	case RDMA_CM_EVENT_ESTABLISHED:
		return disconnect_async();
	case RDMA_CM_EVENT_DISCONNECTED:
		pair.disconnected++;
		return id == pair.server ? rdma_disconnect(id) : 0;
	default:
		errno = EPROTO;
		return -1;
	}
}

static void take_step(void)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	id = event->id;
	type = event->event;
	rdma_ack_cm_event(event);
	/* The end of what an earlier pair was. */
	if (type != RDMA_CM_EVENT_TIMEWAIT_EXIT && step_async(id, type))
		die(rdma_event_str(type));
}

static void one_async(void)
{
	if (!listener)
		listen_async();
	pair = (struct pair){ .client = create() };
	if (rdma_resolve_addr(pair.client, NULL, (struct sockaddr *)&near, 2000))
		die("rdma_resolve_addr");
	while (pair.disconnected < 2)
		take_step();
	destroy(pair.client);
	destroy(pair.server);
}

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static int print_descriptors(void)
{
	enum { IDS = 20 };
	int before;

	connect_sync();
	before = count_descriptors();
	for (int i = 0; i < IDS; i++)
		connect_sync();
	printf("%.1f\n", (double)(count_descriptors() - before) / IDS);
	return 0;
}

static const struct work {
	const char *name;
	void (*run)(void);
} works[] = {
	{"ids", one_id}, {"events", one_event}, {"used", one_used}, {"bursts", one_of_burst}, {"binds", one_bind},
	{"resolves", one_resolve}, {"syncs", one_sync}, {"asyncs", one_async},
};

static double rate(void (*run)(void), double seconds)
{
	double began, ended;
	long count = 0;

	for (int i = 0; i < BATCH; i++)
		run();
	began = now();
	do {
		for (int i = 0; i < BATCH; i++)
			run();
		count += BATCH;
		ended = now();
	} while (ended - began < seconds);
	return (double)count / (ended - began);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";

	*(void **)&write_event = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	if ((!strcmp(what, "events") || !strcmp(what, "used") || !strcmp(what, "bursts")) && !write_event)
		return SKIPPED;
	near.sin_family = AF_INET;
	inet_pton(AF_INET, "10.2.0.1", &near.sin_addr);
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (!strcmp(what, "descriptors"))
		return print_descriptors();
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (!strcmp(what, works[i].name))
			return printf("%.0f\n", rate(works[i].run, strtod(argv[2], NULL))) < 0;
	}
	fprintf(stderr, "usage: vm_micro WHAT SECONDS\n");
	return 64;
}
