/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of a resolution, taken down to be drawn as a tree. */
#include "steps.h"

#include <errno.h>
#include <langinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "screen.h"
#include "words.h"

struct step {
	int64_t at_us;
	uint32_t kind;
	char *text, *server;
	int status;
	int64_t ttl_s, kept_s;		/* negative: none */
};

struct cli_steps {
	pthread_mutex_t lock;
	struct rai_watcher watcher;
	int64_t began_us;
	size_t count, room, lost;
	struct step *steps;
};

static void steps_take(void *arg, const struct rai_step *from)
{
	struct cli_steps *steps = arg;
	struct step step = {
		.at_us = (int64_t)(from->time_ns / 1000) - steps->began_us, .kind = from->kind,
		.status = from->status, .ttl_s = from->ttl_s, .kept_s = from->kept_s,
	};
	struct step *grown = steps->steps;

	pthread_mutex_lock(&steps->lock);
	if (steps->count == steps->room && steps->count < CLI_STEPS_MAX) {
		grown = realloc(steps->steps, (steps->room + 64) * sizeof(*grown));
		if (grown) {
			steps->steps = grown;
			steps->room += 64;
		}
	}
	if (steps->count < steps->room) {
		step.text = strdup(from->text);
		step.server = from->server ? strdup(from->server) : NULL;
	}
	if (step.text)
		steps->steps[steps->count++] = step;
	else
		steps->lost++;
	pthread_mutex_unlock(&steps->lock);
}

struct cli_steps *cli_steps_watch(void)
{
	/* A call may be under way when nobody is told any more, so it is never freed. */
	static struct cli_steps all = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct cli_steps *steps = &all;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	steps->began_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	steps->watcher = (struct rai_watcher) { .step = steps_take, .arg = steps };
	return rai_watch_steps(&steps->watcher) == 0 ? steps : NULL;
}

void cli_steps_end(void)
{
	rai_watch_steps(NULL);
}

/* Kinds that stand together below a heading of their own. */
static const char *heading(uint32_t kind)
{
	switch (kind) {
	case RAI_STEP_FILES:
		return "configuration";
	case RAI_STEP_QUESTION:
	case RAI_STEP_ANSWER:
		return "servers";
	case RAI_STEP_ORDER:
		return "order of the addresses, by RFC 6724";
	default:
		return NULL;
	}
}

/* In the words of people what the drawing in docs/design.md has short words for; what is in brackets stays. */
static void course_words(const char *text, char *buf, size_t size)
{
	static const struct {
		const char *word, *words;
	} courses[] = {
		{ "here", "answered inside the call" },
		{ "posted", "handed to the resolver's thread" },
		{ "reading", "waits" },
		{ "naming", "waits for the port of the service's name" },
		{ "kept", "it was kept" },
		{ "asked", "looked up" },
		{ "joined", "waits with others" },
		{ "landed", "the lookup is over" },
		{ "told", "the event is made" },
	};
	size_t len = strcspn(text, " ");

	snprintf(buf, size, "%s", text);
	for (size_t i = 0; i < sizeof(courses) / sizeof(courses[0]); i++)
		if (strlen(courses[i].word) == len && strncmp(courses[i].word, text, len) == 0)
			snprintf(buf, size, "%s%s", courses[i].words, text + len);
}

void cli_branch_print(FILE *out, int width, unsigned depth, bool under_last, bool last, const char *text)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	const char *trunk = utf8 ? "\u2502  " : "|  ";
	const char *branch = last ? (utf8 ? "\u2514\u2500 " : "`- ") : (utf8 ? "\u251c\u2500 " : "|- ");
	char prefix[64];

	fprintf(out, "%s%s", !depth ? "" : under_last ? "   " : trunk, branch);
	snprintf(prefix, sizeof(prefix), "%s%s", !depth ? "" : under_last ? "   " : trunk, last ? "   " : trunk);
	cli_print_wrapped_behind(out, width, prefix, text);
}

