/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and JSON of the rai command, from results made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <jansson.h>
#include <netdb.h>
#include <rdma/rai.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "words.h"

/* The library's own, which looks behind the result. */
static const struct rai_srv_record srv_record = { .priority = 10, .weight = 60, .port = 7001, .target = "t1.example" };

int rai_addrinfo_srv(const struct rdma_addrinfo *ai, struct rai_srv_record *record)
{
	if (ai->ai_flags != RAI_SRV)
		return -1;
	*record = srv_record;
	return 0;
}

static struct sockaddr_in in4(const char *text, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	assert_int_equal(inet_pton(AF_INET, text, &in.sin_addr), 1);
	return in;
}

static struct sockaddr_ib gid(const char *text, uint16_t pkey, uint64_t sid)
{
	struct sockaddr_ib sib = {
		.sib_family = AF_IB, .sib_pkey = htobe16(pkey), .sib_sid = htobe64(sid), .sib_sid_mask = UINT64_MAX,
	};

	assert_int_equal(inet_pton(AF_INET6, text, &sib.sib_addr), 1);
	return sib;
}

/* Every field with a value of its own, so that none can stand for another. */
static struct ibv_path_data path_data(void)
{
	return (struct ibv_path_data) {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		.path = {
			.dgid.raw = { 0xfe, 0x80, [15] = 3 }, .sgid.raw = { 0xfe, 0x80, [15] = 1 },
			.dlid = htobe16(7), .slid = htobe16(5), .flowlabel_hoplimit = htobe32(0x12345 << 8 | 9),
			.tclass = 11, .reversible_numpath = IBV_PATH_RECORD_REVERSIBLE, .pkey = htobe16(0x8001),
			.qosclass_sl = htobe16(13 << 4 | 2), .mtu = 0x84, .rate = 0x83, .packetlifetime = 0x92,
			.preference = 1,
		},
	};
}

static char *text_of(const struct cli_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cli_print_text(out, report);
	fclose(out);
	return text;
}

static json_t *json_of(const struct cli_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *own = stdout;
	json_t *json;
	int status;

	stdout = out;
	status = cli_print_json(report, 7);
	stdout = own;
	assert_int_equal(status, 7);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	free(text);
	return json;
}

static void test_text_of_two_addresses_is_an_aligned_table(void **state)
{
	struct sockaddr_in a = in4("192.0.2.1", 7471), b = in4("203.0.113.114", 7471), src = in4("192.0.2.10", 0);
	struct rdma_addrinfo second = {
		.ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_dst_addr = (void *)&b,
	};
	struct rdma_addrinfo first = {
		.ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_dst_addr = (void *)&a, .ai_src_addr = (void *)&src, .ai_dst_canonname = (char *)"two.rai.test",
		.ai_next = &second,
	};
	struct cli_answer answer = { .list = &first, .found = 2 };
	char *text = text_of(&(struct cli_report) { .node = "alias.rai.test", .answers = &answer, .count = 1 });

	(void)state;
	assert_string_equal(text,
		"alias.rai.test: 2 addresses, canonical name two.rai.test\n"
		"FAMILY  DESTINATION    PORT  QP  SPACE  SOURCE\n"
		"inet    192.0.2.1      7471  RC  TCP    192.0.2.10\n"
		"inet    203.0.113.114  7471  RC  TCP    -\n");
	free(text);
}

static void test_text_of_a_cut_list_tells_both_numbers(void **state)
{
	struct sockaddr_in a = in4("192.0.2.1", 0);
	struct rdma_addrinfo one = { .ai_family = AF_INET, .ai_dst_addr = (void *)&a };
	struct cli_answer answer = { .list = &one, .found = 5000 };
	char *text = text_of(&(struct cli_report) { .node = "many", .answers = &answer, .count = 1 });

	(void)state;
	assert_non_null(strstr(text, "many: 1 of 5000 addresses\n"));
	free(text);
}

static void test_text_of_a_passive_result_shows_its_source_and_port(void **state)
{
	struct sockaddr_in any = in4("0.0.0.0", 7471);
	struct rdma_addrinfo one = {
		.ai_flags = RAI_PASSIVE, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_UD,
		.ai_port_space = RDMA_PS_UDP, .ai_src_addr = (void *)&any,
	};
	struct cli_answer answer = { .list = &one, .found = 1 };
	char *text = text_of(&(struct cli_report) { .service = "7471", .answers = &answer, .count = 1 });

	(void)state;
	assert_non_null(strstr(text, "wildcard: 1 address\n"));
	assert_non_null(strstr(text, "inet    -            7471  UD  UDP    0.0.0.0\n"));
	free(text);
}

