/* SPDX-License-Identifier: BSD-2-Clause */
/* Local ports, as read from a sysfs of the test's own. */
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/sysfs.h"
#include "sa/port.h"
#include "few_fds.h"
#include "test.h"

static char root[64];

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

__attribute__((format(printf, 2, 3)))
static void put(const char *text, const char *format, ...)
{
	char path[300], name[200];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/class/infiniband/%s", root, name);
	make_directories(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void port_make(const char *device, unsigned number, const char *gid)
{
	put("4: ACTIVE\n", "%s/ports/%u/state", device, number);
	put("0x1\n", "%s/ports/%u/lid", device, number);
	put("0x7\n", "%s/ports/%u/sm_lid", device, number);
	put("3\n", "%s/ports/%u/sm_sl", device, number);
	put("InfiniBand\n", "%s/ports/%u/link_layer", device, number);
	put("0xffff\n", "%s/ports/%u/pkeys/0", device, number);
	put("0x0000\n", "%s/ports/%u/pkeys/1", device, number);
	put(gid, "%s/ports/%u/gids/0", device, number);
}

static struct rcm_gid gid_of(const char *text)
{
	struct rcm_gid gid;

	assert_int_equal(inet_pton(AF_INET6, text, gid.raw), 1);
	return gid;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/rai-sysfs.XXXXXX");
	assert_non_null(mkdtemp(root));
	rcm_sysfs_replace(root);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rcm_sysfs_replace(NULL);
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_port_list_is_empty_on_a_host_without_rdma(void **state)
{
	struct rcm_sa_port ports[2];
	struct rcm_gid gid = gid_of("fe80::1");

	(void)state;
	assert_int_equal(rcm_sa_ports(ports, 2), 0);
	assert_int_equal(rcm_sa_port_by_gid(&gid, &ports[0]), -ENODEV);
}

static void test_port_list_has_every_port_in_order_of_device_and_number(void **state)
{
	struct rcm_sa_port ports[8];
	struct rcm_gid gid = gid_of("fe80::b2");

	(void)state;
	port_make("mlx5_1", 1, "fe80:0000:0000:0000:0000:0000:0000:00b1\n");
	port_make("mlx5_0", 2, "fe80:0000:0000:0000:0000:0000:0000:00a2\n");
	port_make("mlx5_0", 1, "fe80:0000:0000:0000:0000:0000:0000:00a1\n");
	port_make("mlx5_1", 2, "fe80:0000:0000:0000:0000:0000:0000:00b2\n");
	assert_int_equal(rcm_sa_ports(ports, 8), 4);
	assert_string_equal(ports[0].device, "mlx5_0");
	assert_int_equal(ports[0].number, 1);
	assert_int_equal(ports[1].number, 2);
	assert_string_equal(ports[3].device, "mlx5_1");
	assert_int_equal(ports[3].number, 2);
	assert_memory_equal(&ports[3].gid, &gid, sizeof(gid));
	assert_true(ports[3].infiniband && ports[3].active);
	assert_int_equal(rcm_sa_ports(ports, 2), 2);
}

static void test_port_list_has_numbers_and_names_that_a_port_can_have(void **state)
{
	static const char longest[] = "device-of-19-letter", longer[] = "device-of-20-letters";
	struct rcm_sa_port ports[8];

	(void)state;
	put("4: ACTIVE\n", "a/ports/0/state");
	put("4: ACTIVE\n", "a/ports/255/state");
	put("4: ACTIVE\n", "a/ports/256/state");
	put("4: ACTIVE\n", "%s/ports/1/state", longest);
	put("4: ACTIVE\n", "%s/ports/1/state", longer);
	assert_int_equal(rcm_sa_ports(ports, 8), 2);
	assert_int_equal(ports[0].number, 255);
	assert_string_equal(ports[1].device, longest);
	/* What no file says is 0. */
	for (int i = 0; i < 2; i++)
		assert_true(ports[i].infiniband && !ports[i].lid && !ports[i].lmc && !ports[i].sm_lid);
}

static void test_port_on_ethernet_is_not_infiniband(void **state)
{
	struct rcm_sa_port ports[2];

	(void)state;
	port_make("rxe0", 1, "fe80::1\n");
	put("Ethernet\n", "rxe0/ports/1/link_layer");
	assert_int_equal(rcm_sa_ports(ports, 2), 1);
	assert_false(ports[0].infiniband);
}

static void test_port_list_without_descriptors_is_emfile_not_empty(void **state)
{
	struct rcm_gid gid = gid_of("fe80::1");
	struct rcm_sa_port ports[2];

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	for (unsigned more = 0; more < 3; more++) {
		few_fds_left(more);
		assert_int_equal(rcm_sa_ports(ports, 2), -EMFILE);
		assert_int_equal(rcm_sa_port_by_gid(&gid, &ports[0]), -EMFILE);
	}
	few_fds_left(UINT_MAX);
	assert_int_equal(rcm_sa_ports(ports, 2), 1);
	assert_int_equal(rcm_sa_port_by_gid(&gid, &ports[0]), 0);
}

static void test_port_that_is_not_active_says_so(void **state)
{
	struct rcm_sa_address address;
	struct rcm_sa_port ports[2];

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	put("1: DOWN\n", "mlx5_0/ports/1/state");
	assert_int_equal(rcm_sa_ports(ports, 2), 1);
	assert_false(ports[0].active);
	assert_int_equal(rcm_port_address(&ports[0], &address), -ENETDOWN);
}

static void test_port_by_gid_looks_through_the_whole_table(void **state)
{
	struct rcm_gid gid = gid_of("2001:db8::5");
	struct rcm_sa_port port;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	port_make("mlx5_0", 2, "fe80::2\n");
	put("2001:0db8:0000:0000:0000:0000:0000:0004\n", "mlx5_0/ports/2/gids/1");
	put("2001:0db8:0000:0000:0000:0000:0000:0005\n", "mlx5_0/ports/2/gids/2");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
	assert_int_equal(port.number, 2);
}

/* It is what the SA is asked from and what routes start at: an id bound to an alias has no other. */
static void test_port_by_gid_has_the_gid_that_was_asked_for(void **state)
{
	struct rcm_gid gid = gid_of("fe80::aa");
	struct rcm_sa_port port;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	put("fe80::aa\n", "mlx5_0/ports/1/gids/1");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
	assert_memory_equal(&port.gid, &gid, sizeof(gid));
}

/* Known places are looked at, not believed. */
static void test_port_by_gid_that_moved_is_found_at_its_new_place(void **state)
{
	struct rcm_gid gid = gid_of("fe80::bb");
	struct rcm_sa_port port;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	port_make("mlx5_1", 1, "fe80::2\n");
	put("fe80::bb\n", "mlx5_0/ports/1/gids/1");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
	assert_string_equal(port.device, "mlx5_0");
	put("fe80::cc\n", "mlx5_0/ports/1/gids/1");
	put("fe80::bb\n", "mlx5_1/ports/1/gids/1");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
	assert_string_equal(port.device, "mlx5_1");
	put("fe80::cc\n", "mlx5_1/ports/1/gids/1");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), -ENODEV);
}

/* All that routes depend on: who keeps them compares. */
static void test_port_list_has_lids_and_that_of_the_sm(void **state)
{
	struct rcm_sa_port ports[2];

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	put("0x12\n", "mlx5_0/ports/1/lid");
	put("2\n", "mlx5_0/ports/1/lid_mask_count");
	assert_int_equal(rcm_sa_ports(ports, 2), 1);
	assert_int_equal(ports[0].lid, 0x12);
	assert_int_equal(ports[0].lmc, 2);
	assert_int_equal(ports[0].sm_lid, 7);
}

/* Where it was found it is looked at first, whoever else has it by now. */
static void test_port_by_gid_that_is_still_in_its_place_is_looked_for_nowhere_else(void **state)
{
	enum { DEVICES = 4 };
	char text[32], device[16];
	struct rcm_sa_port port;
	struct rcm_gid gid;

	(void)state;
	for (unsigned i = 0; i < DEVICES; i++) {
		snprintf(device, sizeof(device), "mlx5_%u", i);
		port_make(device, 1, "fe80::1\n");
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		snprintf(text, sizeof(text), "fe80::d%u", i);
		snprintf(device, sizeof(device), "mlx5_%u", i);
		gid = gid_of(text);
		put(text, "mlx5_%u/ports/1/gids/%u", i, i + 1);
		assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
		assert_string_equal(port.device, device);
		for (unsigned other = 0; other < DEVICES; other++)
			put(text, "mlx5_%u/ports/1/gids/%u", other, i + 1);
		assert_int_equal(rcm_sa_port_by_gid(&gid, &port), 0);
		assert_string_equal(port.device, device);
	}
}

static void test_port_by_gid_never_finds_the_zero_gid(void **state)
{
	struct rcm_gid gid = { 0 };
	struct rcm_sa_port port;

	(void)state;
	port_make("mlx5_0", 1, "0000:0000:0000:0000:0000:0000:0000:0000\n");
	assert_int_equal(rcm_sa_port_by_gid(&gid, &port), -ENODEV);
}

static void test_port_address_is_that_of_the_sm(void **state)
{
	struct rcm_sa_port port = { .device = "mlx5_0", .number = 1, .gid = gid_of("fec0:1:2:3::9") };
	struct rcm_gid sa = gid_of("fec0:1:2:3:200::2");
	struct rcm_sa_address address;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	assert_int_equal(rcm_port_address(&port, &address), 0);
	assert_int_equal(address.lid, 7);
	assert_int_equal(address.sl, 3);
	assert_false(address.global);
	assert_memory_equal(&address.gid, &sa, sizeof(sa));
	/* Read afresh each time. */
	put("0x9\n", "mlx5_0/ports/1/sm_lid");
	assert_int_equal(rcm_port_address(&port, &address), 0);
	assert_int_equal(address.lid, 9);
}

static void test_port_without_a_lid_of_its_own_needs_a_grh(void **state)
{
	struct rcm_sa_port port = { .device = "mlx5_0", .number = 1 };
	struct rcm_sa_address address;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	put("0x0\n", "mlx5_0/ports/1/lid");
	assert_int_equal(rcm_port_address(&port, &address), 0);
	assert_true(address.global);
}

static void test_port_without_an_sm_is_enetdown(void **state)
{
	static const char *const lids[] = { "0x0\n", "0xc000\n", "0xffff\n", "" };
	struct rcm_sa_port port = { .device = "mlx5_0", .number = 1 };
	struct rcm_sa_address address;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	for (unsigned i = 0; i < sizeof(lids) / sizeof(lids[0]); i++) {
		put(lids[i], "mlx5_0/ports/1/sm_lid");
		assert_int_equal(rcm_port_address(&port, &address), -ENETDOWN);
	}
}

static void test_port_that_is_gone_is_enodev(void **state)
{
	struct rcm_sa_port port = { .device = "mlx5_0", .number = 1 };
	struct rcm_sa_address address;
	uint16_t pkey, index;

	(void)state;
	assert_int_equal(rcm_port_address(&port, &address), -ENODEV);
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), -ENODEV);
}

