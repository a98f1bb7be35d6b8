/* SPDX-License-Identifier: BSD-2-Clause */
/* An SA with a database of its own. */
#include "model_sa.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "loop/timer.h"
#include "test.h"

enum { RECORDS = 5000 };

struct rcm_sa_query {
	TAILQ_ENTRY(rcm_sa_query) entry;
	bool publishes;
	struct rcm_sa_service_query question;
	struct rcm_sa_publication publication;
	rcm_sa_done_fn *done;
	void *arg;
};

unsigned rcm_model_sets, rcm_model_deletes, rcm_model_gets, rcm_model_most;

static struct rcm_loop *loop;
static enum rcm_model_mood mood;
static struct rcm_model_record records[RECORDS];
static unsigned count, pending;
static TAILQ_HEAD(queries, rcm_sa_query) queries = TAILQ_HEAD_INITIALIZER(queries);

void rcm_model_sa_reset(struct rcm_loop *new_loop)
{
	assert_true(TAILQ_EMPTY(&queries));
	loop = new_loop;
	mood = RCM_MODEL_ANSWERS;
	count = rcm_model_sets = rcm_model_deletes = rcm_model_gets = rcm_model_most = 0;
}

void rcm_model_sa_mood(enum rcm_model_mood new_mood)
{
	mood = new_mood;
}

static void expire(void)
{
	for (unsigned i = 0; i < count;) {
		if (records[i].until <= loop->now)
			records[i] = records[--count];
		else
			i++;
	}
}

static bool is_at(const struct rcm_sa_service_record *record, uint64_t id, const struct rcm_gid *gid, uint16_t pkey)
{
	return record->id == id && record->pkey == pkey && !memcmp(&record->gid, gid, sizeof(*gid));
}

static struct rcm_model_record *at_place(uint64_t id, const struct rcm_gid *gid, uint16_t pkey)
{
	for (unsigned i = 0; i < count; i++)
		if (is_at(&records[i].record, id, gid, pkey))
			return &records[i];
	return NULL;
}

struct rcm_model_record *rcm_model_sa_find(uint64_t id)
{
	expire();
	for (unsigned i = 0; i < count; i++)
		if (records[i].record.id == id)
			return &records[i];
	return NULL;
}

unsigned rcm_model_sa_count(void)
{
	expire();
	return count;
}

void rcm_model_sa_forget(void)
{
	count = 0;
}

unsigned rcm_model_sa_pending(void)
{
	return pending;
}

void rcm_model_sa_put(const struct rcm_sa_service_record *record, const uint8_t key[16])
{
	struct rcm_model_record *to = at_place(record->id, &record->gid, record->pkey);

	if (!to) {
		assert_true(count < RECORDS);
		to = &records[count++];
	}
	to->record = *record;
	to->until = loop->now + record->lease * RCM_NS_PER_S;
	memcpy(to->key, key, sizeof(to->key));
}

static void publish(const struct rcm_sa_publication *p, struct rcm_sa_answer *answer)
{
	struct rcm_model_record *found = at_place(p->record.id, &p->record.gid, p->record.pkey);

	if (!p->remove) {
		rcm_model_sets++;
		rcm_model_sa_put(&p->record, p->key);
		return;
	}
	rcm_model_deletes++;
	if (found)
		*found = records[--count];
	else
		answer->status = -ENOENT;
}

static void look_up(const struct rcm_sa_service_query *q, struct rcm_sa_answer *answer)
{
	struct rcm_model_record *found = at_place(q->service_id, &q->gid, q->pkey);

	rcm_model_gets++;
	assert_true(q->by_id && q->by_gid && q->by_pkey);
	if (found && q->by_key && memcmp(found->key, q->key, sizeof(q->key)) != 0)
		found = NULL;
	if (found)
		*answer = (struct rcm_sa_answer){ .count = 1, .total = 1, .services = &found->record };
	else
		answer->status = -ENOENT;
}

static uint64_t deadline_of(const struct rcm_sa_query *query)
{
	return query->publishes ? query->publication.deadline : query->question.deadline;
}

