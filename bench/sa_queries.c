/* SPDX-License-Identifier: BSD-2-Clause */
/* SA queries a second: our client on its loop, beside a bare loop of umad_send() and umad_recv(). */
#include <infiniband/umad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sa/sa.h"
#include "sa/wire.h"

enum { ROUNDS = 7, WINDOW_MAX = 16 };
#define ROUND_NS (RCM_NS_PER_S / 2)

static const char name[] = "bench";
static struct rcm_sa_port port;

static void die(const char *what)
{
	fprintf(stderr, "sa_queries: %s\n", what);
	exit(1);
}

static struct rcm_sa_service_query question(void)
{
	struct rcm_sa_service_query q = { .port = port.gid, .by_name = true };

	memcpy(q.service_name, name, sizeof(name));
	return q;
}

/* Ours: a finished question starts the next. */
static struct {
	struct rcm_loop loop;
	struct rcm_sa *sa;
	uint64_t until, answered;
	unsigned under_way;
} ours;

static void answered(void *arg, const struct rcm_sa_answer *answer);

static void ask(void)
{
	struct rcm_sa_service_query q = question();
	struct rcm_sa_query *query;

	q.deadline = rcm_clock_now() + 4 * RCM_NS_PER_S;
	if (rcm_sa_umad.service(ours.sa, &q, answered, NULL, &query))
		die("a question was refused");
	ours.under_way++;
}

static void answered(void *arg, const struct rcm_sa_answer *answer)
{
	(void)arg;
	if (answer->status || answer->count != 1)
		die("a question was not answered");
	ours.answered++;
	ours.under_way--;
	if (rcm_clock_now() < ours.until)
		ask();
}

static double ours_per_second(unsigned window)
{
	uint64_t start = rcm_clock_now();

	ours.answered = 0;
	ours.until = start + ROUND_NS;
	for (unsigned i = 0; i < window; i++)
		ask();
	while (ours.under_way)
		if (rcm_loop_turn(&ours.loop, -1))
			die("the loop failed");
	return (double)ours.answered * RCM_NS_PER_S / (double)(rcm_clock_now() - start);
}

/* The peer: what one would write for this alone, without timers, deadlines or checks. */
static int bare_port, bare_agent;
static umad_port_t bare_address;

static void bare_open(void)
{
	bare_port = umad_open_port(port.device, port.number);
	if (bare_port < 0 || umad_get_port(port.device, port.number, &bare_address))
		die("no port");
	bare_agent = umad_register(bare_port, RCM_SA_CLASS, RCM_SA_CLASS_VERSION, 1, NULL);
	if (bare_agent < 0)
		die("no agent");
}

static void bare_send(void *umad, uint8_t *mad)
{
	static uint32_t tid = 1 << 20;

	rcm_wire_set_tid(mad, ++tid);
	memset(umad, 0, umad_size());
	umad_set_addr(umad, (int)bare_address.sm_lid, RCM_SA_QP, (int)bare_address.sm_sl, (int)RCM_SA_QKEY);
	memcpy(umad_get_mad(umad), mad, RCM_MAD_SIZE);
	if (umad_send(bare_port, bare_agent, umad, RCM_MAD_SIZE, 1000, 0))
		die("umad_send failed");
}

static double bare_per_second(unsigned window)
{
	struct rcm_sa_service_query q = question();
	uint64_t start = rcm_clock_now(), count = 0;
	void *umad = umad_alloc(1, umad_size() + 4096);
	uint8_t mad[RCM_MAD_SIZE];
	unsigned under_way = 0;

	if (!umad)
		die("no memory");
	rcm_wire_ask_service(&q, mad);
	for (; under_way < window; under_way++)
		bare_send(umad, mad);
	while (under_way) {
		int len = 4096;

		if (umad_recv(bare_port, umad, &len, 2000) < 0 || umad_status(umad))
			die("umad_recv failed");
		count++;
		under_way--;
		if (rcm_clock_now() - start < ROUND_NS) {
			bare_send(umad, mad);
			under_way++;
		}
	}
	umad_free(umad);
	return (double)count * RCM_NS_PER_S / (double)(rcm_clock_now() - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Both by turns, so that whatever else the machine does meets both. */
static void measure(unsigned window)
{
	double mine[ROUNDS], bare[ROUNDS], ratio[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		mine[i] = ours_per_second(window);
		bare[i] = bare_per_second(window);
		ratio[i] = mine[i] / bare[i];
	}
	printf("{\"name\": \"SA queries, %u outstanding\", \"value\": %.0f, \"unit\": \"1/s\", "
	       "\"peer\": \"bare umad loop\", \"peer_value\": %.0f, \"ratio\": %.3f, \"aim\": \">= 0.9\"}\n",
	       window, median(mine), median(bare), median(ratio));
	fflush(stdout);
}

int main(void)
{
	if (system("\"$RAI_FABRIC\" register hca3 -q -n bench -i 7"))
		die("no service could be registered; run it by scripts/bench");
	if (rcm_sa_ports(&port, 1) != 1 || rcm_loop_init(&ours.loop) || rcm_sa_umad.open(&ours.loop, &ours.sa))
		die("no port");
	bare_open();
	measure(1);
	measure(WINDOW_MAX);
	rcm_sa_umad.close(ours.sa);
	umad_release_port(&bare_address);
	umad_close_port(bare_port);
	return 0;
}
