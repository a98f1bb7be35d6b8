/* SPDX-License-Identifier: BSD-2-Clause */
/* rai resolve of many. */
#include "bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rai.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "lines.h"
#include "read.h"
#include "tally.h"
#include "words.h"

enum { SHOWN_MS = 100, EXIT_SIGNAL = 128 };

struct item {
	struct cli_answer answer;	/* first: the id's context */
	TAILQ_ENTRY(item) entry;
	struct rdma_cm_id *id;
	char *node, *service;
	char *last;			/* watched: what was printed of it last */
	int64_t began_us, took_us;
	bool done;			/* answered and not printed */
};

TAILQ_HEAD(items, item);

struct course {
	const struct cli_bulk *bulk;
	struct rdma_event_channel *channel;
	struct cli_lines lines;
	struct items items;		/* in order; watched ones stay */
	struct item *next;		/* watched: which is to be asked next in this round; NULL: all were */
	struct cli_tally tally;
	size_t count;			/* of items */
	unsigned under_way, held;	/* questions; answers that wait for their turn to be printed */
	unsigned wrong;			/* lines that are no question */
	int64_t round_us;		/* watched: when this round began */
	bool rounds;			/* the first is over */
	int signals, signal;
};

/* ---- What is printed ---- */

static void item_report(const struct course *course, const struct item *item, struct cli_report *ret_report)
{
	*ret_report = (struct cli_report) {
		.node = item->node, .service = item->service, .sa = course->bulk->sa,
		.srv = course->bulk->question.hints.ai_flags & RAI_SRV, .answers = &item->answer, .count = 1,
		.took_us = item->took_us, .line = true,
	};
}

static const char *item_name(const struct item *item)
{
	return item->node ? item->node : item->service;
}

