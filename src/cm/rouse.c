/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking the threads of this process that wait on a bare descriptor. */
#include "cm/rouse.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "base/fds.h"
#include "base/fork.h"
#include "base/lock.h"

/* Its descriptor stays readable until all that joined have left, however long one of them is held up, in a signal
 * handler say; the others are in the next round by then, asleep on another descriptor. So there are as many as rounds
 * with somebody in them: one as a rule. */
struct rcm_round {
	SLIST_ENTRY(rcm_round) spare;
	unsigned waits;
	unsigned losses;		/* before it began */
	int fd;				/* an epoll descriptor over due_fd, which is always ready */
	int due_fd;
};

static struct rcm_lock lock = RCM_LOCK_INIT;
static struct rcm_round *present RCM_GUARDED_BY(lock);
static unsigned losses RCM_GUARDED_BY(lock);	/* how often all rounds so far lost their descriptors */
static SLIST_HEAD(, rcm_round) spares RCM_GUARDED_BY(lock) = SLIST_HEAD_INITIALIZER(spares);

static int round_control(const struct rcm_round *round, int op, uint32_t events)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(round->fd, op, round->due_fd, &e);
}

/* Nothing is changed where the numbers are files of the program's: nobody else has due_fd in an epoll of theirs. */
static bool round_show(const struct rcm_round *round, bool up)
{
	return rcm_fds_is_same(round->due_fd) && !round_control(round, EPOLL_CTL_MOD, up ? EPOLLOUT : 0);
}

/* Changes nothing, as others may be ending the round meanwhile. An epoll descriptor of the program's by that number has
 * due_fd for a moment, and no event of it. */
static bool round_is_own(const struct rcm_round *round)
{
	if (!rcm_fds_is_same(round->due_fd))
		return false;
	if (round_control(round, EPOLL_CTL_ADD, 0))
		return errno == EEXIST;
	round_control(round, EPOLL_CTL_DEL, 0);
	return false;
}

static struct rcm_round *round_open(void)
{
	struct rcm_round *round = calloc(1, sizeof(*round));

	if (!round)
		return NULL;
	round->fd = rcm_fds_add(epoll_create1(EPOLL_CLOEXEC));
	round->due_fd = rcm_fds_open_ready();
	if (round->fd >= 0 && round->due_fd >= 0 && !round_control(round, EPOLL_CTL_ADD, 0))
		return round;
	rcm_fds_close(round->due_fd);
	rcm_fds_close(round->fd);
	free(round);
	return NULL;
}

static void rouse_begin_round_locked(void) RCM_REQUIRES(lock)
{
	rcm_lock_assert_held(&lock);
	present = SLIST_FIRST(&spares);
	if (present)
		SLIST_REMOVE_HEAD(&spares, spare);
	else
		present = round_open();
	if (present)
		present->losses = losses;
}

/* Who is in a round yet frees it. */
static void rouse_lose_locked(void) RCM_REQUIRES(lock)
{
	struct rcm_round *round;

	rcm_lock_assert_held(&lock);
	if (present && !present->waits)
		free(present);
	present = NULL;
	while ((round = SLIST_FIRST(&spares))) {
		SLIST_REMOVE_HEAD(&spares, spare);
		free(round);
	}
	losses++;
}

/* The program has closed its descriptors, one or all, and has others by their numbers; another wait may have told. */
static void rouse_renounce_locked(const struct rcm_round *lost) RCM_REQUIRES(lock)
{
	rcm_lock_assert_held(&lock);
	if (lost != present)
		return;
	rcm_fds_doubt();
	rouse_lose_locked();
}

/* One that begins may have been spare for long. */
static void rouse_be_present_locked(void) RCM_REQUIRES(lock)
{
	rcm_lock_assert_held(&lock);
	if (present)
		return;
	rouse_begin_round_locked();
	if (!present || round_is_own(present))
		return;
	rouse_renounce_locked(present);
	rouse_begin_round_locked();
}

static void rouse_leave_locked(struct rcm_rouse *rouse) RCM_REQUIRES(lock)
{
	struct rcm_round *round = rouse->round;

	rcm_lock_assert_held(&lock);
	rouse->round = NULL;
	if (!round || --round->waits || round == present)
		return;
	if (round->losses == losses && round_show(round, false))
		SLIST_INSERT_HEAD(&spares, round, spare);
	else
		free(round);
}

/* lost: a round that has no descriptor any more; NULL: none. */
static bool rouse_enter_locked(struct rcm_rouse *rouse, const struct rcm_round *lost) RCM_REQUIRES(lock)
{
	rcm_lock_assert_held(&lock);
	if (lost)
		rouse_renounce_locked(lost);
	rouse_be_present_locked();
	if (rouse->round == present)
		return false;
	rouse_leave_locked(rouse);
	rouse->round = present;
	if (present)
		present->waits++;
	return present;
}

/* Whether the descriptor is the library's takes a system call: not for who looks once more before it waits, nor under
 * the lock, which all that wait pass. */
bool rcm_rouse_join(struct rcm_rouse *rouse)
{
	const struct rcm_round *lost = NULL;
	bool joined;

	do {
		rcm_lock_acquire(&lock);
		joined = rouse_enter_locked(rouse, lost);
		rcm_lock_release(&lock);
		lost = rouse->round;
	} while (!joined && lost && !round_is_own(lost));
	return joined;
}

int rcm_rouse_fd(const struct rcm_rouse *rouse)
{
	return rouse->round ? rouse->round->fd : -1;
}

void rcm_rouse_leave(struct rcm_rouse *rouse)
{
	if (!rouse->round)
		return;
	rcm_lock_acquire(&lock);
	rouse_leave_locked(rouse);
	rcm_lock_release(&lock);
}

void rcm_rouse_all(void)
{
	rcm_lock_acquire(&lock);
	if (present && present->waits) {
		round_show(present, true);
		present = NULL;
	}
	rcm_lock_release(&lock);
}

static void rouse_fork_prepare(void) RCM_UNCHECKED
{
	rcm_lock_acquire(&lock);
}

static void rouse_fork_parent(void) RCM_UNCHECKED
{
	rcm_lock_release(&lock);
}

/* The parent's are closed by then. Nobody waits in the child, unless the fork was a signal handler's. */
static void rouse_fork_child(void) RCM_UNCHECKED
{
	rouse_lose_locked();
	rcm_lock_release(&lock);
}

__attribute__((constructor)) static void rouse_watch_forks(void)
{
	static const struct rcm_fork fork = {
		.prepare = rouse_fork_prepare, .parent = rouse_fork_parent, .child = rouse_fork_child,
	};

	rcm_fork_watch(RCM_FORK_ROUSE, &fork);
}