static void test_text_of_a_canonical_name_with_escapes_is_tamed(void **state)
{
	struct sockaddr_in a = in4("192.0.2.1", 0);
	struct rdma_addrinfo one = {
		.ai_family = AF_INET, .ai_dst_addr = (void *)&a, .ai_dst_canonname = (char *)"a\033[2Jb\nc",
	};
	struct cli_answer answer = { .list = &one, .found = 1 };
	char *text = text_of(&(struct cli_report) { .node = "a", .answers = &answer, .count = 1 });

	(void)state;
	assert_non_null(strstr(text, "canonical name a?[2Jb?c\n"));
	free(text);
}

static void test_text_of_a_service_record_has_its_path_in_words(void **state)
{
	struct sockaddr_ib dst = gid("fe80::3", 0x8001, 0x1122334455667788), src = gid("fe80::1", 0, 0);
	struct ibv_path_data path = path_data();
	struct rdma_addrinfo one = {
		.ai_flags = RAI_SA, .ai_family = AF_IB, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_IB,
		.ai_dst_addr = (void *)&dst, .ai_src_addr = (void *)&src, .ai_route = &path,
		.ai_route_len = sizeof(path), .ai_dst_canonname = (char *)"store",
	};
	struct cli_answer answer = { .list = &one, .found = 1, .port = "ib0/1" };
	char *text = text_of(&(struct cli_report) { .service = "store", .sa = true, .answers = &answer, .count = 1 });

	(void)state;
	assert_string_equal(text,
		"store: 1 service record\n"
		"FAMILY  DESTINATION  P_KEY   SERVICE ID          QP  SPACE  SOURCE\n"
		"ib      fe80::3      0x8001  0x1122334455667788  RC  IB     fe80::1\n"
		"    path  fe80::1 -> fe80::3\n"
		"          SLID 5, DLID 7, SL 2, P_Key 0x8001, MTU 2048, rate 10 Gb/s, lifetime 1.07 s, reversible\n"
		"          flow label 0x12345, traffic class 11, hop limit 9, QoS class 13, preference 1; "
		"primary gmp bidirectional\n");
	free(text);
}

static void test_text_of_a_service_record_without_a_path_says_so(void **state)
{
	struct sockaddr_ib dst = gid("fe80::3", 0x8001, 7), src = gid("fe80::1", 0, 0);
	struct rdma_addrinfo one = {
		.ai_flags = RAI_SA, .ai_family = AF_IB, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_IB,
		.ai_dst_addr = (void *)&dst, .ai_src_addr = (void *)&src,
	};
	struct cli_answer answer = { .list = &one, .found = 1, .port = "ib0/1" };
	struct cli_report report = { .service = "store", .sa = true, .answers = &answer, .count = 1 };
	char *text = text_of(&report);

	(void)state;
	assert_non_null(strstr(text, "fe80::1\n    path  none: the SA has none, or didn't tell in time\n"));
	free(text);
	report.sa = false;
	text = text_of(&report);
	assert_null(strstr(text, "path"));
	free(text);
}

/* As a terminal of 80 columns has it: the source goes below, and what is longer is broken at blanks. */
static void test_text_wider_than_the_screen_is_folded(void **state)
{
	static const char wide[] = "fe80:1111:2222:3333:4444:5555:6666:7777";
	struct sockaddr_ib dst = gid(wide, 0x8001, 0x1122334455667788), src = gid("fe80::1", 0, 0);
	struct ibv_path_data path = path_data();
	struct rdma_addrinfo one = {
		.ai_flags = RAI_SA, .ai_family = AF_IB, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_IB,
		.ai_dst_addr = (void *)&dst, .ai_src_addr = (void *)&src, .ai_route = &path,
		.ai_route_len = sizeof(path), .ai_dst_canonname = (char *)"store",
	};
	struct cli_answer answer = { .list = &one, .found = 1, .port = "ib0/1" };
	struct cli_report report = { .service = "store", .sa = true, .answers = &answer, .count = 1, .screen = 94 };
	char *text = text_of(&report);

	(void)state;
	assert_string_equal(text,
		"store: 1 service record\n"
		"FAMILY  DESTINATION                              P_KEY   SERVICE ID          QP  SPACE\n"
		"ib      fe80:1111:2222:3333:4444:5555:6666:7777  0x8001  0x1122334455667788  RC  IB\n"
		"    from fe80::1\n"
		"    path  fe80::1 -> fe80::3\n"
		"          SLID 5, DLID 7, SL 2, P_Key 0x8001, MTU 2048, rate 10 Gb/s, lifetime 1.07 s,\n"
		"          reversible\n"
		"          flow label 0x12345, traffic class 11, hop limit 9, QoS class 13, preference 1;\n"
		"          primary gmp bidirectional\n");
	free(text);
	report.screen = 200;
	text = text_of(&report);
	assert_non_null(strstr(text, "RC  IB     fe80::1\n"));
	free(text);
}

