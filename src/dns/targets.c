/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts that SRV records name. */
#include "dns/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "dns/eai.h"

/* ---- Which there are ---- */

static struct rcm_target *targets_find(const struct rcm_targets *targets, const char *name)
{
	for (unsigned i = 0; i < targets->count; i++)
		if (rcm_ascii_same(targets->targets[i].name, name))
			return &targets->targets[i];
	return NULL;
}

bool rcm_targets_take(struct rcm_targets *targets, const struct rcm_dns_answer *answer, int family)
{
	targets->records = calloc(answer->srv_count, sizeof(*targets->records));
	targets->targets = calloc(answer->srv_count, sizeof(*targets->targets));
	if (!targets->records || !targets->targets)
		return false;
	targets->records_count = answer->srv_count;
	memcpy(targets->records, answer->srv, answer->srv_count * sizeof(*targets->records));
	targets->ttl = answer->ttl;
	for (unsigned i = 0; i < answer->srv_count; i++) {
		struct rcm_target *target = &targets->targets[targets->count];

		if (targets_find(targets, answer->srv[i].target))
			continue;
		targets->count++;
		target->all = targets;
		target->family = family;
		strcpy(target->name, answer->srv[i].target);
	}
	return true;
}

void rcm_targets_clear(struct rcm_targets *targets)
{
	free(targets->targets);
	free(targets->records);
	free(targets->addresses);
	free(targets->text);
	*targets = (struct rcm_targets){ 0 };
}

/* ---- What is found ---- */

static void targets_limit_ttl(struct rcm_targets *targets, uint32_t ttl)
{
	if (ttl < targets->ttl)
		targets->ttl = ttl;
}

/* Where its addresses end: behind all others', if those came in between. */
static void target_move_to_end(struct rcm_target *target)
{
	struct rcm_targets *all = target->all;

	if (target->first + target->count == all->addresses_count)
		return;
	memcpy(all->addresses + all->addresses_count, all->addresses + target->first,
	       target->count * sizeof(*all->addresses));
	target->first = all->addresses_count;
	all->addresses_count += target->count;
}

bool rcm_target_add(struct rcm_target *target, const union rcm_dns_address *addresses, unsigned count)
{
	unsigned room = RCM_SRV_ADDRESSES_MAX - target->count;
	struct rcm_targets *all = target->all;
	union rcm_dns_address *grown;

	if (count > room)
		count = room;
	if (!count)
		return true;
	grown = realloc(all->addresses, ((size_t)all->addresses_count + target->count + count) * sizeof(*grown));
	if (!grown)
		return false;
	all->addresses = grown;
	target_move_to_end(target);
	if (!target->count)
		all->found++;
	memcpy(grown + all->addresses_count, addresses, count * sizeof(*grown));
	target->first = all->addresses_count - target->count;
	all->addresses_count += count;
	target->count += count;
	return true;
}

bool rcm_target_take_extras(struct rcm_target *target, const struct rcm_dns_answer *answer)
{
	const struct rcm_dns_srv *record = answer->srv;
	int wanted = target->family;
	bool v4 = false, v6 = false;

	while (!rcm_ascii_same(record->target, target->name))
		record++;
	for (unsigned i = record->first; i < record->first + record->count; i++) {
		int family = answer->addresses[i].sa.sa_family;

		if (wanted != AF_UNSPEC && family != wanted)
			continue;
		if (!rcm_target_add(target, &answer->addresses[i], 1))
			return false;
		v4 |= family == AF_INET;
		v6 |= family == AF_INET6;
	}
	target->over = (v4 && v6) || (wanted != AF_UNSPEC && target->count);
	if (wanted == AF_UNSPEC && v4 != v6)
		target->family = v4 ? AF_INET6 : AF_INET;
	return true;
}

/* ---- What is not ---- */

