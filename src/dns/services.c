/* SPDX-License-Identifier: BSD-2-Clause */
/* The ports of service names. */
#include "dns/services.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/container.h"
#include "base/limits.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/table.h"
#include "dns/workers.h"

/* What an entry of services(5) with its aliases may take. */
enum { ENTRY_USUAL = 1024, ENTRY_MAX = 64 << 10 };

struct known {
	UT_hash_handle hh;
	uint64_t until;			/* is it true, in ns */
	int port;			/* host order; < 0: there is none */
	char key[];			/* the type's letter, then the name */
};

struct rcm_services {
	struct rcm_workers *workers;
	rcm_services_ask_fn *ask;
	struct rcm_lock lock;
	struct known *known RCM_GUARDED_BY(lock);
	unsigned generation;		/* counts what was forgotten; the loop's thread's */
};

struct rcm_dns_service {
	struct rcm_job job;
	struct rcm_services *services;	/* not to be touched by the thread that asks */
	rcm_services_ask_fn *ask;
	rcm_dns_service_fn *done;
	void *arg;
	unsigned generation;
	int port;			/* or -errno */
	int type;
	char key[];
};

static const struct rcm_workers_limits service_limits = {
	.name = "rai-nss", .at_once = RCM_NSS_WORKERS, .threads = RCM_NSS_THREADS, .stack = RCM_NSS_STACK,
};

/* ---- What is known ---- */

static char service_type_letter(int type)
{
	return type == SOCK_STREAM ? 't' : type == SOCK_DGRAM ? 'u' : '*';
}

static unsigned service_key_make(char key[RCM_SERVICE_TEXT_MAX + 2], const char *name, int type)
{
	size_t len = strnlen(name, RCM_SERVICE_TEXT_MAX);

	*key = service_type_letter(type);
	memcpy(key + 1, name, len);
	return (unsigned)len + 1;
}

static void known_clear_locked(struct rcm_services *services) RCM_REQUIRES(&services->lock)
{
	struct known *known = services->known, *next;

	rcm_lock_assert_held(&services->lock);
	HASH_CLEAR(hh, services->known);
	for (; known; known = next) {
		next = known->hh.next;
		free(known);
	}
}

static struct known *known_find_locked(struct rcm_services *services, const char *key, unsigned len)
	RCM_REQUIRES(&services->lock)
{
	struct known *known;

	rcm_lock_assert_held(&services->lock);
	HASH_FIND(hh, services->known, key, len, known);
	if (!known || known->until > rcm_clock_boot())
		return known;
	HASH_DEL(services->known, known);
	free(known);
	return NULL;
}

/* Without memory for it, it is asked for again. */
static void known_add_locked(struct rcm_services *services, const char *key, unsigned len, int port)
	RCM_REQUIRES(&services->lock)
{
	struct known *known;

	rcm_lock_assert_held(&services->lock);
	if (known_find_locked(services, key, len))
		return;
	if (HASH_COUNT(services->known) >= RCM_SERVICES_MAX)
		known_clear_locked(services);
	known = malloc(sizeof(*known) + len);
	if (!known)
		return;
	memcpy(known->key, key, len);
	known->port = port;
	known->until = rcm_clock_boot() +
		       (port < 0 ? RCM_SERVICES_NONE_KEEP_S : RCM_SERVICES_KEEP_S) * RCM_NS_PER_S;
	HASH_ADD_KEYPTR(hh, services->known, known->key, len, known);
	if (!known->hh.tbl)
		free(known);
}

int rcm_services_find(struct rcm_services *services, const char *name, int type, uint16_t *ret_port)
{
	char key[RCM_SERVICE_TEXT_MAX + 2];
	unsigned len = service_key_make(key, name, type);
	struct known *known;
	int ret = 0;

	rcm_lock_acquire(&services->lock);
	known = known_find_locked(services, key, len);
	if (known && known->port >= 0)
		*ret_port = (uint16_t)known->port;
	if (known)
		ret = known->port >= 0 ? 1 : -ENOENT;
	rcm_lock_release(&services->lock);
	return ret;
}

void rcm_services_forget(struct rcm_services *services)
{
	services->generation++;
	rcm_lock_acquire(&services->lock);
	known_clear_locked(services);
	rcm_lock_release(&services->lock);
}

/* ---- On a thread of the pool ---- */

