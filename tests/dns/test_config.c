/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of names follows the host's configuration as glibc does, compared with getaddrinfo(). Servers: NSD, liar. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/test.h"
#include "../unit/least.h"
#include "asker.h"

#define RESOLV "/etc/resolv.conf"
#define NSD "nameserver 127.0.0.2\noptions timeout:1 attempts:1\n"
#define NOBODY "nameserver 127.0.0.99\noptions timeout:1 attempts:1\n"

static struct outcome ours, theirs;

static void assert_found(const char *name, const char *text)
{
	asker_ask(&ours, name, AF_UNSPEC);
	if (strcmp(ours.text, text))
		print_error("%s: \"%s\"\n", name, ours.why);
	assert_string_equal(ours.text, text);
}

/* Says which configuration it was. */
static void compare(const char *name, int family, const char *config)
{
	asker_libc(&theirs, name, family);
	asker_ask(&ours, name, family);
	if (asker_is_same(&ours, &theirs))
		return;
	print_error("%s, family %d: \"%s\"\nwith: %s\n", name, family, ours.why, config);
	assert_string_equal(ours.text, theirs.text);
}

static void write_in_place(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int quiet(void **state)
{
	(void)state;
	asker_write(RESOLV, NSD);
	asker_write("/etc/nsswitch.conf", "hosts: files dns\n");
	asker_write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n192.0.2.77 inhosts inhosts.rai.test\n");
	asker_write("/etc/host.conf", "multi on\n");
	asker_write("/etc/gai.conf", "");
	return 0;
}

/* F37: however the file changes, the next lookup knows. */
static void test_f37_config_rewritten_renamed_truncated_removed_is_read_again(void **state)
{
	static const char v4[] = "v4.rai.test 192.0.2.4";

	(void)state;
	for (int i = 0; i < 5; i++) {
		asker_write(RESOLV, NOBODY);
		asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
		assert_int_equal(ours.code, EAI_AGAIN);
		asker_write(RESOLV, NSD);
		assert_found("v4.rai.test", v4);
		write_in_place(RESOLV, NOBODY);
		asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
		assert_int_equal(ours.code, EAI_AGAIN);
		write_in_place(RESOLV, NSD);
		assert_found("v4.rai.test", v4);
		write_in_place(RESOLV, "");
		asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
		assert_int_equal(ours.code, EAI_AGAIN);
		write_in_place(RESOLV, NSD "search rai.test\n");
		assert_found("v4", v4);
		asker_write(RESOLV, NULL);
		asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
		assert_int_equal(ours.code, EAI_AGAIN);
		write_in_place(RESOLV, NSD);
		assert_found("v4.rai.test", v4);
	}
}

/* How long a name takes that comes after others whose server has changed, ms. */
static double name_after_a_change_ms(void *arg)
{
	struct outcome *old = calloc(200, sizeof(*old));
	char name[64];
	double ms;

	(void)arg;
	asker_write(RESOLV, "nameserver 127.0.0.5\noptions timeout:1 attempts:1\n");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "silent-%d.liar.test", i);
		asker_start(&old[i], name, AF_UNSPEC);
	}
	for (int i = 0; i < 5; i++)
		asker_turn(5);
	asker_write(RESOLV, NSD);
	assert_found("v4.rai.test", "v4.rai.test 192.0.2.4");
	ms = (double)ours.took_ms;
	for (int i = 0; i < 200; i++) {
		asker_wait(&old[i], 5000);
		assert_int_equal(old[i].status, -EIO);
		assert_string_equal(old[i].why, "name server 127.0.0.2 refused to answer (REFUSED)");
	}
	free(old);
	return ms;
}

/* B8: names at the server that is gone are asked about anew, and hold up none that come after. */
static void test_f37_config_changed_with_names_in_flight_all_use_it_at_once(void **state)
{
	(void)state;
	assert_true(least(name_after_a_change_ms, NULL, 50 * SLOW) <= 50 * SLOW);
}

