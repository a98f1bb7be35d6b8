/* SPDX-License-Identifier: BSD-2-Clause */
/* One service on its way to the SA, and kept there. */
#include "publish/registration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/container.h"
#include "publish/lease.h"

/* ---- Turns and rests ---- */

static void registration_want(struct rcm_registration *r)
{
	r->state = RCM_REGISTRATION_IN_LINE;
	r->ops->want(r);
}

static void registration_due(struct rcm_timer *timer)
{
	registration_want(rcm_container(timer, struct rcm_registration, timer));
}

/* Ends its turn, until that time; sooner where something changed meanwhile. */
static void registration_rest(struct rcm_registration *r, uint64_t until)
{
	bool again = r->again;

	r->again = false;
	r->state = RCM_REGISTRATION_WAITING;
	r->ops->rest(r);
	if (again)
		registration_want(r);
	else
		rcm_timer_start(r->loop, &r->timer, until, registration_due);
}

/* True: that is new. */
static bool registration_count_told(struct rcm_registration *r, int status)
{
	if (r->ending || (r->told_any && r->told == status))
		return false;
	r->told_any = true;
	r->told = status;
	return true;
}

static void registration_tell(struct rcm_registration *r, int status, const char *text)
{
	if (registration_count_told(r, status))
		r->ops->tell(r, &(struct rcm_service_outcome){ .status = status, .text = text });
}

static void registration_note(struct rcm_registration *r, int status, const char *text)
{
	r->why_status = status;
	snprintf(r->why, sizeof(r->why), "%s", text && *text ? text : strerrordesc_np(-status));
}

/* The SA has it still, for all that is known, as long as the lease runs. */
static void registration_failed(struct rcm_registration *r, int status, const char *text)
{
	uint64_t next = r->loop->now;
	bool refused = status == -EIO && r->state == RCM_REGISTRATION_SETTING;

	if (r->ending) {
		r->ops->over(r);
		return;
	}
	registration_note(r, status, text);
	r->failures++;
	if (refused || !r->there) {
		r->there = false;
		registration_tell(r, status, r->why);
	}
	next += refused ? rcm_lease_renewal(r->offer.lease_s, r->ops->random(r)) :
			  rcm_lease_pause(r->offer.lease_s, r->failures, r->ops->random(r));
	if (r->there && next > r->lease_end)
		next = r->lease_end;
	registration_rest(r, next);
}

/* ---- Questions ---- */

static uint64_t registration_deadline(const struct rcm_registration *r)
{
	return r->loop->now + rcm_lease_patience(r->offer.lease_s);
}

/* What the SA has in the place of the record: own, or any. */
static int registration_query(struct rcm_registration *r, bool own, rcm_sa_done_fn *done)
{
	struct rcm_sa_service_query query = {
		.port = r->port, .by_id = true, .service_id = r->place.id, .by_gid = true, .gid = r->place.gid,
		.by_pkey = true, .pkey = r->place.pkey, .by_key = own, .deadline = registration_deadline(r),
	};

	memcpy(query.key, r->key, sizeof(query.key));
	return r->sa_ops->service(r->sa, &query, done, r, &r->query);
}

static int registration_publish(struct rcm_registration *r, bool remove, rcm_sa_done_fn *done)
{
	struct rcm_sa_publication publication = {
		.port = r->port, .remove = remove, .deadline = registration_deadline(r),
		.record = {
			.id = r->place.id, .gid = r->place.gid, .pkey = r->place.pkey, .lease = r->offer.lease_s,
		},
	};

	memcpy(publication.record.name, r->offer.name, sizeof(r->offer.name));
	memcpy(publication.record.data, r->offer.data, sizeof(r->offer.data));
	memcpy(publication.key, r->key, sizeof(publication.key));
	return r->sa_ops->publish(r->sa, &publication, done, r, &r->query);
}

static void registration_ask(struct rcm_registration *r);

