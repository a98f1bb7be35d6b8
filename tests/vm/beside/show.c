/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of an id, an event, a queue pair: only what is the same in each run. */
#include "beside.h"

#include <arpa/inet.h>
#include <stdarg.h>

void text_add(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	if (text->len + 300 > sizeof(text->at))
		FAIL("more to say than there is room for");
	text->at[text->len++] = ' ';
	va_start(args, format);
	len = vsnprintf(text->at + text->len, sizeof(text->at) - text->len, format, args);
	va_end(args);
	text->len += (size_t)len;
}

const char *show_errno(int error)
{
	const char *name = error ? strerrorname_np(error) : "0";

	return name ? name : "unknown";
}

static const char *show_port(struct world *w, uint16_t port)
{
	if (!port)
		return "0";
	return port == w->port ? "listener" : "some";
}

/* The device's own address, whichever that is, and that of one that is removed. */
static const char *show_number(const struct world *w, const char *number)
{
	const char *plain = strncmp(number, "::ffff:", 7) ? number : number + 7;

	if (!strcmp(plain, w->gone))
		return plain == number ? "gone" : "::ffff:gone";
	return strcmp(plain, w->address) ? number : plain == number ? "here" : "::ffff:here";
}

static void show_address(struct text *text, const char *key, struct world *w, const struct sockaddr *address)
{
	const struct sockaddr_in *sin = (const void *)address;
	const struct sockaddr_in6 *sin6 = (const void *)address;
	const struct sockaddr_ib *sib = (const void *)address;
	char number[INET6_ADDRSTRLEN];

	switch (address->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &sin->sin_addr, number, sizeof(number));
		text_add(text, "%s=%s,%s", key, show_number(w, number), show_port(w, ntohs(sin->sin_port)));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &sin6->sin6_addr, number, sizeof(number));
		text_add(text, "%s=%s,%s,%x,%u", key, number, show_port(w, ntohs(sin6->sin6_port)),
			 ntohl(sin6->sin6_flowinfo), sin6->sin6_scope_id);
		break;
	case AF_IB:
		inet_ntop(AF_INET6, &sib->sib_addr, number, sizeof(number));
		text_add(text, "%s=ib,%s,%x,%llx", key, number, ntohs(sib->sib_pkey),
			 (unsigned long long)be64toh(sib->sib_sid) >> 16);
		break;
	default:
		text_add(text, "%s=family%u", key, address->sa_family);
	}
}

static void show_gid(struct text *text, const char *key, const struct world *w, const union ibv_gid *gid)
{
	char number[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid, number, sizeof(number));
	text_add(text, "%s=%s", key, show_number(w, number));
}

/* Of the 24 bits that it is told in the upper four are none of it: the other library has one of the link's MAC address
 * there, where the kernel puts it. */
static bool has_flow_label(const struct ibv_sa_path_rec *path)
{
	return ntohl(path->flow_label) & 0xfffff;
}

static void show_path(struct text *text, const char *prefix, const struct world *w, const struct ibv_sa_path_rec *path)
{
	char key[80];

	snprintf(key, sizeof(key), "%spath.dgid", prefix);
	show_gid(text, key, w, &path->dgid);
	snprintf(key, sizeof(key), "%spath.sgid", prefix);
	show_gid(text, key, w, &path->sgid);
	/* Those of a device of the case's own are made of what it has alone. */
	if (!w->gone[0])
		text_add(text, "%spath.lids=%u,%u", prefix, ntohs(path->dlid), ntohs(path->slid));
	text_add(text, "%spath.grh=%d,%u,%u,%u", prefix, path->raw_traffic, has_flow_label(path), path->hop_limit,
		 path->traffic_class);
	text_add(text, "%spath.reversible=%d", prefix, path->reversible);
	text_add(text, "%spath.numb=%u", prefix, path->numb_path);
	text_add(text, "%spath.pkey=%x", prefix, ntohs(path->pkey));
	text_add(text, "%spath.sl=%u", prefix, path->sl);
	text_add(text, "%spath.mtu=%u,%u", prefix, path->mtu_selector, path->mtu);
	text_add(text, "%spath.rate=%u,%u", prefix, path->rate_selector, path->rate);
	text_add(text, "%spath.life=%u,%u", prefix, path->packet_life_time_selector, path->packet_life_time);
	text_add(text, "%spath.preference=%u", prefix, path->preference);
}

