/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolution through the library, with names that need no network: one event each, errnos, results, synchronous ids. */
#include "api.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static void use_hosts_only(struct rdma_cm_id *of)
{
	uint32_t source = RAI_SOURCE_HOSTS;

	assert_int_equal(rdma_set_option(of, RDMA_OPTION_RAI, RAI_OPTION_SOURCE, &source, sizeof(source)), 0);
}

static struct rdma_addrinfo *resolve(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *list = NULL;
	struct rdma_cm_event *event;
	unsigned count = 0;

	assert_int_equal(rdma_resolve_addrinfo(id, node, service, hints), 0);
	event = get_event(channel);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	assert_int_equal(event->status, 0);
	assert_ptr_equal(event->id, id);
	assert_int_equal(rdma_query_addrinfo(id, &list), 0);
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next)
		count++;
	assert_int_equal(event->param.arg, count);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return list;
}

static void test_resolve_number_gives_one_filled_result(void **state)
{
	struct rdma_addrinfo *list = resolve("192.0.2.7", "7471", NULL), *again = NULL;
	struct sockaddr_in *in = (struct sockaddr_in *)list->ai_dst_addr;

	(void)state;
	assert_int_equal(list->ai_family, AF_INET);
	assert_int_equal(list->ai_qp_type, IBV_QPT_RC);
	assert_int_equal(list->ai_port_space, RDMA_PS_TCP);
	assert_int_equal(list->ai_dst_len, sizeof(*in));
	assert_int_equal(in->sin_addr.s_addr, inet_addr("192.0.2.7"));
	assert_int_equal(in->sin_port, htons(7471));
	assert_null(list->ai_next);
	assert_errno(rdma_query_addrinfo(id, &again), ENOENT);
	rdma_freeaddrinfo(list);
	rdma_freeaddrinfo(NULL);
}

/* F26: no entry of a family that nobody asked for. */
static void test_resolve_gives_the_family_as_asked(void **state)
{
	struct rdma_addrinfo hints = { .ai_family = AF_INET6 }, *list;

	(void)state;
	list = resolve("2001:db8::7", "7471", &hints);
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next) {
		assert_int_equal(each->ai_family, AF_INET6);
		assert_int_equal(each->ai_dst_addr->sa_family, AF_INET6);
	}
	rdma_freeaddrinfo(list);
	list = resolve(NULL, "7471", NULL);
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next)
		assert_int_not_equal(each->ai_family, AF_IB);
	rdma_freeaddrinfo(list);
}

static void test_resolve_gid_gives_an_ib_address(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_FAMILY | RAI_NUMERICHOST, .ai_family = AF_IB }, *list;
	struct sockaddr_ib *ib;

	(void)state;
	list = resolve("fe80::2:c903:1", NULL, &hints);
	ib = (struct sockaddr_ib *)(void *)list->ai_dst_addr;
	assert_int_equal(list->ai_family, AF_IB);
	assert_int_equal(list->ai_dst_len, sizeof(*ib));
	assert_int_equal(ib->sib_family, AF_IB);
	assert_int_equal(ib->sib_addr.sib_raw[0], 0xfe);
	assert_int_equal(ib->sib_addr.sib_raw[15], 1);
	rdma_freeaddrinfo(list);
}

static void test_resolve_passive_gives_the_wildcards_as_source(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE }, *list = resolve(NULL, "7471", &hints);

	(void)state;
	for (struct rdma_addrinfo *each = list; each; each = each->ai_next) {
		assert_non_null(each->ai_src_addr);
		assert_null(each->ai_dst_addr);
	}
	rdma_freeaddrinfo(list);
}

static void expect_refused(const char *node, const char *service, int flags, int wanted)
{
	struct rdma_addrinfo hints = { .ai_flags = flags };

	assert_errno(rdma_resolve_addrinfo(id, node, service, flags ? &hints : NULL), wanted);
	assert_false(is_readable(channel->fd));
}

