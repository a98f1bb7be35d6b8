/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that hosts of the fabric publish through the library: found, kept, lost, taken, and gone. */
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fabric.h"
#include "test.h"

#define OWN_GID "fe80::10:3"		/* hca2's */

/* A third of it is what an SA gets for an answer: on a busy machine it needs seconds. */
enum { SHORT_LEASE_S = 12 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static uint64_t registration;

static struct rdma_cm_id *bound_id(void)
{
	struct sockaddr_ib own = { .sib_family = AF_IB };
	struct rdma_cm_id *made;

	rcm_fabric_gid(2, own.sib_addr.sib_raw);
	assert_int_equal(rdma_create_id(channel, &made, NULL, RDMA_PS_IB), 0);
	assert_int_equal(rdma_bind_addr(made, (struct sockaddr *)&own), 0);
	return made;
}

static int setup(void **state)
{
	(void)state;
	channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	id = bound_id();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (id)
		assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	return 0;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void publish(const char *name, uint64_t service_id, uint32_t lease_s)
{
	struct rai_service service = { .name = name, .id = service_id, .lease_s = lease_s, .data = { 7, [15] = 1 } };

	assert_int_equal(rai_service_register(id, &service, &registration), 0);
}

/* The next event, within that time: of this registration, with this status. */
static void expect_text(int status, char text[200])
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event, seen;

	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	seen = *event;
	assert_true(rai_event_text(event, text, 200) > 0);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	if (seen.status != status)
		print_message("event %d, status %d: %s\n", seen.event, seen.status, text);
	assert_int_equal(seen.event, RAI_EVENT_SERVICE);
	assert_int_equal(seen.status, status);
	assert_true(seen.param.arg == registration);
}

static void expect(int status)
{
	char text[200];

	expect_text(status, text);
}

static void expect_nothing(int ms)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, ms), 0);
}

/* As hca2 sees it: how many records of that name, the first of them in *ret_record. */
static unsigned find(const char *name, struct rai_service_record *ret_record)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_NOROUTE }, *list = NULL;
	unsigned count = 0;

	if (rdma_getaddrinfo(NULL, name, &hints, &list)) {
		assert_int_equal(errno, ENOENT);
		return 0;
	}
	if (ret_record)
		assert_int_equal(rai_addrinfo_service(list, ret_record), 0);
	for (struct rdma_addrinfo *ai = list; ai; ai = ai->ai_next)
		count++;
	rdma_freeaddrinfo(list);
	return count;
}

/* Within that time; how long it took. */
static double until_found(const char *name, unsigned count, double at_most_s)
{
	double start = now_s();

	while (find(name, NULL) != count) {
		if (now_s() - start > at_most_s)
			fail_msg("%s: found %u, not %u", name, find(name, NULL), count);
		poll(NULL, 0, 20);
	}
	return now_s() - start;
}

/* Of another host: 0 it is found, 1 it isn't. */
static int found_by(const char *host, const char *name)
{
	return rcm_fabric("on %s \"$RAI_FABRIC_BUILD/cli/rai\" resolve --sa %s >&2", host, name);
}

/* The whole way: what one host publishes another finds, with all that was said about it and a route. */
static void test_publish_is_found_by_name_from_another_host_with_all_of_its_record(void **state)
{
	struct rai_service_record record;

	(void)state;
	publish("whole", 0x1000, 600);
	expect(0);
	assert_int_equal(find("whole", &record), 1);
	assert_int_equal(record.id, 0x1000);
	assert_int_equal(record.pkey, 0xffff);
	assert_int_equal(record.lease_s, 600);
	assert_int_equal(record.data[0], 7);
	assert_int_equal(record.data[15], 1);
	assert_string_equal(record.name, "whole");
	assert_int_equal(found_by("hca3", "whole"), 0);
	assert_int_equal(found_by("hca3", "0x1000"), 0);
}

static void test_publish_without_an_id_has_that_of_its_listener(void **state)
{
	struct sockaddr_ib *bound = (struct sockaddr_ib *)rdma_get_local_addr(id);
	struct rai_service_record record;

	(void)state;
	publish("own-id", 0, 0);
	expect(0);
	assert_int_equal(find("own-id", &record), 1);
	assert_true(record.id == be64toh(bound->sib_sid));
	assert_int_equal(record.lease_s, 120);
}

static void test_unregister_deletes_its_own_record_and_no_other(void **state)
{
	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n shared -i 0x1001"), 0);
	publish("shared", 0x1001, 0);
	expect(0);
	assert_int_equal(find("shared", NULL), 2);
	assert_int_equal(found_by("hca3", "shared"), 0);
	assert_int_equal(rai_service_unregister(id, registration), 0);
	until_found("shared", 1, 5);
	assert_int_equal(rai_service_unregister(id, registration), -1);
	assert_int_equal(errno, ENOENT);
	expect_nothing(0);
}

