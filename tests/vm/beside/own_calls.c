/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that need no id: what makes one, devices, words; and what ids that are connected are for. */
#include "beside.h"

#include <limits.h>

enum { MESSAGE = 32, GRH = 40, MESSAGE_IDLE = 1000 / IDLE_MS };

/* ---- Making ---- */

static enum rdma_port_space space_of(const char *arg)
{
	static const struct {
		const char *name;
		int space;
	} spaces[] = {
		{"udp", RDMA_PS_UDP}, {"ud", RDMA_PS_UDP}, {"ipoib", RDMA_PS_IPOIB}, {"ib", RDMA_PS_IB},
		{"space0", 0}, {"space_odd", 0x103}, {"space_huge", 0x7FFFFFFF},
	};

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		if (arg_is(arg, spaces[i].name))
			return (enum rdma_port_space)spaces[i].space;
	}
	return RDMA_PS_TCP;
}

static void call_create_id(struct world *w, const char *arg)
{
	struct rdma_cm_id *made = NULL;

	DO(w, rdma_create_id(arg_is(arg, "sync") ? NULL : w->channel, arg_is(arg, "null") ? NULL : &made,
			     arg_is(arg, "context") ? &w->mcast_context : NULL, space_of(arg)));
	if (!made)
		return;
	show_id(&w->result, "made.", w, made);
	text_add(&w->result, "made.end=%d", rdma_destroy_id(made));
}

static socklen_t address_len(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* That don't fit the family, those of nothing among them. */
static void ep_lengths(const char *arg, struct rdma_addrinfo *info)
{
	socklen_t *len = strstr(arg, "from") || strstr(arg, "passive") ? &info->ai_src_len : &info->ai_dst_len;

	if (strstr(arg, "_len0"))
		*len = 0;
	if (strstr(arg, "_len_short"))
		*len = 8;
	if (strstr(arg, "_len_long"))
		*len = sizeof(struct sockaddr_in6);
}

/* What rdma_getaddrinfo() could have said, and what it never does. */
static void ep_info(struct world *w, const char *arg, struct rdma_addrinfo *info)
{
	struct sockaddr *here = vm_sockaddr(arg_is(arg, "v6") ? vm_address6() : w->address, w->port ? w->port : 7);

	*info = (struct rdma_addrinfo){.ai_family = here->sa_family, .ai_port_space = space_of(arg)};
	info->ai_qp_type = info->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	if (arg_is(arg, "type_other"))
		info->ai_qp_type = IBV_QPT_UD;
	if (arg_is(arg, "type0"))
		info->ai_qp_type = 0;
	if (arg_is(arg, "family0"))
		info->ai_family = 0;
	if (arg_is(arg, "flags_huge"))
		info->ai_flags = ~RAI_PASSIVE;
	if (arg_is(arg, "mcast4") || arg_is(arg, "foreign"))
		here = arg_address(w, arg, 7);
	if (arg_is(arg, "connect_data")) {
		info->ai_connect = &w->port;
		info->ai_connect_len = sizeof(w->port);
	}
	if (!strncmp(arg, "passive", 7)) {
		info->ai_flags = RAI_PASSIVE;
		here = vm_sockaddr(arg_is(arg, "passive_any") ? "0.0.0.0" : w->address, 0);
	}
	if (!strncmp(arg, "passive", 7) || !strncmp(arg, "from", 4)) {
		info->ai_src_addr = !strncmp(arg, "from", 4) ? vm_sockaddr(w->address, 0) : here;
		info->ai_src_len = address_len(info->ai_src_addr);
	}
	if (strncmp(arg, "passive", 7) && !arg_is(arg, "no_address")) {
		info->ai_dst_addr = here;
		info->ai_dst_len = address_len(here);
	}
	ep_lengths(arg, info);
}

static void call_create_ep(struct world *w, const char *arg)
{
	bool datagrams = space_of(arg) == RDMA_PS_UDP;
	struct ibv_path_data path = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL};
	struct ibv_qp_init_attr attr, *with = arg_is(arg, "bare") || arg_is(arg, "passive_bare") ? NULL : &attr;
	struct rdma_addrinfo info;
	struct rdma_cm_id *made = NULL;

	arg_qp(w, datagrams ? "ud" : "rc", &attr);
	if (arg_is(arg, "attr_other"))
		attr.qp_type = IBV_QPT_UD;
	if (arg_is(arg, "attr_huge"))
		memset(&attr.cap, 255, sizeof(attr.cap));
	ep_info(w, arg, &info);
	if (arg_is(arg, "route") || arg_is(arg, "route_short")) {
		info.ai_route = &path;
		info.ai_route_len = arg_is(arg, "route") ? sizeof(path) : 8;
	}
	DO(w, rdma_create_ep(arg_is(arg, "null") ? NULL : &made, arg_is(arg, "null_info") ? NULL : &info, arg_pd(w, arg),
			     with));
	if (!made)
		return;
	show_id(&w->result, "made.", w, made);
	rdma_destroy_ep(made);
}

