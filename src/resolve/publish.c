/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder's door for services to be published: from any thread to the engine's and back. */
#include "resolve/publish.h"

#include "resolve/publication.h"
#include "resolve/resolver.h"

int rcm_publish_start(const struct rcm_service_offer *offer, rcm_publish_told_fn *told, rcm_publish_over_fn *over,
		      void *arg, struct rcm_publication **ret_publication)
{
	struct rcm_publication *publication;
	struct rcm_engine *engine;
	int ret = rcm_resolver_start(&engine);

	if (!ret)
		ret = rcm_publication_new(offer, engine, &publication);
	if (ret)
		return ret;
	publication->told = told;
	publication->over = over;
	publication->arg = arg;
	*ret_publication = publication;
	rcm_engine_post_errand(engine, &publication->start);
	return 0;
}

void rcm_publish_stop(struct rcm_publication *publication)
{
	struct rcm_engine *engine;

	if (publication && !rcm_publication_stop(publication))
		rcm_resolver_start(&engine);
}

void rcm_publish_forsake(struct rcm_publication *publication)
{
	if (publication)
		rcm_publication_free(publication);
}
