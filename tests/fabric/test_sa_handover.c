/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is looked up while a standby becomes the subnet manager, as host hca2: with the database of the one before ("database"),
 * and without, where what was registered has to be registered again ("none").
 */
#include <errno.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rai.h>

#include "fabric.h"
#include "test.h"

enum { DEADLINE_MS = 60000, TRIES = 30 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static int setup(void **state)
{
	uint32_t deadline = DEADLINE_MS;
	struct sockaddr_ib own = { .sib_family = AF_IB };

	(void)state;
	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_IB) || rdma_bind_addr(id, (struct sockaddr *)&own))
		return -1;
	return rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &deadline, sizeof(deadline)) ||
	       rcm_fabric("sm start hca3") || rcm_fabric_records("hca3", "-n handover -i 0x8100");
}

static int teardown(void **state)
{
	(void)state;
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}

static void ask(void)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };

	assert_int_equal(rdma_resolve_addrinfo(id, NULL, "handover", &hints), 0);
}

/* One record with its route, whoever told. */
static void expect_found(void)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_addrinfo *list = NULL;
	struct rdma_cm_event *event;
	int status;

	assert_int_equal(poll(&p, 1, DEADLINE_MS + 10000), 1);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	status = event->status;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(status, 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	assert_null(list->ai_next);
	assert_true(list->ai_route_len > 0);
	rdma_freeaddrinfo(list);
}

/* Who asks waits over the handover, and until the publisher has come to the new one. */
static void test_handover_finds_what_is_registered_again_meanwhile(void **state)
{
	int tries = 0;

	(void)state;
	ask();
	expect_found();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	ask();
	while (rcm_fabric_records("hca3", "-n handover -i 0x8100"))
		assert_true(++tries < TRIES);
	expect_found();
}

/* Nobody registers anything again. */
static void test_handover_finds_what_the_database_kept(void **state)
{
	(void)state;
	ask();
	expect_found();
	assert_int_equal(rcm_fabric("sm stop"), 0);
	ask();
	expect_found();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest none[] = {
		cmocka_unit_test_setup_teardown(test_handover_finds_what_is_registered_again_meanwhile, setup, teardown),
	}, database[] = {
		cmocka_unit_test_setup_teardown(test_handover_finds_what_the_database_kept, setup, teardown),
	};

	if (argc > 1 && !strcmp(argv[1], "database"))
		return cmocka_run_group_tests(database, NULL, NULL);
	return cmocka_run_group_tests(none, NULL, NULL);
}
