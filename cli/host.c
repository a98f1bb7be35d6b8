/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a host RDMA programs and names need, looked at without asking anybody. */
#include "host.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATH_ROOM = 256,
	NAMESERVER_PORT = 53,
	CAP_IPC_LOCK_BIT = 14,		/* capabilities(7) */
};

#define MEMLOCK_WANTED (UINT64_C(64) << 20)	/* what small servers register; storage and MPI take far more */

void cli_finding_set(struct cli_finding *finding, enum cli_verdict verdict, const char *format, ...)
{
	va_list args;

	*finding = (struct cli_finding) { .verdict = verdict, .time_us = -1 };
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

void cli_finding_mend(struct cli_finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->mend, sizeof(finding->mend), format, args);
	va_end(args);
}

static bool exists(const char *root, const char *directory, const char *name)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s%s%s", root, directory, name);
	return access(path, F_OK) == 0;
}

void cli_host_modules(const char *root, const struct cli_link *links, size_t count, struct cli_finding *ret_finding)
{
	static const struct {
		const char *module;
		const char *brings;	/* is there where the module is loaded or built in */
		bool for_infiniband;
	} modules[] = {
		{ "rdma_ucm", "/sys/class/misc/rdma_cm", false },
		{ "ib_uverbs", "/sys/class/infiniband_verbs/abi_version", false },
		{ "ib_umad", "/sys/class/infiniband_mad/abi_version", true },
	};
	char there[80] = "", missing[80] = "";
	bool infiniband = false;

	for (size_t i = 0; i < count; i++)
		infiniband |= cli_link_is_infiniband(&links[i]);
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		const char *module = modules[i].module;
		char *list = missing;

		if (exists(root, "/sys/module/", module) || exists(root, modules[i].brings, ""))
			list = there;
		if (modules[i].for_infiniband && !infiniband)
			continue;
		strcat(strcat(list, *list ? " " : ""), module);
	}
	if (!*missing) {
		cli_finding_set(ret_finding, CLI_OK, "%s", there);
	} else {
		cli_finding_set(ret_finding, count ? CLI_BAD : CLI_WARNING, "not loaded: %s", missing);
		cli_finding_mend(ret_finding, "modprobe -a %s", missing);
	}
}

static void node_add(struct cli_node *nodes, size_t *count, const char *name, bool needed)
{
	if (*count == CLI_NODES_MAX)
		return;
	snprintf(nodes[*count].path, sizeof(nodes[*count].path), "/dev/infiniband/%s", name);
	nodes[(*count)++].needed = needed;
}

static void nodes_of_class(const char *root, const char *class, const char *prefix, bool needed,
			   struct cli_node *nodes, size_t *count)
{
	struct dirent **names = NULL;
	char path[PATH_ROOM];
	int n;

	snprintf(path, sizeof(path), "%s/sys/class/%s", root, class);
	n = scandir(path, &names, NULL, versionsort);
	for (int i = 0; i < n; i++) {
		if (strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0 && strlen(names[i]->d_name) < 40)
			node_add(nodes, count, names[i]->d_name, needed);
		free(names[i]);
	}
	free(names);
}

size_t cli_host_nodes(const char *root, struct cli_node *nodes)
{
	size_t count = 0;

	if (exists(root, "/sys/class/misc/", "rdma_cm"))
		node_add(nodes, &count, "rdma_cm", true);
	nodes_of_class(root, "infiniband_verbs", "uverbs", true, nodes, &count);
	nodes_of_class(root, "infiniband_mad", "umad", false, nodes, &count);
	return count;
}

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user ? user->pw_name : "this user";
}

/* Which command lets the user use it. */
static void node_mend(const struct cli_node *node, const struct stat *st, struct cli_finding *finding)
{
	const struct group *group = getgrgid(st->st_gid);

	if ((st->st_mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP) && st->st_gid != 0 && group)
		cli_finding_mend(finding, "usermod -aG %s %s    # and log in again", group->gr_name, user_name());
	else if (node->needed)
		cli_finding_mend(finding, "chmod 0666 %s    # for good: a rule of udev(7)", node->path);
	else
		cli_finding_mend(finding, "chgrp rdma %s && chmod 0660 %s && usermod -aG rdma %s", node->path,
				 node->path, user_name());
}

void cli_host_node(const char *root, const struct cli_node *node, struct cli_finding *ret_finding)
{
	enum cli_verdict bad = node->needed ? CLI_BAD : CLI_WARNING;
	const char *lost = node->needed ? "" : "; services of the SA take the kernel's resolver, from Linux 6.18 on, "
					       "or fail";
	char path[PATH_ROOM];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", root, node->path);
	if (stat(path, &st) < 0) {
		cli_finding_set(ret_finding, bad, "%s: %s, but the kernel has the device%s", node->path,
				strerror(errno), lost);
		cli_finding_mend(ret_finding, "udevadm trigger --action=add; in a container: start it with "
				 "--device=%s", node->path);
	} else if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) < 0) {
		cli_finding_set(ret_finding, bad, "%s: %s, mode %04o, user %u, group %u%s", node->path,
				strerror(errno), st.st_mode & 07777, st.st_uid, st.st_gid, lost);
		node_mend(node, &st, ret_finding);
	} else {
		cli_finding_set(ret_finding, CLI_OK, "%s", node->path);
	}
}