static void registration_set_done(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_registration *r = arg;
	const char *what = r->was_there ? "registered again" : "registered";
	char text[RCM_TEXT_MAX + 32];

	r->query = NULL;
	if (r->ending) {
		registration_ask(r);
		return;
	}
	if (answer->status) {
		registration_failed(r, answer->status, answer->text);
		return;
	}
	r->there = r->was_there = true;
	r->set_sm_lid = r->sm_lid;
	r->lease_end = r->set_at + r->offer.lease_s * RCM_NS_PER_S;
	r->failures = 0;
	snprintf(text, sizeof(text), "%s%s%s", what, r->told_any ? ", after: " : "", r->told_any ? r->why : "");
	registration_tell(r, 0, text);
	registration_rest(r, r->set_at + rcm_lease_renewal(r->offer.lease_s, r->ops->random(r)));
}

static void registration_set(struct rcm_registration *r)
{
	int ret;

	r->state = RCM_REGISTRATION_SETTING;
	r->set_at = r->loop->now;
	r->sent = true;
	ret = registration_publish(r, false, registration_set_done);
	if (ret)
		registration_failed(r, ret, NULL);
}

static void registration_lost(struct rcm_registration *r, int status, const char *text)
{
	r->there = false;
	registration_note(r, status, text);
	registration_tell(r, status, r->why);
}

/* Another of this process has its place: it waits, without a timer, as whoever leaves the place stirs it, unless
 * something changed meanwhile. quiet: that one is about to leave. */
static void registration_block(struct rcm_registration *r, bool quiet)
{
	bool again = r->again;

	r->again = false;
	r->state = RCM_REGISTRATION_WAITING;
	r->blocked = true;
	r->ops->rest(r);
	if (!quiet)
		registration_lost(r, -EEXIST, "this process publishes that id at that port in that partition already");
	if (again)
		registration_want(r);
}

/* Where it has no record, or one that is in its place. */
static void registration_settle(struct rcm_registration *r)
{
	const struct rcm_registration *holder = r->ops->holder(r);

	if (holder) {
		registration_block(r, holder->ending);
		return;
	}
	r->place = r->next;
	registration_set(r);
}

/* Also where it failed: the lease of what is left there runs out. */
static void registration_removed(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_registration *r = arg;

	(void)answer;
	r->query = NULL;
	r->sent = r->there = false;
	if (r->ending) {
		r->ops->over(r);
		return;
	}
	r->ops->left(r);
	registration_settle(r);
}

static void registration_remove(struct rcm_registration *r)
{
	r->state = RCM_REGISTRATION_REMOVING;
	if (registration_publish(r, true, registration_removed))
		registration_removed(r, NULL);
}

static bool is_alike(const struct rcm_registration *r, const struct rcm_sa_service_record *record)
{
	return !strncmp(record->name, r->offer.name, sizeof(r->offer.name)) &&
	       !memcmp(record->data, r->offer.data, sizeof(r->offer.data));
}

static void registration_looked(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_registration *r = arg;
	char text[RCM_TEXT_MAX];

	r->query = NULL;
	if (r->ending) {
		r->ops->over(r);
	} else if (answer->status && answer->status != -ENOENT) {
		registration_failed(r, answer->status, answer->text);
	} else {
		if (answer->status || !answer->count) {
			registration_lost(r, -ENOENT, r->sm_lid != r->set_sm_lid ?
					  "there is another subnet manager, which doesn't have the record" :
					  "the SA doesn't have the record any more");
		} else if (!is_alike(r, &answer->services[0])) {
			snprintf(text, sizeof(text), "another's record was put in its place: \"%.64s\"",
				 answer->services[0].name);
			registration_lost(r, -EEXIST, text);
		}
		registration_set(r);
	}
}

static void registration_look(struct rcm_registration *r)
{
	int ret;

	r->state = RCM_REGISTRATION_LOOKING;
	ret = registration_query(r, false, registration_looked);
	if (ret)
		registration_failed(r, ret, NULL);
}

