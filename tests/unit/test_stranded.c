/* SPDX-License-Identifier: BSD-2-Clause */
/* What is published by an engine whose descriptors the program closes: another one goes on with it. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/container.h"
#include "resolve/publication.h"
#include "resolve/publish.h"
#include "resolve/resolver.h"
#include "test.h"

static struct rcm_publication *publication;
static atomic_uint sets, removes, told, over;
static atomic_bool silent, there;
static atomic_int status;
static char text[RCM_TEXT_MAX];		/* written before told is */

/* ---- An SA of one record, whose answers come in the loop's next turn, or never ---- */

struct answer {
	struct rcm_timer timer;
	rcm_sa_done_fn *done;
	void *arg;
	int status;
	unsigned count;
};

static void answer_give(struct rcm_timer *timer)
{
	const struct answer answer = *rcm_container(timer, struct answer, timer);
	static const struct rcm_sa_service_record record;

	free(rcm_container(timer, struct answer, timer));
	answer.done(answer.arg, &(struct rcm_sa_answer){
		.status = answer.status, .count = answer.count, .services = &record,
	});
}

static int answer_start(bool found, rcm_sa_done_fn *done, void *arg, struct rcm_sa_query **ret_query)
{
	struct answer *answer;

	*ret_query = NULL;
	if (silent)
		return 0;
	answer = calloc(1, sizeof(*answer));
	assert_non_null(answer);
	*answer = (struct answer){ .done = done, .arg = arg, .status = found ? 0 : -ENOENT, .count = found };
	rcm_timer_start(&rcm_engine_the()->loop, &answer->timer, 0, answer_give);
	return 0;
}

static int sa_open(struct rcm_loop *loop, struct rcm_sa **ret_sa)
{
	(void)loop;
	*ret_sa = NULL;
	return 0;
}

static int sa_publish(struct rcm_sa *client, const struct rcm_sa_publication *given, rcm_sa_done_fn *done, void *arg,
		      struct rcm_sa_query **ret_query)
{
	(void)client;
	if (!silent) {
		there = !given->remove;
		given->remove ? removes++ : sets++;
	}
	return answer_start(true, done, arg, ret_query);
}

static int sa_service(struct rcm_sa *client, const struct rcm_sa_service_query *query, rcm_sa_done_fn *done, void *arg,
		      struct rcm_sa_query **ret_query)
{
	(void)client;
	(void)query;
	return answer_start(there, done, arg, ret_query);
}

static void sa_stats(struct rcm_sa *client, struct rcm_sa_stats *ret_stats)
{
	(void)client;
	*ret_stats = (struct rcm_sa_stats){ 0 };
}

static const struct rcm_sa_ops sa = {
	.open = sa_open, .publish = sa_publish, .service = sa_service, .stats = sa_stats,
};

static int look(const struct rcm_gid *gid, bool pkeys, struct rcm_publish_port *ret_port)
{
	(void)pkeys;
	*ret_port = (struct rcm_publish_port){ .gid = *gid, .active = true, .lid = 3, .sm_lid = 1, .pkey = 0xffff };
	return 0;
}

static int no_ports(struct rcm_sa_port *ports, unsigned max)
{
	(void)ports;
	(void)max;
	return 0;
}

/* ---- */

static int start_engine(void)
{
	struct rcm_engine *engine;

	return rcm_resolver_start(&engine);
}

static void publication_told(void *arg, const struct rcm_service_outcome *outcome)
{
	(void)arg;
	status = outcome->status;
	snprintf(text, sizeof(text), "%s", outcome->text);
	told++;
}

static void publication_over(void *arg)
{
	(void)arg;
	over++;
}

static void wait_for(const atomic_uint *value, unsigned count)
{
	while (*value != count)
		sched_yield();
}

static int begin(void **state)
{
	const struct rcm_service_offer offer = { .port.raw = { 0xfe, 0x80, [15] = 1 }, .id = 7, .lease_s = 120 };

	(void)state;
	alarm(60);
	sets = removes = told = over = 0;
	silent = there = false;
	assert_int_equal(rcm_publish_start(&offer, publication_told, publication_over, NULL, &publication), 0);
	wait_for(&told, 1);
	assert_int_equal(status, 0);
	return 0;
}

static void close_all(void)
{
	closefrom(STDERR_FILENO + 1);
}

