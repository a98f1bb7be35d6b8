/* SPDX-License-Identifier: BSD-2-Clause */
/* SA MADs, ServiceRecords and PathRecords as bytes (pure). */
#include "sa/wire.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

enum { METHOD_RESPONSE = 0x80 };
enum { AT_CLASS = 1, AT_METHOD = 3, AT_STATUS = 4, AT_TID_LOW = 12, AT_ATTRIBUTE = 16, AT_ATTRIBUTE_OFFSET = 44 };
enum { AT_RESPONSE_TIME = 7 };
enum { AT_SERVICE_ID = 0, AT_SERVICE_GID = 8, AT_SERVICE_PKEY = 24, AT_SERVICE_NAME = 48 };
enum { AT_PATH_DGID = 8, AT_PATH_SGID = 24, AT_PATH_REVERSIBLE = 49, AT_PATH_PKEY = 50, PKEY_NUMBER = 0x7fff };

/* Component mask bits; a PathRecord's ServiceID has two. */
enum {
	SERVICE_ID = 1 << 0, SERVICE_GID = 1 << 1, SERVICE_PKEY = 1 << 2, SERVICE_LEASE = 1 << 4, SERVICE_KEY = 1 << 5,
	SERVICE_NAME = 1 << 6, SERVICE_PLACE = SERVICE_ID | SERVICE_GID | SERVICE_PKEY,
};
#define SERVICE_DATA (UINT64_C(0x3fffffff) << 7)	/* each element of the four kinds of data has a bit */
enum {
	PATH_SERVICE_ID = 3 << 0, PATH_DGID = 1 << 2, PATH_SGID = 1 << 3, PATH_REVERSIBLE = 1 << 11,
	PATH_TRAFFIC_CLASS = 1 << 10, PATH_NUMBER = 1 << 12, PATH_PKEY = 1 << 13,
};
enum { PATH_REVERSIBLE_ONE = 0x80 | 1 };	/* reversible; one path */

/* Status: the low byte is common to all classes, the high byte the SA's own. */
enum { STATUS_BUSY = 0x01, STATUS_REDIRECT = 0x02, SA_NO_RESOURCES = 1, SA_NO_RECORDS = 3 };

static struct rcm_writer header_write(uint8_t *mad, enum rcm_wire_method method, enum rcm_wire_attribute attribute,
				      uint64_t mask)
{
	struct rcm_writer w = rcm_writer_init(mad, RCM_MAD_SIZE);

	memset(mad, 0, RCM_MAD_SIZE);
	rcm_write_u8(&w, 1);			/* base version */
	rcm_write_u8(&w, RCM_SA_CLASS);
	rcm_write_u8(&w, RCM_SA_CLASS_VERSION);
	rcm_write_u8(&w, (uint8_t)method);
	rcm_write_zeros(&w, 4 + 8);		/* status, class specific, transaction id */
	rcm_write_u16(&w, (uint16_t)attribute);
	rcm_write_zeros(&w, 2 + 4 + 12);	/* reserved, modifier, RMPP header */
	/* An SM_Key that isn't 0 nor the SA's own is a question dropped without an answer. */
	rcm_write_zeros(&w, 8 + 2 + 2);		/* SM_Key, attribute offset, reserved */
	rcm_write_u64(&w, mask);
	return w;
}

void rcm_wire_ask(enum rcm_wire_method method, enum rcm_wire_attribute attribute, uint64_t mask, const void *record,
		  size_t len, uint8_t mad[RCM_MAD_SIZE])
{
	struct rcm_writer w = header_write(mad, method, attribute, mask);

	if (len)
		rcm_write_bytes(&w, record, len);
}

void rcm_wire_ask_service(const struct rcm_sa_service_query *query, uint8_t mad[RCM_MAD_SIZE])
{
	uint64_t mask = (query->by_id ? SERVICE_ID : 0) | (query->by_gid ? SERVICE_GID : 0) |
			(query->by_pkey ? SERVICE_PKEY : 0) | (query->by_key ? SERVICE_KEY : 0) |
			(query->by_name ? SERVICE_NAME : 0);
	struct rcm_writer w = header_write(mad, RCM_SA_GET_TABLE, RCM_SA_SERVICE_RECORD, mask);
	static const struct rcm_gid none;

	rcm_write_u64(&w, query->by_id ? query->service_id : 0);
	rcm_write_bytes(&w, query->by_gid ? query->gid.raw : none.raw, sizeof(none.raw));
	rcm_write_u16(&w, query->by_pkey ? query->pkey : 0);
	rcm_write_zeros(&w, 2 + 4);		/* reserved, lease */
	rcm_write_bytes(&w, query->by_key ? query->key : none.raw, sizeof(query->key));
	if (query->by_name)
		rcm_write_bytes(&w, query->service_name, sizeof(query->service_name));
}

