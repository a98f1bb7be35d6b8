/* SPDX-License-Identifier: BSD-2-Clause */
/* The port of a service name: at once from local files, else by a worker thread, since the modules that
 * nsswitch.conf names may ask a network. On the engine's thread. */
#pragma once

#include "resolve/engine.h"

/* What a worker calls: rcm_nss_ask() for a service name, with a socket type (0: any) in place of the family. */
int rcm_servname_ask(const char *service, int type, struct addrinfo **ret_list);

/*
 * Finds the port of request->service. 1: request->port is set; 0: a worker was asked, and rcm_request_resume() follows;
 * -ENOENT: there is no such service; -errno.
 */
int rcm_servname_start(struct rcm_engine *engine, struct rcm_request *request);

/* The worker's answer isn't wanted any more; doesn't wait for it. */
void rcm_servname_cancel(struct rcm_request *request);

/* In the child of a fork, which has no workers: puts the requests that wait for one in front of the backlog. */
void rcm_servname_reset(struct rcm_engine *engine);
