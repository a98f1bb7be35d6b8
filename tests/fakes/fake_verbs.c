/* SPDX-License-Identifier: BSD-2-Clause */
/* A libibverbs of the test's own. */
#include "fake_verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

struct fake_device {
	struct ibv_device dev;			/* first */
	__be64 guid;
	int index, open_error;
	bool listed, tells;
	int told;				/* the end of the last context's pipe that events are written to */
	atomic_uint opens, open_now;
};

struct fake_context {
	struct verbs_context ex;		/* ibv_create_qp_ex() and its like look for it */
	struct fake_device *device;
};

struct fake_srq {
	struct ibv_srq srq;			/* first */
	uint32_t max_wr;
};

static struct fake_device devices[FAKE_DEVICES_MAX];
static unsigned n_devices;
static atomic_uint lists, objects, attached;
static int fails[FAKE_CALLS], nth_error;
static unsigned nth, eces;
static bool nth_failed;
static enum ibv_transport_type transport;
static uint8_t link_layer, ports;
static int resources, depth;
static struct ibv_ece device_ece;
static atomic_uint next_qp_num;

struct ibv_qp_attr rcm_fake_verbs_last_attr, rcm_fake_verbs_attr_to[IBV_QPS_ERR + 1];
int rcm_fake_verbs_last_mask;
struct ibv_ece rcm_fake_verbs_last_ece;
struct ibv_srq_init_attr_ex rcm_fake_verbs_last_srq;
struct ibv_qp *rcm_fake_verbs_made_qp;
struct ibv_srq *rcm_fake_verbs_made_srq;

void rcm_fake_verbs_reset(void)
{
	memset(devices, 0, sizeof(devices));
	memset(fails, 0, sizeof(fails));
	n_devices = 0;
	lists = objects = attached = 0;
	next_qp_num = 100;
	rcm_fake_verbs_last_mask = 0;
	rcm_fake_verbs_fail_nth(0, 0);
	transport = IBV_TRANSPORT_IB;
	link_layer = IBV_LINK_LAYER_INFINIBAND;
	ports = 1;
	rcm_fake_verbs_reads(16, 32);
	rcm_fake_verbs_ece(0x2c9, 3);
	memset(&rcm_fake_verbs_last_ece, 0, sizeof(rcm_fake_verbs_last_ece));
	eces = 0;
}

void rcm_fake_verbs_fail_nth(unsigned call, int error)
{
	nth = call;
	nth_error = error;
	nth_failed = false;
}

bool rcm_fake_verbs_has_failed(void) { return nth_failed; }
void rcm_fake_verbs_link(uint8_t layer) { link_layer = layer; }
void rcm_fake_verbs_iwarp(void) { transport = IBV_TRANSPORT_IWARP; }
void rcm_fake_verbs_ports(uint8_t count) { ports = count; }
unsigned rcm_fake_verbs_eces(void) { return eces; }

void rcm_fake_verbs_reads(int responder_resources, int initiator_depth)
{
	resources = responder_resources;
	depth = initiator_depth;
}

void rcm_fake_verbs_ece(uint32_t vendor, uint32_t options)
{
	device_ece = (struct ibv_ece){ .vendor_id = vendor, .options = options };
}

/* In every call that asks the kernel: libibverbs and its providers read, write and close files there. */
static void ask_kernel(void)
{
	pthread_testcancel();
}

/* What the call is to fail with; 0: nothing. */
static int error_of(enum fake_verbs_call call)
{
	ask_kernel();
	if (nth && !--nth) {
		nth_failed = true;
		return nth_error;
	}
	return fails[call];
}

unsigned rcm_fake_verbs_add(const char *name, __be64 guid, int index)
{
	struct fake_device *d = &devices[n_devices];

	assert_uint_in_range(n_devices, 0, FAKE_DEVICES_MAX - 1);
	snprintf(d->dev.name, sizeof(d->dev.name), "%s", name);
	d->guid = guid;
	d->index = index;
	d->listed = true;
	return n_devices++;
}

void rcm_fake_verbs_tells(unsigned device) { devices[device].tells = true; }

void rcm_fake_verbs_tell(unsigned device, enum ibv_event_type type)
{
	assert_int_equal(write(devices[device].told, &type, sizeof(type)), sizeof(type));
}

