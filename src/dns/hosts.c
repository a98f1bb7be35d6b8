/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts file in memory: a table from each name to the lines it is on. */
#include "dns/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "dns/lines.h"

/* A line's name, once for each name on it. */
struct mention {
	struct mention *next;			/* of the same name, on a later line */
	union rcm_dns_address address;
	char *canonname;			/* the line's first name, shared by its mentions */
};

struct host {
	UT_hash_handle hh;
	struct mention *first, *latest;
	bool lost;				/* the table had no memory for it */
	char name[];				/* in lower case */
};

struct line {
	SLIST_ENTRY(line) entry;
	char canonname[];
};

struct rcm_hosts {
	atomic_uint refs;
	struct host *table;
	SLIST_HEAD(, line) lines;
	bool first_line_only;
};

static void hosts_lower(char *s)
{
	for (; *s; s++)
		*s = (char)rcm_ascii_lower((uint8_t)*s);
}

static struct host *hosts_find_or_make(struct rcm_hosts *hosts, const char *name)
{
	size_t len = strlen(name);
	struct host *host;

	HASH_FIND(hh, hosts->table, name, len, host);
	if (host)
		return host;
	host = calloc(1, sizeof(*host) + len + 1);
	if (!host)
		return NULL;
	memcpy(host->name, name, len + 1);
	HASH_ADD(hh, hosts->table, name, len, host);
	if (!host->lost)
		return host;
	free(host);
	return NULL;
}

/* Twice on one line counts once. */
static int hosts_add_name(struct rcm_hosts *hosts, const union rcm_dns_address *address, char *canonname, char *name)
{
	struct mention *mention;
	struct host *host;

	hosts_lower(name);
	host = hosts_find_or_make(hosts, name);
	if (!host)
		return -ENOMEM;
	if (host->latest && host->latest->canonname == canonname)
		return 0;
	mention = calloc(1, sizeof(*mention));
	if (!mention)
		return -ENOMEM;
	mention->address = *address;
	mention->canonname = canonname;
	if (host->latest)
		host->latest->next = mention;
	else
		host->first = mention;
	host->latest = mention;
	return 0;
}

static bool hosts_read_address(const char *text, union rcm_dns_address *to)
{
	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, text, &to->in.sin_addr) == 1) {
		to->in.sin_family = AF_INET;
		return true;
	}
	if (inet_pton(AF_INET6, text, &to->in6.sin6_addr) == 1) {
		to->in6.sin6_family = AF_INET6;
		return true;
	}
	return false;
}

static int hosts_take_line(char *text, void *arg)
{
	struct rcm_hosts *hosts = arg;
	static const char blanks[] = " \t\r\n\v\f";
	union rcm_dns_address address;
	struct line *line;
	char *name, *rest;
	int ret;

	text[strcspn(text, "#")] = '\0';
	name = strtok_r(text, blanks, &rest);
	if (!name || !hosts_read_address(name, &address))
		return 0;
	name = strtok_r(NULL, blanks, &rest);
	if (!name)
		return 0;
	line = malloc(sizeof(*line) + strlen(name) + 1);
	if (!line)
		return -ENOMEM;
	strcpy(line->canonname, name);
	SLIST_INSERT_HEAD(&hosts->lines, line, entry);
	for (ret = 0; name && !ret; name = strtok_r(NULL, blanks, &rest))
		ret = hosts_add_name(hosts, &address, line->canonname, name);
	return ret;
}

int rcm_hosts_read(const char *path, bool first_line_only, struct rcm_hosts **ret_hosts)
{
	struct rcm_hosts *hosts = calloc(1, sizeof(*hosts));
	int ret;

	if (!hosts)
		return -ENOMEM;
	SLIST_INIT(&hosts->lines);
	atomic_init(&hosts->refs, 1);
	hosts->first_line_only = first_line_only;
	ret = rcm_lines_within(path, RCM_HOSTS_BYTES_MAX, hosts_take_line, hosts);
	if (ret)
		rcm_hosts_free(hosts);
	else
		*ret_hosts = hosts;
	return ret;
}

struct rcm_hosts *rcm_hosts_get(struct rcm_hosts *hosts)
{
	atomic_fetch_add_explicit(&hosts->refs, 1, memory_order_relaxed);
	return hosts;
}

void rcm_hosts_free(struct rcm_hosts *hosts)
{
	struct host *host, *next_host;
	struct line *line;

	if (!hosts || atomic_fetch_sub_explicit(&hosts->refs, 1, memory_order_acq_rel) != 1)
		return;
	HASH_ITER(hh, hosts->table, host, next_host) {
		HASH_DEL(hosts->table, host);
		while (host->first) {
			struct mention *mention = host->first;

			host->first = mention->next;
			free(mention);
		}
		free(host);
	}
	while ((line = SLIST_FIRST(&hosts->lines))) {
		SLIST_REMOVE_HEAD(&hosts->lines, entry);
		free(line);
	}
	free(hosts);
}

/* glibc answers a question for IPv4 also from lines with an IPv4-mapped address or with ::1. */
static bool hosts_as_family(const union rcm_dns_address *address, int family, union rcm_dns_address *to)
{
	const struct in6_addr *in6 = &address->in6.sin6_addr;

	*to = *address;
	if (family == AF_UNSPEC || address->sa.sa_family == family)
		return true;
	if (family != AF_INET || (!IN6_IS_ADDR_V4MAPPED(in6) && !IN6_IS_ADDR_LOOPBACK(in6)))
		return false;
	memset(to, 0, sizeof(*to));
	to->in.sin_family = AF_INET;
	to->in.sin_addr.s_addr = IN6_IS_ADDR_LOOPBACK(in6) ? htonl(INADDR_LOOPBACK) : in6->s6_addr32[3];
	return true;
}

int rcm_hosts_find(const struct rcm_hosts *hosts, const char *name, int family,
		   union rcm_dns_address **ret_addresses, const char **ret_canonname)
{
	char key[RCM_NODE_MAX + 2];
	union rcm_dns_address *addresses;
	const char *canonname = NULL;
	struct host *host;
	int count = 0;

	if (strlen(name) >= sizeof(key))
		return 0;
	strcpy(key, name);
	hosts_lower(key);
	HASH_FIND(hh, hosts->table, key, strlen(key), host);
	if (!host)
		return 0;
	for (const struct mention *m = host->first; m; m = m->next)
		count++;
	addresses = malloc((size_t)count * sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	count = 0;
	for (const struct mention *m = host->first; m; m = m->next) {
		if (!hosts_as_family(&m->address, family, &addresses[count]))
			continue;
		if (!count++)
			canonname = m->canonname;
		if (hosts->first_line_only)
			break;
	}
	if (count) {
		*ret_addresses = addresses;
		*ret_canonname = canonname;
	} else {
		free(addresses);
	}
	return count;
}
