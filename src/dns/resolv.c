/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads resolv.conf. */
#include "dns/resolv.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "dns/environment.h"
#include "dns/lines.h"

/* Defaults and bounds of resolv.conf(5). */
enum { NDOTS = 1, NDOTS_MAX = 15, TIMEOUT_S = 5, TIMEOUT_MAX_S = 30, ATTEMPTS = 2, ATTEMPTS_MAX = 5 };

struct reading {
	struct rcm_resolv *resolv;
	bool search_fixed;		/* by the environment */
	bool search_given;
};

static void resolv_search_clear(struct rcm_resolv *resolv)
{
	for (unsigned i = 0; i < resolv->search_count; i++)
		free(resolv->search[i]);
	free(resolv->search);
	resolv->search = NULL;
	resolv->search_count = 0;
}

static int resolv_search_add(struct rcm_resolv *resolv, const char *domain)
{
	char **grown = realloc(resolv->search, (resolv->search_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	resolv->search = grown;
	grown[resolv->search_count] = strdup(domain);
	if (!grown[resolv->search_count])
		return -ENOMEM;
	resolv->search_count++;
	return 0;
}

/* At most max domains; a list without any changes nothing. */
static int resolv_search_take(struct reading *reading, char *list, unsigned max)
{
	char *rest, *domain = strtok_r(list, " \t\n", &rest);
	int ret = 0;

	if (!domain || reading->search_fixed)
		return 0;
	resolv_search_clear(reading->resolv);
	reading->search_given = true;
	for (; domain && max-- && !ret; domain = strtok_r(NULL, " \t\n", &rest))
		ret = resolv_search_add(reading->resolv, domain);
	return ret;
}

static int resolv_domain_line(struct reading *reading, char *rest)
{
	return resolv_search_take(reading, rest, 1);
}

static int resolv_search_line(struct reading *reading, char *rest)
{
	return resolv_search_take(reading, rest, RCM_SEARCH_MAX);
}

/* A scope counts where it means something, and one that isn't there counts as none. */
static uint32_t resolv_scope_of(const struct in6_addr *in6, const char *text)
{
	unsigned long number;
	char *end;

	if (!text || !*text)
		return 0;
	if (IN6_IS_ADDR_LINKLOCAL(in6) || IN6_IS_ADDR_MC_LINKLOCAL(in6)) {
		unsigned index = if_nametoindex(text);

		if (index)
			return index;
	}
	number = strtoul(text, &end, 10);
	return *end || number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* Forms like 127.1, too, but nothing behind it. */
static bool resolv_is_ipv4(const char *text, struct in_addr *to)
{
	return text[strspn(text, "0123456789abcdefxABCDEFX.")] == '\0' && inet_aton(text, to);
}

static int resolv_nameserver_line(struct reading *reading, char *rest)
{
	struct rcm_resolv *resolv = reading->resolv;
	union rcm_dns_address server;
	char *left, *text = strtok_r(rest, " \t\n", &left), *scope;

	if (!text || resolv->servers_count == RCM_RESOLV_SERVERS)
		return 0;
	memset(&server, 0, sizeof(server));
	if (resolv_is_ipv4(text, &server.in.sin_addr)) {
		server.in.sin_family = AF_INET;
		server.in.sin_port = htons(NAMESERVER_PORT);
	} else {
		scope = strchr(text, '%');
		if (scope)
			*scope++ = '\0';
		if (inet_pton(AF_INET6, text, &server.in6.sin6_addr) != 1)
			return 0;
		server.in6.sin6_family = AF_INET6;
		server.in6.sin6_port = htons(NAMESERVER_PORT);
		server.in6.sin6_scope_id = resolv_scope_of(&server.in6.sin6_addr, scope);
	}
	resolv->servers[resolv->servers_count++] = server;
	return 0;
}

/* The number behind a word, or -1: it is another word. */
static int resolv_number_of(const char *option, const char *word, int max)
{
	size_t len = strlen(word);
	int number;

	if (strncmp(option, word, len))
		return -1;
	number = atoi(option + len);
	return number < 0 || number > max ? max : number;
}

static void resolv_take_number(struct rcm_resolv *resolv, const char *option)
{
	int number;

	if ((number = resolv_number_of(option, "ndots:", NDOTS_MAX)) >= 0)
		resolv->ndots = (unsigned)number;
	else if ((number = resolv_number_of(option, "timeout:", TIMEOUT_MAX_S)) >= 0)
		resolv->timeout_ms = (number ? number : 1) * 1000;
	else if ((number = resolv_number_of(option, "attempts:", ATTEMPTS_MAX)) >= 0)
		resolv->attempts = number;
}

static int resolv_options_line(struct reading *reading, char *text)
{
	struct rcm_resolv *resolv = reading->resolv;
	const struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{ "rotate", &resolv->rotate }, { "edns0", &resolv->edns }, { "use-vc", &resolv->use_tcp },
		{ "trust-ad", &resolv->trust_ad }, { "no-aaaa", &resolv->no_aaaa },
		{ "single-request", &resolv->single_request }, { "single-request-reopen", &resolv->reopen },
		{ "no-tld-query", &resolv->no_tld_query }, { "no_tld_query", &resolv->no_tld_query },
	};
	char *rest;

	for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
		resolv_take_number(resolv, word);
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			if (!strcmp(word, flags[i].word))
				*flags[i].flag = true;
	}
	return 0;
}

static int resolv_sortlist_line(struct reading *reading, char *rest)
{
	rcm_sortlist_read(&reading->resolv->sortlist, rest);
	return 0;
}

/* A keyword stands at the beginning of its line. */
static int resolv_take_line(char *line, void *arg)
{
	static const struct {
		const char *word;
		int (*take)(struct reading *reading, char *rest);
	} words[] = {
		{ "domain", resolv_domain_line }, { "search", resolv_search_line },
		{ "nameserver", resolv_nameserver_line }, { "options", resolv_options_line },
		{ "sortlist", resolv_sortlist_line },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i].word);

		if (!strncmp(line, words[i].word, len) && (line[len] == ' ' || line[len] == '\t'))
			return words[i].take(arg, line + len);
	}
	return 0;
}

