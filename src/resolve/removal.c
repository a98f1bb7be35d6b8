/* SPDX-License-Identifier: BSD-2-Clause */
/* The removal of one service record from the SA, whosever it is. */
#include "resolve/removal.h"

#include <errno.h>
#include <stdlib.h>

enum { REQ_INVALID = 0x0200 };		/* IBTA 15.2.3, SA status; opensm ib_types.h */

struct rcm_removal {
	struct rcm_flight *flight;
	struct rcm_sa_client client;
	struct rcm_sa_query *query;
	struct rcm_sa_publication publication;
};

void rcm_removal_free(struct rcm_removal *removal)
{
	free(removal);
}

void rcm_removal_cancel(struct rcm_removal *removal)
{
	if (!removal)
		return;
	removal->client.ops->cancel(removal->client.sa, removal->query);
	rcm_removal_free(removal);
}

static struct rcm_answer *removal_answer(const struct rcm_sa_answer *from)
{
	struct rcm_answer *answer;

	if (from->status)
		return rcm_answer_failed(from->status, from->mad_status, from->text);
	return rcm_answer_new(0, NULL, &answer) ? rcm_answer_fixed(RCM_ANSWER_NO_MEMORY) : answer;
}

static void removal_done(void *arg, const struct rcm_sa_answer *from);

static int removal_ask(struct rcm_removal *removal)
{
	return removal->client.ops->publish(removal->client.sa, &removal->publication, removal_done, removal,
					    &removal->query);
}

/* Of a record whose P_Key is told OpenSM looks whether its port is there, and a member: one of a host that has gone for
 * good would stay. What is to be removed is the same without. */
static bool removal_loosens(struct rcm_removal *removal, const struct rcm_sa_answer *from)
{
	if (from->status != -EIO || from->mad_status != REQ_INVALID || removal->publication.loose)
		return false;
	removal->publication.loose = true;
	return !removal_ask(removal);
}

static void removal_done(void *arg, const struct rcm_sa_answer *from)
{
	struct rcm_removal *removal = arg;
	struct rcm_flight *flight = removal->flight;

	if (removal_loosens(removal, from))
		return;
	flight->removal = NULL;
	flight->late = from->late && from->status;
	rcm_removal_free(removal);
	rcm_flight_land(flight, removal_answer(from));
}

int rcm_removal_start(struct rcm_flight *flight, const struct rcm_request *request)
{
	struct rcm_engine *engine = flight->engine;
	struct rcm_sa_client *client;
	struct rcm_removal *removal;
	int ret = rcm_engine_sa(engine, request->sa, &client);

	if (ret)
		return ret;
	removal = calloc(1, sizeof(*removal));
	if (!removal)
		return -ENOMEM;
	removal->flight = flight;
	removal->client = *client;
	removal->publication = (struct rcm_sa_publication){
		.port = request->port_gid, .remove = true, .loose = !request->listing->pkey,
		.record = { .id = request->service_id, .gid = request->listing->gid, .pkey = request->listing->pkey },
		.deadline = rcm_request_backend_deadline(request, engine->loop.now),
	};
	ret = removal_ask(removal);
	if (ret)
		rcm_removal_free(removal);
	else
		flight->removal = removal;
	return ret;
}
