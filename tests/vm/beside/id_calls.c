/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls on an id that are about itself, its queue pair and its options, and those that need no id. */
#include "beside.h"

#include <dlfcn.h>

void call_did(struct world *w, int ret)
{
	int error = errno;

	text_add(&w->result, "ret=%d", ret);
	if (ret)
		text_add(&w->result, "errno=%s", show_errno(error));
}

/* ---- Queue pairs ---- */

static void call_create_qp(struct world *w, const char *arg)
{
	struct ibv_qp_init_attr attr, *with = arg_qp(w, arg, &attr);
	struct ibv_pd *pd = arg_pd(w, arg);

	DO(w, rdma_create_qp(w->id, pd, with));
	if (with)
		show_init_attr(&w->result, w, with);
}

static void call_create_qp_ex(struct world *w, const char *arg)
{
	struct ibv_qp_init_attr plain, *with = arg_qp(w, arg, &plain);
	struct ibv_qp_init_attr_ex attr = {.comp_mask = 0};

	if (!with) {
		DO(w, rdma_create_qp_ex(w->id, NULL));
		return;
	}
	memcpy(&attr, &plain, sizeof(plain));
	attr.pd = arg_pd(w, arg);
	if (attr.pd || arg_is(arg, "null_pd"))
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (arg_is(arg, "mask_huge"))
		attr.comp_mask = ~0U;
	if (arg_is(arg, "mask_xrcd"))
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	if (arg_is(arg, "mask_flags"))
		attr.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS;
	DO(w, rdma_create_qp_ex(w->id, &attr));
	memcpy(&plain, &attr, sizeof(plain));
	show_init_attr(&w->result, w, &plain);
	text_add(&w->result, "attr.mask=%x", attr.comp_mask);
	text_add(&w->result, "attr.pd=%s", !attr.pd ? "0" : attr.pd == w->given_pd ? "given" : "made");
}

static void call_destroy_qp(struct world *w, const char *arg)
{
	(void)arg;
	DO_VOID(w, rdma_destroy_qp(w->id));
}

static void call_create_srq(struct world *w, const char *arg)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 8, .max_sge = 1}};

	if (arg_is(arg, "zero"))
		memset(&attr, 0, sizeof(attr));
	if (arg_is(arg, "huge"))
		attr.attr.max_wr = attr.attr.max_sge = ~0U;
	if (arg_is(arg, "context"))
		attr.srq_context = &w->mcast_context;
	DO(w, rdma_create_srq(w->id, arg_pd(w, arg), arg_is(arg, "null") ? NULL : &attr));
	text_add(&w->result, "attr.wr=%u,%u", attr.attr.max_wr, attr.attr.max_sge);
	text_add(&w->result, "attr.context=%s", !attr.srq_context ? "0" : attr.srq_context == w->id ? "id" : "other");
}

static void call_create_srq_ex(struct world *w, const char *arg)
{
	struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = 8, .max_sge = 1}};

	attr.pd = arg_pd(w, arg);
	if (attr.pd || arg_is(arg, "null_pd"))
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	if (arg_is(arg, "basic") || arg_is(arg, "xrc") || arg_is(arg, "tm"))
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = arg_is(arg, "xrc") ? IBV_SRQT_XRC : arg_is(arg, "tm") ? IBV_SRQT_TM : IBV_SRQT_BASIC;
	if (arg_is(arg, "mask_huge"))
		attr.comp_mask = ~0U;
	DO(w, rdma_create_srq_ex(w->id, arg_is(arg, "null") ? NULL : &attr));
	text_add(&w->result, "attr.mask=%x", attr.comp_mask);
}

static void call_destroy_srq(struct world *w, const char *arg)
{
	(void)arg;
	DO_VOID(w, rdma_destroy_srq(w->id));
}

static void call_init_attr(struct world *w, const char *arg)
{
	struct ibv_qp_attr attr = {.qp_state = (enum ibv_qp_state)atoi(arg)};
	int mask = 0;

	if (arg_is(arg, "null") || arg_is(arg, "null_mask")) {
		DO(w, rdma_init_qp_attr(w->id, arg_is(arg, "null") ? NULL : &attr, arg_is(arg, "null") ? &mask : NULL));
		return;
	}
	DO(w, rdma_init_qp_attr(w->id, &attr, &mask));
	text_add(&w->result, "attr.mask=%x", (unsigned int)mask);
	show_qp_attr(&w->result, w, "attr.", &attr);
}

/* ---- Options ---- */