static const char *show_qpn(struct world *w, uint32_t number)
{
	if (!number)
		return "0";
	if (number == w->qpn)
		return "given";
	if (w->id && w->id->qp && w->id->qp->qp_num == number)
		return "own";
	if (w->peer && w->peer->qp && w->peer->qp->qp_num == number)
		return "peer";
	return "some";
}

static void show_ah(struct text *text, const char *prefix, const struct world *w, const struct ibv_ah_attr *ah)
{
	char key[80];

	snprintf(key, sizeof(key), "%sah.dgid", prefix);
	show_gid(text, key, w, &ah->grh.dgid);
	text_add(text, "%sah.grh=%u,%u,%u,%u", prefix, ah->grh.flow_label ? 1 : 0, ah->grh.sgid_index, ah->grh.hop_limit,
		 ah->grh.traffic_class);
	text_add(text, "%sah=%u,%u,%u,%u,%u,%u", prefix, ah->dlid, ah->sl, ah->src_path_bits, ah->static_rate, ah->is_global,
		 ah->port_num);
}

void show_qp_attr(struct text *text, struct world *w, const char *prefix, const struct ibv_qp_attr *attr)
{
	text_add(text, "%sstate=%d", prefix, attr->qp_state);
	text_add(text, "%smtu=%d", prefix, attr->path_mtu);
	text_add(text, "%sqkey=%x", prefix, attr->qkey);
	text_add(text, "%sdest=%s", prefix, show_qpn(w, attr->dest_qp_num));
	text_add(text, "%saccess=%x", prefix, (unsigned int)attr->qp_access_flags);
	text_add(text, "%spkey_index=%u", prefix, attr->pkey_index);
	text_add(text, "%sport=%u", prefix, attr->port_num);
	text_add(text, "%srd=%u,%u", prefix, attr->max_rd_atomic, attr->max_dest_rd_atomic);
	text_add(text, "%sretry=%u,%u", prefix, attr->retry_cnt, attr->rnr_retry);
	text_add(text, "%stimes=%u,%u", prefix, attr->min_rnr_timer, attr->timeout);
	show_ah(text, prefix, w, &attr->ah_attr);
}

void show_init_attr(struct text *text, struct world *w, const struct ibv_qp_init_attr *attr)
{
	text_add(text, "attr.cqs=%s,%s", !attr->send_cq ? "0" : attr->send_cq == w->given_cq ? "given" : "made",
		 !attr->recv_cq ? "0" : attr->recv_cq == w->given_cq ? "given"
					: attr->recv_cq == attr->send_cq ? "same" : "made");
	text_add(text, "attr.srq=%s", !attr->srq ? "0" : attr->srq == w->given_srq ? "given" : "made");
	text_add(text, "attr.context=%s", !attr->qp_context ? "0" : attr->qp_context == w->id ? "id" : "other");
	text_add(text, "attr.cap=%u,%u,%u,%u,%u", attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
		 attr->cap.max_recv_sge, attr->cap.max_inline_data);
	text_add(text, "attr.type=%d,%d", attr->qp_type, attr->sq_sig_all);
}

