/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as labels, alone and in messages (RFC 1035 3.1, 4.1.4). Pure, safe on any bytes. */
#pragma once

#include <arpa/nameser.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RCM_LABELS_MAX = 255 };		/* octets of a name, its root label included */

/* A full name, a dot at its end or not, as labels: their length, or 0 where it can't be one (empty or too long a label,
 * too long a name). */
size_t rcm_labels_read(const char *text, uint8_t labels[RCM_LABELS_MAX]);

/* As text, with a backslash before each octet that could be taken for something else. */
void rcm_labels_print(const uint8_t *labels, char text[NS_MAXDNAME]);

/* Of the name at some place of a message: where what follows it begins; 0: it can't be read. */
size_t rcm_labels_skip(const uint8_t *bytes, size_t len, size_t at);

/* The same of a name that was read before: what its pointers point to isn't looked at. */
size_t rcm_labels_skip_known(const uint8_t *bytes, size_t len, size_t at);

/* Octets of labels, the root's among them. */
size_t rcm_labels_size(const uint8_t *labels);

/* Whether it can be read and is that one, whatever the case of their letters (RFC 4343). */
bool rcm_labels_are(const uint8_t *bytes, size_t len, size_t at, const uint8_t *labels);

/* False: it can't be read. */
bool rcm_labels_copy(const uint8_t *bytes, size_t len, size_t at, uint8_t labels[RCM_LABELS_MAX]);
