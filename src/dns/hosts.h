/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts file, hosts(5), kept in memory and looked up as glibc's "files" source does: immutable once it is read,
 * shared by reference. Any thread. */
#pragma once

#include <sys/types.h>

#include "dns/dns.h"

struct rcm_hosts;

/* Reads a hosts file; first_line_only: only the first line that has an answer counts (host.conf without "multi on").
 * A file that isn't there is an empty one. 0, -ENOMEM, -EMFILE, -ENFILE, -EIO or what else it
 * could not be read to its end for, or -EFBIG: it is over RCM_HOSTS_BYTES_MAX. */
int rcm_hosts_read(const char *path, bool first_line_only, struct rcm_hosts **ret_hosts);

/* One more reference, and one less; NULL: nothing. */
struct rcm_hosts *rcm_hosts_get(struct rcm_hosts *hosts);
void rcm_hosts_free(struct rcm_hosts *hosts);

/*
 * The addresses of name, family AF_INET, AF_INET6 or AF_UNSPEC (both, in the file's order): how many there are, 0 for
 * none, or -ENOMEM. *ret_addresses is the caller's to free(); *ret_canonname is valid as long as hosts.
 */
int rcm_hosts_find(const struct rcm_hosts *hosts, const char *name, int family,
		   union rcm_dns_address **ret_addresses, const char **ret_canonname);
