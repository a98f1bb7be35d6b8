/* SPDX-License-Identifier: BSD-2-Clause */
/* rai doctor: looks at what RDMA programs and names need of this host, and says what mends the rest. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <rdma/rai.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "host.h"
#include "links.h"
#include "loader.h"
#include "nameserver.h"
#include "out.h"
#include "read.h"
#include "screen.h"

enum {
	TIMEOUT_MS = 2000,	/* for each answer of a name server and of the SA */
	INDENT = 18,		/* column where the words begin */
};

struct doctor {
	bool json;
	json_t *checks;
	unsigned counts[CLI_BAD + 1];
	struct cli_link *links;
	size_t count;
};

static const char *const verdicts[] = { "ok", "warning", "failed" };

static void print_finding(const char *check, const struct cli_finding *finding)
{
	static const char *const words[] = { "OK", "WARNING", "FAILED" };
	static const enum cli_colour colours[] = { CLI_GREEN, CLI_YELLOW, CLI_RED };
	int width = cli_screen_width(stdout);
	char text[sizeof(finding->text) + 32], mend[sizeof(finding->mend) + 16];

	if (finding->time_us >= 0 && finding->verdict != CLI_BAD)
		snprintf(text, sizeof(text), "%s, in %.1f ms", finding->text, (double)finding->time_us / 1000);
	else
		snprintf(text, sizeof(text), "%s", finding->text);
	cli_print_coloured(stdout, colours[finding->verdict], words[finding->verdict]);
	printf("%*s%-8s ", (int)(9 - strlen(words[finding->verdict])), "", check);
	cli_print_wrapped(stdout, width, INDENT, text);
	if (finding->mend[0]) {
		snprintf(mend, sizeof(mend), "to mend: %s", finding->mend);
		printf("%*s", INDENT, "");
		cli_print_wrapped(stdout, width, INDENT, mend);
	}
	cli_output_flush();		/* the next one may take seconds */
}

static void tell(struct doctor *doctor, const char *check, const struct cli_finding *finding)
{
	doctor->counts[finding->verdict]++;
	if (!doctor->json) {
		print_finding(check, finding);
		return;
	}
	json_array_append_new(doctor->checks,
			      json_pack("{s:s, s:s, s:s, s:s?, s:o}", "check", check,
					"verdict", verdicts[finding->verdict], "text", finding->text,
					"mend", finding->mend[0] ? finding->mend : NULL, "time_us",
					finding->time_us < 0 ? json_null() : json_integer(finding->time_us)));
}

/* The library of this command, and the one that other programs get. */
static void check_library(struct doctor *doctor)
{
	char own[PATH_MAX], other[PATH_MAX];
	struct cli_finding finding;
	const char *by;
	int rc = cli_library_own(own, sizeof(own));

	if (rc < 0) {
		cli_finding_set(&finding, CLI_WARNING, "rai %s has a library whose file can't be told: %s",
				rai_version(), strerror(-rc));
		tell(doctor, "library", &finding);
		return;
	}
	cli_finding_set(&finding, CLI_OK, "rai has %s, version %s", own, rai_version());
	tell(doctor, "library", &finding);
	rc = cli_library_of_loader(other, sizeof(other), &by);
	if (rc == 0 && cli_library_same(own, other))
		cli_finding_set(&finding, CLI_OK, "other programs have it, too: %s, by %s", other, by);
	else if (rc == 0)
		cli_finding_set(&finding, CLI_WARNING, "other programs have another one: %s, by %s", other, by);
	else if (rc == -ENOENT)
		cli_finding_set(&finding, CLI_WARNING, "other programs find no librdmacm.so.1");
	else
		cli_finding_set(&finding, CLI_WARNING, "which one other programs have can't be told: no ldconfig");
	if (finding.verdict != CLI_OK)
		cli_finding_mend(&finding, "rai run COMMAND");
	tell(doctor, "loader", &finding);
}

