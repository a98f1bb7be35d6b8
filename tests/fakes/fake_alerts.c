/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices that tell of their ports when the test wants it. */
#include "fake_alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fds.h"

enum { OPEN_MAX = 64 };

struct rcm_alerts {
	char device[20];
	int fd, tells;			/* the ends of a pipe */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rcm_alerts *all[OPEN_MAX];
static unsigned tried, now;
static int refused;

void rcm_fake_alerts_reset(void)
{
	pthread_mutex_lock(&lock);
	tried = 0;
	refused = 0;
	pthread_mutex_unlock(&lock);
}

void rcm_fake_alerts_refuse(int error)
{
	pthread_mutex_lock(&lock);
	refused = error;
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static struct rcm_alerts **place_of(const char *device)
{
	for (unsigned i = 0; i < OPEN_MAX; i++)
		if (device ? all[i] && !strcmp(all[i]->device, device) : !all[i])
			return &all[i];
	abort();
}

void rcm_fake_alerts_tell(const char *device, enum rcm_alert alert)
{
	uint8_t byte = (uint8_t)alert;

	pthread_mutex_lock(&lock);
	if (write((*place_of(device))->tells, &byte, 1) != 1)
		abort();
	pthread_mutex_unlock(&lock);
}

void rcm_fake_alerts_break(const char *device)
{
	struct rcm_alerts *alerts;

	pthread_mutex_lock(&lock);
	alerts = *place_of(device);
	close(alerts->tells);
	alerts->tells = -1;
	pthread_mutex_unlock(&lock);
}

static unsigned read_of(const unsigned *count)
{
	unsigned value;

	pthread_mutex_lock(&lock);
	value = *count;
	pthread_mutex_unlock(&lock);
	return value;
}

unsigned rcm_fake_alerts_opens(void) { return read_of(&tried); }
unsigned rcm_fake_alerts_open_now(void) { return read_of(&now); }

static void wait_for(const unsigned *value, unsigned count)
{
	pthread_mutex_lock(&lock);
	while (*value != count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void rcm_fake_alerts_wait_open(unsigned count) { wait_for(&now, count); }
void rcm_fake_alerts_wait_tried(unsigned count) { wait_for(&tried, count); }

static int alerts_open(const char *device, struct rcm_alerts **ret_alerts)
{
	struct rcm_alerts *alerts = NULL;
	int fds[2], ret;

	pthread_mutex_lock(&lock);
	tried++;
	ret = refused;
	if (!ret) {
		alerts = calloc(1, sizeof(*alerts));
		if (!alerts || pipe2(fds, O_CLOEXEC | O_NONBLOCK) || rcm_fds_take(fds[0]))
			abort();
		strcpy(alerts->device, device);
		alerts->fd = fds[0];
		alerts->tells = fds[1];
		*place_of(NULL) = alerts;
		now++;
		*ret_alerts = alerts;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return ret;
}

static int alerts_fd(const struct rcm_alerts *alerts)
{
	return alerts->fd;
}

static int alerts_read(struct rcm_alerts *alerts, enum rcm_alert *ret_alert)
{
	uint8_t byte;
	ssize_t n = read(alerts->fd, &byte, 1);

	if (n != 1)
		return n < 0 ? -errno : -EIO;
	*ret_alert = (enum rcm_alert)byte;
	return 0;
}

static void alerts_close(struct rcm_alerts *alerts)
{
	if (!alerts)
		return;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < OPEN_MAX; i++)
		if (all[i] == alerts)
			all[i] = NULL;
	now--;
	rcm_fds_close(alerts->fd);
	if (alerts->tells >= 0)
		close(alerts->tells);
	free(alerts);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

const struct rcm_alerts_ops rcm_fake_alerts = {
	.name = "fake", .open = alerts_open, .fd = alerts_fd, .read = alerts_read, .close = alerts_close,
};
