/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and receives SA MADs on a umad descriptor without ever waiting. */
#include "sa/umad.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fds.h"
#include "base/limits.h"
#include "base/log.h"
#include "sa/wire.h"

/* A receive buffer this large takes 90 service records; a larger one is given back after use. */
enum { BUFFER_USUAL = 16384, RMPP_VERSION = 1 };

struct rcm_umad {
	struct rcm_sa_port port;
	int id;				/* libibumad's port id */
	int agents[RCM_UMAD_AGENTS];
	uint16_t pkey_index;
	void *buffer;			/* umad header and MAD */
	size_t room;			/* for the MAD */
};

/* libibumad says -EIO for whatever open() failed with, and -EPERM for any failed registration. */
static int umad_cause(int rc)
{
	if ((rc == -EIO || rc == -EPERM) && errno)
		return rcm_errno();
	return rc;
}

static int buffer_resize(struct rcm_umad *umad, size_t room)
{
	void *buffer = realloc(umad->buffer, umad_size() + room);

	if (!buffer)
		return -ENOMEM;
	memset(buffer, 0, umad_size());
	umad->buffer = buffer;
	umad->room = room;
	return 0;
}

static void umad_close_device(struct rcm_umad *umad)
{
	if (!umad)
		return;
	if (umad->id >= 0 && rcm_fds_forget(umad_get_fd(umad->id)))
		umad_close_port(umad->id);	/* and with the last copy of the descriptor go the agents */
	free(umad->buffer);
	free(umad);
}

/* The table may have been written anew: a packet with the index of another P_Key is dropped in silence. 0, or there was
 * no means to look. */
static int find_pkey(struct rcm_umad *umad)
{
	uint16_t pkey;
	int ret = rcm_port_pkey(umad->port.device, umad->port.number, &pkey, &umad->pkey_index);

	if (rcm_is_want(ret))
		return ret;
	if (ret)
		umad->pkey_index = 0;
	return 0;
}

static int umad_register_all(struct rcm_umad *umad)
{
	for (unsigned i = 0; i < RCM_UMAD_AGENTS; i++) {
		errno = 0;
		umad->agents[i] = umad_register(umad->id, RCM_SA_CLASS, RCM_SA_CLASS_VERSION, RMPP_VERSION, NULL);
		if (umad->agents[i] < 0)
			return umad_cause(umad->agents[i]);
	}
	return 0;
}

static int umad_open_device(const struct rcm_sa_port *port, struct rcm_umad **ret_umad)
{
	struct rcm_umad *umad = calloc(1, sizeof(*umad));
	int ret;

	if (!umad)
		return -ENOMEM;
	umad->port = *port;
	errno = 0;
	umad->id = umad_open_port(port->device, port->number);
	if (umad->id < 0) {
		ret = umad_cause(umad->id);
		goto out;
	}
	fcntl(umad_get_fd(umad->id), F_SETFD, FD_CLOEXEC);
	ret = rcm_fds_add(umad_get_fd(umad->id));
	if (ret < 0)
		goto out;
	ret = umad_register_all(umad);
	if (ret)
		goto out;
	ret = find_pkey(umad);
	if (ret)
		goto out;
	/* Only now: the size of the header depends on what the kernel said when the port was opened. */
	ret = buffer_resize(umad, BUFFER_USUAL);
	if (ret)
		goto out;
	rcm_trace("sa: opened %s/%u", port->device, port->number);
	*ret_umad = umad;
	umad = NULL;
out:
	umad_close_device(umad);
	return ret;
}

static int device_fd(const struct rcm_umad *umad)
{
	return umad_get_fd(umad->id);
}

static int device_address(struct rcm_umad *umad, bool in_doubt, struct rcm_sa_address *ret_address)
{
	int ret = rcm_port_address(&umad->port, ret_address);
	struct rcm_sa_port found;

	/* Its device may have got another name; the descriptor is that port's still. */
	if (ret == -ENODEV && !rcm_sa_port_by_gid(&umad->port.gid, &found)) {
		umad->port = found;
		ret = rcm_port_address(&umad->port, ret_address);
	}
	/* Without the means to look it is what it was. */
	if (!ret && in_doubt)
		find_pkey(umad);
	if (!ret)
		ret_address->pkey_index = umad->pkey_index;
	return ret;
}

