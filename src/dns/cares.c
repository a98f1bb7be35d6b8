/* SPDX-License-Identifier: BSD-2-Clause */
/* c-ares on the engine's loop: a bounded set of channels, each with a bounded number of names. */
#include "dns/cares.h"

#include <ares.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/container.h"
#include "base/limits.h"
#include "dns/sockets.h"
#include "loop/timer.h"

/* c-ares wants to be called now and then while questions are out; to ask it when exactly (ares_timeout) costs a walk
 * over all of them. */
#define TICK_NS (50 * RCM_NS_PER_MS)

enum { EDNS_SIZE = 1200 };		/* what glibc announces */

/*
 * All questions of a channel go one way, by UDP or by TCP, and by TCP only one at a time: where a connection ends,
 * c-ares gives up all that is out to the same server. So UDP channels take truncated answers, to be asked for again by
 * TCP.
 */
struct channel {
	TAILQ_ENTRY(channel) entry;
	struct rcm_cares *cares;
	struct rcm_resolv *resolv;
	bool tcp;
	ares_channel ares;
	unsigned questions;		/* out */
	unsigned wanted;		/* of those, not dropped by who asked */
	struct rcm_sockets sockets;
};

struct question {
	TAILQ_ENTRY(question) entry;	/* of for_tcp */
	struct rcm_cares_name *name;
	struct channel *channel;	/* NULL: not out */
	ns_type type;
	bool cut;			/* asked again by TCP, since this server's answer was truncated: */
	union rcm_dns_address cutter;
};

struct rcm_cares {
	struct rcm_loop *loop;
	TAILQ_HEAD(, channel) channels;
	unsigned channels_count[2];	/* by UDP and by TCP */
	unsigned questions;
	TAILQ_HEAD(, question) for_tcp;
	struct rcm_timer tcp;		/* looks after those */
	struct rcm_timer tick;
	bool closing;
};

/* What c-ares calls back with; outlives a dropped exchange. */
struct rcm_cares_name {
	struct rcm_exchange *exchange;	/* NULL: dropped */
	unsigned pending;
	struct question questions[2];
	char text[];
};

static void sockets_ready(struct rcm_sockets *sockets, int fd, uint32_t events)
{
	struct channel *channel = rcm_container(sockets, struct channel, sockets);
	/* An error is found by reading: c-ares looks at a socket only when told to read or to write. */
	bool readable = events & ~(uint32_t)RCM_WRITABLE;

	ares_process_fd(channel->ares, readable ? fd : ARES_SOCKET_BAD, events & RCM_WRITABLE ? fd : ARES_SOCKET_BAD);
	channel->sockets.rcode = RCM_NO_RCODE;
}

static const struct ares_socket_functions functions = {
	.asocket = rcm_socket_open,
	.aclose = rcm_socket_close,
	.aconnect = rcm_socket_connect,
	.arecvfrom = rcm_socket_receive,
	.asendv = rcm_socket_send,
};

static int status_errno(int status)
{
	return status == ARES_SUCCESS ? 0 : status == ARES_ENOMEM ? -ENOMEM : -EIO;
}

static int set_servers(struct channel *channel)
{
	const struct rcm_resolv *resolv = channel->resolv;
	struct ares_addr_port_node nodes[MAXNS] = { 0 };

	for (unsigned i = 0; i < resolv->servers_count; i++) {
		const union rcm_dns_address *server = &resolv->servers[i];
		struct ares_addr_port_node *node = &nodes[i];

		node->family = server->sa.sa_family;
		if (node->family == AF_INET) {
			node->addr.addr4 = server->in.sin_addr;
			node->udp_port = node->tcp_port = ntohs(server->in.sin_port);
		} else {
			memcpy(&node->addr.addr6, &server->in6.sin6_addr, sizeof(node->addr.addr6));
			node->udp_port = node->tcp_port = ntohs(server->in6.sin6_port);
		}
		if (i)
			nodes[i - 1].next = node;
	}
	return status_errno(ares_set_servers_ports(channel->ares, resolv->servers_count ? nodes : NULL));
}