/* F37: bad lines are skipped, good ones kept. */
static void test_f37_config_odd_lines_as_getaddrinfo(void **state)
{
	static const char *const configs[] = {
		"nameserver\n" NSD,
		"nameserver not.an.address\n" NSD,
		"nameserver 127.0.0.2 # a comment\noptions timeout:1 attempts:1\n",
		"nameserver 127.0.0.2;a comment\n" NOBODY,
		"  nameserver 127.0.0.2\n" NOBODY,
		"\tnameserver\t127.0.0.2\t\n" NOBODY,
		"nameserver\t127.0.0.2\t\noptions timeout:1 attempts:1\n",
		"# nameserver 127.0.0.99\n; nameserver 127.0.0.99\n" NSD,
		"nameserver fe80::53%rai0\noptions timeout:1 attempts:1\n",
		"nameserver fe80::53%nosuchdevice\n" NSD,
		"nameserver fe80::53%1\nnameserver 127.0.0.2\noptions timeout:1 attempts:1\n",
		"nameserver ::1\noptions timeout:1 attempts:1\n",
		"nameserver [::1]:53\n" NSD,
		"nameserver 127.2\n",
		"nameserver 127.0.0.2\r\n",
		"nameserver 127.0.0.2",
		"NAMESERVER 127.0.0.99\n" NSD,
		"domain rai.test\n" NSD,
		"domain nowhere.test\nsearch rai.test # comment\n" NSD,
		"search rai.test\nsearch nowhere.test\n" NSD,
		"search\n" NSD,
		"search .\n" NSD,
		"search . rai.test\n" NSD,
		"search nowhere.test sub.rai.test rai.test\n" NSD,
		"search\trai.test\tsub.rai.test\n" NSD,
		"search a.test b.test c.test d.test e.test rai.test\n" NSD,
		"search a.test b.test c.test d.test e.test f.test g.test rai.test\n" NSD,
		NSD "options ndots:0\nsearch rai.test\n",
		NSD "options ndots:2\nsearch rai.test\n",
		NSD "options ndots:15\nsearch rai.test\n",
		NSD "options ndots:99\nsearch rai.test\n",
		NSD "options ndots:x\nsearch rai.test\n",
		NSD "options ndots:-1\nsearch rai.test\n",
		NSD "options rotate edns0 use-vc\nsearch rai.test\n",
		NSD "options edns0 trust-ad\nsearch rai.test\n",
		NSD "options no-tld-query\nsearch nowhere.test\n",
		NSD "options no-aaaa\nsearch rai.test\n",
		NSD "options single-request\nsearch rai.test\n",
		NSD "options single-request-reopen inet6\nsearch rai.test\n",
		NSD "options timeout:0 attempts:0 nonsense:3 :\nsearch rai.test\n",
		NSD "sortlist 192.0.2.0/255.255.255.0\nsearch rai.test\n",
		NSD "lookup file bind\nfamily inet6\nunknown words\n",
		"nameserver 127.0.0.99\nnameserver 127.0.0.2\noptions timeout:1 attempts:2\n",
		"nameserver 127.0.0.99\nnameserver 127.0.0.98\nnameserver 127.0.0.97\nnameserver 127.0.0.2\n"
		"options timeout:1 attempts:1\n",
	};
	static const char *const names[] = {
		"two.rai.test", "two", "short", "a.b", "host.sub", "nosuchname", "v6.", "large.rai.test", "inhosts",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
		asker_write(RESOLV, configs[i]);
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
			compare(names[j], j % 3 == 0 ? AF_UNSPEC : j % 3 == 1 ? AF_INET : AF_INET6, configs[i]);
	}
}

/* As if there were none: the server of this host, where nobody is. Not compared: glibc calls any name unknown then,
 * also those of the hosts file. */
static void test_f37_config_that_is_a_directory_is_as_if_missing(void **state)
{
	(void)state;
	asker_write(RESOLV, NULL);
	assert_int_equal(mkdir(RESOLV, 0755), 0);
	asker_ask(&theirs, "inhosts", AF_UNSPEC);
	asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
	assert_int_equal(rmdir(RESOLV), 0);
	assert_string_equal(theirs.text, "inhosts 192.0.2.77");
	assert_int_equal(ours.status, -EAGAIN);
	assert_int_equal(ours.code, EAI_AGAIN);
	assert_string_equal(ours.why, "name server 127.0.0.1 can't be reached");
	asker_write(RESOLV, NSD);
	assert_found("v4.rai.test", "v4.rai.test 192.0.2.4");
}

/* With the files read or not: it is told as what it is, and over when it is over. */
static void test_config_without_descriptors_is_told_as_such_and_not_for_ever(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_max = before.rlim_max };
	for (int i = 0; i < 2; i++) {
		/* A server without a socket yet; and a file that isn't read yet. */
		asker_write(RESOLV, i ? NSD : "nameserver ::1\n");
		if (!i) {
			/* A file just written is read once more: not in what follows. */
			assert_found("inhosts", "inhosts 192.0.2.77");
			ours.done = false;
			asker_wait(&ours, 100);
			assert_found("inhosts", "inhosts 192.0.2.77");
		}
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		asker_ask(&ours, "v4.rai.test", AF_UNSPEC);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		/* A socket that is there still works, and what was read last is in force. */
		assert_int_equal(ours.status, i ? 0 : -EMFILE);
		if (!i)
			assert_string_equal(ours.why, "name server ::1 was not asked: out of file descriptors");
		assert_found("v4.rai.test", "v4.rai.test 192.0.2.4");
		assert_found("inhosts", "inhosts 192.0.2.77");
	}
}

