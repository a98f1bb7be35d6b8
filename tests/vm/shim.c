/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: stands before libibverbs, and lets Soft-RoCE play the devices that it is not.
 *
 * RAI_SHIM has words with commas between them, read anew at each call:
 *   ece=VENDOR:OPTIONS  a device with these ECE options; it refuses another vendor's. A QP keeps what it began with.
 *   iwarp               a device that calls itself iWARP; what is moved to SQD stays as it is below.
 *   xrc                 a device with XRC, whose queue pairs connect and carry no data.
 * RAI_SHIM_LOG names a file that gets a line for each thing that happens to a QP.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QPS_MAX = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct shim_qp qps[QPS_MAX];
enum ibv_srq_type shim_srq_type;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The word's value, "" where it has none; NULL: it isn't there. */
static const char *word(const char *name)
{
	const char *at = getenv("RAI_SHIM");
	size_t len = strlen(name);

	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, len) && (!at[len] || strchr(",=", at[len])))
			return at[len] == '=' ? at + len + 1 : at + len;
	return NULL;
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	const char *path = getenv("RAI_SHIM_LOG");
	FILE *log = path ? fopen(path, "ae") : NULL;
	va_list args;

	if (!log)
		return;
	va_start(args, format);
	vfprintf(log, format, args);
	va_end(args);
	fclose(log);
}

static struct ibv_ece device_ece(void)
{
	const char *value = word("ece");
	struct ibv_ece ece = { 0 };

	if (value)
		sscanf(value, "%x:%x", &ece.vendor_id, &ece.options);
	return ece;
}

/* Caller holds the mutex. */
static struct shim_qp *find_locked(const struct ibv_qp *qp)
{
	for (unsigned i = 0; i < QPS_MAX; i++)
		if (qps[i].qp == qp)
			return &qps[i];
	return NULL;
}

static struct shim_qp *entry_of(struct ibv_qp *qp)
{
	struct shim_qp *entry;

	pthread_mutex_lock(&mutex);
	entry = find_locked(qp);
	if (!entry) {
		entry = find_locked(NULL);
		if (!entry)
			abort();
		*entry = (struct shim_qp){ .qp = qp, .device = device_ece() };
	}
	pthread_mutex_unlock(&mutex);
	return entry;
}

const struct shim_qp *shim_qp_of(struct ibv_qp *qp)
{
	return entry_of(qp);
}

/* ---- ECE ---- */

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	const struct shim_qp *entry = entry_of(qp);

	if (!entry->device.vendor_id)
		return errno = EOPNOTSUPP;
	*ece = entry->device;
	if (entry->times)
		ece->options &= entry->given.options;
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct shim_qp *entry = entry_of(qp);

	if (!entry->device.vendor_id)
		return errno = EOPNOTSUPP;
	if (ece->vendor_id != entry->device.vendor_id || ece->comp_mask) {
		tell("ece refused %x:%x\n", ece->vendor_id, ece->options);
		return errno = EINVAL;
	}
	tell("ece %x:%x\n", ece->vendor_id, ece->options);
	entry->given = *ece;
	entry->times++;
	ece->options &= entry->device.options;
	return 0;
}

/* ---- XRC: an RC queue pair below, with what the kernel doesn't tell of an XRC one; it connects, and moves no data ---- */

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct ibv_xrcd *xrcd = calloc(1, sizeof(*xrcd));

	(void)attr;
	if (xrcd)
		xrcd->context = context;
	return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	free(xrcd);
	return 0;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t needed = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq_init_attr plain = { .srq_context = attr->srq_context, .attr = attr->attr };
	bool xrc = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC;
	struct ibv_srq *srq;

	(void)context;
	shim_srq_type = xrc ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
	tell("srq %s\n", xrc ? "xrc" : "basic");
	if (xrc && ((attr->comp_mask & needed) != needed || !attr->xrcd || !attr->cq)) {
		errno = EINVAL;
		return NULL;
	}
	srq = ibv_create_srq(attr->pd, &plain);
	attr->attr = plain.attr;
	return srq;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t needed = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;
	struct ibv_qp_init_attr below = { .qp_context = attr->qp_context, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	if (attr->qp_type != IBV_QPT_XRC_RECV || (attr->comp_mask & needed) != needed || !attr->xrcd) {
		errno = EINVAL;
		return NULL;
	}
	tell("qp xrc recv\n");
	below.send_cq = below.recv_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	return below.send_cq ? REAL(ibv_create_qp)(attr->pd, &below) : NULL;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr below = *attr;

	if (attr->qp_type != IBV_QPT_XRC_SEND || !word("xrc"))
		return REAL(ibv_create_qp)(pd, attr);
	tell("qp xrc send\n");
	below.qp_type = IBV_QPT_RC;
	below.recv_cq = below.send_cq;
	below.cap.max_recv_wr = below.cap.max_recv_sge = 0;
	return REAL(ibv_create_qp)(pd, &below);
}

/* What RC wants, and an XRC queue pair's half of a connection doesn't have. */
static int complete_mask(struct ibv_qp_attr *attr, int mask)
{
	if (attr->qp_state == IBV_QPS_RTR)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (attr->qp_state == IBV_QPS_RTS)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

/* ---- States, and the end ---- */

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct shim_qp *entry = entry_of(qp);

	if (mask & IBV_QP_STATE) {
		tell("state %s\n", attr->qp_state <= IBV_QPS_ERR ? names[attr->qp_state] : "?");
		entry->states |= 1U << attr->qp_state;
	}
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_SQD && word("iwarp"))
		return 0;
	return REAL(ibv_modify_qp)(qp, attr, word("xrc") ? complete_mask(attr, mask) : mask);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct shim_qp *entry = entry_of(qp);

	pthread_mutex_lock(&mutex);
	entry->qp = NULL;
	pthread_mutex_unlock(&mutex);
	return REAL(ibv_destroy_qp)(qp);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = REAL(ibv_open_device)(device);
	struct verbs_context *extended = context ? verbs_get_ctx(context) : NULL;

	if (context && word("iwarp"))
		context->device->transport_type = IBV_TRANSPORT_IWARP;
	if (extended && word("xrc")) {
		extended->open_xrcd = open_xrcd;
		extended->close_xrcd = close_xrcd;
		extended->create_srq_ex = create_srq_ex;
		extended->create_qp_ex = create_qp_ex;
	}
	return context;
}