void rcm_fake_verbs_unplug(unsigned device)
{
	close(devices[device].told);
	devices[device].told = -1;
}

void rcm_fake_verbs_remove(unsigned device) { devices[device].listed = false; }
void rcm_fake_verbs_open_error(unsigned device, int error) { devices[device].open_error = error; }
void rcm_fake_verbs_fail(enum fake_verbs_call call, int error) { fails[call] = error; }
unsigned rcm_fake_verbs_opens(unsigned device) { return devices[device].opens; }
unsigned rcm_fake_verbs_open_now(unsigned device) { return devices[device].open_now; }
unsigned rcm_fake_verbs_lists(void) { return lists; }
unsigned rcm_fake_verbs_objects(void) { return objects; }
unsigned rcm_fake_verbs_attached(void) { return attached; }
enum ibv_qp_state rcm_fake_verbs_state(const struct ibv_qp *qp) { return qp->state; }

static void *object_new(enum fake_verbs_call call, size_t size)
{
	int error = error_of(call);
	void *object;

	if (error) {
		errno = error;
		return NULL;
	}
	object = calloc(1, size);
	assert_non_null(object);
	objects++;
	return object;
}

static int object_free(void *object)
{
	ask_kernel();
	free(object);
	objects--;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;
	int n = 0;

	ask_kernel();
	list = calloc(FAKE_DEVICES_MAX + 1, sizeof(struct ibv_device *));
	if (!list)
		return NULL;
	lists++;
	for (unsigned i = 0; i < n_devices; i++)
		if (devices[i].listed)
			list[n++] = &devices[i].dev;
	if (num_devices)
		*num_devices = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
__be64 ibv_get_device_guid(struct ibv_device *device) { return ((struct fake_device *)device)->guid; }
int ibv_get_device_index(struct ibv_device *device) { return ((struct fake_device *)device)->index; }

static int close_xrcd(struct ibv_xrcd *xrcd) { return object_free(xrcd); }

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct ibv_xrcd *xrcd = object_new(FAKE_ALLOC_PD, sizeof(*xrcd));

	/* Of this process alone, and made where there is none. */
	assert_int_equal(attr->comp_mask, IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS);
	assert_int_equal(attr->fd, -1);
	assert_int_equal(attr->oflags, O_CREAT);
	if (xrcd)
		xrcd->context = context;
	return xrcd;
}

/* The device gives room for one more than it is asked for. */
static struct ibv_srq *srq_new(struct ibv_pd *pd, uint32_t max_wr)
{
	struct fake_srq *srq = object_new(FAKE_CREATE_SRQ, sizeof(*srq));

	if (!srq)
		return NULL;
	srq->srq.context = pd->context;
	srq->srq.pd = pd;
	srq->max_wr = max_wr + 1;
	rcm_fake_verbs_made_srq = &srq->srq;
	return &srq->srq;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq = srq_new(attr->pd, attr->attr.max_wr);

	(void)context;
	rcm_fake_verbs_last_srq = *attr;
	attr->attr.max_wr++;
	return srq;
}

static struct ibv_qp *qp_new(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = object_new(FAKE_CREATE_QP, sizeof(*qp));

	/* Attributes say what the device gave, whatever came of it. */
	attr->cap.max_inline_data = 64;
	if (!qp)
		return NULL;
	qp->context = context;
	qp->qp_context = attr->qp_context;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->qp_type = attr->qp_type;
	qp->qp_num = next_qp_num++;
	qp->state = IBV_QPS_RESET;
	rcm_fake_verbs_made_qp = qp;
	return qp;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t len)
{
	(void)context;
	(void)port;
	ask_kernel();
	memset(attr, 0, len);
	attr->link_layer = link_layer;
	return 0;
}

static void (*before_open)(void);

void rcm_fake_verbs_before_open(void (*hook)(void)) { before_open = hook; }

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_device *d = (struct fake_device *)device;
	void (*hook)(void) = before_open;
	struct fake_context *c;

	before_open = NULL;
	if (hook)
		hook();
	ask_kernel();
	errno = d->open_error ? d->open_error : error_of(FAKE_OPEN_DEVICE);
	if (errno)
		return NULL;
	device->transport_type = transport;
	c = calloc(1, sizeof(*c));
	assert_non_null(c);
	c->device = d;
	c->ex.sz = sizeof(c->ex);
	c->ex.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->ex.context.device = device;
	c->ex.open_xrcd = open_xrcd;
	c->ex.close_xrcd = close_xrcd;
	c->ex.create_srq_ex = create_srq_ex;
	c->ex.create_qp_ex = qp_new;
	c->ex.query_port = query_port;
	if (d->tells) {
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		c->ex.context.async_fd = fds[0];
		c->ex.context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		d->told = fds[1];
	}
	d->opens++;
	d->open_now++;
	return &c->ex.context;
}

