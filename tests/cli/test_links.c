/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports as a directory made like /sys tells them. */
#include <unistd.h>

#include "links.h"
#include "root.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A file of a device. */
static void put(const char *path, const char *text)
{
	char whole[200], line[200];

	snprintf(whole, sizeof(whole), "/class/infiniband/%s", path);
	snprintf(line, sizeof(line), "%s\n", text);
	put_file(whole, line);
}

static void infiniband(const char *state, const char *sm_lid)
{
	put("mlx5_0/node_type", "1: CA");
	put("mlx5_0/ports/1/link_layer", "InfiniBand");
	put("mlx5_0/ports/1/state", state);
	put("mlx5_0/ports/1/sm_lid", sm_lid);
	put("mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:0000:0001");
	put("mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000");
}

static struct cli_link link_one(void)
{
	struct cli_link links[2];

	assert_int_equal(cli_links_read(root, links, ARRAY_SIZE(links)), 1);
	return links[0];
}

static void test_links_of_no_device_are_none(void **state)
{
	struct cli_link links[1];

	(void)state;
	assert_int_equal(cli_links_read(root, links, 1), 0);
}

static void test_link_of_infiniband_has_its_sm_gid_and_ipoib_interface(void **state)
{
	struct cli_link link;

	(void)state;
	infiniband("4: ACTIVE", "0x1f");
	put("mlx5_0/device/net/ib1/dev_port", "1");
	put("mlx5_0/device/net/ib0/dev_port", "0");
	link = link_one();
	assert_string_equal(link.device, "mlx5_0");
	assert_int_equal(link.port, 1);
	assert_string_equal(link.layer, "InfiniBand");
	assert_string_equal(link.state, "ACTIVE");
	assert_string_equal(link.netdev, "ib0");
	assert_int_equal(link.sm_lid, 31);
	assert_int_equal(link.gid_count, 1);
	assert_string_equal(link.gids[0].text, "fe80::2:c903:0:1");
	assert_string_equal(link.gids[0].type, "IB");
	assert_null(cli_link_no_addresses(&link));
	assert_null(cli_link_no_services(&link));
}

static void test_link_without_sm_or_interface_says_what_is_missing(void **state)
{
	struct cli_link link;

	(void)state;
	infiniband("4: ACTIVE", "0x0");
	link = link_one();
	assert_string_equal(cli_link_no_addresses(&link), "the port has no IPoIB interface");
	assert_string_equal(cli_link_no_services(&link), "no subnet manager is known to the port");
}

static void test_link_that_is_down_resolves_nothing(void **state)
{
	struct cli_link link;

	(void)state;
	infiniband("1: DOWN", "0x1");
	put("mlx5_0/device/net/ib0/dev_port", "0");
	link = link_one();
	assert_string_equal(link.state, "DOWN");
	assert_string_equal(cli_link_no_addresses(&link), "the port is not active");
	assert_string_equal(cli_link_no_services(&link), "the port is not active");
}

static void test_link_of_roce_has_the_first_gid_of_each_kind(void **state)
{
	static const struct {
		const char *gid, *type;
	} table[] = {
		{ "fe80:0000:0000:0000:0202:c9ff:fe00:0001", "IB/RoCE v1" },
		{ "fe80:0000:0000:0000:0202:c9ff:fe00:0001", "RoCE v2" },
		{ "0000:0000:0000:0000:0000:ffff:c000:0201", "IB/RoCE v1" },
		{ "0000:0000:0000:0000:0000:ffff:c000:0201", "RoCE v2" },
		{ "0000:0000:0000:0000:0000:ffff:c000:0202", "RoCE v2" },
		{ "2001:0db8:0000:0000:0000:0000:0000:0001", "RoCE v2" },
	};
	struct cli_link link;
	char path[80];

	(void)state;
	put("mlx5_1/ports/1/link_layer", "Ethernet");
	put("mlx5_1/ports/1/state", "4: ACTIVE");
	put("mlx5_1/ports/1/sm_lid", "0x7");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		snprintf(path, sizeof(path), "mlx5_1/ports/1/gids/%zu", i);
		put(path, table[i].gid);
		snprintf(path, sizeof(path), "mlx5_1/ports/1/gid_attrs/types/%zu", i);
		put(path, table[i].type);
		snprintf(path, sizeof(path), "mlx5_1/ports/1/gid_attrs/ndevs/%zu", i);
		put(path, "eth7");
	}
	link = link_one();
	assert_string_equal(link.netdev, "eth7");
	assert_int_equal(link.sm_lid, 0);
	assert_int_equal(link.gid_count, 5);
	assert_string_equal(link.gids[0].type, "RoCE v1");
	assert_int_equal(link.gids[3].index, 3);
	assert_string_equal(link.gids[3].text, "::ffff:192.0.2.1");
	assert_int_equal(link.gids[4].index, 5);
	assert_null(cli_link_no_addresses(&link));
	assert_string_equal(cli_link_no_services(&link), "not InfiniBand, so there is no SA");
}

static void test_link_of_iwarp_is_ethernet_though_none_says_so(void **state)
{
	struct cli_link link;

	(void)state;
	put("siw0/node_type", "4: RNIC");
	put("siw0/ports/1/state", "4: ACTIVE");
	link = link_one();
	assert_string_equal(link.layer, "Ethernet");
	assert_string_equal(cli_link_no_addresses(&link), "the port has no interface");
}

static void test_links_of_many_devices_are_in_order_and_at_most_as_many_as_asked_for(void **state)
{
	struct cli_link links[4];

	(void)state;
	put("mlx5_10/ports/1/state", "4: ACTIVE");
	put("mlx5_2/ports/2/state", "4: ACTIVE");
	put("mlx5_2/ports/1/state", "4: ACTIVE");
	assert_int_equal(cli_links_read(root, links, ARRAY_SIZE(links)), 3);
	assert_string_equal(links[0].device, "mlx5_2");
	assert_int_equal(links[0].port, 1);
	assert_int_equal(links[1].port, 2);
	assert_string_equal(links[2].device, "mlx5_10");
	assert_int_equal(cli_links_read(root, links, 2), 2);
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_ROOT(test_links_of_no_device_are_none),
		IN_ROOT(test_link_of_infiniband_has_its_sm_gid_and_ipoib_interface),
		IN_ROOT(test_link_without_sm_or_interface_says_what_is_missing),
		IN_ROOT(test_link_that_is_down_resolves_nothing),
		IN_ROOT(test_link_of_roce_has_the_first_gid_of_each_kind),
		IN_ROOT(test_link_of_iwarp_is_ethernet_though_none_says_so),
		IN_ROOT(test_links_of_many_devices_are_in_order_and_at_most_as_many_as_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
