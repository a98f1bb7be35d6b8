/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own way to names: follows its configuration; hands each name to our own sources or to getaddrinfo(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/tell.h"
#include "dns/etc.h"
#include "dns/lookup.h"
#include "dns/names.h"
#include "dns/nss.h"
#include "dns/services.h"
#include "dns/srcaddr.h"
#include "dns/srv.h"
#include "dns/told.h"

struct rcm_dns {
	struct rcm_loop *loop;
	struct rcm_dns_owner owner;
	struct rcm_etc *etc;
	struct rcm_names *names;
	struct rcm_nss *nss;			/* NULL until needed */
	struct rcm_services *services;
	struct rcm_srv_list *srv;
	bool beyond_us;				/* only getaddrinfo() itself knows how */

	struct rcm_lock lock;			/* what any thread may use */
	struct rcm_hosts *hosts RCM_GUARDED_BY(lock);
	bool hosts_first RCM_GUARDED_BY(lock);	/* they are asked before all others */
	struct rcm_srcaddr *srcaddr RCM_GUARDED_BY(lock);
};

/* Takes over news->hosts. */
static void hosts_publish(struct rcm_dns *dns, const struct rcm_etc_news *news)
{
	struct rcm_hosts *old = NULL;

	rcm_lock_acquire(&dns->lock);
	dns->hosts_first = !dns->beyond_us && news->pick.steps[0] == RCM_PICK_FILES;
	rcm_srcaddr_rank(dns->srcaddr, &news->pick.policy);
	if (news->hosts) {
		old = dns->hosts;
		dns->hosts = news->hosts;
	}
	rcm_lock_release(&dns->lock);
	rcm_hosts_free(old);
}

static void system_tell_servers(const struct rcm_resolv *resolv)
{
	for (unsigned i = 0; i < resolv->servers_count; i++)
		rcm_told_server(&resolv->servers[i]);
	for (unsigned i = 0; i < resolv->search_count; i++)
		rcm_tell(RCM_TELL_FILES, "resolv.conf: search %s", resolv->search[i]);
	rcm_tell(RCM_TELL_FILES, "resolv.conf: %d attempt%s of %d ms each%s", resolv->attempts,
		 resolv->attempts == 1 ? "" : "s", resolv->timeout_ms, resolv->use_tcp ? ", by TCP" : "");
}

static void system_tell(const struct rcm_dns *dns, const struct rcm_etc_news *news)
{
	static const char *const words[] = {
		[RCM_PICK_END] = "", [RCM_PICK_FILES] = " files", [RCM_PICK_DNS] = " dns",
	};

	if (!rcm_tell_wants())
		return;
	if (dns->beyond_us)
		rcm_tell(RCM_TELL_FILES, "the host's configuration was read; names by getaddrinfo(), which knows "
			 "its modules");
	else
		rcm_tell(RCM_TELL_FILES, "the host's configuration was read; nsswitch.conf: hosts:%s%s",
			 words[news->pick.steps[0]], words[news->pick.steps[1]]);
	if (news->resolv)
		system_tell_servers(news->resolv);
}

static void system_changed(void *arg, struct rcm_etc_news *news)
{
	struct rcm_dns *dns = arg;

	if (news->services_changed)
		rcm_services_forget(dns->services);
	if (!news->names_changed)
		return;
	dns->beyond_us = news->pick.system || news->hosts_beyond_us;
	rcm_names_rank(dns->names, &news->pick.policy);
	system_tell(dns, news);
	rcm_names_configure(dns->names, news->pick.steps, news->resolv,
			    news->hosts ? rcm_hosts_get(news->hosts) : NULL);
	hosts_publish(dns, news);
	dns->owner.changed(dns->owner.arg);
}

static void system_settled(void *arg, int status)
{
	struct rcm_dns *dns = arg;

	dns->owner.settled(dns->owner.arg, status);
}

static const struct rcm_etc_ops system_etc_ops = { .changed = system_changed, .settled = system_settled };

static void system_close(struct rcm_dns *dns) RCM_UNCHECKED
{
	if (!dns)
		return;
	rcm_etc_close(dns->etc);
	rcm_srv_close(dns->srv);
	rcm_names_close(dns->names);
	rcm_nss_close(dns->nss);
	rcm_services_close(dns->services);
	rcm_srcaddr_close(dns->srcaddr);
	rcm_hosts_free(dns->hosts);
	free(dns);
}

/* A socket belongs to the network namespace of the thread that opens it: all are opened here, by the engine's. */
static int sort_open(struct rcm_srcaddr **ret_srcaddr)
{
	union rcm_dns_address both[] = {
		{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } },
		{ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } },
	};
	int ret;

	ret = rcm_srcaddr_open(ret_srcaddr);
	if (ret)
		return ret;
	rcm_srcaddr_follow(*ret_srcaddr);
	rcm_srcaddr_sort(*ret_srcaddr, both, 2);
	return 0;
}

