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
	RCM_TTL_NEGATIVE_S = 1,		/* the same of "no such name", or address */
	/*
	 * Names (of two questions, A and AAAA) under way to one name server: at first 128 have a place, more while
	 * answers come as soon as ever, half as many where they stay out. One that is unanswered for four usual round
	 * trips (5 to 50 ms; 10 ms while none is known) gives its place to the next and waits on. What is
	 * asked again waits for a place before those that are new.
	 */
	RCM_DNS_WINDOW = 128,		/* places at first */
	RCM_DNS_WINDOW_MIN = 64,
	RCM_DNS_NEWEST = 8,		/* of so many places for names that wait one goes to the newest, */
	RCM_DNS_NEWEST_US = 250,	/* and each so many us one beyond the window */
	RCM_DNS_IN_FLIGHT = 4096,	/* in all, those without a place too; more wait */
	RCM_DNS_SOCKETS = 16,		/* UDP sockets to one name server */
	RCM_DNS_SOCKET_QUESTIONS = 256,	/* asked from one port, before another takes over */
	RCM_DNS_CONNECTIONS = 8,	/* TCP connections to one name server */
	RCM_DNS_IDLE_MS = 5000,		/* a UDP socket without a question is closed after so long, */
	RCM_DNS_TCP_IDLE_MS = 200,	/* a TCP connection much sooner: some servers serve one at a time */
	RCM_SRV_RECORDS_MAX = 256,	/* SRV records of one answer; of more those of the best priorities */
	RCM_SRV_EXTRAS_MAX = 1024,	/* records of its additional section that are looked at */
	RCM_SRV_ADDRESSES_MAX = 64,	/* addresses of one target */
	RCM_SRV_AT_ONCE = 32,		/* targets of one answer that are asked about at a time */
	RCM_SRV_WAIT_MS = 1000,		/* how long those that stay silent are waited for when others were found */
	RCM_BLOCKS_MAX = 256,		/* prefixes of routes that are told apart */
	RCM_WAYS_MAX = 4096,		/* ways to addresses that are kept until a route changes */
	RCM_SEARCH_MAX = 1024,		/* domains of resolv.conf's search list that are gone by */
	RCM_SORTLIST_MAX = 64,		/* networks of resolv.conf's sortlist that are gone by */
	RCM_POLICY_ROWS = 64,		/* lines of a kind in gai.conf; a longer one is left to glibc */
	RCM_HOSTS_BYTES_MAX = 16 << 20,	/* of a hosts file kept in memory; a larger one is left to glibc */
	RCM_CONF_BYTES_MAX = 1 << 20,	/* of resolv.conf and the like; a larger one counts as one that can't be read */
	RCM_LOOP_LOOK_MS = 1000,	/* how often it is looked for lost descriptors while names are under way */
	RCM_LOOK_MS = 1000,		/* how long the host's files count as unchanged where inotify(7) can't tell */
	RCM_WATCH_IDLE_MS = 10000,	/* how long they are watched after the last name */
	RCM_LOOK_WAIT_MS = 100,		/* how long a name waits for a look at files that were read before */
	RCM_SERVICES_MAX = 1024,	/* service names whose port is remembered, */
	RCM_SERVICES_KEEP_S = 60,	/* for so long: modules of nsswitch.conf don't say when theirs change, */
	RCM_SERVICES_NONE_KEEP_S = 1,	/* and that there is none for so long: nor that they couldn't look */
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
	RCM_ACCEPT_GIDS_MAX = 256,	/* GIDs that a program names as those whose services it accepts */
	RCM_LISTED_MAX = 65536,		/* results in a list of all the SA's records */
	RCM_PUBLISHED_MAX = 4096,	/* services that a process publishes */
	RCM_PUBLISH_WINDOW = 8,		/* of them at the SA at a time, so that questions find room in the window */
	RCM_PUBLISH_LOOK_MS = 1000,	/* how often their ports are looked at, */
	RCM_PUBLISH_LOOK_PKEYS_MS = 10000,	/* and these ports' P_Keys, each a file */
	RCM_PUBLISH_LOSS_MS = 10000,	/* how often a record that is lost has the others of its port asked for */
	RCM_LEASE_S = 120,		/* of a service whose publisher says nothing */
	RCM_LEASE_MAX_S = 86400,	/* the longest: what its publisher left behind is there as long */
	RCM_ALERTS_DEVICES_MAX = 16,	/* devices whose asynchronous events are followed */
	RCM_ALERTS_LOOK_MS = 10000,	/* how often it is looked which devices there are, and whether there is need */
	RCM_ALERTS_PAUSE_MS = 50,	/* events so soon after those that were acted upon are acted upon together */
	RCM_NETDEVS_MAX = 64,		/* network interfaces of RDMA devices that are told apart */
	RCM_GAUGE_TURN = 4,		/* who wants to know the counters is answered, so many a turn */
	RCM_RETIRED_MAX = 64,		/* destroyed channels whose memory is kept for calls that were on their way */
	RCM_USER_SPARES_MAX = 64,	/* acknowledged USER events whose memory an id keeps for later ones */
	RCM_TURN_REQUESTS = 256,	/* requests begun per turn, so that a burst of them delays no answer */
	RCM_TURN_EVENTS = 64,		/* descriptors served per epoll_wait */
	RCM_TEXT_MAX = 192,		/* bytes of an event's explanation, NUL included */
};
