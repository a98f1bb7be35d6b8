/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's side of /dev/infiniband/rdma_cm, ABI version 4: the system's own header, plus the command that it may
 * lack (Linux 6.18), under names of ours so that a newer header doesn't clash. Layouts are asserted below.
 */
#pragma once

#include <netinet/in.h>		/* before the kernel's header, which then leaves sockaddr_in6 alone */
#include <stddef.h>
#include <stdint.h>

/* The system's header names these as <rdma/rdma_cma.h> does; the kernel's copies get out of its way. */
#define RDMA_PS_IPOIB RCM_UCM_PS_IPOIB
#define RDMA_PS_IB RCM_UCM_PS_IB
#define RDMA_PS_TCP RCM_UCM_PS_TCP
#define RDMA_PS_UDP RCM_UCM_PS_UDP
#define RDMA_OPTION_ID RCM_UCM_OPTION_ID
#define RDMA_OPTION_IB RCM_UCM_OPTION_IB
#define RDMA_OPTION_ID_TOS RCM_UCM_OPTION_ID_TOS
#define RDMA_OPTION_ID_REUSEADDR RCM_UCM_OPTION_ID_REUSEADDR
#define RDMA_OPTION_ID_AFONLY RCM_UCM_OPTION_ID_AFONLY
#define RDMA_OPTION_ID_ACK_TIMEOUT RCM_UCM_OPTION_ID_ACK_TIMEOUT
#define RDMA_OPTION_IB_PATH RCM_UCM_OPTION_IB_PATH
#define RDMA_MC_JOIN_FLAG_FULLMEMBER RCM_UCM_JOIN_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER RCM_UCM_JOIN_SENDONLY_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_RESERVED RCM_UCM_JOIN_RESERVED
#include <rdma/rdma_user_cm.h>
#undef RDMA_PS_IPOIB
#undef RDMA_PS_IB
#undef RDMA_PS_TCP
#undef RDMA_PS_UDP
#undef RDMA_OPTION_ID
#undef RDMA_OPTION_IB
#undef RDMA_OPTION_ID_TOS
#undef RDMA_OPTION_ID_REUSEADDR
#undef RDMA_OPTION_ID_AFONLY
#undef RDMA_OPTION_ID_ACK_TIMEOUT
#undef RDMA_OPTION_IB_PATH
#undef RDMA_MC_JOIN_FLAG_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_RESERVED

enum {
	RCM_UCM_CMD_RESOLVE_IB_SERVICE = 23
};

enum {
	RCM_UCM_QUERY_IB_SERVICE = 3	/* option of RDMA_USER_CM_CMD_QUERY */
};

enum {
	RCM_UCM_SERVICE_BY_ID = 1 << 0,
	RCM_UCM_SERVICE_BY_NAME = 1 << 1
};

struct rcm_ucm_resolve_ib_service {
	__u32 id;
	__u32 reserved0;
	__aligned_u64 service_id;	/* host order */
	__u8 service_name[64];
	__u32 flags;
	__u32 reserved1;
};

/* A ServiceRecord (IBTA 15.2.5.14) as the SA sends it: all in network order. */
struct rcm_ucm_service_rec {
	__be64 id;
	__u8 gid[16];
	__be16 pkey;
	__u8 reserved[2];
	__be32 lease;
	__u8 key[16];
	__u8 name[64];
	__u8 data[64];
};

struct rcm_ucm_query_ib_service_resp {
	__u32 num_service_recs;
	__u32 reserved;
	struct rcm_ucm_service_rec recs[];
};

#define RCM_LAYOUT(type, field, at, what) \
	_Static_assert(offsetof(struct type, field) == (at) && sizeof(struct type) == (what), #type)

RCM_LAYOUT(rdma_ucm_cmd_hdr, in, 4, 8);
RCM_LAYOUT(rdma_ucm_create_id, ps, 16, 24);
RCM_LAYOUT(rdma_ucm_bind, addr, 8, 136);
RCM_LAYOUT(rdma_ucm_resolve_addr, dst_addr, 144, 272);
RCM_LAYOUT(rdma_ucm_query, option, 12, 16);
RCM_LAYOUT(rdma_ucm_query_addr_resp, ibdev_index, 272, 280);
RCM_LAYOUT(rdma_ucm_conn_param, private_data_len, 264, 272);
RCM_LAYOUT(rdma_ucm_ud_param, private_data, 40, 304);
RCM_LAYOUT(rdma_ucm_connect, ece, 280, 288);
RCM_LAYOUT(rdma_ucm_accept, ece, 288, 296);
RCM_LAYOUT(rdma_ucm_reject, private_data, 8, 264);
RCM_LAYOUT(rdma_ucm_join_mcast, addr, 24, 152);
RCM_LAYOUT(rdma_ucm_set_option, optlen, 20, 24);
RCM_LAYOUT(rdma_ucm_event_resp, ece, 328, 336);
RCM_LAYOUT(rdma_ucm_event_resp, param, 20, 336);
RCM_LAYOUT(rcm_ucm_resolve_ib_service, flags, 80, 88);
RCM_LAYOUT(rcm_ucm_service_rec, name, 48, 176);
RCM_LAYOUT(rcm_ucm_query_ib_service_resp, recs, 8, 8);

_Static_assert(RDMA_USER_CM_CMD_JOIN_MCAST == 22, "commands are numbered without gaps");
_Static_assert(RDMA_USER_CM_ABI_VERSION == 4, "ABI version");
