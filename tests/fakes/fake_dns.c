/* SPDX-License-Identifier: BSD-2-Clause */
/* A name back end whose behaviour is written in the name. */
#include "fake_dns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/queue.h>

#include "base/container.h"
#include "loop/timer.h"
#include "loop/wake.h"

struct rcm_dns_lookup {
	TAILQ_ENTRY(rcm_dns_lookup) entry;
	struct rcm_dns *dns;
	struct rcm_timer timer;
	rcm_dns_done_fn *done;
	void *arg;
	int family, status;
	unsigned count;
	uint32_t ttl;
	bool held, half, srv;
	const char *at;		/* whoever asked has it there */
	char name[256];
};

TAILQ_HEAD(lookups, rcm_dns_lookup);

struct rcm_dns_service {
	TAILQ_ENTRY(rcm_dns_service) entry;
	struct rcm_dns *dns;
	struct rcm_timer timer;
	rcm_dns_service_fn *done;
	void *arg;
	int type;
	char name[80];
};

TAILQ_HEAD(services, rcm_dns_service);

struct rcm_dns {
	struct rcm_dns_owner owner;
	struct services services;
	struct rcm_loop *loop;
	struct rcm_wake wake;
	struct lookups lookups;
};

/* Between the test and the engine's thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rcm_dns *instance;
static unsigned started, cancelled, under_way;
static char release[256];
static bool reading, change, reverse, services_ask;
static unsigned services_asked;

static void forget(struct rcm_dns_lookup *lookup)
{
	rcm_timer_stop(lookup->dns->loop, &lookup->timer);
	pthread_mutex_lock(&lock);
	TAILQ_REMOVE(&lookup->dns->lookups, lookup, entry);
	under_way--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	free(lookup);
}

static void address(union rcm_dns_address *to, int family, unsigned i)
{
	memset(to, 0, sizeof(*to));
	if (family == AF_INET6) {
		to->in6.sin6_family = AF_INET6;
		to->in6.sin6_addr.s6_addr[0] = 0xfd;
		to->in6.sin6_addr.s6_addr[14] = (uint8_t)(i >> 8);
		to->in6.sin6_addr.s6_addr[15] = (uint8_t)i;
	} else {
		to->in.sin_family = AF_INET;
		to->in.sin_addr.s_addr = htonl(0x0a000000 + i);
	}
}

/* A record for each address, all of one priority. */
static void fill_records(struct rcm_dns_srv *records, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		records[i] = (struct rcm_dns_srv){
			.priority = 1, .weight = 1, .port = (uint16_t)(7001 + i), .first = i, .count = 1,
		};
		snprintf(records[i].target, sizeof(records[i].target), "t%u", i + 1);
	}
}

static void answer(struct rcm_timer *timer)
{
	struct rcm_dns_lookup *lookup = rcm_container(timer, struct rcm_dns_lookup, timer);
	union rcm_dns_address few[4], *many = lookup->count > 4 ? calloc(lookup->count, sizeof(*many)) : few;
	char name[sizeof(lookup->name)];
	struct rcm_dns_srv records[4];
	struct rcm_dns_answer a = {
		.status = lookup->status, .code = lookup->status ? EAI_NONAME : 0, .ttl = lookup->ttl,
		.text = lookup->status ? "the fake says no" : NULL,
	};
	rcm_dns_done_fn *done = lookup->done;
	void *arg = lookup->arg;

	if (strcasecmp(lookup->at, lookup->name) != 0)
		abort();
	if (!many)
		a.status = -ENOMEM;
	if (!a.status) {
		for (unsigned i = 0; i < lookup->count; i++)
			address(&many[i], lookup->family, i + 1);
		a.addresses = many;
		a.count = lookup->count;
		a.canonname = strcpy(name, lookup->name);
		if (lookup->srv) {
			fill_records(records, a.count);
			a.srv = records;
			a.targets = a.srv_count = a.count;
		}
	}
	forget(lookup);
	done(arg, &a);
	if (many != few)
		free(many);
}

static void tell_changes(struct rcm_dns *dns);
static void answer_services(struct rcm_dns *dns);

static void released(struct rcm_wake *wake)
{
	struct rcm_dns *dns = rcm_container(wake, struct rcm_dns, wake);
	struct rcm_dns_lookup *l;

	pthread_mutex_lock(&lock);
	TAILQ_FOREACH(l, &dns->lookups, entry)
		if (l->held && !strcmp(l->name, release))
			break;
	release[0] = '\0';
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (l)
		answer(&l->timer);
	tell_changes(dns);
	answer_services(dns);
}

