/* SPDX-License-Identifier: BSD-2-Clause */
/* The course of a request: what is answered on the caller's thread, what a changed configuration means, and its steps. */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addr/build.h"
#include "asker.h"
#include "fake_dns.h"
#include "resolve/engine.h"
#include "test.h"

static struct rcm_asker asker, other;

static int set_up(void **state)
{
	(void)state;
	rcm_fake_dns_reset();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rcm_asker_done(&asker);
	rcm_asker_done(&other);
	rcm_fake_dns_reading(false);
	rcm_fake_dns_reverse(false);
	rcm_fake_dns_services_ask(false);
	return rcm_fake_dns_under_way() != 0;
}

static unsigned threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* Asserts that the outcome is there when the call returns. */
static void ask_here(const char *node, const char *service, int status)
{
	struct rcm_question q = rcm_question_name(node);

	q.service = service;
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	assert_int_equal(rcm_asker_times(&asker), 1);
	assert_int_equal(asker.outcome.status, status);
	assert_null(asker.request);
}

/* Also where no thread could be had. First of all tests. */
static void test_course_of_a_number_needs_no_thread(void **state)
{
	unsigned before = threads();

	(void)state;
	ask_here("192.0.2.1", "7471", 0);
	assert_int_equal(asker.outcome.port, 7471);
	ask_here("2001:db8::1", NULL, 0);
	ask_here(NULL, "7471", 0);
	ask_here("192.0.2.1", "65536", -ENOENT);
	assert_string_equal(asker.outcome.text, "service 65536: no such service");
	assert_int_equal(threads(), before);
}

static void test_course_of_a_name_that_is_known_here_ends_in_the_call(void **state)
{
	struct rcm_question q = rcm_question_name("start.example");

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	ask_here("x.local.example", "http", 0);
	assert_int_equal(asker.outcome.port, 80);
	ask_here("x.local.example", "no-such-service", -ENOENT);
	assert_int_equal(rcm_fake_dns_started(), 1);
}

