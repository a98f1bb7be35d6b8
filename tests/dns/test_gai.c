/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another order of addresses, by gai.conf(5) and by resolv.conf's sortlist, compared with getaddrinfo(). A program of
 * its own: glibc reads gai.conf once in a process, so that each file is a process's there.
 */
#include <dirent.h>
#include <stdio.h>

#include "../unit/test.h"
#include "asker.h"

static struct outcome ours, theirs;

/* A thread of the system's own modules: no name should have needed one. */
static bool is_system_asked(void)
{
	DIR *dir = opendir("/proc/self/task");
	char path[300], name[32];
	struct dirent *entry;
	bool is = false;
	FILE *file;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		is |= fgets(name, sizeof(name), file) && !strncmp(name, "rai-nss", 7);
		fclose(file);
	}
	closedir(dir);
	return is;
}

static void compare(const char *name, int family, const char *config)
{
	asker_libc(&theirs, name, family);
	asker_ask(&ours, name, family);
	if (strcmp(ours.text, theirs.text))
		print_error("with: %s\n", config);
	assert_string_equal(ours.text, theirs.text);
}

static void test_source_active_gai_conf_as_getaddrinfo(void **state)
{
	(void)state;
	asker_write("/etc/gai.conf", "# precedence ::ffff:0:0/96 100\n");
	asker_ask(&ours, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, "two.rai.test 2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2");
	asker_write("/etc/gai.conf", "precedence ::ffff:0:0/96 100\n");
	asker_ask(&ours, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, "two.rai.test 192.0.2.1 192.0.2.2 2001:db8::1 2001:db8::2");
	asker_libc(&theirs, "two.rai.test", AF_UNSPEC);
	assert_string_equal(ours.text, theirs.text);
	assert_false(is_system_asked());
}

static const char *const addresses[] = {
	"192.0.2.1", "192.0.2.200", "198.51.100.1", "203.0.113.1", "10.1.2.3", "127.0.0.1", "127.1.2.3", "169.254.1.1",
	"2001:db8::7", "2001:db8:1::7", "2001:0:1::1", "2002:c000:201::1", "fd00::1", "fec0::1", "fe80::1", "::1",
	"::192.0.2.9", "ff0e::1",
};

static const char *const prefixes6[] = {
	"::1/128", "::/0", "2002::/16", "::/96", "::ffff:0:0/96", "fec0::/10", "fc00::/7", "2001:0::/32",
	"2001:db8::/32", "2001:db8::99/48", "2001:db8::7/128", "fd00::1/127", "::ffff:192.0.2.0/120", "::/1",
	"::ffff:127.0.0.0/104", "fe80::/10", "2001:db8::/129", "192.0.2.0/24", "rubbish", "2001:db8::/", "2001:db8::/x",
};

static const char *const prefixes4[] = {
	"::ffff:169.254.0.0/112", "::ffff:127.0.0.0/104", "::ffff:0.0.0.0/96", "192.0.2.0/24", "192.0.2.77/25",
	"0.0.0.0/0", "203.0.113.1/32", "198.51.100.0/22", "::ffff:10.0.0.0/95", "10.0.0.0/33", "2001:db8::/32", "10/8",
};

static const char *const values[] = { "0", "1", "2", "4", "5", "14", "40", "41", "100", "2147483647", "-1", "x", "",
				      "3 more", "14", "2", "7#", "2147483648" };

#define PICK(list) (list)[rand_r(seed) % (sizeof(list) / sizeof(*(list)))]

static void write_hosts(unsigned *seed)
{
	char text[1024] = "";
	size_t len = 0;

	for (unsigned i = 2 + (unsigned)rand_r(seed) % 10; i; i--)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s many\n", PICK(addresses));
	asker_write("/etc/hosts", text);
}

static void write_gai_conf(unsigned *seed, char config[2048])
{
	size_t len = 0;

	config[0] = '\0';
	for (unsigned i = (unsigned)rand_r(seed) % 8; i; i--) {
		unsigned kind = (unsigned)rand_r(seed) % 3;

		len += (size_t)snprintf(config + len, 2048 - len, "%s%s\t%s %s\n", rand_r(seed) % 8 ? "" : " ",
					kind == 0 ? "label" : kind == 1 ? "precedence" : "scopev4",
					kind == 2 ? PICK(prefixes4) : PICK(prefixes6), PICK(values));
	}
	asker_write("/etc/gai.conf", config);
}

/* Pieces put together at random, with a fixed seed. */
static void test_source_generated_gai_confs_as_getaddrinfo(void **state)
{
	unsigned seed = 6724;
	char config[2048];

	(void)state;
	for (int i = 0; i < 300; i++) {
		write_hosts(&seed);
		write_gai_conf(&seed, config);
		compare("many", AF_UNSPEC, config);
		compare("many", AF_INET, config);
		compare("many", AF_INET6, config);
	}
	assert_false(is_system_asked());
	asker_write("/etc/gai.conf", "");
}

/* ---- The sortlist ---- */

/* Not among them: words that glibc never gets behind, such as "x/y" and "192.0.2.0,". */
static const char *const networks[] = {
	"192.0.2.2/255.255.255.255", "192.0.2.1", "192.0.2.2", "203.0.113.0", "203.0.113.4&255.255.255.255",
	"203.0.113.0/255.255.255.0", "198.51.100.0", "198.51.0.0/255.255.0.0", "203.0.113.4/0", "203.0.113.4/x",
	"rubbish", "0xcb007100", "203.0.113", "203.0.113.4/0xffffffff", "203.0.113.0/24", "203.0.113.0/255.255.255.0/1",
	"203.0.113.0/ 255.255.255.0", "#", ";", "198.51.100.48/255.255.255.240", "198.51.100.57/255.255.255.255",
	"10.1.0.0/255.255.0.0", "10.0.0.0", "0.0.0.0/0",
};

static void write_sortlist(unsigned *seed, char config[2048])
{
	size_t len = (size_t)sprintf(config, "nameserver 127.0.0.2\nsearch rai.test\nsortlist");

	for (unsigned i = (unsigned)rand_r(seed) % 5; i; i--)
		len += (size_t)snprintf(config + len, 2048 - len, "%s%s", rand_r(seed) % 8 ? " " : "\nsortlist\t",
					PICK(networks));
	strcat(config, rand_r(seed) % 8 ? "\n" : "\noptions no-aaaa\n");
	asker_write("/etc/resolv.conf", config);
}

/* It is for those who want IPv4 addresses alone, and for their answers of name servers. */
static void test_source_generated_sortlists_as_getaddrinfo(void **state)
{
	static const char *const names[] = { "four.rai.test", "two", "large", "kinds.rai.test" };
	unsigned seed = 1035;
	char config[2048];

	(void)state;
	asker_write("/etc/hosts", "192.0.2.1 inhosts\n192.0.2.2 inhosts\n");
	for (int i = 0; i < 100; i++) {
		write_sortlist(&seed, config);
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
			compare(names[j], AF_INET, config);
		compare(names[i % 4], AF_UNSPEC, config);
		compare(names[i % 4], AF_INET6, config);
		compare("inhosts", i % 2 ? AF_INET : AF_UNSPEC, config);
	}
	assert_false(is_system_asked());
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_active_gai_conf_as_getaddrinfo),
		cmocka_unit_test(test_source_generated_gai_confs_as_getaddrinfo),
		cmocka_unit_test(test_source_generated_sortlists_as_getaddrinfo),
	};
	int rc;

	asker_main(argc, argv);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
