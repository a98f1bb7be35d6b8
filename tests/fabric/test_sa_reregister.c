/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subnet manager that starts anew at its place, without its records, and asks all to register again. Simulated ports
 * have no verbs: that a port was asked is told by a device of the test's own, which has the port's name.
 */
#include <errno.h>
#include <infiniband/ib.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <rdma/rai.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric.h"
#include "fake_verbs.h"
#include "test.h"

enum { MANY = 60, FIRST_ID = 0x910, LEASE_S = 86400, WAIT_MS = 60000 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *publisher, *ids[MANY];
static unsigned device;

static struct rdma_cm_id *bound_id(void)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *id;
	uint32_t ms = WAIT_MS;

	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_DEADLINE_MS, &ms, sizeof(ms)), 0);
	return id;
}

/* The simulated /sys has what umad needs: this is what libibverbs has besides. */
static void verbs_appear(const char *name)
{
	char path[100];
	FILE *f;

	rcm_fake_verbs_reset();
	device = rcm_fake_verbs_add(name, 1, 1);
	rcm_fake_verbs_tells(device);
	snprintf(path, sizeof(path), "sys-%d/sys/class/infiniband_verbs", getpid());
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/abi_version");
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("6\n", f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	umad_port_t port;

	(void)state;
	assert_int_equal(umad_get_port(NULL, 0, &port), 0);
	verbs_appear(port.ca_name);
	umad_release_port(&port);
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	publisher = bound_id();
	for (unsigned i = 0; i < MANY; i++)
		ids[i] = bound_id();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rdma_destroy_id(publisher);
	for (unsigned i = 0; i < MANY; i++)
		rdma_destroy_id(ids[i]);
	rdma_destroy_event_channel(channel);
	return 0;
}

/* The next event, of a service or of a resolution as wanted; those of the other kind are passed over. */
static int take(bool of_service)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	bool fits;
	int status;

	do {
		assert_int_equal(poll(&p, 1, WAIT_MS + 10000), 1);
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		status = event->status;
		fits = of_service == (event->event == (int)RAI_EVENT_SERVICE);
		rdma_ack_cm_event(event);
	} while (!fits);
	return status;
}

/* So far ahead that no renewal is due. */
static void publish_all(void)
{
	uint64_t registration;

	for (unsigned i = 0; i < MANY; i++) {
		struct rai_service service = { .name = "again", .id = FIRST_ID + i, .lease_s = LEASE_S };

		assert_int_equal(rai_service_register(publisher, &service, &registration), 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(take(true), 0);
}

static void ask_all(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char service[32];

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(service, sizeof(service), "%#x", FIRST_ID + i);
		assert_int_equal(rdma_resolve_addrinfo(ids[i], NULL, service, &hints), 0);
	}
}

static unsigned found(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_NOROUTE }, *list;
	unsigned count = 0;

	if (rdma_getaddrinfo(NULL, "again", &hints, &list))
		return 0;
	for (struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next)
		count++;
	rdma_freeaddrinfo(list);
	return count;
}

static void until_followed(void)
{
	for (unsigned i = 0; !rcm_fake_verbs_open_now(device); i++) {
		assert_uint_in_range(i, 0, WAIT_MS / 10);
		poll(NULL, 0, 10);
	}
}

static void test_services_are_published_again_where_the_sm_asks_for_that_while_they_are_looked_for(void **state)
{
	(void)state;
	publish_all();
	until_followed();
	assert_int_equal(found(), MANY);
	assert_int_equal(rcm_fabric("sm pause"), 0);
	ask_all();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	assert_int_equal(rcm_fabric("sm start"), 0);
	assert_int_equal(found(), 0);
	rcm_fake_verbs_tell(device, IBV_EVENT_CLIENT_REREGISTER);
	for (unsigned i = 0; found() < MANY; i++) {
		assert_uint_in_range(i, 0, 2000);
		poll(NULL, 0, 10);
	}
	/* What was asked before was answered by then, or as soon as there was an answer. */
	for (unsigned i = 0; i < MANY; i++) {
		int status = take(false);

		assert_true(!status || status == -ENOENT);
	}
	ask_all();
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(take(false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_services_are_published_again_where_the_sm_asks_for_that_while_they_are_looked_for, setup, teardown),
	};

	return umad_init() < 0 ? 2 : cmocka_run_group_tests(tests, NULL, NULL);
}
