/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows, through the engine, where a device tells that something happened to its ports. */
#include "resolve/ports.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"
#include "base/container.h"
#include "fake_alerts.h"
#include "fake_dns.h"
#include "fake_sa.h"
#include "fake_time.h"
#include "resolve/publish.h"
#include "test.h"

static struct rcm_asker asker, other;
static struct rcm_question question;
static struct rcm_sa_ops sa;
static atomic_uint sets, told, over, pkeys;

#define RECORD(n) { .gid = { { 0xfe, 0x80, [15] = n } }, .pkey = 0x8001, .id = 1, .name = "storage" }
#define FOUND(n) .port = 1, .name = "storage", .count = 1, .total = 1, .services = { RECORD(n) }
#define SCRIPT(...) \
	static const struct rcm_fake_sa_step script[] = { __VA_ARGS__ }; \
	rcm_fake_sa_script(script, sizeof(script) / sizeof(*script))

/* ---- An SA that takes what is published, and has it of nobody who asks ---- */

struct errand {
	struct rcm_timer timer;
	struct rcm_loop *loop;
	rcm_sa_done_fn *done;
	void *arg;
	int status;
};

static void errand_run(struct rcm_timer *timer)
{
	struct errand errand = *rcm_container(timer, struct errand, timer);

	free(rcm_container(timer, struct errand, timer));
	errand.done(errand.arg, &(struct rcm_sa_answer){ .status = errand.status });
}

static int errand_start(int status, rcm_sa_done_fn *done, void *arg, struct rcm_sa_query **ret_query)
{
	struct errand *errand = calloc(1, sizeof(*errand));

	assert_non_null(errand);
	*errand = (struct errand){ .done = done, .arg = arg, .status = status };
	rcm_timer_start(&rcm_engine_the()->loop, &errand->timer, 0, errand_run);
	*ret_query = NULL;
	return 0;
}

static int sa_publish(struct rcm_sa *client, const struct rcm_sa_publication *publication, rcm_sa_done_fn *done,
		      void *arg, struct rcm_sa_query **ret_query)
{
	(void)client;
	sets += !publication->remove;
	return errand_start(0, done, arg, ret_query);
}

static int sa_service(struct rcm_sa *client, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done, void *arg,
		      struct rcm_sa_query **ret_query)
{
	if (!query->by_gid)
		return rcm_fake_sa.service(client, query, done, arg, ret_query);
	return errand_start(-ENOENT, done, arg, ret_query);
}

static int look(const struct rcm_gid *gid, bool with_pkeys, struct rcm_publish_port *ret_port)
{
	*ret_port = (struct rcm_publish_port){
		.gid = *gid, .active = true, .lid = 3, .sm_lid = 1, .pkey = 0xffff,
		.pkeys = with_pkeys ? pkeys : ret_port->pkeys,
	};
	return 0;
}

static void publication_told(void *arg, const struct rcm_service_outcome *outcome)
{
	(void)arg;
	(void)outcome;
	told++;
}

static void publication_over(void *arg)
{
	(void)arg;
	over++;
}

/* ---- */

static void nothing_run(struct rcm_engine *engine, struct rcm_errand *errand)
{
	(void)engine;
	(void)errand;
}

/* Has the loop turn, and see what time it is. */
static struct rcm_errand nothing = { .run = nothing_run };

static int begin(void **state)
{
	const struct rcm_sa_port port = { .device = "mlx5_0", .number = 1, .infiniband = true, .active = true,
					  .gid = rcm_fake_sa_gid(1) };

	(void)state;
	question = (struct rcm_question){
		.service = "storage", .hints.flags = RAI_SA | RAI_NOROUTE, .port = rcm_fake_sa_gid(1),
		.deadline_ms = RCM_DEADLINE_DEFAULT,
	};
	rcm_fake_sa_set_ports(&port, 1);
	sets = told = over = 0;
	rcm_cache_clear(&rcm_engine_the()->cache);
	/* The events of the test before are of another time. */
	rcm_fake_time_freeze();
	rcm_fake_time_advance(600 * RCM_NS_PER_S);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_asker_done(&other);
	return !rcm_fake_sa_verify();
}

