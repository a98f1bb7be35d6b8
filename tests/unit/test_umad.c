/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending and receiving over libibumad, with calls of it that the test answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/sysfs.h"
#include "base/clock.h"
#include "fake_clock.h"
#include "fake_malloc.h"
#include "fake_sysfs.h"
#include "sa/umad.h"
#include "sa/wire.h"
#include "test.h"

/* What libibumad does: the test program's own functions of these names come before the library's. */
static struct {
	int open_errno, register_errno, send_errno, recv_errno;
	int fd, closed;
	unsigned sends;
	struct ib_user_mad header;
	uint8_t mad[256];
	int timeout_ms, retries;
	const void *message;		/* what waits to be received */
	int length;
	uint32_t status;
	int room;			/* that was received into last */
	bool recv_says_no_cause, says_no_cause;
} lib;

static int agent = 4;

int umad_open_port(const char *ca_name, int portnum)
{
	assert_string_equal(ca_name, "fake0");
	assert_int_equal(portnum, 1);
	if (lib.says_no_cause)
		return -EIO;
	if (lib.open_errno) {
		errno = lib.open_errno;
		return -EIO;
	}
	lib.fd = eventfd(0, 0);
	return lib.fd;
}

int umad_close_port(int portid)
{
	assert_int_equal(portid, lib.fd);
	close(lib.fd);
	lib.closed++;
	return 0;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	assert_int_equal(portid, lib.fd);
	assert_int_equal(mgmt_class, 3);
	assert_int_equal(mgmt_version, 2);
	assert_int_equal(rmpp_version, 1);
	assert_null(method_mask);
	if (lib.register_errno) {
		errno = lib.register_errno;
		return -EPERM;
	}
	return agent;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	assert_int_equal(portid, lib.fd);
	assert_int_equal(agentid, agent);
	assert_int_equal(length, 256);
	memcpy(&lib.header, umad, umad_size());
	memcpy(lib.mad, umad_get_mad(umad), 256);
	lib.timeout_ms = timeout_ms;
	lib.retries = retries;
	lib.sends++;
	if (lib.says_no_cause)
		return -EIO;
	if (lib.send_errno) {
		errno = lib.send_errno;
		return -EIO;
	}
	return 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	int room = *length;

	assert_int_equal(portid, lib.fd);
	assert_int_equal(timeout_ms, 0);
	lib.room = room;
	if (lib.recv_says_no_cause)
		return -EIO;
	if (lib.recv_errno || !lib.message) {
		*length = 12345;	/* garbage, as libibumad has it there */
		errno = lib.recv_errno ? lib.recv_errno : EAGAIN;
		return -errno;
	}
	*length = lib.length;
	memset(umad, 0, umad_size());
	((struct ib_user_mad *)umad)->status = lib.status;
	memcpy(umad_get_mad(umad), lib.message, (size_t)(room < lib.length ? 256 : lib.length));
	if (room < lib.length) {
		errno = ENOSPC;
		return -ENOSPC;
	}
	lib.message = NULL;
	return agent;
}

static const struct rcm_gid gid = { { 0xfe, 0x80, [15] = 1 } };
static const struct rcm_sa_port port = { .device = "fake0", .number = 1 };
static struct rcm_umad *umad;
static struct rcm_umad_message message;

