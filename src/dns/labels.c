/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as labels. */
#include "dns/labels.h"

#include <string.h>

#include "base/ascii.h"

enum {
	POINTER = 0xc0,
	LABEL_MAX = 63,
	POINTERS_MAX = RCM_LABELS_MAX / 2,	/* in one name: as many as it can have labels */
};

size_t rcm_labels_read(const char *text, uint8_t labels[RCM_LABELS_MAX])
{
	size_t at = 0;

	/* The root. */
	if (!strcmp(text, ".")) {
		labels[0] = 0;
		return 1;
	}
	do {
		size_t len = strcspn(text, ".");

		if (!len || len > LABEL_MAX || at + len + 2 > RCM_LABELS_MAX)
			return 0;
		labels[at++] = (uint8_t)len;
		memcpy(labels + at, text, len);
		at += len;
		text += len + (text[len] == '.');
	} while (*text);
	labels[at++] = 0;
	return at;
}

/* A name in a message. Pointers go back only, each before all that the name has had so far; so there is an end. It is
 * near: an answer has room for thousands of names, each of which could lead through the whole message. */
struct walk {
	const uint8_t *bytes;
	size_t len;
	size_t at;		/* the next label */
	size_t floor;		/* pointers have to go before this */
	size_t behind;		/* where the name ends in place; 0: not known yet */
	size_t octets;		/* of all labels so far */
	unsigned pointers;
};

static struct walk walk_begin(const uint8_t *bytes, size_t len, size_t at)
{
	return (struct walk){ .bytes = bytes, .len = len, .at = at, .floor = at };
}

/* False: no label is where it leads. */
static bool walk_follow(struct walk *walk)
{
	size_t to;

	while (walk->at < walk->len && (walk->bytes[walk->at] & POINTER) == POINTER) {
		if (walk->at + 2 > walk->len)
			return false;
		to = (size_t)(walk->bytes[walk->at] & ~POINTER) << 8 | walk->bytes[walk->at + 1];
		if (to >= walk->floor || ++walk->pointers > POINTERS_MAX)
			return false;
		if (!walk->behind)
			walk->behind = walk->at + 2;
		walk->at = walk->floor = to;
	}
	return walk->at < walk->len;
}

/* The length of the next label, which is at *ret_label; 0: the name is over; -1: it can't be read. */
static int walk_label(struct walk *walk, const uint8_t **ret_label)
{
	size_t len;

	if (!walk_follow(walk))
		return -1;
	len = walk->bytes[walk->at];
	walk->octets += len + 1;
	if (len > LABEL_MAX || walk->at + 1 + len > walk->len || walk->octets > RCM_LABELS_MAX)
		return -1;
	*ret_label = walk->bytes + walk->at + 1;
	walk->at += len + 1;
	if (!len && !walk->behind)
		walk->behind = walk->at;
	return (int)len;
}

size_t rcm_labels_skip(const uint8_t *bytes, size_t len, size_t at)
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	while ((n = walk_label(&walk, &label)) > 0)
		;
	return n ? 0 : walk.behind;
}

size_t rcm_labels_skip_known(const uint8_t *bytes, size_t len, size_t at)
{
	while (at < len && bytes[at] && (bytes[at] & POINTER) != POINTER)
		at += 1U + bytes[at];
	if (at < len)
		at += bytes[at] ? 2 : 1;
	return at < len ? at : 0;
}

size_t rcm_labels_size(const uint8_t *labels)
{
	size_t at = 0;

	while (labels[at])
		at += 1U + labels[at];
	return at + 1;
}

/* In the same letters, behind one pointer at the most: as nearly all are, owner upon owner. */
static bool labels_are_exactly(const uint8_t *bytes, size_t len, size_t at, const uint8_t *labels)
{
	size_t size = rcm_labels_size(labels), from = at;

	if (at + 1 < len && (bytes[at] & POINTER) == POINTER)
		at = (size_t)(bytes[at] & ~POINTER) << 8 | bytes[at + 1];
	return at <= from && at + size <= len && !memcmp(bytes + at, labels, size);
}

bool rcm_labels_are(const uint8_t *bytes, size_t len, size_t at, const uint8_t *labels)
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	if (labels_are_exactly(bytes, len, at, labels))
		return true;
	do {
		n = walk_label(&walk, &label);
		if (n < 0 || *labels++ != n)
			return false;
		for (int i = 0; i < n; i++)
			if (rcm_ascii_lower(label[i]) != rcm_ascii_lower(*labels++))
				return false;
	} while (n);
	return true;
}

bool rcm_labels_copy(const uint8_t *bytes, size_t len, size_t at, uint8_t labels[RCM_LABELS_MAX])
{
	struct walk walk = walk_begin(bytes, len, at);
	const uint8_t *label;
	int n;

	do {
		n = walk_label(&walk, &label);
		if (n < 0)
			return false;
		*labels++ = (uint8_t)n;
		memcpy(labels, label, (size_t)n);
		labels += n;
	} while (n);
	return true;
}

void rcm_labels_print(const uint8_t *labels, char text[NS_MAXDNAME])
{
	char *at = text, *end = text + NS_MAXDNAME - 5;

	for (unsigned n; (n = *labels++) && at < end;) {
		if (at > text)
			*at++ = '.';
		for (; n && at < end; n--, labels++) {
			if (*labels <= ' ' || *labels >= 0x7f || strchr("\\.;\"()@$", *labels))
				*at++ = '\\';
			*at++ = (char)*labels;
		}
	}
	*at = '\0';
}
