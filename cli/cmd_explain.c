/* SPDX-License-Identifier: BSD-2-Clause */
/* rai explain: resolves as programs do, and draws each step with its time as a tree, down to the RDMA device. */
#include <argp.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/ib.h>
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <net/if.h>
#include <netdb.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "links.h"
#include "out.h"
#include "read.h"
#include "screen.h"
#include "steps.h"
#include "words.h"

enum {
	NODE_MAX = 253,		/* as rdma_resolve_addrinfo(3) has it */
	OPTION_SRV = 256,	/* it has no letter */
	LINE = 1024,		/* a target has 255 bytes */
};

struct explain {
	const char *node, *service, *sa, *port;
	bool srv, json;
	int family;
	uint32_t timeout_ms;
	bool has_timeout;
	struct cli_steps *steps;
	struct cli_link *links;
	size_t links_count;
	struct ifaddrs *interfaces;
	int64_t took_us;
};

static const struct argp_option options[] = {
	{ "sa", 's', "SERVICE", 0, "Explain the service SERVICE of the InfiniBand SA: its name, or its id as a "
	  "number", 0 },
	{ "port", 'p', "PORT", 0, "With --sa: ask through this port only, DEVICE/PORT or its GID", 0 },
	{ "srv", OPTION_SRV, NULL, 0, "Explain the SRV records of SERVICE in the domain NODE, as rai resolve asks for "
	  "them, and their targets", 0 },
	{ "family", 'f', "FAMILY", 0, "Only addresses of inet or inet6", 0 },
	{ "timeout", 't', "TIME", 0, "Give up after so long, in seconds (5, 0.5, 5s) or milliseconds (500ms)", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static void check(struct argp_state *state, const struct explain *e)
{
	if (e->sa && (e->node || e->family))
		argp_error(state, "--sa goes with neither NODE nor --family");
	if (e->port && !e->sa)
		argp_error(state, "--port is for --sa");
	if (e->srv && e->sa)
		argp_error(state, "--srv asks name servers, --sa the SA: one of both");
	if (e->srv)
		cli_check_srv(state, e->node, e->service);
	if (!e->sa && !e->node)
		argp_error(state, "NODE is missing");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain *e = state->input;
	char why[CLI_NODE_WHY];

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 's':
		e->sa = cli_read_word(state, "SERVICE", arg, NODE_MAX);
		if (!cli_is_sa_service(e->sa, why, sizeof(why)))
			argp_error(state, "%s", why);
		return 0;
	case 'p':
		e->port = cli_read_word(state, "PORT", arg, NODE_MAX);
		return 0;
	case OPTION_SRV:
		e->srv = true;
		return 0;
	case 'f':
		e->family = cli_read_family(state, arg, false);
		return 0;
	case 't':
		e->timeout_ms = cli_read_duration(state, arg);
		e->has_timeout = true;
		return 0;
	case 'j':
		e->json = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			e->node = cli_read_node(state, arg, NODE_MAX);
		else if (state->arg_num == 1)
			e->service = cli_read_service(state, arg, NODE_MAX);
		else
			argp_error(state, "one NODE and one SERVICE at most");
		return 0;
	case ARGP_KEY_END:
		check(state, e);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- Which RDMA device leads to a result ---- */

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	if (!a || !b || a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
				  &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr);
}

static const char *interface_of(const struct explain *e, const struct sockaddr *source)
{
	for (const struct ifaddrs *i = e->interfaces; i; i = i->ifa_next)
		if (same_address(i->ifa_addr, source))
			return i->ifa_name;
	return NULL;
}

static const struct cli_link *link_of(const struct explain *e, const char *interface)
{
	for (size_t i = 0; interface && i < e->links_count; i++)
		if (strcmp(e->links[i].netdev, interface) == 0)
			return &e->links[i];
	return NULL;
}

/* "mlx5_0/1"; false: why there is none. */
static bool device_of(const struct explain *e, const struct rdma_addrinfo *info, const char *port, char *buf,
		      size_t size)
{
	const char *interface = interface_of(e, info->ai_src_addr);
	const struct cli_link *link = link_of(e, interface);

	if (port) {
		snprintf(buf, size, "%s", port);
		return true;
	}
	if (link) {
		snprintf(buf, size, "%s/%u", link->device, link->port);
		return true;
	}
	if (e->links_count == 0)
		snprintf(buf, size, "this host has none");
	else if (!info->ai_src_addr)
		snprintf(buf, size, "none leads there: no interface of a device has a route");
	else
		snprintf(buf, size, "none belongs to interface %s", interface ? interface : "?");
	return false;
}

/* ---- What is printed ---- */

static void print_result(const struct explain *e, unsigned number, bool last, const struct rdma_addrinfo *info,
			 const char *via)
{
	const struct sockaddr_ib *sib = (const void *)info->ai_dst_addr;
	const char *no_path = e->sa && !info->ai_route_len ? "; path " CLI_NO_PATH : "";
	char to[80], from[80], device[120], target[320] = "", port[40], text[LINE];
	bool has = device_of(e, info, via, device, sizeof(device));
	struct rai_srv_record record;

	cli_address_word(info->ai_dst_addr, to, sizeof(to));
	cli_address_word(info->ai_src_addr, from, sizeof(from));
	if (rai_addrinfo_srv(info, &record) == 0)
		snprintf(target, sizeof(target), "%s, priority %u, weight %u: ", record.target, record.priority,
			 record.weight);
	snprintf(port, sizeof(port), "port %u", cli_address_port(info->ai_dst_addr));
	if (info->ai_family == AF_IB)
		snprintf(port, sizeof(port), "service id 0x%016" PRIx64, be64toh(sib->sib_sid));
	snprintf(text, sizeof(text), "%u. %s%s, %s, from %s; RDMA device%s %s%s", number, target, to, port, from,
		 has ? "" : ":", device, no_path);
	cli_branch_print(stdout, cli_screen_width(stdout), 1, true, last, text);
}

static const char *advice(const struct explain *e, const struct cli_answer *answer)
{
	if (!e->sa && (int)answer->code == EAI_SERVICE)
		return "give the port's number; /etc/services has the names of ports";
	switch (-answer->status) {
	case ENOENT:
		if (e->srv)
			return "look at the spelling of service and domain; dig SRV NAME shows what the zone has";
		if (!e->sa && strchr(e->node, '%'))
			return "behind '%' goes an interface of this host, as 'ip link' lists them, and only where the "
			       "address is link-local (fe80::1%eth0); others stand without";
		return e->sa ? "look whether it is published, as 'rai service add' at its host tells; names count "
			       "letter by letter" :
			       "check its spelling, and the search list above; a host that no server knows can be "
			       "added to /etc/hosts";
	case ENODATA:
		if (e->srv)
			return "the name has no SRV records: a service is _NAME._tcp.DOMAIN, or _udp";
		return "it has addresses of another family alone: leave --family out";
	case ETIMEDOUT:
	case EAGAIN:
	case EIO:
	case EBUSY:
		return e->sa ? "rai doctor asks the SA of each port" : "rai doctor asks each name server";
	case EACCES:
		return "rai doctor says which device node needs other permissions";
	case ECANCELED:
		return "ask again";
	default:
		return "rai doctor looks at what this host lacks";
	}
}

static void print_failure(const struct explain *e, const struct cli_answer *answer, bool last)
{
	char text[LINE];
	int width = cli_screen_width(stdout);

	snprintf(text, sizeof(text), "%s%sfailed: %s (-%s)", answer->port ? answer->port : "", answer->port ? ": " : "",
		 answer->text, cli_errno_word(answer->status));
	cli_branch_print(stdout, width, 0, false, last, text);
	snprintf(text, sizeof(text), "what to do: %s", advice(e, answer));
	cli_branch_print(stdout, width, 1, last, true, text);
}

static unsigned list_length(const struct rdma_addrinfo *info)
{
	unsigned count = 0;

	for (; info; info = info->ai_next)
		count++;
	return count;
}

static void print_tree(const struct explain *e, const struct cli_answer *answers, size_t count)
{
	int width = cli_screen_width(stdout);
	unsigned found = 0, number = 0;
	char text[LINE];

	for (size_t i = 0; i < count; i++)
		found += list_length(answers[i].list);
	snprintf(text, sizeof(text), "%s%s%s: %s in %.3f ms", e->sa ? e->sa : e->node, e->service ? " " : "",
		 e->service ? e->service : "", found ? "resolved" : "not resolved", (double)e->took_us / 1000);
	cli_print_wrapped(stdout, width, 0, text);
	cli_steps_print(e->steps, stdout, width);
	for (size_t i = 0; i < count; i++)
		if (!answers[i].list)
			print_failure(e, &answers[i], !found && i + 1 == count);
	if (!found)
		return;
	snprintf(text, sizeof(text), "%u result%s, to be tried in this order", found, found > 1 ? "s" : "");
	cli_branch_print(stdout, width, 0, false, true, text);
	for (size_t i = 0; i < count; i++)
		for (const struct rdma_addrinfo *info = answers[i].list; info; info = info->ai_next) {
			number++;
			print_result(e, number, number == found, info, answers[i].port);
		}
}

static json_t *json_results(const struct explain *e, const struct cli_answer *answers, size_t count)
{
	json_t *results = json_array();
	char to[80], from[80], device[120];

	for (size_t i = 0; i < count; i++)
		for (const struct rdma_addrinfo *info = answers[i].list; info; info = info->ai_next) {
			bool has = device_of(e, info, answers[i].port, device, sizeof(device));
			json_t *json;

			cli_address_word(info->ai_dst_addr, to, sizeof(to));
			cli_address_word(info->ai_src_addr, from, sizeof(from));
			json = json_pack("{s:s, s:i, s:s?, s:s?, s:s?}", "address", to, "port",
					 (int)cli_address_port(info->ai_dst_addr), "source",
					 info->ai_src_addr ? from : NULL, "device", has ? device : NULL,
					 "why_no_device", has ? NULL : device);
			cli_json_add_ib(json, info->ai_dst_addr);
			cli_json_add_srv(json, info);
			json_array_append_new(results, json);
		}
	return results;
}

static int print_json(const struct explain *e, const struct cli_answer *answers, size_t count, int status)
{
	json_t *failures = json_array(), *json;

	for (size_t i = 0; i < count; i++)
		if (!answers[i].list)
			json_array_append_new(failures, json_pack("{s:s?, s:s, s:i, s:s, s:s}", "via", answers[i].port,
					      "status", cli_errno_word(answers[i].status), "errno", -answers[i].status,
					      "text", answers[i].text, "advice", advice(e, &answers[i])));
	json = json_pack("{s:i, s:s?, s:s?, s:b, s:b, s:o, s:o, s:o, s:o}", "version", CLI_JSON_VERSION, "node",
			 e->node, "service", e->sa ? e->sa : e->service, "sa", e->sa != NULL, "srv", (int)e->srv,
			 "time_us", e->took_us < 0 ? json_null() : json_integer(e->took_us), "steps",
			 cli_steps_json(e->steps),
			 "results", json_results(e, answers, count),
			 "failures", failures);
	cli_steps_sum(e->steps, json);
	return cli_print_object(json, JSON_INDENT(2), status);
}

/* ---- Asking ---- */

/* Nothing could be asked: with --json the object says so like any other failure. */
static int explain_unasked(struct explain *e, const char *what, const char *why, int error)
{
	struct cli_answer answer = { .port = e->port, .status = error };

	cli_fail(what, why, CLI_FAILED);
	snprintf(answer.text, sizeof(answer.text), "%s: %s", what, why);
	e->took_us = -1;
	return e->json ? print_json(e, &answer, 1, CLI_FAILED) : CLI_FAILED;
}

static enum cli_exit verdict(const struct cli_answer *answers, size_t count)
{
	enum cli_exit verdict = CLI_NOT_FOUND;

	for (size_t i = 0; i < count; i++) {
		if (answers[i].list)
			return CLI_FOUND;
		if (answers[i].status != -ENOENT && answers[i].status != -ENODATA)
			verdict = CLI_FAILED;
	}
	return verdict;
}

static int explain(struct explain *e)
{
	struct cli_answer answers[CLI_PORTS_MAX] = { 0 };
	struct cli_port ports[CLI_PORTS_MAX];
	char why[CLI_PORTS_WORDS];
	struct cli_question question = {
		.node = e->node, .service = e->sa ? e->sa : e->service, .places = 1,
		.deadline_ms = e->has_timeout ? &e->timeout_ms : NULL,
		.hints = { .ai_flags = (e->sa ? RAI_SA : 0) | (e->srv ? RAI_SRV : 0) | (e->family ? RAI_FAMILY : 0),
			   .ai_family = e->family },
	};
	const char *step;
	int64_t start;
	int rc;

	if (e->sa) {
		rc = cli_ports_choose(e->port, ports, why);
		if (rc == -EINVAL)
			return cli_fail(e->port ? e->port : e->sa, why, CLI_USAGE);
		if (rc < 0)
			return explain_unasked(e, e->port ? e->port : e->sa, why, rc);
		question.ports = ports;
		question.places = (size_t)rc;
	}
	e->steps = cli_steps_watch();
	if (!e->steps)
		return explain_unasked(e, "watching the steps", strerror(errno), -errno);
	start = cli_now_us();
	rc = cli_ask(&question, answers, &step);
	e->took_us = cli_now_us() - start;
	cli_steps_end();
	if (rc < 0)
		return explain_unasked(e, step, rc == -ENODEV ? CLI_NO_DEVICE : strerror(-rc), rc);
	rc = (int)verdict(answers, question.places);
	if (e->json)
		rc = print_json(e, answers, question.places, rc);
	else
		print_tree(e, answers, question.places);
	cli_answers_free(answers, question.places);
	return rc;
}

int cli_explain(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "NODE [SERVICE]\n--srv NODE [SERVICE]\n--sa SERVICE [--port PORT]",
		.doc = "Resolve as programs do, and draw each step with its time as a tree: which source answered, "
		       "what is kept and for how long, why an address comes first, and which RDMA device leads there; "
		       "where it fails, why, and what to do.\v"
		       "Exit status: 0 found, 1 not found, 2 wrong usage, 3 any other failure.",
	};
	struct explain e = { 0 };
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &e))
		return CLI_FAILED;
	setlocale(LC_CTYPE, "");	/* whether the terminal knows lines */
	if (setenv("RAI_DEVICELESS", "1", 0) < 0)
		return cli_fail("environment", strerror(errno), CLI_FAILED);
	e.links = calloc(CLI_LINKS_MAX, sizeof(*e.links));
	if (!e.links)
		return cli_fail("beginning", strerror(errno), CLI_FAILED);
	e.links_count = cli_links_read("/sys", e.links, CLI_LINKS_MAX);
	if (getifaddrs(&e.interfaces) < 0)
		e.interfaces = NULL;
	status = explain(&e);
	freeifaddrs(e.interfaces);
	free(e.links);
	return status;
}