static int setup(void **state)
{
	(void)state;
	memset(&lib, 0, sizeof(lib));
	rcm_sysfs_replace("/nowhere");
	assert_int_equal(rcm_umad_device.open(&port, &umad), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_umad_device.close(umad);
	assert_int_equal(lib.closed, 1);
	rcm_sysfs_replace(NULL);
	return 0;
}

static void test_umad_descriptor_is_close_on_exec(void **state)
{
	(void)state;
	assert_int_equal(fcntl(rcm_umad_device.fd(umad), F_GETFD), FD_CLOEXEC);
}

static void test_umad_open_tells_the_true_cause_of_a_failure(void **state)
{
	struct rcm_umad *other;

	(void)state;
	lib.open_errno = EACCES;
	assert_int_equal(rcm_umad_device.open(&port, &other), -EACCES);
	lib.open_errno = ENXIO;
	assert_int_equal(rcm_umad_device.open(&port, &other), -ENXIO);
}

static void test_umad_open_without_an_agent_closes_the_port_again(void **state)
{
	struct rcm_umad *other;
	int fd = lib.fd;

	(void)state;
	lib.register_errno = EINVAL;
	assert_int_equal(rcm_umad_device.open(&port, &other), -EINVAL);
	assert_int_equal(lib.closed, 1);
	lib.closed = 0;
	lib.fd = fd;
}

static void test_umad_open_without_memory_closes_the_port_again(void **state)
{
	struct rcm_umad *other = NULL;
	int fd = lib.fd;

	(void)state;
	for (unsigned nth = 1; nth <= 2; nth++) {
		rcm_fake_malloc_fail(nth);
		assert_int_equal(rcm_umad_device.open(&port, &other), -ENOMEM);
		assert_true(rcm_fake_malloc_calm());
		assert_int_equal(lib.closed, nth - 1);
	}
	assert_null(other);
	lib.closed = 0;
	lib.fd = fd;
	rcm_umad_device.close(NULL);
}

/* It stays in the kernel. */
static void test_umad_receive_of_a_table_without_memory_gives_it_the_next_time(void **state)
{
	size_t len = 56 + 4096 * 176;
	uint8_t *table = calloc(1, len);

	(void)state;
	assert_non_null(table);
	table[len - 1] = 0x33;
	lib.message = table;
	lib.length = (int)len;
	rcm_fake_malloc_fail(1);
	assert_int_equal(rcm_umad_device.recv(umad, &message), -ENOMEM);
	assert_true(rcm_fake_malloc_calm());
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_int_equal(message.len, len);
	assert_memory_equal(message.mad, table, len);
	free(table);
}

static void test_umad_send_goes_to_the_sa_with_a_timeout_and_no_retries(void **state)
{
	struct rcm_sa_address to = { .lid = 0x1234, .sl = 5, .pkey_index = 3 };
	uint8_t mad[256];

	(void)state;
	memset(mad, 0x5a, sizeof(mad));
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), 0);
	assert_memory_equal(lib.mad, mad, 256);
	assert_int_equal(lib.timeout_ms, 700);
	assert_int_equal(lib.retries, 0);
	assert_int_equal(lib.header.addr.lid, htons(0x1234));
	assert_int_equal(lib.header.addr.sl, 5);
	assert_int_equal(lib.header.addr.qpn, htonl(1));
	assert_int_equal(lib.header.addr.qkey, htonl(0x80010000));
	assert_int_equal(lib.header.addr.grh_present, 0);
	/* A header of the old size has no P_Key index. */
	assert_true(umad_size() < sizeof(struct ib_user_mad) || lib.header.addr.pkey_index == 3);
}

static void test_umad_send_has_a_grh_where_it_is_needed(void **state)
{
	struct rcm_sa_address to = { .global = true, .gid.raw = { 0xfe, 0x80, [8] = 2, [15] = 2 } };
	uint8_t mad[256] = { 0 };

	(void)state;
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), 0);
	assert_int_equal(lib.header.addr.grh_present, 1);
	assert_memory_equal(lib.header.addr.gid, to.gid.raw, 16);
}

static void test_umad_send_tells_the_true_cause_of_a_failure(void **state)
{
	struct rcm_sa_address to = { 0 };
	uint8_t mad[256] = { 0 };

	(void)state;
	lib.send_errno = EINVAL;
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), -EINVAL);
	lib.send_errno = EIO;
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), -EIO);
}

static void test_umad_receive_with_nothing_there_is_eagain(void **state)
{
	(void)state;
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EAGAIN);
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EAGAIN);
}

static void test_umad_receive_gives_the_mad(void **state)
{
	uint8_t mad[256];

	(void)state;
	memset(mad, 0x77, sizeof(mad));
	lib.message = mad;
	lib.length = sizeof(mad);
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_int_equal(message.len, sizeof(mad));
	assert_memory_equal(message.mad, mad, sizeof(mad));
	assert_false(message.timed_out);
}

static void test_umad_receive_of_a_timeout_has_the_header_alone(void **state)
{
	uint8_t mad[24] = { [15] = 9 };

	(void)state;
	lib.message = mad;
	lib.length = sizeof(mad);
	lib.status = ETIMEDOUT;
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_true(message.timed_out);
	assert_int_equal(message.len, 24);
	assert_int_equal(rcm_wire_tid(message.mad), 9);
}

static void test_umad_receive_grows_for_a_table_and_shrinks_again(void **state)
{
	size_t len = 56 + 4096 * 176;
	uint8_t *table = malloc(len), small[256] = { 0 };

	(void)state;
	assert_non_null(table);
	memset(table, 0x33, len);
	lib.message = table;
	lib.length = (int)len;
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_int_equal(message.len, len);
	assert_memory_equal(message.mad, table, len);
	lib.message = small;
	lib.length = sizeof(small);
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_int_equal(message.len, sizeof(small));
	assert_int_equal(lib.room, 16384);
	free(table);
}