static void wait_for(const atomic_uint *value, unsigned count)
{
	while (*value != count)
		sched_yield();
}

/* The last byte of the first result's GID. */
static unsigned gid_of(const struct rcm_asker *of)
{
	return rcm_answer_first(of->outcome.answer)->ib.sib_addr.sib_raw[15];
}

static unsigned ask(void)
{
	assert_int_equal(rcm_asker_ask(&asker, &question), 0);
	return gid_of(&asker);
}

static void tell(enum rcm_alert alert)
{
	rcm_fake_alerts_wait_open(1);
	rcm_fake_alerts_tell("mlx5_0", alert);
}

/* The engine's thread has taken it when nothing is kept any more. */
static void tell_and_forget(enum rcm_alert alert)
{
	tell(alert);
	while (rcm_cache_count(&rcm_engine_the()->cache))
		sched_yield();
}

/* No look would have shown it. */
static void test_ports_that_changed_end_what_was_kept_at_once(void **state)
{
	(void)state;
	SCRIPT({ FOUND(5) }, { FOUND(6) });
	assert_int_equal(ask(), 5);
	assert_int_equal(ask(), 5);
	tell_and_forget(RCM_ALERT_PORT);
	assert_int_equal(ask(), 6);
}

/* It may have been asked of an SM that isn't there any more. */
static void test_ports_that_changed_meanwhile_keep_an_answer_from_being_shared_and_kept(void **state)
{
	(void)state;
	SCRIPT({ .ms = 50, FOUND(6) }, { .port = 1, .name = "another", .count = 1, .total = 1, .services = { RECORD(5) } },
	       { FOUND(7) });
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	question.service = "another";
	assert_int_equal(ask(), 5);
	question.service = "storage";
	tell_and_forget(RCM_ALERT_PORT);
	assert_int_equal(ask(), 7);
	rcm_fake_time_advance(RCM_NS_PER_S);
	rcm_engine_post_errand(rcm_engine_the(), &nothing);
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(gid_of(&other), 6);
	assert_int_equal(ask(), 7);
}

/* The engine has seen all that was asked before. */
static void ask_a_name(void)
{
	struct rcm_question name = rcm_question_name("marker.example");
	struct rcm_asker one = { 0 };

	assert_int_equal(rcm_asker_ask(&one, &name), 0);
	rcm_asker_done(&one);
}

/* What happens to ports changes no names, and what names mean no services. */
static void test_lookups_of_names_are_shared_whatever_happens_to_ports(void **state)
{
	struct rcm_question name = rcm_question_name("shared.hold.example");

	(void)state;
	SCRIPT({ FOUND(5) });
	rcm_fake_dns_reset();
	assert_int_equal(rcm_asker_start(&other, &name), 0);
	rcm_fake_dns_wait_started(1);
	assert_int_equal(ask(), 5);
	tell_and_forget(RCM_ALERT_PORT);
	assert_int_equal(rcm_asker_start(&asker, &name), 0);
	ask_a_name();
	assert_int_equal(rcm_fake_dns_started(), 2);
	rcm_fake_dns_release("shared.hold.example");
	assert_true(rcm_asker_wait(&other) && rcm_asker_wait(&asker));
}

static void test_lookups_of_services_are_shared_whatever_names_mean(void **state)
{
	(void)state;
	SCRIPT({ .ms = 50, FOUND(6) });
	assert_int_equal(rcm_asker_start(&other, &question), 0);
	rcm_fake_sa_wait_asked(1);
	rcm_fake_dns_change();
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	ask_a_name();
	assert_int_equal(rcm_fake_sa_asked(), 1);
	rcm_fake_time_advance(RCM_NS_PER_S);
	rcm_engine_post_errand(rcm_engine_the(), &nothing);
	assert_true(rcm_asker_wait(&other) && rcm_asker_wait(&asker));
	assert_int_equal(gid_of(&other), 6);
	assert_int_equal(gid_of(&asker), 6);
}