static int device_send(struct rcm_umad *umad, unsigned agent, const struct rcm_sa_address *to,
		       const uint8_t mad[256], unsigned timeout_ms)
{
	_Alignas(struct ib_user_mad) uint8_t message[sizeof(struct ib_user_mad) + RCM_MAD_SIZE] = { 0 };
	ib_mad_addr_t grh = { 0 };

	umad_set_addr(message, to->lid, RCM_SA_QP, to->sl, (int)RCM_SA_QKEY);
	umad_set_pkey(message, to->pkey_index);	/* an index, in spite of the name */
	if (to->global) {
		memcpy(grh.gid, to->gid.raw, sizeof(grh.gid));
		umad_set_grh(message, &grh);
	}
	memcpy(umad_get_mad(message), mad, RCM_MAD_SIZE);
	errno = 0;
	/* The kernel's own retries would keep the transaction id, and know nothing of a new SM. */
	return umad_cause(umad_send(umad->id, umad->agents[agent], message, RCM_MAD_SIZE,
				    (int)timeout_ms, 0));
}

static int umad_receive(struct rcm_umad *umad, int *len)
{
	int ret;

	*len = (int)umad->room;
	errno = 0;
	ret = umad_recv(umad->id, umad->buffer, len, 0);
	if (ret == -EINTR)
		return -EAGAIN;
	return ret < 0 ? umad_cause(ret) : 0;
}

static int device_recv(struct rcm_umad *umad, struct rcm_umad_message *ret_message)
{
	int ret, len;

	if (umad->room > BUFFER_USUAL)
		buffer_resize(umad, BUFFER_USUAL);	/* where it fails, the large one stays */
	ret = umad_receive(umad, &len);
	if (ret == -ENOSPC) {
		/* The message stays where it is, and its length and first segment were told. */
		if (len > (int)umad->room && len <= RCM_SA_ANSWER_MAX) {
			ret = buffer_resize(umad, (size_t)len);
			if (ret)
				return ret;
			ret = umad_receive(umad, &len);
		} else {
			ret = -EMSGSIZE;
		}
	}
	if (ret && ret != -EMSGSIZE)
		return ret;
	ret_message->timed_out = umad_status(umad->buffer) == ETIMEDOUT;
	ret_message->mad = umad_get_mad(umad->buffer);
	ret_message->len = ret ? RCM_MAD_SIZE : (size_t)len;
	return ret;
}

const struct rcm_umad_ops rcm_umad_device = {
	.name = "umad",
	.find = rcm_sa_port_by_gid,
	.open = umad_open_device,
	.fd = device_fd,
	.address = device_address,
	.send = device_send,
	.recv = device_recv,
	.close = umad_close_device,
};

static int umad_try(const struct rcm_gid *gid)
{
	struct rcm_umad *umad = NULL;
	struct rcm_sa_port port;
	int ret = rcm_port_mad_module();

	if (!ret)
		ret = rcm_sa_port_by_gid(gid, &port);
	if (!ret)
		ret = umad_open_device(&port, &umad);
	umad_close_device(umad);
	return ret == -EPERM ? -EACCES : ret;
}

int rcm_sa_umad_usable(const struct rcm_gid *port)
{
	/* Opening is a dozen file accesses. */
	static _Thread_local struct { struct rcm_gid gid; uint64_t until; int ret; } last;
	uint64_t now = rcm_clock_now();
	int ret;

	if (last.until > now && !memcmp(&last.gid, port, sizeof(last.gid)))
		return last.ret;
	ret = umad_try(port);
	if (!ret || ret == -EACCES) {
		last.gid = *port;
		last.ret = ret;
		last.until = now + RCM_NS_PER_S;
	}
	return ret;
}