static bool sort_is_stale(struct rcm_dns *dns)
{
	bool stale;

	rcm_lock_acquire(&dns->lock);
	stale = rcm_srcaddr_is_stale(dns->srcaddr);
	rcm_lock_release(&dns->lock);
	return stale;
}

/* On the loop's thread, which alone puts another in its place: nobody waits while routes and addresses are read.
 * Without descriptors or memory the old one stays, which asks for each way. */
static void sort_follow(struct rcm_dns *dns) RCM_UNCHECKED
{
	struct rcm_srcaddr *old = dns->srcaddr, *renewed;

	if (!sort_is_stale(dns) || rcm_srcaddr_renew(old, &renewed))
		return;
	rcm_lock_acquire(&dns->lock);
	dns->srcaddr = renewed;
	rcm_lock_release(&dns->lock);
	rcm_srcaddr_close(old);
}

static int system_settle(struct rcm_dns *dns)
{
	sort_follow(dns);
	return rcm_etc_settle(dns->etc);
}

static bool system_is_settled(struct rcm_dns *dns)
{
	return rcm_etc_is_settled(dns->etc);
}

static bool system_knows_ways(struct rcm_dns *dns)
{
	return !sort_is_stale(dns);
}

static void system_sort(struct rcm_dns *dns, union rcm_dns_address *addresses, unsigned count)
{
	struct rcm_order *orders = NULL;

	if (count < 2)
		return;
	rcm_lock_acquire(&dns->lock);
	/* Routes and addresses may be very many: whoever calls doesn't read them. */
	rcm_srcaddr_is_stale(dns->srcaddr);
	if (rcm_tell_wants())
		orders = rcm_srcaddr_sort_why(dns->srcaddr, addresses, count);
	else
		rcm_srcaddr_sort(dns->srcaddr, addresses, count);
	rcm_lock_release(&dns->lock);
	rcm_order_tell(orders, count);
}

/* The hosts file, where a name may be looked up in it before anybody else is asked; NULL: it may not. */
static struct rcm_hosts *hosts_for(struct rcm_dns *dns, enum rcm_dns_source source)
{
	struct rcm_hosts *hosts = NULL;

	rcm_lock_acquire(&dns->lock);
	if (dns->hosts && (source == RCM_DNS_HOSTS || (source == RCM_DNS_CONFIGURED && dns->hosts_first)))
		hosts = rcm_hosts_get(dns->hosts);
	rcm_lock_release(&dns->lock);
	return hosts;
}

/* Where nobody else may be asked, there is none. */
static bool is_no_name(const struct rcm_dns_query *query, int found)
{
	return !found && query->source == RCM_DNS_HOSTS;
}

static int system_answer_now(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg)
{
	static const struct rcm_dns_answer none = {
		.status = -ENOENT, .code = EAI_NONAME, .text = "the hosts file has no such name",
	};
	static const struct rcm_dns_answer none_srv = {
		.status = -ENOENT, .code = EAI_NONAME, .text = "the hosts file has no SRV records",
	};
	struct rcm_hosts *hosts = hosts_for(dns, query->source);
	struct rcm_dns_answer answer = { 0 };
	union rcm_dns_address *addresses;
	int found;

	if (!hosts)
		return 0;
	found = query->srv ? 0 : rcm_hosts_find(hosts, query->name, query->family, &addresses, &answer.canonname);
	if (found > 0) {
		rcm_tell(RCM_TELL_HOSTS, "it has %d for %s", found, query->name);
		system_sort(dns, addresses, (unsigned)found);
		answer.count = (unsigned)found;
		answer.addresses = addresses;
		done(arg, &answer);
		free(addresses);
	} else if (is_no_name(query, found)) {
		done(arg, query->srv ? &none_srv : &none);
	}
	rcm_hosts_free(hosts);
	return found > 0 || is_no_name(query, found);
}

static int host_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
			struct rcm_dns_lookup **ret_lookup)
{
	int ret = 0;

