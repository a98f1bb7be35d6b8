/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by getaddrinfo(), on threads of a bounded pool. */
#include "dns/nss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/limits.h"
#include "base/log.h"
#include "dns/eai.h"
#include "dns/lookup.h"
#include "dns/workers.h"

struct rcm_nss {
	struct rcm_workers *workers;
	rcm_nss_ask_fn *ask;
};

struct nss_name {
	struct rcm_dns_lookup base;
	struct rcm_job job;
	rcm_nss_ask_fn *ask;
	int eai;
	int system_errno;
	struct addrinfo *list;
	char text[];			/* a copy: a thread may be in it when whoever asked is gone */
};

static const struct rcm_workers_limits nss_limits = {
	.name = "rai-nss", .at_once = RCM_NSS_WORKERS, .threads = RCM_NSS_THREADS, .stack = RCM_NSS_STACK,
};

int rcm_nss_ask(const char *name, int family, struct addrinfo **ret_list)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };

	return getaddrinfo(name, NULL, &hints, ret_list);
}

static struct nss_name *nss_name_of(struct rcm_job *job)
{
	return rcm_container(job, struct nss_name, job);
}

static void nss_name_free(struct rcm_job *job)
{
	struct nss_name *name = nss_name_of(job);

	if (name->list)
		freeaddrinfo(name->list);
	free(name);
}

static void nss_name_run(struct rcm_job *job)
{
	struct nss_name *name = nss_name_of(job);

	name->eai = name->ask(name->text, name->base.family, &name->list);
	name->system_errno = errno;
}

static void nss_name_cancel(struct rcm_dns_lookup *lookup)
{
	rcm_job_drop(&rcm_container(lookup, struct nss_name, base)->job);
}

/* getaddrinfo() tells all at once. */
static bool nss_name_partial(struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	(void)lookup;
	(void)done;
	(void)arg;
	return false;
}

static unsigned results_count(const struct addrinfo *list)
{
	unsigned count = 0;

	for (; list && count < RCM_RESULTS_MAX; list = list->ai_next)
		count += list->ai_family == AF_INET || list->ai_family == AF_INET6;
	return count;
}

static void results_fill(union rcm_dns_address *addresses, unsigned count, const struct addrinfo *list)
{
	for (unsigned i = 0; i < count; list = list->ai_next) {
		if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
			continue;
		memcpy(&addresses[i++], list->ai_addr, list->ai_addrlen);
	}
}

static void nss_name_fail(struct nss_name *name, int status, int code, const char *why)
{
	const struct rcm_dns_answer answer = { .status = status, .code = code, .text = why };

	rcm_info("dns: \"%s\": %s", name->text, why);
	name->base.done(name->base.arg, &answer);
}

static void nss_name_deliver(struct nss_name *name)
{
	struct rcm_dns_answer answer = { .count = results_count(name->list), .canonname = name->list->ai_canonname };
	union rcm_dns_address *addresses;

	addresses = calloc(answer.count, sizeof(*addresses));
	if (addresses)
		results_fill(addresses, answer.count, name->list);
	else
		answer = (struct rcm_dns_answer){ .status = -ENOMEM, .code = EAI_MEMORY };
	answer.addresses = addresses;
	name->base.done(name->base.arg, &answer);
	free(addresses);
}

/* Why it failed. A "system error" has no errno of its own where it is that the last module isn't there. */
static void nss_name_why(const struct nss_name *name, int status, char *text, size_t size)
{
	if (name->eai == EAI_SYSTEM && status == -EIO)
		snprintf(text, size,
			 "getaddrinfo: System error, as where nsswitch.conf has a module that isn't installed");
	else
		snprintf(text, size, "getaddrinfo: %s", gai_strerror(name->eai));
}

const char *rcm_nss_refusal(int status)
{
	return status == -EBUSY ? "the system's modules have not come back from too many names that were given up" :
				  "no thread can be started for the system's modules";
}

static void nss_name_done(struct rcm_job *job, int status)
{
	struct nss_name *name = nss_name_of(job);
	char text[RCM_TEXT_MAX];
	int error;

	if (status) {
		nss_name_fail(name, -EAGAIN, EAI_AGAIN, rcm_nss_refusal(status));
	} else if (name->eai) {
		error = rcm_eai_errno(name->eai, name->system_errno);
		nss_name_why(name, error, text, sizeof(text));
		nss_name_fail(name, error, name->eai, text);
	} else {
		nss_name_deliver(name);
	}
	nss_name_free(job);
}

static const struct rcm_job_ops nss_name_ops = { .run = nss_name_run, .done = nss_name_done, .free = nss_name_free };

int rcm_nss_start(struct rcm_nss *nss, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup)
{
	static const struct rcm_lookup_ops ops = { .cancel = nss_name_cancel, .partial = nss_name_partial };
	size_t len = strlen(query->name);
	struct nss_name *name = calloc(1, sizeof(*name) + len + 2);

	if (!name)
		return -ENOMEM;
	rcm_lookup_init(&name->base, &ops, query, done, arg);
	name->job.ops = &nss_name_ops;
	name->ask = nss->ask;
	strcpy(stpcpy(name->text, query->name), query->full && len && query->name[len - 1] != '.' ? "." : "");
	rcm_workers_post(nss->workers, &name->job);
	*ret_lookup = &name->base;
	return 0;
}

int rcm_nss_open(struct rcm_loop *loop, rcm_nss_ask_fn *ask, struct rcm_nss **ret_nss)
{
	struct rcm_nss *nss = calloc(1, sizeof(*nss));
	int ret;

	if (!nss)
		return -ENOMEM;
	nss->ask = ask;
	ret = rcm_workers_open(loop, &nss_limits, &nss->workers);
	if (ret)
		free(nss);
	else
		*ret_nss = nss;
	return ret;
}

void rcm_nss_close(struct rcm_nss *nss)
{
	if (!nss)
		return;
	rcm_workers_close(nss->workers);
	free(nss);
}

void rcm_nss_abandon(struct rcm_nss *nss)
{
	if (!nss)
		return;
	rcm_workers_abandon(nss->workers);
	free(nss);
}
