/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers or removes ServiceRecords at the SA, over libibumad: what services of the tests need. */
#include <argp.h>
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* IBTA 1.7: 15.2.1.1 (SA MAD), 15.2.5.14 (ServiceRecord); offsets in the MAD. */
enum { CLASS_SA = 3, METHOD_SET = 0x02, METHOD_DELETE = 0x15, ATTR_SERVICE_RECORD = 0x31 };
enum { SA_QP = 1, TIMEOUT_MS = 1000, RETRIES = 3, MAD_LEN = 256, NAME_LEN = 64 };
enum {
	AT_STATUS = 4, AT_TID = 8, AT_ATTR = 16, AT_MASK = 48, AT_ID = 56, AT_GID = 64, AT_PKEY = 80,
	AT_LEASE = 84, AT_NAME = 104,
};
#define SA_QKEY 0x80010000u
#define ALL_BUT_RESERVED 0x77u /* id, GID, P_Key, lease, key, name */

struct options {
	const char *name;
	uint64_t id;
	uint8_t gid[16];
	bool gid_given, delete, quiet;
	uint16_t pkey;
	uint32_t lease;
	unsigned long count;
};

struct sa {
	int port, agent;
	umad_port_t info;
	void *umad;
};

static void put(uint8_t *at, uint64_t value, size_t size)
{
	while (size--) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

static int sa_open(struct sa *sa)
{
	int rc;

	if (umad_init() < 0)
		return -ENODEV;
	sa->port = umad_open_port(NULL, 0);
	if (sa->port < 0)
		return sa->port;
	rc = umad_get_port(NULL, 0, &sa->info);
	if (rc < 0)
		return rc;
	sa->agent = umad_register(sa->port, CLASS_SA, 2, 1, NULL);
	if (sa->agent < 0)
		return sa->agent;
	sa->umad = umad_alloc(1, umad_size() + MAD_LEN);
	return sa->umad ? 0 : -ENOMEM;
}

static void sa_close(struct sa *sa)
{
	free(sa->umad);
	if (sa->agent >= 0)
		umad_unregister(sa->port, sa->agent);
	if (sa->port >= 0)
		umad_close_port(sa->port);
}

static void record_build(uint8_t *mad, const struct options *o, unsigned long n)
{
	memset(mad, 0, MAD_LEN);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = o->delete ? METHOD_DELETE : METHOD_SET;
	put(mad + AT_TID, n + 1, 8);
	put(mad + AT_ATTR, ATTR_SERVICE_RECORD, 2);
	put(mad + AT_MASK, ALL_BUT_RESERVED, 8);
	put(mad + AT_ID, o->id + n, 8);
	memcpy(mad + AT_GID, o->gid, sizeof(o->gid));
	put(mad + AT_PKEY, o->pkey, 2);
	put(mad + AT_LEASE, o->lease, 4);
	memcpy(mad + AT_NAME, o->name, strlen(o->name));
}

/* Returns the status of the SA's answer, or -errno. */
static int ask(struct sa *sa, const struct options *o, unsigned long n)
{
	uint8_t *mad = umad_get_mad(sa->umad);
	int len = MAD_LEN, rc;

	record_build(mad, o, n);
	umad_set_addr(sa->umad, (int)sa->info.sm_lid, SA_QP, (int)sa->info.sm_sl, (int)SA_QKEY);
	rc = umad_send(sa->port, sa->agent, sa->umad, MAD_LEN, TIMEOUT_MS, RETRIES);
	if (rc < 0)
		return rc;
	rc = umad_recv(sa->port, sa->umad, &len, TIMEOUT_MS * (RETRIES + 2));
	if (rc < 0)
		return rc;
	if (umad_status(sa->umad))
		return -umad_status(sa->umad);
	return mad[AT_STATUS] << 8 | mad[AT_STATUS + 1];
}

static int run(struct options *o)
{
	struct sa sa = { .port = -1, .agent = -1 };
	int rc;

	rc = sa_open(&sa);
	if (rc < 0)
		goto out;
	if (!o->gid_given) {
		memcpy(o->gid, &sa.info.gid_prefix, 8);
		memcpy(o->gid + 8, &sa.info.port_guid, 8);
	}
	umad_release_port(&sa.info);
	for (unsigned long n = 0; n < o->count; n++) {
		rc = ask(&sa, o, n);
		if (rc)
			break;
	}
out:
	sa_close(&sa);
	if (rc < 0)
		fprintf(stderr, "register: %s\n", strerrordesc_np(-rc));
	else if (rc)
		fprintf(stderr, "register: the SA answered with status 0x%04x\n", rc);
	else if (!o->quiet)
		printf("%s \"%s\" 0x%llx, %lu record(s)\n", o->delete ? "removed" : "registered",
		       o->name, (unsigned long long)o->id, o->count);
	return rc ? 1 : 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'n':
		if (strlen(arg) > NAME_LEN)
			argp_error(state, "a service name has %d bytes at most", NAME_LEN);
		o->name = arg;
		return 0;
	case 'i':
		o->id = strtoull(arg, NULL, 0);
		return 0;
	case 'g':
		if (inet_pton(AF_INET6, arg, o->gid) != 1)
			argp_error(state, "not a GID: %s", arg);
		o->gid_given = true;
		return 0;
	case 'p':
		o->pkey = (uint16_t)strtoul(arg, NULL, 0);
		return 0;
	case 'l':
		o->lease = (uint32_t)strtoul(arg, NULL, 0);
		return 0;
	case 'c':
		o->count = strtoul(arg, NULL, 0);
		return 0;
	case 'd':
		o->delete = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{ "name", 'n', "NAME", 0, "service name, up to 64 bytes (empty)", 0 },
	{ "id", 'i', "NUMBER", 0, "service id (1)", 0 },
	{ "gid", 'g', "GID", 0, "GID of the service (the port's own)", 0 },
	{ "pkey", 'p', "NUMBER", 0, "P_Key (0xffff)", 0 },
	{ "lease", 'l', "SECONDS", 0, "lease (for ever)", 0 },
	{ "count", 'c', "N", 0, "this many records, with ids that follow one another (1)", 0 },
	{ "delete", 'd', NULL, 0, "remove the records instead", 0 },
	{ "quiet", 'q', NULL, 0, "print errors only", 0 },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Registers service records at the SA of the first InfiniBand port.",
	};
	struct options o = {
		.name = "", .id = 1, .pkey = 0xffff, .lease = UINT32_MAX, .count = 1,
	};

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return run(&o);
}