/* As getaddrinfo() would say it; what it knows nothing of is passed over. */
static void test_getaddrinfo_refused_gives_getaddrinfos_code(void **state)
{
	const struct {
		struct rdma_addrinfo hints;
		const char *node, *service;
		int ret;
	} cases[] = {
		{ { .ai_flags = RAI_NUMERICHOST }, "host.test", NULL, EAI_NONAME },
		{ { .ai_flags = RAI_NUMERICHOST }, "host.test", "7471", EAI_NONAME },
		{ { .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP }, "192.0.2.1", NULL, EAI_SOCKTYPE },
		{ { .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_UDP }, NULL, "7471", EAI_SOCKTYPE },
		{ { .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP }, NULL, NULL, 0 },
		{ { .ai_qp_type = IBV_QPT_RC, .ai_port_space = 0x7777 }, "192.0.2.1", NULL, 0 },
		{ { .ai_qp_type = 99 }, "192.0.2.1", NULL, 0 },
		{ { .ai_flags = 0x8000 }, "192.0.2.1", "", 0 },
		{ { .ai_flags = RAI_NUMERICHOST }, "", NULL, EAI_NONAME },
		{ { .ai_flags = 0x8000 | RAI_NUMERICHOST }, "host.test", NULL, EAI_NONAME },
		{ { .ai_family = AF_UNIX }, "192.0.2.1", NULL, EAI_FAMILY },
		{ { .ai_family = AF_UNIX }, NULL, NULL, 0 },
		{ { .ai_src_len = 4 }, "192.0.2.1", NULL, -1 },
		{ { .ai_dst_len = 4 }, NULL, NULL, -1 },
		{ { .ai_dst_len = 4 }, "192.0.2.1", NULL, 0 },
	};
	struct rdma_addrinfo *list;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		errno = 0;
		assert_int_equal(rdma_getaddrinfo(cases[i].node, cases[i].service, &cases[i].hints, &list), cases[i].ret);
		if (cases[i].ret == -1)
			assert_int_equal(errno, EINVAL);
		if (!cases[i].ret)
			rdma_freeaddrinfo(list);
	}
	assert_errno(rdma_getaddrinfo("host.test", NULL, &cases[0].hints, NULL), EINVAL);
}

static void test_resolve_refused_at_once_brings_no_event(void **state)
{
	struct rdma_addrinfo contradiction = { .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP };
	char name[300];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[254] = '\0';
	assert_errno(rdma_resolve_addrinfo(NULL, "192.0.2.1", NULL, NULL), EINVAL);
	expect_refused(NULL, NULL, 0, EINVAL);
	expect_refused("", NULL, 0, EINVAL);
	expect_refused("192.0.2.1", "", 0, EINVAL);
	expect_refused("192.0.2.1", NULL, 0x8000, EINVAL);
	expect_refused("host.test", NULL, RAI_NUMERICHOST, EINVAL);
	expect_refused(name, NULL, 0, ENAMETOOLONG);
	expect_refused(NULL, NULL, RAI_SA, EINVAL);
	expect_refused(NULL, "lustre", RAI_SA, EINVAL);
	expect_refused(NULL, "99999999999999999999", RAI_SA, EINVAL);
	expect_refused("192.0.2.1", "lustre", RAI_SA, ENOTSUP);
	expect_refused(NULL, "lustre", RAI_SA | RAI_DNS, ENOTSUP);
	name[254] = 'a';
	name[64] = '\0';
	expect_refused(NULL, name, RAI_SA, ENAMETOOLONG);
	assert_errno(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, &contradiction), EINVAL);
	assert_false(is_readable(channel->fd));
}

/* F4, F20: what can't be found is an event, its status negative, its text in words. */
static void test_resolve_unknown_host_is_an_event_with_negative_status(void **state)
{
	struct rdma_addrinfo *list;
	struct rdma_cm_event *event;
	char text[256];

	(void)state;
	use_hosts_only(id);
	assert_int_equal(rdma_resolve_addrinfo(id, "no-such-host.invalid", "7471", NULL), 0);
	event = get_event(channel);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(event->status, -ENOENT);
	assert_int_equal((int)event->param.arg, EAI_NONAME);
	assert_true(rai_event_text(event, text, sizeof(text)) > 0);
	assert_true(strlen(text) > 0);
	rdma_ack_cm_event(event);
	assert_errno(rdma_query_addrinfo(id, &list), ENOENT);
	rdma_freeaddrinfo(resolve("192.0.2.1", NULL, NULL));
}

