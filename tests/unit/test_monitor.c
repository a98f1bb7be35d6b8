/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices followed while something depends on them: opened when needed, told of, closed when not. */
#include "resolve/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/container.h"
#include "base/limits.h"
#include "fake_alerts.h"
#include "fake_clock.h"
#include "test.h"

static struct rcm_loop loop;
static struct rcm_monitor monitor;
static struct rcm_sa_port ports[RCM_SA_PORTS_MAX];
static unsigned port_count, changes, alls;
static bool needed;

static int ports_read(struct rcm_sa_port *to, unsigned max)
{
	assert_true(port_count <= max);
	memcpy(to, ports, port_count * sizeof(*ports));
	return (int)port_count;
}

static bool is_needed(struct rcm_monitor *m)
{
	assert_ptr_equal(m, &monitor);
	return needed;
}

static void changed(struct rcm_monitor *m, bool all)
{
	assert_ptr_equal(m, &monitor);
	changes++;
	alls += all;
}

static void port_add(const char *device, unsigned number, bool infiniband)
{
	struct rcm_sa_port *port = &ports[port_count++];

	*port = (struct rcm_sa_port){ .number = (uint8_t)number, .infiniband = infiniband, .active = true };
	snprintf(port->device, sizeof(port->device), "%s", device);
}

static int begin(void **state)
{
	static const struct rcm_monitor_ops ops = { ports_read, is_needed, changed };

	(void)state;
	port_count = changes = alls = 0;
	needed = true;
	rcm_fake_clock_use(1000 * RCM_NS_PER_S);
	rcm_fake_alerts_reset();
	assert_int_equal(rcm_loop_init(&loop), 0);
	rcm_monitor_init(&monitor, &loop, &ops, &rcm_fake_alerts);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rcm_monitor_done(&monitor);
	rcm_loop_done(&loop);
	rcm_clock_replace(NULL);
	/* A worker may still be closing one. */
	rcm_fake_alerts_wait_open(0);
	return 0;
}

/* Turns the loop until what workers and devices have to tell was taken. */
static void turn_until(const unsigned *value, unsigned count)
{
	while (*value != count)
		assert_int_equal(rcm_loop_turn(&loop, 1), 0);
}

static void turn(void)
{
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rcm_loop_turn(&loop, 0), 0);
}

/* One look's worth of time. */
static void look(void)
{
	rcm_fake_clock_advance((RCM_ALERTS_LOOK_MS + 1) * RCM_NS_PER_MS);
	turn();
}

/* A device tells from when the loop listens to it: which is soon after it was opened. */
static void follow(unsigned devices)
{
	rcm_monitor_want(&monitor, 0);
	turn();
	rcm_fake_alerts_wait_open(devices);
	for (unsigned i = 0; i < devices; i++) {
		unsigned before = changes;

		rcm_fake_clock_advance(RCM_NS_PER_S);
		rcm_fake_alerts_tell(ports[i].device, RCM_ALERT_PORT);
		turn_until(&changes, before + 1);
	}
	rcm_fake_clock_advance(RCM_NS_PER_S);
	changes = 0;
}

static void test_monitor_opens_nothing_before_there_is_need(void **state)
{
	(void)state;
	port_add("a", 1, true);
	look();
	assert_int_equal(rcm_fake_alerts_opens(), 0);
	assert_null(monitor.workers);
}

static void test_monitor_opens_each_infiniband_device_once(void **state)
{
	(void)state;
	port_add("a", 1, true);
	port_add("b", 1, true);
	port_add("a", 2, true);
	port_add("roce", 1, false);
	follow(2);
	rcm_monitor_want(&monitor, 0);
	look();
	assert_int_equal(rcm_fake_alerts_opens(), 2);
}

static void test_monitor_tells_of_a_port_at_once(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	rcm_fake_alerts_tell("a", RCM_ALERT_PORT);
	turn_until(&changes, 1);
	assert_int_equal(alls, 0);
}

static void test_monitor_tells_that_all_is_to_be_registered(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	rcm_fake_alerts_tell("a", RCM_ALERT_PORT);
	rcm_fake_alerts_tell("a", RCM_ALERT_REREGISTER);
	turn_until(&changes, 1);
	assert_int_equal(alls, 1);
}

static void test_monitor_tells_nothing_of_no_concern(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	rcm_fake_alerts_tell("a", RCM_ALERT_OTHER);
	turn();
	rcm_fake_clock_advance(RCM_NS_PER_S);
	turn();
	assert_int_equal(changes, 0);
}