int rcm_services_ask(const char *name, const char *protocol)
{
	struct servent entry, *found = NULL;
	char *buf = NULL, *grown;
	int ret = ERANGE;

	for (size_t size = ENTRY_USUAL; ret == ERANGE && size <= ENTRY_MAX; size *= 4) {
		grown = realloc(buf, size);
		if (!grown) {
			ret = ENOMEM;
			break;
		}
		buf = grown;
		ret = getservbyname_r(name, protocol, &entry, buf, size, &found);
	}
	free(buf);
	if (found)
		return ntohs((uint16_t)entry.s_port);
	return ret && ret != ENOENT ? -ret : -ENOENT;
}

static struct rcm_dns_service *service_of(struct rcm_job *job)
{
	return rcm_container(job, struct rcm_dns_service, job);
}

/* Where both transports are open, any that has it will do. getservbyname() isn't for numbers that are no port. */
static void service_run(struct rcm_job *job)
{
	struct rcm_dns_service *service = service_of(job);
	const char *name = service->key + 1;
	char *end;

	strtoul(name, &end, 10);
	if (!*end)
		service->port = -ENOENT;
	else if (service->type != SOCK_DGRAM)
		service->port = service->ask(name, "tcp");
	if (*end && (service->type == SOCK_DGRAM || (!service->type && service->port == -ENOENT)))
		service->port = service->ask(name, "udp");
}

static void service_free(struct rcm_job *job)
{
	free(service_of(job));
}

/* ---- On the loop's thread ---- */

static void service_remember(struct rcm_dns_service *service)
{
	struct rcm_services *services = service->services;

	if (service->generation != services->generation || (service->port < 0 && service->port != -ENOENT))
		return;
	rcm_lock_acquire(&services->lock);
	known_add_locked(services, service->key, (unsigned)strlen(service->key), service->port);
	rcm_lock_release(&services->lock);
}

static void service_done(struct rcm_job *job, int status)
{
	struct rcm_dns_service *service = service_of(job);

	if (status)
		service->port = -EAGAIN;
	else
		service_remember(service);
	rcm_trace("dns: service \"%s\": %d", service->key + 1, service->port);
	service->done(service->arg, service->port < 0 ? service->port : 0,
		      (uint16_t)(service->port < 0 ? 0 : service->port));
	free(service);
}

static const struct rcm_job_ops service_ops = { .run = service_run, .done = service_done, .free = service_free };

int rcm_services_start(struct rcm_services *services, const char *name, int type, rcm_dns_service_fn *done, void *arg,
		       struct rcm_dns_service **ret_service)
{
	struct rcm_dns_service *service = calloc(1, sizeof(*service) + RCM_SERVICE_TEXT_MAX + 2);

	if (!service)
		return -ENOMEM;
	service->job.ops = &service_ops;
	service->services = services;
	service->ask = services->ask;
	service->done = done;
	service->arg = arg;
	service->generation = services->generation;
	service->type = type;
	service_key_make(service->key, name, type);
	rcm_workers_post(services->workers, &service->job);
	*ret_service = service;
	return 0;
}

void rcm_services_cancel(struct rcm_dns_service *service)
{
	rcm_job_drop(&service->job);
}

int rcm_services_open(struct rcm_loop *loop, rcm_services_ask_fn *ask, struct rcm_services **ret_services)
{
	struct rcm_services *services = calloc(1, sizeof(*services));
	int ret;

	if (!services)
		return -ENOMEM;
	rcm_lock_init(&services->lock);
	services->ask = ask;
	ret = rcm_workers_open(loop, &service_limits, &services->workers);
	if (ret)
		free(services);
	else
		*ret_services = services;
	return ret;
}

static void services_free(struct rcm_services *services)
{
	rcm_services_forget(services);
	free(services);
}

void rcm_services_close(struct rcm_services *services)
{
	if (!services)
		return;
	rcm_workers_close(services->workers);
	services_free(services);
}

void rcm_services_abandon(struct rcm_services *services)
{
	if (!services)
		return;
	rcm_workers_abandon(services->workers);
	services_free(services);
}

void rcm_services_fork_prepare(struct rcm_services *services) RCM_UNCHECKED
{
	rcm_lock_acquire(&services->lock);
}

void rcm_services_fork_done(struct rcm_services *services) RCM_UNCHECKED
{
	rcm_lock_release(&services->lock);
}
