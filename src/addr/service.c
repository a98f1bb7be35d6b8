/* SPDX-License-Identifier: BSD-2-Clause */
/* Service texts: of names a port, of the SA a service id. */
#include "addr/service.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stamp.h"
#include "base/table.h"

enum {
	SERVICE_LEN = 64,	/* longest name remembered; IANA's have at most 15 characters (RFC 6335 5.1) */
	ENTRIES_MAX = 256,	/* names remembered */
	LINE_LEN = 4096,	/* what one services entry with its aliases may take */
};

#define NSSWITCH "/etc/nsswitch.conf"

/* How long the services file is taken for unchanged without a look at it. */
#define LOOK_NS (100 * RCM_NS_PER_MS)

struct entry {
	char key[SERVICE_LEN + 2];	/* 't' or 'u', then the name */
	int port;			/* host order, or -errno */
	UT_hash_handle hh;
};

/* The resolver thread's alone. */
static struct {
	struct entry *entries;
	struct rcm_stamp file;		/* as it was when they were read */
	struct rcm_stamp nsswitch;
	bool is_local;
	uint64_t looked;		/* ns */
} memory;

int rcm_service_id(const char *service, uint64_t *ret_id)
{
	unsigned long long id;
	char *end;

	if (!isdigit((unsigned char)*service))
		return 0;
	errno = 0;
	id = strtoull(service, &end, 0);
	if (*end)
		return 0;
	if (errno == ERANGE)
		return -EINVAL;
	*ret_id = id;
	return 1;
}

int rcm_service_number(const char *service, uint16_t *ret_port)
{
	unsigned long port;

	if (!*service || service[strspn(service, "0123456789")])
		return 0;
	port = strtoul(service, NULL, 10);
	if (port > UINT16_MAX)
		return -ENOENT;
	*ret_port = (uint16_t)port;
	return 1;
}

/* Modules of glibc that read files of this host. */
static bool is_local_module(const char *word)
{
	return !strcmp(word, "files") || !strcmp(word, "db") || !strcmp(word, "compat");
}

/* "services: db files". What stands in brackets says when to go on, and names nobody. */
static bool line_is_local(char *line)
{
	char *rest, *word;
	bool local = true, action = false;

	word = strtok_r(line, " \t\r\n:", &rest);
	if (!word || strcmp(word, "services") != 0)
		return true;
	while ((word = strtok_r(NULL, " \t\r\n:", &rest))) {
		action = action || *word == '[';
		local = local && (action || is_local_module(word));
		action = action && !strchr(word, ']');
	}
	return local;
}

bool rcm_service_is_local_in(const char *nsswitch)
{
	FILE *file = fopen(nsswitch, "re");
	bool local = true;
	char *line = NULL;
	size_t size = 0;

	while (file && local && getline(&line, &size, file) >= 0)
		local = line_is_local(line);
	free(line);
	if (file)
		fclose(file);
	return local;
}

static void forget(void)
{
	struct entry *entry = memory.entries, *next;

	HASH_CLEAR(hh, memory.entries);
	for (; entry; entry = next) {
		next = entry->hh.next;
		free(entry);
	}
}

/* Forgets all where the files aren't those that were read. */
static void refresh(void)
{
	uint64_t now = rcm_clock_now();

	if (memory.looked && now - memory.looked < LOOK_NS)
		return;
	memory.looked = now;
	if (rcm_stamp_changed(&memory.nsswitch, NSSWITCH)) {
		memory.is_local = rcm_service_is_local_in(NSSWITCH);
		forget();
	}
	if (rcm_stamp_changed(&memory.file, "/etc/services"))
		forget();
}

bool rcm_service_is_local(void)
{
	refresh();
	return memory.is_local;
}

/* Port in host order, or -errno. The C library does the reading, so that nsswitch's services line counts. */
static int ask(const char *service, bool udp)
{
	struct servent entry, *found = NULL;
	char buf[LINE_LEN];
	int ret;

	ret = getservbyname_r(service, udp ? "udp" : "tcp", &entry, buf, sizeof(buf), &found);
	if (found)
		return ntohs((uint16_t)found->s_port);
	return ret && ret != ENOENT ? -ret : -ENOENT;
}

/* Without memory for it the answer is only not kept. */
static void remember(const char *key, size_t size, int port)
{
	struct entry *entry;

	if (HASH_COUNT(memory.entries) >= ENTRIES_MAX)
		forget();
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return;
	memcpy(entry->key, key, size);
	entry->port = port;
	HASH_ADD_STR(memory.entries, key, entry);
	if (!entry->hh.tbl)
		free(entry);
}

int rcm_service_port(const char *service, bool udp, uint16_t *ret_port)
{
	char key[SERVICE_LEN + 2] = { udp ? 'u' : 't' };
	size_t len = strlen(service);
	struct entry *entry;
	int port;

	if (len > SERVICE_LEN)
		return -ENOENT;
	memcpy(key + 1, service, len);
	refresh();
	HASH_FIND_STR(memory.entries, key, entry);
	port = entry ? entry->port : ask(service, udp);
	if (!entry && (port >= 0 || port == -ENOENT))
		remember(key, len + 2, port);
	if (port < 0)
		return port;
	*ret_port = (uint16_t)port;
	return 0;
}
