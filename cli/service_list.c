/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service list: the service records that the SA has, as a table or as JSON. */
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

static const struct argp_option options[] = {
	CLI_FILTER_OPTIONS,
	{ "json", 'j', NULL, 0, "Print one JSON object", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT) {
		cli_check_options(state, options, true);
		return 0;
	}
	if (key == 'h') {
		cli_help(state);
		return 0;
	}
	return cli_filter_parse(state, state->input, key, arg);
}

static void print_table(const struct cli_registry *registry)
{
	struct cli_record_widths widths;

	if (registry->count == 0)
		return;
	cli_record_widths(registry->records, registry->count, cli_screen_width(stdout), 0, &widths);
	cli_record_print(stdout, &widths, NULL);
	putchar('\n');
	for (size_t i = 0; i < registry->count; i++) {
		cli_record_print(stdout, &widths, &registry->records[i].record);
		putchar('\n');
	}
	if (registry->found > registry->count)
		printf("%zu of %llu records\n", registry->count, (unsigned long long)registry->found);
}

static json_t *json_failures(const struct cli_registry *registry)
{
	json_t *failures = json_array();

	for (size_t i = 0; i < registry->port_count; i++) {
		const struct cli_answer *answer = &registry->answers[i];

		if (!cli_registry_told(registry, i))
			json_array_append_new(failures,
					      json_pack("{s:s, s:s, s:i, s:s}", "port", registry->ports[i].name,
							"status", cli_errno_word(answer->status), "errno",
							-answer->status, "text", answer->text));
	}
	return failures;
}

static int print_json(const struct cli_registry *registry, json_t *failures, int status)
{
	json_t *records = json_array(), *json;

	for (size_t i = 0; i < registry->count; i++) {
		const struct cli_record *record = &registry->records[i];

		json_array_append_new(records, cli_record_json(&record->record,
							       registry->ports[cli_record_port(record)].name));
	}
	json = json_pack("{s:i, s:I, s:o, s:o}", "version", CLI_JSON_VERSION, "found", (json_int_t)registry->found,
			 "services", records, "failures", failures);
	return cli_print_object(json, JSON_INDENT(2), status);
}

/* Nothing could be asked: with --json the object says so like any other failure. */
static int list_unasked(const struct cli_filter *filter, const char *why, int error, int status)
{
	struct cli_registry nothing = { .port_count = 0 };
	json_t *failures = json_pack("[{s:s?, s:s, s:i, s:s}]", "port", filter->port, "status",
				     cli_errno_word(-error), "errno", error, "text", why);

	if (filter->json && status != CLI_USAGE)
		return print_json(&nothing, failures, status);
	json_decref(failures);
	return status;
}

static int list_complain(const struct cli_registry *registry)
{
	int status = registry->count > 0 ? CLI_FOUND : CLI_NOT_FOUND;

	for (size_t i = 0; i < registry->port_count; i++) {
		const struct cli_answer *answer = &registry->answers[i];

		if (cli_registry_told(registry, i))
			continue;
		fprintf(stderr, "rai service list: %s: %s (-%s)\n", registry->ports[i].name, answer->text,
			cli_errno_word(answer->status));
		if (registry->count == 0)
			status = CLI_FAILED;
	}
	if (status == CLI_NOT_FOUND)
		fprintf(stderr, "rai service list: the SA shows no such record\n");
	return status;
}

static int list(const struct cli_filter *filter, struct cli_registry *registry)
{
	const char *step;
	int error, rc, status;

	rc = cli_service_ports(filter->port, registry->ports, &error);
	if (rc < 0)
		return list_unasked(filter, "no InfiniBand port to ask through", error, -rc);
	registry->port_count = (size_t)rc;
	rc = cli_registry_ask(registry, filter, 0, &step);
	if (rc < 0) {
		cli_fail(step, strerror(-rc), CLI_FAILED);
		return list_unasked(filter, step, -rc, CLI_FAILED);
	}
	qsort(registry->records, registry->count, sizeof(*registry->records), cli_record_compare_names);
	status = list_complain(registry);
	if (filter->json)
		return print_json(registry, json_failures(registry), status);
	print_table(registry);
	return status;
}

int cli_service_list(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[SERVICE]",
		.doc = "List the service records that the SA shows to this host: all, or those of SERVICE, a name, or "
		       "a number in C notation, which is a service id.\v"
		       "Exit status: 0 there are records, 1 there are none, 2 wrong usage, 3 any other failure.",
	};
	struct cli_registry *registry;
	struct cli_filter filter = { 0 };
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &filter))
		return CLI_FAILED;
	registry = calloc(1, sizeof(*registry));
	if (!registry)
		return cli_fail("memory", strerror(errno), CLI_FAILED);
	status = list(&filter, registry);
	cli_registry_free(registry);
	free(registry);
	return status;
}
