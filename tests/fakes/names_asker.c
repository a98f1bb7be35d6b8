/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for names by scripted name servers. */
#include "names_asker.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#include "../unit/test.h"
#include "base/clock.h"
#include "fake_families.h"
#include "fake_clock.h"

struct rcm_loop loop;
struct rcm_names *names;
const enum rcm_pick_step files_dns[RCM_PICK_STEPS] = { RCM_PICK_FILES, RCM_PICK_DNS };
const enum rcm_pick_step dns_files[RCM_PICK_STEPS] = { RCM_PICK_DNS, RCM_PICK_FILES };

static void write_file(char path[], const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

struct rcm_resolv *make_resolv(const char *text)
{
	char path[] = "/tmp/rai-resolv-XXXXXX";
	struct rcm_resolv *resolv;

	write_file(path, text);
	assert_int_equal(rcm_resolv_read(path, &resolv), 0);
	unlink(path);
	/* Not the domain of this host. */
	while (!strstr(text, "search") && resolv->search_count)
		free(resolv->search[--resolv->search_count]);
	return resolv;
}

struct rcm_hosts *make_hosts(void)
{
	char path[] = "/tmp/rai-names-XXXXXX";
	struct rcm_hosts *hosts;

	write_file(path, "192.0.2.77 inhosts\n");
	assert_int_equal(rcm_hosts_read(path, false, &hosts), 0);
	unlink(path);
	return hosts;
}

int open_names(void **state)
{
	(void)state;
	rcm_fake_clock_use(RCM_NS_PER_S);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_names_open(&loop, &fake_families, &names), 0);
	rcm_names_configure(names, files_dns, make_resolv(LOCAL), make_hosts());
	return 0;
}

int close_names(void **state)
{
	(void)state;
	fake_families_assert_over();
	fake_families_speaker(NULL);
	rcm_names_close(names);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

void done(void *arg, const struct rcm_dns_answer *answer)
{
	struct result *result = arg;

	result->done++;
	result->status = answer->status;
	result->code = answer->code;
	result->count = answer->count;
	result->srv_count = answer->srv_count;
	if (answer->srv_count)
		snprintf(result->target, sizeof(result->target), "%s:%u", answer->srv->target, answer->srv->port);
	result->ttl = answer->ttl;
	result->missing = answer->missing;
	strcpy(result->canonname, answer->canonname ? answer->canonname : "");
	strcpy(result->text, answer->text ? answer->text : "");
}

static void start_query(struct result *result, const char *name, struct rcm_dns_query query)
{
	memset(result, 0, sizeof(*result));
	strcpy(result->name, name);
	query.name = result->name;
	assert_int_equal(rcm_names_start(names, &query, done, result, &result->lookup), 0);
}

void start_as(struct result *result, const char *name, int family, enum rcm_dns_source source)
{
	start_query(result, name, (struct rcm_dns_query){ .family = family, .source = source });
}

void start_srv(struct result *result, const char *name, bool full, enum rcm_dns_source source)
{
	start_query(result, name, (struct rcm_dns_query){ .srv = true, .full = full, .source = source });
}

void start(struct result *result, const char *name)
{
	start_as(result, name, AF_UNSPEC, RCM_DNS_CONFIGURED);
	assert_int_equal(result->done, 0);
}

void turn(void)
{
	assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

void advance_ms(unsigned ms)
{
	rcm_fake_clock_advance(ms * RCM_NS_PER_MS);
	turn();
}

void fail_next(const char *name, enum rcm_dns_verdict verdict)
{
	fake_families_fail(fake_families_take(name, AF_UNSPEC), verdict);
	turn();
}
