/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel's connection manager that plays a script.
 *
 * It takes the bytes that the device would take, checks them against the next step of the script, and writes that
 * step's answer through the command's response pointer. Its descriptors are real: readable while an event waits, so an
 * event channel can be built on them. Anything left over at the end, or sent without a step, fails the test.
 *
 * Lenient, it also serves what the script doesn't name, as a small kernel would: handles are given and counted, an id is
 * known on one descriptor only, events follow a migrated id, DESTROY_ID tells how many events were read. Any thread may
 * use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/ucma_abi.h"

struct rcm_fake_step;

/* In the place of the device, with an empty script. */
void rcm_fake_ucma_use(void);

/* The device again. Fails the running test if a step was not played, an event not read, a descriptor not closed, or a
 * command came that the script doesn't have. */
void rcm_fake_ucma_done(void);

void rcm_fake_ucma_lenient(bool lenient);

/* Lenient, every id is bound to this device from now on (guid 0: to none), at port 1, with these addresses. */
void rcm_fake_ucma_bind(uint64_t node_guid, uint32_t index, const char *src, const char *dst);

/* What opening says from now on: 0, or -errno. */
void rcm_fake_ucma_open_result(int result);

/* The next that is opened is descriptor 0, as in a daemon that has closed its standard input. */
void rcm_fake_ucma_open_as_0(void);

/* The next command has to be this one, and succeeds with an answer of zeros unless told otherwise. */
struct rcm_fake_step *rcm_fake_ucma_expect(uint32_t command);

/* The command's body has these bytes there. */
void rcm_fake_step_bytes(struct rcm_fake_step *step, size_t offset, const void *bytes, size_t len);
void rcm_fake_step_answer(struct rcm_fake_step *step, const void *answer, size_t len);
void rcm_fake_step_error(struct rcm_fake_step *step, int error);

/* A field of the body has this value: rcm_fake_step_field(step, rdma_ucm_bind, id, 7). */
#define rcm_fake_step_field(step, type, field, value) do { \
	__typeof__(((struct type *)0)->field) wanted_ = (value); \
	rcm_fake_step_bytes(step, offsetof(struct type, field), &wanted_, sizeof(wanted_)); \
} while (0)

/* Puts an event before the reader of a descriptor. */
void rcm_fake_ucma_event(int fd, const struct rdma_ucm_event_resp *event);

/* The same for an id that was created through the fake: on its descriptor, with its uid. */
void rcm_fake_ucma_event_of(uint32_t handle, uint32_t type, int status);

/* A CONNECT_REQUEST of a listener. Returns the new id's handle. param: NULL for zeros. */
uint32_t rcm_fake_ucma_connect_request(uint32_t listener, const struct rdma_ucm_conn_param *param);

/* The same, with these ECE options. */
uint32_t rcm_fake_ucma_connect_request_ece(uint32_t listener, uint32_t vendor, uint32_t options);

/* Handle of the id created last; how many there are; the body of the last command (GET_EVENT aside). */
uint32_t rcm_fake_ucma_last_handle(void);
unsigned rcm_fake_ucma_ids(void);
size_t rcm_fake_ucma_last_body(void *body, size_t max);

/* Called before a command is taken (GET_EVENT aside), on its thread, so that something else can come first; NULL: no
 * more. */
void rcm_fake_ucma_before(void (*hook)(uint32_t command));

/* The same before each GET_EVENT. */
void rcm_fake_ucma_before_read(void (*hook)(void));

/* The P_Key that the kernel asks for a path with, and readies a QP with, for this id; by the rules of docs/af-ib.md. */
uint16_t rcm_fake_ucma_pkey(uint32_t handle);

/* How often a command was taken so far. */
unsigned rcm_fake_ucma_count(uint32_t command);