static void step_print(const struct step *step, FILE *out, int width, unsigned depth, bool last)
{
	static const char *const words[] = {
		[RAI_STEP_HOSTS] = "hosts file: ", [RAI_STEP_KEPT] = "kept ", [RAI_STEP_QUESTION] = "asked: ",
		[RAI_STEP_ANSWER] = "answer: ",
	};
	const char *word = step->kind < sizeof(words) / sizeof(words[0]) && words[step->kind] ? words[step->kind] : "";
	char text[500], line[600];

	if (step->kind == RAI_STEP_COURSE)
		course_words(step->text, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s%s", word, step->text);
	snprintf(line, sizeof(line), "%.3f ms  %s", (double)step->at_us / 1000, text);
	cli_branch_print(out, width, depth, false, last, line);
}

void cli_steps_print(struct cli_steps *steps, FILE *out, int width)
{
	const char *under = NULL;
	char text[80];

	pthread_mutex_lock(&steps->lock);
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->steps[i];
		const char *head = heading(step->kind);
		bool last = i + 1 == steps->count || heading(step[1].kind) != head;

		if (head && head != under)
			cli_branch_print(out, width, 0, false, false, head);
		step_print(step, out, width, head != NULL, head && last);
		under = head;
	}
	if (steps->lost) {
		snprintf(text, sizeof(text), "%zu more steps, which there was no room for", steps->lost);
		cli_branch_print(out, width, 0, false, false, text);
	}
	pthread_mutex_unlock(&steps->lock);
}

json_t *cli_steps_json(struct cli_steps *steps)
{
	static const char *const kinds[] = {
		"other", "course", "files", "hosts", "question", "answer", "order", "kept",
	};
	json_t *array = json_array();

	if (!steps)
		return array;
	pthread_mutex_lock(&steps->lock);
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->steps[i];
		uint32_t kind = step->kind < sizeof(kinds) / sizeof(kinds[0]) ? step->kind : 0;
		json_t *text = json_string(step->text);

		/* A name of the network's may be no text at all. */
		json_t *json = json_pack("{s:I, s:s, s:o}", "time_us", (json_int_t)step->at_us, "kind", kinds[kind],
					 "text", text ? text : json_null());

		if (step->server)
			json_object_set_new(json, "server", json_string(step->server));
		if (step->kind == RAI_STEP_ANSWER)
			json_object_set_new(json, "status", step->status ? json_string(cli_errno_word(step->status)) :
					    json_null());
		if (step->ttl_s >= 0)
			json_object_set_new(json, "ttl_s", json_integer(step->ttl_s));
		if (step->kept_s >= 0)
			json_object_set_new(json, "kept_s", json_integer(step->kept_s));
		json_array_append_new(array, json);
	}
	pthread_mutex_unlock(&steps->lock);
	return array;
}

/* Of the array; made where it isn't there yet. */
static json_t *server_of(json_t *servers, const char *name)
{
	json_t *server;
	size_t i;

	json_array_foreach(servers, i, server)
		if (strcmp(json_string_value(json_object_get(server, "server")), name) == 0)
			return server;
	server = json_pack("{s:s, s:i, s:i, s:n, s:n}", "server", name, "asked", 0, "found", 0, "status", "ttl_s");
	json_array_append_new(servers, server);
	return server;
}

/* One more. */
static void member_add(json_t *object, const char *member)
{
	json_object_set_new(object, member, json_integer(json_integer_value(json_object_get(object, member)) + 1));
}

/* The least counts: then the first of what came is no longer true. */
static void member_lower(json_t *object, const char *member, int64_t value)
{
	const json_t *before = json_object_get(object, member);

	if (value >= 0 && (!json_is_integer(before) || value < json_integer_value(before)))
		json_object_set_new(object, member, json_integer(value));
}

static void step_sum(const struct step *step, json_t *object, json_t *servers)
{
	if (step->server) {
		json_t *server = server_of(servers, step->server);

		if (step->status)
			json_object_set_new(server, "status", json_string(cli_errno_word(step->status)));
		else
			member_add(server, step->kind == RAI_STEP_QUESTION ? "asked" : "found");
		member_lower(server, "ttl_s", step->ttl_s);
	} else if (step->kind == RAI_STEP_KEPT) {
		member_lower(object, "ttl_s", step->ttl_s);
		member_lower(object, "kept_s", step->kept_s);
	}
}

void cli_steps_sum(struct cli_steps *steps, json_t *object)
{
	json_t *servers = json_array();

	json_object_set_new(object, "ttl_s", json_null());
	json_object_set_new(object, "kept_s", json_null());
	json_object_set_new(object, "servers", servers);
	if (!steps)
		return;
	pthread_mutex_lock(&steps->lock);
	for (size_t i = 0; i < steps->count; i++)
		step_sum(&steps->steps[i], object, servers);
	pthread_mutex_unlock(&steps->lock);
}
