/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as a table: a column a field, as wide as its widest word. */
#include "out.h"

#include <endian.h>
#include <infiniband/ib.h>
#include <inttypes.h>
#include <rdma/rai.h>
#include <string.h>
#include <strings.h>

#include "screen.h"
#include "words.h"

enum { CELL = 260, COLUMNS = 9 };	/* a target has 255 bytes */

/* Where an entry points to; with RAI_PASSIVE that is its source. */
static const struct sockaddr *target(const struct rdma_addrinfo *info)
{
	return info->ai_dst_addr ? info->ai_dst_addr : info->ai_src_addr;
}

static void cell_family(const struct rdma_addrinfo *info, char *cell)
{
	snprintf(cell, CELL, "%s", cli_family_word(info->ai_family));
}

static void cell_dst(const struct rdma_addrinfo *info, char *cell)
{
	cli_address_word(info->ai_dst_addr, cell, CELL);
}

static void cell_src(const struct rdma_addrinfo *info, char *cell)
{
	cli_address_word(info->ai_src_addr, cell, CELL);
}

static void cell_port(const struct rdma_addrinfo *info, char *cell)
{
	snprintf(cell, CELL, "%u", cli_address_port(target(info)));
}

static void cell_pkey(const struct rdma_addrinfo *info, char *cell)
{
	const struct sockaddr_ib *sib = (const void *)target(info);

	snprintf(cell, CELL, "0x%04x", be16toh(sib->sib_pkey));
}

static void cell_service_id(const struct rdma_addrinfo *info, char *cell)
{
	const struct sockaddr_ib *sib = (const void *)target(info);

	snprintf(cell, CELL, "0x%016" PRIx64, (uint64_t)be64toh(sib->sib_sid));
}

static void cell_qp(const struct rdma_addrinfo *info, char *cell)
{
	snprintf(cell, CELL, "%s", cli_qp_type_word(info->ai_qp_type));
}

static void cell_space(const struct rdma_addrinfo *info, char *cell)
{
	snprintf(cell, CELL, "%s", cli_port_space_word(info->ai_port_space));
}

static void cell_priority(const struct rdma_addrinfo *info, char *cell)
{
	struct rai_srv_record record = { 0 };

	rai_addrinfo_srv(info, &record);
	snprintf(cell, CELL, "%u", record.priority);
}

static void cell_weight(const struct rdma_addrinfo *info, char *cell)
{
	struct rai_srv_record record = { 0 };

	rai_addrinfo_srv(info, &record);
	snprintf(cell, CELL, "%u", record.weight);
}

static void cell_target(const struct rdma_addrinfo *info, char *cell)
{
	snprintf(cell, CELL, "%s", info->ai_dst_canonname);
}

struct column {
	const char *head;
	void (*cell)(const struct rdma_addrinfo *info, char *cell);
	const char *below;	/* what it is called on a line of its own; NULL: it never has one */
};

static const struct column ip_columns[] = {
	{ "FAMILY", cell_family }, { "DESTINATION", cell_dst }, { "PORT", cell_port }, { "QP", cell_qp },
	{ "SPACE", cell_space }, { "SOURCE", cell_src, "from" }, { 0 },
};

static const struct column srv_columns[] = {
	{ "PRIORITY", cell_priority }, { "WEIGHT", cell_weight }, { "TARGET", cell_target, "of" },
	{ "DESTINATION", cell_dst }, { "PORT", cell_port }, { "QP", cell_qp }, { "SPACE", cell_space },
	{ "SOURCE", cell_src, "from" }, { 0 },
};

static const struct column ib_columns[] = {
	{ "FAMILY", cell_family }, { "DESTINATION", cell_dst }, { "P_KEY", cell_pkey },
	{ "SERVICE ID", cell_service_id, "service id" }, { "QP", cell_qp }, { "SPACE", cell_space },
	{ "SOURCE", cell_src, "from" }, { 0 },
};

/* Columns with their widths; below: it has a line of its own, as the screen is narrower than all. */
struct table {
	const struct column *columns;
	int width[COLUMNS];
	int screen;		/* 0: of any width */
	bool below[COLUMNS];
	int last;		/* of those that aren't */
};

/* From the last on, until the others fit. */
static void table_fold(struct table *table, int all)
{
	int count = 0;

	while (table->columns[count].head)
		count++;
	for (int c = count - 1; c >= 0 && table->screen > 0 && all > table->screen; c--) {
		if (!table->columns[c].below)
			continue;
		table->below[c] = true;
		all -= table->width[c] + 2;
	}
	table->last = count - 1;
	while (table->below[table->last])
		table->last--;
}

static void table_init(struct table *table, const struct column *columns, const struct cli_report *report)
{
	char cell[CELL];
	int all = 0;

	*table = (struct table) { .columns = columns, .screen = report->screen };
	for (int c = 0; columns[c].head; c++) {
		table->width[c] = (int)strlen(columns[c].head);
		for (size_t i = 0; i < report->count; i++)
			for (const struct rdma_addrinfo *info = report->answers[i].list; info;
			     info = info->ai_next) {
				columns[c].cell(info, cell);
				if ((int)strlen(cell) > table->width[c])
					table->width[c] = (int)strlen(cell);
			}
		all += table->width[c] + (c ? 2 : 0);
	}
	table_fold(table, all);
}

