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
#include <time.h>
#include <unistd.h>

#include "sim_rmpp.h"

/* IBTA 1.7: 14.2.1.2 (directed route SMP), 14.2.5.6 (PortInfo), 14.2.5.7 (P_KeyTable); offsets in the MAD. */
enum { SMP_CLASS = 0x81, SMP_METHOD_GET = 1, SMP_ATTR_PORT_INFO = 0x15, SMP_ATTR_PKEY_TABLE = 0x16, SMP_DR_LIDS = 32 };
enum { SMP_DATA = 64, PKEYS_A_BLOCK = 32 };
enum { PI_PREFIX = 8, PI_LID = 16, PI_SM_LID = 18, PI_STATE = 32, PI_SM_SL = 36 };
enum { PERMISSIVE_LID = 0xffff, WAIT_MS = 1000, NEW_MS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;	/* taken for as long as a file is written */
static bool given_up;		/* the copy is umad2sim's to remove */
static bool over;		/* the simulator has ended, and doesn't come back to this process */
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
static bool ask(uint8_t attribute, uint8_t modifier, uint8_t ret_data[64])
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
	mad[17] = attribute;
	mad[23] = modifier;
	memset(mad + SMP_DR_LIDS, 0xff, 4);
	umad_set_addr(umad, PERMISSIVE_LID, 0, 0, 0);
	over = over || umad_send(smp_fd, smp_agent, umad, RCM_SIM_MAD, WAIT_MS, 0) < 0;
	if (over)
		return false;
	/* What comes late is of a question that was given up. */
	do {
		len = RCM_SIM_MAD;
		if (umad_recv(smp_fd, umad, &len, 2 * WAIT_MS) < 0)
			return false;
	} while (memcmp(mad + 12, &tid, sizeof(tid)) != 0);
	if (umad_status(umad) || len < SMP_DATA + 64)
		return false;
	memcpy(ret_data, mad + SMP_DATA, 64);
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
	pthread_mutex_lock(&file_lock);
	f = given_up ? NULL : fopen(next, "w");
	if (!f)
		goto out;
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	fclose(f);
	rename(next, path);
out:
	pthread_mutex_unlock(&file_lock);
}

void rcm_sim_sysfs_give_up(void)
{
	pthread_mutex_lock(&file_lock);
	given_up = true;
	pthread_mutex_unlock(&file_lock);
}

/* What the files of a part say already; a look at a device is a few reads, and shall not be a hundred writes here. */
struct written {
	char directory[200];
	uint8_t data[64];
};

static bool is_written(const struct written *written, const char *directory, const uint8_t data[64])
{
	return !strcmp(written->directory, directory) && !memcmp(written->data, data, sizeof(written->data));
}

static void note_written(struct written *written, const char *directory, const uint8_t data[64])
{
	snprintf(written->directory, sizeof(written->directory), "%s", directory);
	memcpy(written->data, data, sizeof(written->data));
}

/* The GUID is what it was. */
static void write_gid(const char *directory, const uint8_t *prefix)
{
	unsigned guid[4];
	char path[600];
	FILE *f;
	bool known;

	snprintf(path, sizeof(path), "%s/gids/0", directory);
	f = fopen(path, "r");
	if (!f)
		return;
	known = fscanf(f, "%*x:%*x:%*x:%*x:%x:%x:%x:%x", &guid[0], &guid[1], &guid[2], &guid[3]) == 4;
	fclose(f);
	if (known)
		put(directory, "gids/0", "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%04x:%04x:%04x:%04x\n", prefix[0], prefix[1],
		    prefix[2], prefix[3], prefix[4], prefix[5], prefix[6], prefix[7], guid[0], guid[1], guid[2], guid[3]);
}

static void write_info(const char *directory)
{
	static const char *const states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };
	static struct written written;
	uint8_t info[64];
	unsigned state;

	if (!ask(SMP_ATTR_PORT_INFO, 0, info)) {
		/* Without a cable, as it were: who waits for the port to come up sends nothing, of which umad2sim would
		 * print each. */
		if (over)
			put(directory, "state", "1: DOWN\n");
		return;
	}
	if (is_written(&written, directory, info))
		return;
	state = info[PI_STATE] & 0xf;
	put(directory, "state", "%u: %s\n", state, state < 5 ? states[state] : "<unknown>");
	put(directory, "lid", "0x%x", info[PI_LID] << 8 | info[PI_LID + 1]);
	put(directory, "sm_lid", "0x%x", info[PI_SM_LID] << 8 | info[PI_SM_LID + 1]);
	put(directory, "sm_sl", "%u", info[PI_SM_SL] & 0xfu);
	write_gid(directory, &info[PI_PREFIX]);
	note_written(&written, directory, info);
}

/* A table has the places that the device has, of which one block is enough here. */
static void write_pkeys(const char *directory)
{
	static struct written written;
	char name[32], path[640];
	uint8_t block[64];

	if (!ask(SMP_ATTR_PKEY_TABLE, 0, block) || is_written(&written, directory, block))
		return;
	note_written(&written, directory, block);
	for (unsigned i = 0; i < PKEYS_A_BLOCK; i++) {
		snprintf(name, sizeof(name), "pkeys/%u", i);
		snprintf(path, sizeof(path), "%s/%s", directory, name);
		if (access(path, F_OK))
			return;
		put(directory, name, "0x%02x%02x\n", block[2 * i], block[2 * i + 1]);
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Which of what is written together a file belongs to; NULL: none that changes. */
static struct part {
	void (*write)(const char *directory);
	uint64_t until_ms;			/* it counts as new: who looks at a port reads several of its files */
} info_part = { .write = write_info }, pkeys_part = { .write = write_pkeys };

static struct part *part_of(const char *name)
{
	static const char *const names[] = { "state", "lid", "sm_lid", "sm_sl", "gids/0" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return &info_part;
	return strncmp(name, "pkeys/", 6) ? NULL : &pkeys_part;
}

void rcm_sim_sysfs_refresh(const char *path)
{
	char device[64], name[64], directory[200];
	struct part *part;
	int number;

	if (held || !getenv("RAI_SIM_LIVE") ||
	    sscanf(path, "/sys/class/infiniband/%63[^/]/ports/%d/%63s", device, &number, name) != 3)
		return;
	part = part_of(name);
	if (!part)
		return;
	rcm_sim_sysfs_hold();
	pthread_mutex_lock(&lock);
	if (part->until_ms <= now_ms() && attach(device, number)) {
		snprintf(directory, sizeof(directory), "./sys-%d//sys/class/infiniband/%s/ports/%d", getpid(),
			 device, number);
		part->write(directory);
		part->until_ms = now_ms() + NEW_MS;
	}
	pthread_mutex_unlock(&lock);
	rcm_sim_sysfs_let();
}
