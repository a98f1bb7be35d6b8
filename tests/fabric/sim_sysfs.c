/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps umad2sim's copy of sysfs true. */
#include "sim_sysfs.h"

#include <errno.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_rmpp.h"

/* IBTA 1.7: 14.2.1.2 (directed route SMP), 14.2.5.6 (PortInfo); offsets in the MAD. */
enum { SMP_CLASS = 0x81, SMP_METHOD_GET = 1, SMP_ATTR_PORT_INFO = 0x15, SMP_DR_LIDS = 32, PORT_INFO = 64 };
enum { PI_LID = 16, PI_SM_LID = 18, PI_STATE = 32, PI_SM_SL = 36 };
enum { PERMISSIVE_LID = 0xffff, WAIT_MS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int smp_fd = -1, smp_agent;
static _Thread_local unsigned held;

void rcm_sim_sysfs_hold(void)
{
	held++;
}

void rcm_sim_sysfs_let(void)
{
	held--;
}

static bool attach(const char *device, int number)
{
	if (smp_fd >= 0)
		return true;
	smp_fd = umad_open_port(device, number);
	if (smp_fd < 0)
		return false;
	smp_agent = umad_register(smp_fd, SMP_CLASS, 1, 0, NULL);
	return smp_agent >= 0;
}

/* Asks the port that the process is attached to, by a directed route of no hops. */
static bool ask_port_info(uint8_t ret_info[64])
{
	static uint32_t tid;
	uint8_t umad[sizeof(struct ib_user_mad) + RCM_SIM_MAD] = { 0 }, *mad = umad_get_mad(umad);
	int len = RCM_SIM_MAD;

	tid++;
	mad[0] = 1;
	mad[1] = SMP_CLASS;
	mad[2] = 1;
	mad[3] = SMP_METHOD_GET;
	memcpy(mad + 12, &tid, sizeof(tid));
	mad[17] = SMP_ATTR_PORT_INFO;
	memset(mad + SMP_DR_LIDS, 0xff, 4);
	umad_set_addr(umad, PERMISSIVE_LID, 0, 0, 0);
	if (umad_send(smp_fd, smp_agent, umad, RCM_SIM_MAD, WAIT_MS, 0) < 0 ||
	    umad_recv(smp_fd, umad, &len, 2 * WAIT_MS) < 0 || umad_status(umad) || len < PORT_INFO + 64)
		return false;
	memcpy(ret_info, mad + PORT_INFO, 64);
	return true;
}

/* In one step, since others may be reading it. */
__attribute__((format(printf, 3, 4)))
static void put(const char *directory, const char *name, const char *format, ...)
{
	char path[600], next[620];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(next, sizeof(next), "%s.next", path);
	f = fopen(next, "w");
	if (!f)
		return;
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	fclose(f);
	rename(next, path);
}

static void write_copy(const char *directory, const uint8_t *info)
{
	static const char *const states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };
	unsigned state = info[PI_STATE] & 0xf;

	put(directory, "state", "%u: %s\n", state, state < 5 ? states[state] : "<unknown>");
	put(directory, "lid", "0x%x", info[PI_LID] << 8 | info[PI_LID + 1]);
	put(directory, "sm_lid", "0x%x", info[PI_SM_LID] << 8 | info[PI_SM_LID + 1]);
	put(directory, "sm_sl", "%u", info[PI_SM_SL] & 0xfu);
}

static bool changes(const char *name)
{
	static const char *const names[] = { "state", "lid", "sm_lid", "sm_sl" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

void rcm_sim_sysfs_refresh(const char *path)
{
	char device[64], name[64], directory[200];
	uint8_t info[64];
	int number;

	if (held || !getenv("RAI_SIM_LIVE") ||
	    sscanf(path, "/sys/class/infiniband/%63[^/]/ports/%d/%63s", device, &number, name) != 3 || !changes(name))
		return;
	rcm_sim_sysfs_hold();
	pthread_mutex_lock(&lock);
	if (attach(device, number) && ask_port_info(info)) {
		snprintf(directory, sizeof(directory), "./sys-%d//sys/class/infiniband/%s/ports/%d", getpid(),
			 device, number);
		write_copy(directory, info);
	}
	pthread_mutex_unlock(&lock);
	rcm_sim_sysfs_let();
}
