/* SPDX-License-Identifier: BSD-2-Clause */
/* AF_IB socket addresses: an InfiniBand GID, P_Key and service id in the shape of a sockaddr. */
#ifndef RAI_INFINIBAND_IB_H
#define RAI_INFINIBAND_IB_H
/* The guard of the header that this one stands in for: whichever is included first serves. */
#define _RDMA_IB_H

#include <endian.h>
#include <linux/types.h>
#include <string.h>

#ifndef AF_IB
#define AF_IB 27
#endif
#ifndef PF_IB
#define PF_IB AF_IB
#endif

/* A GID, in network order. */
struct ib_addr {
	union {
		__u8 uib_addr8[16];
		__be16 uib_addr16[8];
		__be32 uib_addr32[4];
		__be64 uib_addr64[2];
	} ib_u;
#define sib_addr8 ib_u.uib_addr8
#define sib_addr16 ib_u.uib_addr16
#define sib_addr32 ib_u.uib_addr32
#define sib_addr64 ib_u.uib_addr64
#define sib_raw ib_u.uib_addr8
#define sib_subnet_prefix ib_u.uib_addr64[0]
#define sib_interface_id ib_u.uib_addr64[1]
};

/* 48 bytes, the same as the kernel's. */
struct sockaddr_ib {
	unsigned short int sib_family;	/* AF_IB */
	__be16 sib_pkey;		/* P_Key; 0 where none is asked for */
	__be32 sib_flowinfo;		/* flow label in the low 20 bits, traffic class from bit 20 */
	struct ib_addr sib_addr;	/* GID */
	__be64 sib_sid;			/* service id; for IP port spaces the port is its low 16 bits */
	__be64 sib_sid_mask;		/* the bits of sib_sid that count */
	__u64 sib_scope_id;
};

/* True for the all-zero GID (any). */
static inline int ib_addr_any(const struct ib_addr *a)
{
	return (a->sib_addr64[0] | a->sib_addr64[1]) == 0;
}

/* True for ::1. */
static inline int ib_addr_loopback(const struct ib_addr *a)
{
	return a->sib_addr64[0] == 0 && a->sib_addr32[2] == 0 && a->sib_addr16[6] == 0 &&
	       a->sib_addr8[14] == 0 && a->sib_addr8[15] == 1;
}

/* Sets the GID from four big-endian words. */
static inline void ib_addr_set(struct ib_addr *addr, __be32 w1, __be32 w2, __be32 w3, __be32 w4)
{
	addr->sib_addr32[0] = w1;
	addr->sib_addr32[1] = w2;
	addr->sib_addr32[2] = w3;
	addr->sib_addr32[3] = w4;
}

/* As memcmp() of the two GIDs. */
static inline int ib_addr_cmp(const struct ib_addr *a, const struct ib_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

#endif
