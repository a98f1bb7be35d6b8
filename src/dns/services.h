/* SPDX-License-Identifier: BSD-2-Clause */
/* The ports of service names, as the C library has them: asked on threads of a pool, and remembered. */
#pragma once

#include "dns/dns.h"

struct rcm_services;

/* What the threads call: the port in host order, or -errno. getservbyname_r(3) itself but in tests. */
typedef int rcm_services_ask_fn(const char *name, const char *protocol);
int rcm_services_ask(const char *name, const char *protocol);

/* 0 or -errno. No thread starts before the first name. */
int rcm_services_open(struct rcm_loop *loop, rcm_services_ask_fn *ask, struct rcm_services **ret_services);

/* 1 and its port where it is remembered, -ENOENT where it is that there is none, 0: it has to be asked for. Any
 * thread. */
int rcm_services_find(struct rcm_services *services, const char *name, int type, uint16_t *ret_port);

/* As in struct rcm_dns_ops; the bounds are those of host names, see nss.h. */
int rcm_services_start(struct rcm_services *services, const char *name, int type, rcm_dns_service_fn *done, void *arg,
		       struct rcm_dns_service **ret_service);
void rcm_services_cancel(struct rcm_dns_service *service);

/* What the answers came from has changed. */
void rcm_services_forget(struct rcm_services *services);

/* NULL: nothing. */
void rcm_services_close(struct rcm_services *services);
void rcm_services_abandon(struct rcm_services *services);

/* Around a fork: the memory is whole in the child. */
void rcm_services_fork_prepare(struct rcm_services *services);
void rcm_services_fork_done(struct rcm_services *services);
