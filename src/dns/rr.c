/* SPDX-License-Identifier: BSD-2-Clause */
/* One record of a message. */
#include "dns/rr.h"

#include <netinet/in.h>

#include "base/bytes.h"

enum { SRV_HEAD = 6 };			/* octets before its target */

/* Its owner ends before behind. */
static bool rr_read_owned(const uint8_t *bytes, size_t len, size_t behind, size_t *at, struct rcm_rr *ret_rr)
{
	struct rcm_reader r = rcm_reader_init(bytes + behind, len - behind);
	struct rcm_rr rr = { .owner = *at };
	uint16_t class;

	rr.type = rcm_read_u16(&r);
	class = rcm_read_u16(&r);
	rr.ttl = rcm_read_u32(&r);
	rr.size = rcm_read_u16(&r);
	rr.data = (size_t)(r.at - bytes);
	rcm_read_skip(&r, rr.size);
	if (!behind || r.short_read)
		return false;
	if (class != ns_c_in && rr.type != ns_t_opt)
		rr.type = 0;
	/* RFC 2181, section 8. */
	if (rr.ttl > INT32_MAX && rr.type != ns_t_opt)
		rr.ttl = 0;
	*at = (size_t)(r.at - bytes);
	*ret_rr = rr;
	return true;
}

bool rcm_rr_read(const uint8_t *bytes, size_t len, size_t *at, struct rcm_rr *ret_rr)
{
	return rr_read_owned(bytes, len, rcm_labels_skip(bytes, len, *at), at, ret_rr);
}

bool rcm_rr_read_again(const uint8_t *bytes, size_t len, size_t *at, struct rcm_rr *ret_rr)
{
	return rr_read_owned(bytes, len, rcm_labels_skip_known(bytes, len, *at), at, ret_rr);
}

/* A target may be compressed, which RFC 2782 forbids, but nothing may stand behind it. */
bool rcm_rr_fits(const uint8_t *bytes, size_t len, const struct rcm_rr *rr)
{
	switch (rr->type) {
	case ns_t_a:
		return rr->size == sizeof(struct in_addr);
	case ns_t_aaaa:
		return rr->size == sizeof(struct in6_addr);
	case ns_t_srv:
		return rr->size > SRV_HEAD &&
		       rcm_labels_skip(bytes, len, rr->data + SRV_HEAD) == rr->data + rr->size;
	default:
		return false;
	}
}

bool rcm_rr_read_srv(const uint8_t *bytes, size_t len, const struct rcm_rr *rr, struct rcm_rr_srv *ret_srv)
{
	struct rcm_reader r = rcm_reader_init(bytes + rr->data, rr->size);

	ret_srv->priority = rcm_read_u16(&r);
	ret_srv->weight = rcm_read_u16(&r);
	ret_srv->port = rcm_read_u16(&r);
	return rcm_labels_copy(bytes, len, rr->data + SRV_HEAD, ret_srv->target);
}
