/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own way to names: follows its configuration files, and hands each name to c-ares or to getaddrinfo(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/stamp.h"
#include "dns/hosts.h"
#include "dns/lookup.h"
#include "dns/names.h"
#include "dns/nss.h"
#include "dns/pick.h"
#include "dns/resolv.h"

enum file { NSSWITCH, GAI, HOST, RESOLV, HOSTS, FILES };

static const char *const paths[FILES] = {
	[NSSWITCH] = "/etc/nsswitch.conf", [GAI] = "/etc/gai.conf", [HOST] = "/etc/host.conf",
	[RESOLV] = "/etc/resolv.conf", [HOSTS] = "/etc/hosts",
};

struct rcm_dns {
	struct rcm_loop *loop;
	struct rcm_names *names;
	struct rcm_nss *nss;		/* NULL until needed */
	struct rcm_stamp stamps[FILES];
	uint64_t looked_at;		/* turn of the loop in which the files were looked at; 0: never */
	struct rcm_pick pick;
	bool resolv_beyond_us;
	bool hosts_beyond_us;
};

static int read_resolv(struct rcm_dns *dns, struct rcm_resolv **ret_resolv)
{
	int err = rcm_resolv_read(ret_resolv);

	if (!err)
		dns->resolv_beyond_us = (*ret_resolv)->beyond_us;
	return err;
}

static int read_hosts(struct rcm_dns *dns, struct rcm_hosts **ret_hosts)
{
	int err = rcm_hosts_read(paths[HOSTS], !dns->pick.multi, ret_hosts);

	dns->hosts_beyond_us = err == -EFBIG;
	return err == -EFBIG ? rcm_hosts_read("/dev/null", false, ret_hosts) : err;
}

/* Once a turn, so that a burst of names costs one look. After a failure all is read again. */
static int follow_files(struct rcm_dns *dns)
{
	struct rcm_resolv *resolv = NULL;
	struct rcm_hosts *hosts = NULL;
	bool changed[FILES];
	int err = 0;

	if (dns->looked_at == dns->loop->now && dns->looked_at)
		return 0;
	dns->looked_at = dns->loop->now;
	for (int i = 0; i < FILES; i++)
		changed[i] = rcm_stamp_changed(&dns->stamps[i], paths[i]);
	if (changed[NSSWITCH] || changed[GAI] || changed[HOST])
		err = rcm_pick_read(&rcm_pick_etc, &dns->pick);
	else if (!changed[RESOLV] && !changed[HOSTS])
		return 0;
	if (!err && changed[RESOLV])
		err = read_resolv(dns, &resolv);
	if (!err && (changed[HOSTS] || changed[HOST]))
		err = read_hosts(dns, &hosts);
	if (err) {
		rcm_resolv_put(resolv);
		memset(dns->stamps, 0, sizeof(dns->stamps));
		dns->looked_at = 0;
		rcm_info("dns: configuration can't be read: %s", strerror(-err));
		return err == -ENFILE ? -EMFILE : err;
	}
	rcm_names_configure(dns->names, dns->pick.steps, resolv, hosts);
	rcm_trace("dns: configuration read; names by %s", dns->pick.system ? "getaddrinfo" : "c-ares");
	return 0;
}

static int system_open(struct rcm_loop *loop, struct rcm_dns **ret_dns)
{
	struct rcm_dns *dns = calloc(1, sizeof(*dns));
	int err;

	if (!dns)
		return -ENOMEM;
	dns->loop = loop;
	err = rcm_names_open(loop, &rcm_cares_network, &dns->names);
	if (err)
		free(dns);
	else
		*ret_dns = dns;
	return err;
}

static int system_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
			struct rcm_dns_lookup **ret_lookup)
{
	int err = follow_files(dns);
	bool beyond_us = dns->pick.system || dns->resolv_beyond_us || dns->hosts_beyond_us;

	if (err)
		return err;
	if (query->source != RCM_DNS_CONFIGURED || !beyond_us)
		return rcm_names_start(dns->names, query, done, arg, ret_lookup);
	if (!dns->nss)
		err = rcm_nss_open(dns->loop, rcm_nss_ask, &dns->nss);
	return err ? err : rcm_nss_start(dns->nss, query, done, arg, ret_lookup);
}

static void system_cancel(struct rcm_dns *dns, struct rcm_dns_lookup *lookup)
{
	(void)dns;
	lookup->cancel(lookup);
}

static void system_close(struct rcm_dns *dns)
{
	if (!dns)
		return;
	rcm_names_close(dns->names);
	rcm_nss_close(dns->nss);
	free(dns);
}

static void system_abandon(struct rcm_dns *dns)
{
	if (!dns)
		return;
	rcm_names_abandon(dns->names);
	rcm_nss_abandon(dns->nss);
	free(dns);
}

const struct rcm_dns_ops rcm_dns_system = {
	.name = "system",
	.open = system_open,
	.start = system_start,
	.cancel = system_cancel,
	.close = system_close,
	.abandon = system_abandon,
};
