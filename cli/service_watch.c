/* SPDX-License-Identifier: BSD-2-Clause */
/* rai service watch: which service records appear, change and vanish at the SA, a line each, until it is stopped. */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "out.h"
#include "read.h"
#include "record.h"
#include "screen.h"
#include "words.h"

enum {
	INTERVAL_MS = 2000,	/* between two rounds, unless told otherwise, */
	INTERVAL_MIN_MS = 100,	/* and at least */
	BEFORE = 20,		/* columns that time and event take */
};

struct watch {
	struct cli_filter filter;
	uint32_t interval_ms;
	int signals;
	struct cli_registry registry;		/* of this round */
	struct cli_port ports[CLI_PORTS_MAX];	/* asked so far, in any round: what bits of records mean here */
	size_t port_count;
	uint64_t told, silent;			/* bits: ports that told in this round; that are known to be silent */
	struct cli_record *known;
	size_t known_count;
	struct cli_record_widths widths;
	bool begun;				/* the first round is over */
};

static const struct argp_option options[] = {
	CLI_FILTER_OPTIONS,
	{ "interval", 'I', "TIME", 0, "Ask so often, every 100ms at most; otherwise every 2 seconds", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON object a line", 0 },
	CLI_OPTION_HELP,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		cli_check_options(state, options, true);
		return 0;
	case 'I':
		watch->interval_ms = cli_read_duration(state, arg);
		if (watch->interval_ms < INTERVAL_MIN_MS)
			argp_error(state, "the SA is asked again after 100ms at least: '%s'", arg);
		return 0;
	case 'h':
		cli_help(state);
		return 0;
	default:
		return cli_filter_parse(state, &watch->filter, key, arg);
	}
}

/* ---- Telling ---- */

static void print_object(const char *event, json_t *json)
{
	char now[CLI_TIME_WORDS];

	cli_time_word(now);
	json_object_set_new(json, "version", json_integer(CLI_JSON_VERSION));
	json_object_set_new(json, "time", json_string(now));
	json_object_set_new(json, "event", json_string(event));
	cli_print_object(json, JSON_COMPACT, 0);
}

static void print_was(const struct rai_service_record *is, const struct rai_service_record *was)
{
	char a[CLI_RECORD_WORDS], b[CLI_RECORD_WORDS];

	if (strcmp(is->name, was->name) != 0)
		printf("%*sits name was %s\n", BEFORE, "", cli_record_name(was, a));
	if (is->lease_s != was->lease_s)
		printf("%*sits lease was %s\n", BEFORE, "", cli_record_lease(was, a));
	if (memcmp(is->data, was->data, sizeof(is->data)) != 0)
		printf("%*sits data were %s, are %s\n", BEFORE, "", cli_record_data(was, a), cli_record_data(is, b));
}

static void watch_tell(const struct watch *watch, const char *event, const struct cli_record *record,
		       const struct rai_service_record *was)
{
	const char *port = watch->ports[cli_record_port(record)].name;
	time_t now = time(NULL);
	char clock[16];
	struct tm tm;
	json_t *json;

	if (watch->filter.json) {
		json = json_pack("{s:o}", "service", cli_record_json(&record->record, port));
		if (json && was)
			json_object_set_new(json, "was", cli_record_json(was, port));
		print_object(event, json);
		return;
	}
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &tm));
	printf("%s  %-8s  ", clock, event);
	cli_record_print(stdout, &watch->widths, &record->record);
	putchar('\n');
	if (was)
		print_was(&record->record, was);
}

static void watch_tell_port(const struct watch *watch, size_t port, const struct cli_answer *failure)
{
	const char *name = watch->ports[port].name, *text = failure ? failure->text : NULL;
	const char *word = failure ? cli_errno_word(failure->status) : NULL;

	if (watch->filter.json)
		print_object(failure ? "unreachable" : "reachable",
			     json_pack("{s:s, s:s?, s:s?}", "port", name, "status", word, "text", text));
	if (failure)
		fprintf(stderr, "rai service watch: %s: %s (-%s)\n", name, text, word);
	else
		fprintf(stderr, "rai service watch: %s: the SA answers again\n", name);
}

/* ---- Rounds ---- */

/* The place of a port that was asked in some round, or a new one; CLI_PORTS_MAX: there is none. */
static size_t watch_port(struct watch *watch, const struct cli_port *port)
{
	for (size_t i = 0; i < watch->port_count; i++)
		if (strcmp(watch->ports[i].name, port->name) == 0)
			return i;
	if (watch->port_count < CLI_PORTS_MAX)
		watch->ports[watch->port_count++] = *port;
	return watch->port_count - 1;
}

/* What is known of ports, and the records' bits as they are here. */
static void watch_take_ports(struct watch *watch)
{
	static const struct cli_answer gone = { .status = -ENETDOWN, .text = "the port is not active" };
	const struct cli_answer *failures[CLI_PORTS_MAX];
	struct cli_registry *registry = &watch->registry;
	size_t place[CLI_PORTS_MAX];

	for (size_t i = 0; i < CLI_PORTS_MAX; i++)
		failures[i] = &gone;
	watch->told = 0;
	for (size_t i = 0; i < registry->port_count; i++) {
		place[i] = watch_port(watch, &registry->ports[i]);
		failures[place[i]] = &registry->answers[i];
		if (cli_registry_told(registry, i))
			watch->told |= UINT64_C(1) << place[i];
	}
	for (size_t i = 0; i < registry->count; i++) {
		uint64_t bits = 0;

		for (size_t p = 0; p < registry->port_count; p++)
			if (registry->records[i].ports >> p & 1)
				bits |= UINT64_C(1) << place[p];
		registry->records[i].ports = bits;
	}
	for (size_t i = 0; i < watch->port_count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (!(watch->told & bit) == !!(watch->silent & bit))
			continue;
		watch_tell_port(watch, i, watch->told & bit ? NULL : failures[i]);
		watch->silent ^= bit;
	}
}

