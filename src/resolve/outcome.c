/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a resolution. */
#include "resolve/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "dns/eai.h"

/* So many characters of a name are told; more would hide the reason from who reads a line. */
enum { SHOWN = 60 };

static char *words_of(const char *what, const char *name, const char *where, const char *why)
{
	bool whole = strlen(name) <= SHOWN;
	char *text;

	return asprintf(&text, "%s %.*s%s%s: %s", what, SHOWN, name, whole ? "" : "...", where, why) < 0 ? NULL : text;
}

/* "name host.example: no such host"; NULL without memory for it. */
static char *outcome_explain(const struct rcm_about *about, const struct rcm_answer *answer)
{
	const char *why = answer->text ? answer->text : "failed";
	const char *service = about->service ? about->service : "-";
	char pathless[64], lost[96];

	if (answer->missing)
		why = answer->missing == AF_INET ? "found without IPv4 addresses, which nobody told in time" :
						   "found without IPv6 addresses, which nobody told in time";
	if (answer->targets_lost) {
		snprintf(lost, sizeof(lost), "found, but no address of %u of its %u targets%s", answer->targets_lost,
			 answer->targets, answer->missing ? ", and not both families of others" : "");
		why = lost;
	}
	if (answer->pathless) {
		snprintf(pathless, sizeof(pathless), "%u record%s, %u without a path", answer->count,
			 answer->count > 1 ? "s" : "", answer->pathless);
		why = pathless;
	}
	if (about->sa && !about->service)
		return words_of("services", "at", " the SA", why);
	if (about->sa)
		return words_of("service", service, " at the SA", why);
	if (rcm_answer_is(answer, RCM_ANSWER_NO_SERVICE) || !about->node)
		return words_of("service", service, "", why);
	return words_of("name", about->node, "", why);
}

/* Of failures that no back end made there is no MAD status, and the EAI code follows from the status. */
static uint64_t outcome_arg(const struct rcm_about *about, const struct rcm_answer *answer)
{
	if (!answer->status || (answer->arg && !(about->sa && rcm_answer_is_fixed(answer))))
		return answer->arg;
	return about->sa ? 0 : (uint64_t)rcm_status_eai(answer->status);
}

static enum rcm_count count_of(int status)
{
	if (!status)
		return RCM_COUNT_RESOLVED;
	return status == -ECANCELED ? RCM_COUNT_CANCELLED : RCM_COUNT_FAILED;
}

void rcm_outcome_tell(struct rcm_engine *engine, const struct rcm_about *about, struct rcm_answer *answer,
		      rcm_outcome_fn *done, void *arg)
{
	struct rcm_outcome outcome = {
		.status = answer->status, .arg = outcome_arg(about, answer), .port = about->port, .more = about->more,
	};

	rcm_stats_count(&engine->stats, count_of(answer->status));
	if (answer->status == -ETIMEDOUT)
		rcm_stats_count(&engine->stats, RCM_COUNT_TIMEOUTS);
	if (answer->status || answer->missing || answer->pathless || answer->targets_lost)
		outcome.text = outcome_explain(about, answer);
	if (answer->status)
		rcm_answer_put(answer);
	else
		outcome.answer = answer;
	RCM_PROBE(told, about->number, outcome.status, outcome.arg, about->kind, outcome.text);
	done(arg, &outcome);
}

void rcm_outcome_announce(const struct rcm_about *about, const struct rcm_answer *answer)
{
	if (rcm_tell_wants())
		rcm_step_write(about->number, RCM_STEP_TOLD, "status %s, arg %lld", rcm_step_status(answer->status),
			       (long long)outcome_arg(about, answer));
}

static struct rcm_about outcome_about(const struct rcm_request *request, bool more)
{
	return (struct rcm_about){
		.node = request->node, .service = request->service, .sa = rcm_request_is_sa(request),
		.kind = rcm_kind_of(request->flags),
		.port = request->port, .number = request->number, .more = more,
	};
}

void rcm_request_announce(const struct rcm_request *request, const struct rcm_answer *answer)
{
	const struct rcm_about about = outcome_about(request, false);

	rcm_outcome_announce(&about, answer);
}

void rcm_request_tell(struct rcm_request *request, struct rcm_answer *answer, bool more)
{
	const struct rcm_about about = outcome_about(request, more);

	rcm_outcome_tell(request->engine, &about, answer, request->done, request->arg);
	rcm_request_unref(request);
}

static void (*outcomes_told)(void);

void rcm_outcomes_watch(void (*told)(void))
{
	outcomes_told = told;
}

void rcm_outcomes_told(void)
{
	if (outcomes_told)
		outcomes_told();
}
