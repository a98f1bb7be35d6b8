/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device tells of its ports, by a context of the library's own. As device.c it needs the layout "one", whose link
 * v1 is free for a second device, and root. */
#include "vm.h"

#include "verbs/alerts.h"

static struct rcm_alerts *alerts;

static void sh(const char *command)
{
	int status = system(command);

	if (status)
		FAIL("'%s': status %d", command, status);
}

static void second_follow(void)
{
	sh("rdma link add rxe1 type rxe netdev v1");
	TRY(rcm_alerts_verbs.open("rxe1", &alerts));
}

/* Until it tells that, whatever else it tells before. */
static void await(enum rcm_alert wanted)
{
	struct pollfd readable = { .fd = rcm_alerts_verbs.fd(alerts), .events = POLLIN };
	enum rcm_alert alert = RCM_ALERT_OTHER;
	int ret;

	do {
		if (poll(&readable, 1, VM_STEP_MS) != 1)
			FAIL("the device doesn't tell %d", wanted);
		ret = rcm_alerts_verbs.read(alerts, &alert);
		if (ret && ret != -EAGAIN)
			FAIL("reading: %s", strerror(-ret));
	} while (ret || alert != wanted);
}

/* All that it has told so far. */
static void drain(void)
{
	enum rcm_alert alert;

	while (!rcm_alerts_verbs.read(alerts, &alert))
		;
}

static void test_alerts_tell_that_a_port_goes_down_and_comes_up(void)
{
	second_follow();
	drain();
	sh("ip link set v1 down");
	await(RCM_ALERT_PORT);
	drain();
	sh("ip link set v1 up");
	await(RCM_ALERT_PORT);
	rcm_alerts_verbs.close(alerts);
}

static void test_alerts_tell_that_a_port_has_another_gid(void)
{
	second_follow();
	sleep(1);
	drain();
	sh("ip addr add 10.2.1.77/24 dev v1");
	await(RCM_ALERT_PORT);
	sh("ip addr del 10.2.1.77/24 dev v1");
	rcm_alerts_verbs.close(alerts);
}

/* Soft-RoCE can't take a context away: the removal waits for all of them to be closed, and nothing is told. */
static void test_alerts_that_are_closed_let_their_device_go(void)
{
	second_follow();
	sh("rdma link del rxe1 & exit 0");
	rcm_alerts_verbs.close(alerts);
	sh("for i in $(seq 100); do [ -e /sys/class/infiniband/rxe1 ] || exit 0; sleep 0.05; done; exit 1");
}

static void test_alerts_of_a_device_that_may_not_be_opened_fail(void)
{
	sh("rdma link add rxe1 type rxe netdev v1");
	sh("for d in /sys/class/infiniband_verbs/uverbs*; do [ \"$(cat $d/ibdev)\" != rxe1 ] ||"
	   " chmod 600 /dev/infiniband/${d##*/}; done");
	if (setgid(65534) || setuid(65534))
		FAIL("no other user");
	/* libibverbs looks for the node under other names, too, and tells of the last. */
	CHECK(rcm_alerts_verbs.open("rxe1", &alerts) < 0);
}

static const struct vm_test tests[] = {
	{ "test_alerts_tell_that_a_port_goes_down_and_comes_up", test_alerts_tell_that_a_port_goes_down_and_comes_up, 0 },
	{ "test_alerts_tell_that_a_port_has_another_gid", test_alerts_tell_that_a_port_has_another_gid, 0 },
	{ "test_alerts_that_are_closed_let_their_device_go", test_alerts_that_are_closed_let_their_device_go, 0 },
	{ "test_alerts_of_a_device_that_may_not_be_opened_fail",
	  test_alerts_of_a_device_that_may_not_be_opened_fail, 0 },
};

int main(int argc, char **argv)
{
	return vm_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
