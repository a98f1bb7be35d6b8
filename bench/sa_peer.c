/* SPDX-License-Identifier: BSD-2-Clause */
/* A bare loop of umad_send() and umad_recv(). */
#include "sa_peer.h"

#include <infiniband/umad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sa/wire.h"

enum { TABLE_MAX = 4 << 20 };

void sa_die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* The peer: what one would write for this alone, without timers, deadlines or checks. */
static int port, agent;
static umad_port_t address;

void sa_peer_start(void)
{
	if (system("\"$RAI_FABRIC\" on hca3 \"$RAI_FABRIC_PARTS/records\" -n " SA_PEER_SERVICE " -i 7 && "
		   "\"$RAI_FABRIC\" on hca3 \"$RAI_FABRIC_PARTS/records\" -n others -i 8 -c 15"))
		sa_die("no service could be registered; run it by scripts/bench");
	port = umad_open_port(NULL, 0);
	if (port < 0 || umad_get_port(NULL, 0, &address))
		sa_die("no port");
	agent = umad_register(port, RCM_SA_CLASS, RCM_SA_CLASS_VERSION, 1, NULL);
	if (agent < 0)
		sa_die("no agent");
}

static void bare_send(void *umad, uint8_t *mad)
{
	static uint32_t tid = 1 << 20;

	rcm_wire_set_tid(mad, ++tid);
	memset(umad, 0, umad_size());
	umad_set_addr(umad, (int)address.sm_lid, RCM_SA_QP, (int)address.sm_sl, (int)RCM_SA_QKEY);
	memcpy(umad_get_mad(umad), mad, RCM_MAD_SIZE);
	if (umad_send(port, agent, umad, RCM_MAD_SIZE, 1000, 0))
		sa_die("umad_send failed");
}

double sa_peer_per_second(unsigned window)
{
	struct rcm_sa_service_query q = { .by_name = true, .service_name = SA_PEER_SERVICE };
	uint64_t start = rcm_clock_now(), count = 0;
	void *umad = umad_alloc(1, umad_size() + 4096);
	uint8_t mad[RCM_MAD_SIZE];
	unsigned under_way = 0;

	if (!umad)
		sa_die("no memory");
	rcm_wire_ask_service(&q, mad);
	for (; under_way < window; under_way++)
		bare_send(umad, mad);
	while (under_way) {
		int len = 4096;

		if (umad_recv(port, umad, &len, 2000) < 0 || umad_status(umad))
			sa_die("umad_recv failed");
		count++;
		under_way--;
		if (rcm_clock_now() - start < SA_ROUND_NS) {
			bare_send(umad, mad);
			under_way++;
		}
	}
	umad_free(umad);
	return (double)count * RCM_NS_PER_S / (double)(rcm_clock_now() - start);
}

static void bare_table(void *umad, uint8_t *mad, size_t size, unsigned count)
{
	int len = TABLE_MAX;

	bare_send(umad, mad);
	if (umad_recv(port, umad, &len, 2000) < 0 || umad_status(umad) || (size_t)len < RCM_SA_HEADER_SIZE + size * count)
		sa_die("a table was not answered");
}

double sa_peer_tables_ms(const char *name, unsigned long long id, unsigned count)
{
	struct rcm_sa_service_query by_name = { .by_name = true };
	struct rcm_sa_path_query paths = { .to_all = true, .pkey = 0xffff, .service_id = id };
	uint64_t start = rcm_clock_now();
	void *umad = umad_alloc(1, umad_size() + TABLE_MAX);
	uint8_t mad[RCM_MAD_SIZE];

	if (!umad)
		sa_die("no memory");
	strncpy(by_name.service_name, name, sizeof(by_name.service_name) - 1);
	rcm_wire_ask_service(&by_name, mad);
	bare_table(umad, mad, RCM_SERVICE_RECORD_SIZE, count);
	memcpy(paths.port.raw, &address.gid_prefix, 8);
	memcpy(paths.port.raw + 8, &address.port_guid, 8);
	rcm_wire_ask_path(&paths, mad);
	bare_table(umad, mad, RCM_PATH_RECORD_SIZE, count);
	umad_free(umad);
	return (double)(rcm_clock_now() - start) / RCM_NS_PER_MS;
}

void sa_peer_stop(void)
{
	umad_release_port(&address);
	umad_close_port(port);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double sa_median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

void sa_compare(const char *name, unsigned window, double (*ours_per_second)(unsigned window), const char *aim)
{
	double ours[SA_ROUNDS], bare[SA_ROUNDS], ratio[SA_ROUNDS];

	for (unsigned i = 0; i < SA_ROUNDS; i++) {
		ours[i] = ours_per_second(window);
		bare[i] = sa_peer_per_second(window);
		ratio[i] = ours[i] / bare[i];
	}
	printf("{\"name\": \"%s\", \"value\": %.0f, \"unit\": \"1/s\", \"peer\": \"bare umad loop\", "
	       "\"peer_value\": %.0f, \"ratio\": %.3f", name, sa_median(ours, SA_ROUNDS),
	       sa_median(bare, SA_ROUNDS), sa_median(ratio, SA_ROUNDS));
	printf(aim ? ", \"aim\": \"%s\"}\n" : "}\n", aim);
	fflush(stdout);
}