/* Where its own record isn't there, it isn't to be removed. */
static void registration_asked(void *arg, const struct rcm_sa_answer *answer)
{
	struct rcm_registration *r = arg;

	r->query = NULL;
	if (answer->status && answer->status != -ENOENT)
		registration_failed(r, answer->status, answer->text);
	else if (!answer->status && answer->count && r->ending)
		registration_remove(r);
	else if (r->ending)
		r->ops->over(r);
	else if (!answer->status && answer->count)
		registration_set(r);
	else
		registration_look(r);
}

static void registration_ask(struct rcm_registration *r)
{
	int ret;

	r->state = RCM_REGISTRATION_ASKING;
	ret = registration_query(r, true, registration_asked);
	if (ret)
		registration_failed(r, ret, NULL);
}

/* ---- From outside ---- */

void rcm_registration_start(struct rcm_registration *r, struct rcm_loop *loop, const struct rcm_registration_ops *ops)
{
	r->loop = loop;
	r->ops = ops;
	r->again = r->blocked = false;
	r->query = NULL;
	r->timer = (struct rcm_timer){ 0 };
	registration_want(r);
}

static struct rcm_service_place registration_next(const struct rcm_registration *r, const struct rcm_publish_port *port)
{
	return (struct rcm_service_place){
		.id = r->offer.id, .gid = port->gid, .pkey = r->offer.pkey ? r->offer.pkey : port->pkey,
	};
}

bool rcm_registration_is_at(const struct rcm_registration *r, const struct rcm_service_place *place)
{
	return r->sent && r->place.id == place->id && r->place.pkey == place->pkey &&
	       !memcmp(&r->place.gid, &place->gid, sizeof(place->gid));
}

/* What was found out about the lease while nobody answered. */
static void registration_run_out(struct rcm_registration *r)
{
	if (!r->there || r->loop->now < r->lease_end)
		return;
	r->there = false;
	if (!r->failures)
		registration_note(r, -ENOENT, "its lease ran out");
	registration_tell(r, r->why_status, r->why);
}

void rcm_registration_turn(struct rcm_registration *r, const struct rcm_sa_ops *ops, struct rcm_sa *sa,
			   const struct rcm_publish_port *port)
{
	r->sa_ops = ops;
	r->sa = sa;
	r->port = port->gid;
	r->sm_lid = port->sm_lid;
	r->next = registration_next(r, port);
	r->blocked = false;
	registration_run_out(r);
	if (r->ending && !r->sent) {
		r->ops->over(r);
	} else if (r->ending || (r->there && rcm_registration_is_at(r, &r->next))) {
		registration_ask(r);
	} else if (r->sent && !rcm_registration_is_at(r, &r->next)) {
		registration_remove(r);
	} else {
		registration_settle(r);
	}
}

void rcm_registration_fail(struct rcm_registration *r, int status, const char *text)
{
	registration_run_out(r);
	registration_failed(r, status, text);
}

void rcm_registration_stir(struct rcm_registration *r)
{
	if (r->state == RCM_REGISTRATION_WAITING) {
		rcm_timer_stop(r->loop, &r->timer);
		r->failures = 0;
		registration_want(r);
	} else if (r->state != RCM_REGISTRATION_IN_LINE) {
		r->again = true;
	}
}

/* A Set that is under way is waited for: what comes after it might overtake it. */
void rcm_registration_stop(struct rcm_registration *r)
{
	r->ending = true;
	r->again = false;
	if (r->state == RCM_REGISTRATION_WAITING) {
		rcm_timer_stop(r->loop, &r->timer);
		registration_want(r);
	}
}

bool rcm_registration_forsake(struct rcm_registration *r, int status, const char *text)
{
	r->there = false;
	registration_note(r, status, text);
	return registration_count_told(r, status);
}
