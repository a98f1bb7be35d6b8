/* SPDX-License-Identifier: BSD-2-Clause */
/* Who does the engine's work: its thread, or the caller whose work alone it is. */
#include "resolve/helm.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "asker.h"
#include "fake_sa.h"
#include "test.h"

enum { DESCRIPTOR = 12345 };

static struct rcm_asker asker, other;
static struct rcm_sa_ops ops;
enum { ONE = 1, TWO };			/* parties */
static bool at_hand;
static pthread_t asked_by;
static bool blocked;			/* signals, where it was asked */
static unsigned given_back, reads;

static int service(struct rcm_sa *sa, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done, void *arg,
		   struct rcm_sa_query **ret_query)
{
	sigset_t signals;

	asked_by = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &signals);
	blocked = sigismember(&signals, SIGUSR1);
	return rcm_fake_sa.service(sa, query, done, arg, ret_query);
}

static bool is_at_hand(struct rcm_sa *sa, const struct rcm_gid *port)
{
	(void)sa;
	(void)port;
	return at_hand;
}

static int lend(struct rcm_sa *sa)
{
	(void)sa;
	return DESCRIPTOR;
}

static void take_back(struct rcm_sa *sa, bool with_reading)
{
	(void)sa;
	given_back++;
	reads += with_reading;
}

/* In its wait, with the gate free. */
static void await_sleep_of_the_engine(void)
{
	struct rcm_engine *engine = rcm_engine_the();

	while (!atomic_load(&engine->asleep) || !atomic_load(&engine->waits))
		sched_yield();
	rcm_lock_acquire(&engine->gate);
	rcm_lock_release(&engine->gate);
}

static void start(struct rcm_asker *of, unsigned party, const char *service_id, uint64_t number)
{
	const struct rcm_question question = {
		.service = service_id, .hints = { .flags = RAI_SA | RAI_NOROUTE, .by_id = true, .service_id = number },
		.port = rcm_fake_sa_gid(1), .party = party, .deadline_ms = RCM_DEADLINE_DEFAULT,
	};

	assert_int_equal(rcm_asker_start(of, &question), 0);
}

#define NEVER(number) { .port = 1, .id = number, .ms = RCM_FAKE_SA_NEVER }
#define NONE(number) { .port = 1, .id = number, .status = -ENOENT }

static int setup(void **state)
{
	static const struct rcm_fake_sa_step first[] = { NONE(9) };

	(void)state;
	at_hand = true;
	rcm_fake_sa_script(first, 1);
	start(&asker, 0, "9", 9);
	assert_true(rcm_asker_wait(&asker));
	await_sleep_of_the_engine();
	given_back = reads = 0;
	return 0;
}

static void give_up(struct rcm_asker *of)
{
	rcm_request_cancel(of->request);
	assert_true(rcm_asker_wait(of));
	rcm_asker_done(of);
}

static void test_helm_asks_on_the_thread_of_a_party_that_has_all_that_is_under_way(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { NEVER(1), NEVER(2) };

	(void)state;
	rcm_fake_sa_script(steps, 2);
	start(&asker, ONE, "1", 1);
	assert_int_equal(rcm_fake_sa_asked(), 1);
	assert_true(pthread_equal(asked_by, pthread_self()));
	assert_true(blocked);
	await_sleep_of_the_engine();
	start(&other, ONE, "2", 2);
	assert_int_equal(rcm_fake_sa_asked(), 2);
	assert_true(pthread_equal(asked_by, pthread_self()));
	give_up(&other);
	give_up(&asker);
	assert_true(rcm_fake_sa_verify());
}

static void test_helm_leaves_what_is_asked_to_the_engine_where_another_party_has_something_under_way(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { NEVER(1), NEVER(2) };

	(void)state;
	rcm_fake_sa_script(steps, 2);
	start(&asker, ONE, "1", 1);
	await_sleep_of_the_engine();
	assert_int_equal(rcm_helm_borrow(ONE), DESCRIPTOR);
	start(&other, TWO, "2", 2);
	rcm_fake_sa_wait_asked(2);
	assert_false(pthread_equal(asked_by, pthread_self()));
	await_sleep_of_the_engine();
	assert_int_equal(given_back, 1);
	assert_int_equal(rcm_helm_borrow(ONE), -EAGAIN);
	assert_int_equal(rcm_helm_borrow(TWO), -EAGAIN);
	give_up(&other);
	give_up(&asker);
	assert_true(rcm_fake_sa_verify());
}

static void test_helm_leaves_what_takes_a_look_at_files_to_the_engine(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { NEVER(1) };

	(void)state;
	at_hand = false;
	rcm_fake_sa_script(steps, 1);
	start(&asker, ONE, "1", 1);
	rcm_fake_sa_wait_asked(1);
	assert_false(pthread_equal(asked_by, pthread_self()));
	give_up(&asker);
	assert_true(rcm_fake_sa_verify());
}

static void test_helm_lends_answers_to_whom_they_are_for_and_reads_them_when_they_are_there(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { NEVER(1) };

	(void)state;
	assert_int_equal(rcm_helm_borrow(ONE), -EAGAIN);
	rcm_fake_sa_script(steps, 1);
	start(&asker, ONE, "1", 1);
	await_sleep_of_the_engine();
	assert_int_equal(rcm_helm_borrow(TWO), -EAGAIN);
	assert_int_equal(rcm_helm_borrow(ONE), DESCRIPTOR);
	rcm_helm_give_back(false);
	assert_int_equal(given_back, 1);
	assert_int_equal(reads, 0);
	assert_int_equal(rcm_helm_borrow(ONE), DESCRIPTOR);
	await_sleep_of_the_engine();
	rcm_helm_give_back(true);
	assert_int_equal(given_back, 2);
	assert_int_equal(reads, 1);
	give_up(&asker);
	assert_true(rcm_fake_sa_verify());
}

/* The first timer of an engine that sleeps for ever, and one that is due before all others. */
static void test_helm_wakes_the_engine_for_a_deadline_that_it_does_not_know(void **state)
{
	static const struct rcm_fake_sa_step steps[] = { NEVER(1) };
	const struct rcm_question question = {
		.service = "1", .hints = { .flags = RAI_SA | RAI_NOROUTE, .by_id = true, .service_id = 1 },
		.port = rcm_fake_sa_gid(1), .party = ONE, .deadline_ms = 20,
	};

	(void)state;
	rcm_fake_sa_script(steps, 1);
	assert_int_equal(rcm_asker_start(&asker, &question), 0);
	assert_true(pthread_equal(asked_by, pthread_self()));
	assert_true(rcm_asker_wait(&asker));
	assert_int_equal(asker.outcome.status, -ETIMEDOUT);
	rcm_asker_done(&asker);
	assert_true(rcm_fake_sa_verify());
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_helm_asks_on_the_thread_of_a_party_that_has_all_that_is_under_way),
		TEST(test_helm_leaves_what_is_asked_to_the_engine_where_another_party_has_something_under_way),
		TEST(test_helm_leaves_what_takes_a_look_at_files_to_the_engine),
		TEST(test_helm_lends_answers_to_whom_they_are_for_and_reads_them_when_they_are_there),
		TEST(test_helm_wakes_the_engine_for_a_deadline_that_it_does_not_know),
	};

	ops = rcm_fake_sa;
	ops.service = service;
	ops.at_hand = is_at_hand;
	ops.lend = lend;
	ops.take_back = take_back;
	rcm_engine_use(&(struct rcm_backends){ .sa = &ops, .sa_ports = rcm_fake_sa_ports });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