static void test_umad_receive_of_as_much_as_the_limit_is_all_of_it(void **state)
{
	uint8_t *table = calloc(1, RCM_SA_ANSWER_MAX);

	(void)state;
	assert_non_null(table);
	table[RCM_SA_ANSWER_MAX - 1] = 7;
	lib.message = table;
	lib.length = RCM_SA_ANSWER_MAX;
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	assert_int_equal(message.len, RCM_SA_ANSWER_MAX);
	assert_memory_equal(message.mad, table, RCM_SA_ANSWER_MAX);
	free(table);
}

static void test_umad_receive_of_more_than_the_limit_is_emsgsize_with_its_first_bytes(void **state)
{
	uint8_t mad[256] = { [15] = 6 };

	(void)state;
	lib.message = mad;
	lib.length = RCM_SA_ANSWER_MAX + 1;
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EMSGSIZE);
	assert_int_equal(message.len, 256);
	assert_int_equal(rcm_wire_tid(message.mad), 6);
}

static void test_umad_receive_from_a_device_that_is_gone_is_its_error(void **state)
{
	(void)state;
	lib.recv_errno = EIO;
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EIO);
}

/* What errno was before is of something else. */
static void test_umad_receive_that_fails_without_a_cause_is_eio(void **state)
{
	(void)state;
	lib.recv_says_no_cause = true;
	errno = EACCES;
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EIO);
}

static void test_umad_that_fails_without_a_cause_to_open_or_send_is_eio(void **state)
{
	struct rcm_sa_address to = { 0 };
	uint8_t mad[256] = { 0 };
	struct rcm_umad *other;

	(void)state;
	lib.says_no_cause = true;
	errno = EACCES;
	assert_int_equal(rcm_umad_device.open(&port, &other), -EIO);
	errno = EACCES;
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), -EIO);
}

static void test_umad_receive_that_is_interrupted_is_eagain(void **state)
{
	(void)state;
	lib.recv_errno = EINTR;
	assert_int_equal(rcm_umad_device.recv(umad, &message), -EAGAIN);
}

static void test_umad_whose_agent_has_number_0_sends_and_receives(void **state)
{
	struct rcm_sa_address to = { 0 };
	uint8_t mad[256] = { 0 };

	(void)state;
	rcm_umad_device.close(umad);
	lib.closed = 0;
	agent = 0;
	assert_int_equal(rcm_umad_device.open(&port, &umad), 0);
	assert_int_equal(rcm_umad_device.send(umad, 0, &to, mad, 700), 0);
	lib.message = mad;
	lib.length = sizeof(mad);
	assert_int_equal(rcm_umad_device.recv(umad, &message), 0);
	agent = 4;
}

static void port_add(const char *device)
{
	static const char *const files[][2] = {
		{ "state", "4: ACTIVE" }, { "lid", "0x1" }, { "sm_lid", "0x7" }, { "sm_sl", "0" },
		{ "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001" },
	};
	char path[128];

	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "class/infiniband/%s/ports/1/%s", device, files[i][0]);
		rcm_fake_sysfs_add(path, files[i][1]);
	}
}

static void test_umad_address_is_found_after_the_device_was_renamed(void **state)
{
	struct rcm_sa_address address = { 0 };
	struct rcm_umad *other;

	(void)state;
	rcm_umad_device.close(umad);
	lib.closed = 0;
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	port_add("fake0");
	assert_int_equal(rcm_umad_device.open(&(struct rcm_sa_port){
		.device = "fake0", .number = 1, .gid = { { 0xfe, 0x80, [15] = 1 } } }, &other), 0);
	assert_int_equal(rcm_umad_device.address(other, false, &address), 0);
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	assert_int_equal(rcm_umad_device.address(other, false, &address), -ENODEV);
	port_add("renamed");
	assert_int_equal(rcm_umad_device.address(other, false, &address), 0);
	assert_int_equal(address.lid, 7);
	rcm_fake_sysfs_done();
	umad = other;
}

static uint16_t pkey_index(struct rcm_umad *of, bool in_doubt)
{
	struct rcm_sa_address address = { 0 };

	assert_int_equal(rcm_umad_device.address(of, in_doubt, &address), 0);
	return address.pkey_index;
}