/* What is set is named component by component: an SA takes what isn't for nothing, a lease for one without an end. */
void rcm_wire_publish(const struct rcm_sa_publication *publication, uint8_t mad[RCM_MAD_SIZE])
{
	const struct rcm_sa_service_record *record = &publication->record;
	uint64_t mask = SERVICE_PLACE | SERVICE_KEY;
	struct rcm_writer w;

	if (publication->loose)
		mask &= ~(uint64_t)SERVICE_PKEY;
	if (!publication->remove)
		mask |= SERVICE_LEASE | SERVICE_NAME | SERVICE_DATA;
	w = header_write(mad, publication->remove ? RCM_SA_DELETE : RCM_SA_SET, RCM_SA_SERVICE_RECORD, mask);
	rcm_write_u64(&w, record->id);
	rcm_write_bytes(&w, record->gid.raw, sizeof(record->gid.raw));
	rcm_write_u16(&w, record->pkey);
	rcm_write_zeros(&w, 2);
	rcm_write_u32(&w, record->lease);
	rcm_write_bytes(&w, publication->key, sizeof(publication->key));
	rcm_write_bytes(&w, record->name, 64);
	rcm_write_bytes(&w, record->data, sizeof(record->data));
}

void rcm_wire_ask_path(const struct rcm_sa_path_query *query, uint8_t mad[RCM_MAD_SIZE])
{
	/* As the kernel asks for a connection's path, so that a policy of the fabric gives both the same one. */
	uint64_t mask = PATH_SGID | PATH_TRAFFIC_CLASS | PATH_REVERSIBLE | PATH_NUMBER |
			(query->to_all ? 0 : PATH_DGID) | (query->pkey ? PATH_PKEY : 0) |
			(query->service_id ? PATH_SERVICE_ID : 0);
	enum rcm_wire_method method = query->to_all ? RCM_SA_GET_TABLE : RCM_SA_GET;
	struct rcm_writer w = header_write(mad, method, RCM_SA_PATH_RECORD, mask);

	rcm_write_u64(&w, query->service_id);
	if (query->to_all)
		rcm_write_zeros(&w, sizeof(query->dgid.raw));
	else
		rcm_write_bytes(&w, query->dgid.raw, sizeof(query->dgid.raw));
	rcm_write_bytes(&w, query->port.raw, sizeof(query->port.raw));
	rcm_write_zeros(&w, 2 + 2 + 4);		/* DLID, SLID, flow label and hop limit */
	rcm_write_u8(&w, query->traffic_class);
	rcm_write_u8(&w, PATH_REVERSIBLE_ONE);
	rcm_write_u16(&w, query->pkey);
}

void rcm_wire_set_tid(uint8_t *mad, uint32_t tid)
{
	struct rcm_writer w = rcm_writer_init(mad + AT_TID_LOW, sizeof(tid));

	rcm_write_u32(&w, tid);
}

uint32_t rcm_wire_tid(const uint8_t *mad)
{
	struct rcm_reader r = rcm_reader_init(mad + AT_TID_LOW, sizeof(uint32_t));

	return rcm_read_u32(&r);
}

static uint16_t u16_at(const uint8_t *bytes, size_t at)
{
	struct rcm_reader r = rcm_reader_init(bytes + at, sizeof(uint16_t));

	return rcm_read_u16(&r);
}

const char *rcm_wire_subject(const uint8_t *mad)
{
	switch (u16_at(mad, AT_ATTRIBUTE)) {
	case RCM_SA_SERVICE_RECORD:
		return "service records";
	case RCM_SA_PATH_RECORD:
		return "path records";
	case RCM_SA_CLASS_PORT_INFO:
		return "how long it may take";
	default:
		return "something";
	}
}

static size_t record_size(uint16_t attribute)
{
	switch (attribute) {
	case RCM_SA_CLASS_PORT_INFO:
		return RCM_CLASS_PORT_INFO_SIZE;
	case RCM_SA_SERVICE_RECORD:
		return RCM_SERVICE_RECORD_SIZE;
	default:
		return RCM_PATH_RECORD_SIZE;
	}
}

/* What was set is answered as if it had been asked for. */
static uint8_t response_method(uint8_t method)
{
	return (method == RCM_SA_SET ? RCM_SA_GET : method) | METHOD_RESPONSE;
}

static bool is_answer(const uint8_t *question, const uint8_t *mad)
{
	return mad[0] == 1 && mad[AT_CLASS] == RCM_SA_CLASS && mad[AT_METHOD] == response_method(question[AT_METHOD]) &&
	       u16_at(mad, AT_ATTRIBUTE) == u16_at(question, AT_ATTRIBUTE);
}

/*
 * The stride is the SA's: a record may have grown since. A single record (Get) needs none. A table without records
 * may come as a whole MAD of zeros, with an offset of 0. What follows the last whole record is padding.
 */
static int count_records(const uint8_t *mad, size_t len, size_t record, bool table, struct rcm_wire_answer *a)
{
	size_t offset = (size_t)u16_at(mad, AT_ATTRIBUTE_OFFSET) * 8, room = len - RCM_SA_HEADER_SIZE;

	a->stride = table ? offset : record;
	if (table && (!offset || !room))
		return 0;
	if (a->stride < record || room < record)
		return -EPROTO;
	a->count = table ? 1 + (room - record) / a->stride : 1;
	return 0;
}

