/* SPDX-License-Identifier: BSD-2-Clause */
/* SA queries a second: our client on its loop, beside a bare loop of umad_send() and umad_recv(). */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sa/sa.h"
#include "sa_peer.h"

static struct rcm_sa_port port;

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
	struct rcm_sa_service_query q = { .port = port.gid, .by_name = true, .service_name = SA_PEER_SERVICE,
					  .deadline = rcm_clock_now() + 4 * RCM_NS_PER_S };
	struct rcm_sa_query *query;

	if (rcm_sa_umad.service(ours.sa, &q, answered, NULL, &query))
		sa_die("a question was refused");
	ours.under_way++;
}

static void answered(void *arg, const struct rcm_sa_answer *answer)
{
	(void)arg;
	if (answer->status || answer->count != 1)
		sa_die("a question was not answered");
	ours.answered++;
	ours.under_way--;
	if (rcm_clock_now() < ours.until)
		ask();
}

static double ours_per_second(unsigned window)
{
	uint64_t start = rcm_clock_now();

	ours.answered = 0;
	ours.until = start + SA_ROUND_NS;
	for (unsigned i = 0; i < window; i++)
		ask();
	while (ours.under_way)
		if (rcm_loop_turn(&ours.loop, -1))
			sa_die("the loop failed");
	return (double)ours.answered * RCM_NS_PER_S / (double)(rcm_clock_now() - start);
}

int main(void)
{
	sa_peer_start();
	if (rcm_sa_ports(&port, 1) != 1 || rcm_loop_init(&ours.loop) || rcm_sa_umad.open(&ours.loop, &ours.sa))
		sa_die("no port");
	sa_compare("SA client, 1 outstanding", 1, ours_per_second, ">= 0.9");
	sa_compare("SA client, 16 outstanding", 16, ours_per_second, ">= 0.9");
	rcm_sa_umad.close(ours.sa);
	sa_peer_stop();
	return 0;
}
