/* SPDX-License-Identifier: BSD-2-Clause */
/* EAI codes and ends of a resolution to errno. */
#include "dns/eai.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>

static const struct {
	int status;
	int eai;
	const char *text;
} verdicts[RCM_DNS_VERDICTS] = {
	[RCM_DNS_NXDOMAIN] = { -ENOENT, EAI_NONAME, "says that there is no such name" },
	[RCM_DNS_NO_HOST] = { -ENOENT, EAI_NONAME, "was not asked: no host can have that name" },
	[RCM_DNS_NODATA] = { -ENODATA, EAI_NODATA, "has no address of the wanted family for that name" },
	[RCM_DNS_FORMERR] = { -EIO, EAI_FAIL, "did not understand the question (FORMERR)" },
	[RCM_DNS_NOTIMP] = { -EIO, EAI_FAIL, "does not do such questions (NOTIMP)" },
	[RCM_DNS_REFUSED] = { -EIO, EAI_AGAIN, "refused to answer (REFUSED)" },
	[RCM_DNS_OTHER_RCODE] = { -EIO, EAI_FAIL, "answered with an error of another kind" },
	[RCM_DNS_LAME] = { -EIO, EAI_AGAIN, "knows nothing of that name, and asks nobody else" },
	[RCM_DNS_SERVFAIL] = { -EAGAIN, EAI_AGAIN, "failed for now (SERVFAIL)" },
	[RCM_DNS_MALFORMED] = { -EIO, EAI_FAIL, "sent a malformed answer" },
	[RCM_DNS_UNREACHABLE] = { -EAGAIN, EAI_AGAIN, "can't be reached" },
	[RCM_DNS_TIMEOUT] = { -ETIMEDOUT, EAI_AGAIN, "did not answer in time" },
	[RCM_DNS_CUT_UNREACHABLE] = { -EAGAIN, EAI_AGAIN, "sent a truncated answer, and can't be reached by TCP" },
	[RCM_DNS_CUT_TIMEOUT] = { -ETIMEDOUT, EAI_AGAIN, "sent a truncated answer, and none by TCP in time" },
	[RCM_DNS_NOFILE] = { -EMFILE, EAI_SYSTEM, "was not asked: out of file descriptors" },
	[RCM_DNS_NOMEM] = { -ENOMEM, EAI_MEMORY, "was not asked: out of memory" },
	[RCM_DNS_DECLINED] = { -ENOENT, EAI_NONAME, "says that the service is decidedly not available there" },
	[RCM_DNS_FOUND] = { 0, 0, "answered" },
};

int rcm_verdict_errno(enum rcm_dns_verdict verdict)
{
	return verdicts[verdict].status;
}

int rcm_verdict_eai(enum rcm_dns_verdict verdict)
{
	return verdicts[verdict].eai;
}

const char *rcm_verdict_text(enum rcm_dns_verdict verdict)
{
	return verdicts[verdict].text;
}

static const struct {
	int eai;
	int status;
} codes[] = {
	{ 0, 0 },
	{ EAI_NONAME, -ENOENT },
	{ EAI_SERVICE, -ENOENT },
	{ EAI_NODATA, -ENODATA },
	{ EAI_ADDRFAMILY, -ENODATA },
	{ EAI_AGAIN, -EAGAIN },
	{ EAI_FAIL, -EIO },
	{ EAI_MEMORY, -ENOMEM },
	{ EAI_FAMILY, -EAFNOSUPPORT },
	{ EAI_OVERFLOW, -ENAMETOOLONG },
	{ EAI_BADFLAGS, -EINVAL },
	{ EAI_SOCKTYPE, -EINVAL },
};

/* What this process lacks is told as it is. Of a module's own troubles the errno means nothing to who asked. */
static bool eai_is_of_process(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE || error == EACCES || error == EPERM;
}

int rcm_eai_errno(int eai, int system_errno)
{
	if (eai == EAI_SYSTEM)
		return eai_is_of_process(system_errno) ? -system_errno : -EIO;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].eai == eai)
			return codes[i].status;
	return -EIO;
}

int rcm_status_eai(int status)
{
	switch (status) {
	case 0:
		return 0;
	case -ENOENT:
		return EAI_NONAME;
	case -ENODATA:
		return EAI_NODATA;
	case -EAGAIN:
	case -ETIMEDOUT:
		return EAI_AGAIN;
	case -ENOMEM:
		return EAI_MEMORY;
	case -EIO:
		return EAI_FAIL;
	default:
		return EAI_SYSTEM;
	}
}
