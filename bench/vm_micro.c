/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_micro WHAT SECONDS: how often a second the library does WHAT: ids (create and destroy), events (write, get and
 * ack), binds (create, bind and destroy), resolves (create, resolve an address, get, ack and destroy). Prints the
 * number; status 77 where the library has no such call.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
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

static void one_event(void)
{
	static struct rdma_cm_id *id;

	if (!id)
		id = create();
	if (write_event(id, EVENT_USER, 0, 1))
		die("rdma_write_cm_event");
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

static const struct work {
	const char *name;
	void (*run)(void);
} works[] = {
	{"ids", one_id}, {"events", one_event}, {"binds", one_bind}, {"resolves", one_resolve},
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
	if (!strcmp(what, "events") && !write_event)
		return SKIPPED;
	near.sin_family = AF_INET;
	inet_pton(AF_INET, "10.2.0.1", &near.sin_addr);
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (!strcmp(what, works[i].name))
			return printf("%.0f\n", rate(works[i].run, strtod(argv[2], NULL))) < 0;
	}
	fprintf(stderr, "usage: vm_micro ids|events|binds|resolves SECONDS\n");
	return 64;
}