static int resolv_take_text(struct reading *reading, const char *text,
			    int (*take)(struct reading *reading, char *text))
{
	char *copy = strdup(text);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = take(reading, copy);
	free(copy);
	return ret;
}

/* Instead of any list of the file. None at all is a list, too: the usual way to have no domain searched. */
static int resolv_take_domains(struct reading *reading, const char *domains)
{
	int ret;

	if (!domains)
		return 0;
	ret = resolv_take_text(reading, domains, resolv_search_line);
	reading->search_given = reading->search_fixed = true;
	return ret;
}

/* What is taken for granted where the file says nothing: the server on this host, the host's own domain. */
static int resolv_set_defaults(struct reading *reading)
{
	struct rcm_resolv *resolv = reading->resolv;
	char host[HOST_NAME_MAX + 1], *domain = NULL;

	if (!resolv->servers_count) {
		resolv->servers[0].in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(NAMESERVER_PORT),
							      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		resolv->servers_count = 1;
	}
	if (!reading->search_given && !gethostname(host, sizeof(host))) {
		host[HOST_NAME_MAX] = '\0';
		domain = strchr(host, '.');
	}
	return domain && domain[1] ? resolv_search_add(resolv, domain + 1) : 0;
}

int rcm_resolv_read(const char *path, struct rcm_resolv **ret_resolv)
{
	const struct rcm_environment *environment = rcm_environment_get();
	struct rcm_resolv *resolv = calloc(1, sizeof(*resolv));
	struct reading reading = { .resolv = resolv };
	int ret;

	if (!resolv)
		return -ENOMEM;
	resolv->refs = 1;
	resolv->ndots = NDOTS;
	resolv->timeout_ms = TIMEOUT_S * 1000;
	resolv->attempts = ATTEMPTS;
	ret = resolv_take_domains(&reading, environment->domains);
	if (!ret)
		ret = rcm_lines_each(path, resolv_take_line, &reading);
	if (!ret)
		ret = resolv_set_defaults(&reading);
	if (!ret && environment->options)
		ret = resolv_take_text(&reading, environment->options, resolv_options_line);
	if (ret)
		rcm_resolv_put(resolv);
	else
		*ret_resolv = resolv;
	return ret;
}

struct rcm_resolv *rcm_resolv_get(struct rcm_resolv *resolv)
{
	resolv->refs++;
	return resolv;
}

void rcm_resolv_put(struct rcm_resolv *resolv)
{
	if (!resolv || --resolv->refs)
		return;
	resolv_search_clear(resolv);
	free(resolv);
}

static bool resolv_is_same_search(const struct rcm_resolv *a, const struct rcm_resolv *b)
{
	if (a->search_count != b->search_count)
		return false;
	for (unsigned i = 0; i < a->search_count; i++)
		if (strcmp(a->search[i], b->search[i]))
			return false;
	return true;
}

bool rcm_resolv_is_same(const struct rcm_resolv *a, const struct rcm_resolv *b)
{
	return a->servers_count == b->servers_count && !memcmp(a->servers, b->servers, sizeof(a->servers)) &&
	       a->ndots == b->ndots && a->timeout_ms == b->timeout_ms && a->attempts == b->attempts &&
	       a->rotate == b->rotate && a->use_tcp == b->use_tcp && a->edns == b->edns &&
	       a->trust_ad == b->trust_ad && a->no_aaaa == b->no_aaaa && a->single_request == b->single_request &&
	       a->reopen == b->reopen && a->no_tld_query == b->no_tld_query &&
	       rcm_sortlist_is_same(&a->sortlist, &b->sortlist) && resolv_is_same_search(a, b);
}

bool rcm_resolv_has(const struct rcm_resolv *resolv, const union rcm_dns_address *server)
{
	for (unsigned i = 0; i < resolv->servers_count; i++)
		if (!memcmp(&resolv->servers[i], server, sizeof(*server)))
			return true;
	return false;
}