static const struct option {
	const char *name;
	int level, option;
	size_t len;
	uint8_t value[8];
} options[] = {
	{"tos", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, {32}},
	{"tos_max", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, {255}},
	{"tos_long", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4, {32}},
	{"tos_empty", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0, {0}},
	{"reuse", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, {1}},
	{"reuse_off", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, {0}},
	{"reuse2", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, {2}},
	{"reuse_long", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 8, {1}},
	{"reuse_short", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1, {1}},
	{"afonly", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4, {1}},
	{"afonly_off", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4, {0}},
	{"afonly_short", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1, {1}},
	{"ack_timeout", RDMA_OPTION_ID, 3, 1, {14}},
	{"ack_timeout0", RDMA_OPTION_ID, 3, 1, {0}},
	{"ack_timeout32", RDMA_OPTION_ID, 3, 1, {32}},
	{"ack_timeout_empty", RDMA_OPTION_ID, 3, 0, {14}},
	{"ack_timeout_huge", RDMA_OPTION_ID, 3, 1, {255}},
	{"ack_timeout_long", RDMA_OPTION_ID, 3, 4, {14}},
	{"id_unknown", RDMA_OPTION_ID, 77, 4, {0}},
	{"id_negative", RDMA_OPTION_ID, -1, 4, {0}},
	{"path_empty", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0, {0}},
	{"path_short", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 8, {0}},
	{"ib_unknown", RDMA_OPTION_IB, 0, 4, {0}},
	{"level_unknown", 7, 0, 4, {0}},
	{"level_negative", -1, 0, 4, {0}},
};

static void option_path(struct world *w, const char *arg)
{
	struct ibv_path_data path = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL};
	struct ibv_path_data paths[8];
	size_t len = sizeof(path);

	path.path.reversible_numpath = 0x80;
	path.path.pkey = 0xFFFF;
	path.path.mtu = 0x83;
	path.path.rate = 0x82;
	path.path.packetlifetime = 0x92;
	if (arg_is(arg, "path_zero"))
		memset(&path, 0, sizeof(path));
	if (arg_is(arg, "path_unflagged"))
		path.flags = 0;
	if (arg_is(arg, "path_alternate"))
		path.flags = IBV_PATH_FLAG_ALTERNATE | IBV_PATH_FLAG_BIDIRECTIONAL;
	if (arg_is(arg, "path_outbound"))
		path.flags = IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_PRIMARY;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		paths[i] = path;
	if (arg_is(arg, "path_two"))
		len = 2 * sizeof(path);
	if (arg_is(arg, "path_many"))
		len = sizeof(paths);
	if (arg_is(arg, "path_long"))
		len = sizeof(path) + 1;
	DO(w, rdma_set_option(w->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, len));
}

static void option_random(struct world *w)
{
	uint64_t bits = arg_random(w), value = arg_random(w);

	DO(w, rdma_set_option(w->id, (int)(bits % 3), (int)(bits >> 8) % 5, &value, (bits >> 16) % 9));
}

static void call_option(struct world *w, const char *arg)
{
	if (arg_is(arg, "null"))
		return DO(w, rdma_set_option(w->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1));
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *option = &options[i];

		if (arg_is(arg, option->name))
			return DO(w, rdma_set_option(w->id, option->level, option->option, (void *)option->value, option->len));
	}
	if (!strncmp(arg, "path", 4))
		return option_path(w, arg);
	option_random(w);
}

/* ---- The id itself ---- */

static void call_ports(struct world *w, const char *arg)
{
	uint16_t src, dst;

	(void)arg;
	src = ntohs(rdma_get_src_port(w->id));
	dst = ntohs(rdma_get_dst_port(w->id));
	text_add(&w->result, "src=%s dst=%s", !src ? "0" : src == w->port ? "listener" : "some",
		 !dst ? "0" : dst == w->port ? "listener" : "some");
}

static void call_migrate(struct world *w, const char *arg)
{
	struct rdma_event_channel *to = arg_is(arg, "same") ? w->channel : w->other_channel;

	if (arg_is(arg, "other") || arg_is(arg, "back"))
		to = w->other_channel = vm_channel();
	if (arg_is(arg, "peers"))
		to = w->peer_channel;
	DO(w, rdma_migrate_id(w->id, to));
	if (arg_is(arg, "back"))
		DO(w, rdma_migrate_id(w->id, w->channel));
}

static void call_destroy(struct world *w, const char *arg)
{
	int ret;

	if (arg_is(arg, "with_qp") && w->id && w->id->qp)
		rdma_destroy_qp(w->id);
	DO(w, ret = rdma_destroy_id(w->id));
	if (ret)
		return;
	if (w->listener == w->id)
		w->listener = NULL;
	w->id = NULL;
}

static void call_destroy_ep(struct world *w, const char *arg)
{
	(void)arg;
	DO_VOID(w, rdma_destroy_ep(w->id));
	if (w->listener == w->id)
		w->listener = NULL;
	w->id = NULL;
}