static void check_devices(struct doctor *doctor)
{
	struct cli_node *nodes = calloc(CLI_NODES_MAX, sizeof(*nodes));
	struct cli_finding finding;
	struct rlimit limit;
	size_t count = nodes ? cli_host_nodes("", nodes) : 0;

	/* No kernel has its devices: a library under this process plays them. */
	if (getenv("RAI_FABRIC_DIR") && doctor->count > 0)
		cli_finding_set(&finding, CLI_OK,
				"a lab's fabric is simulated and needs none: there are services, but no connections");
	else
		cli_host_modules("", doctor->links, doctor->count, &finding);
	tell(doctor, "modules", &finding);
	if (doctor->count == 0) {
		cli_finding_set(&finding, CLI_WARNING, "no RDMA device: names resolve where RAI_DEVICELESS is 1, and "
				"there are no connections");
		cli_finding_mend(&finding, "load the adapter's driver, or for Soft-RoCE: "
				 "rdma link add rxe0 type rxe netdev INTERFACE");
		tell(doctor, "device", &finding);
	}
	for (size_t i = 0; i < count; i++) {
		cli_host_node("", &nodes[i], &finding);
		tell(doctor, "node", &finding);
	}
	free(nodes);
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		cli_host_memlock(&limit, cli_host_locks_freely(), &finding);
		tell(doctor, "memlock", &finding);
	}
}

/* A question as programs ask it; the status says how it went. */
static int ask(const char *node, const char *service, const struct cli_port *port, char *text, size_t size,
	       int64_t *ret_us)
{
	const uint32_t deadline_ms = TIMEOUT_MS;
	const struct cli_question question = {
		.node = node, .service = service, .hints = { .ai_flags = port ? RAI_SA : 0 },
		.deadline_ms = &deadline_ms, .ports = port, .places = 1,
	};
	struct cli_answer answer = { 0 };
	const char *step;
	int64_t start = cli_now_us();
	int rc = cli_ask(&question, &answer, &step);

	if (rc < 0)
		snprintf(text, size, "%s: %s", step, strerror(-rc));
	else
		snprintf(text, size, "%s", answer.text);
	rc = rc < 0 ? rc : answer.status;
	cli_answers_free(&answer, 1);
	*ret_us = cli_now_us() - start;
	return rc;
}

/* "No such service" is an answer, too. */
static void check_sa(struct doctor *doctor, const struct cli_link *link, const char *name)
{
	struct cli_finding finding;
	struct cli_port port;
	char text[256];
	int64_t took_us = -1;
	int rc = cli_port_find(name, &port);

	if (rc < 0)
		snprintf(text, sizeof(text), "libibumad: %s", strerror(-rc));
	else
		rc = ask(NULL, "rai-doctor", &port, text, sizeof(text), &took_us);
	if (rc == 0 || rc == -ENOENT) {
		cli_finding_set(&finding, CLI_OK, "%s: the SA at LID %u answers", name, link->sm_lid);
	} else {
		cli_finding_set(&finding, CLI_BAD, "%s: %s", name, text);
		cli_finding_mend(&finding, "%s", rc == -EACCES ? "see the node umad above" :
				 "look whether a subnet manager runs: sminfo, systemctl status opensm");
	}
	finding.time_us = took_us;
	tell(doctor, "SA", &finding);
}

static void check_port(struct doctor *doctor, const struct cli_link *link)
{
	const char *no_addresses = cli_link_no_addresses(link), *no_services = cli_link_no_services(link);
	struct cli_finding finding;
	char name[80];

	snprintf(name, sizeof(name), "%s/%u", link->device, link->port);
	if (no_addresses && no_services) {
		cli_finding_set(&finding, CLI_BAD, "%s, %s, %s: %s", name, link->layer, link->state,
				cli_link_is_infiniband(link) ? no_services : no_addresses);
		if (strcmp(link->state, "ACTIVE") == 0)
			cli_finding_mend(&finding, "start a subnet manager in this fabric: opensm");
		else if (link->netdev[0])
			cli_finding_mend(&finding, "ip link set %s up; and see to its cable", link->netdev);
		else
			cli_finding_mend(&finding, "see to its cable; rdma link show %s", name);
	} else {
		cli_finding_set(&finding, CLI_OK, "%s, %s, %s%s%s%s%s", name, link->layer, link->state,
				link->netdev[0] ? ", " : "", link->netdev, no_addresses ? "; addresses no: " : "",
				no_addresses ? no_addresses : "");
	}
	tell(doctor, "port", &finding);
	if (!no_services)
		check_sa(doctor, link, name);
}

