/* SPDX-License-Identifier: BSD-2-Clause */
/* One call and what comes of it; and many, one after the other. */
#include "beside.h"

static void step_changes(struct world *w, const char *prefix)
{
	if (!w->id)
		return;
	w->after.len = 0;
	show_id(&w->after, "", w, w->id);
	show_changes(&w->result, prefix, &w->before, &w->after);
	w->before = w->after;
}

static bool step_refused(const struct world *w)
{
	return w->result.len && strstr(w->result.at, " ret=-1 ");
}

void step_run(struct world *w, const struct call *call, const char *arg, int quiet_ms)
{
	w->result.len = w->own.len = w->theirs.len = w->before.len = 0;
	w->own_events = w->their_events = 0;
	memset(w->result.at, 0, sizeof(w->result.at));
	if (w->id)
		show_id(&w->before, "", w, w->id);
	call->run(w, arg);
	step_changes(w, "now.");
	/* Of what was refused nothing is to come. */
	events_settle(w, step_refused(w) ? quiet_ms / 4 : quiet_ms);
	events_stop_peer(w);
	step_changes(w, "then.");
}

/* ---- Sequences ---- */

static const struct state *sequence_state(struct world *w)
{
	const struct state *state;

	/* A synchronous id would wait for what the next step does. */
	do {
		state = &states[arg_random(w) % states_count];
	} while (state->synchronous || state->own_device || arg_is(state->name, "null"));
	return state;
}

static const struct call *sequence_call(struct world *w)
{
	size_t which = arg_random(w) % (conn_calls_count + id_calls_count + own_calls_count);

	if (which < conn_calls_count)
		return &conn_calls[which];
	which -= conn_calls_count;
	return which < id_calls_count ? &id_calls[which] : &own_calls[which - id_calls_count];
}

static void sequence_arg(struct world *w, const struct call *call, char *ret_arg, size_t size)
{
	char words[600], *rest = NULL, *word;
	unsigned int count = 0;
	uint64_t wanted;

	snprintf(words, sizeof(words), "%s", call->args);
	for (const char *at = call->args; *at; at++)
		count += *at == ' ';
	/* Every other one is as most programs give it. */
	wanted = arg_random(w) % 2 ? arg_random(w) % (count + 1) : 0;
	word = strtok_r(words, " ", &rest);
	while (wanted-- > 0 && word)
		word = strtok_r(NULL, " ", &rest);
	snprintf(ret_arg, size, "%s", word ? word : "good");
}

/*
 * Linux takes a part of the destination that it refuses to an id with a route, doesn't find the id by what it was known by
 * when it ends, and dies of the next one (docs/testing.md).
 */
static bool sequence_is_deadly(const struct world *w, const struct call *call, const struct state *state, int step)
{
	bool routed = w->id->route.num_paths || (step == 1 && strstr(state->name, "route_due"));

	return routed && !strncmp(call->name, "resolve", strlen("resolve"));
}

/* The other end's turn. */
static void sequence_turn(struct world *w)
{
	struct rdma_event_channel *channel = w->channel;
	struct rdma_cm_id *id = w->id;

	w->id = w->peer;
	w->peer = id;
	w->channel = w->peer_channel;
	w->peer_channel = channel;
}

void sequence_run(struct world *w, int steps, int quiet_ms, int fd)
{
	const struct state *state = sequence_state(w);

	state_make(w, state);
	w->peer_accepts = false;
	for (int i = 1; i <= steps; i++) {
		const struct call *call = sequence_call(w);
		char arg[32];

		sequence_arg(w, call, arg, sizeof(arg));
		if (w->peer && arg_random(w) % 3 == 0)
			sequence_turn(w);
		if (!w->id && w->peer)
			sequence_turn(w);
		if (!w->id)
			return;
		if (sequence_is_deadly(w, call, state, i) || (arg_is(call->name, "migrate") && arg_is(arg, "null")))
			continue;
		dprintf(fd, "%c%s.%d/%s/%s ", STEP, w->name, i, call->name, arg);
		step_run(w, call, arg, quiet_ms);
		dprintf(fd, " from=%s%.*s%.*s%.*s\n", state->name, (int)w->result.len, w->result.at, (int)w->own.len,
			w->own.at, (int)w->theirs.len, w->theirs.at);
	}
}
