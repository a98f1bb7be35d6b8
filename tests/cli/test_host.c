/* SPDX-License-Identifier: BSD-2-Clause */
/* What rai doctor says about a host, whose files are made here. */
#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "root.h"
#include "screen.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct cli_finding finding;

static void test_modules_loaded_or_built_in_are_ok(void **state)
{
	const struct cli_link link = { .layer = "InfiniBand" };

	(void)state;
	put_file("/sys/module/rdma_ucm/initstate", "live");
	put_file("/sys/class/infiniband_verbs/abi_version", "6");
	put_file("/sys/module/ib_umad/initstate", "live");
	cli_host_modules(root, &link, 1, &finding);
	assert_int_equal(finding.verdict, CLI_OK);
	assert_string_equal(finding.text, "rdma_ucm ib_uverbs ib_umad");
	assert_string_equal(finding.mend, "");
}

static void test_modules_missing_are_told_with_the_command(void **state)
{
	const struct cli_link infiniband = { .layer = "InfiniBand" }, ethernet = { .layer = "Ethernet" };

	(void)state;
	put_file("/sys/class/misc/rdma_cm/dev", "10:58");
	cli_host_modules(root, &infiniband, 1, &finding);
	assert_int_equal(finding.verdict, CLI_BAD);
	assert_string_equal(finding.text, "not loaded: ib_uverbs ib_umad");
	assert_string_equal(finding.mend, "modprobe -a ib_uverbs ib_umad");
	cli_host_modules(root, &ethernet, 1, &finding);
	assert_string_equal(finding.mend, "modprobe -a ib_uverbs");
	cli_host_modules(root, NULL, 0, &finding);
	assert_int_equal(finding.verdict, CLI_WARNING);
}

static void test_nodes_are_those_that_the_kernel_tells(void **state)
{
	struct cli_node nodes[CLI_NODES_MAX];

	(void)state;
	assert_int_equal(cli_host_nodes(root, nodes), 0);
	put_file("/sys/class/misc/rdma_cm/dev", "10:58");
	put_file("/sys/class/infiniband_verbs/uverbs0/dev", "231:192");
	put_file("/sys/class/infiniband_verbs/uverbs10/dev", "231:202");
	put_file("/sys/class/infiniband_verbs/abi_version", "6");
	put_file("/sys/class/infiniband_mad/umad0/dev", "231:0");
	put_file("/sys/class/infiniband_mad/issm0/dev", "231:64");
	assert_int_equal(cli_host_nodes(root, nodes), 4);
	assert_string_equal(nodes[0].path, "/dev/infiniband/rdma_cm");
	assert_string_equal(nodes[2].path, "/dev/infiniband/uverbs10");
	assert_string_equal(nodes[3].path, "/dev/infiniband/umad0");
	assert_true(nodes[2].needed && !nodes[3].needed);
}

