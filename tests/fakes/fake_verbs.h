/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libibverbs of the test's own: it stands before the real one because the program that is linked with it defines the
 * same names. It counts what is open, so a leak fails the test; any call can be told to fail. Any thread may use it.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

enum { FAKE_DEVICES_MAX = 4 };

enum fake_verbs_call {
	FAKE_OPEN_DEVICE, FAKE_ALLOC_PD, FAKE_CREATE_CHANNEL, FAKE_CREATE_CQ, FAKE_CREATE_QP, FAKE_CREATE_SRQ,
	FAKE_MODIFY_QP, FAKE_ATTACH_MCAST, FAKE_QUERY_DEVICE, FAKE_QUERY_ECE, FAKE_SET_ECE, FAKE_QUERY_SRQ, FAKE_CALLS
};

/* No devices, nothing counted, nothing to fail. */
void rcm_fake_verbs_reset(void);

/* A device that appears; returns its place, for the calls below. */
unsigned rcm_fake_verbs_add(const char *name, __be64 guid, int index);
void rcm_fake_verbs_remove(unsigned device);
void rcm_fake_verbs_open_error(unsigned device, int error);

/* Contexts that are opened of it from now on have descriptors, and their asynchronous events are those that the test
 * writes; unplugged, the last such context has no more to say, ever. */
void rcm_fake_verbs_tells(unsigned device);
void rcm_fake_verbs_tell(unsigned device, enum ibv_event_type type);
void rcm_fake_verbs_unplug(unsigned device);

/* Called, once, before the next device is opened, as another thread may come first. */
void rcm_fake_verbs_before_open(void (*hook)(void));

/* From now on the call fails with this errno; 0: it works again. */
void rcm_fake_verbs_fail(enum fake_verbs_call call, int error);

/* The nth call from now, whichever it is, fails with this errno (0: none does). True: the last one set came to pass. */
void rcm_fake_verbs_fail_nth(unsigned nth, int error);
bool rcm_fake_verbs_has_failed(void);

/* Devices have this link layer from now on, InfiniBand where not said; are iWARP ones from now on; have that many ports, one
 * where not said; can have so many reads under way, 16 and 32 where not said; and their QPs have these ECE options (vendor 0: none). */
void rcm_fake_verbs_link(uint8_t link_layer);
void rcm_fake_verbs_iwarp(void);
void rcm_fake_verbs_ports(uint8_t count);
void rcm_fake_verbs_reads(int responder_resources, int initiator_depth);
void rcm_fake_verbs_ece(uint32_t vendor, uint32_t options);

unsigned rcm_fake_verbs_opens(unsigned device);	/* how often it was opened */
unsigned rcm_fake_verbs_open_now(unsigned device);
unsigned rcm_fake_verbs_lists(void);		/* how often devices were listed */
unsigned rcm_fake_verbs_objects(void);		/* PDs, CQs, channels, QPs, SRQs that live now */

/* State of a QP of this library; the attributes and mask of the last change of any, and of the last to a state. */
enum ibv_qp_state rcm_fake_verbs_state(const struct ibv_qp *qp);
extern struct ibv_qp_attr rcm_fake_verbs_last_attr, rcm_fake_verbs_attr_to[IBV_QPS_ERR + 1];
extern int rcm_fake_verbs_last_mask;
unsigned rcm_fake_verbs_attached(void);		/* multicast groups attached now */

/* What ECE a QP was given last, and how often; the attributes that the last SRQ was made with. */
extern struct ibv_ece rcm_fake_verbs_last_ece;
unsigned rcm_fake_verbs_eces(void);
extern struct ibv_srq_init_attr_ex rcm_fake_verbs_last_srq;

/* The ones that were made last. */
extern struct ibv_qp *rcm_fake_verbs_made_qp;
extern struct ibv_srq *rcm_fake_verbs_made_srq;
