/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cases [-q] [-n COUNT] [-s SEED]: calls rdma_getaddrinfo() with generated arguments, and prints a line for each: arguments,
 * a tab, what came out; with -q nothing. What it is linked with doesn't matter: LD_LIBRARY_PATH says which library is asked.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SOME = 20000, LONG_NAME = 300 };

/* ---- What is combined ---- */

static char long_name[LONG_NAME + 1];

static const char *const nodes[] = {
	NULL, "127.0.0.1", "192.0.2.10", "192.0.2.1", "::1", "2001:db8::1", "two.rai.test", "v4.rai.test", "v6.rai.test",
	"localhost", "inhosts", "nosuch.rai.test", "", "0.0.0.0", "::", "::ffff:192.0.2.1", "fe80::1%rai0", "fe80::1",
	"fe80::1%nosuch", "127.1", "0x7f.1", "010.0.0.1", "1.2.3.4.5", "1.2.3.256", "192.0.2.1 ", "1::2::3", "nodata.rai.test",
	"alias.rai.test", "kinds.rai.test", "refused.example", "two.rai.test.", "no such", "-bad.rai.test", "_service.rai.test", "v4..rai.test",
	"fe80:0:0:0:0202:c9ff:fe00:1", "224.0.0.1", "ff02::1%rai0", "255.255.255.255", "203.0.113.1", long_name,
};

static const char *const services[] = {
	NULL, "7471", "0", "ssh", "tftp", "nosuch", "", "65535", "65536", "99999999999", "-1", "+80", " 80", "80 ", "80x", "0x50",
	"010", "domain", "http",
};

static const int flags[] = {
	0, RAI_PASSIVE, RAI_NUMERICHOST, RAI_PASSIVE | RAI_NUMERICHOST, RAI_NOROUTE, RAI_FAMILY,
	RAI_FAMILY | RAI_NUMERICHOST, RAI_FAMILY | RAI_NUMERICHOST | RAI_PASSIVE, RAI_FAMILY | RAI_PASSIVE,
	RAI_NOROUTE | RAI_PASSIVE, 15, 0x40, (int)0x80000000, 0x10, 0x20,
};

static const int families[] = { AF_UNSPEC, AF_INET, AF_INET6, AF_IB, AF_UNIX, 12345, -1 };
static const int types[] = {
	0, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER, 1, -1,
};
static const int spaces[] = { 0, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB, 1, -1 };

/* What hints hold for an address: which, and how long they say that it is. */
enum given { GIVEN_NONE, GIVEN_IN, GIVEN_IN6, GIVEN_IB, GIVEN_ZERO, GIVEN_UNIX, GIVEN_NULL };
enum length { LENGTH_TRUE, LENGTH_0, LENGTH_1, LENGTH_4, LENGTH_STORAGE };

struct place {
	enum given given;
	enum length length;
};

static const struct addresses {
	const char *word;
	struct place src, dst;
} addresses[] = {
	{ "none", { GIVEN_NONE, 0 }, { GIVEN_NONE, 0 } },
	{ "src4", { GIVEN_IN, 0 }, { GIVEN_NONE, 0 } },
	{ "src6", { GIVEN_IN6, 0 }, { GIVEN_NONE, 0 } },
	{ "srcib", { GIVEN_IB, 0 }, { GIVEN_NONE, 0 } },
	{ "dst4", { GIVEN_NONE, 0 }, { GIVEN_IN, 0 } },
	{ "dst6", { GIVEN_NONE, 0 }, { GIVEN_IN6, 0 } },
	{ "dstib", { GIVEN_NONE, 0 }, { GIVEN_IB, 0 } },
	{ "src4+dst4", { GIVEN_IN, 0 }, { GIVEN_IN, 0 } },
	{ "src6+dst6", { GIVEN_IN6, 0 }, { GIVEN_IN6, 0 } },
	{ "src4+dst6", { GIVEN_IN, 0 }, { GIVEN_IN6, 0 } },
	{ "src4:0", { GIVEN_IN, LENGTH_0 }, { GIVEN_NONE, 0 } },
	{ "dst4:0", { GIVEN_NONE, 0 }, { GIVEN_IN, LENGTH_0 } },
	{ "src4:long", { GIVEN_IN, LENGTH_STORAGE }, { GIVEN_NONE, 0 } },
	{ "dst4:long", { GIVEN_NONE, 0 }, { GIVEN_IN, LENGTH_STORAGE } },
	{ "src4:1", { GIVEN_IN, LENGTH_1 }, { GIVEN_NONE, 0 } },
	{ "src4:4", { GIVEN_IN, LENGTH_4 }, { GIVEN_NONE, 0 } },
	{ "dst4:4", { GIVEN_NONE, 0 }, { GIVEN_IN, LENGTH_4 } },
	{ "srczero", { GIVEN_ZERO, 0 }, { GIVEN_NONE, 0 } },
	{ "dstzero", { GIVEN_NONE, 0 }, { GIVEN_ZERO, 0 } },
	{ "srcunix", { GIVEN_UNIX, 0 }, { GIVEN_NONE, 0 } },
	{ "dstunix", { GIVEN_NONE, 0 }, { GIVEN_UNIX, 0 } },
	{ "srcnull", { GIVEN_NULL, LENGTH_STORAGE }, { GIVEN_NONE, 0 } },
	{ "dstnull", { GIVEN_NONE, 0 }, { GIVEN_NULL, LENGTH_STORAGE } },
};