/* F38: the order of the sources; what we don't speak goes to the system's own. */
static void test_f38_config_sources_in_any_order_as_getaddrinfo(void **state)
{
	static const char *const configs[] = {
		"hosts: files dns\n", "hosts: dns files\n", "hosts: files\n", "hosts: dns\n", "hosts:files dns\n",
		"hosts: files dns # comment\n", "  hosts: dns\n", "hosts : files\n", "hosts:\tfiles\tdns\n",
		"hosts: files [NOTFOUND=return] dns\n", "hosts: files [SUCCESS=continue] dns\n",
		"hosts: files myhostname dns\n", "hosts: mdns4_minimal [NOTFOUND=return] dns\n", "",
		"passwd: files\n", "hosts: nosuchmodule files dns\n", "hosts: files files dns\n",
		"hosts: files\nhosts: dns\n", "#hosts: files\nhosts: dns\n", "HOSTS: files\n",
	};
	static const char *const names[] = {
		"inhosts", "inhosts.rai.test", "two.rai.test", "nosuchname.rai.test", "localhost", "v6.rai.test",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
		asker_write("/etc/nsswitch.conf", configs[i]);
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
			compare(names[j], j % 2 ? AF_UNSPEC : AF_INET, configs[i]);
	}
	/* A module that isn't there, behind all others: which error that is glibc leaves open. */
	asker_write("/etc/nsswitch.conf", "hosts: files dns nosuchmodule\n");
	asker_ask(&ours, "nosuchname.rai.test", AF_UNSPEC);
	assert_int_equal(ours.status, -EIO);
	assert_string_equal(ours.why, "getaddrinfo: System error, "
			    "as where nsswitch.conf has a module that isn't installed");
	asker_write("/etc/nsswitch.conf", NULL);
	for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
		compare(names[j], AF_UNSPEC, "no nsswitch.conf");
	/* Not compared: glibc 2.36 reads behind the end of an empty list. */
	asker_write("/etc/nsswitch.conf", "hosts:\n");
	asker_ask(&ours, "inhosts", AF_UNSPEC);
	assert_int_equal(ours.status, -2);
	assert_string_equal(ours.why, "nsswitch.conf names no source of host names");
}

/* F38: odd hosts files. */
static void test_f38_config_odd_hosts_files_as_getaddrinfo(void **state)
{
	static const char *const files[] = {
		"192.0.2.1 one\n192.0.2.2 one\n2001:db8::1 one\n192.0.2.3 other one\n",
		"192.0.2.1 Canon alias\n192.0.2.2 alias\n",
		"192.0.2.1\n192.0.2.2 one\n",
		"192.0.2.1 one # comment two\n#192.0.2.9 one\n",
		"192.0.2.1 one#two\n192.0.2.3 two\n",
		"  192.0.2.1   one\t\ttwo   \n",
		"not-an-address one\n192.0.2.1 one\n",
		"192.0.2.1 ONE Two\n",
		"192.0.2.1 one\r\n192.0.2.2 two\r\n",
		"::ffff:192.0.2.7 one\n",
		"::1 one\n127.0.0.1 two\n",
		"fe80::1%rai0 one\n192.0.2.1 one\n",
		"fe80::1 one\n",
		"192.0.2.1 one\n192.0.2.1 one\n",
		"192.0.2 one\n0x7f.1 two\n",
		"192.0.2.1 one one one\n",
		"192.0.2.1 one. two\n",
		"192.0.2.1 under_score two.rai.test one\n",
		"192.0.2.1 one",
		"",
	};
	static const char *const names[] = { "one", "two", "alias", "canon", "one.", "two.rai.test", "under_score" };
	static const char *const host_confs[] = { "multi on\n", "", "multi off\n", "order hosts,bind\nmulti on\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		asker_write("/etc/hosts", files[i]);
		for (size_t k = 0; k < sizeof(host_confs) / sizeof(*host_confs); k++) {
			asker_write("/etc/host.conf", host_confs[k]);
			for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
				compare(names[j], AF_UNSPEC, files[i]);
				compare(names[j], AF_INET, files[i]);
				compare(names[j], AF_INET6, files[i]);
			}
		}
	}
}

/* ---- F38: pieces of configuration put together at random, with a fixed seed ---- */

#define PICK(list) (list)[(unsigned)rand_r(seed) % (sizeof(list) / sizeof(*(list)))]

enum { CONFIG = 2048 };