static void show_qp(struct text *text, const char *prefix, struct world *w, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr attr = {0};
	char inner[80];
	int ret;

	text_add(text, "%sqp=%s", prefix, id->qp ? "made" : "0");
	if (!id->qp)
		return;
	text_add(text, "%sqp.type=%d", prefix, id->qp->qp_type);
	text_add(text, "%sqp.context=%s", prefix, id->qp->qp_context == id ? "id" : "other");
	text_add(text, "%sqp.parts=%s,%s,%s,%s", prefix, id->qp->pd == id->pd ? "pd" : "other",
		 id->qp->send_cq == id->send_cq ? "send_cq" : "other", id->qp->recv_cq == id->recv_cq ? "recv_cq" : "other",
		 id->qp->srq == id->srq ? "srq" : "other");
	ret = ibv_query_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init);
	if (ret) {
		text_add(text, "%sqp.query=%s", prefix, show_errno(ret));
		return;
	}
	text_add(text, "%sqp.cap=%u,%u,%u,%u,%u,%d", prefix, init.cap.max_send_wr, init.cap.max_recv_wr,
		 init.cap.max_send_sge, init.cap.max_recv_sge, init.cap.max_inline_data, init.sq_sig_all);
	snprintf(inner, sizeof(inner), "%sqp.", prefix);
	show_qp_attr(text, w, inner, &attr);
}

static void show_cq(struct text *text, const char *prefix, const char *which, struct world *w, struct rdma_cm_id *id,
		    const struct ibv_cq *cq, const struct ibv_comp_channel *channel)
{
	text_add(text, "%s%s_cq=%s", prefix, which, !cq ? "0" : cq == w->given_cq ? "given" : "made");
	text_add(text, "%s%s_cq_channel=%s", prefix, which, channel ? "made" : "0");
	if (cq)
		text_add(text, "%s%s_cq.cqe=%d,%s,%s", prefix, which, cq->cqe, cq->cq_context == id ? "id" : "other",
			 cq->channel == channel ? "channel" : "other");
}

static const char *show_channel(struct world *w, const struct rdma_event_channel *channel)
{
	if (!channel)
		return "0";
	if (channel == w->channel)
		return "channel";
	if (channel == w->peer_channel)
		return "peer_channel";
	return channel == w->other_channel ? "other_channel" : "own";
}

static const char *show_context(struct world *w, const void *context)
{
	if (!context)
		return "0";
	if (context == &w->context)
		return "context";
	if (context == &w->peer_context)
		return "peer_context";
	return context == &w->mcast_context ? "mcast_context" : "some";
}

static const char *show_device(const struct ibv_context *verbs)
{
	const char *name = verbs ? ibv_get_device_name(verbs->device) : "0";

	return strncmp(name, "rxb", 3) ? name : "alone";
}

void show_id(struct text *text, const char *prefix, struct world *w, struct rdma_cm_id *id)
{
	const struct rdma_addr *addr = &id->route.addr;
	char key[80];

	text_add(text, "%sverbs=%s", prefix, show_device(id->verbs));
	text_add(text, "%schannel=%s", prefix, show_channel(w, id->channel));
	text_add(text, "%scontext=%s", prefix, show_context(w, id->context));
	text_add(text, "%sps=%x", prefix, id->ps);
	text_add(text, "%sport_num=%u", prefix, id->port_num);
	text_add(text, "%sqp_type=%d", prefix, id->qp_type);
	text_add(text, "%sevent=%s", prefix, id->event ? rdma_event_str(id->event->event) : "0");
	snprintf(key, sizeof(key), "%ssrc", prefix);
	show_address(text, key, w, &addr->src_addr);
	snprintf(key, sizeof(key), "%sdst", prefix);
	show_address(text, key, w, &addr->dst_addr);
	snprintf(key, sizeof(key), "%ssgid", prefix);
	show_gid(text, key, w, &addr->addr.ibaddr.sgid);
	snprintf(key, sizeof(key), "%sdgid", prefix);
	show_gid(text, key, w, &addr->addr.ibaddr.dgid);
	text_add(text, "%spkey=%x", prefix, ntohs(addr->addr.ibaddr.pkey));
	text_add(text, "%spaths=%d,%s", prefix, id->route.num_paths, id->route.path_rec ? "made" : "0");
	if (id->route.path_rec && id->route.num_paths > 0)
		show_path(text, prefix, w, id->route.path_rec);
	text_add(text, "%spd=%s", prefix, !id->pd ? "0" : id->pd == w->given_pd ? "given" : "made");
	text_add(text, "%ssrq=%s", prefix, !id->srq ? "0" : id->srq == w->given_srq ? "given" : "made");
	show_cq(text, prefix, "send", w, id, id->send_cq, id->send_cq_channel);
	show_cq(text, prefix, "recv", w, id, id->recv_cq, id->recv_cq_channel);
	show_qp(text, prefix, w, id);
}

