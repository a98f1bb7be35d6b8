/* SPDX-License-Identifier: BSD-2-Clause */
/* rai ports: the RDMA ports of this host, as a table with what each has below it, or as JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "links.h"
#include "out.h"
#include "read.h"
#include "screen.h"

static void print_resolves(const char *what, const char *why_not)
{
	enum { INDENT = 14 };
	char text[200];

	snprintf(text, sizeof(text), "%s%s", why_not ? "no: " : "yes", why_not ? why_not : "");
	printf("    %-10s", what);
	cli_print_wrapped(stdout, cli_screen_width(stdout), INDENT, text);
}

static void print_link(const struct cli_link *link, int width)
{
	char name[80], lid[16] = "-";

	snprintf(name, sizeof(name), "%s/%u", link->device, link->port);
	if (link->sm_lid)
		snprintf(lid, sizeof(lid), "%u", link->sm_lid);
	printf("%-*s  %-10s  %-8s  %-6s  %s\n", width, name, link->layer, link->state, lid,
	       link->netdev[0] ? link->netdev : "-");
	for (unsigned i = 0; i < link->gid_count; i++)
		printf("    GID %-5u %s, %s\n", link->gids[i].index, link->gids[i].text, link->gids[i].type);
	print_resolves("addresses", cli_link_no_addresses(link));
	print_resolves("services", cli_link_no_services(link));
}

static void print_table(const struct cli_link *links, size_t count)
{
	int width = (int)strlen("PORT");

	for (size_t i = 0; i < count; i++) {
		int len = snprintf(NULL, 0, "%s/%u", links[i].device, links[i].port);

		width = len > width ? len : width;
	}
	if (count > 0)
		printf("%-*s  %-10s  %-8s  %-6s  %s\n", width, "PORT", "LINK", "STATE", "SM LID", "NETDEV");
	for (size_t i = 0; i < count; i++)
		print_link(&links[i], width);
}

static json_t *json_resolves(const char *why_not)
{
	return json_pack("{s:b, s:s?}", "resolvable", why_not == NULL, "why_not", why_not);
}

static json_t *json_link(const struct cli_link *link)
{
	json_t *gids = json_array();

	for (unsigned i = 0; i < link->gid_count; i++)
		json_array_append_new(gids, json_pack("{s:i, s:s, s:s}", "index", (int)link->gids[i].index,
						      "gid", link->gids[i].text, "type", link->gids[i].type));
	return json_pack("{s:s, s:i, s:s, s:s, s:s?, s:i, s:o, s:o, s:o}", "device", link->device,
			 "port", (int)link->port, "link_layer", link->layer, "state", link->state,
			 "netdev", link->netdev[0] ? link->netdev : NULL, "sm_lid", (int)link->sm_lid, "gids", gids,
			 "addresses", json_resolves(cli_link_no_addresses(link)),
			 "services", json_resolves(cli_link_no_services(link)));
}

static int print_json(const struct cli_link *links, size_t count, int status)
{
	json_t *array = json_array(), *json;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_link(&links[i]));
	json = json_pack("{s:i, s:o}", "version", CLI_JSON_VERSION, "ports", array);
	return cli_print_object(json, JSON_INDENT(2), status);
}

int cli_ports(int argc, char **argv)
{
	static const char doc[] =
		"List the RDMA ports of this host, and whether IP addresses and services of the InfiniBand SA can be "
		"resolved through each.\v"
		"Exit status: 0 there are ports, 1 there are none, 2 wrong usage, 3 any other failure.";
	struct cli_link *links;
	bool json = false;
	size_t count;
	int status;

	if (!cli_read_json_only(argc, argv, doc, &json))
		return CLI_FAILED;
	links = calloc(CLI_LINKS_MAX, sizeof(*links));
	if (!links)
		return cli_fail("beginning", strerror(errno), CLI_FAILED);
	count = cli_links_read("/sys", links, CLI_LINKS_MAX);
	status = count > 0 ? CLI_FOUND : CLI_NOT_FOUND;
	if (json)
		status = print_json(links, count, status);
	else
		print_table(links, count);
	free(links);
	if (count == 0)
		fprintf(stderr, "rai ports: this host has no RDMA device (/sys/class/infiniband has none)\n");
	return status;
}
