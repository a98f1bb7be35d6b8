/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths to the records that were found. */
#include "resolve/paths.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"

/* A table is asked for where it saves so many questions, unless it was seen to hold so many times what is wanted. */
enum { TABLE_MIN = 64, TABLE_WASTE = 4, TABLE_TRIES = 8, AT_DGID = 8 };
enum { TABLE_TOO_LARGE = RCM_SA_ANSWER_MAX / 64 };	/* more paths than that, however many */

/* One question for the paths to many records, those of a batch that have this P_Key and id. */
struct rcm_paths_table {
	LIST_ENTRY(rcm_paths_table) entry;
	struct rcm_paths *paths;
	struct rcm_sa_query *query;
	unsigned count;
	struct rcm_found *records[];		/* by GID */
};

static void paths_pump(struct rcm_paths *paths);

static void path_take(struct rcm_found *record, const uint8_t path[64])
{
	static_assert(sizeof(record->data.path) == 64, "as on the wire");
	memcpy(&record->data.path, path, sizeof(record->data.path));
	record->had = true;
}

static struct rcm_sa_path_query path_query(const struct rcm_paths *paths, const struct rcm_found *record)
{
	/* With all that the kernel would ask with. */
	return (struct rcm_sa_path_query){
		.port = *record->via, .dgid = record->gid, .pkey = record->pkey, .service_id = record->id,
		.traffic_class = paths->traffic_class, .deadline = paths->deadline,
	};
}

/* ---- One by one ---- */

static void path_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_found *record = arg;
	struct rcm_paths *paths = record->paths;

	record->query = NULL;
	paths->asking--;
	if (!answer->status && answer->count)
		path_take(record, answer->paths[0]);
	paths_pump(paths);
	paths->changed(paths);
}

/* A path that can't be had is left out. */
static void path_start(struct rcm_paths *paths, struct rcm_found *record)
{
	const struct rcm_sa_client *client = &paths->client;
	struct rcm_sa_path_query query = path_query(paths, record);

	record->asked = true;
	record->paths = paths;
	paths->asking += !client->ops->path(client->sa, &query, path_answered, record, &record->query);
}

/* So many of one lookup are in line that the port is busy, and no more: the questions of others come in between. */
static void paths_pump(struct rcm_paths *paths)
{
	while (paths->unasked && paths->asking < RCM_SA_WINDOW) {
		struct rcm_found_batch *batch = paths->unasked;

		if (paths->unasked_at == batch->count) {
			paths->unasked = batch->next;
			paths->unasked_at = 0;
		} else if (!batch->records[paths->unasked_at++].asked) {
			path_start(paths, &batch->records[paths->unasked_at - 1]);
		}
	}
}

/* ---- Many at once ---- */

static int table_compare(const void *a, const void *b)
{
	const struct rcm_found *x = *(struct rcm_found *const *)a, *y = *(struct rcm_found *const *)b;

	return memcmp(&x->gid, &y->gid, sizeof(x->gid));
}

