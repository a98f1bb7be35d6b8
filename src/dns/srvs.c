/* SPDX-License-Identifier: BSD-2-Clause */
/* The SRV records of one answer. */
#include "dns/srvs.h"

#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "dns/rr.h"

/* ---- Records ---- */

static bool srv_is_same(const struct rcm_dns_srv *a, const struct rcm_dns_srv *b)
{
	return a->priority == b->priority && a->weight == b->weight && a->port == b->port &&
	       rcm_ascii_same(a->target, b->target);
}

/* Where one more goes: behind the others, or in the place of the last of those with the worst priority. NULL: it is
 * there, or worse than all. */
static struct rcm_dns_srv *srvs_place(struct rcm_srvs *srvs, const struct rcm_dns_srv *srv)
{
	struct rcm_dns_srv *worst = srvs->records;

	for (unsigned i = 0; i < srvs->count; i++) {
		if (srv_is_same(&srvs->records[i], srv))
			return NULL;
		if (srvs->records[i].priority >= worst->priority)
			worst = &srvs->records[i];
	}
	if (srvs->count < RCM_SRV_RECORDS_MAX)
		return &srvs->records[srvs->count++];
	return srv->priority < worst->priority ? worst : NULL;
}

/* Whether its target can be a host; "." is none. */
static bool srvs_take_record(struct rcm_dns_srv *srv, const struct rcm_rr_srv *from)
{
	char text[NS_MAXDNAME];

	rcm_labels_print(from->target, text);
	if (!from->target[0] || strlen(text) >= sizeof(srv->target) || !res_hnok(text))
		return false;
	*srv = (struct rcm_dns_srv){ .priority = from->priority, .weight = from->weight, .port = from->port };
	strcpy(srv->target, text);
	return true;
}

/* Whether a "." was among them. */
static bool srvs_read_records(struct rcm_srvs *srvs, const struct rcm_message_answer *answer)
{
	size_t at = answer->records;
	struct rcm_dns_srv srv, *place;
	bool declined = false;
	struct rcm_rr_srv from;
	struct rcm_rr rr;

	for (size_t i = 0; i < answer->records_count; i++) {
		if (!rcm_rr_read_again(answer->bytes, answer->len, &at, &rr) || !rcm_message_wants(answer, &rr) ||
		    !rcm_rr_read_srv(answer->bytes, answer->len, &rr, &from))
			continue;
		declined |= !from.target[0];
		place = srvs_take_record(&srv, &from) ? srvs_place(srvs, &srv) : NULL;
		if (place)
			*place = srv;
	}
	return declined;
}

/* ---- Addresses ---- */

/* The labels behind those that begin with "_". */
static const uint8_t *srvs_domain(const uint8_t *labels)
{
	while (labels[0] && labels[1] == '_')
		labels += labels[0] + 1;
	return labels;
}

/* At the domain, or below it; the root has nothing below it here. */
static bool srvs_is_within(const uint8_t *target, const uint8_t *domain)
{
	size_t want = rcm_labels_size(domain);

	if (!domain[0])
		return false;
	while (rcm_labels_size(target) > want)
		target += target[0] + 1;
	return rcm_labels_are(target, rcm_labels_size(target), 0, domain);
}

static bool srvs_add_address(struct rcm_srvs *srvs, const struct rcm_message_answer *answer, const struct rcm_rr *rr)
{
	union rcm_dns_address *grown = srvs->addresses;
	unsigned count = srvs->addresses_count;

	/* Room is made by powers of two. */
	if (!(count & (count - 1)))
		grown = realloc(grown, (count ? 2 * (size_t)count : 1) * sizeof(*grown));
	if (!grown)
		return false;
	srvs->addresses = grown;
	rcm_message_put_address(&grown[count], rr->type, answer->bytes + rr->data);
	srvs->addresses_count++;
	if (rr->ttl < srvs->ttl)
		srvs->ttl = rr->ttl;
	return true;
}

/* False: no memory. */
static bool srvs_read_extras(struct rcm_srvs *srvs, const struct rcm_message_answer *answer, struct rcm_dns_srv *srv,
			     const uint8_t *target)
{
	size_t at = answer->extras;
	struct rcm_rr rr;

	srv->first = srvs->addresses_count;
	for (size_t i = 0; i < answer->extras_count && i < RCM_SRV_EXTRAS_MAX; i++) {
		if (!rcm_rr_read_again(answer->bytes, answer->len, &at, &rr) ||
		    (rr.type != ns_t_a && rr.type != ns_t_aaaa) || srv->count == RCM_SRV_ADDRESSES_MAX ||
		    !rcm_rr_fits(answer->bytes, answer->len, &rr) ||
		    !rcm_labels_are(answer->bytes, answer->len, rr.owner, target))
			continue;
		if (!srvs_add_address(srvs, answer, &rr))
			return false;
		srv->count++;
	}
	return true;
}

static const struct rcm_dns_srv *srvs_same_target(const struct rcm_srvs *srvs, const struct rcm_dns_srv *srv)
{
	for (const struct rcm_dns_srv *before = srvs->records; before < srv; before++)
		if (rcm_ascii_same(before->target, srv->target))
			return before;
	return NULL;
}

static bool srvs_find_addresses(struct rcm_srvs *srvs, const struct rcm_message_answer *answer)
{
	const uint8_t *domain = srvs_domain(answer->asked);
	uint8_t target[RCM_LABELS_MAX];
	const struct rcm_dns_srv *same;

	for (struct rcm_dns_srv *srv = srvs->records; srv < srvs->records + srvs->count; srv++) {
		same = srvs_same_target(srvs, srv);
		if (same) {
			srv->first = same->first;
			srv->count = same->count;
			continue;
		}
		if (!rcm_labels_read(srv->target, target) || !srvs_is_within(target, domain))
			continue;
		if (!srvs_read_extras(srvs, answer, srv, target))
			return false;
	}
	return true;
}

/* ---- Both ---- */

enum rcm_dns_verdict rcm_srvs_read(struct rcm_srvs *srvs, const struct rcm_message_answer *answer)
{
	unsigned most = answer->count < RCM_SRV_RECORDS_MAX ? answer->count : RCM_SRV_RECORDS_MAX;
	bool declined;

	rcm_srvs_clear(srvs);
	srvs->records = calloc(most, sizeof(*srvs->records));
	if (!srvs->records)
		return RCM_DNS_NOMEM;
	srvs->ttl = answer->ttl;
	declined = srvs_read_records(srvs, answer);
	if (!srvs->count)
		return declined ? RCM_DNS_DECLINED : RCM_DNS_MALFORMED;
	return srvs_find_addresses(srvs, answer) ? RCM_DNS_FOUND : RCM_DNS_NOMEM;
}

void rcm_srvs_clear(struct rcm_srvs *srvs)
{
	free(srvs->records);
	free(srvs->addresses);
	*srvs = (struct rcm_srvs){ 0 };
}
