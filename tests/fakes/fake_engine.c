/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolver engine that a test completes by hand. */
#include "fake_engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/queue.h>

#include "addr/build.h"
#include "test.h"

struct rcm_request {
	TAILQ_ENTRY(rcm_request) link;
	rcm_outcome_fn *done;
	void *arg;
	bool pending;
	atomic_int refs;
};

struct rcm_answer {
	atomic_int refs;
	unsigned count;
	union rcm_sockaddr first;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, rcm_request) requests = TAILQ_HEAD_INITIALIZER(requests);
static struct rcm_question asked;
static struct rcm_listing listing;
static char node[512], service[128];
static int refusal;
static bool is_immediate, holds_cancels, no_memory, rests;
static int again_refusal;
static unsigned agains;
static atomic_int answers, live;
static unsigned cancels;

void rcm_fake_engine_reset(void)
{
	assert_int_equal(rcm_fake_engine_pending(), 0);
	assert_int_equal(atomic_load(&answers), 0);
	assert_int_equal(atomic_load(&live), 0);
	rcm_fake_engine_over();
	assert_int_equal(rcm_fake_engine_published(), 0);
	refusal = 0;
	is_immediate = holds_cancels = no_memory = rests = false;
	again_refusal = 0;
	agains = 0;
	cancels = 0;
	memset(&asked, 0, sizeof(asked));
}

void rcm_fake_engine_refuse(int error)
{
	refusal = error;
}

void rcm_fake_engine_immediate(bool immediate)
{
	is_immediate = immediate;
}

void rcm_fake_engine_no_memory(void)
{
	no_memory = true;
}

void rcm_fake_engine_hold_cancels(bool hold)
{
	holds_cancels = hold;
}

unsigned rcm_fake_engine_cancels(void)
{
	return cancels;
}

unsigned rcm_fake_engine_pending(void)
{
	struct rcm_request *request;
	unsigned count = 0;

	pthread_mutex_lock(&mutex);
	TAILQ_FOREACH(request, &requests, link)
		count++;
	pthread_mutex_unlock(&mutex);
	return count;
}

const struct rcm_question *rcm_fake_engine_question(void)
{
	return &asked;
}

static void remember(const struct rcm_question *question)
{
	asked = *question;
	listing = question->listing ? *question->listing : (struct rcm_listing){ 0 };
	asked.listing = question->listing ? &listing : NULL;
	asked.node = question->node ? strncpy(node, question->node, sizeof(node) - 1) : NULL;
	asked.service = question->service ?
			strncpy(service, question->service, sizeof(service) - 1) : NULL;
}

static struct rcm_answer *make_answer(unsigned count)
{
	struct rcm_answer *answer = calloc(1, sizeof(*answer));

	assert_non_null(answer);
	atomic_init(&answer->refs, 1);
	answer->count = count;
	answer->first.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000201) };
	atomic_fetch_add(&answers, 1);
	return answer;
}

static void request_put(struct rcm_request *request)
{
	if (atomic_fetch_sub(&request->refs, 1) == 1) {
		free(request);
		atomic_fetch_sub(&live, 1);
	}
}

static void complete(struct rcm_request *request, struct rcm_outcome *outcome)
{
	request->done(request->arg, outcome);
	request_put(request);
}

/* The request, if it was still pending: the caller completes it. */
static bool take(struct rcm_request *request)
{
	bool taken;

	pthread_mutex_lock(&mutex);
	taken = request && request->pending;
	if (taken) {
		request->pending = false;
		TAILQ_REMOVE(&requests, request, link);
	}
	pthread_mutex_unlock(&mutex);
	return taken;
}

static struct rcm_request *oldest(void)
{
	struct rcm_request *request;

	pthread_mutex_lock(&mutex);
	request = TAILQ_FIRST(&requests);
	pthread_mutex_unlock(&mutex);
	assert_true(take(request));
	return request;
}