/* False: it stays unanswered. */
static bool serve(struct rcm_sa_query *query, struct rcm_sa_answer *answer)
{
	if (mood == RCM_MODEL_SILENT && loop->now < deadline_of(query))
		return false;
	if (mood == RCM_MODEL_SILENT)
		*answer = (struct rcm_sa_answer){ .status = -ETIMEDOUT, .late = true, .text = "the SA is silent" };
	else if (mood == RCM_MODEL_BUSY)
		*answer = (struct rcm_sa_answer){ .status = -EBUSY, .text = "the SA is busy" };
	else if (mood == RCM_MODEL_REFUSES && query->publishes)
		*answer = (struct rcm_sa_answer){ .status = -EIO, .text = "the SA refused: REQ_INVALID" };
	else if (query->publishes)
		publish(&query->publication, answer);
	else
		look_up(&query->question, answer);
	return true;
}

static void query_end(struct rcm_sa_query *query)
{
	TAILQ_REMOVE(&queries, query, entry);
	pending--;
	free(query);
}

unsigned rcm_model_sa_serve(void)
{
	struct queries now = TAILQ_HEAD_INITIALIZER(now);
	struct rcm_sa_query *query, *next;
	unsigned served = 0;

	expire();
	for (query = TAILQ_FIRST(&queries); query; query = next) {
		struct rcm_sa_answer answer = { 0 };
		rcm_sa_done_fn *done = query->done;
		void *arg = query->arg;

		next = TAILQ_NEXT(query, entry);
		if (!serve(query, &answer))
			continue;
		query_end(query);
		done(arg, &answer);
		served++;
	}
	return served;
}

/* The next moment at which something happens, at most until. */
static uint64_t next_moment(uint64_t until)
{
	struct rcm_heap_node *first = rcm_heap_first(&loop->timers);
	struct rcm_sa_query *query;

	if (first && first->key < until)
		until = first->key;
	TAILQ_FOREACH(query, &queries, entry)
		if (mood == RCM_MODEL_SILENT && deadline_of(query) < until)
			until = deadline_of(query);
	return until > loop->now ? until : loop->now;
}

void rcm_model_sa_run(uint64_t ns)
{
	uint64_t end = loop->now + ns;

	for (;;) {
		struct rcm_heap_node *first;

		while (rcm_model_sa_serve())
			;
		first = rcm_heap_first(&loop->timers);
		if (loop->now >= end && (!first || first->key > end))
			return;
		rcm_fake_clock_advance(next_moment(end) - loop->now);
		loop->now = rcm_clock_now();
		rcm_timers_fire(loop, loop->now);
	}
}

static int query_new(rcm_sa_done_fn *done, void *arg, struct rcm_sa_query **ret_query)
{
	if (mood == RCM_MODEL_DOWN)
		return -ENETDOWN;
	*ret_query = calloc(1, sizeof(**ret_query));
	assert_non_null(*ret_query);
	(*ret_query)->done = done;
	(*ret_query)->arg = arg;
	TAILQ_INSERT_TAIL(&queries, *ret_query, entry);
	if (++pending > rcm_model_most)
		rcm_model_most = pending;
	return 0;
}

static int model_service(struct rcm_sa *sa, const struct rcm_sa_service_query *q, rcm_sa_done_fn *done, void *arg,
			 struct rcm_sa_query **ret_query)
{
	int ret = query_new(done, arg, ret_query);

	(void)sa;
	if (!ret)
		(*ret_query)->question = *q;
	return ret;
}

static int model_publish(struct rcm_sa *sa, const struct rcm_sa_publication *p, rcm_sa_done_fn *done, void *arg,
			 struct rcm_sa_query **ret_query)
{
	int ret = query_new(done, arg, ret_query);

	(void)sa;
	if (ret)
		return ret;
	(*ret_query)->publishes = true;
	(*ret_query)->publication = *p;
	return 0;
}

static void model_cancel(struct rcm_sa *sa, struct rcm_sa_query *query)
{
	(void)sa;
	query_end(query);
}

const struct rcm_sa_ops rcm_model_sa = {
	.name = "model", .service = model_service, .publish = model_publish, .cancel = model_cancel,
};