/* "192.0.2.1 192.0.2.2", sorted where they are compared, or "-: why". NULL: no memory. */
static char *item_words(const struct course *course, const struct item *item)
{
	struct cli_report report;
	char *words = NULL, *c;
	size_t size;
	FILE *out;

	if (!item->answer.list)
		return asprintf(&words, "-: %s (-%s)", item->answer.text, cli_errno_word(item->answer.status)) < 0 ?
		       NULL : words;
	out = open_memstream(&words, &size);
	if (!out)
		return NULL;
	item_report(course, item, &report);
	cli_print_short(out, &report);
	fclose(out);
	for (c = words; c && *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : 0;
	return words;
}

static void print_line(const struct course *course, const struct item *item, const char *words)
{
	char when[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (course->rounds && localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%H:%M:%S ", &tm);
	if (!course->bulk->brief || !item->answer.list) {
		printf("%s%s %s\n", when, item_name(item), words);
		return;
	}
	for (const char *address = words; *address; address += strspn(address, " ")) {
		int len = (int)strcspn(address, " ");

		printf("%s %.*s\n", item_name(item), len, address);
		address += len;
	}
}

static int word_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same addresses in another order are no change. */
static char *words_sorted(const char *words)
{
	size_t count = 0, room = strlen(words) + 1;
	char *copy = strdup(words), *sorted = calloc(1, room + 1), *left, *word;
	char **all = calloc(room, sizeof(*all));

	if (copy && sorted && all) {
		for (word = strtok_r(copy, " ", &left); word; word = strtok_r(NULL, " ", &left))
			all[count++] = word;
		qsort(all, count, sizeof(*all), word_compare);
		for (size_t i = 0; i < count; i++)
			strcat(strcat(sorted, i ? " " : ""), all[i]);
	}
	free(copy);
	free(all);
	return sorted;
}

/* Whether it is another than was printed before. */
static bool item_changed(const struct course *course, struct item *item, const char *words)
{
	char *sorted;
	bool changed;

	if (!course->bulk->watch_ms)
		return true;
	/* Why there is none may come in other words each time; that there is none is what counts. */
	sorted = item->answer.list ? words_sorted(words) : strdup(cli_errno_word(item->answer.status));
	if (!sorted)
		return true;
	changed = !item->last || strcmp(item->last, sorted) != 0;
	free(item->last);
	item->last = sorted;
	return changed;
}

static void item_print(struct course *course, struct item *item)
{
	char *words = item_words(course, item);
	struct cli_report report;

	if (words && item_changed(course, item, words)) {
		if (isatty(STDOUT_FILENO))
			cli_tally_wipe(&course->tally);
		item_report(course, item, &report);
		if (course->bulk->json)
			cli_print_json(&report, 0);
		else
			print_line(course, item, words);
	}
	free(words);
	cli_answers_free(&item->answer, 1);
	item->answer = (struct cli_answer) { 0 };
	item->done = false;
	course->held--;
}

static void item_free(struct course *course, struct item *item)
{
	TAILQ_REMOVE(&course->items, item, entry);
	course->count--;
	if (item->id)
		rdma_destroy_id(item->id);
	cli_answers_free(&item->answer, 1);
	free(item->node);
	free(item->service);
	free(item->last);
	free(item);
}

static void item_finish(struct course *course, struct item *item)
{
	item_print(course, item);
	if (!course->bulk->watch_ms)
		item_free(course, item);
}

/* In order, as far as there is nobody in front that isn't answered; all: whatever is answered. */
static void print_answered(struct course *course, bool all)
{
	struct item *item, *next;

	for (item = TAILQ_FIRST(&course->items); item && course->held > 0; item = next) {
		next = TAILQ_NEXT(item, entry);
		if (item->done)
			item_finish(course, item);
		else if (!all && item->id)
			break;
	}
}

/* ---- Asking ---- */

static void item_answered(struct course *course, struct item *item)
{
	item->id = NULL;
	item->done = true;
	course->held++;
	cli_tally_add(&course->tally, item->answer.status, item->took_us);
}

static void item_ask(struct course *course, struct item *item)
{
	struct cli_question question = course->bulk->question;

	question.node = item->node;
	question.service = item->service;
	item->answer = (struct cli_answer) { .port = question.ports ? question.ports[0].name : NULL };
	item->began_us = cli_now_us();
	item->took_us = 0;
	if (cli_question_start(course->channel, &question, 0, &item->answer, &item->id)) {
		course->under_way++;
		return;
	}
	item_answered(course, item);
}

/* Ids of those that are answered go at once, so that none waits for its turn. */
static int take_answers(struct course *course)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(course->channel, &event) == 0) {
		struct item *item = event->id->context;

		if (!cli_answer_take(event)) {
			rdma_ack_cm_event(event);
			continue;
		}
		rdma_ack_cm_event(event);
		item->took_us = cli_now_us() - item->began_us;
		rdma_destroy_id(item->id);
		item_answered(course, item);
		course->under_way--;
		if (course->bulk->unordered)
			item_finish(course, item);
	}
	return errno == EAGAIN ? 0 : -errno;
}

/* A line "NODE [SERVICE]", or the name of a service of the SA. NULL: there is nothing in it, or no sense. */
static struct item *item_read(struct course *course, char *line)
{
	char *left, *node = strtok_r(line, " \t\r", &left), *service = strtok_r(NULL, " \t\r", &left);
	const char *why = NULL;
	char hint[CLI_NODE_WHY];
	struct item *item;

	if (!node || *node == '#')
		return NULL;
	if (course->bulk->sa ? service != NULL : service && strtok_r(NULL, " \t\r", &left))
		why = course->bulk->sa ? "more than one SERVICE" : "more than NODE and SERVICE";
	else if (!cli_is_question(&course->bulk->question.hints, node, service, hint, sizeof(hint)))
		why = hint;
	if (why) {
		cli_tally_wipe(&course->tally);
		fprintf(stderr, "rai resolve: line %u: %s\n", course->lines.number, why);
		course->wrong++;
		return NULL;
	}
	item = calloc(1, sizeof(*item));
	if (!item)
		return NULL;
	if (course->bulk->sa)
		item->service = strdup(node);
	else
		item->node = strdup(node);
	if (service)
		item->service = strdup(service);
	return item;
}

static void item_add(struct course *course, struct item *item)
{
	TAILQ_INSERT_TAIL(&course->items, item, entry);
	course->count++;
	item_ask(course, item);
}

static bool has_room(const struct course *course)
{
	return course->under_way + course->held < course->bulk->window;
}

/* Takes lines while there is room: 0; 1: there is nothing to be had now; -EPIPE: no more come; other -errno. */
static int read_lines(struct course *course)
{
	struct item *item;
	char *line;
	int rc = 0;

	while (has_room(course) && rc == 0) {
		if (course->bulk->watch_ms && course->count == CLI_WATCHED_MAX) {
			fprintf(stderr, "rai resolve: %d names are watched, and no more\n", CLI_WATCHED_MAX);
			cli_lines_close(&course->lines);
			return -EPIPE;
		}
		rc = cli_lines_next(&course->lines, &line);
		if (rc == -EMSGSIZE) {
			fprintf(stderr, "rai resolve: line %u: longer than %d bytes\n", course->lines.number,
				CLI_LINE_MAX);
			course->wrong++;
			rc = 0;
			continue;
		}
		if (rc == -EILSEQ) {
			fprintf(stderr, "rai resolve: line %u: a NUL in it\n", course->lines.number);
			course->wrong++;
			rc = 0;
			continue;
		}
		if (rc != 1)
			return rc == 0 ? 1 : rc;
		rc = 0;
		item = item_read(course, line);
		if (item)
			item_add(course, item);
	}
	return rc;
}

static const char *name_of_input(const struct cli_bulk *bulk)
{
	return strcmp(bulk->file, "-") == 0 ? "the standard input" : bulk->file;
}

/* How much of a file was read, less what is still under way. */
static double share_done(const struct course *course)
{
	double done = (double)cli_tally_all(&course->tally);

	if (course->lines.size <= 0 || done <= 0)
		return 0;
	return (double)course->lines.taken / (double)course->lines.size * done / (done + course->under_way);
}

/* Of a round. */
static void ask_again(struct course *course)
{
	while (course->next && has_room(course)) {
		struct item *item = course->next;

		course->next = TAILQ_NEXT(item, entry);
		item_ask(course, item);
	}
}

static bool round_is_over(const struct course *course)
{
	return !course->next && course->under_way == 0 && course->held == 0;
}

/* ms until something is to be done that no descriptor tells of; -1: nothing. */
static int round_wait(struct course *course, bool reading)
{
	int64_t left;

	if (reading || !round_is_over(course))
		return SHOWN_MS;
	left = course->round_us + (int64_t)course->bulk->watch_ms * 1000 - cli_now_us();
	if (left > 0)
		return (int)(left / 1000) + 1;
	course->rounds = true;
	course->round_us = cli_now_us();
	course->next = TAILQ_FIRST(&course->items);
	ask_again(course);
	return SHOWN_MS;
}

static int wait_for(struct course *course, bool want_line, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = course->channel->fd, .events = POLLIN },
		{ .fd = course->signals, .events = POLLIN },
		{ .fd = want_line ? course->lines.fd : -1, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	if (poll(fds, 3, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	if (fds[1].revents && read(course->signals, &info, sizeof(info)) == sizeof(info))
		course->signal = (int)info.ssi_signo;
	return 0;
}

/* 0, or -errno, and *ret_step says what failed. */
static int course_run(struct course *course, const char **ret_step)
{
	bool reading = course->lines.fd >= 0 || course->bulk->file;
	int rc = 0, timeout_ms;

	course->round_us = cli_now_us();
	while (!course->signal) {
		int more = reading ? read_lines(course) : -EPIPE;

		if (more < 0 && more != -EPIPE) {
			*ret_step = name_of_input(course->bulk);
			return more;
		}
		reading = reading && more != -EPIPE;
		ask_again(course);
		print_answered(course, course->bulk->unordered);
		cli_output_flush();
		if (ferror(stdout))
			return 0;	/* told at the end of the process */
		if (!reading && course->count == 0)
			return 0;
		timeout_ms = round_wait(course, reading);
		course->tally.share = share_done(course);
		if (!course->bulk->watch_ms)
			cli_tally_show(&course->tally);
		if (reading && has_room(course) && more == 0)
			continue;
		rc = wait_for(course, reading && more == 1, timeout_ms);
		if (rc == 0)
			rc = take_answers(course);
		if (rc < 0)
			return rc;
	}
	/* What came is printed; what didn't isn't waited for. */
	take_answers(course);
	print_answered(course, true);
	return 0;
}

/* ---- Beginning and end ---- */

static int course_verdict(const struct course *course)
{
	const struct cli_tally *tally = &course->tally;

	if (course->signal)
		return EXIT_SIGNAL + course->signal;
	if (tally->failed || tally->silent)
		return CLI_FAILED;
	if (course->wrong)
		return CLI_USAGE;
	return tally->missing ? CLI_NOT_FOUND : CLI_FOUND;
}

static int course_open(struct course *course, const char **ret_step)
{
	const struct cli_question *question = &course->bulk->question;
	struct item *item;
	int rc = 0;

	*ret_step = "waiting for signals";
	course->signals = cli_signals_open();
	if (course->signals < 0)
		return -errno;
	*ret_step = "opening an event channel";
	course->channel = rdma_create_event_channel();
	if (!course->channel || fcntl(course->channel->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret_step = course->bulk->file ? name_of_input(course->bulk) : "beginning";
	if (course->bulk->file)
		return cli_lines_open(&course->lines, course->bulk->file);
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->node = question->node ? strdup(question->node) : NULL;
	item->service = question->service ? strdup(question->service) : NULL;
	item_add(course, item);
	return rc;
}

int cli_bulk(const struct cli_bulk *bulk)
{
	struct course *course = calloc(1, sizeof(*course));
	const char *step = "beginning";
	struct item *item;
	int status;
	int rc;

	if (!course)
		return cli_fail(step, strerror(ENOMEM), CLI_FAILED);
	course->bulk = bulk;
	course->lines.fd = course->signals = -1;
	TAILQ_INIT(&course->items);
	cli_tally_begin(&course->tally, bulk->sa ? "service" : "name");
	rc = course_open(course, &step);
	if (rc == 0) {
		step = "asking";
		rc = course_run(course, &step);
	}
	cli_tally_wipe(&course->tally);
	status = rc < 0 ? cli_fail(step, strerror(-rc), CLI_FAILED) : course_verdict(course);
	if (bulk->watch_ms && rc == 0 && !course->signal && course->count == 0)
		status = cli_fail(name_of_input(bulk), "nothing to watch is in it", CLI_USAGE);
	else if (bulk->file && rc == 0 && !bulk->watch_ms)
		cli_tally_print(&course->tally, stderr);
	while ((item = TAILQ_FIRST(&course->items)))
		item_free(course, item);
	rdma_destroy_event_channel(course->channel);
	cli_lines_close(&course->lines);
	if (course->signals >= 0)
		close(course->signals);
	cli_tally_done(&course->tally);
	free(course);
	return status;
}
