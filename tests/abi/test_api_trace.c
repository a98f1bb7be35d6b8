/* SPDX-License-Identifier: BSD-2-Clause */
/* What RAI_LOG=trace says on the standard error stream. */
#include "api.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

static void *destroy(void *arg)
{
	rdma_destroy_id(arg);
	return NULL;
}

/* What was printed since the stream was turned to fd. */
static const char *printed(int fd)
{
	static char text[8192];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(len >= 0);
	text[len] = '\0';
	return text;
}

/* F13: who waits in rdma_destroy_id() can find out for which event. */
static void test_trace_names_the_event_that_destroy_waits_for(void **state)
{
	int screen = dup(STDERR_FILENO), fd = memfd_create("trace", MFD_CLOEXEC);
	struct rdma_cm_event *event;
	struct rdma_cm_id *other;
	pthread_t thread;

	(void)state;
	assert_int_equal(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_write_cm_event(other, RDMA_CM_EVENT_USER, 0, 0), 0);
	event = get_event(channel);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(pthread_create(&thread, NULL, destroy, other), 0);
	while (!strstr(printed(fd), "RDMA_CM_EVENT_USER"))
		sched_yield();
	dup2(screen, STDERR_FILENO);
	assert_non_null(strstr(printed(fd), "rdma_ack_cm_event"));
	rdma_ack_cm_event(event);
	pthread_join(thread, NULL);
	close(screen);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		API_TEST(test_trace_names_the_event_that_destroy_waits_for),
	};

	setenv("RAI_LOG", "trace", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
