/* SPDX-License-Identifier: BSD-2-Clause */
/* SA MADs, ServiceRecords and PathRecords as bytes (pure): what is asked, and whether an answer answers it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/sa.h"

/* IBTA volume 1, 13.4.2 (MAD), 13.6.2.1 (RMPP), 15.2.1.1 (SA header). */
enum {
	RCM_MAD_SIZE = 256,
	RCM_MAD_HEADER_SIZE = 24,
	RCM_SA_HEADER_SIZE = 56,		/* MAD, RMPP and SA headers: where the first record starts */
	RCM_CLASS_PORT_INFO_SIZE = 72,		/* 13.4.8.1 */
	RCM_SERVICE_RECORD_SIZE = 176,		/* 15.2.5.14 */
	RCM_PATH_RECORD_SIZE = 64,		/* 15.2.5.16 */
	RCM_SA_CLASS = 0x03,
	RCM_SA_CLASS_VERSION = 2,
	RCM_SA_QP = 1,
};
#define RCM_SA_QKEY 0x80010000u

/* What the status of an answer asks of the client; 15.2.7 and 13.4.7. */
enum rcm_wire_verdict { RCM_WIRE_OK, RCM_WIRE_NONE, RCM_WIRE_AGAIN, RCM_WIRE_REFUSED };

/* The records of an answer, in the caller's buffer. */
struct rcm_wire_answer {
	uint16_t status;		/* of the MAD, host order */
	size_t stride;			/* bytes from one record to the next: never less than a record */
	size_t count;			/* 0 where status isn't 0 */
	const uint8_t *records;
};

/* 15.2.2 and 15.2.5. The answer to any of these is read and told alike, so that another kind of question is an
 * rcm_wire_ask_...() more, and an op of sa.h that starts it (sa/client.c). */
enum rcm_wire_method { RCM_SA_GET = 0x01, RCM_SA_SET = 0x02, RCM_SA_GET_TABLE = 0x12, RCM_SA_DELETE = 0x15 };
enum rcm_wire_attribute { RCM_SA_CLASS_PORT_INFO = 0x01, RCM_SA_SERVICE_RECORD = 0x31, RCM_SA_PATH_RECORD = 0x35 };

/* A question with as much of a record as is given: one MAD, transaction id 0. The mask says which components of the
 * record count. */
void rcm_wire_ask(enum rcm_wire_method method, enum rcm_wire_attribute attribute, uint64_t mask, const void *record,
		  size_t len, uint8_t mad[RCM_MAD_SIZE]);

/* GetTable(ServiceRecord), Set or Delete of one; Get(PathRecord), or to all GetTable(PathRecord). */
void rcm_wire_ask_service(const struct rcm_sa_service_query *query, uint8_t mad[RCM_MAD_SIZE]);
void rcm_wire_publish(const struct rcm_sa_publication *publication, uint8_t mad[RCM_MAD_SIZE]);
void rcm_wire_ask_path(const struct rcm_sa_path_query *query, uint8_t mad[RCM_MAD_SIZE]);

/* The client's half of the transaction id; the kernel overwrites the other. mad has at least its 24 byte header. */
void rcm_wire_set_tid(uint8_t *mad, uint32_t tid);
uint32_t rcm_wire_tid(const uint8_t *mad);

/* What it is about, in words. mad has at least its header. */
const char *rcm_wire_subject(const uint8_t *mad);

/*
 * Reads an answer of len bytes to the question; its transaction id is the caller's affair. 0, or -EPROTO: not an
 * answer to this, or one that lies about its size.
 */
int rcm_wire_read(const uint8_t question[RCM_MAD_SIZE], const void *mad, size_t len,
		  struct rcm_wire_answer *ret_answer);

enum rcm_wire_verdict rcm_wire_verdict(uint16_t status);

/* "BUSY", "NO_RECORDS", ... */
const char *rcm_wire_status_name(uint16_t status);

/* What a ClassPortInfo says that an answer may take, in ns: IBTA 13.4.8.1, RespTimeValue. */
uint64_t rcm_wire_response_time(const uint8_t bytes[RCM_CLASS_PORT_INFO_SIZE]);

/* bytes: one whole record. */
void rcm_wire_service_record(const uint8_t bytes[RCM_SERVICE_RECORD_SIZE], struct rcm_sa_service_record *ret_record);

/* Whether the record is one that the query asked for. */
bool rcm_wire_service_matches(const struct rcm_sa_service_query *query, const uint8_t bytes[RCM_SERVICE_RECORD_SIZE]);

/* Whether the path is one that the query asked for: its ends (to all: its source), its partition (the membership bit
 * aside), reversible. */
bool rcm_wire_path_matches(const struct rcm_sa_path_query *query, const uint8_t bytes[RCM_PATH_RECORD_SIZE]);
