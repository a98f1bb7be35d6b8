/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets or deletes ServiceRecords at the SA, whosever they are, without a key, for ever, many at a time: what others may do
 * to a subnet, and what "rai service add" doesn't.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "loop/timer.h"
#include "sa/sa.h"

enum { DEADLINE_S = 20 };

struct options {
	const char *name;
	uint64_t id;
	struct rcm_gid gid;
	bool gid_given, remove;
	uint16_t pkey;
	uint32_t lease;
	unsigned long count, step;
};

struct job {
	const struct options *options;
	struct rcm_loop loop;
	struct rcm_sa *sa;
	struct rcm_gid port;
	unsigned long asked, answered;
	int status;
	char text[200];
};

static void job_fail(struct job *job, int status, const char *text)
{
	if (job->status)
		return;
	job->status = status;
	snprintf(job->text, sizeof(job->text), "%s", text ? text : strerrordesc_np(-status));
}

static void job_answered(void *arg, const struct rcm_sa_answer *answer)
{
	struct job *job = arg;

	job->answered++;
	if (answer->status)
		job_fail(job, answer->status, answer->text);
}

/* That of the host so much further on. */
static void gid_step(struct rcm_gid *gid, uint64_t by)
{
	uint64_t low;

	memcpy(&low, gid->raw + 8, sizeof(low));
	low = htobe64(be64toh(low) + by);
	memcpy(gid->raw + 8, &low, sizeof(low));
}

static void job_ask(struct job *job, unsigned long n)
{
	const struct options *o = job->options;
	struct rcm_sa_publication publication = {
		.port = job->port, .remove = o->remove,
		.record = { .id = o->step ? o->id : o->id + n, .gid = o->gid, .pkey = o->pkey, .lease = o->lease },
		.deadline = rcm_clock_now() + DEADLINE_S * RCM_NS_PER_S,
	};
	struct rcm_sa_query *query;
	int ret;

	memcpy(publication.record.name, o->name, strlen(o->name));
	gid_step(&publication.record.gid, n * o->step);
	ret = rcm_sa_umad.publish(job->sa, &publication, job_answered, job, &query);
	if (ret)
		job_fail(job, ret, NULL);
	else
		job->asked++;
}

static int first_port(struct rcm_gid *ret_gid)
{
	struct rcm_sa_port ports[RCM_SA_PORTS_MAX];
	int count = rcm_sa_ports(ports, RCM_SA_PORTS_MAX);

	for (int i = 0; i < count; i++) {
		if (!ports[i].infiniband)
			continue;
		*ret_gid = ports[i].gid;
		return 0;
	}
	return count < 0 ? count : -ENODEV;
}

static int job_run(struct job *job, struct options *o)
{
	int ret = first_port(&job->port);

	if (!ret && !o->gid_given)
		o->gid = job->port;
	if (!ret)
		ret = rcm_loop_init(&job->loop);
	if (ret)
		return ret;
	ret = rcm_sa_umad.open(&job->loop, &job->sa);
	for (unsigned long n = 0; !ret && n < o->count; n++) {
		job_ask(job, n);
		while (!ret && !job->status && job->asked - job->answered >= RCM_SA_WINDOW)
			ret = rcm_loop_turn(&job->loop, -1);
		if (job->status)
			break;
	}
	while (!ret && job->answered < job->asked)
		ret = rcm_loop_turn(&job->loop, -1);
	rcm_sa_umad.close(job->sa);
	rcm_loop_done(&job->loop);
	return ret;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'n':
		if (strlen(arg) > RCM_SERVICE_NAME_MAX + 1)
			argp_error(state, "a service name has %d bytes at most", RCM_SERVICE_NAME_MAX + 1);
		o->name = arg;
		return 0;
	case 'i':
		o->id = strtoull(arg, NULL, 0);
		return 0;
	case 'g':
		if (inet_pton(AF_INET6, arg, o->gid.raw) != 1)
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
	case 's':
		o->step = strtoul(arg, NULL, 0);
		return 0;
	case 'd':
		o->remove = true;
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
	{ "step", 's', "N", 0, "of one id all, with GIDs so far apart: those of hosts are 2", 0 },
	{ "delete", 'd', NULL, 0, "remove the records instead", 0 },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Sets service records at the SA of the first InfiniBand port.",
	};
	struct options o = {
		.name = "", .id = 1, .pkey = 0xffff, .lease = UINT32_MAX, .count = 1,
	};
	struct job job = { .options = &o };
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	ret = job_run(&job, &o);
	if (ret)
		job_fail(&job, ret, NULL);
	if (job.status)
		fprintf(stderr, "records: %s\n", job.text);
	return !!job.status;
}
