/* SPDX-License-Identifier: BSD-2-Clause */
/* The SA's records whatever they are for: listed, and removed, as an id's one resolution. */
#include "cm/listing.h"

#include <errno.h>
#include <string.h>

#include "cm/id.h"
#include "cm/local.h"
#include "cm/lookup.h"
#include "resolve/question.h"

/* Names of the wire, of all bytes that a record has for one. */
enum { LISTING_NAME_MAX = RCM_SERVICE_NAME_MAX + 1 };

static const struct rai_service_filter any;

static int listing_check(const struct rai_service_filter *filter)
{
	if (memcmp(filter->reserved16, any.reserved16, sizeof(any.reserved16)) != 0 ||
	    memcmp(filter->reserved, any.reserved, sizeof(any.reserved)) != 0)
		return -EINVAL;
	return filter->name && strnlen(filter->name, LISTING_NAME_MAX + 1) > LISTING_NAME_MAX ? -ENAMETOOLONG : 0;
}

int rcm_listing_start(struct rcm_id *id, const struct rai_service_filter *given)
{
	const struct rai_service_filter *filter = given ? given : &any;
	struct rcm_listing listing = {
		.by_gid = memcmp(filter->gid, any.gid, sizeof(any.gid)) != 0,
		.by_pkey = filter->pkey, .pkey = filter->pkey,
	};
	struct rcm_question question = {
		.service = filter->name, .listing = &listing,
		.hints = {
			.flags = RAI_SA | RAI_NOROUTE, .listing = true, .by_id = filter->id, .service_id = filter->id,
		},
	};
	int ret = listing_check(filter);

	memcpy(listing.gid.raw, filter->gid, sizeof(listing.gid.raw));
	if (!ret)
		ret = rcm_local_sa_port(id, &question.port, &question.sa);
	return ret ? ret : rcm_lookup_ask(id, &question);
}

int rcm_listing_remove(struct rcm_id *id, const struct rai_service_record *record)
{
	struct rcm_listing listing = { .remove = true, .by_gid = true, .by_pkey = true, .pkey = record->pkey };
	struct rcm_question question = {
		.listing = &listing,
		.hints = {
			.flags = RAI_SA | RAI_NOROUTE, .listing = true, .by_id = true, .service_id = record->id,
		},
	};
	struct sockaddr_ib bound;
	int ret;

	memcpy(listing.gid.raw, record->gid, sizeof(listing.gid.raw));
	if (!record->id || !memcmp(record->gid, any.gid, sizeof(any.gid)) || record->reserved16 ||
	    memcmp(record->reserved, any.reserved, sizeof(any.reserved)) != 0)
		return -EINVAL;
	if (rcm_id_is_sync(id))
		return -ENOTSUP;
	ret = rcm_local_publish_port(id, &question.port, &bound);
	return ret ? ret : rcm_lookup_ask(id, &question);
}