static void test_node_there_missing_or_closed_is_told(void **state)
{
	const struct cli_node uverbs = { .path = "/dev/infiniband/uverbs0", .needed = true };
	const struct cli_node umad = { .path = "/dev/infiniband/umad0" };
	char path[100];

	(void)state;
	cli_host_node(root, &uverbs, &finding);
	assert_int_equal(finding.verdict, CLI_BAD);
	assert_non_null(strstr(finding.text, "No such file or directory, but the kernel has the device"));
	assert_non_null(strstr(finding.mend, "--device=/dev/infiniband/uverbs0"));
	cli_host_node(root, &umad, &finding);
	assert_int_equal(finding.verdict, CLI_WARNING);
	put_file(uverbs.path, "");
	cli_host_node(root, &uverbs, &finding);
	assert_int_equal(finding.verdict, CLI_OK);
	assert_string_equal(finding.text, "/dev/infiniband/uverbs0");
	/* Root is let in anyway; somebody else is tried where there is root. */
	snprintf(path, sizeof(path), "%s%s", root, uverbs.path);
	assert_int_equal(chmod(path, 0), 0);
	if (geteuid() == 0) {
		assert_int_equal(chmod(root, 0755), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	cli_host_node(root, &uverbs, &finding);
	if (geteuid() != getuid())
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(finding.verdict, CLI_BAD);
	assert_non_null(strstr(finding.text, "Permission denied, mode 0000, user "));
	assert_non_null(strstr(finding.mend, "chmod 0666 /dev/infiniband/uverbs0"));
}

static void test_memlock_small_is_a_warning(void **state)
{
	const struct rlimit small = { 8 << 20, 8 << 20 }, raisable = { 65536, RLIM_INFINITY };
	const struct rlimit large = { UINT64_C(1) << 30, UINT64_C(1) << 30 }, none = { RLIM_INFINITY, RLIM_INFINITY };

	(void)state;
	cli_host_memlock(&small, false, &finding);
	assert_int_equal(finding.verdict, CLI_WARNING);
	assert_string_equal(finding.text, "8 MiB: registering more memory fails with ENOMEM");
	assert_non_null(strstr(finding.mend, "limits.d"));
	cli_host_memlock(&raisable, false, &finding);
	assert_string_equal(finding.mend, "ulimit -l unlimited");
	cli_host_memlock(&small, true, &finding);
	assert_int_equal(finding.verdict, CLI_OK);
	cli_host_memlock(&large, false, &finding);
	assert_string_equal(finding.text, "1024 MiB");
	cli_host_memlock(&none, false, &finding);
	assert_string_equal(finding.text, "unlimited");
}

static size_t servers_of(const char *text, struct cli_nameserver servers[CLI_NAMESERVERS_MAX])
{
	put_file("/etc/resolv.conf", text);
	return cli_host_nameservers(root, servers, &finding);
}

static void test_nameservers_are_read_as_the_library_does(void **state)
{
	struct cli_nameserver servers[CLI_NAMESERVERS_MAX];

	(void)state;
	assert_int_equal(servers_of("# a\n nameserver 192.0.2.9\nnameserver 192.0.2.1\noptions edns0\n"
				    "nameserver 2001:db8::1\nnameserver fe80::1%lo\n", servers), 3);
	assert_int_equal(finding.verdict, CLI_OK);
	assert_string_equal(servers[0].text, "192.0.2.1");
	assert_int_equal(servers[1].address.in6.sin6_port, htons(53));
	assert_int_equal(servers[2].address.in6.sin6_scope_id, 1);
	assert_int_equal(servers_of("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n"
				    "nameserver 192.0.2.4\n", servers), 3);
	assert_string_equal(finding.text, "/etc/resolv.conf: 1 name servers beyond the third are never asked");
}

static void test_nameservers_wrong_or_missing_name_file_and_line(void **state)
{
	struct cli_nameserver servers[CLI_NAMESERVERS_MAX];

	(void)state;
	assert_int_equal(cli_host_nameservers(root, servers, &finding), 1);
	assert_int_equal(finding.verdict, CLI_BAD);
	assert_string_equal(finding.text, "/etc/resolv.conf: No such file or directory, so 127.0.0.1 is asked");
	assert_int_equal(servers_of("search a.test\n", servers), 1);
	assert_string_equal(servers[0].text, "127.0.0.1");
	assert_string_equal(finding.text, "/etc/resolv.conf has no name server, so 127.0.0.1 is asked");
	assert_int_equal(servers_of("\nnameserver notanip\nnameserver 192.0.2.1\n", servers), 1);
	assert_string_equal(servers[0].text, "192.0.2.1");
	assert_int_equal(finding.verdict, CLI_WARNING);
	assert_string_equal(finding.text, "/etc/resolv.conf: line 2 has no address: nameserver notanip");
	assert_int_equal(servers_of("nameserver\n", servers), 1);
	assert_string_equal(finding.text, "/etc/resolv.conf: line 1 has no address: nameserver ");
}

static void test_file_missing_or_not_readable_says_what_follows(void **state)
{
	(void)state;
	cli_host_file(root, "/etc/hosts", "none of its names", &finding);
	assert_int_equal(finding.verdict, CLI_WARNING);
	assert_string_equal(finding.text, "/etc/hosts: No such file or directory; none of its names");
	put_file("/etc/hosts", "");
	cli_host_file(root, "/etc/hosts", "none of its names", &finding);
	assert_int_equal(finding.verdict, CLI_OK);
	put_file("/etc/hosts.d/x", "");
	cli_host_file(root, "/etc/hosts.d", "none of its names", &finding);
	assert_int_equal(finding.verdict, CLI_BAD);
}

static void wraps(int width, int indent, const char *text, const char *want)
{
	char *said = NULL;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	assert_non_null(out);
	cli_print_wrapped(out, width, indent, text);
	fclose(out);
	assert_string_equal(said, want);
	free(said);
}

static void test_text_is_wrapped_at_blanks_and_words_stay_whole(void **state)
{
	(void)state;
	wraps(0, 4, "one two three", "one two three\n");
	wraps(12, 4, "one two three", "one two\n    three\n");
	wraps(11, 4, "one two three", "one two\n    three\n");
	wraps(10, 4, "one two three", "one\n    two\n    three\n");
	wraps(10, 4, "/a/long/path x", "/a/long/path\n    x\n");
	wraps(11, 4, "\xc3\xa4\xc3\xb6\xc3\xbc two", "\xc3\xa4\xc3\xb6\xc3\xbc two\n");
	wraps(0, 0, "a\033[2Jb\177", "a?[2Jb?\n");
	wraps(0, 0, "", "\n");
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_ROOT(test_modules_loaded_or_built_in_are_ok),
		IN_ROOT(test_modules_missing_are_told_with_the_command),
		IN_ROOT(test_nodes_are_those_that_the_kernel_tells),
		IN_ROOT(test_node_there_missing_or_closed_is_told),
		cmocka_unit_test(test_memlock_small_is_a_warning),
		IN_ROOT(test_nameservers_are_read_as_the_library_does),
		IN_ROOT(test_nameservers_wrong_or_missing_name_file_and_line),
		IN_ROOT(test_file_missing_or_not_readable_says_what_follows),
		cmocka_unit_test(test_text_is_wrapped_at_blanks_and_words_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