int rcm_wire_read(const uint8_t question[RCM_MAD_SIZE], const void *mad, size_t len,
		  struct rcm_wire_answer *ret_answer)
{
	const uint8_t *bytes = mad;
	struct rcm_wire_answer a = { 0 };
	int ret = 0;

	if (len < RCM_SA_HEADER_SIZE || !is_answer(question, bytes))
		return -EPROTO;
	a.status = u16_at(bytes, AT_STATUS);
	a.records = bytes + RCM_SA_HEADER_SIZE;
	if (!a.status)
		ret = count_records(bytes, len, record_size(u16_at(bytes, AT_ATTRIBUTE)),
				    question[AT_METHOD] == RCM_SA_GET_TABLE, &a);
	if (!ret)
		*ret_answer = a;
	return ret;
}

enum rcm_wire_verdict rcm_wire_verdict(uint16_t status)
{
	if (!status)
		return RCM_WIRE_OK;
	if (status & STATUS_BUSY)
		return RCM_WIRE_AGAIN;
	if (status & 0xff)
		return RCM_WIRE_REFUSED;
	switch (status >> 8) {
	case SA_NO_RESOURCES:
		return RCM_WIRE_AGAIN;
	case SA_NO_RECORDS:
		return RCM_WIRE_NONE;
	default:
		return RCM_WIRE_REFUSED;
	}
}

static const char *common_name(uint8_t status)
{
	switch (status & 0x1c) {
	case 0x04:
		return "bad class or version";
	case 0x08:
		return "method not supported";
	case 0x0c:
		return "method not supported for this attribute";
	case 0x1c:
		return "invalid field value";
	default:
		return "unknown status";
	}
}

const char *rcm_wire_status_name(uint16_t status)
{
	static const char *const sa_names[] = {
		"ok", "NO_RESOURCES", "REQ_INVALID", "NO_RECORDS", "TOO_MANY_RECORDS", "REQ_INVALID_GID",
		"REQ_INSUFFICIENT_COMPONENTS", "REQ_DENIED", "PRIORITY_SUGGESTED",
	};

	if (status & STATUS_BUSY)
		return "BUSY";
	if (status & STATUS_REDIRECT)
		return "REDIRECT";
	if (status & 0xff)
		return common_name((uint8_t)status);
	return (status >> 8) < sizeof(sa_names) / sizeof(sa_names[0]) ? sa_names[status >> 8] : "unknown status";
}

uint64_t rcm_wire_response_time(const uint8_t bytes[RCM_CLASS_PORT_INFO_SIZE])
{
	return 4096ULL << (bytes[AT_RESPONSE_TIME] & 0x1f);
}

void rcm_wire_service_record(const uint8_t bytes[RCM_SERVICE_RECORD_SIZE], struct rcm_sa_service_record *ret_record)
{
	struct rcm_reader r = rcm_reader_init(bytes, RCM_SERVICE_RECORD_SIZE);

	ret_record->id = rcm_read_u64(&r);
	rcm_read_bytes(&r, ret_record->gid.raw, sizeof(ret_record->gid.raw));
	ret_record->pkey = rcm_read_u16(&r);
	rcm_read_skip(&r, 2);
	ret_record->lease = rcm_read_u32(&r);
	rcm_read_skip(&r, 16);			/* key */
	rcm_read_bytes(&r, ret_record->name, 64);
	ret_record->name[64] = '\0';
	rcm_read_bytes(&r, ret_record->data, sizeof(ret_record->data));
}

bool rcm_wire_service_matches(const struct rcm_sa_service_query *query, const uint8_t bytes[RCM_SERVICE_RECORD_SIZE])
{
	struct rcm_reader r = rcm_reader_init(bytes + AT_SERVICE_ID, sizeof(uint64_t));

	if (query->by_id && rcm_read_u64(&r) != query->service_id)
		return false;
	if (query->by_gid && memcmp(bytes + AT_SERVICE_GID, query->gid.raw, sizeof(query->gid.raw)) != 0)
		return false;
	if (query->by_pkey && u16_at(bytes, AT_SERVICE_PKEY) != query->pkey)
		return false;
	return !query->by_name || !memcmp(bytes + AT_SERVICE_NAME, query->service_name, sizeof(query->service_name));
}

bool rcm_wire_path_matches(const struct rcm_sa_path_query *query, const uint8_t bytes[RCM_PATH_RECORD_SIZE])
{
	uint16_t differs = u16_at(bytes, AT_PATH_PKEY) ^ query->pkey;

	return (query->to_all || !memcmp(bytes + AT_PATH_DGID, query->dgid.raw, sizeof(query->dgid.raw))) &&
	       !memcmp(bytes + AT_PATH_SGID, query->port.raw, sizeof(query->port.raw)) &&
	       (!query->pkey || !(differs & PKEY_NUMBER)) && bytes[AT_PATH_REVERSIBLE] & 0x80;
}
