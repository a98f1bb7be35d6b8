/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds-checked reader and writer of big-endian bytes; a short buffer is remembered, not overrun. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rcm_reader {
	const uint8_t *at, *end;
	bool short_read;	/* something was asked for beyond the end; all such reads gave zeros */
};

struct rcm_writer {
	uint8_t *at, *end;
	bool overflow;		/* something did not fit and was left out */
};

static inline struct rcm_reader rcm_reader_init(const void *bytes, size_t len)
{
	return (struct rcm_reader){ .at = bytes, .end = (const uint8_t *)bytes + len };
}

static inline struct rcm_writer rcm_writer_init(void *bytes, size_t len)
{
	return (struct rcm_writer){ .at = bytes, .end = (uint8_t *)bytes + len };
}

static inline size_t rcm_reader_left(const struct rcm_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline void rcm_read_bytes(struct rcm_reader *r, void *to, size_t len)
{
	if (rcm_reader_left(r) < len) {
		r->short_read = true;
		r->at = r->end;
		memset(to, 0, len);
		return;
	}
	memcpy(to, r->at, len);
	r->at += len;
}

static inline void rcm_read_skip(struct rcm_reader *r, size_t len)
{
	if (rcm_reader_left(r) < len) {
		r->short_read = true;
		len = rcm_reader_left(r);
	}
	r->at += len;
}

static inline uint64_t rcm_read_be(struct rcm_reader *r, unsigned len)
{
	uint8_t b[8] = { 0 };
	uint64_t v = 0;

	rcm_read_bytes(r, b, len);
	for (unsigned i = 0; i < len; i++)
		v = v << 8 | b[i];
	return v;
}

static inline uint8_t rcm_read_u8(struct rcm_reader *r) { return (uint8_t)rcm_read_be(r, 1); }
static inline uint16_t rcm_read_u16(struct rcm_reader *r) { return (uint16_t)rcm_read_be(r, 2); }
static inline uint32_t rcm_read_u32(struct rcm_reader *r) { return (uint32_t)rcm_read_be(r, 4); }
static inline uint64_t rcm_read_u64(struct rcm_reader *r) { return rcm_read_be(r, 8); }

static inline void rcm_write_bytes(struct rcm_writer *w, const void *from, size_t len)
{
	if ((size_t)(w->end - w->at) < len) {
		w->overflow = true;
		return;
	}
	memcpy(w->at, from, len);
	w->at += len;
}

static inline void rcm_write_zeros(struct rcm_writer *w, size_t len)
{
	if ((size_t)(w->end - w->at) < len) {
		w->overflow = true;
		return;
	}
	memset(w->at, 0, len);
	w->at += len;
}

static inline void rcm_write_be(struct rcm_writer *w, uint64_t v, unsigned len)
{
	uint8_t b[8];

	for (unsigned i = 0; i < len; i++)
		b[i] = (uint8_t)(v >> 8 * (len - 1 - i));
	rcm_write_bytes(w, b, len);
}

static inline void rcm_write_u8(struct rcm_writer *w, uint8_t v) { rcm_write_be(w, v, 1); }
static inline void rcm_write_u16(struct rcm_writer *w, uint16_t v) { rcm_write_be(w, v, 2); }
static inline void rcm_write_u32(struct rcm_writer *w, uint32_t v) { rcm_write_be(w, v, 4); }
static inline void rcm_write_u64(struct rcm_writer *w, uint64_t v) { rcm_write_be(w, v, 8); }