static void test_text_of_an_srv_record_has_its_numbers_and_target(void **state)
{
	struct sockaddr_in a = in4("192.0.2.101", 7001);
	struct rdma_addrinfo one = {
		.ai_flags = RAI_SRV, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_dst_addr = (void *)&a, .ai_dst_canonname = (char *)"t1.example",
	};
	struct cli_answer answer = { .list = &one, .found = 1 };
	const struct cli_report report = {
		.node = "example", .service = "nfs", .srv = true, .answers = &answer, .count = 1,
	};
	char *text = text_of(&report);
	json_t *json, *result;

	(void)state;
	assert_string_equal(text,
		"example: 1 address of service nfs\n"
		"PRIORITY  WEIGHT  TARGET      DESTINATION  PORT  QP  SPACE  SOURCE\n"
		"10        60      t1.example  192.0.2.101  7001  RC  TCP    -\n");
	free(text);
	json = json_of(&report);
	assert_true(json_is_true(json_object_get(json, "srv")));
	result = json_array_get(json_object_get(json, "results"), 0);
	assert_int_equal(json_integer_value(json_object_get(result, "priority")), 10);
	assert_int_equal(json_integer_value(json_object_get(result, "weight")), 60);
	assert_string_equal(json_string_value(json_object_get(result, "target")), "t1.example");
	json_decref(json);
}