/* Each leads to the same zones sooner or later. */
static const char *const servers[] = {
	"nameserver 127.0.0.2\n", "nameserver 127.0.0.2\n", "nameserver ::1\n", "nameserver fe80::53%rai0\n",
	"nameserver 127.0.0.99\nnameserver 127.0.0.2\n", "nameserver 127.0.0.2\nnameserver ::1\nnameserver fe80::53%rai0\n",
	"nameserver fe80::53%nosuch\nnameserver 127.0.0.99\nnameserver ::1\n",
	"nameserver fe80::53\nnameserver 127.0.0.2\n",
};

static const char *const searches[] = {
	"", "search rai.test\n", "search sub.rai.test rai.test\n", "search .\n", "search nowhere.test rai.test bench.test\n",
	"domain rai.test\n", "search rai.test.\n", "search rai.test\nsearch sub.rai.test\n", "search a.b.c.test . rai.test\n",
};

static const char *const words[] = {
	"ndots:0", "ndots:1", "ndots:2", "ndots:3", "ndots:15", "timeout:1", "timeout:3", "timeout:0", "attempts:1", "attempts:3",
	"attempts:9", "rotate", "use-vc", "edns0", "single-request", "single-request-reopen", "no-aaaa", "trust-ad",
	"no-tld-query", "inet6", "ip6-bytestring", "nonsense", "debug:1",
};

static const char *const sortlists[] = {
	"", "", "sortlist 203.0.113.0\n", "sortlist 198.51.100.0/255.255.255.0 192.0.2.2/255.255.255.255\n",
};

static const char *const gais[] = {
	"", "", "precedence ::ffff:0:0/96 100\n", "label 2001:db8::/32 9\nprecedence ::/0 5\n", "scopev4 ::ffff:169.254.0.0/112 14\n",
	"reload yes\n",
};

static const char *const host_files[] = {
	"", "192.0.2.50 short\n", "2001:db8::50 short two\n192.0.2.51 v6\n", "192.0.2.52 a.b short.sub\n",
	"192.0.2.53 four.rai.test\n198.51.100.53 four.rai.test\n",
};

static const char *const orders[] = { "hosts: files dns\n", "hosts: dns files\n", "hosts: dns\n" };

static const char *const asked[] = {
	"short", "a.b", "two", "v4", "v6", "host.sub", "short.sub", "n0007", "two.rai.test", "alias", "nodata", "short.", "a.b.",
	"four.rai.test", "kinds", "chain1", "av6", "dangling", "mapped", "large", "huge.rai.test", "leaf.ent.rai.test", "ent",
	"UPPER", "under_score", "badalias", "nosuch.a.b.c",
};

static void write_config(unsigned *seed, char config[CONFIG])
{
	size_t len = (size_t)snprintf(config, CONFIG, "%s%s%s", PICK(servers), PICK(searches), PICK(sortlists));

	for (unsigned i = (unsigned)rand_r(seed) % 5; i; i--)
		len += (size_t)snprintf(config + len, CONFIG - len, "%s%s%s", rand_r(seed) % 2 ? "options " : "options\t",
					PICK(words), rand_r(seed) % 4 ? "\n" : " rotate\n");
	asker_write(RESOLV, config);
	asker_write("/etc/hosts", PICK(host_files));
	asker_write("/etc/nsswitch.conf", PICK(orders));
	asker_write("/etc/gai.conf", PICK(gais));
	asker_write("/etc/host.conf", rand_r(seed) % 4 ? "multi on\n" : "multi off\n");
}

static void test_f38_config_generated_as_getaddrinfo(void **state)
{
	static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6 };
	unsigned start = 38, *seed = &start;
	char config[CONFIG];

	(void)state;
	for (int i = 0; i < 200; i++) {
		write_config(seed, config);
		for (int j = 0; j < 8; j++) {
			const char *name = PICK(asked);

			compare(name, PICK(families), config);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_f37_config_rewritten_renamed_truncated_removed_is_read_again, quiet),
		cmocka_unit_test_setup(test_f37_config_changed_with_names_in_flight_all_use_it_at_once, quiet),
		cmocka_unit_test_setup(test_f37_config_odd_lines_as_getaddrinfo, quiet),
		cmocka_unit_test_setup(test_f37_config_that_is_a_directory_is_as_if_missing, quiet),
		cmocka_unit_test_setup(test_config_without_descriptors_is_told_as_such_and_not_for_ever, quiet),
		cmocka_unit_test_setup(test_f38_config_sources_in_any_order_as_getaddrinfo, quiet),
		cmocka_unit_test_setup(test_f38_config_odd_hosts_files_as_getaddrinfo, quiet),
		cmocka_unit_test_setup(test_f38_config_generated_as_getaddrinfo, quiet),
	};
	int rc;

	asker_main(argc, argv);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	asker_close();
	return rc;
}