/* Every option is given, so that c-ares reads no file of its own: it knows fewer of their words than glibc. */
static int init_ares(struct channel *channel)
{
	const struct rcm_resolv *resolv = channel->resolv;
	struct ares_options options = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES |
			 (channel->tcp ? ARES_FLAG_USEVC : ARES_FLAG_IGNTC) |
			 (resolv->edns ? ARES_FLAG_EDNS : 0),
		.timeout = resolv->timeout_ms,
		.tries = resolv->attempts,
		.ndots = 1,
		.ednspsz = EDNS_SIZE,
		.lookups = (char[]){ "b" },
		.sock_state_cb = rcm_socket_watch,
		.sock_state_cb_data = &channel->sockets,
	};
	int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_EDNSPSZ |
		   ARES_OPT_LOOKUPS | ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_SORTLIST |
		   ARES_OPT_SOCK_STATE_CB | (resolv->rotate ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
	int err = status_errno(ares_init_options(&channel->ares, &options, mask));

	if (err)
		return err;
	ares_set_socket_functions(channel->ares, &functions, &channel->sockets);
	err = set_servers(channel);
	if (err)
		ares_destroy(channel->ares);
	return err;
}

static int channel_new(struct rcm_cares *cares, struct rcm_resolv *resolv, bool tcp, struct channel **ret_channel)
{
	struct channel *channel = calloc(1, sizeof(*channel));
	int err;

	if (!channel)
		return -ENOMEM;
	channel->cares = cares;
	channel->resolv = rcm_resolv_get(resolv);
	channel->tcp = tcp;
	rcm_sockets_init(&channel->sockets, cares->loop, resolv, sockets_ready);
	err = init_ares(channel);
	if (err) {
		rcm_resolv_put(channel->resolv);
		free(channel);
		return err;
	}
	TAILQ_INSERT_TAIL(&cares->channels, channel, entry);
	cares->channels_count[tcp]++;
	*ret_channel = channel;
	return 0;
}

/* Never from within one of the channel's own callbacks. */
static void channel_free(struct channel *channel)
{
	struct rcm_cares *cares = channel->cares;

	ares_destroy(channel->ares);
	TAILQ_REMOVE(&cares->channels, channel, entry);
	cares->channels_count[channel->tcp]--;
	rcm_resolv_put(channel->resolv);
	free(channel);
}

static void ticked(struct rcm_timer *timer)
{
	struct rcm_cares *cares = rcm_container(timer, struct rcm_cares, tick);
	struct channel *channel;

	TAILQ_FOREACH(channel, &cares->channels, entry)
		if (channel->questions)
			ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (cares->questions)
		rcm_timer_start(cares->loop, &cares->tick, cares->loop->now + TICK_NS, ticked);
}

static bool has_place(const struct channel *channel)
{
	return channel->tcp ? !channel->questions : channel->questions <= 2 * (RCM_DNS_WINDOW - 1);
}

static bool is_useless(const struct channel *channel)
{
	return !channel->questions ||
	       (!channel->wanted && channel->cares->channels_count[channel->tcp] == RCM_DNS_CHANNELS_MAX);
}

/* Looks for a channel to resolv's servers that has a place for a name, and frees what nobody needs on the way. */
static struct channel *find_channel(struct rcm_cares *cares, const struct rcm_resolv *resolv, bool tcp)
{
	struct channel *channel, *next, *found = NULL;

	for (channel = TAILQ_FIRST(&cares->channels); channel; channel = next) {
		next = TAILQ_NEXT(channel, entry);
		if (!found && channel->resolv == resolv && channel->tcp == tcp && has_place(channel))
			found = channel;
		else if (is_useless(channel))
			channel_free(channel);
	}
	return found;
}

static int take_channel(struct rcm_cares *cares, struct rcm_resolv *resolv, bool tcp, struct channel **ret_channel)
{
	struct channel *channel = find_channel(cares, resolv, tcp);

	if (channel) {
		*ret_channel = channel;
		return 0;
	}
	if (cares->channels_count[tcp] == RCM_DNS_CHANNELS_MAX)
		return -EAGAIN;
	return channel_new(cares, resolv, tcp, ret_channel);
}

