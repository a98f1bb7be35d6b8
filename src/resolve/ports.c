/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows where devices tell that something happened to their ports. */
#include "resolve/ports.h"

#include "base/container.h"
#include "resolve/config.h"
#include "resolve/flight.h"

static struct rcm_engine *engine_of(struct rcm_monitor *monitor)
{
	return rcm_container(monitor, struct rcm_engine, monitor);
}

static int ports_read(struct rcm_sa_port *ports, unsigned max)
{
	const struct rcm_engine *engine = rcm_engine_the();

	return engine->backends.sa_ports(ports, max);
}

static bool ports_matter(struct rcm_monitor *monitor)
{
	const struct rcm_publisher *publisher = &engine_of(monitor)->publisher;

	return publisher->loop && !LIST_EMPTY(&publisher->all);
}

/* What was asked before is neither shared nor kept. */
static void ports_changed(struct rcm_monitor *monitor, bool all)
{
	struct rcm_engine *engine = engine_of(monitor);

	if (rcm_config_get()->sa_keep_ms)
		rcm_cache_clear(&engine->cache);
	rcm_flight_age(engine, true);
	for (unsigned i = 0; i < RCM_SA_CLIENTS && engine->sa[i].ops; i++)
		engine->sa[i].ops->look(engine->sa[i].sa);
	rcm_publisher_ports_changed(&engine->publisher, all);
}

void rcm_ports_init(struct rcm_engine *engine)
{
	static const struct rcm_monitor_ops ops = {
		.ports = ports_read, .needed = ports_matter, .changed = ports_changed,
	};

	rcm_monitor_init(&engine->monitor, &engine->loop, &ops, engine->backends.alerts);
}