static void test_destroy_deletes_the_records_of_its_id(void **state)
{
	(void)state;
	publish("destroyed", 0x1002, 0);
	expect(0);
	publish("destroyed", 0x1003, 0);
	expect(0);
	assert_int_equal(find("destroyed", NULL), 2);
	assert_int_equal(rdma_destroy_id(id), 0);
	id = NULL;
	until_found("destroyed", 0, 5);
}

/* Neither waits for an SA that is silent. */
static void test_destroy_at_a_silent_sa_does_not_wait(void **state)
{
	double start;

	(void)state;
	publish("silent", 0x1004, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric("sm pause"), 0);
	start = now_s();
	publish("silent", 0x1005, SHORT_LEASE_S);
	assert_int_equal(rai_service_unregister(id, registration), 0);
	assert_int_equal(rdma_destroy_id(id), 0);
	id = NULL;
	assert_true(now_s() - start < 0.5);
	assert_int_equal(rcm_fabric("sm continue"), 0);
	until_found("silent", 0, 2 * SHORT_LEASE_S);
}

static void test_publish_at_a_silent_sa_is_told_and_registered_when_it_speaks(void **state)
{
	char text[200];

	(void)state;
	assert_int_equal(rcm_fabric("sm pause"), 0);
	publish("patience", 0x1006, SHORT_LEASE_S);
	expect(-ETIMEDOUT);
	assert_int_equal(rcm_fabric("sm continue"), 0);
	expect_text(0, text);
	assert_non_null(strstr(text, "registered, after: "));
	assert_int_equal(find("patience", NULL), 1);
}

/* The port is no member of that partition. */
static void test_publish_that_the_sa_refuses_is_told_with_its_status(void **state)
{
	struct rai_service service = { .name = "foreign", .id = 0x1007, .pkey = 0x8123 };
	char text[200];

	(void)state;
	assert_int_equal(rai_service_register(id, &service, &registration), 0);
	expect_text(-EIO, text);
	assert_non_null(strstr(text, "REQ_INVALID"));
	assert_int_equal(find("foreign", NULL), 0);
}

static void test_publish_outlives_its_lease(void **state)
{
	double start = now_s();

	(void)state;
	publish("renewed", 0x1008, SHORT_LEASE_S);
	expect(0);
	while (now_s() - start < 2 * SHORT_LEASE_S) {
		assert_int_equal(find("renewed", NULL), 1);
		poll(NULL, 0, 100);
	}
	expect_nothing(0);
}

static void test_publish_that_another_host_deletes_is_told_and_set_again(void **state)
{
	(void)state;
	publish("deleted", 0x1009, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric_records("hca3", "-d -g " OWN_GID " -i 0x1009"), 0);
	assert_int_equal(find("deleted", NULL), 0);
	expect(-ENOENT);
	expect(0);
	assert_int_equal(find("deleted", NULL), 1);
}

static void test_publish_whose_record_another_host_replaces_is_told_and_takes_it_back(void **state)
{
	char text[200];

	(void)state;
	publish("mine", 0x100a, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric_records("hca3", "-n theirs -g " OWN_GID " -i 0x100a -l 600"), 0);
	assert_int_equal(find("mine", NULL), 0);
	expect_text(-EEXIST, text);
	assert_non_null(strstr(text, "theirs"));
	expect(0);
	assert_int_equal(find("theirs", NULL), 0);
	assert_int_equal(find("mine", NULL), 1);
}

static void test_unregister_of_a_record_that_was_replaced_leaves_the_others(void **state)
{
	(void)state;
	publish("replaced", 0x100b, 600);
	expect(0);
	assert_int_equal(rcm_fabric_records("hca3", "-n replaced -g " OWN_GID " -i 0x100b -l 600"), 0);
	assert_int_equal(rai_service_unregister(id, registration), 0);
	/* What comes after it at the SA is through when it is. */
	publish("after", 0x100c, 600);
	expect(0);
	assert_int_equal(rai_service_unregister(id, registration), 0);
	until_found("after", 0, 5);
	assert_int_equal(find("replaced", NULL), 1);
	assert_int_equal(rcm_fabric_records("hca3", "-d -g " OWN_GID " -i 0x100b"), 0);
}

