/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports of service names, with a module that is slow or stuck. */
#include "dns/services.h"

#include <errno.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/limits.h"
#include "test.h"

struct result {
	unsigned done;
	int status;
	uint16_t port;
	struct rcm_dns_service *service;
};

static struct rcm_loop loop;
static struct rcm_services *services;
static sem_t leave;
static atomic_uint asked, asked_len;
static uint64_t later_ns;

static size_t entry_size;		/* what an entry takes; 0: as this host's files have it */

int __real_getservbyname_r(const char *name, const char *protocol, struct servent *entry, char *buf, size_t size,
			   struct servent **ret_entry);
int __wrap_getservbyname_r(const char *name, const char *protocol, struct servent *entry, char *buf, size_t size,
			   struct servent **ret_entry);

int __wrap_getservbyname_r(const char *name, const char *protocol, struct servent *entry, char *buf, size_t size,
			   struct servent **ret_entry)
{
	if (!entry_size)
		return __real_getservbyname_r(name, protocol, entry, buf, size, ret_entry);
	*ret_entry = NULL;
	if (size < entry_size)
		return ERANGE;
	memset(buf, 0, size);
	*entry = (struct servent){ .s_port = htons(4) };
	*ret_entry = entry;
	return 0;
}

/* Time stands still but for later_ns. */
static uint64_t fake_now(void)
{
	return RCM_NS_PER_S + later_ns;
}

/* "stuck" waits for leave; "both" is 1 by tcp and 2 by udp, "udp" 3 by udp, "zero" 0; nothing else is there. */
static int fake_ask(const char *name, const char *protocol)
{
	bool udp = !strcmp(protocol, "udp");

	atomic_fetch_add(&asked, 1);
	atomic_store(&asked_len, (unsigned)strlen(name));
	if (!strcmp(name, "stuck"))
		while (sem_wait(&leave))
			;
	if (!strcmp(name, "both"))
		return 1 + udp;
	if (!strcmp(name, "zero"))
		return 0;
	return !strcmp(name, "udp") && udp ? 3 : -ENOENT;
}

static int set_up(void **state)
{
	(void)state;
	sem_init(&leave, 0, 0);
	atomic_store(&asked, 0);
	later_ns = 0;
	rcm_clock_replace(fake_now);
	assert_int_equal(rcm_loop_init(&loop), 0);
	assert_int_equal(rcm_services_open(&loop, fake_ask, &services), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_services_close(services);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	return 0;
}

static void done(void *arg, int status, uint16_t port)
{
	struct result *result = arg;

	result->done++;
	result->status = status;
	result->port = port;
}

static void start(struct result *result, const char *name, int type)
{
	*result = (struct result){ 0 };
	assert_int_equal(rcm_services_start(services, name, type, done, result, &result->service), 0);
	assert_int_equal(result->done, 0);
}

/* The port, or -errno. */
static int ask(const char *name, int type)
{
	struct result r;

	start(&r, name, type);
	while (!r.done)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	return r.status ? r.status : r.port;
}

static int known(const char *name, int type)
{
	uint16_t port = 0;
	int found = rcm_services_find(services, name, type, &port);

	return found > 0 ? port : found;
}

static void test_services_are_found_by_transport_and_known_from_then_on(void **state)
{
	(void)state;
	assert_int_equal(known("both", SOCK_STREAM), 0);
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	assert_int_equal(known("both", SOCK_STREAM), 1);
	assert_int_equal(known("both", SOCK_DGRAM), 0);
	assert_int_equal(ask("both", SOCK_DGRAM), 2);
	assert_int_equal(ask("udp", SOCK_STREAM), -ENOENT);
	assert_int_equal(known("udp", SOCK_STREAM), -ENOENT);
	/* Where both transports are open, any that has it will do. */
	assert_int_equal(ask("udp", 0), 3);
	assert_int_equal(ask("both", 0), 1);
}

static void test_services_that_are_numbers_with_something_about_them_are_none(void **state)
{
	static const char *const odd[] = { "65536", " 80", "+80", "99999999999999999999" };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(ask(odd[i], 0), -ENOENT);
	assert_int_equal(atomic_load(&asked), 0);
}

static void test_services_forgotten_are_asked_for_again_and_late_answers_do_not_count(void **state)
{
	struct result r;

	(void)state;
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	start(&r, "udp", SOCK_DGRAM);
	rcm_services_forget(services);
	assert_int_equal(known("both", SOCK_STREAM), 0);
	while (!r.done)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	assert_int_equal(r.port, 3);
	assert_int_equal(known("udp", SOCK_DGRAM), 0);
}

/* A module that is down is told as "no such service" by the C library, and the port of one may change. */
static void test_services_are_asked_for_again_in_time_the_missing_soon(void **state)
{
	(void)state;
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	assert_int_equal(ask("none", SOCK_STREAM), -ENOENT);
	later_ns = RCM_SERVICES_NONE_KEEP_S * RCM_NS_PER_S;
	assert_int_equal(known("none", SOCK_STREAM), 0);
	assert_int_equal(known("both", SOCK_STREAM), 1);
	later_ns = RCM_SERVICES_KEEP_S * RCM_NS_PER_S;
	assert_int_equal(known("both", SOCK_STREAM), 0);
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	assert_int_equal(known("both", SOCK_STREAM), 1);
}

/* A file may say so; it is a port as any other. */
static void test_services_at_port_0_are_known_as_long_as_others(void **state)
{
	uint16_t port = 1;

	(void)state;
	assert_int_equal(ask("zero", SOCK_STREAM), 0);
	later_ns = RCM_SERVICES_NONE_KEEP_S * RCM_NS_PER_S;
	assert_int_equal(rcm_services_find(services, "zero", SOCK_STREAM, &port), 1);
	assert_int_equal(port, 0);
	later_ns = RCM_SERVICES_KEEP_S * RCM_NS_PER_S;
	assert_int_equal(rcm_services_find(services, "zero", SOCK_STREAM, &port), 0);
}

static void test_services_of_a_stuck_module_hold_up_nobody_and_can_be_given_up(void **state)
{
	struct result stuck[RCM_NSS_WORKERS];

	(void)state;
	for (int i = 0; i < RCM_NSS_WORKERS; i++)
		start(&stuck[i], "stuck", SOCK_STREAM);
	for (int i = 0; i < RCM_NSS_WORKERS - 1; i++)
		rcm_services_cancel(stuck[i].service);
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	for (int i = 0; i < RCM_NSS_WORKERS; i++)
		sem_post(&leave);
	while (!stuck[RCM_NSS_WORKERS - 1].done)
		assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	assert_int_equal(stuck[0].done, 0);
}

static void test_services_more_than_are_remembered_stay_right(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < RCM_SERVICES_MAX; i++) {
		snprintf(name, sizeof(name), "none-%d", i);
		assert_int_equal(ask(name, SOCK_STREAM), -ENOENT);
	}
	assert_int_equal(known("none-0", SOCK_STREAM), -ENOENT);
	assert_int_equal(known(name, SOCK_STREAM), -ENOENT);
	assert_int_equal(ask("both", SOCK_STREAM), 1);
	assert_int_equal(known("none-0", SOCK_STREAM), 0);
	assert_int_equal(known(name, SOCK_STREAM), 0);
	assert_int_equal(known("both", SOCK_STREAM), 1);
}