/* ---- One case ---- */

struct which {
	unsigned node, service, flags, family, type, space, addresses;
	bool hints;
};

static socklen_t address_make(const struct place *place, uint8_t port, struct sockaddr_storage *to)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(0xc000024d) } };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_pkey = 0xffff, .sib_addr.sib_addr8 = { 0xfe, 0x80, [15] = 1 } };
	socklen_t len = 0;

	memset(to, 0, sizeof(*to));
	switch (place->given) {
	case GIVEN_NONE: return 0;
	case GIVEN_NULL: break;
	case GIVEN_IN: memcpy(to, &in, len = sizeof(in)); break;
	case GIVEN_IN6: memcpy(to, &in6, len = sizeof(in6)); break;
	case GIVEN_IB: memcpy(to, &ib, len = sizeof(ib)); break;
	case GIVEN_ZERO: len = sizeof(in); break;
	case GIVEN_UNIX: to->ss_family = AF_UNIX; len = sizeof(in); break;
	}
	switch (place->length) {
	case LENGTH_TRUE: return len;
	case LENGTH_0: return 0;
	case LENGTH_1: return 1;
	case LENGTH_4: return 4;
	case LENGTH_STORAGE: return sizeof(*to);
	}
	return 0;
}

static void text_print(const char *text)
{
	if (!text)
		printf("NULL");
	else if (strlen(text) == LONG_NAME)
		printf("\"(%u times a)\"", LONG_NAME);
	else
		printf("\"%s\"", text);
}

static void bytes_print(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", ((const uint8_t *)bytes)[i]);
}

static void address_print(const char *word, const struct sockaddr *sa, socklen_t len)
{
	char host[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	printf(" %s=", word);
	if (!sa) {
		printf("NULL/%u", (unsigned)len);
	} else if (len == sizeof(in) && sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		printf("%s:%u", inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host)), ntohs(in.sin_port));
	} else if (len == sizeof(in6) && sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		printf("%s%%%u/%u:%u", inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host)), in6.sin6_scope_id,
		       in6.sin6_flowinfo, ntohs(in6.sin6_port));
	} else {
		bytes_print(sa, len);
		printf("/%u", (unsigned)len);
	}
}

static void result_print(const struct rdma_addrinfo *ai)
{
	printf("flags=%#x family=%d type=%d space=%#x", (unsigned)ai->ai_flags, ai->ai_family, ai->ai_qp_type,
	       (unsigned)ai->ai_port_space);
	address_print("src", ai->ai_src_addr, ai->ai_src_len);
	address_print("dst", ai->ai_dst_addr, ai->ai_dst_len);
	printf(" srcname=");
	text_print(ai->ai_src_canonname);
	printf(" dstname=");
	text_print(ai->ai_dst_canonname);
	printf(" route=%zu connect=%zu", ai->ai_route_len, ai->ai_connect_len);
}

static sigjmp_buf crashed;