/* Nothing can be opened in the place of what is closed, from before that on. */
static void open_no_more(bool none)
{
	static struct rlimit before;
	struct rlimit few;

	if (!before.rlim_max)
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	if (none)
		few.rlim_cur = STDERR_FILENO + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void publication_stop(unsigned removed)
{
	rcm_publish_stop(publication);
	wait_for(&over, 1);
	assert_int_equal(removes, removed);
}

/* No call of the program's is needed; and it has no word to say, as the record was there all the time. */
static void test_publication_is_renewed_by_the_engine_that_takes_a_lost_ones_place(void **state)
{
	struct rcm_engine *lost = rcm_engine_the();
	struct stat st;
	int own;

	(void)state;
	close_all();
	own = memfd_create("own", MFD_CLOEXEC);
	wait_for(&sets, 2);
	assert_ptr_not_equal(rcm_engine_the(), lost);
	publication_stop(1);
	assert_int_equal(told, 1);
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static void test_publication_that_a_lost_engine_had_under_way_is_registered_by_another(void **state)
{
	const struct rcm_service_offer offer = { .port.raw = { 0xfe, 0x80, [15] = 1 }, .id = 8, .lease_s = 120 };
	struct rcm_publication *first = publication;

	(void)state;
	close_all();
	assert_int_equal(rcm_publish_start(&offer, publication_told, publication_over, NULL, &publication), 0);
	wait_for(&told, 2);
	assert_int_equal(status, 0);
	rcm_publish_stop(first);
	rcm_publish_stop(publication);
	wait_for(&over, 2);
}

static void test_publication_that_is_stopped_at_a_lost_engine_is_removed_by_another(void **state)
{
	(void)state;
	close_all();
	publication_stop(1);
}

/* The engine was lost between the look at whose it is, and the word to it. */
static void test_publication_whose_stop_comes_to_a_lost_engine_is_removed_by_the_one_that_has_it(void **state)
{
	struct rcm_engine *lost = rcm_engine_the();

	(void)state;
	close_all();
	wait_for(&sets, 2);
	rcm_engine_post_errand(lost, &publication->stop);
	wait_for(&over, 1);
	assert_int_equal(removes, 1);
}

/* Stopped before the engine was lost, and not removed by then. */
static void test_publication_whose_removal_a_lost_engine_had_under_way_is_removed_by_another(void **state)
{
	(void)state;
	silent = true;
	rcm_publish_stop(publication);
	close_all();
	silent = false;
	wait_for(&over, 1);
	assert_int_equal(removes, 1);
	assert_int_equal(told, 1);
}

static void test_publication_without_another_engine_is_told_so_once_and_registered_by_the_next_that_is(void **state)
{
	(void)state;
	open_no_more(true);
	close_all();
	wait_for(&told, 2);
	assert_int_equal(status, -EMFILE);
	assert_string_equal(text, "not renewed any more: the program closed the library's descriptors, and no others "
			    "are to be had: Too many open files");
	assert_int_equal(start_engine(), -EMFILE);
	assert_int_equal(start_engine(), -EMFILE);
	assert_int_equal(told, 2);
	open_no_more(false);
	assert_int_equal(start_engine(), 0);
	wait_for(&told, 3);
	assert_int_equal(status, 0);
	publication_stop(1);
}

static void test_publication_without_another_engine_ends_where_it_is_stopped(void **state)
{
	(void)state;
	open_no_more(true);
	close_all();
	wait_for(&told, 2);
	publication_stop(0);
	open_no_more(false);
	assert_int_equal(start_engine(), 0);
	assert_int_equal(over, 1);
}

static void test_publication_without_another_engine_is_not_the_childs_of_a_fork(void **state)
{
	pid_t pid;
	int ended;

	(void)state;
	open_no_more(true);
	close_all();
	wait_for(&told, 2);
	open_no_more(false);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		rcm_publish_forsake(publication);
		_exit(rcm_publication_any_stranded() || start_engine() || rcm_engine_the()->publisher.loop);
	}
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	assert_int_equal(ended, 0);
	assert_int_equal(start_engine(), 0);
	wait_for(&told, 3);
	publication_stop(1);
}

/* As between the loss of an engine and the next that is started. */
static void test_publication_whose_stop_is_in_a_lost_engines_box_goes_with_it_in_the_child_of_a_fork(void **state)
{
	struct rcm_engine *lost;
	pid_t pid;
	int ended;

	(void)state;
	open_no_more(true);
	close_all();
	wait_for(&told, 2);
	lost = rcm_engine_the();
	atomic_store(&lost->life, RCM_ENGINE_LOST);
	publication->stopped = true;
	rcm_lock_acquire(&lost->box);
	STAILQ_INSERT_TAIL(&lost->errands, &publication->stop, entry);
	rcm_lock_release(&lost->box);
	open_no_more(false);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		rcm_resolver_leave_parent();
		_exit(rcm_publication_any_stranded() || start_engine() || rcm_engine_the()->publisher.loop);
	}
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	assert_int_equal(ended, 0);
	assert_int_equal(start_engine(), 0);
	wait_for(&over, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		T(test_publication_is_renewed_by_the_engine_that_takes_a_lost_ones_place),
		T(test_publication_that_a_lost_engine_had_under_way_is_registered_by_another),
		T(test_publication_that_is_stopped_at_a_lost_engine_is_removed_by_another),
		T(test_publication_whose_stop_comes_to_a_lost_engine_is_removed_by_the_one_that_has_it),
		T(test_publication_whose_removal_a_lost_engine_had_under_way_is_removed_by_another),
		T(test_publication_without_another_engine_is_told_so_once_and_registered_by_the_next_that_is),
		T(test_publication_without_another_engine_ends_where_it_is_stopped),
		T(test_publication_without_another_engine_is_not_the_childs_of_a_fork),
		T(test_publication_whose_stop_is_in_a_lost_engines_box_goes_with_it_in_the_child_of_a_fork),
	};

	rcm_engine_use(&(struct rcm_backends){ .sa = &sa, .sa_ports = no_ports, .port_look = look });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