/* The reason of a failure is at the end of its text, and must not fall off it. */
static void test_resolve_failure_of_the_longest_name_tells_its_reason(void **state)
{
	char name[254] = "", text[512], start[32];
	struct rdma_cm_event *event;
	int len;

	(void)state;
	use_hosts_only(id);
	for (int i = 0; i < 253; i++)
		name[i] = i % 63 == 62 ? '.' : 'x';
	assert_int_equal(rdma_resolve_addrinfo(id, name, "7471", NULL), 0);
	event = get_event(channel);
	assert_int_equal(event->status, -ENOENT);
	len = rai_event_text(event, text, sizeof(text));
	assert_int_equal(len, strlen(text));
	assert_non_null(strstr(text, "...: "));
	assert_true(strlen(strstr(text, "...: ")) > 10);
	assert_int_equal(rai_event_text(event, start, sizeof(start)), len);
	assert_int_equal(strlen(start), sizeof(start) - 1);
	rdma_ack_cm_event(event);
}

static void test_resolve_unknown_service_is_an_event(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", "no-such-service", NULL), 0);
	event = get_event(channel);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	assert_int_equal(event->status, -ENOENT);
	rdma_ack_cm_event(event);
}

static void test_resolve_is_busy_until_delivered(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
	assert_errno(rdma_resolve_addrinfo(id, "192.0.2.2", NULL, NULL), EBUSY);
	event = get_event(channel);
	assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.2", NULL, NULL), 0);
	rdma_ack_cm_event(event);
	rdma_ack_cm_event(get_event(channel));
	assert_false(is_readable(channel->fd));
}

static void test_query_refuses_null_and_says_enoent_for_nothing(void **state)
{
	struct rdma_addrinfo *list = NULL;

	(void)state;
	assert_errno(rdma_query_addrinfo(NULL, &list), EINVAL);
	assert_errno(rdma_query_addrinfo(id, NULL), EINVAL);
	assert_errno(rdma_query_addrinfo(id, &list), ENOENT);
	assert_null(list);
}

static void test_cancel_without_resolution_says_enoent(void **state)
{
	(void)state;
	assert_errno(rai_cancel(NULL), EINVAL);
	assert_errno(rai_cancel(id), ENOENT);
}

static void test_service_of_a_result_that_has_none_says_enoent(void **state)
{
	struct rdma_addrinfo *list = NULL;
	struct rai_service_record record;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("192.0.2.1", NULL, NULL, &list), 0);
	assert_errno(rai_addrinfo_service(NULL, &record), EINVAL);
	assert_errno(rai_addrinfo_service(list, NULL), EINVAL);
	assert_errno(rai_addrinfo_service(list, &record), ENOENT);
	rdma_freeaddrinfo(list);
}

static void test_srv_record_of_a_result_that_has_none_says_enoent(void **state)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SRV };
	struct rdma_addrinfo *list = NULL;
	struct rai_srv_record record;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("192.0.2.1", NULL, NULL, &list), 0);
	assert_errno(rai_addrinfo_srv(NULL, &record), EINVAL);
	assert_errno(rai_addrinfo_srv(list, NULL), EINVAL);
	assert_errno(rai_addrinfo_srv(list, &record), ENOENT);
	rdma_freeaddrinfo(list);
	assert_errno(rdma_resolve_addrinfo(id, NULL, "nfs", &hints), EINVAL);
	assert_errno(rdma_resolve_addrinfo(id, "_nfs._tcp.dom", "nfs", &hints), EINVAL);
	assert_errno(rdma_resolve_addrinfo(id, "dom", "nfs.tcp", &hints), EINVAL);
}