/* A sanitizer has something to say of it. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static void crash_is_an_outcome(void) { }
#else
static void crash(int number)
{
	(void)number;
	siglongjmp(crashed, 1);
}

static void crash_is_an_outcome(void)
{
	signal(SIGSEGV, crash);
}
#endif

static void case_run(const struct which *which)
{
	const struct addresses *given = &addresses[which->addresses];
	struct rdma_addrinfo hints = {
		.ai_flags = flags[which->flags], .ai_family = families[which->family], .ai_qp_type = types[which->type],
		.ai_port_space = spaces[which->space],
	}, *list = NULL;
	struct sockaddr_storage src, dst;
	int ret;

	hints.ai_src_len = address_make(&given->src, 1, &src);
	hints.ai_dst_len = address_make(&given->dst, 2, &dst);
	if (given->src.given != GIVEN_NONE && given->src.given != GIVEN_NULL)
		hints.ai_src_addr = (struct sockaddr *)&src;
	if (given->dst.given != GIVEN_NONE && given->dst.given != GIVEN_NULL)
		hints.ai_dst_addr = (struct sockaddr *)&dst;
	printf("node=");
	text_print(nodes[which->node]);
	printf(" service=");
	text_print(services[which->service]);
	if (which->hints)
		printf(" flags=%#x family=%d type=%d space=%#x addresses=%s\t", (unsigned)hints.ai_flags, hints.ai_family,
		       hints.ai_qp_type, (unsigned)hints.ai_port_space, given->word);
	else
		printf(" hints=NULL\t");
	if (sigsetjmp(crashed, 1)) {
		puts("crash");
		return;
	}
	errno = 0;
	ret = rdma_getaddrinfo(nodes[which->node], services[which->service], which->hints ? &hints : NULL, &list);
	if (ret == -1)
		printf("-1 errno=%d\n", errno);
	else if (ret)
		printf("%s\n", gai_strerror(ret));
	if (ret)
		return;
	result_print(list);
	putchar('\n');
	rdma_freeaddrinfo(list);
}

/* ---- Which ---- */

static uint64_t state;

/* splitmix64: the same sequence everywhere. */
static unsigned below(size_t limit)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) % limit);
}

/* Each node with each service: without hints, and with each flags and family where nothing else is said. */
static void cases_plain(void)
{
	struct which which = { 0 };

	for (which.node = 0; which.node < COUNT(nodes); which.node++)
		for (which.service = 0; which.service < COUNT(services); which.service++)
			case_run(&which);
	which.hints = true;
	for (which.node = 0; which.node < COUNT(nodes); which.node++)
		for (which.service = 0; which.service < 4; which.service++)
			for (which.flags = 0; which.flags < 8; which.flags++)
				for (which.family = 0; which.family < 4; which.family++)
					case_run(&which);
}

/* Each type with each port space, and each set of addresses: with nothing to resolve, a number and a name. */
static void cases_transport(void)
{
	struct which which = { .hints = true };

	for (which.type = 0; which.type < COUNT(types); which.type++)
		for (which.space = 0; which.space < COUNT(spaces); which.space++)
			for (which.addresses = 0; which.addresses < COUNT(addresses); which.addresses++)
				for (unsigned i = 0; i < 3; i++) {
					which.node = i == 1 ? 2 : i == 2 ? 6 : 0;
					which.service = i;
					case_run(&which);
				}
}

static unsigned rarely(size_t limit)
{
	return below(2) ? below(limit) : 0;
}

static void case_random(void)
{
	struct which which = {
		.node = below(COUNT(nodes)), .service = below(COUNT(services)), .flags = rarely(COUNT(flags)),
		.family = rarely(COUNT(families)), .type = rarely(COUNT(types)), .space = rarely(COUNT(spaces)),
		.addresses = rarely(COUNT(addresses)), .hints = true,
	};

	case_run(&which);
}

int main(int argc, char **argv)
{
	unsigned long some = SOME;
	int option;

	while ((option = getopt(argc, argv, "qn:s:")) >= 0) {
		if (option == 'n')
			some = strtoul(optarg, NULL, 10);
		else if (option == 'q')
			stdout = freopen("/dev/null", "w", stdout);
		else if (option == 's')
			state = strtoull(optarg, NULL, 10);
		else
			return 64;
	}
	memset(long_name, 'a', LONG_NAME);
	crash_is_an_outcome();
	cases_plain();
	cases_transport();
	while (some--)
		case_random();
	return 0;
}
