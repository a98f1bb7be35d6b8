/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lookup gave: immutable once made, shared by reference. */
#include "resolve/answer.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Each holds a reference to itself, so it is never freed. */
static struct rcm_answer fixed[] = {
	[RCM_ANSWER_CANCELLED] = { 1, -ECANCELED, EAI_CANCELED, .text = "cancelled by the application" },
	[RCM_ANSWER_DEADLINE] = { 1, -ETIMEDOUT, EAI_AGAIN, .text = "no answer before the deadline" },
	[RCM_ANSWER_NO_MEMORY] = { 1, -ENOMEM, EAI_MEMORY, .text = "out of memory" },
	[RCM_ANSWER_NO_SERVICE] = { 1, -ENOENT, EAI_SERVICE, .text = "no such service" },
	[RCM_ANSWER_NO_SCOPE] = { 1, -ENOENT, EAI_NONAME, .text = "its scope is no interface, or it isn't link-local" },
	[RCM_ANSWER_OTHER_FAMILY] = {
		1, -ENODATA, EAI_ADDRFAMILY, .text = "an address, but of another family",
	},
	[RCM_ANSWER_NO_GID] = { 1, -ENODATA, EAI_ADDRFAMILY, .text = "names have no AF_IB addresses" },
	[RCM_ANSWER_NO_PORT] = { 1, -ENODEV, 0, .text = "no active InfiniBand port" },
	[RCM_ANSWER_LOST] = { 1, -EBADF, EAI_SYSTEM, .text = "the program closed the library's descriptors" },
};

static int answer_new(unsigned count, unsigned routes, unsigned services, unsigned srvs, const char *text,
		      struct rcm_answer **ret_answer)
{
	size_t text_len = text ? strlen(text) + 1 : 0, size;
	struct rcm_answer *answer;

	size = sizeof(*answer) + count * sizeof(*answer->results) + routes * sizeof(*answer->routes) +
	       services * sizeof(*answer->services) + srvs * sizeof(*answer->srvs);
	answer = malloc(size + text_len);
	if (!answer)
		return -ENOMEM;
	memset(answer, 0, size);
	atomic_init(&answer->refs, 1);
	answer->size = size + text_len;
	answer->count = count;
	answer->results = (void *)(answer + 1);
	answer->routes = (void *)(answer->results + count);
	answer->services = (void *)(answer->routes + routes);
	answer->srvs_count = srvs;
	answer->srvs = (void *)(answer->services + services);
	if (text)
		answer->text = memcpy(answer->srvs + srvs, text, text_len);
	*ret_answer = answer;
	return 0;
}

int rcm_answer_new(unsigned count, const char *text, struct rcm_answer **ret_answer)
{
	return answer_new(count, 0, 0, 0, text, ret_answer);
}

int rcm_answer_new_services(unsigned count, unsigned routes, const char *text, struct rcm_answer **ret_answer)
{
	return answer_new(count, routes, count, 0, text, ret_answer);
}

int rcm_answer_new_srvs(unsigned count, unsigned srvs, const char *text, struct rcm_answer **ret_answer)
{
	return answer_new(count, 0, 0, srvs, text, ret_answer);
}

struct rcm_answer *rcm_answer_failed(int status, uint64_t arg, const char *text)
{
	struct rcm_answer *answer;

	if (status == -ENOMEM || rcm_answer_new(0, text ? text : strerrordesc_np(-status), &answer))
		return rcm_answer_fixed(RCM_ANSWER_NO_MEMORY);
	answer->status = status;
	answer->arg = arg;
	return answer;
}

struct rcm_answer *rcm_answer_fixed(enum rcm_answer_fixed which)
{
	return rcm_answer_get(&fixed[which]);
}

bool rcm_answer_is_fixed(const struct rcm_answer *answer)
{
	return !answer->size;
}

bool rcm_answer_is(const struct rcm_answer *answer, enum rcm_answer_fixed which)
{
	return answer == &fixed[which];
}

struct rcm_answer *rcm_answer_get(struct rcm_answer *answer)
{
	atomic_fetch_add_explicit(&answer->refs, 1, memory_order_relaxed);
	return answer;
}

void rcm_answer_put(struct rcm_answer *answer)
{
	if (answer && atomic_fetch_sub_explicit(&answer->refs, 1, memory_order_acq_rel) == 1)
		free(answer);
}
