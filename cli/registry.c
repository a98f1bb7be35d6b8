/* SPDX-License-Identifier: BSD-2-Clause */
/* The service records of one or several SAs as they were when they were asked for. */
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int number_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int cli_record_compare(const struct rai_service_record *a, const struct rai_service_record *b)
{
	int order = memcmp(a->gid, b->gid, sizeof(a->gid));

	if (order == 0)
		order = number_compare(a->id, b->id);
	return order ? order : number_compare(a->pkey, b->pkey);
}

static int compare(const void *a, const void *b)
{
	return cli_record_compare(&((const struct cli_record *)a)->record, &((const struct cli_record *)b)->record);
}

int cli_record_compare_names(const void *a, const void *b)
{
	int order = strcmp(((const struct cli_record *)a)->record.name, ((const struct cli_record *)b)->record.name);

	return order ? order : compare(a, b);
}

bool cli_registry_told(const struct cli_registry *registry, size_t port)
{
	int status = registry->answers[port].status;

	return status == 0 || status == -ENOENT;
}

size_t cli_record_port(const struct cli_record *record)
{
	return (size_t)__builtin_ctzll(record->ports);
}

static size_t list_length(const struct rdma_addrinfo *list)
{
	size_t count = 0;

	for (; list; list = list->ai_next)
		count++;
	return count;
}

/* Ports of one subnet see the same. */
static void registry_merge(struct cli_registry *registry)
{
	size_t kept = 0;

	qsort(registry->records, registry->count, sizeof(*registry->records), compare);
	for (size_t i = 0; i < registry->count; i++) {
		struct cli_record *record = &registry->records[i];

		if (kept > 0 && compare(&registry->records[kept - 1], record) == 0)
			registry->records[kept - 1].ports |= record->ports;
		else
			registry->records[kept++] = *record;
	}
	registry->found -= registry->count - kept;
	registry->count = kept;
}

static int registry_fill(struct cli_registry *registry)
{
	size_t room = 0;

	for (size_t i = 0; i < registry->port_count; i++)
		room += list_length(registry->answers[i].list);
	free(registry->records);
	registry->count = 0;
	registry->found = 0;
	registry->records = calloc(room + 1, sizeof(*registry->records));
	if (!registry->records)
		return -ENOMEM;
	for (size_t i = 0; i < registry->port_count; i++) {
		const struct cli_answer *answer = &registry->answers[i];

		registry->found += answer->list ? answer->found : 0;
		for (const struct rdma_addrinfo *ai = answer->list; ai; ai = ai->ai_next) {
			struct cli_record *record = &registry->records[registry->count];

			record->ports = UINT64_C(1) << i;
			registry->count += rai_addrinfo_service(ai, &record->record) == 0;
		}
	}
	registry_merge(registry);
	return 0;
}

int cli_registry_ask(struct cli_registry *registry, const struct cli_filter *filter, int stop, const char **ret_step)
{
	const struct cli_question question = {
		.filter = &filter->wanted, .deadline_ms = filter->has_timeout ? &filter->timeout_ms : NULL,
		.ports = registry->ports, .places = registry->port_count, .stop = stop,
	};
	int rc;

	memset(registry->answers, 0, sizeof(registry->answers));
	rc = cli_ask(&question, registry->answers, ret_step);
	if (rc == 0) {
		*ret_step = "keeping the records";
		rc = registry_fill(registry);
	}
	cli_answers_free(registry->answers, registry->port_count);
	return rc;
}

int cli_registry_remove(const struct cli_registry *registry, size_t port, const struct rai_service_record *record,
			const struct cli_filter *filter, struct cli_answer *ret_answer, const char **ret_step)
{
	const struct cli_question question = {
		.remove = record, .deadline_ms = filter->has_timeout ? &filter->timeout_ms : NULL,
		.ports = &registry->ports[port], .places = 1,
	};

	*ret_answer = (struct cli_answer){ 0 };
	return cli_ask(&question, ret_answer, ret_step);
}

void cli_registry_free(struct cli_registry *registry)
{
	free(registry->records);
	registry->records = NULL;
}