/* Whichever comes first, there is one event. */
static void test_cancel_races_with_the_outcome_for_one_event(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	for (int i = 0; i < 2000 / API_SLOWER; i++) {
		assert_int_equal(rdma_resolve_addrinfo(id, "192.0.2.1", NULL, NULL), 0);
		assert_int_equal(rai_cancel(id), 0);
		event = get_event(channel);
		assert_true(event->status == 0 || event->status == -ECANCELED);
		rdma_ack_cm_event(event);
		assert_false(is_readable(channel->fd));
	}
}

static void test_stats_count_what_was_started_and_ended(void **state)
{
	struct rai_stats before, after;
	uint64_t first;

	(void)state;
	assert_errno(rai_get_stats(NULL, sizeof(before)), EINVAL);
	assert_errno(rai_get_stats(&before, 0), EINVAL);
	assert_int_equal(rai_get_stats(&before, sizeof(before)), 0);
	rdma_freeaddrinfo(resolve("192.0.2.1", NULL, NULL));
	assert_int_equal(rai_get_stats(&after, sizeof(after)), 0);
	assert_int_equal(after.started - before.started, 1);
	assert_int_equal(after.resolved - before.resolved, 1);
	assert_int_equal(after.outstanding, 0);
	assert_int_equal(rai_get_stats((struct rai_stats *)(void *)&first, sizeof(first)), 0);
	assert_int_equal(first, after.started);
}

/* ---- Synchronous ids ---- */

/* F2, F15: good and bad names, acked by the id itself. */
static void test_resolve_on_a_synchronous_id_waits_for_its_outcome(void **state)
{
	struct rdma_addrinfo *list;
	struct rdma_cm_id *sync;

	(void)state;
	assert_int_equal(rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP), 0);
	use_hosts_only(sync);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(rdma_resolve_addrinfo(sync, "192.0.2.1", "7471", NULL), 0);
		assert_int_equal(sync->event->event, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
		assert_int_equal(rdma_query_addrinfo(sync, &list), 0);
		rdma_freeaddrinfo(list);
		assert_errno(rdma_resolve_addrinfo(sync, "no-such-host.invalid", NULL, NULL), ENOENT);
		assert_int_equal(sync->event->status, -ENOENT);
	}
	assert_int_equal(rdma_destroy_id(sync), 0);
}

/* ---- Without an id ---- */

static void test_getaddrinfo_gives_a_list_or_an_eai_code(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST }, *list = NULL;

	(void)state;
	assert_int_equal(rdma_getaddrinfo("192.0.2.1", "7471", &hints, &list), 0);
	assert_int_equal(list->ai_family, AF_INET);
	rdma_freeaddrinfo(list);
	list = NULL;
	assert_int_equal(rdma_getaddrinfo("192.0.2.1", "no-such-service", NULL, &list), EAI_SERVICE);
	assert_null(list);
}

static void test_getaddrinfo_refuses_what_resolve_refuses(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA | RAI_DNS }, *list = NULL;

	(void)state;
	assert_errno(rdma_getaddrinfo(NULL, NULL, NULL, &list), EINVAL);
	assert_errno(rdma_getaddrinfo("192.0.2.1", NULL, NULL, NULL), EINVAL);
	assert_errno(rdma_getaddrinfo(NULL, "lustre", &hints, &list), ENOTSUP);
	assert_null(list);
}

static void test_getaddrinfo_of_a_service_without_ports_says_why(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *list = NULL;

	(void)state;
	if (!access("/dev/infiniband", F_OK))
		skip();
	assert_errno(rdma_getaddrinfo(NULL, "lustre", &hints, &list), ENODEV);
	assert_null(list);
}

/* ---- F18: signals at 1 kHz without SA_RESTART across all calls ---- */

static atomic_int ticks;

static void on_tick(int sig)
{
	(void)sig;
	atomic_fetch_add(&ticks, 1);
}

