/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service rm: removes service records from the SA, those of this host or, where that is forced, of any. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "out.h"
#include "read.h"
#include "record.h"
#include "screen.h"
#include "words.h"

struct removal {
	struct cli_filter filter;
	bool force;
	struct cli_registry registry;
	struct cli_port own[CLI_PORTS_MAX];
	size_t own_count;
	size_t removed, left, failed;
	json_t *removed_json, *left_json, *failed_json;
};

static const struct argp_option options[] = {
	CLI_FILTER_OPTIONS,
	{ "force", 'f', NULL, 0, "Remove records of other hosts, too", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct removal *removal = state->input;
	const struct cli_filter *filter = &removal->filter;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 'f':
		removal->force = true;
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	case ARGP_KEY_END:
		if (!filter->by_service && !filter->by_name && !filter->by_id)
			argp_error(state, "which record? SERVICE, --name or --id is missing; 'rai service list' has "
				   "them");
		return cli_filter_parse(state, &removal->filter, key, arg);
	default:
		return cli_filter_parse(state, &removal->filter, key, arg);
	}
}

/* Of a port of this host, up or not. */
static bool is_own(const struct removal *removal, const struct rai_service_record *record)
{
	for (size_t i = 0; i < removal->own_count; i++)
		if (memcmp(removal->own[i].gid.sib_addr.sib_raw, record->gid, sizeof(record->gid)) == 0)
			return true;
	return false;
}

static void removal_note(struct removal *removal, json_t *array, const struct cli_record *record,
			 const struct cli_answer *answer)
{
	json_t *json;

	if (!removal->filter.json)
		return;
	json = cli_record_json(&record->record, removal->registry.ports[cli_record_port(record)].name);
	if (json && answer) {
		json_object_set_new(json, "status", json_string(cli_errno_word(answer->status)));
		json_object_set_new(json, "errno", json_integer(-answer->status));
		json_object_set_new(json, "text", json_string(answer->text));
	}
	json_array_append_new(array, json);
}

/* Of a port through which nothing was told; NULL: of none. */
static void removal_note_port(const struct removal *removal, const char *port, int status, const char *text)
{
	json_array_append_new(removal->failed_json, json_pack("{s:s?, s:s, s:i, s:s}", "port", port, "status",
							      cli_errno_word(status), "errno", -status, "text", text));
}

static void removal_print(const struct removal *removal, const struct cli_record_widths *widths,
			  const struct cli_record *record, const char *what)
{
	if (removal->filter.json)
		return;
	printf("%-8s  ", what);
	cli_record_print(stdout, widths, &record->record);
	putchar('\n');
}

/* One that is gone meanwhile is removed, whoever did that. */
static int remove_one(struct removal *removal, const struct cli_record_widths *widths, const struct cli_record *record)
{
	struct cli_answer answer;
	const char *step;
	int rc = cli_registry_remove(&removal->registry, cli_record_port(record), &record->record, &removal->filter,
				     &answer, &step);

	if (rc < 0)
		return cli_fail(step, strerror(-rc), CLI_FAILED);
	if (answer.status == 0 || answer.status == -ENOENT) {
		removal->removed++;
		removal_note(removal, removal->removed_json, record, NULL);
		removal_print(removal, widths, record, "removed");
		return 0;
	}
	removal->failed++;
	removal_note(removal, removal->failed_json, record, &answer);
	fprintf(stderr, "rai service rm: 0x%016llx: %s (-%s)\n", (unsigned long long)record->record.id, answer.text,
		cli_errno_word(answer.status));
	return 0;
}

static int remove_all(struct removal *removal)
{
	struct cli_registry *registry = &removal->registry;
	struct cli_record_widths widths;
	int rc = 0;

	cli_record_widths(registry->records, registry->count, cli_screen_width(stdout), 10, &widths);
	for (size_t i = 0; i < registry->count && rc == 0; i++) {
		const struct cli_record *record = &registry->records[i];

		if (removal->force || is_own(removal, &record->record)) {
			rc = remove_one(removal, &widths, record);
			continue;
		}
		removal->left++;
		removal_note(removal, removal->left_json, record, NULL);
		removal_print(removal, &widths, record, "left");
	}
	return rc;
}