static enum rcm_dns_verdict verdict_of(int status)
{
	switch (status) {
	case ARES_SUCCESS:
		return RCM_DNS_FOUND;
	case ARES_ENODATA:
		return RCM_DNS_NODATA;
	case ARES_ENOTFOUND:
	case ARES_EBADNAME:
		return RCM_DNS_NXDOMAIN;
	case ARES_EFORMERR:
		return RCM_DNS_FORMERR;
	case ARES_ENOTIMP:
		return RCM_DNS_NOTIMP;
	case ARES_EREFUSED:
		return RCM_DNS_REFUSED;
	case ARES_ESERVFAIL:
		return RCM_DNS_SERVFAIL;
	case ARES_ETIMEOUT:
		return RCM_DNS_TIMEOUT;
	case ARES_ENOMEM:
		return RCM_DNS_NOMEM;
	case ARES_ECONNREFUSED:
		return RCM_DNS_UNREACHABLE;
	default:
		return RCM_DNS_MALFORMED;
	}
}

/*
 * No message: all servers failed, and c-ares says "connection refused", whatever they answered. But it says so while it
 * works on the last answer, whose rcode is still noted, or when no socket could be had.
 */
static enum rcm_dns_verdict verdict_without_message(const struct channel *channel, int status)
{
	int failed = status == ARES_ECONNREFUSED ? channel->sockets.failed : 0;

	if (status == ARES_ENOMEM || failed == ENOMEM || failed == ENOBUFS)
		return RCM_DNS_NOMEM;
	if (failed == EMFILE || failed == ENFILE)
		return RCM_DNS_NOFILE;
	switch (channel->sockets.rcode) {
	case ns_r_servfail:
		return RCM_DNS_SERVFAIL;
	case ns_r_refused:
		return RCM_DNS_REFUSED;
	case ns_r_notimpl:
		return RCM_DNS_NOTIMP;
	default:
		return verdict_of(status);
	}
}

/* The name's questions end here, each once; the last takes the name with it. */
static void end_question(struct question *question, const struct rcm_cares_answer *answer)
{
	struct rcm_cares_name *name = question->name;
	struct rcm_exchange *exchange = name->exchange;
	bool last = !--name->pending;

	if (last) {
		free(name);
		if (exchange)
			exchange->name = NULL;
	}
	if (exchange)
		exchange->answered(exchange, answer, last);
}

static void ask_by_tcp(struct rcm_timer *timer);

static void wake_tcp(struct rcm_cares *cares)
{
	if (!TAILQ_EMPTY(&cares->for_tcp))
		rcm_timer_start(cares->loop, &cares->tcp, 0, ask_by_tcp);
}

static void put_channel(struct question *question)
{
	struct channel *channel = question->channel;

	channel->questions--;
	channel->wanted -= question->name->exchange != NULL;
	channel->cares->questions--;
	question->channel = NULL;
	if (channel->tcp)
		wake_tcp(channel->cares);
}

static bool is_rcode(enum rcm_dns_verdict verdict)
{
	return verdict >= RCM_DNS_FORMERR && verdict <= RCM_DNS_SERVFAIL;
}

/* "Can't be reached" would mislead about a server that did answer by UDP. */
static void tell_of_cut(struct rcm_cares_answer *answer, const union rcm_dns_address *cutter)
{
	if (answer->verdict == RCM_DNS_UNREACHABLE)
		answer->verdict = RCM_DNS_CUT_UNREACHABLE;
	else if (answer->verdict == RCM_DNS_TIMEOUT)
		answer->verdict = RCM_DNS_CUT_TIMEOUT;
	else
		return;
	answer->server = cutter->sa.sa_family ? cutter : NULL;
}

static void answered(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	struct question *question = arg;
	struct channel *channel = question->channel;
	struct rcm_cares *cares = channel->cares;
	struct rcm_cares_answer answer = { .type = question->type, .bytes = bytes, .len = (size_t)len };
	/* The question goes before its answer is read. */
	const union rcm_dns_address cutter = question->cutter;

	(void)timeouts;
	put_channel(question);
	if (cares->closing)
		question->name->exchange = NULL;
	if (bytes && channel->sockets.cut && !channel->tcp && question->name->exchange) {
		question->cut = true;
		if (channel->sockets.speaker)
			question->cutter = *channel->sockets.speaker;
		TAILQ_INSERT_TAIL(&cares->for_tcp, question, entry);
		wake_tcp(cares);
		return;
	}
	answer.verdict = bytes ? verdict_of(status) : verdict_without_message(channel, status);
	if (bytes || is_rcode(answer.verdict))
		answer.server = channel->sockets.speaker;
	if (question->cut)
		tell_of_cut(&answer, &cutter);
	end_question(question, &answer);
}

