/* SPDX-License-Identifier: BSD-2-Clause */
/* How many questions ended how, and how long they took. */
#include "tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "screen.h"

enum { SHOW_US = 100000, BAR = 20 };

void cli_tally_begin(struct cli_tally *tally, const char *what)
{
	*tally = (struct cli_tally) { .what = what, .began_us = cli_now_us() };
}

void cli_tally_done(struct cli_tally *tally)
{
	free(tally->latencies);
	tally->latencies = NULL;
	tally->count = tally->room = 0;
}

static void latency_add(struct cli_tally *tally, int64_t took_us)
{
	uint32_t *grown;

	if (tally->count == tally->room && tally->room < CLI_LATENCIES_MAX) {
		size_t room = tally->room ? tally->room * 2 : 1024;

		grown = realloc(tally->latencies, room * sizeof(*grown));
		if (!grown)
			return;
		tally->latencies = grown;
		tally->room = room;
	}
	if (tally->count < tally->room)
		tally->latencies[tally->count++] = took_us > UINT32_MAX ? UINT32_MAX : (uint32_t)took_us;
}

void cli_tally_add(struct cli_tally *tally, int status, int64_t took_us)
{
	if (status == 0)
		tally->found++;
	else if (status == -ENOENT || status == -ENODATA)
		tally->missing++;
	else if (status == -ETIMEDOUT)
		tally->silent++;
	else
		tally->failed++;
	latency_add(tally, took_us);
}

uint64_t cli_tally_all(const struct cli_tally *tally)
{
	return tally->found + tally->missing + tally->silent + tally->failed;
}

void cli_tally_show(struct cli_tally *tally)
{
	int64_t now = cli_now_us(), took = now - tally->began_us;
	uint64_t all = cli_tally_all(tally);
	double rate = took > 0 ? (double)all * 1e6 / (double)took : 0;
	int filled = (int)(tally->share * BAR);

	if (!isatty(STDERR_FILENO) || now - tally->shown_us < SHOW_US || took < SHOW_US)
		return;
	tally->shown_us = now;
	tally->shown = true;
	fputs("\r\033[K", stderr);
	if (tally->share > 0)
		fprintf(stderr, "[%.*s%*s] ", filled, "####################", BAR - filled, "");
	fprintf(stderr, "%" PRIu64 " %s%s, %.0f/s", all, tally->what, all == 1 ? "" : "s", rate);
	if (tally->share > 0 && tally->share < 1)
		fprintf(stderr, ", %.0f s left", (double)took / 1e6 * (1 - tally->share) / tally->share);
	fflush(stderr);
}

void cli_tally_wipe(struct cli_tally *tally)
{
	if (tally->shown)
		fputs("\r\033[K", stderr);
	tally->shown = false;
	tally->shown_us = 0;
}

static int latency_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void cli_tally_sort(struct cli_tally *tally)
{
	qsort(tally->latencies, tally->count, sizeof(*tally->latencies), latency_compare);
}

uint32_t cli_percentile(const uint32_t *values, size_t count, double share)
{
	/* Where a product has more digits than a double, as on i386, nine tenths of ten are a little over nine. */
	double before = (double)count * share - 1e-6;

	if (count == 0)
		return 0;
	return values[before > 0 ? (size_t)before : 0];
}

void cli_tally_print(struct cli_tally *tally, FILE *out)
{
	double took = (double)(cli_now_us() - tally->began_us) / 1e6;
	uint64_t all = cli_tally_all(tally);
	const uint32_t *l = tally->latencies;
	size_t n = tally->count;

	cli_tally_wipe(tally);
	fprintf(out, "%" PRIu64 " %s%s in %.3g s (%.0f/s): %" PRIu64 " found, %" PRIu64 " not found, %" PRIu64
		" timed out, %" PRIu64 " failed\n", all, tally->what, all == 1 ? "" : "s", took,
		took > 0 ? (double)all / took : 0, tally->found, tally->missing, tally->silent, tally->failed);
	if (n == 0)
		return;
	cli_tally_sort(tally);
	fprintf(out, "latency in ms: 50 %% %.3f, 90 %% %.3f, 99 %% %.3f, longest %.3f\n",
		cli_percentile(l, n, 0.5) / 1e3, cli_percentile(l, n, 0.9) / 1e3, cli_percentile(l, n, 0.99) / 1e3,
		l[n - 1] / 1e3);
}
