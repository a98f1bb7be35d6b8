/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses out of a name server's answer, read by libresolv. */
#include "dns/reply.h"

#include <resolv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"

static size_t address_size(ns_type type)
{
	return type == ns_t_a ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

static void put_address(union rcm_dns_address *to, ns_type type, const unsigned char *data)
{
	memset(to, 0, sizeof(*to));
	if (type == ns_t_a) {
		to->in.sin_family = AF_INET;
		memcpy(&to->in.sin_addr, data, sizeof(to->in.sin_addr));
	} else {
		to->in6.sin6_family = AF_INET6;
		memcpy(&to->in6.sin6_addr, data, sizeof(to->in6.sin6_addr));
	}
}

/* One answer being read. */
struct reading {
	struct rcm_reply *reply;
	ns_type type;
	ns_msg msg;
	union rcm_dns_address *into;
	unsigned found;
	uint32_t ttl;
	char expected[NS_MAXDNAME];	/* the name whose addresses count: the question's, then its aliases' ends */
	char canonname[NS_MAXDNAME];	/* the last of those ends that can be a host's name; "": none */
};

static int read_record(struct reading *reading, const ns_rr *rr)
{
	/* Records of other names are none of the question's: RFC 5452, section 6. */
	if (ns_rr_class(*rr) != ns_c_in || strcasecmp(ns_rr_name(*rr), reading->expected))
		return 0;
	if (ns_rr_type(*rr) == ns_t_cname) {
		if (ns_name_uncompress(ns_msg_base(reading->msg), ns_msg_end(reading->msg), ns_rr_rdata(*rr),
				       reading->expected, sizeof(reading->expected)) < 0)
			return -1;
		if (res_hnok(reading->expected))
			strcpy(reading->canonname, reading->expected);
	} else if (ns_rr_type(*rr) != reading->type) {
		return 0;
	} else if (ns_rr_rdlen(*rr) != address_size(reading->type)) {
		return -1;
	} else if (reading->reply->count + reading->found < RCM_RESULTS_MAX) {
		put_address(&reading->into[reading->found++], reading->type, ns_rr_rdata(*rr));
	}
	if (ns_rr_ttl(*rr) < reading->ttl)
		reading->ttl = ns_rr_ttl(*rr);
	return 0;
}

static int read_question(struct reading *reading)
{
	ns_rr rr;

	if (ns_msg_count(reading->msg, ns_s_qd) != 1 || ns_parserr(&reading->msg, ns_s_qd, 0, &rr))
		return -1;
	strcpy(reading->expected, ns_rr_name(rr));
	return 0;
}

static int make_room(struct rcm_reply *reply, unsigned records)
{
	union rcm_dns_address *grown;

	if (!records)
		return 0;
	grown = realloc(reply->addresses, (reply->count + records) * sizeof(*grown));
	if (!grown)
		return -1;
	reply->addresses = grown;
	return 0;
}

static enum rcm_dns_verdict read_answer(struct reading *reading)
{
	struct rcm_reply *reply = reading->reply;
	ns_rr rr;

	for (int i = 0; i < ns_msg_count(reading->msg, ns_s_an); i++)
		if (ns_parserr(&reading->msg, ns_s_an, i, &rr) || read_record(reading, &rr))
			return RCM_DNS_MALFORMED;
	if (!reading->found)
		return RCM_DNS_NODATA;
	if (!reading->canonname[0] || reply->canonname)
		return RCM_DNS_FOUND;
	reply->canonname = strdup(reading->canonname);
	if (!reply->canonname)
		return RCM_DNS_NOMEM;
	return RCM_DNS_FOUND;
}

/* IPv4 goes before IPv6, whichever answer came first, so that the order doesn't depend on that. */
static enum rcm_dns_verdict read_before(struct reading *reading, unsigned records)
{
	struct rcm_reply *reply = reading->reply;
	union rcm_dns_address *addresses = reply->addresses, *others = addresses + records;
	enum rcm_dns_verdict verdict;
	unsigned found;

	memmove(others, addresses, reply->count * sizeof(*others));
	reading->into = addresses;
	verdict = read_answer(reading);
	found = verdict == RCM_DNS_FOUND ? reading->found : 0;
	memmove(addresses + found, others, reply->count * sizeof(*others));
	return verdict;
}

enum rcm_dns_verdict rcm_reply_add(struct rcm_reply *reply, ns_type type, const unsigned char *bytes, size_t len)
{
	struct reading reading = { .reply = reply, .type = type, .ttl = UINT32_MAX };
	enum rcm_dns_verdict verdict;
	unsigned records;

	if (ns_initparse(bytes, (int)len, &reading.msg) || read_question(&reading))
		return RCM_DNS_MALFORMED;
	records = ns_msg_count(reading.msg, ns_s_an);
	if (make_room(reply, records))
		return RCM_DNS_NOMEM;
	reading.into = reply->addresses ? reply->addresses + reply->count : NULL;
	verdict = type == ns_t_a && reply->count && records ? read_before(&reading, records) : read_answer(&reading);
	if (verdict != RCM_DNS_FOUND)
		return verdict;
	if (!reply->count || reading.ttl < reply->ttl)
		reply->ttl = reading.ttl;
	reply->count += reading.found;
	return RCM_DNS_FOUND;
}

void rcm_reply_clear(struct rcm_reply *reply)
{
	free(reply->addresses);
	free(reply->canonname);
	memset(reply, 0, sizeof(*reply));
}