/* The last column of a line is not padded: no line ends in spaces. info NULL: the heads. */
static void print_row(FILE *out, const struct table *table, const struct rdma_addrinfo *info)
{
	const struct column *columns = table->columns;
	char cell[CELL];

	for (int c = 0; columns[c].head; c++) {
		bool ends = c == table->last;

		if (table->below[c])
			continue;
		snprintf(cell, CELL, "%s", columns[c].head);
		if (info)
			columns[c].cell(info, cell);
		fprintf(out, "%-*s%s", ends ? 0 : table->width[c], cell, ends ? "\n" : "  ");
	}
	for (int c = 0; info && columns[c].head; c++) {
		if (!table->below[c])
			continue;
		columns[c].cell(info, cell);
		if (strcmp(cell, "-") != 0)
			fprintf(out, "    %s %s\n", columns[c].below, cell);
	}
}

static void print_path(FILE *out, int screen, const struct ibv_path_data *data)
{
	enum { INDENT = 10 };
	char mtu[16] = "?", rate[32] = "?", text[256];
	struct cli_path path;

	cli_path_read(data, &path);
	snprintf(text, sizeof(text), "%s -> %s", path.sgid, path.dgid);
	fputs("    path  ", out);
	cli_print_wrapped(out, screen, INDENT, text);
	if (path.mtu)
		snprintf(mtu, sizeof(mtu), "%u", path.mtu);
	if (path.rate > 0)
		snprintf(rate, sizeof(rate), "%g Gb/s", path.rate);
	snprintf(text, sizeof(text), "SLID %u, DLID %u, SL %u, P_Key 0x%04x, MTU %s, rate %s, lifetime %.3g s, %s",
		 path.slid, path.dlid, path.sl, path.pkey, mtu, rate, path.lifetime,
		 path.reversible ? "reversible" : "one way");
	fprintf(out, "%*s", INDENT, "");
	cli_print_wrapped(out, screen, INDENT, text);
	snprintf(text, sizeof(text),
		 "flow label 0x%05x, traffic class %u, hop limit %u, QoS class %u, preference %u%s%s", path.flow_label,
		 path.traffic_class, path.hop_limit, path.qos_class, path.preference,
		 path.flags[0] ? "; " : "", path.flags);
	fprintf(out, "%*s", INDENT, "");
	cli_print_wrapped(out, screen, INDENT, text);
}

static void print_no_path(FILE *out, int screen)
{
	enum { INDENT = 10 };

	fputs("    path  ", out);
	cli_print_wrapped(out, screen, INDENT, CLI_NO_PATH);
}

static void print_list(FILE *out, const struct table *table, bool sa, const struct rdma_addrinfo *list)
{
	for (const struct rdma_addrinfo *info = list; info; info = info->ai_next) {
		const struct ibv_path_data *route = info->ai_route;

		print_row(out, table, info);
		for (size_t i = 0; i < info->ai_route_len / sizeof(*route); i++)
			print_path(out, table->screen, &route[i]);
		if (sa && !info->ai_route_len)
			print_no_path(out, table->screen);
	}
}

static const struct rdma_addrinfo *first_result(const struct cli_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->answers[i].list)
			return report->answers[i].list;
	return NULL;
}

/* Canonical names come from the network: nothing of them may reach a terminal as a command. */
static void print_tame(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

static void print_title(FILE *out, const struct cli_report *report, const struct rdma_addrinfo *first)
{
	const char *canon = first->ai_dst_canonname ? first->ai_dst_canonname : first->ai_src_canonname;
	const char *noun = report->sa ? "service record" : "address";
	const char *plural = report->sa ? "s" : "es";
	uint64_t found = 0, shown = 0;

	for (size_t i = 0; i < report->count; i++) {
		found += report->answers[i].list ? report->answers[i].found : 0;
		for (const struct rdma_addrinfo *info = report->answers[i].list; info; info = info->ai_next)
			shown++;
	}
	fprintf(out, "%s: ", report->node ? report->node : report->sa ? report->service : "wildcard");
	if (found > shown)
		fprintf(out, "%" PRIu64 " of ", shown);
	fprintf(out, "%" PRIu64 " %s%s", found, noun, found == 1 ? "" : plural);
	if (report->srv && report->service)
		fprintf(out, " of service %s", report->service);
	/* A target has a column; and a name that is its own canonical one, or a service's, is told already. */
	if (report->srv || (canon && strcasecmp(canon, report->node ? report->node : report->service) == 0))
		canon = NULL;
	if (canon)
		fputs(report->sa ? ", name " : ", canonical name ", out);
	print_tame(out, canon ? canon : "");
	fputc('\n', out);
}

void cli_print_text(FILE *out, const struct cli_report *report)
{
	const struct rdma_addrinfo *first = first_result(report);
	struct table table;

	if (!first)
		return;
	table_init(&table, report->srv ? srv_columns : first->ai_family == AF_IB ? ib_columns : ip_columns, report);
	print_title(out, report, first);
	print_row(out, &table, NULL);
	for (size_t i = 0; i < report->count; i++)
		print_list(out, &table, report->sa, report->answers[i].list);
}

/* Whether a result before this one has its address; the port of a service or a connection makes no other. */
static bool is_told(const struct cli_report *report, const struct rdma_addrinfo *last, const char *word)
{
	char before[CELL];

	for (size_t i = 0; i < report->count; i++)
		for (const struct rdma_addrinfo *info = report->answers[i].list; info; info = info->ai_next) {
			if (info == last)
				return false;
			cli_address_word(target(info), before, CELL);
			if (strcmp(before, word) == 0)
				return true;
		}
	return false;
}

void cli_print_short(FILE *out, const struct cli_report *report)
{
	char cell[CELL];

	for (size_t i = 0; i < report->count; i++)
		for (const struct rdma_addrinfo *info = report->answers[i].list; info; info = info->ai_next) {
			cli_address_word(target(info), cell, CELL);
			if (!is_told(report, info, cell))
				fprintf(out, "%s\n", cell);
		}
}