bool cli_host_locks_freely(void)
{
	unsigned long long effective = 0;
	char line[128];
	FILE *in = fopen("/proc/self/status", "re");

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	if (in)
		fclose(in);
	return effective >> CAP_IPC_LOCK_BIT & 1;
}

void cli_host_memlock(const struct rlimit *limit, bool freely, struct cli_finding *ret_finding)
{
	double mib = (double)limit->rlim_cur / (1 << 20);

	if (limit->rlim_cur == RLIM_INFINITY) {
		cli_finding_set(ret_finding, CLI_OK, "unlimited");
	} else if (freely) {
		cli_finding_set(ret_finding, CLI_OK, "no limit for this process (CAP_IPC_LOCK); others %g MiB", mib);
	} else if (limit->rlim_cur >= MEMLOCK_WANTED) {
		cli_finding_set(ret_finding, CLI_OK, "%g MiB", mib);
	} else {
		cli_finding_set(ret_finding, CLI_WARNING, "%g MiB: registering more memory fails with ENOMEM", mib);
		cli_finding_mend(ret_finding, "%s", limit->rlim_max == RLIM_INFINITY ? "ulimit -l unlimited" :
				 "echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf, and log in again; "
				 "for a service: LimitMEMLOCK=infinity");
	}
}

void cli_host_file(const char *root, const char *path, const char *without, struct cli_finding *ret_finding)
{
	char full[PATH_ROOM], byte;
	ssize_t len = -1;
	int fd, error;

	snprintf(full, sizeof(full), "%s%s", root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		len = read(fd, &byte, 1);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (len >= 0) {
		cli_finding_set(ret_finding, CLI_OK, "%s", path);
		return;
	}
	cli_finding_set(ret_finding, error == ENOENT ? CLI_WARNING : CLI_BAD, "%s: %s; %s", path,
			strerror(error), without);
	if (error == EACCES)
		cli_finding_mend(ret_finding, "chmod a+r %s", path);
}

/* "192.0.2.1", "fe80::1%eth0". */
static bool nameserver_read(const char *text, struct cli_nameserver *ret_server)
{
	struct cli_nameserver server = { 0 };
	char address[sizeof(server.text)], *scope;

	if (snprintf(server.text, sizeof(server.text), "%s", text) >= (int)sizeof(server.text))
		return false;
	memcpy(address, server.text, sizeof(address));
	if (inet_aton(address, &server.address.in.sin_addr)) {
		server.address.in.sin_family = AF_INET;
		server.address.in.sin_port = htons(NAMESERVER_PORT);
		server.len = sizeof(server.address.in);
		goto out;
	}
	memset(&server.address, 0, sizeof(server.address));
	scope = strchr(address, '%');
	if (scope)
		*scope++ = 0;
	if (inet_pton(AF_INET6, address, &server.address.in6.sin6_addr) != 1)
		return false;
	server.address.in6.sin6_family = AF_INET6;
	server.address.in6.sin6_port = htons(NAMESERVER_PORT);
	if (scope)
		server.address.in6.sin6_scope_id = if_nametoindex(scope) ? if_nametoindex(scope) :
								 (uint32_t)strtoul(scope, NULL, 10);
	server.len = sizeof(server.address.in6);
out:
	*ret_server = server;
	return true;
}

static void nameserver_default(struct cli_nameserver servers[CLI_NAMESERVERS_MAX])
{
	nameserver_read("127.0.0.1", &servers[0]);
}

size_t cli_host_nameservers(const char *root, struct cli_nameserver servers[CLI_NAMESERVERS_MAX],
			    struct cli_finding *ret_finding)
{
	static const char file[] = "/etc/resolv.conf";
	char path[PATH_ROOM], *line = NULL;
	size_t count = 0, room = 0, more = 0;
	unsigned number = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s%s", root, file);
	in = fopen(path, "re");
	cli_finding_set(ret_finding, CLI_OK, "%s", file);
	if (!in) {
		cli_finding_set(ret_finding, CLI_BAD, "%s: %s, so 127.0.0.1 is asked", file, strerror(errno));
		cli_finding_mend(ret_finding, "%s", errno == EACCES ? "chmod a+r /etc/resolv.conf" :
				 "echo 'nameserver ADDRESS' >/etc/resolv.conf");
		nameserver_default(servers);
		return 1;
	}
	while (getline(&line, &room, in) >= 0) {
		char *left, *word = strtok_r(line, " \t\n", &left), *address;

		number++;
		if (!word || line[0] != 'n' || strcmp(word, "nameserver") != 0)
			continue;
		address = strtok_r(NULL, " \t\n", &left);
		if (count == CLI_NAMESERVERS_MAX)
			more++;
		else if (address && nameserver_read(address, &servers[count]))
			count++;
		else
			cli_finding_set(ret_finding, CLI_WARNING, "%s: line %u has no address: nameserver %s", file,
					number, address ? address : "");
	}
	free(line);
	fclose(in);
	if (more && ret_finding->verdict == CLI_OK)
		cli_finding_set(ret_finding, CLI_WARNING, "%s: %zu name servers beyond the third are never asked", file,
				more);
	if (count > 0)
		return count;
	if (ret_finding->verdict == CLI_OK)
		cli_finding_set(ret_finding, CLI_WARNING, "%s has no name server, so 127.0.0.1 is asked", file);
	cli_finding_mend(ret_finding, "echo 'nameserver ADDRESS' >>/etc/resolv.conf");
	nameserver_default(servers);
	return 1;
}