static bool is_changed(const struct rai_service_record *a, const struct rai_service_record *b)
{
	return a->lease_s != b->lease_s || strcmp(a->name, b->name) != 0 ||
	       memcmp(a->data, b->data, sizeof(a->data)) != 0;
}

/* Widths only grow, so that columns stand below one another. */
static void watch_widen(struct watch *watch)
{
	struct cli_record_widths *w = &watch->widths, now;

	cli_record_widths(watch->registry.records, watch->registry.count, cli_screen_width(stdout), BEFORE, &now);
	w->name = now.name > w->name ? now.name : w->name;
	w->gid = now.gid > w->gid ? now.gid : w->gid;
	w->lease = now.lease > w->lease ? now.lease : w->lease;
}

/* Both are sorted alike. What was known through ports that told nothing now is taken along: 0 or -ENOMEM. */
static int watch_compare(struct watch *watch)
{
	const struct cli_registry *registry = &watch->registry;
	struct cli_record *next = calloc(watch->known_count + registry->count + 1, sizeof(*next));
	size_t n = 0, k = 0, count = 0;

	if (!next)
		return -ENOMEM;
	watch_widen(watch);
	while (n < registry->count || k < watch->known_count) {
		struct cli_record *now = n < registry->count ? &registry->records[n] : NULL;
		struct cli_record *before = k < watch->known_count ? &watch->known[k] : NULL;
		int order = !now ? 1 : !before ? -1 : cli_record_compare(&now->record, &before->record);

		n += order <= 0;
		k += order >= 0;
		if (order < 0)
			watch_tell(watch, watch->begun ? "appeared" : "present", now, NULL);
		else if (order == 0 && is_changed(&now->record, &before->record))
			watch_tell(watch, "changed", now, &before->record);
		else if (order > 0 && before->ports & watch->told)
			watch_tell(watch, "vanished", before, NULL);
		if (order <= 0)
			next[count++] = *now;
		else if (!(before->ports & watch->told))
			next[count++] = *before;
	}
	free(watch->known);
	watch->known = next;
	watch->known_count = count;
	return 0;
}

/* The ports that there are now: 0, or an enum cli_exit. */
static int watch_choose_ports(struct watch *watch)
{
	struct cli_registry *registry = &watch->registry;
	int count, error;

	if (watch->begun && !watch->filter.port)
		count = cli_ports_active(registry->ports, CLI_PORTS_MAX);
	else if (!watch->begun)
		count = cli_service_ports(watch->filter.port, registry->ports, &error);
	else
		return 0;
	if (count < 0 && !watch->begun)
		return -count;
	registry->port_count = count > 0 ? (size_t)count : 0;
	return 0;
}

/* 0; -ECANCELED: stopped; another -errno, and *ret_step says what failed. */
static int watch_round(struct watch *watch, const char **ret_step)
{
	int rc = cli_registry_ask(&watch->registry, &watch->filter, watch->signals, ret_step);

	if (rc < 0)
		return rc;
	watch_take_ports(watch);
	*ret_step = "comparing";
	rc = watch_compare(watch);
	cli_output_flush();
	if (rc == 0 && !watch->begun && isatty(STDERR_FILENO) && !watch->filter.json)
		fprintf(stderr, "rai service watch: %zu record%s; waiting for changes, Ctrl-C ends it\n",
			watch->known_count, watch->known_count == 1 ? "" : "s");
	watch->begun = true;
	return rc;
}

/* Until a signal comes, or nobody can be told any more, which is told at the end of the process. */
static int watch_run(struct watch *watch)
{
	struct pollfd stop = { .fd = watch->signals, .events = POLLIN };
	const char *step = "";
	int rc, ready;

	do {
		rc = watch_choose_ports(watch);
		if (rc > 0)
			return rc;
		rc = watch_round(watch, &step);
		if (rc == -ECANCELED)
			return CLI_FOUND;
		if (rc < 0)
			return cli_fail(step, strerror(-rc), CLI_FAILED);
		if (ferror(stdout))
			return CLI_FAILED;
		ready = poll(&stop, 1, watch->interval_ms > INT32_MAX ? INT32_MAX : (int)watch->interval_ms);
	} while (ready == 0 || (ready < 0 && errno == EINTR));
	return ready > 0 ? CLI_FOUND : cli_fail("waiting", strerror(errno), CLI_FAILED);
}

int cli_service_watch(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[SERVICE]",
		.doc = "Tell which service records are present at the SA, and which appear, change and vanish, a line "
		       "each, until stopped by SIGINT (Ctrl-C) or SIGTERM. An SA tells nobody of records, so that it "
		       "is asked again and again.\v"
		       "Exit status: 0 stopped, 2 wrong usage, 3 any other failure.",
	};
	struct watch *watch = calloc(1, sizeof(*watch));
	int status;

	if (!watch)
		return cli_fail("memory", strerror(errno), CLI_FAILED);
	watch->interval_ms = INTERVAL_MS;
	status = argp_parse(&argp, argc, argv, 0, NULL, watch) ? CLI_FAILED : CLI_FOUND;
	watch->signals = cli_signals_open();
	if (watch->signals < 0)
		status = cli_fail("waiting for signals", strerror(errno), CLI_FAILED);
	if (status == CLI_FOUND)
		status = watch_run(watch);
	if (watch->signals >= 0)
		close(watch->signals);
	cli_registry_free(&watch->registry);
	free(watch->known);
	free(watch);
	return status;
}