	if (query->source != RCM_DNS_CONFIGURED || !dns->beyond_us)
		return rcm_names_start(dns->names, query, done, arg, ret_lookup);
	if (!dns->nss)
		ret = rcm_nss_open(dns->loop, rcm_nss_ask, &dns->nss);
	return ret ? ret : rcm_nss_start(dns->nss, query, done, arg, ret_lookup);
}

static int records_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
			 struct rcm_dns_lookup **ret_lookup)
{
	return rcm_names_start(dns->names, query, done, arg, ret_lookup);
}

/* Modules that only getaddrinfo() knows may have other addresses. */
static bool extras_count(struct rcm_dns *dns, enum rcm_dns_source source)
{
	return source != RCM_DNS_CONFIGURED || !dns->beyond_us;
}

static int system_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
			struct rcm_dns_lookup **ret_lookup)
{
	if (query->srv)
		return rcm_srv_start(dns->srv, query, done, arg, ret_lookup);
	return host_start(dns, query, done, arg, ret_lookup);
}

static const struct rcm_srv_ops system_srv_ops = {
	.records = records_start, .host_now = system_answer_now, .host = host_start, .extras_count = extras_count,
};

static int system_open(struct rcm_loop *loop, const struct rcm_dns_owner *owner, struct rcm_dns **ret_dns)
{
	struct rcm_dns *dns = calloc(1, sizeof(*dns));
	int ret;

	if (!dns)
		return -ENOMEM;
	dns->loop = loop;
	dns->owner = *owner;
	rcm_lock_init(&dns->lock);
	ret = rcm_etc_open(loop, &rcm_etc_system, &system_etc_ops, dns, &dns->etc);
	if (!ret)
		ret = rcm_names_open(loop, &rcm_families_network, &dns->names);
	if (!ret)
		ret = rcm_services_open(loop, rcm_services_ask, &dns->services);
	if (!ret)
		ret = rcm_srv_open(loop, &system_srv_ops, dns, &dns->srv);
	if (!ret)
		ret = sort_open(&dns->srcaddr);
	if (ret)
		system_close(dns);
	else
		*ret_dns = dns;
	return ret;
}

static void system_move(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, const char *name)
{
	(void)dns;
	lookup->name = name;
}

static bool system_partial(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	(void)dns;
	return lookup->ops->partial(lookup, done, arg);
}

static void system_cancel(struct rcm_dns *dns, struct rcm_dns_lookup *lookup)
{
	(void)dns;
	lookup->ops->cancel(lookup);
}

static int system_service_now(struct rcm_dns *dns, const char *name, int type, uint16_t *ret_port)
{
	return rcm_services_find(dns->services, name, type, ret_port);
}

static int system_service_start(struct rcm_dns *dns, const char *name, int type, rcm_dns_service_fn *done, void *arg,
				struct rcm_dns_service **ret_service)
{
	return rcm_services_start(dns->services, name, type, done, arg, ret_service);
}

static void system_service_cancel(struct rcm_dns *dns, struct rcm_dns_service *service)
{
	(void)dns;
	rcm_services_cancel(service);
}

static void system_abandon(struct rcm_dns *dns) RCM_UNCHECKED
{
	if (!dns)
		return;
	rcm_etc_abandon(dns->etc);
	rcm_srv_close(dns->srv);
	rcm_names_abandon(dns->names);
	rcm_nss_abandon(dns->nss);
	rcm_services_abandon(dns->services);
	rcm_srcaddr_close(dns->srcaddr);
	rcm_hosts_free(dns->hosts);
	free(dns);
}

static void system_fork_prepare(struct rcm_dns *dns) RCM_UNCHECKED
{
	rcm_services_fork_prepare(dns->services);
	rcm_lock_acquire(&dns->lock);
}

static void system_fork_done(struct rcm_dns *dns) RCM_UNCHECKED
{
	rcm_lock_release(&dns->lock);
	rcm_services_fork_done(dns->services);
}

const struct rcm_dns_ops rcm_dns_system = {
	.name = "system",
	.open = system_open,
	.settle = system_settle,
	.is_settled = system_is_settled,
	.knows_ways = system_knows_ways,
	.answer_now = system_answer_now,
	.sort = system_sort,
	.start = system_start,
	.move = system_move,
	.partial = system_partial,
	.cancel = system_cancel,
	.service_now = system_service_now,
	.service_start = system_service_start,
	.service_cancel = system_service_cancel,
	.close = system_close,
	.abandon = system_abandon,
	.fork_prepare = system_fork_prepare,
	.fork_done = system_fork_done,
};