void rcm_fake_engine_resolve(unsigned results)
{
	struct rcm_outcome outcome = { .arg = results, .answer = make_answer(results), .port = 7471 };

	complete(oldest(), &outcome);
}

static void (*all_told)(void);

void rcm_request_watch_told(void (*told)(void))
{
	all_told = told;
}

void rcm_fake_engine_resolve_all(void (*step)(void))
{
	for (unsigned left = rcm_fake_engine_pending(); left; left--) {
		struct rcm_outcome outcome = { .arg = 1, .answer = make_answer(1), .port = 7471, .more = true };

		if (left == 1)
			step();
		complete(oldest(), &outcome);
	}
	all_told();
}

void rcm_fake_engine_end_burst(void)
{
	all_told();
}

void rcm_fake_engine_fail(int status, uint64_t arg, const char *text)
{
	struct rcm_outcome outcome = { .status = status, .arg = arg };

	outcome.text = strdup(text);
	complete(oldest(), &outcome);
}

int rcm_request_start(const struct rcm_question *question, rcm_outcome_fn *done, void *arg,
		      struct rcm_request **ret_request)
{
	struct rcm_outcome outcome = { .arg = 1, .port = 7471 };
	struct rcm_request *request;

	pthread_mutex_lock(&mutex);
	remember(question);
	pthread_mutex_unlock(&mutex);
	if (refusal)
		return refusal;
	request = calloc(1, sizeof(*request));
	assert_non_null(request);
	*request = (struct rcm_request){ .done = done, .arg = arg, .pending = !is_immediate, .refs = 2 };
	atomic_fetch_add(&live, 1);
	*ret_request = request;
	if (is_immediate) {
		outcome.answer = make_answer(1);
		complete(request, &outcome);
		return 0;
	}
	pthread_mutex_lock(&mutex);
	TAILQ_INSERT_TAIL(&requests, request, link);
	pthread_mutex_unlock(&mutex);
	return 0;
}

void rcm_request_cancel(struct rcm_request *request)
{
	struct rcm_outcome outcome = { .status = -ECANCELED };

	cancels++;
	if (!holds_cancels && take(request))
		complete(request, &outcome);
}

void rcm_request_put(struct rcm_request *request)
{
	if (request)
		request_put(request);
}

int rcm_answer_list(const struct rcm_answer *answer, const struct rcm_hints *hints, uint16_t port,
		    struct rdma_addrinfo **ret_list)
{
	struct rcm_result results[8] = { 0 };

	if (no_memory) {
		no_memory = false;
		return -ENOMEM;
	}
	assert_true(answer->count <= 8);
	for (unsigned i = 0; i < answer->count; i++) {
		results[i].dst = answer->first;
		results[i].dst.in.sin_addr.s_addr = htonl(0xC0000201 + i);
	}
	return rcm_addrinfo_build(hints, port, results, answer->count, "name.test", ret_list);
}

const union rcm_sockaddr *rcm_answer_first(const struct rcm_answer *answer)
{
	return &answer->first;
}

void rcm_answer_put(struct rcm_answer *answer)
{
	if (answer && atomic_fetch_sub(&answer->refs, 1) == 1) {
		free(answer);
		atomic_fetch_sub(&answers, 1);
	}
}

void rcm_engine_leave_parent(void)
{
}

void rcm_engine_stats(struct rai_stats *ret_stats)
{
	*ret_stats = (struct rai_stats){ .started = 7 };
}

struct rcm_request *rcm_request_get(struct rcm_request *request)
{
	atomic_fetch_add(&request->refs, 1);
	return request;
}

void rcm_fake_engine_rest(void)
{
	rests = true;
}

/* No test forks with this one. */
bool rcm_request_rests(struct rcm_request *request)
{
	(void)request;
	return rests;
}

void rcm_requests_drop(rcm_outcome_fn *done, bool (*wanted)(const void *arg))
{
	(void)done;
	(void)wanted;
}

void rcm_fake_engine_refuse_again(int error)
{
	again_refusal = error;
}