static int print_json(const struct removal *removal, int status)
{
	json_t *json = json_pack("{s:i, s:O, s:O, s:O}", "version", CLI_JSON_VERSION, "removed", removal->removed_json,
				 "left", removal->left_json, "failures", removal->failed_json);

	return cli_print_object(json, JSON_INDENT(2), status);
}

/* Nothing could be asked: with --json the object says so like any other failure. */
static int removal_unasked(const struct removal *removal, const char *why, int error, int status)
{
	if (!removal->filter.json || status == CLI_USAGE)
		return status;
	removal_note_port(removal, removal->filter.port, -error, why);
	return print_json(removal, status);
}

static int verdict(const struct removal *removal)
{
	const struct cli_registry *registry = &removal->registry;
	int status = CLI_FOUND;

	for (size_t i = 0; i < registry->port_count; i++) {
		if (cli_registry_told(registry, i))
			continue;
		fprintf(stderr, "rai service rm: %s: %s (-%s)\n", registry->ports[i].name, registry->answers[i].text,
			cli_errno_word(registry->answers[i].status));
		removal_note_port(removal, registry->ports[i].name, registry->answers[i].status,
				  registry->answers[i].text);
		status = CLI_FAILED;
	}
	if (status == CLI_FOUND && registry->count == 0) {
		fprintf(stderr, "rai service rm: the SA shows no such record\n");
		return CLI_NOT_FOUND;
	}
	if (removal->left > 0)
		fprintf(stderr, "rai service rm: %zu record%s of other hosts %s left; --force removes %s\n",
			removal->left, removal->left == 1 ? "" : "s", removal->left == 1 ? "is" : "are",
			removal->left == 1 ? "it" : "them");
	return removal->left > 0 || removal->failed > 0 ? CLI_FAILED : status;
}

static int removal_run(struct removal *removal)
{
	struct cli_registry *registry = &removal->registry;
	const char *step;
	int error, rc, status;

	rc = cli_service_ports(removal->filter.port, registry->ports, &error);
	if (rc < 0)
		return removal_unasked(removal, "no InfiniBand port to ask through", error, -rc);
	registry->port_count = (size_t)rc;
	rc = cli_ports_all(removal->own, CLI_PORTS_MAX);
	removal->own_count = rc > 0 ? (size_t)rc : 0;
	rc = cli_registry_ask(registry, &removal->filter, 0, &step);
	if (rc < 0) {
		cli_fail(step, strerror(-rc), CLI_FAILED);
		return removal_unasked(removal, step, -rc, CLI_FAILED);
	}
	rc = remove_all(removal);
	if (rc > 0)
		return rc;
	status = verdict(removal);
	return removal->filter.json ? print_json(removal, status) : status;
}

int cli_service_rm(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "SERVICE",
		.doc = "Remove the records of SERVICE, a name or a service id, that offer it at a port of this host. A "
		       "publisher that still runs sets its record again. With --force records of other hosts are "
		       "removed, too: OpenSM lets any host do that, and no key protects a record.\v"
		       "Exit status: 0 removed, 1 there is no such record, 2 wrong usage, 3 records are left, or "
		       "any other failure.",
	};
	struct removal *removal = calloc(1, sizeof(*removal));
	int status = CLI_FAILED;

	if (!removal)
		return cli_fail("memory", strerror(errno), CLI_FAILED);
	removal->removed_json = json_array();
	removal->left_json = json_array();
	removal->failed_json = json_array();
	if (argp_parse(&argp, argc, argv, 0, NULL, removal) == 0)
		status = removal_run(removal);
	json_decref(removal->removed_json);
	json_decref(removal->left_json);
	json_decref(removal->failed_json);
	cli_registry_free(&removal->registry);
	free(removal);
	return status;
}