static void test_publish_of_many_services_keeps_them_all(void **state)
{
	enum { MANY = 300 };
	struct rdma_cm_event *event;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		publish("many", 0x20000 + i, 15);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(rdma_get_cm_event(channel, &event), 0);
		assert_int_equal(event->status, 0);
		assert_int_equal(rdma_ack_cm_event(event), 0);
	}
	assert_int_equal(find("many", NULL), MANY);
	poll(NULL, 0, 16000);
	assert_int_equal(find("many", NULL), MANY);
	expect_nothing(0);
	assert_int_equal(rdma_destroy_id(id), 0);
	id = NULL;
	until_found("many", 0, 30);
}

/* The intruder has the name, and comes first. */
static void test_resolve_of_listed_gids_sees_no_intruder(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;
	unsigned char trusted[16];
	struct rdma_cm_event *event;
	uint32_t full = 1;

	(void)state;
	assert_int_equal(rcm_fabric_records("hca1", "-n vault -i 0x1020"), 0);
	assert_int_equal(rcm_fabric_records("hca3", "-n vault -i 0x1021"), 0);
	rcm_fabric_gid(1, trusted);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_GIDS, trusted, 16), 0);
	assert_int_equal(rdma_set_option(id, RDMA_OPTION_RAI, RAI_OPTION_SERVICE_FULL, &full, sizeof(full)), 0);
	assert_int_equal(rdma_resolve_addrinfo(id, NULL, "vault", &hints), 0);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(event->param.arg, 1);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	assert_memory_equal(&((struct sockaddr_ib *)list->ai_dst_addr)->sib_addr, trusted, 16);
	assert_null(list->ai_next);
	rdma_freeaddrinfo(list);
}

static pid_t publisher_pid(const char *file)
{
	char path[300];
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "%s/%s", getenv("RAI_FABRIC_DIR"), file);
	for (unsigned i = 0; i < 2000 && !pid; i++) {
		f = fopen(path, "r");
		if (f && fscanf(f, "%d", &pid) != 1)
			pid = 0;
		if (f)
			fclose(f);
		if (!pid)
			poll(NULL, 0, 10);
	}
	assert_true(pid > 0);
	return pid;
}

/* Two publishers of one name are both found; of one that is killed the lease runs out. */
static void test_publisher_that_is_killed_leaves_its_lease_to_run_out(void **state)
{
	double took;
	int world;

	(void)state;
	publish("mortal", 0x100d, 600);
	expect(0);
	world = rcm_fabric_start("on hca3 \"$RAI_FABRIC_BUILD/tests/fabric/publish\" 3 mortal 4 mortal.pid");
	assert_int_equal(kill(publisher_pid("mortal.pid"), 0), 0);
	assert_int_equal(find("mortal", NULL), 2);
	assert_int_equal(kill(publisher_pid("mortal.pid"), SIGKILL), 0);
	assert_int_not_equal(rcm_fabric_wait(world), 0);
	assert_int_equal(find("mortal", NULL), 2);
	took = until_found("mortal", 1, 8);
	assert_true(took > 1.5);
}

/* What the child has of the parent's goes with the child, and the SA isn't told. */
static void test_publish_is_left_alone_by_a_child_that_ends(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	publish("parental", 0x100e, SHORT_LEASE_S);
	expect(0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		rdma_destroy_id(id);
		rdma_destroy_event_channel(channel);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	poll(NULL, 0, 300);
	assert_int_equal(find("parental", NULL), 1);
	poll(NULL, 0, SHORT_LEASE_S * 1000);
	assert_int_equal(find("parental", NULL), 1);
	expect_nothing(0);
}

/* Whether a number is the channel's, or one that its epoll descriptor is over. */
static bool is_the_channels(int fd)
{
	char line[128], path[64];
	bool found = fd == channel->fd;
	int over;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", channel->fd);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found = found || (sscanf(line, "tfd: %d", &over) == 1 && over == fd);
	fclose(f);
	return found;
}

/* As a program does that closes what it doesn't know: by these the library waits. All else may be the simulation's.
 * ThreadSanitizer isn't to see it: the closing is a race, and meant. */
static void close_what_the_library_waits_by(void)
{
	char target[64], path[64];
	unsigned closed = 0;
	ssize_t len;

	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = 0;
		if (!strcmp(target, "anon_inode:[eventpoll]") && !is_the_channels(fd) && !syscall(SYS_close, fd))
			closed++;
	}
	assert_true(closed >= 1);
}

static void test_publish_outlives_the_librarys_descriptors(void **state)
{
	double start = now_s();

	(void)state;
	publish("closed", 0x1013, SHORT_LEASE_S);
	expect(0);
	close_what_the_library_waits_by();
	while (now_s() - start < 2 * SHORT_LEASE_S) {
		assert_int_equal(found_by("hca3", "closed"), 0);
		poll(NULL, 0, 500);
	}
	expect_nothing(0);
	assert_int_equal(rai_service_unregister(id, registration), 0);
	until_found("closed", 0, 5);
}