static void test_course_of_a_kept_answer_ends_in_the_call(void **state)
{
	struct rcm_question q = rcm_question_name("kept.ttl60.example");
	struct rai_stats before, after;

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	rcm_engine_stats(&before);
	ask_here("KEPT.ttl60.example", NULL, 0);
	rcm_engine_stats(&after);
	assert_int_equal(after.kept_hits, before.kept_hits + 1);
	assert_int_equal(after.resolved, before.resolved + 1);
	assert_int_equal(after.outstanding, 0);
	assert_int_equal(rcm_fake_dns_started(), 1);
	q.fresh = true;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static uint32_t address(unsigned index)
{
	struct rcm_question q = rcm_question_name("");
	struct rdma_addrinfo *list, *ai;
	uint32_t found;

	assert_int_equal(rcm_answer_list(asker.outcome.answer, &q.hints, 0, &list), 0);
	for (ai = list; index--; ai = ai->ai_next)
		;
	found = ntohl(((struct sockaddr_in *)ai->ai_dst_addr)->sin_addr.s_addr);
	rcm_addrinfo_free(list);
	return found;
}

/* routes and addresses of the host change more often than names do. */
static void test_course_of_a_kept_answer_has_the_order_of_today(void **state)
{
	struct rcm_question q = rcm_question_name("order.a3.ttl60.example");

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	assert_int_equal(address(0), 0x0a000001);
	rcm_fake_dns_reverse(true);
	ask_here("order.a3.ttl60.example", NULL, 0);
	assert_int_equal(address(0), 0x0a000003);
	assert_int_equal(address(2), 0x0a000001);
	rcm_fake_dns_reverse(false);
	ask_here("order.a3.ttl60.example", NULL, 0);
	assert_int_equal(address(0), 0x0a000001);
}

/* The engine looks at them first; one address has no order. */
static void test_course_of_a_kept_answer_waits_for_routes_that_changed(void **state)
{
	struct rcm_question q = rcm_question_name("ways.a2.ttl60.example");
	struct rcm_question one = rcm_question_name("ways.ttl60.example");

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	assert_int_equal(rcm_asker_ask(&asker, &one), 0);
	rcm_fake_dns_strange_ways(true);
	ask_here("ways.ttl60.example", NULL, 0);
	assert_false(rcm_fake_dns.knows_ways(NULL));
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	assert_true(rcm_fake_dns.knows_ways(NULL));
	ask_here("ways.a2.ttl60.example", NULL, 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

/* "live-a" asked at a dead server, and again after resolv.conf was set right. */
static void test_course_after_a_change_joins_no_lookup_from_before(void **state)
{
	struct rcm_question q = rcm_question_name("change.hold.example");

	(void)state;
	assert_int_equal(rcm_asker_start(&other, &q), 0);
	rcm_fake_dns_wait_started(1);
	rcm_fake_dns_change();
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_started(2);
	/* Each is answered by its own. */
	rcm_fake_dns_release("change.hold.example");
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(rcm_asker_times(&asker), 0);
	rcm_fake_dns_release("change.hold.example");
	assert_true(rcm_asker_wait(&asker));
}

/* the slow answer of before must not hide the new entry of the hosts file for its TTL. */
static void test_course_answer_from_before_a_change_is_not_kept(void **state)
{
	struct rcm_question q = rcm_question_name("old.ttl60.hold.example");

	(void)state;
	assert_int_equal(rcm_asker_start(&other, &q), 0);
	rcm_fake_dns_wait_started(1);
	rcm_fake_dns_change();
	rcm_fake_dns_release("old.ttl60.hold.example");
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(rcm_asker_start(&asker, &q), 0);
	rcm_fake_dns_wait_started(2);
	rcm_fake_dns_release("old.ttl60.hold.example");
	assert_true(rcm_asker_wait(&asker));
	/* That one counts. */
	ask_here("old.ttl60.hold.example", NULL, 0);
}

static void test_course_kept_answers_are_forgotten_at_a_change(void **state)
{
	struct rcm_question q = rcm_question_name("gone.ttl60.example");

	(void)state;
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	rcm_fake_dns_change();
	assert_int_equal(rcm_asker_ask(&asker, &q), 0);
	assert_int_equal(rcm_fake_dns_started(), 2);
}

static void start_reading(struct rcm_question *q)
{
	rcm_fake_dns_reading(true);
	assert_int_equal(rcm_asker_start(&other, q), 0);
	assert_int_equal(rcm_asker_times(&other), 0);
}

static void test_course_waits_for_files_that_are_being_read_and_a_number_does_not(void **state)
{
	struct rcm_question q = rcm_question_name("reading.local.example");

	(void)state;
	start_reading(&q);
	ask_here("192.0.2.1", "7471", 0);
	rcm_fake_dns_reading(false);
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(other.outcome.status, 0);
}

/* Each look is a system call. */
static void test_course_looks_at_the_host_s_files_once_a_request(void **state)
{
	static const char *const names[] = { "asked.example", "asked.ttl60.example", "asked.ttl60.example",
					     "here.local.example" };
	struct rcm_question q;

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		q = rcm_question_name(names[i]);
		q.service = "http";
		rcm_fake_dns_reset();
		assert_int_equal(rcm_asker_ask(&asker, &q), 0);
		rcm_asker_done(&asker);
		assert_int_equal(rcm_fake_dns_looks(), 1);
	}
}

static void test_course_that_waits_for_files_keeps_its_deadline_and_can_be_cancelled(void **state)
{
	struct rcm_question q = rcm_question_name("reading.example");

	(void)state;
	rcm_fake_dns_reading(true);
	q.deadline_ms = 20;
	assert_int_equal(rcm_asker_ask(&asker, &q), -ETIMEDOUT);
	q.deadline_ms = 0;
	start_reading(&q);
	rcm_request_cancel(other.request);
	assert_true(rcm_asker_wait(&other));
	assert_int_equal(other.outcome.status, -ECANCELED);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

/* the port was found in the turn in which the time was over. */
static void test_course_whose_time_is_over_when_its_port_is_found_asks_nobody(void **state)
{
	struct rcm_question q = rcm_question_name("late.example");

	(void)state;
	rcm_fake_dns_services_ask(true);
	q.service = "slow-service";
	q.deadline_ms = 1;
	assert_int_equal(rcm_asker_ask(&asker, &q), -ETIMEDOUT);
	assert_int_equal(rcm_fake_dns_started(), 0);
}

#ifndef __SANITIZE_THREAD__
static void test_course_that_waits_for_files_goes_on_in_a_forked_child(void **state)
{
	struct rcm_question q = rcm_question_name("reading.fork.example");
	int status = -1;
	pid_t pid;

	(void)state;
	start_reading(&q);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		rcm_asker_again(&other);
		rcm_fake_dns_reading(false);
		_exit(!rcm_asker_wait(&other) || other.outcome.status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_fake_dns_reading(false);
	assert_true(rcm_asker_wait(&other));
}

/* ---- Steps ---- */

enum { TEXT_MAX = 64 << 10 };

/* The words in brackets of the first drawing in docs/design.md, in order. */
static void read_drawing(char *words, size_t size)
{
	static char text[TEXT_MAX];
	FILE *file = fopen(getenv("RAI_DESIGN"), "r");
	size_t len;
	char *at = text, *end;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	end = strstr(strstr(text, "```") + 3, "```");
	*end = '\0';
	*words = '\0';
	while ((at = strchr(at, '['))) {
		end = strchr(at, ']');
		assert_non_null(end);
		assert_true(strlen(words) + (size_t)(end - at) + 2 < size);
		strncat(words, at + 1, (size_t)(end - at) - 1);
		strcat(words, " ");
		at = end;
	}
}

static void test_course_drawn_in_the_design_has_all_steps(void **state)
{
	char drawn[256], ours[256] = "";

	(void)state;
	if (!getenv("RAI_DESIGN"))
		skip();
	read_drawing(drawn, sizeof(drawn));
	for (int i = 0; i < RCM_STEPS; i++)
		strcat(strcat(ours, rcm_step_text((enum rcm_step)i)), " ");
	assert_string_equal(drawn, ours);
}

static void wait_line(const char *text, const char *line)
{
	while (!strstr(text, line))
		usleep(1000);
}

/* In a process with RAI_LOG=trace from its start: asks, and leaves the lines in fd. */
static void asks_traced(int fd)
{
	const char *text = mmap(NULL, TEXT_MAX, PROT_READ, MAP_SHARED, fd, 0);
	struct rcm_question q = rcm_question_name("192.0.2.1");

	setenv("RAI_LOG", "trace", 1);
	dup2(fd, STDERR_FILENO);
	rcm_asker_ask(&asker, &q);			/* request 1 */
	rcm_fake_dns_reading(true);
	rcm_fake_dns_services_ask(true);
	q = rcm_question_name("step.ttl60.hold.example");
	q.service = "http";
	rcm_asker_start(&asker, &q);			/* request 2 */
	wait_line(text, "request 2: reading");
	rcm_fake_dns_reading(false);
	rcm_fake_dns_wait_services(1);
	rcm_fake_dns_wait_started(1);
	q.service = "7471";
	rcm_asker_start(&other, &q);			/* request 3 */
	wait_line(text, "request 3: joined");
	rcm_fake_dns_release("step.ttl60.hold.example");
	rcm_asker_wait(&asker);
	rcm_asker_wait(&other);
	rcm_fake_dns_reading(true);
	rcm_asker_start(&asker, &q);			/* request 4 */
	wait_line(text, "request 4: reading");
	rcm_fake_dns_reading(false);
	rcm_asker_wait(&asker);
}

/* "posted reading ..." of one request. */
static void steps_of(char *text, unsigned number, char *steps)
{
	char prefix[32], *line = text, word[32];

	*steps = '\0';
	snprintf(prefix, sizeof(prefix), "rai: trace: request %u: ", number);
	while ((line = strstr(line, prefix))) {
		line += strlen(prefix);
		assert_int_equal(sscanf(line, "%31s", word), 1);
		strcat(strcat(steps, *steps ? " " : ""), word);
	}
}

static void test_course_traced_shows_each_step_of_a_request(void **state)
{
	static const char *const expected[] = {
		"here told", "posted reading naming asked landed told", "posted joined landed told",
		"posted reading kept told",
	};
	int fd = memfd_create("trace", MFD_CLOEXEC), status = -1;
	char *text, steps[256];
	pid_t pid;

	(void)state;
	assert_int_equal(ftruncate(fd, TEXT_MAX), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		asks_traced(fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	text = mmap(NULL, TEXT_MAX, PROT_READ, MAP_SHARED, fd, 0);
	for (unsigned i = 0; i < 4; i++) {
		steps_of(text, i + 1, steps);
		assert_string_equal(steps, expected[i]);
	}
	munmap(text, TEXT_MAX);
	close(fd);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#ifndef __SANITIZE_THREAD__
		T(test_course_traced_shows_each_step_of_a_request),
		T(test_course_drawn_in_the_design_has_all_steps),
#endif
		T(test_course_of_a_number_needs_no_thread),
		T(test_course_of_a_name_that_is_known_here_ends_in_the_call),
		T(test_course_of_a_kept_answer_ends_in_the_call),
		T(test_course_of_a_kept_answer_has_the_order_of_today),
		T(test_course_of_a_kept_answer_waits_for_routes_that_changed),
		T(test_course_after_a_change_joins_no_lookup_from_before),
		T(test_course_answer_from_before_a_change_is_not_kept),
		T(test_course_kept_answers_are_forgotten_at_a_change),
		T(test_course_waits_for_files_that_are_being_read_and_a_number_does_not),
		T(test_course_looks_at_the_host_s_files_once_a_request),
		T(test_course_that_waits_for_files_keeps_its_deadline_and_can_be_cancelled),
		T(test_course_whose_time_is_over_when_its_port_is_found_asks_nobody),
#ifndef __SANITIZE_THREAD__
		T(test_course_that_waits_for_files_goes_on_in_a_forked_child),
#endif
	};

	rcm_engine_use(&(struct rcm_backends){ .dns = &rcm_fake_dns });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