/* No more of a name than the longest there can be has. */
static void test_services_names_are_looked_at_up_to_their_limit(void **state)
{
	char name[RCM_SERVICE_TEXT_MAX + 2];

	(void)state;
	for (unsigned len = RCM_SERVICE_TEXT_MAX - 1; len <= RCM_SERVICE_TEXT_MAX + 1; len++) {
		memset(name, 'n', len);
		name[len] = '\0';
		assert_int_equal(ask(name, SOCK_STREAM), -ENOENT);
		assert_int_equal(atomic_load(&asked_len), len > RCM_SERVICE_TEXT_MAX ? RCM_SERVICE_TEXT_MAX : len);
		assert_int_equal(known(name, SOCK_STREAM), -ENOENT);
	}
}

/* The C library's own answers. */
static void test_services_of_this_host_are_what_getservbyname_says(void **state)
{
	const struct servent *http = getservbyname("http", "tcp");
	char long_name[300];

	(void)state;
	assert_int_equal(rcm_services_ask("http", "tcp"), http ? ntohs((uint16_t)http->s_port) : -ENOENT);
	assert_int_equal(rcm_services_ask("no-such-service", "tcp"), -ENOENT);
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(ask(long_name, SOCK_STREAM), -ENOENT);
}

static void test_services_entries_with_many_aliases_are_read_up_to_64_kb(void **state)
{
	(void)state;
	entry_size = 64 << 10;
	assert_int_equal(rcm_services_ask("many-aliases", "tcp"), 4);
	entry_size++;
	assert_int_equal(rcm_services_ask("many-aliases", "tcp"), -ERANGE);
	entry_size = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_services_are_found_by_transport_and_known_from_then_on),
		T(test_services_that_are_numbers_with_something_about_them_are_none),
		T(test_services_forgotten_are_asked_for_again_and_late_answers_do_not_count),
		T(test_services_are_asked_for_again_in_time_the_missing_soon),
		T(test_services_at_port_0_are_known_as_long_as_others),
		T(test_services_of_a_stuck_module_hold_up_nobody_and_can_be_given_up),
		T(test_services_more_than_are_remembered_stay_right),
		T(test_services_names_are_looked_at_up_to_their_limit),
		T(test_services_of_this_host_are_what_getservbyname_says),
		T(test_services_entries_with_many_aliases_are_read_up_to_64_kb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
