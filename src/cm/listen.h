/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening, and the requests that come in. */
#pragma once

#include "cm/event.h"

struct rcm_id;

/* rdma_listen(). 0; -EMFILE, -ENFILE, -ENOMEM: a synchronous id's descriptor can't be covered; what the kernel said. */
int rcm_listen(struct rcm_id *id, int backlog);

/*
 * rdma_get_request(): waits for a request of a synchronous listener; *ret_id is synchronous too, its event holding the
 * request. 0; -EINVAL: not synchronous, or another event came, which is left with the listener; -EINTR; -ECANCELED: the
 * listener is being destroyed, or was moved; what making the QP said, the request being rejected. cancel_state: for the
 * wait (pthread_setcancelstate(3)); held off in the rest.
 */
int rcm_listen_get_request(struct rcm_id *listener, int cancel_state, struct rcm_id **ret_id);

extern const struct rcm_event_ops rcm_listen_request_ops;	/* CONNECT_REQUEST */