static const char *show_which(struct world *w, const struct rdma_cm_id *id)
{
	if (!id)
		return "0";
	if (id == w->id)
		return "id";
	if (id == w->peer)
		return "peer";
	if (id == w->listener)
		return "listener";
	return id == w->fresh ? "fresh" : "new";
}

/* How long, what it begins with up to the last byte that isn't 0. */
static void show_data(struct text *text, const char *prefix, struct world *w, const struct rdma_cm_event *event,
		      const uint8_t *data, uint8_t len)
{
	uint32_t sum = 0;
	int used = 0;

	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN || event->event == RDMA_CM_EVENT_MULTICAST_ERROR) {
		text_add(text, "%sdata=%s,%u", prefix, show_context(w, data), len);
		return;
	}
	for (int i = 0; data && i < len; i++) {
		sum = sum * 31 + data[i];
		used = data[i] ? i + 1 : used;
	}
	text_add(text, "%sdata=%s,%u,%d,%x", prefix, data ? "set" : "0", len, used, sum);
}

static void show_ud(struct text *text, const char *prefix, struct world *w, const struct rdma_cm_event *event)
{
	const struct rdma_ud_param *ud = &event->param.ud;

	show_data(text, prefix, w, event, ud->private_data, ud->private_data_len);
	show_ah(text, prefix, w, &ud->ah_attr);
	text_add(text, "%sqpn=%s", prefix,
		 ud->qp_num == 0xFFFFFF ? "multicast" : show_qpn(w, ud->qp_num));
	text_add(text, "%sqkey=%x", prefix, ud->qkey);
}

static void show_conn(struct text *text, const char *prefix, struct world *w, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	show_data(text, prefix, w, event, conn->private_data, conn->private_data_len);
	text_add(text, "%srd=%u,%u", prefix, conn->responder_resources, conn->initiator_depth);
	text_add(text, "%sflow=%u", prefix, conn->flow_control);
	text_add(text, "%sretry=%u,%u", prefix, conn->retry_count, conn->rnr_retry_count);
	text_add(text, "%ssrq=%u", prefix, conn->srq);
	text_add(text, "%sqpn=%s", prefix, show_qpn(w, conn->qp_num));
}

void show_event(struct text *text, const char *prefix, struct world *w, const struct rdma_cm_event *event)
{
	static const char zero[sizeof(event->param)];

	text_add(text, "%s=%s", prefix, rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"));
	char inner[80];

	snprintf(inner, sizeof(inner), "%s.", prefix);
	text_add(text, "%sstatus=%d", inner, event->status);
	text_add(text, "%sid=%s", inner, show_which(w, event->id));
	text_add(text, "%slisten_id=%s", inner, show_which(w, event->listen_id));
	if (!memcmp(&event->param, zero, sizeof(zero)))
		text_add(text, "%sparam=0", inner);
	else if (space_is_datagrams(w->space))
		show_ud(text, inner, w, event);
	else
		show_conn(text, inner, w, event);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	snprintf(inner, sizeof(inner), "%s.new.", prefix);
	show_id(text, inner, w, event->id);
}

void show_changes(struct text *text, const char *prefix, const struct text *earlier, const struct text *later)
{
	char words[TEXT_MAX], known[TEXT_MAX + 2], wanted[400], *rest = NULL;

	memcpy(words, later->at, later->len);
	words[later->len] = '\0';
	snprintf(known, sizeof(known), "%.*s ", (int)earlier->len, earlier->at);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		snprintf(wanted, sizeof(wanted), " %s ", word);
		if (!strstr(known, wanted))
			text_add(text, "%s%s", prefix, word);
	}
}
