/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket addresses of the three families: length, port, comparison, reading. */
#pragma once

#include <infiniband/ib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* 48 bytes: holds each of them, at a third of a sockaddr_storage. */
union rcm_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
};

/* Length by family, 0 for any but AF_INET, AF_INET6, AF_IB. */
socklen_t rcm_sockaddr_len(int family);

/* Copies by family; false, and *to zeroed, for another family or where len (when not 0) is too short for it. */
bool rcm_sockaddr_copy(union rcm_sockaddr *to, const struct sockaddr *from, socklen_t len);

/* Port in network order; of AF_IB the low 16 bits of the service id that its mask lets count. */
uint16_t rcm_sockaddr_port(const struct sockaddr *sa);
void rcm_sockaddr_set_port(union rcm_sockaddr *sa, uint16_t port);

/* Same family, address, scope and port (AF_IB: GID, P_Key, service id and mask). */
bool rcm_sockaddr_equal(const struct sockaddr *a, const struct sockaddr *b);

/*
 * Reads a number as getaddrinfo(AI_NUMERICHOST) does, scope included; with AF_IB a GID (P_Key 0xffff, service id 0) as
 * an IPv6 address is read.
 * family filters unless AF_UNSPEC. 1: a number, in *ret_sa with port 0; 0: no number; -ENODATA: one of another family;
 * -ENOENT: its scope names no interface; -ENOMEM. Asks no network. Any thread.
 */
int rcm_sockaddr_parse(const char *text, int family, union rcm_sockaddr *ret_sa);

/* The AF_IB address of a GID (16 bytes, network order), P_Key and service id in host order. */
void rcm_sockaddr_ib(union rcm_sockaddr *sa, const uint8_t gid[16], uint16_t pkey, uint64_t sid, uint64_t sid_mask);