static void tick(long us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* F18: nothing but rdma_get_cm_event() and the calls that block by definition says EINTR; after it all goes on. */
static void test_calls_under_signals_say_eintr_only_where_documented(void **state)
{
	struct sigaction action = { .sa_handler = on_tick };
	struct rdma_addrinfo *list;
	struct rdma_cm_event *event;
	struct rdma_cm_id *sync;
	int ret;

	(void)state;
	assert_int_equal(rdma_create_id(NULL, &sync, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	tick(1000);
	while (atomic_load(&ticks) < 300 / API_SLOWER) {
		struct rdma_event_channel *other = rdma_create_event_channel();
		struct rdma_cm_id *mine;

		assert_non_null(other);
		assert_int_equal(rdma_create_id(other, &mine, NULL, RDMA_PS_TCP), 0);
		assert_int_equal(rdma_resolve_addrinfo(mine, "192.0.2.1", "7471", NULL), 0);
		while ((ret = rdma_get_cm_event(other, &event)))
			assert_int_equal(errno, EINTR);
		assert_int_equal(rdma_query_addrinfo(mine, &list), 0);
		rdma_freeaddrinfo(list);
		assert_int_equal(rdma_ack_cm_event(event), 0);
		assert_int_equal(rdma_write_cm_event(mine, RDMA_CM_EVENT_USER, 0, 0), 0);
		assert_int_equal(rdma_migrate_id(mine, channel), 0);
		assert_int_equal(rdma_destroy_id(mine), 0);
		rdma_destroy_event_channel(other);

		assert_int_equal(rdma_getaddrinfo("192.0.2.1", "7471", NULL, &list), 0);
		rdma_freeaddrinfo(list);
		while ((ret = rdma_resolve_addrinfo(sync, "192.0.2.1", NULL, NULL)))
			assert_int_equal(errno, EINTR);
	}
	tick(0);
	assert_int_equal(rdma_destroy_id(sync), 0);
	signal(SIGALRM, SIG_DFL);
}

/* ---- F3 ---- */

enum { ROUNDS = 100000 / API_SLOWER };

static atomic_bool stop;

static void *take_query_ack(void *arg)
{
	struct rdma_addrinfo *list;
	struct rdma_cm_event *event;

	(void)arg;
	while (!atomic_load(&stop)) {
		if (rdma_get_cm_event(channel, &event)) {
			sched_yield();
			continue;
		}
		if (!rdma_query_addrinfo(event->id, &list))
			rdma_freeaddrinfo(list);
		rdma_ack_cm_event(event);
	}
	return NULL;
}

/* F3: one thread queries the result while another resolves and destroys. */
static void test_query_beside_resolve_and_destroy_is_defined(void **state)
{
	pthread_t reader;

	(void)state;
	set_nonblocking(channel->fd);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&reader, NULL, take_query_ack, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		if (rdma_resolve_addrinfo(id, "192.0.2.1", "7471", NULL))
			assert_int_equal(errno, EBUSY);
		if (i % 16 == 0) {
			assert_int_equal(rdma_destroy_id(id), 0);
			assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
		}
	}
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
}

/* With neither node nor service the hints are the answer, as they are: by both calls the same. */
static void assert_hints_come_back(const struct rdma_addrinfo *hints, const struct rdma_addrinfo *list)
{
	assert_null(list->ai_next);
	assert_int_equal(list->ai_flags, hints->ai_flags);
	if (hints->ai_family)
		assert_int_equal(list->ai_family, hints->ai_family);
	if (hints->ai_qp_type)
		assert_int_equal(list->ai_qp_type, hints->ai_qp_type);
	if (hints->ai_port_space)
		assert_int_equal(list->ai_port_space, hints->ai_port_space);
	assert_int_equal(list->ai_dst_len, hints->ai_dst_len);
	assert_int_equal(list->ai_src_len, hints->ai_src_len);
	if (hints->ai_dst_len)
		assert_memory_equal(list->ai_dst_addr, hints->ai_dst_addr, hints->ai_dst_len);
	if (hints->ai_src_len)
		assert_memory_equal(list->ai_src_addr, hints->ai_src_addr, hints->ai_src_len);
}

static void test_resolve_without_node_and_service_gives_what_the_hints_hold(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7471) }, from = { .sin_family = AF_INET };
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_sid = htobe64(0x1234), .sib_sid_mask = htobe64(UINT64_MAX) };
	const struct rdma_addrinfo rows[] = {
		{ .ai_family = AF_INET, .ai_dst_addr = (void *)&to, .ai_dst_len = sizeof(to) },
		{ .ai_dst_addr = (void *)&to, .ai_dst_len = sizeof(to), .ai_src_addr = (void *)&from,
		  .ai_src_len = sizeof(from), .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_UDP },
		{ .ai_flags = RAI_PASSIVE, .ai_src_addr = (void *)&from, .ai_src_len = sizeof(from) },
		{ .ai_flags = RAI_PASSIVE, .ai_dst_addr = (void *)&to, .ai_dst_len = sizeof(to) },
		{ .ai_family = AF_IB, .ai_dst_addr = (void *)&ib, .ai_dst_len = sizeof(ib) },
		{ .ai_family = AF_INET6 },
		{ .ai_qp_type = IBV_QPT_RC },
	};
	struct rdma_addrinfo *list;

	(void)state;
	inet_pton(AF_INET, "192.0.2.7", &to.sin_addr);
	inet_pton(AF_INET, "192.0.2.8", &from.sin_addr);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		list = resolve(NULL, NULL, &rows[i]);
		assert_hints_come_back(&rows[i], list);
		rdma_freeaddrinfo(list);
		assert_int_equal(rdma_getaddrinfo(NULL, NULL, &rows[i], &list), 0);
		assert_hints_come_back(&rows[i], list);
		rdma_freeaddrinfo(list);
	}
}

