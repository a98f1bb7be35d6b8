/* SPDX-License-Identifier: BSD-2-Clause */
/* How a name's resolution can end, and the errno and EAI code that each end has: the only tables of their kind. */
#pragma once

#include <stdbool.h>

/*
 * In order of weight: where the questions of one name (A and AAAA) end differently, the greater counts. So an address
 * found outweighs a failure, unless it was for want of memory or descriptors: then half an answer is none, since who
 * asks could not tell; a failure outweighs "no such data", which it leaves undecided; and "no such data" outweighs "no
 * such name", since a name that has the other family does exist.
 */
enum rcm_dns_verdict {
	RCM_DNS_NXDOMAIN,
	RCM_DNS_NO_HOST,		/* not asked: the name can be none of a host (RFC 952, RFC 1123 2.1) */
	RCM_DNS_NODATA,
	RCM_DNS_FORMERR,		/* rcodes of RFC 1035 4.1.1 */
	RCM_DNS_NOTIMP,
	RCM_DNS_REFUSED,
	RCM_DNS_OTHER_RCODE,
	RCM_DNS_LAME,			/* knows nothing of that name, and asks nobody */
	RCM_DNS_SERVFAIL,
	RCM_DNS_MALFORMED,		/* an answer that can't be read */
	RCM_DNS_UNREACHABLE,		/* no name server could be reached */
	RCM_DNS_CUT_UNREACHABLE,	/* one gave a truncated answer, and could not be reached by TCP */
	RCM_DNS_TIMEOUT,
	RCM_DNS_CUT_TIMEOUT,
	RCM_DNS_DECLINED,		/* an SRV record of target ".": the service is not to be had there (RFC 2782) */
	RCM_DNS_FOUND,
	RCM_DNS_NOMEM,
	RCM_DNS_NOFILE,			/* no descriptor for a socket */
	RCM_DNS_VERDICTS		/* how many there are */
};

/* The status an event carries for it: 0 or -errno as the contract's table has it. */
int rcm_verdict_errno(enum rcm_dns_verdict verdict);

/* The EAI code that goes with it: what getaddrinfo() says in that case; 0 for FOUND. */
int rcm_verdict_eai(enum rcm_dns_verdict verdict);

/* True for a failure of this process, not of any name server: it ends a name at once. */
static inline bool rcm_verdict_is_ours(enum rcm_dns_verdict verdict)
{
	return verdict > RCM_DNS_FOUND;
}

/* True where a name server said it, false where none did. */
static inline bool rcm_verdict_is_spoken(enum rcm_dns_verdict verdict)
{
	return verdict <= RCM_DNS_MALFORMED || verdict == RCM_DNS_CUT_UNREACHABLE || verdict == RCM_DNS_CUT_TIMEOUT ||
	       verdict == RCM_DNS_DECLINED || verdict == RCM_DNS_FOUND;
}

/* In words, to go behind "name server 192.0.2.1" where one answered; never NULL. */
const char *rcm_verdict_text(enum rcm_dns_verdict verdict);

/* What getaddrinfo() returned, as -errno; system_errno: errno at that moment, read where eai is EAI_SYSTEM only. It is
 * told where memory, descriptors or permissions are what lacks; else it is -EIO. */
int rcm_eai_errno(int eai, int system_errno);

/* The EAI code that goes with a status of ours, where nobody said another. */
int rcm_status_eai(int status);
