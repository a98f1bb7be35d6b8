/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by the system's getaddrinfo(), in a bounded number of threads: for hosts whose nsswitch.conf names modules that
 * only it can load. */
#pragma once

#include <netdb.h>

#include "dns/dns.h"

struct rcm_nss;

/* What the threads call; getaddrinfo() itself but in tests. */
typedef int rcm_nss_ask_fn(const char *name, int family, struct addrinfo **ret_list);
int rcm_nss_ask(const char *name, int family, struct addrinfo **ret_list);

/* 0 or -errno. No thread starts before the first lookup. */
int rcm_nss_open(struct rcm_loop *loop, rcm_nss_ask_fn *ask, struct rcm_nss **ret_nss);

/* Why a name is -EAGAIN that no thread came to: the status of its job in words. */
const char *rcm_nss_refusal(int status);

/*
 * As in struct rcm_dns_ops. Up to RCM_NSS_WORKERS names are asked for at once, the rest wait in order. A thread that
 * getaddrinfo() doesn't return to is left to itself: neither a cancel nor the close waits for it, and what it brings
 * late is freed by it; a name that is given up gives its place to the next, until RCM_NSS_THREADS threads are stuck.
 */
int rcm_nss_start(struct rcm_nss *nss, const struct rcm_dns_query *query, rcm_dns_done_fn *done, void *arg,
		  struct rcm_dns_lookup **ret_lookup);
void rcm_nss_close(struct rcm_nss *nss);

/* In the child of a fork, where the threads are not: their lock may be held for ever, so their memory is left. */
void rcm_nss_abandon(struct rcm_nss *nss);