/* An answer may come at once: when the name's last has, the question is gone. */
static void put_question(struct question *question, struct channel *channel)
{
	struct rcm_cares *cares = channel->cares;

	question->channel = channel;
	channel->questions++;
	channel->wanted += question->name->exchange != NULL;
	if (!cares->questions++)
		rcm_timer_start(cares->loop, &cares->tick, cares->loop->now + TICK_NS, ticked);
	ares_query(channel->ares, question->name->text, ns_c_in, question->type, answered, question);
}

/* Not from c-ares' own callback, where no channel may be freed. */
static void ask_by_tcp(struct rcm_timer *timer)
{
	struct rcm_cares *cares = rcm_container(timer, struct rcm_cares, tcp);
	struct question *question;
	struct channel *channel;

	while ((question = TAILQ_FIRST(&cares->for_tcp))) {
		const struct rcm_cares_answer failure = { .type = question->type, .verdict = RCM_DNS_NOMEM };
		struct rcm_exchange *exchange = question->name->exchange;
		int err = exchange ? take_channel(cares, exchange->resolv, true, &channel) : -ECANCELED;

		if (err == -EAGAIN)
			break;
		TAILQ_REMOVE(&cares->for_tcp, question, entry);
		if (err)
			end_question(question, &failure);
		else
			put_question(question, channel);
	}
}

static int ask(struct rcm_cares *cares, struct rcm_resolv *resolv, const char *text, bool a, bool aaaa,
	       struct rcm_exchange *exchange)
{
	size_t len = strlen(text) + 1;
	struct rcm_cares_name *name = malloc(sizeof(*name) + len);
	struct channel *channel = NULL;
	int err;

	if (!name)
		return -ENOMEM;
	err = resolv->use_tcp ? 0 : take_channel(cares, resolv, false, &channel);
	if (err) {
		free(name);
		return err;
	}
	*name = (struct rcm_cares_name){
		.exchange = exchange, .pending = (unsigned)a + aaaa,
		.questions = { { .name = name, .type = ns_t_a }, { .name = name, .type = ns_t_aaaa } },
	};
	memcpy(name->text, text, len);
	exchange->name = name;
	exchange->resolv = resolv;
	for (int i = !a; i < 1 + aaaa; i++) {
		if (channel)
			put_question(&name->questions[i], channel);
		else
			TAILQ_INSERT_TAIL(&cares->for_tcp, &name->questions[i], entry);
	}
	wake_tcp(cares);
	return 0;
}

static void drop(struct rcm_exchange *exchange)
{
	struct rcm_cares_name *name = exchange->name;

	if (!name)
		return;
	for (int i = 0; i < 2; i++)
		if (name->questions[i].channel)
			name->questions[i].channel->wanted--;
	name->exchange = NULL;
	exchange->name = NULL;
}

static int cares_open(struct rcm_loop *loop, struct rcm_cares **ret_cares)
{
	struct rcm_cares *cares;
	int err = status_errno(ares_library_init(ARES_LIB_INIT_ALL));

	if (err)
		return err;
	cares = calloc(1, sizeof(*cares));
	if (!cares)
		return -ENOMEM;
	cares->loop = loop;
	TAILQ_INIT(&cares->channels);
	TAILQ_INIT(&cares->for_tcp);
	*ret_cares = cares;
	return 0;
}

static void cares_close(struct rcm_cares *cares)
{
	const struct rcm_cares_answer none = { 0 };
	struct channel *channel;
	struct question *question;

	if (!cares)
		return;
	cares->closing = true;
	while ((channel = TAILQ_FIRST(&cares->channels)))
		channel_free(channel);
	while ((question = TAILQ_FIRST(&cares->for_tcp))) {
		TAILQ_REMOVE(&cares->for_tcp, question, entry);
		question->name->exchange = NULL;
		end_question(question, &none);
	}
	rcm_timer_stop(cares->loop, &cares->tick);
	rcm_timer_stop(cares->loop, &cares->tcp);
	free(cares);
}

static void cares_abandon(struct rcm_cares *cares)
{
	struct channel *channel;

	if (!cares)
		return;
	TAILQ_FOREACH(channel, &cares->channels, entry)
		channel->sockets.loop = NULL;
	cares_close(cares);
}

const struct rcm_cares_ops rcm_cares_network = {
	.open = cares_open,
	.ask = ask,
	.drop = drop,
	.close = cares_close,
	.abandon = cares_abandon,
};
