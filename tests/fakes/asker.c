/* SPDX-License-Identifier: BSD-2-Clause */
/* One who asks the engine and waits for the outcome. */
#include "asker.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static unsigned completions;

struct rcm_question rcm_question_name(const char *node)
{
	return (struct rcm_question){ .node = node, .deadline_ms = RCM_DEADLINE_DEFAULT };
}

static void done(void *arg, struct rcm_outcome *outcome)
{
	struct rcm_asker *asker = arg;

	pthread_mutex_lock(&lock);
	if (!asker->times++) {
		asker->outcome = *outcome;
		asker->at = rcm_clock_now();
		asker->order = completions;
	}
	completions++;
	pthread_cond_broadcast(&came);
	pthread_mutex_unlock(&lock);
}

int rcm_asker_start(struct rcm_asker *asker, const struct rcm_question *question)
{
	int ret;

	rcm_asker_done(asker);
	ret = rcm_request_start(question, done, asker, &asker->request);
	return ret;
}

bool rcm_asker_wait(struct rcm_asker *asker)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&lock);
	while (!asker->times && !ret)
		ret = pthread_cond_clockwait(&came, &lock, CLOCK_MONOTONIC, &until);
	pthread_mutex_unlock(&lock);
	return !ret;
}

int rcm_asker_ask(struct rcm_asker *asker, const struct rcm_question *question)
{
	int ret = rcm_asker_start(asker, question);

	if (ret)
		return ret;
	return rcm_asker_wait(asker) ? asker->outcome.status : INT_MIN;
}

unsigned rcm_asker_times(struct rcm_asker *asker)
{
	unsigned times;

	pthread_mutex_lock(&lock);
	times = asker->times;
	pthread_mutex_unlock(&lock);
	return times;
}

void rcm_asker_done(struct rcm_asker *asker)
{
	rcm_request_put(asker->request);
	rcm_answer_put(asker->outcome.answer);
	free(asker->outcome.text);
	*asker = (struct rcm_asker){ 0 };
}

int rcm_asker_again(struct rcm_asker *asker)
{
	rcm_engine_leave_parent();
	return rcm_request_again(asker->request);
}

void rcm_askers_drop(bool (*wanted)(const void *asker))
{
	rcm_engine_leave_parent();
	rcm_requests_drop(done, wanted);
}