/* Of two failures the one that may be over sooner is told. */
static unsigned target_weigh(int status)
{
	static const int rising[] = { -ENOENT, -ENODATA, -EIO, -EAGAIN, -ETIMEDOUT };

	for (unsigned i = 0; i < sizeof(rising) / sizeof(*rising); i++)
		if (rising[i] == status)
			return i;
	return 2;
}

/* How long a failure may be kept: a "no" for no longer than it would be alone. */
static uint32_t target_keep(const struct rcm_dns_answer *answer)
{
	if (answer->status != -ENOENT && answer->status != -ENODATA)
		return 0;
	return answer->ttl < RCM_TTL_NEGATIVE_S ? answer->ttl : RCM_TTL_NEGATIVE_S;
}

/* One family came with the records: the other isn't there, or nobody says so in time. */
static void target_do_without(struct rcm_target *target, const struct rcm_dns_answer *answer)
{
	bool none = answer->status == -ENODATA;

	targets_limit_ttl(target->all, none ? answer->ttl : 0);
	if (answer->status == -ETIMEDOUT)
		target->all->missing = target->family;
}

static void target_fail(struct rcm_target *target, const struct rcm_dns_answer *answer)
{
	struct rcm_targets *all = target->all;

	targets_limit_ttl(all, target_keep(answer));
	if (all->status && target_weigh(answer->status) <= target_weigh(all->status))
		return;
	all->status = answer->status;
	all->code = answer->code;
	free(all->text);
	if (asprintf(&all->text, "target %s: %s", target->name, answer->text ? answer->text : "failed") < 0)
		all->text = NULL;
}

bool rcm_target_end(struct rcm_target *target, const struct rcm_dns_answer *answer)
{
	struct rcm_targets *all = target->all;

	target->over = true;
	if (answer->status) {
		if (target->count)
			target_do_without(target, answer);
		else
			target_fail(target, answer);
		return true;
	}
	targets_limit_ttl(all, answer->ttl);
	if (answer->missing)
		all->missing = answer->missing;
	return rcm_target_add(target, answer->addresses, answer->count);
}

/* ---- What is told ---- */

/* Records whose targets have addresses. */
static unsigned targets_fill(const struct rcm_targets *targets, struct rcm_dns_srv *found)
{
	unsigned count = 0;

	for (unsigned i = 0; i < targets->records_count; i++) {
		const struct rcm_target *target = targets_find(targets, targets->records[i].target);

		if (!target->count)
			continue;
		found[count] = targets->records[i];
		found[count].first = target->first;
		found[count++].count = target->count;
	}
	return count;
}

static void targets_tell_failure(const struct rcm_targets *targets, uint32_t ttl, rcm_dns_done_fn *done, void *arg)
{
	struct rcm_dns_answer answer = { .status = targets->status, .code = targets->code, .ttl = ttl };
	char text[RCM_TEXT_MAX];

	snprintf(text, sizeof(text), "%s%s", targets->count > 1 ? "no target has an address; " : "",
		 targets->text ? targets->text : "its target has no address");
	answer.text = text;
	done(arg, &answer);
}

void rcm_targets_tell(const struct rcm_targets *targets, uint32_t ttl, const char *name, rcm_dns_done_fn *done,
		      void *arg)
{
	struct rcm_dns_answer answer = {
		.ttl = ttl, .count = targets->addresses_count, .addresses = targets->addresses, .canonname = name,
		.targets = targets->count, .targets_lost = targets->count - targets->found,
		.missing = targets->missing,
	};
	struct rcm_dns_srv *found;

	if (!targets->found) {
		targets_tell_failure(targets, ttl, done, arg);
		return;
	}
	found = calloc(targets->records_count, sizeof(*found));
	answer.srv = found;
	if (found)
		answer.srv_count = targets_fill(targets, found);
	else
		answer = (struct rcm_dns_answer){ .status = rcm_verdict_errno(RCM_DNS_NOMEM),
						  .code = rcm_verdict_eai(RCM_DNS_NOMEM),
						  .text = rcm_verdict_text(RCM_DNS_NOMEM) };
	done(arg, &answer);
	free(found);
}