/* Whether it is the one that questions wait at is for the client to see. */
static void test_ports_that_changed_are_looked_at_where_questions_wait(void **state)
{
	unsigned before = rcm_fake_sa_client_looks();

	(void)state;
	SCRIPT({ FOUND(5) });
	assert_int_equal(ask(), 5);
	tell_and_forget(RCM_ALERT_PORT);
	while (rcm_fake_sa_client_looks() == before)
		sched_yield();
}

static struct rcm_publication *publish(void)
{
	const struct rcm_service_offer offer = { .port = rcm_fake_sa_gid(1), .id = 7, .lease_s = 120 };
	struct rcm_publication *publication;

	assert_int_equal(rcm_publish_start(&offer, publication_told, publication_over, NULL, &publication), 0);
	wait_for(&told, 1);
	assert_int_equal(sets, 1);
	return publication;
}

static void test_ports_whose_sm_wants_it_have_all_registered_again_at_once(void **state)
{
	struct rcm_publication *publication = publish();

	(void)state;
	tell(RCM_ALERT_REREGISTER);
	wait_for(&sets, 2);
	rcm_publish_stop(publication);
	wait_for(&over, 1);
}

static void test_ports_whose_pkeys_changed_have_all_registered_again_at_once(void **state)
{
	struct rcm_publication *publication = publish();

	(void)state;
	pkeys++;
	tell(RCM_ALERT_PORT);
	wait_for(&sets, 2);
	rcm_publish_stop(publication);
	wait_for(&over, 1);
}

/* In a process that keeps no answers of the SA there is none to drop; what is
 * published is reason enough to be told. */
static void test_ports_that_changed_leave_names_that_are_kept(void **state)
{
	struct rcm_publication *publication = publish();
	struct rcm_question name = rcm_question_name("kept.ttl60.example");
	unsigned before = rcm_fake_sa_client_looks();

	(void)state;
	SCRIPT({ FOUND(5) });
	rcm_fake_dns_reset();
	assert_int_equal(ask(), 5);
	assert_int_equal(rcm_asker_ask(&other, &name), 0);
	tell(RCM_ALERT_PORT);
	while (rcm_fake_sa_client_looks() == before)
		sched_yield();
	assert_int_equal(rcm_asker_ask(&other, &name), 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	rcm_publish_stop(publication);
	wait_for(&over, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(test_ports_that_changed_end_what_was_kept_at_once),
		T(test_ports_that_changed_meanwhile_keep_an_answer_from_being_shared_and_kept),
		T(test_lookups_of_names_are_shared_whatever_happens_to_ports),
		T(test_lookups_of_services_are_shared_whatever_names_mean),
		T(test_ports_that_changed_are_looked_at_where_questions_wait),
		T(test_ports_whose_sm_wants_it_have_all_registered_again_at_once),
		T(test_ports_whose_pkeys_changed_have_all_registered_again_at_once),
	};
	const struct CMUnitTest unkept[] = { T(test_ports_that_changed_leave_names_that_are_kept) };
	int status, ret;
	pid_t pid;

	sa = rcm_fake_sa;
	sa.service = sa_service;
	sa.publish = sa_publish;
	rcm_fake_time_use();
	rcm_engine_use(&(struct rcm_backends){
		.dns = &rcm_fake_dns, .sa = &sa, .sa_ports = rcm_fake_sa_ports, .port_look = look, .alerts = &rcm_fake_alerts,
	});
	/* The environment is read once. */
	pid = fork();
	if (!pid)
		return cmocka_run_group_tests(unkept, NULL, NULL);
	setenv("RAI_SA_KEEP_MS", "3600000", 1);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	return ret || waitpid(pid, &status, 0) != pid || status;
}