/* As libibverbs' it fails without an errno where the device has nothing more to say. */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	enum ibv_event_type type;

	if (read(context->async_fd, &type, sizeof(type)) != sizeof(type))
		return -1;
	*event = (struct ibv_async_event){ .event_type = type };
	objects++;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	objects--;
}

static struct fake_context *context_of(struct ibv_context *context)
{
	return (void *)((char *)context - offsetof(struct fake_context, ex.context));
}

int ibv_close_device(struct ibv_context *context)
{
	struct fake_context *c = context_of(context);

	ask_kernel();
	c->device->open_now--;
	if (c->device->tells) {
		close(context->async_fd);
		close(context->cmd_fd);
		if (c->device->told >= 0)
			close(c->device->told);
	}
	free(c);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	ask_kernel();
	if (fails[FAKE_QUERY_DEVICE])
		return fails[FAKE_QUERY_DEVICE];
	memset(attr, 0, sizeof(*attr));
	attr->max_qp_rd_atom = resources;
	attr->max_qp_init_rd_atom = depth;
	attr->phys_port_cnt = ports;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = object_new(FAKE_ALLOC_PD, sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) { return object_free(pd); }

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel = object_new(FAKE_CREATE_CHANNEL, sizeof(*channel));

	if (channel)
		channel->context = context;
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	/* A real one would refuse. */
	assert_int_equal(channel->refcnt, 0);
	return object_free(channel);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = object_new(FAKE_CREATE_CQ, sizeof(*cq));

	assert_int_equal(vector, 0);
	if (cq) {
		cq->context = context;
		cq->cq_context = cq_context;
		cq->channel = channel;
		cq->cqe = cqe;
		if (channel)
			channel->refcnt++;
	}
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (cq->channel)
		cq->channel->refcnt--;
	return object_free(cq);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = qp_new(pd->context, (struct ibv_qp_init_attr_ex *)attr);

	if (qp)
		qp->pd = pd;
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp) { return object_free(qp); }

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int error = error_of(FAKE_MODIFY_QP);

	if (error)
		return error;
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	rcm_fake_verbs_last_attr = rcm_fake_verbs_attr_to[qp->state] = *attr;
	rcm_fake_verbs_last_mask = mask;
	return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = srq_new(pd, attr->attr.max_wr);

	rcm_fake_verbs_last_srq = (struct ibv_srq_init_attr_ex){ .attr = attr->attr, .pd = pd };
	attr->attr.max_wr++;
	return srq;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	int error = error_of(FAKE_QUERY_SRQ);

	if (!error)
		*attr = (struct ibv_srq_attr){ .max_wr = ((struct fake_srq *)srq)->max_wr };
	return error;
}

int ibv_destroy_srq(struct ibv_srq *srq) { return object_free(srq); }

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int error;

	(void)qp, (void)gid, (void)lid;
	error = error_of(FAKE_ATTACH_MCAST);
	if (error)
		return error;
	attached++;
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	ask_kernel();
	attached--;
	return 0;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int error = error_of(FAKE_QUERY_ECE);

	(void)qp;
	if (!error && !device_ece.vendor_id)
		error = EOPNOTSUPP;
	/* Some day it may say more, which no other device has to take. */
	if (!error) {
		*ece = device_ece;
		ece->comp_mask = 1;
	}
	return error;
}

/* Another maker's options are refused; of its own it takes those that it has. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int error = error_of(FAKE_SET_ECE);

	(void)qp;
	eces++;
	if (!error && !device_ece.vendor_id)
		error = EOPNOTSUPP;
	if (!error && (ece->vendor_id != device_ece.vendor_id || ece->comp_mask))
		error = EINVAL;
	if (error)
		return error;
	rcm_fake_verbs_last_ece = *ece;
	device_ece.options &= ece->options;
	return 0;
}