/* The first of the table's records that isn't before that GID. */
static unsigned table_find(const struct rcm_paths_table *table, const uint8_t gid[16])
{
	unsigned low = 0, high = table->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (memcmp(table->records[middle]->gid.raw, gid, 16) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void table_take(const struct rcm_paths_table *table, const uint8_t path[64])
{
	const uint8_t *gid = path + AT_DGID;

	for (unsigned i = table_find(table, gid); i < table->count; i++) {
		struct rcm_found *record = table->records[i];

		if (memcmp(record->gid.raw, gid, sizeof(record->gid.raw)) != 0)
			return;
		if (!record->had)
			path_take(record, path);
	}
}

static void table_free(struct rcm_paths_table *table)
{
	LIST_REMOVE(table, entry);
	free(table);
}

/* What it hasn't is asked for singly. */
static void table_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_paths_table *table = arg;
	struct rcm_paths *paths = table->paths;

	paths->asking--;
	if (!answer->status)
		*paths->hosts = answer->count;
	else if (answer->too_large)
		*paths->hosts = TABLE_TOO_LARGE;
	for (unsigned i = 0; !answer->status && i < answer->count; i++)
		table_take(table, answer->paths[i]);
	for (unsigned i = 0; i < table->count; i++)
		table->records[i]->asked = table->records[i]->had;
	paths->unasked = paths->first;
	paths->unasked_at = 0;
	table_free(table);
	paths_pump(paths);
	paths->changed(paths);
}

/* Half of the time there is, so that it can be asked singly still. */
static uint64_t table_deadline(const struct rcm_paths *paths)
{
	uint64_t now = rcm_clock_now();

	if (!paths->deadline)
		return now + RCM_SA_DEADLINE_MS / 2 * RCM_NS_PER_MS;
	return paths->deadline > now ? now + (paths->deadline - now) / 2 : paths->deadline;
}

/* The records of the batch from this one on that are asked for alike. NULL: too few, or no memory. */
static struct rcm_paths_table *table_new(struct rcm_paths *paths, struct rcm_found_batch *batch, unsigned first)
{
	struct rcm_found *like = &batch->records[first];
	unsigned most = batch->count - first;
	struct rcm_paths_table *table = malloc(sizeof(*table) + most * sizeof(*table->records));

	if (!table)
		return NULL;
	*table = (struct rcm_paths_table){ .paths = paths };
	for (unsigned i = first; i < batch->count; i++) {
		struct rcm_found *record = &batch->records[i];

		if (record->pkey == like->pkey && record->id == like->id)
			table->records[table->count++] = record;
	}
	if (table->count < TABLE_MIN || table->count < *paths->hosts / TABLE_WASTE) {
		free(table);
		return NULL;
	}
	qsort(table->records, table->count, sizeof(*table->records), table_compare);
	LIST_INSERT_HEAD(&paths->tables, table, entry);
	return table;
}

static bool table_start(struct rcm_paths_table *table)
{
	struct rcm_paths *paths = table->paths;
	const struct rcm_sa_client *client = &paths->client;
	struct rcm_sa_path_query query = path_query(paths, table->records[0]);

	query.to_all = true;
	query.deadline = table_deadline(paths);
	if (client->ops->path(client->sa, &query, table_answered, table, &table->query)) {
		table_free(table);
		return false;
	}
	paths->asking++;
	for (unsigned i = 0; i < table->count; i++)
		table->records[i]->asked = true;
	return true;
}

/* All are of one kind as a rule; a few of another may come first. */
static void tables_ask(struct rcm_paths *paths, struct rcm_found_batch *batch)
{
	struct rcm_paths_table *table;

	for (unsigned i = 0, tries = 0; i < batch->count && tries < TABLE_TRIES; i++) {
		if (batch->records[i].asked)
			continue;
		tries++;
		table = table_new(paths, batch, i);
		if (table && !table_start(table))
			return;
	}
}

/* ---- Both ---- */

void rcm_paths_ask(struct rcm_paths *paths, struct rcm_found_batch *batch)
{
	tables_ask(paths, batch);
	if (!paths->first)
		paths->first = batch;
	if (!paths->unasked)
		paths->unasked = batch;
	paths_pump(paths);
}

void rcm_paths_free(struct rcm_paths *paths)
{
	struct rcm_paths_table *table;

	while ((table = LIST_FIRST(&paths->tables)))
		table_free(table);
}

void rcm_paths_cancel(struct rcm_paths *paths, struct rcm_found_list *list)
{
	const struct rcm_sa_client *client = &paths->client;
	struct rcm_paths_table *table;

	LIST_FOREACH(table, &paths->tables, entry)
		client->ops->cancel(client->sa, table->query);
	for (struct rcm_found_batch *batch = list->first; batch; batch = batch->next)
		for (unsigned i = 0; i < batch->count; i++)
			if (batch->records[i].query)
				client->ops->cancel(client->sa, batch->records[i].query);
}
