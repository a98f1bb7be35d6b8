/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths to the records that were found. */
#include "resolve/paths.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"

static void paths_pump(struct rcm_paths *paths);

static void path_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_found *record = arg;
	struct rcm_paths *paths = record->paths;

	record->query = NULL;
	paths->asking--;
	if (!answer->status && answer->count) {
		record->had = true;
		static_assert(sizeof(record->data.path) == sizeof(*answer->paths), "as on the wire");
		memcpy(&record->data.path, answer->paths[0], sizeof(record->data.path));
	}
	paths_pump(paths);
	paths->changed(paths);
}

/* With all that the kernel would ask with. A path that can't be had is left out. */
static void path_start(struct rcm_paths *paths, struct rcm_found *record)
{
	const struct rcm_sa_client *client = &paths->client;
	struct rcm_sa_path_query query = {
		.port = *record->via, .dgid = record->gid, .pkey = record->pkey, .service_id = record->id,
		.traffic_class = paths->traffic_class, .deadline = paths->deadline,
	};

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
		} else {
			path_start(paths, &batch->records[paths->unasked_at++]);
		}
	}
}

void rcm_paths_ask(struct rcm_paths *paths, struct rcm_found_batch *batch)
{
	if (!paths->unasked)
		paths->unasked = batch;
	paths_pump(paths);
}

void rcm_paths_cancel(struct rcm_paths *paths, struct rcm_found_list *list)
{
	const struct rcm_sa_client *client = &paths->client;

	for (struct rcm_found_batch *batch = list->first; batch; batch = batch->next)
		for (unsigned i = 0; i < batch->count; i++)
			if (batch->records[i].query)
				client->ops->cancel(client->sa, batch->records[i].query);
}