/* The last of them is told of, too. */
static void test_monitor_tells_of_a_device_without_rest_now_and_then(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	for (unsigned i = 0; i < 1000; i++) {
		rcm_fake_alerts_tell("a", RCM_ALERT_PORT);
		turn();
		rcm_fake_clock_advance(RCM_NS_PER_MS);
	}
	rcm_fake_clock_advance(RCM_ALERTS_PAUSE_MS * RCM_NS_PER_MS);
	turn();
	assert_uint_in_range(changes, 1000 / RCM_ALERTS_PAUSE_MS, 1000 / RCM_ALERTS_PAUSE_MS + 2);
}

static void test_monitor_closes_what_is_not_needed_any_more(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	needed = false;
	look();
	rcm_fake_alerts_wait_open(0);
	/* And sleeps: nothing wakes it for a look. */
	do
		look();
	while (monitor.count);
	look();
	assert_int_equal(monitor.look_timer.state, RCM_TIMER_IDLE);
	needed = true;
	follow(1);
	assert_int_equal(rcm_fake_alerts_opens(), 2);
}

static void test_monitor_follows_as_long_as_was_said(void **state)
{
	(void)state;
	port_add("a", 1, true);
	needed = false;
	rcm_monitor_want(&monitor, loop.now + 60 * RCM_NS_PER_S);
	follow(1);
	look();
	assert_int_equal(rcm_fake_alerts_open_now(), 1);
	rcm_fake_clock_advance(60 * RCM_NS_PER_S);
	turn();
	rcm_fake_alerts_wait_open(0);
}

static void test_monitor_tries_again_after_a_while_what_can_not_be_opened(void **state)
{
	(void)state;
	port_add("a", 1, true);
	rcm_fake_alerts_refuse(-EACCES);
	rcm_monitor_want(&monitor, 0);
	turn();
	rcm_fake_alerts_wait_tried(1);
	/* The worker's word comes by an eventfd. */
	assert_int_equal(rcm_loop_turn(&loop, 10000), 0);
	for (unsigned i = 0; i < 3; i++)
		look();
	assert_int_equal(rcm_fake_alerts_opens(), 1);
	rcm_fake_alerts_refuse(0);
	rcm_fake_clock_advance(60 * RCM_NS_PER_S);
	follow(1);
	assert_int_equal(rcm_fake_alerts_opens(), 2);
}

static void test_monitor_of_a_device_that_goes_tells_and_follows_it_again(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	rcm_fake_alerts_tell("a", RCM_ALERT_GONE);
	turn_until(&changes, 1);
	rcm_fake_alerts_wait_open(0);
	do
		look();
	while (rcm_fake_alerts_opens() < 2);
	follow(1);
}

static void test_monitor_of_a_context_that_is_of_no_more_use_does_not_spin(void **state)
{
	(void)state;
	port_add("a", 1, true);
	follow(1);
	rcm_fake_alerts_break("a");
	turn_until(&changes, 1);
	rcm_fake_alerts_wait_open(0);
	turn();
	assert_int_equal(changes, 1);
	port_count = 0;
	do
		look();
	while (monitor.count);
	assert_int_equal(rcm_fake_alerts_opens(), 1);
}

static void test_monitor_follows_so_many_devices_and_no_more(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RCM_ALERTS_DEVICES_MAX + 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "d%u", i);
		port_add(name, 1, true);
	}
	follow(RCM_ALERTS_DEVICES_MAX);
	look();
	assert_int_equal(rcm_fake_alerts_opens(), RCM_ALERTS_DEVICES_MAX);
}

/* In the child the descriptors are closed, and nothing of the parent's is followed. */
static void test_monitor_of_a_parent_is_left_in_a_child(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	port_add("a", 1, true);
	follow(1);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		loop.epfd = -1;
		rcm_monitor_abandon(&monitor);
		_exit(monitor.loop || rcm_fake_alerts_open_now());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rcm_fake_alerts_tell("a", RCM_ALERT_PORT);
	turn_until(&changes, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(test_monitor_opens_nothing_before_there_is_need),
		T(test_monitor_opens_each_infiniband_device_once),
		T(test_monitor_tells_of_a_port_at_once),
		T(test_monitor_tells_that_all_is_to_be_registered),
		T(test_monitor_tells_nothing_of_no_concern),
		T(test_monitor_tells_of_a_device_without_rest_now_and_then),
		T(test_monitor_closes_what_is_not_needed_any_more),
		T(test_monitor_follows_as_long_as_was_said),
		T(test_monitor_tries_again_after_a_while_what_can_not_be_opened),
		T(test_monitor_of_a_device_that_goes_tells_and_follows_it_again),
		T(test_monitor_of_a_context_that_is_of_no_more_use_does_not_spin),
		T(test_monitor_follows_so_many_devices_and_no_more),
		T(test_monitor_of_a_parent_is_left_in_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
