/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes libibumad over an ibsim fabric behave as libibumad over the kernel does.
 *
 * Loaded in front of umad2sim in every process of the fabric, the subnet manager included:
 *
 *	LD_PRELOAD="librcm_sim_umad.so libumad2sim.so" program
 *
 * What umad2sim lacks and this adds: RMPP, so that answers of any length arrive; a descriptor that
 * epoll takes; several open ports in one process; -ENOSPC for a buffer that is too small, the
 * message kept; timeouts and retries; ports whose state and SM are read as they are now;
 * open64() for programs built with large file support. A program that wants its SA MADs lost or
 * answered with BUSY looks rcm_sim_faults() up with dlsym(). Not emulated: flow control, GRH,
 * asynchronous events, removal of the device.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

#include "sim_port.h"
#include "sim_rmpp.h"
#include "sim_sysfs.h"
#include "sim_wire.h"

enum { RMPP_END = 36 }; /* shorter requests are refused by the kernel */

static int with_errno(int rc)
{
	if (rc < 0)
		errno = -rc;
	return rc;
}

/* Of each hundred SA MADs that this process sends or receives, lost; of its questions, met with BUSY. */
EXPORT void rcm_sim_faults(unsigned int lost_percent, unsigned int busy_percent)
{
	rcm_sim_port_faults(lost_percent, busy_percent);
}

EXPORT int umad_open_port(const char *ca, int portnum)
{
	int rc;

	rcm_sim_sysfs_hold();
	rc = rcm_sim_wire_open(ca, portnum);
	rcm_sim_sysfs_let();
	return with_errno(rc < 0 ? rc : rcm_sim_port_open());
}

EXPORT int umad_close_port(int fd)
{
	return with_errno(rcm_sim_port_close(fd));
}

EXPORT int umad_get_fd(int fd)
{
	return fd;
}

static int add_agent(int fd, int mgmt_class, int version, bool unsolicited)
{
	int rc = rcm_sim_wire_listen((uint8_t)mgmt_class, (uint8_t)version);

	if (rc < 0)
		return with_errno(rc);
	return with_errno(rcm_sim_port_register(fd, (uint8_t)mgmt_class, unsolicited));
}

EXPORT int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp_version,
			 long method_mask[16 / sizeof(long)])
{
	(void)rmpp_version;
	return add_agent(fd, mgmt_class, version, method_mask != NULL);
}

EXPORT int umad_register_oui(int fd, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
			     long method_mask[16 / sizeof(long)])
{
	(void)rmpp_version;
	(void)oui;
	return add_agent(fd, mgmt_class, 1, method_mask != NULL);
}

EXPORT int umad_unregister(int fd, int agent)
{
	return with_errno(rcm_sim_port_unregister(fd, agent));
}

EXPORT int umad_send(int fd, int agent, void *umad, int len, int timeout_ms, int retries)
{
	struct ib_user_mad *head = umad;
	const uint8_t *mad = umad_get_mad(umad);
	_Alignas(struct ib_user_mad) uint8_t sent[sizeof(*head) + RCM_SIM_MAD] = { 0 };
	uint32_t wire_tid;
	int rc;

	if (rcm_sim_port_class(fd, agent) < 0 || len < RMPP_END)
		return with_errno(-EINVAL);
	head->agent_id = (uint32_t)agent;
	head->timeout_ms = (uint32_t)timeout_ms;
	head->retries = (uint32_t)retries;
	if (timeout_ms <= 0 || (mad[3] & RCM_SIM_RESPONSE))
		return with_errno(rcm_sim_wire_send(umad, (size_t)len));
	len = len < RCM_SIM_MAD ? len : RCM_SIM_MAD;
	memcpy(sent, umad, umad_size() + (size_t)len);
	rc = rcm_sim_port_expect(fd, agent, sent, timeout_ms, retries, &wire_tid);
	if (rc < 0)
		return with_errno(rc);
	rc = rcm_sim_port_fault((struct ib_user_mad *)sent) ? 0 : rcm_sim_wire_send(sent, RCM_SIM_MAD);
	if (rc < 0)
		rcm_sim_port_forget(wire_tid);
	return with_errno(rc);
}

EXPORT int umad_poll(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	if (n < 0)
		return -errno;
	return n ? 0 : with_errno(-ETIMEDOUT);
}

EXPORT int umad_recv(int fd, void *umad, int *len, int timeout_ms)
{
	int rc;

	rc = timeout_ms ? umad_poll(fd, timeout_ms) : 0;
	if (rc < 0)
		return with_errno(rc);
	return with_errno(rcm_sim_port_take(fd, umad, len));
}

static int open_next(const char *path, int flags, mode_t mode)
{
	static int (*next_open)(const char *path, int flags, ...);
	int fd;

	/* umad2sim's open() takes a lock for every path, and would lock itself out under a sanitizer's report. */
	if (strncmp(path, "/sys/class/infiniband", 21) != 0 && strncmp(path, "/dev/infiniband", 15) != 0)
		return openat(AT_FDCWD, path, flags, mode);
	if (!next_open)
		next_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	rcm_sim_sysfs_refresh(path);
	fd = next_open(path, flags, mode);
	rcm_sim_wire_see_off();
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(args, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_next(path, flags, mode);
}

/* umad2sim wraps open() alone, and large file support turns that name into this one. */
EXPORT int open64(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_next(path, flags, mode);
}
