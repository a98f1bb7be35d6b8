/* SPDX-License-Identifier: BSD-2-Clause */
/* Every limit of the library, in one place; README and the man pages quote this file. */
#pragma once

enum {
	RCM_NODE_MAX = 253,		/* characters of a node name (RFC 1035 2.3.4, text form) */
	RCM_SERVICE_TEXT_MAX = 65,	/* characters of a service name looked at: /etc/services has none so long */
	RCM_SERVICE_NAME_MAX = 63,	/* bytes of an SA service name; the 64th is its NUL */
	RCM_RESULTS_MAX = 4096,		/* results handed out in one list; the event tells how many there were */
	RCM_KEPT_MAX = 4096,		/* answers kept for later requests */
	RCM_KEPT_BYTES_MAX = 16 << 20,	/* bytes that all of them may take */
	RCM_TTL_MAX_S = 3600,		/* longest time an answer is kept, whatever its TTL says */
	RCM_TTL_NEGATIVE_S = 1,		/* how long "no such name" is kept */
	/*
	 * Names at the name servers have 128 places. One that is unanswered for four usual round trips (5 to 50 ms;
	 * 10 ms while none is known) gives its place to the next and waits on. A c-ares channel takes so many names,
	 * of two questions each: 2,048 by UDP in all, or 4,080 of one question, for one address family.
	 */
	RCM_DNS_WINDOW = 128,		/* places, and names of two questions a channel */
	RCM_DNS_CHANNELS_MAX = 16,	/* c-ares channels by UDP, and as many by TCP; each a socket per name server */
	RCM_HOSTS_BYTES_MAX = 16 << 20,	/* of a hosts file kept in memory; a larger one is left to glibc */
	RCM_LOOK_MS = 1000,		/* how long the host's files count as unchanged where inotify(7) can't tell */
	RCM_WATCH_IDLE_MS = 10000,	/* how long they are watched after the last name */
	RCM_LOOK_WAIT_MS = 100,		/* how long a name waits for a look at files that were read before */
	RCM_SERVICES_MAX = 1024,	/* service names whose port is remembered */
	RCM_NSS_WORKERS = 8,		/* getaddrinfo() threads, only where nsswitch.conf needs them: for host
					 * names, and as many for service names */
	RCM_NSS_THREADS = 64,		/* the same with those that didn't come back from a name that was given up */
	RCM_THREAD_STACK = 128 << 10,	/* bytes of the resolver's thread's stack */
	RCM_NSS_STACK = 512 << 10,	/* the same of a getaddrinfo() thread: modules of others run there */
	RCM_SA_WINDOW = 16,		/* SA queries in flight per port (what Linux 6.17 lets one agent have) */
	RCM_SA_PORTS_MAX = 64,		/* local InfiniBand ports looked at */
	RCM_SA_ANSWER_MAX = 16 << 20,	/* bytes of one SA answer: 95,000 service records */
	RCM_SA_IDLE_MS = 10000,		/* a port is closed after so long without a question */
	RCM_SA_DEADLINE_MS = 4000,	/* default for a whole SA resolution */
	RCM_NETDEVS_MAX = 64,		/* network interfaces of RDMA devices that are told apart */
	RCM_TURN_REQUESTS = 256,	/* requests begun per turn, so that a burst of them delays no answer */
	RCM_TURN_EVENTS = 64,		/* descriptors served per epoll_wait */
	RCM_TEXT_MAX = 192,		/* bytes of an event's explanation, NUL included */
};
