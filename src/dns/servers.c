/* SPDX-License-Identifier: BSD-2-Clause */
/* The name servers that are asked. */
#include "dns/servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/container.h"

void rcm_servers_init(struct rcm_servers *servers, struct rcm_loop *loop, void (*room)(void *), void *room_arg)
{
	*servers = (struct rcm_servers){ .carry = { .loop = loop }, .room = room, .room_arg = room_arg };
	TAILQ_INIT(&servers->contacts);
}

static void servers_contact_free(struct rcm_contact *contact)
{
	struct rcm_servers *servers = contact->servers;

	TAILQ_REMOVE(&servers->contacts, contact, entry);
	rcm_timer_stop(servers->carry.loop, &contact->patience);
	rcm_udp_done(&contact->udp);
	rcm_tcp_done(&contact->tcp);
	free(contact);
}

void rcm_servers_done(struct rcm_servers *servers)
{
	while (!TAILQ_EMPTY(&servers->contacts))
		servers_contact_free(TAILQ_FIRST(&servers->contacts));
	rcm_timer_stop(servers->carry.loop, &servers->bury);
	free(servers->carry.received);
	servers->carry.received = NULL;
}

static struct rcm_contact *servers_find(struct rcm_servers *servers, const union rcm_dns_address *address)
{
	struct rcm_contact *contact;

	TAILQ_FOREACH(contact, &servers->contacts, entry)
		if (!contact->gone && !memcmp(&contact->known.address, address, sizeof(*address)))
			return contact;
	return NULL;
}

struct rcm_contact *rcm_servers_get(struct rcm_servers *servers, const union rcm_dns_address *address)
{
	struct rcm_contact *contact = servers_find(servers, address);

	if (contact)
		return contact;
	contact = calloc(1, sizeof(*contact));
	if (!contact)
		return NULL;
	contact->servers = servers;
	rcm_server_init(&contact->known, address);
	rcm_udp_init(&contact->udp, &servers->carry, address);
	rcm_tcp_init(&contact->tcp, &servers->carry, address);
	TAILQ_INIT(&contact->placed);
	TAILQ_INIT(&contact->waiting);
	TAILQ_INSERT_TAIL(&servers->contacts, contact, entry);
	return contact;
}

void rcm_servers_order(struct rcm_servers *servers, const struct rcm_resolv *resolv, uint8_t order[RCM_RESOLV_SERVERS])
{
	unsigned count = resolv->servers_count, first = resolv->rotate ? servers->turn++ : 0;
	uint8_t last[RCM_RESOLV_SERVERS];
	unsigned given = 0, kept = 0;

	for (unsigned i = 0; i < count; i++) {
		uint8_t index = (uint8_t)((first + i) % count);
		struct rcm_contact *contact = servers_find(servers, &resolv->servers[index]);

		if (contact && count > 1 && rcm_server_is_last(&contact->known, servers->carry.loop->now))
			last[kept++] = index;
		else
			order[given++] = index;
	}
	memcpy(order + given, last, kept);
}

static void servers_bury(struct rcm_timer *timer)
{
	struct rcm_servers *servers = rcm_container(timer, struct rcm_servers, bury);
	struct rcm_contact *contact, *next;

	for (contact = TAILQ_FIRST(&servers->contacts); contact; contact = next) {
		next = TAILQ_NEXT(contact, entry);
		if (contact->gone)
			servers_contact_free(contact);
	}
}

/* Later, as one of their sockets may be what brought us here. */
void rcm_servers_keep(struct rcm_servers *servers, const struct rcm_resolv *resolv)
{
	struct rcm_contact *contact;

	TAILQ_FOREACH(contact, &servers->contacts, entry) {
		if (rcm_resolv_has(resolv, &contact->known.address))
			continue;
		contact->gone = true;
		rcm_timer_start(servers->carry.loop, &servers->bury, 0, servers_bury);
	}
}

void rcm_servers_flush(struct rcm_servers *servers)
{
	struct rcm_contact *contact;

	TAILQ_FOREACH(contact, &servers->contacts, entry) {
		rcm_udp_flush(&contact->udp);
		rcm_tcp_flush(&contact->tcp);
	}
}