static void check_names(struct doctor *doctor)
{
	struct cli_nameserver servers[CLI_NAMESERVERS_MAX];
	struct cli_finding finding;
	char text[256];
	int64_t took_us;
	size_t count;
	int rc;

	cli_host_file("", "/etc/nsswitch.conf", "the hosts file is looked at, then the name servers", &finding);
	tell(doctor, "file", &finding);
	cli_host_file("", "/etc/hosts", "its names go to the name servers", &finding);
	tell(doctor, "file", &finding);
	count = cli_host_nameservers("", servers, &finding);
	tell(doctor, "file", &finding);
	for (size_t i = 0; i < count; i++) {
		cli_nameserver_finding(&servers[i], TIMEOUT_MS, &finding);
		tell(doctor, "server", &finding);
	}
	rc = ask("localhost", NULL, NULL, text, sizeof(text), &took_us);
	if (rc == 0) {
		cli_finding_set(&finding, CLI_OK, "localhost resolves");
	} else {
		cli_finding_set(&finding, CLI_BAD, "%s", text);
		cli_finding_mend(&finding, "rai resolve localhost says more; /etc/hosts should have "
				 "'127.0.0.1 localhost'");
	}
	finding.time_us = took_us;
	tell(doctor, "names", &finding);
}

static int summary(const struct doctor *doctor)
{
	int status = doctor->counts[CLI_BAD] ? CLI_NOT_FOUND : CLI_FOUND;
	json_t *json;

	if (!doctor->json) {
		printf("%u ok, %u warning%s, %u failed\n", doctor->counts[CLI_OK], doctor->counts[CLI_WARNING],
		       doctor->counts[CLI_WARNING] == 1 ? "" : "s", doctor->counts[CLI_BAD]);
		return status;
	}
	json = json_pack("{s:i, s:s, s:i, s:i, s:i, s:O}", "version", CLI_JSON_VERSION,
			 "library_version", rai_version(), "ok", (int)doctor->counts[CLI_OK],
			 "warnings", (int)doctor->counts[CLI_WARNING],
			 "failed", (int)doctor->counts[CLI_BAD], "checks", doctor->checks);
	return cli_print_object(json, JSON_INDENT(2), status);
}

int cli_doctor(int argc, char **argv)
{
	static const char doc[] =
		"Look at what RDMA programs and names need of this host: the library, kernel modules, device nodes, "
		"locked memory, ports and their SA, name servers. Each line is OK, WARNING or FAILED, with what mends "
		"it. Nothing is changed.\v"
		"Exit status: 0 nothing failed, 1 something did, 2 wrong usage, 3 it could not look.";
	struct doctor doctor = { 0 };
	int status = CLI_FAILED;

	if (!cli_read_json_only(argc, argv, doc, &doctor.json))
		return CLI_FAILED;
	doctor.links = calloc(CLI_LINKS_MAX, sizeof(*doctor.links));
	doctor.checks = json_array();
	if (!doctor.links || !doctor.checks || setenv("RAI_DEVICELESS", "1", 0) < 0) {
		status = cli_fail("beginning", strerror(errno), CLI_FAILED);
		goto out;
	}
	doctor.count = cli_links_read("/sys", doctor.links, CLI_LINKS_MAX);
	check_library(&doctor);
	check_devices(&doctor);
	for (size_t i = 0; i < doctor.count; i++)
		check_port(&doctor, &doctor.links[i]);
	check_names(&doctor);
	status = summary(&doctor);
out:
	json_decref(doctor.checks);
	free(doctor.links);
	return status;
}
