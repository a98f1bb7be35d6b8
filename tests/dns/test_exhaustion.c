/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names at a name server and in the host's files, and services at an SA, with every allocation, descriptor and thread that
 * they take failing in turn, on the caller's thread and on the resolver's: what stands behind the fakes of
 * tests/unit/test_exhaustion.c. Prints lines of docs/reliability.md, and holds them against it. Server: liar.
 */
#include <errno.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <sys/socket.h>

#include "exhaust.h"
#include "fire.h"
#include "test.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static unsigned number;

/* Of no use here: nothing complains of the SA. */
void fire_complain(const char *format, ...)
{
	(void)format;
}

static void begin(void)
{
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_IB), 0);
	exhaust_watch(id, sizeof(*id));
}

static bool is_connection(int fd)
{
	socklen_t len = sizeof(int);
	int type;

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

/* Connections to the name server are kept for 0.2 s. */
static void end(void)
{
	for (int fd = 3; fd < 64; fd++)
		while (is_connection(fd))
			poll(NULL, 0, 10);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static int outcome(int ret)
{
	struct rdma_cm_event *event;
	int status;

	if (ret)
		return -errno;
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	status = event->status;
	rdma_ack_cm_event(event);
	if (status)
		exhaust_by_event();
	return status;
}

static int call_name(void)
{
	char name[64];

	snprintf(name, sizeof(name), "live-%u.liar.test", number++);
	return outcome(rdma_resolve_addrinfo(id, name, NULL, NULL));
}

static int call_name_by_tcp(void)
{
	char name[64];

	snprintf(name, sizeof(name), "tcp-%u.liar.test", number++);
	return outcome(rdma_resolve_addrinfo(id, name, NULL, NULL));
}

static int call_name_of_hosts(void)
{
	return outcome(rdma_resolve_addrinfo(id, "inhosts", NULL, NULL));
}

static int call_getaddrinfo(void)
{
	struct rdma_addrinfo *list;
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "live-%u.liar.test", number++);
	ret = rdma_getaddrinfo(name, NULL, NULL, &list);
	if (!ret)
		rdma_freeaddrinfo(list);
	return ret == EAI_MEMORY ? -ENOMEM : ret == EAI_AGAIN ? -EAGAIN : ret ? -errno : 0;
}

static void bind_port(void)
{
	static const struct fire_fault none = { .how = "well" };
	struct sockaddr_ib port = { .sib_family = AF_IB, .sib_addr.sib_raw = { 0xfe, 0x80, [15] = 1 } };

	fire_services.begin(&none);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&port), 0);
}

static int call_service(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char name[64];

	snprintf(name, sizeof(name), "service%u", number++);
	return outcome(rdma_resolve_addrinfo(id, NULL, name, &hints));
}

static const struct exhaust_call calls[] = {
	{ "`rdma_resolve_addrinfo()` of a name, at a name server", NULL, call_name },
	{ "`rdma_resolve_addrinfo()` of a name, by TCP", NULL, call_name_by_tcp },
	{ "`rdma_resolve_addrinfo()` of a name, in the hosts file", NULL, call_name_of_hosts },
	{ "`rdma_getaddrinfo()` of a name, at a name server", NULL, call_getaddrinfo },
	{ "`rdma_resolve_addrinfo()` of a service, at an SA", bind_port, call_service },
};

static const char *only = "";

static void test_resolution_at_servers_whose_means_run_out_says_so_and_the_next_one_succeeds(void **state)
{
	static const struct exhaust all = { calls, sizeof(calls) / sizeof(*calls), begin, end };

	(void)state;
	assert_true(exhaust_run(&all, only));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolution_at_servers_whose_means_run_out_says_so_and_the_next_one_succeeds),
	};
	int failed;

	if (!getenv("RAI_DNS_LIAR"))
		return 77;
	if (argc > 1)
		only = argv[1];
	setenv("RAI_DEVICELESS", "1", 1);
	fire_sa_make();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	fire_sa_done();
	return failed;
}
