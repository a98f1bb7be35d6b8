/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the fields of a result. */
#include "words.h"

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

const char *cli_family_word(int family)
{
	switch (family) {
	case AF_INET:
		return "inet";
	case AF_INET6:
		return "inet6";
	case AF_IB:
		return "ib";
	default:
		return "?";
	}
}

const char *cli_qp_type_word(int qp_type)
{
	switch (qp_type) {
	case 0:
		return "-";
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return "XRC";
	default:
		return "?";
	}
}

const char *cli_port_space_word(int port_space)
{
	switch (port_space) {
	case 0:
		return "-";
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IB:
		return "IB";
	case RDMA_PS_IPOIB:
		return "IPOIB";
	default:
		return "?";
	}
}

const char *cli_errno_word(int status)
{
	const char *name = status < 0 ? strerrorname_np(-status) : NULL;

	return name ? name : "?";
}

void cli_address_word(const struct sockaddr *sa, char *buf, size_t len)
{
	const struct sockaddr_ib *sib = (const void *)sa;
	socklen_t sa_len;

	snprintf(buf, len, "%s", sa ? "?" : "-");
	if (!sa)
		return;
	if (sa->sa_family == AF_IB) {
		inet_ntop(AF_INET6, &sib->sib_addr, buf, (socklen_t)len);
		return;
	}
	/* Not inet_ntop(): this one knows the name of the scope. */
	sa_len = sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	getnameinfo(sa, sa_len, buf, (socklen_t)len, NULL, 0, NI_NUMERICHOST);
}

unsigned cli_address_port(const struct sockaddr *sa)
{
	switch (sa ? sa->sa_family : AF_UNSPEC) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)(const void *)sa)->sin6_port);
	case AF_IB:
		return be64toh(((const struct sockaddr_ib *)(const void *)sa)->sib_sid) & 0xffff;
	default:
		return 0;
	}
}

static void flag_words(uint32_t flags, char *buf, size_t len)
{
	static const struct {
		uint32_t bits;
		const char *word;
	} words[] = {
		{ IBV_PATH_FLAG_PRIMARY, "primary" },
		{ IBV_PATH_FLAG_ALTERNATE, "alternate" },
		{ IBV_PATH_FLAG_GMP, "gmp" },
		{ IBV_PATH_FLAG_BIDIRECTIONAL, "bidirectional" },
		{ IBV_PATH_FLAG_OUTBOUND, "outbound" },
		{ IBV_PATH_FLAG_INBOUND, "inbound" },
		{ IBV_PATH_FLAG_INBOUND_REVERSE, "inbound-reverse" },
	};
	size_t used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((flags & words[i].bits) != words[i].bits)
			continue;
		flags &= ~words[i].bits;	/* both directions in one word: neither again */
		used += (size_t)snprintf(buf + used, len - used, "%s%s", used ? " " : "", words[i].word);
	}
}

/* PacketLifeTime is 4.096 us times a power of two (IBTA 15.2.5.16). */
static double lifetime(uint8_t code)
{
	return 4.096e-6 * (double)(UINT64_C(1) << (code & 0x3f));
}

/* MTU codes 1 to 5 are 256 to 4096 bytes (IBTA 15.2.5.16). */
static unsigned mtu(uint8_t code)
{
	code &= 0x3f;
	return code >= 1 && code <= 5 ? 128U << code : 0;
}

void cli_path_read(const struct ibv_path_data *data, struct cli_path *ret_path)
{
	const struct ibv_path_record *record = &data->path;
	uint32_t flow_hop = be32toh(record->flowlabel_hoplimit);
	int mbps = ibv_rate_to_mbps(record->rate & 0x3f);

	*ret_path = (struct cli_path) {
		.slid = be16toh(record->slid),
		.dlid = be16toh(record->dlid),
		.sl = be16toh(record->qosclass_sl) & 0xf,
		.pkey = be16toh(record->pkey),
		.mtu = mtu(record->mtu),
		.rate = mbps > 0 ? mbps / 1000.0 : 0,
		.lifetime = lifetime(record->packetlifetime),
		.flow_label = flow_hop >> 8 & 0xfffff,
		.hop_limit = flow_hop & 0xff,
		.traffic_class = record->tclass,
		.qos_class = be16toh(record->qosclass_sl) >> 4,
		.preference = record->preference,
		.reversible = record->reversible_numpath & IBV_PATH_RECORD_REVERSIBLE,
		.service_id = be64toh(record->service_id),
	};
	flag_words(data->flags, ret_path->flags, sizeof(ret_path->flags));
	inet_ntop(AF_INET6, &record->sgid, ret_path->sgid, sizeof(ret_path->sgid));
	inet_ntop(AF_INET6, &record->dgid, ret_path->dgid, sizeof(ret_path->dgid));
}