static void call_get_event(struct world *w, const char *arg)
{
	struct rdma_event_channel *channel = w->id ? w->id->channel : w->channel;
	struct rdma_cm_event *event = NULL;

	if (!channel)
		return text_add(&w->result, "none=1");
	fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	DO(w, rdma_get_cm_event(arg_is(arg, "null_channel") ? NULL : channel, arg_is(arg, "null") ? NULL : &event));
	if (!event)
		return;
	show_event(&w->result, "event", w, event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		w->fresh = event->id;
	DO(w, rdma_ack_cm_event(event));
}

static void call_ece(struct world *w, const char *arg)
{
	struct ibv_ece ece = {.vendor_id = 0x15b3, .options = 7};

	if (arg_is(arg, "set_null"))
		return DO(w, rdma_set_local_ece(w->id, NULL));
	if (arg_is(arg, "get_null"))
		return DO(w, rdma_get_remote_ece(w->id, NULL));
	if (arg_is(arg, "get")) {
		DO(w, rdma_get_remote_ece(w->id, &ece));
		return text_add(&w->result, "ece=%x,%x,%x", ece.vendor_id, ece.options, ece.comp_mask);
	}
	if (arg_is(arg, "set_vendor0"))
		ece.vendor_id = 0;
	if (arg_is(arg, "set_mask"))
		ece.comp_mask = 1;
	DO(w, rdma_set_local_ece(w->id, &ece));
}

/* Of newer libraries. */
static void call_newer(struct world *w, const char *arg)
{
	int (*resolve)(struct rdma_cm_id *, const char *, const char *, const struct rdma_addrinfo *);
	int (*query)(struct rdma_cm_id *, struct rdma_addrinfo **);
	int (*user)(struct rdma_cm_id *, int, int, uint64_t);
	struct rdma_addrinfo hints = {.ai_flags = 0x20}, *info = NULL;

	*(void **)&resolve = dlsym(RTLD_DEFAULT, "rdma_resolve_addrinfo");
	*(void **)&query = dlsym(RTLD_DEFAULT, "rdma_query_addrinfo");
	*(void **)&user = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	if (!resolve || !query || !user)
		return text_add(&w->result, "absent=1");
	if (!strncmp(arg, "user", 4)) {
		int type = arg_is(arg, "user_type0") ? 0 : arg_is(arg, "user_internal") ? 19 : 18;

		DO(w, user(w->id, type, arg_is(arg, "user_status") ? -5 : 0, 0x1122334455667788));
	} else if (arg_is(arg, "query") || arg_is(arg, "query_null")) {
		DO(w, query(w->id, arg_is(arg, "query") ? &info : NULL));
	} else {
		DO(w, resolve(w->id, arg_is(arg, "resolve_null") ? NULL : "10.2.0.1", arg_is(arg, "resolve") ? "7" : NULL,
			      arg_is(arg, "resolve_null") ? NULL : &hints));
	}
}

#define CREATE_QP \
	"good null ud rc uc raw xrc_send xrc_recv type0 nocap huge big inline context cq_send cq_recv cq_both srq pd_own " \
	"pd_foreign random1 random2 random3 random4 random5 random6"

const struct call id_calls[] = {
	{"create_qp", call_create_qp, CREATE_QP,
	 "bound routed request ud_resolved sync_resolved ep_bare ipoib_new"},
	{"create_qp_ex", call_create_qp_ex,
	 "good null huge nocap cq_both srq pd_own pd_foreign null_pd mask_huge mask_xrcd mask_flags random1 random2",
	 "bound routed ud_resolved sync_resolved"},
	{"destroy_qp", call_destroy_qp, "-"},
	{"create_srq", call_create_srq, "good null pd_own zero huge context pd_foreign",
	 "bound routed_qp ud_resolved"},
	{"create_srq_ex", call_create_srq_ex, "good null basic xrc tm pd_own pd_foreign null_pd mask_huge",
	 "bound routed_qp ud_resolved"},
	{"destroy_srq", call_destroy_srq, "-"},
	{"init_attr", call_init_attr, "1 2 3 0 null null_mask 4 5 6 7 1000 -1",
	 "new resolved routed routed_qp request responded connected ud_routed_qp ud_request ud_joined"},
	{"option", call_option,
	 "tos path null tos_max tos_long tos_empty reuse reuse_off reuse2 reuse_long reuse_short afonly afonly_off "
	 "afonly_short ack_timeout ack_timeout0 ack_timeout32 ack_timeout_empty ack_timeout_huge "
	 "ack_timeout_long id_unknown id_negative path_empty path_short path_zero path_unflagged "
	 "path_alternate path_outbound path_two path_many path_long ib_unknown level_unknown level_negative random1 "
	 "random2 random3 random4 random5 random6",
	 "new bound resolved routed connected ud_new sync_new ib_routed resolved6"},
	{"ports", call_ports, "-"},
	{"migrate", call_migrate, "same other null back peers",
	 "new bound resolving address_due route_due connecting response_due connected disconnected "
	 "request_due request accepted taken ud_joined ud_request_due ud_address_due ud_response_due listening "
	 "sync_new sync_connected"},
	{"destroy", call_destroy, "good with_qp"},
	{"destroy_ep", call_destroy_ep, "-"},
	{"get_event", call_get_event, "good null null_channel"},
	{"ece", call_ece, "set set_null set_vendor0 set_mask get get_null"},
	{"newer", call_newer, "user user_status user_type0 user_internal resolve resolve_bare resolve_null query query_null"},
};

const size_t id_calls_count = sizeof(id_calls) / sizeof(id_calls[0]);
