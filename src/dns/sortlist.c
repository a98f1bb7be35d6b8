/* SPDX-License-Identifier: BSD-2-Clause */
/* The sortlist of resolv.conf. */
#include "dns/sortlist.h"

#include <arpa/inet.h>
#include <string.h>

enum { SORTED_MAX = 48 };

/* That of the class which the address had before there were any masks (RFC 791, section 3.2). */
static in_addr_t sortlist_natural_mask(in_addr_t net)
{
	uint32_t bits = ntohl(net);

	return htonl(bits < 0x80000000 ? 0xff000000 : bits < 0xc0000000 ? 0xffff0000 : 0xffffff00);
}

/* "192.0.2.0", "192.0.2.0/255.255.255.0" or with an ampersand; a mask that is none is the natural one. */
static void sortlist_add(struct rcm_sortlist *list, char *word)
{
	char *mask = strpbrk(word, "/&");
	struct in_addr net, bits;

	if (mask)
		*mask++ = '\0';
	if (list->count == RCM_SORTLIST_MAX || !inet_aton(word, &net))
		return;
	if (!mask || !inet_aton(mask, &bits))
		bits.s_addr = sortlist_natural_mask(net.s_addr);
	list->pairs[list->count].net = net.s_addr;
	list->pairs[list->count++].mask = bits.s_addr;
}

void rcm_sortlist_read(struct rcm_sortlist *list, char *text)
{
	char *rest;

	text[strcspn(text, ";")] = '\0';
	for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
		sortlist_add(list, word);
}

/* The place of the network that has it; count: none has. */
static unsigned sortlist_find(const struct rcm_sortlist *list, const union rcm_dns_address *address)
{
	unsigned i = 0;

	while (i < list->count && (address->in.sin_addr.s_addr & list->pairs[i].mask) != list->pairs[i].net)
		i++;
	return i;
}

void rcm_sortlist_apply(const struct rcm_sortlist *list, union rcm_dns_address *addresses, unsigned count)
{
	unsigned places[SORTED_MAX];

	for (unsigned i = 0; i < count && i < SORTED_MAX && list->count; i++) {
		union rcm_dns_address address = addresses[i];
		unsigned place = sortlist_find(list, &address), at = i;

		for (; at && places[at - 1] > place; at--) {
			places[at] = places[at - 1];
			addresses[at] = addresses[at - 1];
		}
		places[at] = place;
		addresses[at] = address;
	}
}

bool rcm_sortlist_is_same(const struct rcm_sortlist *a, const struct rcm_sortlist *b)
{
	return a->count == b->count && !memcmp(a->pairs, b->pairs, a->count * sizeof(*a->pairs));
}