static void test_resolve_hints_whose_destination_is_none_are_refused(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct rdma_addrinfo hints = { .ai_dst_addr = (void *)&to, .ai_dst_len = 4 }, *list = NULL;

	(void)state;
	assert_errno(rdma_resolve_addrinfo(id, NULL, NULL, &hints), EINVAL);
	assert_errno(rdma_getaddrinfo(NULL, NULL, &hints, &list), EINVAL);
	hints = (struct rdma_addrinfo){ .ai_dst_len = sizeof(to) };
	assert_errno(rdma_resolve_addrinfo(id, NULL, NULL, &hints), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_resolve_number_gives_one_filled_result),
		API_TEST(test_resolve_without_node_and_service_gives_what_the_hints_hold),
		API_TEST(test_resolve_hints_whose_destination_is_none_are_refused),
		API_TEST(test_resolve_gives_the_family_as_asked),
		API_TEST(test_resolve_gid_gives_an_ib_address),
		API_TEST(test_resolve_passive_gives_the_wildcards_as_source),
		API_TEST(test_getaddrinfo_refused_gives_getaddrinfos_code),
		API_TEST(test_resolve_refused_at_once_brings_no_event),
		API_TEST(test_resolve_unknown_host_is_an_event_with_negative_status),
		API_TEST(test_resolve_failure_of_the_longest_name_tells_its_reason),
		API_TEST(test_resolve_unknown_service_is_an_event),
		API_TEST(test_resolve_is_busy_until_delivered),
		API_TEST(test_query_refuses_null_and_says_enoent_for_nothing),
		API_TEST(test_service_of_a_result_that_has_none_says_enoent),
		API_TEST(test_srv_record_of_a_result_that_has_none_says_enoent),
		API_TEST(test_cancel_without_resolution_says_enoent),
		API_TEST(test_cancel_races_with_the_outcome_for_one_event),
		API_TEST(test_stats_count_what_was_started_and_ended),
		API_TEST(test_resolve_on_a_synchronous_id_waits_for_its_outcome),
		cmocka_unit_test(test_getaddrinfo_gives_a_list_or_an_eai_code),
		cmocka_unit_test(test_getaddrinfo_refuses_what_resolve_refuses),
		cmocka_unit_test(test_getaddrinfo_of_a_service_without_ports_says_why),
		API_TEST(test_calls_under_signals_say_eintr_only_where_documented),
		API_TEST(test_query_beside_resolve_and_destroy_is_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