unsigned rcm_fake_engine_agains(void)
{
	return agains;
}

int rcm_request_again(struct rcm_request *request)
{
	(void)request;
	agains += !again_refusal;
	return again_refusal;
}

/* ---- Services that are published ---- */

struct rcm_publication {
	TAILQ_ENTRY(rcm_publication) link;
	struct rcm_service_offer offer;
	void (*told)(void *arg, const struct rcm_service_outcome *outcome);
	void (*over)(void *arg);
	void *arg;
};

static TAILQ_HEAD(publications, rcm_publication) published = TAILQ_HEAD_INITIALIZER(published),
	ending = TAILQ_HEAD_INITIALIZER(ending);
static int publishing_refusal;
static bool tells_early;
static unsigned forsaken;

static unsigned publications_count(struct publications *list)
{
	struct rcm_publication *publication;
	unsigned count = 0;

	pthread_mutex_lock(&mutex);
	TAILQ_FOREACH(publication, list, link)
		count++;
	pthread_mutex_unlock(&mutex);
	return count;
}

unsigned rcm_fake_engine_published(void)
{
	return publications_count(&published);
}

unsigned rcm_fake_engine_ending(void)
{
	return publications_count(&ending);
}

unsigned rcm_fake_engine_forsaken(void)
{
	return forsaken;
}

void rcm_fake_engine_refuse_publishing(int error)
{
	publishing_refusal = error;
}

void rcm_fake_engine_tell_early(void)
{
	tells_early = true;
}

const struct rcm_service_offer *rcm_fake_engine_offer(void)
{
	struct rcm_publication *publication;

	pthread_mutex_lock(&mutex);
	publication = TAILQ_LAST(&published, publications);
	pthread_mutex_unlock(&mutex);
	assert_non_null(publication);
	return &publication->offer;
}

void rcm_fake_engine_tell(int status, const char *text)
{
	const struct rcm_service_outcome outcome = { .status = status, .text = text };
	struct rcm_publication *publication;

	pthread_mutex_lock(&mutex);
	publication = TAILQ_LAST(&published, publications);
	pthread_mutex_unlock(&mutex);
	assert_non_null(publication);
	publication->told(publication->arg, &outcome);
}

void rcm_fake_engine_over(void)
{
	struct rcm_publication *publication;

	do {
		pthread_mutex_lock(&mutex);
		publication = TAILQ_FIRST(&ending);
		if (publication)
			TAILQ_REMOVE(&ending, publication, link);
		pthread_mutex_unlock(&mutex);
		if (publication)
			publication->over(publication->arg);
		free(publication);
	} while (publication);
}

int rcm_publish_start(const struct rcm_service_offer *offer,
		      void (*told)(void *arg, const struct rcm_service_outcome *outcome), void (*over)(void *arg),
		      void *arg, struct rcm_publication **ret_publication)
{
	struct rcm_publication *publication;
	int refused = publishing_refusal;

	publishing_refusal = 0;
	if (refused)
		return refused;
	publication = calloc(1, sizeof(*publication));
	assert_non_null(publication);
	*publication = (struct rcm_publication){ .offer = *offer, .told = told, .over = over, .arg = arg };
	pthread_mutex_lock(&mutex);
	TAILQ_INSERT_TAIL(&published, publication, link);
	pthread_mutex_unlock(&mutex);
	if (tells_early)
		rcm_fake_engine_tell(0, "registered");
	tells_early = false;
	*ret_publication = publication;
	return 0;
}

void rcm_publish_stop(struct rcm_publication *publication)
{
	if (!publication)
		return;
	pthread_mutex_lock(&mutex);
	TAILQ_REMOVE(&published, publication, link);
	TAILQ_INSERT_TAIL(&ending, publication, link);
	pthread_mutex_unlock(&mutex);
}

void rcm_publish_forsake(struct rcm_publication *publication)
{
	if (!publication)
		return;
	TAILQ_REMOVE(&published, publication, link);
	free(publication);
	forsaken++;
}