/* ---- Configuration ---- */

static unsigned looks;

static bool is_reading(void)
{
	bool is;

	pthread_mutex_lock(&lock);
	looks++;
	is = reading;
	pthread_mutex_unlock(&lock);
	return is;
}

static _Atomic bool strange_ways;

static int fake_settle(struct rcm_dns *dns)
{
	(void)dns;
	strange_ways = false;
	return !is_reading();
}

static bool fake_is_settled(struct rcm_dns *dns)
{
	(void)dns;
	return !is_reading();
}

static bool fake_knows_ways(struct rcm_dns *dns)
{
	(void)dns;
	return !strange_ways;
}

void rcm_fake_dns_strange_ways(bool strange)
{
	strange_ways = strange;
}

static void tell_changes(struct rcm_dns *dns)
{
	bool changed_now, settled;

	pthread_mutex_lock(&lock);
	changed_now = change;
	settled = !reading;
	pthread_mutex_unlock(&lock);
	if (changed_now)
		dns->owner.changed(dns->owner.arg);
	if (settled)
		dns->owner.settled(dns->owner.arg, 0);
	pthread_mutex_lock(&lock);
	change = change && !changed_now;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void ring(void)
{
	if (instance)
		rcm_wake_ring(&instance->wake);
}

void rcm_fake_dns_reading(bool on)
{
	pthread_mutex_lock(&lock);
	reading = on;
	ring();
	pthread_mutex_unlock(&lock);
}

void rcm_fake_dns_change(void)
{
	pthread_mutex_lock(&lock);
	change = true;
	ring();
	while (change)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void rcm_fake_dns_reverse(bool on)
{
	pthread_mutex_lock(&lock);
	reverse = on;
	pthread_mutex_unlock(&lock);
}

static void fake_sort(struct rcm_dns *dns, union rcm_dns_address *addresses, unsigned count)
{
	union rcm_dns_address swapped;

	(void)dns;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; reverse && i < count / 2; i++) {
		swapped = addresses[i];
		addresses[i] = addresses[count - 1 - i];
		addresses[count - 1 - i] = swapped;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- Service names ---- */

static int port_of(const char *name, int type)
{
	if (!strcmp(name, "http") && type != SOCK_DGRAM)
		return 80;
	if (!strcmp(name, "tftp") && type != SOCK_STREAM)
		return 69;
	return -ENOENT;
}

static int fake_service_now(struct rcm_dns *dns, const char *name, int type, uint16_t *ret_port)
{
	int port = port_of(name, type);
	bool ask;

	(void)dns;
	pthread_mutex_lock(&lock);
	ask = services_ask;
	pthread_mutex_unlock(&lock);
	if (ask)
		return 0;
	if (port >= 0)
		*ret_port = (uint16_t)port;
	return port >= 0 ? 1 : port;
}

static void service_forget(struct rcm_dns_service *service)
{
	rcm_timer_stop(service->dns->loop, &service->timer);
	TAILQ_REMOVE(&service->dns->services, service, entry);
	free(service);
}

static void service_answer(struct rcm_timer *timer)
{
	struct rcm_dns_service *service = rcm_container(timer, struct rcm_dns_service, timer);
	rcm_dns_service_fn *done = service->done;
	int port = port_of(service->name, service->type);
	void *arg = service->arg;

	service_forget(service);
	done(arg, port < 0 ? port : 0, (uint16_t)(port < 0 ? 0 : port));
}

static void answer_services(struct rcm_dns *dns)
{
	struct rcm_dns_service *service;
	bool ask;

	pthread_mutex_lock(&lock);
	ask = services_ask;
	pthread_mutex_unlock(&lock);
	while (!ask && (service = TAILQ_FIRST(&dns->services)))
		service_answer(&service->timer);
}

static int fake_service_start(struct rcm_dns *dns, const char *name, int type, rcm_dns_service_fn *done, void *arg,
			      struct rcm_dns_service **ret_service)
{
	struct rcm_dns_service *service = calloc(1, sizeof(*service));

	if (!service)
		return -ENOMEM;
	service->dns = dns;
	service->done = done;
	service->arg = arg;
	service->type = type;
	snprintf(service->name, sizeof(service->name), "%s", name);
	TAILQ_INSERT_TAIL(&dns->services, service, entry);
	pthread_mutex_lock(&lock);
	services_asked++;
	pthread_cond_broadcast(&changed);
	if (strncmp(name, "slow-", 5) != 0 || !services_ask)
		rcm_timer_start(dns->loop, &service->timer, 0, service_answer);
	pthread_mutex_unlock(&lock);
	*ret_service = service;
	return 0;
}

static void fake_service_cancel(struct rcm_dns *dns, struct rcm_dns_service *service)
{
	(void)dns;
	service_forget(service);
}

void rcm_fake_dns_services_ask(bool on)
{
	pthread_mutex_lock(&lock);
	services_asked = on && !services_ask ? 0 : services_asked;
	services_ask = on;
	ring();
	pthread_mutex_unlock(&lock);
}

void rcm_fake_dns_wait_services(unsigned count)
{
	pthread_mutex_lock(&lock);
	while (services_asked < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* ---- Names ---- */

static int fake_open(struct rcm_loop *loop, const struct rcm_dns_owner *owner, struct rcm_dns **ret_dns)
{
	struct rcm_dns *dns = calloc(1, sizeof(*dns));
	int ret;

	if (!dns)
		return -ENOMEM;
	dns->loop = loop;
	dns->owner = *owner;
	TAILQ_INIT(&dns->lookups);
	TAILQ_INIT(&dns->services);
	ret = rcm_wake_init(loop, &dns->wake, released);
	if (ret) {
		free(dns);
		return ret;
	}
	pthread_mutex_lock(&lock);
	instance = *ret_dns = dns;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Reads one label into the lookup; when: ms until the answer, -1 never. */
static int obey(struct rcm_dns_lookup *lookup, const char *label, long *when)
{
	unsigned n;
	int end = 0;

	if (!strcmp(label, "hold")) {
		lookup->held = true;
		*when = -1;
	} else if (!strcmp(label, "half")) {
		lookup->half = true;
	} else if (!strcmp(label, "never")) {
		*when = -1;
	} else if (sscanf(label, "ms%u%n", &n, &end) == 1 && !label[end]) {
		*when = n;
	} else if (sscanf(label, "a%u%n", &n, &end) == 1 && !label[end]) {
		lookup->count = n;
	} else if (sscanf(label, "ttl%u%n", &n, &end) == 1 && !label[end]) {
		lookup->ttl = n;
	} else if (sscanf(label, "e%u%n", &n, &end) == 1 && !label[end]) {
		lookup->status = -(int)n;
	} else if (sscanf(label, "start%u%n", &n, &end) == 1 && !label[end]) {
		return -(int)n;
	}
	return 0;
}

static int read_name(struct rcm_dns_lookup *lookup, long *when)
{
	char copy[sizeof(lookup->name)], *rest = strcpy(copy, lookup->name), *label;
	int ret = 0;

	/* The fast way for benchmarks. */
	if (!strncmp(copy, "now-", 4))
		return 0;
	while (!ret && (label = strsep(&rest, ".")))
		ret = obey(lookup, label, when);
	return ret;
}

static int fake_start(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done,
		      void *arg, struct rcm_dns_lookup **ret_lookup)
{
	struct rcm_dns_lookup *lookup = malloc(sizeof(*lookup));
	long when = 0;
	int ret;

	if (!lookup)
		return -ENOMEM;
	memset(lookup, 0, offsetof(struct rcm_dns_lookup, name));
	lookup->dns = dns;
	lookup->done = done;
	lookup->arg = arg;
	lookup->family = query->family;
	lookup->srv = query->srv;
	lookup->count = 1;
	lookup->at = query->name;
	strcpy(lookup->name, query->name);
	ret = read_name(lookup, &when);
	if (ret) {
		free(lookup);
		return ret;
	}
	pthread_mutex_lock(&lock);
	TAILQ_INSERT_TAIL(&dns->lookups, lookup, entry);
	started++;
	under_way++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (when >= 0)
		rcm_timer_start(dns->loop, &lookup->timer,
				when ? dns->loop->now + (uint64_t)when * RCM_NS_PER_MS : 0, answer);
	*ret_lookup = lookup;
	return 0;
}

static int fake_answer_now(struct rcm_dns *dns, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg)
{
	union rcm_dns_address one;
	const struct rcm_dns_answer a = { .count = 1, .addresses = &one, .canonname = query->name };

	(void)dns;
	if (query->srv || !strstr(query->name, "local."))
		return 0;
	address(&one, query->family, 1);
	done(arg, &a);
	return 1;
}

static void fake_fork_prepare(struct rcm_dns *dns)
{
	(void)dns;
	pthread_mutex_lock(&lock);
}

static void fake_fork_done(struct rcm_dns *dns)
{
	(void)dns;
	pthread_mutex_unlock(&lock);
}

/* It goes by its copy, but looks at the other, so that a sanitizer sees one that was freed too early. */
static void fake_move(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, const char *name)
{
	(void)dns;
	if (strcasecmp(lookup->name, name) != 0)
		abort();
	lookup->at = name;
}

static bool fake_partial(struct rcm_dns *dns, struct rcm_dns_lookup *lookup, rcm_dns_done_fn *done, void *arg)
{
	union rcm_dns_address one;
	struct rcm_dns_answer a = { .count = 1, .addresses = &one, .missing = AF_INET6 };
	struct rcm_dns_srv record;

	(void)dns;
	address(&one, AF_INET, 1);
	if (lookup->srv) {
		fill_records(&record, 1);
		a.srv = &record;
		a.srv_count = 1;
		a.targets = 3;
		a.targets_lost = 2;
	}
	if (lookup->half)
		done(arg, &a);
	return lookup->half;
}

static void fake_cancel(struct rcm_dns *dns, struct rcm_dns_lookup *lookup)
{
	(void)dns;
	pthread_mutex_lock(&lock);
	cancelled++;
	pthread_mutex_unlock(&lock);
	forget(lookup);
}

static void fake_close(struct rcm_dns *dns)
{
	struct rcm_dns_lookup *lookup;

	if (!dns)
		return;
	while ((lookup = TAILQ_FIRST(&dns->lookups)))
		forget(lookup);
	while (!TAILQ_EMPTY(&dns->services))
		service_forget(TAILQ_FIRST(&dns->services));
	rcm_wake_done(&dns->wake);
	instance = NULL;
	free(dns);
}

static void fake_abandon(struct rcm_dns *dns)
{
	if (!dns)
		return;
	pthread_cond_init(&changed, NULL);
	while (!TAILQ_EMPTY(&dns->lookups))
		forget(TAILQ_FIRST(&dns->lookups));
	while (!TAILQ_EMPTY(&dns->services))
		service_forget(TAILQ_FIRST(&dns->services));
	rcm_wake_abandon(&dns->wake);
	instance = NULL;
	free(dns);
}

const struct rcm_dns_ops rcm_fake_dns = {
	.name = "fake", .open = fake_open, .settle = fake_settle, .is_settled = fake_is_settled,
	.knows_ways = fake_knows_ways, .answer_now = fake_answer_now, .sort = fake_sort, .start = fake_start, .partial = fake_partial,
	.cancel = fake_cancel, .move = fake_move,
	.service_now = fake_service_now, .service_start = fake_service_start, .service_cancel = fake_service_cancel,
	.close = fake_close, .abandon = fake_abandon, .fork_prepare = fake_fork_prepare, .fork_done = fake_fork_done,
};

static bool is_held(const char *name)
{
	struct rcm_dns_lookup *l;

	if (!instance)
		return false;
	TAILQ_FOREACH(l, &instance->lookups, entry)
		if (l->held && !strcmp(l->name, name))
			return true;
	return false;
}

/* With the lock: one whose answer is held is told; it may end by itself first. */
static void release_one(const char *name)
{
	while (*release)
		pthread_cond_wait(&changed, &lock);
	strcpy(release, name);
	rcm_wake_ring(&instance->wake);
	while (*release)
		pthread_cond_wait(&changed, &lock);
}

void rcm_fake_dns_release(const char *name)
{
	pthread_mutex_lock(&lock);
	while (!is_held(name))
		pthread_cond_wait(&changed, &lock);
	release_one(name);
	pthread_mutex_unlock(&lock);
}

void rcm_fake_dns_release_all(const char *name)
{
	pthread_mutex_lock(&lock);
	while (is_held(name))
		release_one(name);
	pthread_mutex_unlock(&lock);
}

static unsigned locked(const unsigned *value)
{
	unsigned v;

	pthread_mutex_lock(&lock);
	v = *value;
	pthread_mutex_unlock(&lock);
	return v;
}

unsigned rcm_fake_dns_started(void)
{
	return locked(&started);
}

unsigned rcm_fake_dns_cancelled(void)
{
	return locked(&cancelled);
}

unsigned rcm_fake_dns_under_way(void)
{
	return locked(&under_way);
}

void rcm_fake_dns_reset(void)
{
	pthread_mutex_lock(&lock);
	started = cancelled = looks = 0;
	pthread_mutex_unlock(&lock);
}

unsigned rcm_fake_dns_looks(void)
{
	unsigned count;

	pthread_mutex_lock(&lock);
	count = looks;
	pthread_mutex_unlock(&lock);
	return count;
}

void rcm_fake_dns_wait_started(unsigned count)
{
	pthread_mutex_lock(&lock);
	while (started < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