/* The subnet manager may write it anew. */
static void test_umad_in_doubt_looks_at_the_table_of_pkeys_again(void **state)
{
	static const char path[] = "class/infiniband/fake0/ports/1/pkeys/";
	struct rcm_umad *other;
	char first[64], second[64];

	(void)state;
	rcm_umad_device.close(umad);
	lib.closed = 0;
	snprintf(first, sizeof(first), "%s0", path);
	snprintf(second, sizeof(second), "%s1", path);
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	port_add("fake0");
	rcm_fake_sysfs_add(first, "0x8001");
	rcm_fake_sysfs_add(second, "0xffff");
	assert_int_equal(rcm_umad_device.open(&port, &other), 0);
	assert_int_equal(pkey_index(other, false), 1);
	rcm_fake_sysfs_add(first, "0xffff");
	rcm_fake_sysfs_add(second, "0x8001");
	assert_int_equal(pkey_index(other, false), 1);
	assert_int_equal(pkey_index(other, true), 0);
	/* A table that can't be read has its usual place. */
	rcm_fake_sysfs_add(first, "0x8001");
	rcm_fake_sysfs_add(second, "0xffff");
	assert_int_equal(pkey_index(other, true), 1);
	rcm_fake_sysfs_done();
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	port_add("fake0");
	assert_int_equal(pkey_index(other, true), 0);
	rcm_fake_sysfs_done();
	umad = other;
}

/* The control group's list of devices refuses with EPERM, the file's mode with EACCES: to the caller it is the same. */
static void test_umad_that_may_not_be_opened_is_eacces_for_a_second(void **state)
{
	static const int refusals[] = { EACCES, EPERM };

	(void)state;
	rcm_umad_device.close(umad);
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_sysfs_replace(rcm_fake_sysfs_new());
	rcm_fake_sysfs_add("class/infiniband_mad/abi_version", "5");
	port_add("fake0");
	for (unsigned i = 0; i < 2; i++) {
		rcm_fake_clock_advance(2 * RCM_NS_PER_S);
		lib.open_errno = refusals[i];
		assert_int_equal(rcm_sa_umad_usable(&gid), -EACCES);
		lib.open_errno = 0;
		assert_int_equal(rcm_sa_umad_usable(&gid), -EACCES);
		rcm_fake_clock_advance(RCM_NS_PER_S);
		assert_int_equal(rcm_sa_umad_usable(&gid), 0);
	}
	/* What else it is may be over in a moment. */
	rcm_fake_clock_advance(2 * RCM_NS_PER_S);
	lib.open_errno = ENXIO;
	assert_int_equal(rcm_sa_umad_usable(&gid), -ENXIO);
	lib.open_errno = 0;
	assert_int_equal(rcm_sa_umad_usable(&gid), 0);
	rcm_fake_sysfs_done();
	rcm_clock_replace(NULL);
	lib.closed = 0;
	assert_int_equal(rcm_umad_device.open(&port, &umad), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_umad_descriptor_is_close_on_exec),
		TEST(test_umad_open_tells_the_true_cause_of_a_failure),
		TEST(test_umad_open_without_an_agent_closes_the_port_again),
		TEST(test_umad_open_without_memory_closes_the_port_again),
		TEST(test_umad_receive_of_a_table_without_memory_gives_it_the_next_time),
		TEST(test_umad_in_doubt_looks_at_the_table_of_pkeys_again),
		TEST(test_umad_send_goes_to_the_sa_with_a_timeout_and_no_retries),
		TEST(test_umad_send_has_a_grh_where_it_is_needed),
		TEST(test_umad_send_tells_the_true_cause_of_a_failure),
		TEST(test_umad_receive_with_nothing_there_is_eagain),
		TEST(test_umad_receive_gives_the_mad),
		TEST(test_umad_receive_of_a_timeout_has_the_header_alone),
		TEST(test_umad_receive_grows_for_a_table_and_shrinks_again),
		TEST(test_umad_receive_of_as_much_as_the_limit_is_all_of_it),
		TEST(test_umad_receive_of_more_than_the_limit_is_emsgsize_with_its_first_bytes),
		TEST(test_umad_receive_from_a_device_that_is_gone_is_its_error),
		TEST(test_umad_receive_that_fails_without_a_cause_is_eio),
		TEST(test_umad_that_fails_without_a_cause_to_open_or_send_is_eio),
		TEST(test_umad_receive_that_is_interrupted_is_eagain),
		TEST(test_umad_whose_agent_has_number_0_sends_and_receives),
		TEST(test_umad_address_is_found_after_the_device_was_renamed),
		TEST(test_umad_that_may_not_be_opened_is_eacces_for_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