static void test_publish_at_a_port_whose_cable_was_out_is_registered_again(void **state)
{
	(void)state;
	publish("cable", 0x100f, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric("link down hca2"), 0);
	expect(-ENETDOWN);
	assert_int_equal(rcm_fabric("link up hca2"), 0);
	expect(0);
	until_found("cable", 1, 5);
}

/* The SM starts anew where it was: nothing shows that, but the next renewal. */
static void test_publish_is_found_again_after_the_sm_lost_its_records(void **state)
{
	(void)state;
	publish("restart", 0x1010, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric("sm kill"), 0);
	assert_int_equal(rcm_fabric("sm start"), 0);
	expect(-ENOENT);
	expect(0);
	until_found("restart", 1, 5);
}

/* Long before its renewal: that the SM is another one shows. */
static void test_publish_is_found_again_after_a_standby_took_over(void **state)
{
	double start;

	(void)state;
	assert_int_equal(rcm_fabric("sm start hca3"), 0);
	publish("standby", 0x1011, 600);
	expect(0);
	assert_int_equal(found_by("hca3", "standby"), 0);
	start = now_s();
	assert_int_equal(rcm_fabric("sm kill"), 0);
	expect(-ENOENT);
	expect(0);
	assert_true(now_s() - start < 15);
	assert_int_equal(found_by("hca3", "standby"), 0);
}

static void test_publish_is_renewed_without_a_word_where_the_sm_kept_its_records(void **state)
{
	(void)state;
	publish("kept", 0x1012, SHORT_LEASE_S);
	expect(0);
	assert_int_equal(rcm_fabric("sm restart"), 0);
	until_found("kept", 1, 10);
	poll(NULL, 0, SHORT_LEASE_S * 1000);
	assert_int_equal(find("kept", NULL), 1);
	expect_nothing(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest record[] = {
		TEST(test_publish_is_found_by_name_from_another_host_with_all_of_its_record),
		TEST(test_publish_without_an_id_has_that_of_its_listener),
		TEST(test_unregister_deletes_its_own_record_and_no_other),
		TEST(test_unregister_of_a_record_that_was_replaced_leaves_the_others),
		TEST(test_destroy_deletes_the_records_of_its_id),
		TEST(test_destroy_at_a_silent_sa_does_not_wait),
		TEST(test_publish_at_a_silent_sa_is_told_and_registered_when_it_speaks),
		TEST(test_publish_that_the_sa_refuses_is_told_with_its_status),
		TEST(test_publish_that_another_host_deletes_is_told_and_set_again),
		TEST(test_publish_whose_record_another_host_replaces_is_told_and_takes_it_back),
		TEST(test_resolve_of_listed_gids_sees_no_intruder),
	}, lease[] = {
		TEST(test_publish_outlives_its_lease),
		TEST(test_publisher_that_is_killed_leaves_its_lease_to_run_out),
		TEST(test_publish_is_left_alone_by_a_child_that_ends),
		TEST(test_publish_outlives_the_librarys_descriptors),
	}, many[] = {
		TEST(test_publish_of_many_services_keeps_them_all),
		TEST(test_publish_at_a_port_whose_cable_was_out_is_registered_again),
	}, restart[] = {
		TEST(test_publish_is_found_again_after_the_sm_lost_its_records),
	}, standby[] = {
		TEST(test_publish_is_found_again_after_a_standby_took_over),
	}, database[] = {
		TEST(test_publish_is_renewed_without_a_word_where_the_sm_kept_its_records),
	};
	const char *group = argc > 1 ? argv[1] : "";

	/* Each in a world of its own: they wait for much, and of an SM that was killed the simulator keeps something. */
	if (!strcmp(group, "record"))
		return cmocka_run_group_tests(record, NULL, NULL);
	if (!strcmp(group, "lease"))
		return cmocka_run_group_tests(lease, NULL, NULL);
	if (!strcmp(group, "many"))
		return cmocka_run_group_tests(many, NULL, NULL);
	if (!strcmp(group, "restart"))
		return cmocka_run_group_tests(restart, NULL, NULL);
	if (!strcmp(group, "standby"))
		return cmocka_run_group_tests(standby, NULL, NULL);
	if (!strcmp(group, "database"))
		return cmocka_run_group_tests(database, NULL, NULL);
	fprintf(stderr, "usage: test_sa_publish record|lease|many|restart|standby|database\n");
	return 64;
}