/* ---- What is known of no id ---- */

static void call_devices(struct world *w, const char *arg)
{
	struct ibv_context **list;
	int count = -1;

	list = rdma_get_devices(arg_is(arg, "null") ? NULL : &count);
	text_add(&w->result, "list=%s count=%d", list ? "made" : "0", count);
	for (int i = 0; list && list[i]; i++)
		text_add(&w->result, "device%d=%s,%d", i, ibv_get_device_name(list[i]->device), w->id && list[i] == w->id->verbs);
	if (list)
		rdma_free_devices(list);
}

static void text_words(struct text *text, int number)
{
	char words[80];

	snprintf(words, sizeof(words), "%s", rdma_event_str((enum rdma_cm_event_type)number));
	for (char *at = words; (at = strchr(at, ' ')); at++)
		*at = '_';
	text_add(text, "str%d=%s", number, words);
}

static void call_event_str(struct world *w, const char *arg)
{
	if (!arg_is(arg, "all"))
		return text_words(&w->result, arg_is(arg, "huge") ? INT_MAX : atoi(arg));
	for (int i = -1; i <= RDMA_CM_EVENT_TIMEWAIT_EXIT; i++)
		text_words(&w->result, i);
}

static void call_ack(struct world *w, const char *arg)
{
	(void)arg;
	DO(w, rdma_ack_cm_event(NULL));
}

/* ---- What it is all for ---- */

static const char *wait_for(struct ibv_cq *cq, struct ibv_wc *ret_wc)
{
	unsigned int since = idle_moments();

	while (idle_moments() - since < MESSAGE_IDLE) {
		int got = ibv_poll_cq(cq, 1, ret_wc);

		if (got)
			return got == 1 ? "done" : "refused";
		usleep(1000);
	}
	return "nothing";
}

/* One of the two ends sends the other a message, where they can. */
static void call_message(struct world *w, const char *arg)
{
	struct rdma_cm_id *from = arg_is(arg, "takes") ? w->peer : w->id, *to = arg_is(arg, "takes") ? w->id : w->peer;
	static char sent[MESSAGE] = "what is said", got[GRH + MESSAGE];
	struct ibv_mr *send_mr, *recv_mr;
	struct ibv_wc wc = {0};
	const char *came;

	if (!from || !to || !from->qp || !to->qp || from->qp->qp_type != IBV_QPT_RC || !from->send_cq || !to->recv_cq)
		return text_add(&w->result, "none=1");
	send_mr = rdma_reg_msgs(from, sent, sizeof(sent));
	recv_mr = rdma_reg_msgs(to, got, sizeof(got));
	CHECK(send_mr && recv_mr);
	text_add(&w->result, "recv=%d", rdma_post_recv(to, w, got, sizeof(got), recv_mr));
	DO(w, rdma_post_send(from, w, sent, sizeof(sent), send_mr, IBV_SEND_SIGNALED));
	came = wait_for(from->send_cq, &wc);
	text_add(&w->result, "sent=%s,%d", came, wc.status);
	wc = (struct ibv_wc){0};
	came = wc.status || !strcmp(came, "nothing") ? "nothing" : wait_for(to->recv_cq, &wc);
	text_add(&w->result, "came=%s,%d,%u,%d", came, wc.status, wc.byte_len, memcmp(sent, got, sizeof(sent)) == 0);
	/* What the queue pairs still hold of them ends with the process. */
}

const struct call own_calls[] = {
	{"create_id", call_create_id, "tcp udp ipoib ib space0 space_odd space_huge sync context null", "new sync_new", true},
	{"create_ep", call_create_ep,
	 "good bare passive passive_bare passive_any ud ib null null_info no_address from v6 type_other type0 attr_other "
	 "attr_huge family0 flags_huge space0 space_odd mcast4 foreign connect_data route route_short pd_own pd_foreign "
	 "to_len0 to_len_short to_len_long from_len0 from_len_short from_len_long passive_len0 passive_len_short "
	 "passive_len_long",
	 "new bound sync_new", true},
	{"devices", call_devices, "good null", "new bound connected", true},
	{"event_str", call_event_str, "all 16 17 18 19 20 huge", "new", true},
	{"ack", call_ack, "null", "new", true},
	{"message", call_message, "sends takes",
	 "connecting response_due responded connected disconnected request_qp accepted taken left sync_connected sync_taken "
	 "ep connected6 link_connected ib_connected ib_taken", true},
};

const size_t own_calls_count = sizeof(own_calls) / sizeof(own_calls[0]);
