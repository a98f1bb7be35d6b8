/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as one JSON object; man page rai(1) has its fields. */
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <inttypes.h>
#include <jansson.h>
#include <rdma/rai.h>
#include <string.h>

#include "cli.h"
#include "out.h"
#include "steps.h"
#include "words.h"

enum { REAL_DIGITS = 9 };	/* more would show how binary fractions end */

/* Service ids and masks are 64 bits: more than every JSON reader's numbers hold, so they are strings. */
static json_t *json_hex64(__be64 value)
{
	return json_sprintf("0x%016" PRIx64, (uint64_t)be64toh(value));
}

void cli_json_add_ib(json_t *json, const struct sockaddr *sa)
{
	const struct sockaddr_ib *sib = (const void *)sa;

	if (!sa || sa->sa_family != AF_IB)
		return;
	json_object_set_new(json, "pkey", json_integer(be16toh(sib->sib_pkey)));
	json_object_set_new(json, "service_id", json_hex64(sib->sib_sid));
	json_object_set_new(json, "service_id_mask", json_hex64(sib->sib_sid_mask));
}

static json_t *json_address(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	char word[80];
	json_t *json;

	if (!sa)
		return json_null();
	cli_address_word(sa, word, sizeof(word));
	json = json_pack("{s:s, s:s, s:i}", "family", cli_family_word(sa->sa_family), "address", word,
			 "port", (int)cli_address_port(sa));
	if (sa->sa_family == AF_INET6 && in6->sin6_scope_id)
		json_object_set_new(json, "scope_id", json_integer(in6->sin6_scope_id));
	cli_json_add_ib(json, sa);
	return json;
}

static json_t *json_path(const struct ibv_path_data *data)
{
	struct cli_path path;

	cli_path_read(data, &path);
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:b, s:i, s:i, s:i, s:i, s:i}",
			 "flags", path.flags, "sgid", path.sgid, "dgid", path.dgid,
			 "slid", (int)path.slid, "dlid", (int)path.dlid, "sl", (int)path.sl,
			 "pkey", (int)path.pkey, "mtu", (int)path.mtu,
			 "rate_gbps", path.rate, "lifetime_s", path.lifetime, "reversible", (int)path.reversible,
			 "flow_label", (int)path.flow_label, "traffic_class", (int)path.traffic_class,
			 "hop_limit", (int)path.hop_limit, "qos_class", (int)path.qos_class,
			 "preference", (int)path.preference);
}

static json_t *json_route(const struct rdma_addrinfo *info)
{
	const struct ibv_path_data *route = info->ai_route;
	json_t *paths = json_array();

	for (size_t i = 0; i < info->ai_route_len / sizeof(*route); i++)
		json_array_append_new(paths, json_path(&route[i]));
	return paths;
}

void cli_json_add_srv(json_t *json, const struct rdma_addrinfo *info)
{
	struct rai_srv_record record;

	if (rai_addrinfo_srv(info, &record))
		return;
	json_object_set_new(json, "priority", json_integer(record.priority));
	json_object_set_new(json, "weight", json_integer(record.weight));
	json_object_set_new(json, "target", json_string(record.target));
}

static json_t *json_result(const struct rdma_addrinfo *info, const char *port)
{
	json_t *json = json_pack("{s:s, s:o, s:o, s:s, s:s, s:o}", "family", cli_family_word(info->ai_family),
				 "dst", json_address(info->ai_dst_addr), "src", json_address(info->ai_src_addr),
				 "qp_type", cli_qp_type_word(info->ai_qp_type),
				 "port_space", cli_port_space_word(info->ai_port_space), "route", json_route(info));

	if (port)
		json_object_set_new(json, "port", json_string(port));
	if (info->ai_dst_canonname)
		json_object_set_new(json, "dst_canonname", json_string(info->ai_dst_canonname));
	if (info->ai_src_canonname)
		json_object_set_new(json, "src_canonname", json_string(info->ai_src_canonname));
	cli_json_add_srv(json, info);
	return json;
}

static json_t *json_failure(const struct cli_answer *answer)
{
	json_t *json = json_pack("{s:s?, s:s, s:i, s:I, s:s}", "event", answer->event,
				 "status", cli_errno_word(answer->status), "errno", -answer->status,
				 "code", (json_int_t)(int32_t)answer->code, "text", answer->text);

	if (answer->port)
		json_object_set_new(json, "port", json_string(answer->port));
	return json;
}

bool cli_is_utf8(const char *text)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json;
}

int cli_print_object(json_t *object, size_t flags, int status)
{
	errno = ENOMEM;
	if (!object || json_dumpf(object, stdout, flags | JSON_REAL_PRECISION(REAL_DIGITS)) < 0)
		status = ferror(stdout) ? CLI_FAILED : cli_fail("printing", strerror(errno), CLI_FAILED);
	else
		putchar('\n');
	json_decref(object);
	return status;
}

int cli_print_json(const struct cli_report *report, int status)
{
	json_t *results = json_array(), *failures = json_array(), *json;
	uint64_t found = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct cli_answer *answer = &report->answers[i];

		for (const struct rdma_addrinfo *info = answer->list; info; info = info->ai_next)
			json_array_append_new(results, json_result(info, answer->port));
		if (answer->list)
			found += answer->found;
		else
			json_array_append_new(failures, json_failure(answer));
	}
	json = json_pack("{s:i, s:s?, s:s?, s:b, s:b, s:I, s:o, s:o}",
			 "version", CLI_JSON_VERSION, "node", report->node, "service", report->service,
			 "sa", (int)report->sa, "srv", (int)report->srv, "found", (json_int_t)found,
			 "results", results, "failures", failures);
	json_object_set_new(json, "time_us", report->took_us < 0 ? json_null() : json_integer(report->took_us));
	if (!report->line)
		cli_steps_sum(report->steps, json);
	return cli_print_object(json, report->line ? JSON_COMPACT : JSON_INDENT(2), status);
}