static void test_text_without_results_is_empty(void **state)
{
	struct cli_answer answer = { .status = -ENOENT };
	char *text = text_of(&(struct cli_report) { .node = "a", .answers = &answer, .count = 1 });

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

static void test_short_text_has_each_address_once_and_that_of_a_passive_result(void **state)
{
	struct sockaddr_in a = in4("192.0.2.1", 1), b = in4("192.0.2.2", 0), again = in4("192.0.2.1", 2);
	struct sockaddr_in any = in4("0.0.0.0", 0);
	struct rdma_addrinfo passive = { .ai_family = AF_INET, .ai_src_addr = (void *)&any };
	struct rdma_addrinfo third = { .ai_family = AF_INET, .ai_dst_addr = (void *)&again, .ai_next = &passive };
	struct rdma_addrinfo second = { .ai_family = AF_INET, .ai_dst_addr = (void *)&b };
	struct rdma_addrinfo first = { .ai_family = AF_INET, .ai_dst_addr = (void *)&a, .ai_next = &second };
	struct cli_answer answers[] = {
		{ .list = &first, .found = 2 }, { .status = -ENOENT }, { .list = &third, .found = 2 },
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	cli_print_short(out, &(struct cli_report) { .node = "a", .answers = answers, .count = 3 });
	fclose(out);
	assert_string_equal(text, "192.0.2.1\n192.0.2.2\n0.0.0.0\n");
	free(text);
}

static void test_json_of_a_scoped_address_has_name_and_number(void **state)
{
	struct sockaddr_in6 lo = { .sin6_family = AF_INET6, .sin6_port = htons(4791), .sin6_scope_id = 1 };
	struct rdma_addrinfo one = {
		.ai_family = AF_INET6, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
		.ai_dst_addr = (void *)&lo,
	};
	struct cli_answer answer = { .list = &one, .found = 1 };
	const char *family, *address, *qp, *space;
	json_t *json, *src;
	int port, scope;

	(void)state;
	inet_pton(AF_INET6, "fe80::1", &lo.sin6_addr);
	json = json_of(&(struct cli_report) { .node = "a", .service = "roce", .answers = &answer, .count = 1 });
	assert_int_equal(json_unpack(json, "{s:[{s:{s:s, s:s, s:i, s:i}, s:o, s:s, s:s}]}", "results", "dst",
				     "family", &family, "address", &address, "port", &port, "scope_id", &scope,
				     "src", &src, "qp_type", &qp, "port_space", &space), 0);
	assert_string_equal(family, "inet6");
	assert_string_equal(address, "fe80::1%lo");
	assert_int_equal(port, 4791);
	assert_int_equal(scope, 1);
	assert_true(json_is_null(src));
	assert_string_equal(qp, "RC");
	assert_string_equal(space, "TCP");
	json_decref(json);
}

static void test_json_of_service_records_keeps_64_bits_and_ports_apart(void **state)
{
	struct sockaddr_ib dst = gid("fe80::3", 0xffff, 0xffffffffffffff01);
	struct ibv_path_data path = path_data();
	struct rdma_addrinfo one = {
		.ai_family = AF_IB, .ai_port_space = RDMA_PS_IB, .ai_dst_addr = (void *)&dst, .ai_route = &path,
		.ai_route_len = sizeof(path),
	};
	struct cli_answer answers[] = {
		{ .port = "ib0/1", .list = &one, .found = 1 },
		{ .port = "ib1/1", .status = -ETIMEDOUT, .code = 0x0300, .text = "the SA did not answer" },
	};
	const char *sid, *mask, *port, *failed, *status, *text;
	json_t *json;
	int mtu, hop, code, found;

	(void)state;
	json = json_of(&(struct cli_report) { .service = "s", .sa = true, .answers = answers, .count = 2 });
	assert_int_equal(json_unpack(json, "{s:i, s:[{s:s, s:{s:s, s:s}, s:[{s:i, s:i}]}]}", "found", &found,
				     "results", "port", &port, "dst", "service_id", &sid, "service_id_mask", &mask,
				     "route", "mtu", &mtu, "hop_limit", &hop), 0);
	assert_int_equal(found, 1);
	assert_string_equal(port, "ib0/1");
	assert_string_equal(sid, "0xffffffffffffff01");
	assert_string_equal(mask, "0xffffffffffffffff");
	assert_int_equal(mtu, 2048);
	assert_int_equal(hop, 9);
	assert_int_equal(json_unpack(json, "{s:[{s:s, s:s, s:i, s:s}]}", "failures", "port", &failed,
				     "status", &status, "code", &code, "text", &text), 0);
	assert_string_equal(failed, "ib1/1");
	assert_string_equal(status, "ETIMEDOUT");
	assert_int_equal(code, 0x0300);
	assert_string_equal(text, "the SA did not answer");
	json_decref(json);
}

static void test_json_of_a_name_failure_has_the_eai_code_with_its_sign(void **state)
{
	struct cli_answer answer = { .status = -ENOENT, .code = (uint64_t)EAI_NONAME, .text = "no such host" };
	json_t *json = json_of(&(struct cli_report) { .node = "nowhere", .answers = &answer, .count = 1 });
	int code, found;

	(void)state;
	assert_int_equal(json_unpack(json, "{s:i, s:[{s:i}]}", "found", &found, "failures", "code", &code), 0);
	assert_int_equal(found, 0);
	assert_int_equal(code, EAI_NONAME);
	json_decref(json);
}

static void test_path_with_meaningless_codes_reads_as_zero(void **state)
{
	struct ibv_path_data data = { .path = { .mtu = 0x3f, .rate = 0x3f, .packetlifetime = 0x3f } };
	struct cli_path path;

	(void)state;
	cli_path_read(&data, &path);
	assert_int_equal(path.mtu, 0);
	assert_true(path.rate == 0);
	assert_true(path.lifetime > 1e12);
	assert_string_equal(path.flags, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_two_addresses_is_an_aligned_table),
		cmocka_unit_test(test_text_of_a_cut_list_tells_both_numbers),
		cmocka_unit_test(test_text_of_a_passive_result_shows_its_source_and_port),
		cmocka_unit_test(test_text_of_a_canonical_name_with_escapes_is_tamed),
		cmocka_unit_test(test_text_of_a_service_record_has_its_path_in_words),
		cmocka_unit_test(test_text_of_a_service_record_without_a_path_says_so),
		cmocka_unit_test(test_text_wider_than_the_screen_is_folded),
		cmocka_unit_test(test_text_of_an_srv_record_has_its_numbers_and_target),
		cmocka_unit_test(test_text_without_results_is_empty),
		cmocka_unit_test(test_short_text_has_each_address_once_and_that_of_a_passive_result),
		cmocka_unit_test(test_json_of_a_scoped_address_has_name_and_number),
		cmocka_unit_test(test_json_of_service_records_keeps_64_bits_and_ports_apart),
		cmocka_unit_test(test_json_of_a_name_failure_has_the_eai_code_with_its_sign),
		cmocka_unit_test(test_path_with_meaningless_codes_reads_as_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