static void test_port_pkey_is_the_full_default_then_the_limited_then_the_first(void **state)
{
	uint16_t pkey, index;

	(void)state;
	port_make("mlx5_0", 1, "fe80::1\n");
	put("0x8001\n", "mlx5_0/ports/1/pkeys/0");
	put("0x7fff\n", "mlx5_0/ports/1/pkeys/1");
	put("0xffff\n", "mlx5_0/ports/1/pkeys/2");
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(index, 2);
	put("0x8002\n", "mlx5_0/ports/1/pkeys/2");
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), 0);
	assert_int_equal(pkey, 0x7fff);
	assert_int_equal(index, 1);
	put("0x8003\n", "mlx5_0/ports/1/pkeys/1");
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), 0);
	assert_int_equal(pkey, 0x8001);
	assert_int_equal(index, 0);
	/* The first is empty; a packet with its index is dropped. */
	put("0x0000\n", "mlx5_0/ports/1/pkeys/0");
	assert_int_equal(rcm_port_pkey("mlx5_0", 1, &pkey, &index), 0);
	assert_int_equal(pkey, 0x8003);
	assert_int_equal(index, 1);
}

static void test_port_with_odd_files_is_passed_over(void **state)
{
	struct rcm_sa_port ports[4];

	(void)state;
	port_make("mlx5_0", 1, "not a gid\n");
	put("x", "mlx5_0/ports/zero/state");
	put("x", "mlx5_0/ports/300/state");
	put("4: ACTIVE\n", "a_device_name_of_more_than_twenty_bytes/ports/1/state");
	assert_int_equal(rcm_sa_ports(ports, 4), 1);
	assert_string_equal(ports[0].device, "mlx5_0");
	assert_int_equal(ports[0].gid.raw[0], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_port_list_is_empty_on_a_host_without_rdma),
		TEST(test_port_list_has_every_port_in_order_of_device_and_number),
		TEST(test_port_list_has_numbers_and_names_that_a_port_can_have),
		TEST(test_port_on_ethernet_is_not_infiniband),
		TEST(test_port_list_without_descriptors_is_emfile_not_empty),
		TEST(test_port_that_is_not_active_says_so),
		TEST(test_port_by_gid_looks_through_the_whole_table),
		TEST(test_port_by_gid_never_finds_the_zero_gid),
		TEST(test_port_address_is_that_of_the_sm),
		TEST(test_port_without_a_lid_of_its_own_needs_a_grh),
		TEST(test_port_without_an_sm_is_enetdown),
		TEST(test_port_that_is_gone_is_enodev),
		TEST(test_port_pkey_is_the_full_default_then_the_limited_then_the_first),
		TEST(test_port_with_odd_files_is_passed_over),
		TEST(test_port_by_gid_has_the_gid_that_was_asked_for),
		TEST(test_port_by_gid_that_moved_is_found_at_its_new_place),
		TEST(test_port_by_gid_that_is_still_in_its_place_is_looked_for_nowhere_else),
		TEST(test_port_list_has_lids_and_that_of_the_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
