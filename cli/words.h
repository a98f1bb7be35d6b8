/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the fields of a result. Texts are static, or cut to the buffer given. */
#pragma once

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const char *cli_family_word(int family);	/* "inet", "inet6", "ib"; "?" for any other */
const char *cli_qp_type_word(int qp_type);	/* "RC", "UC", "UD", "XRC"; "-" for 0 */
const char *cli_port_space_word(int port_space);	/* "TCP", "UDP", "IB", "IPOIB"; "-" for 0 */
const char *cli_errno_word(int status);		/* of -errno: "ENOENT" */

/* The address without its port, a scope after a %; "-" for NULL. */
void cli_address_word(const struct sockaddr *sa, char *buf, size_t len);

/* Its port, host order; of AF_IB the low 16 bits of the service id. NULL: 0. */
unsigned cli_address_port(const struct sockaddr *sa);

/* A path record with its fields in host order and the units that people use. */
struct cli_path {
	char flags[80];		/* "primary gmp bidirectional"; empty for none */
	char sgid[48], dgid[48];
	unsigned slid, dlid;
	unsigned sl, pkey;
	unsigned mtu;		/* bytes; 0: a number that has no meaning */
	double rate;		/* Gb/s; 0: likewise */
	double lifetime;	/* seconds */
	unsigned flow_label, hop_limit, traffic_class, qos_class, preference;
	bool reversible;
	uint64_t service_id;
};

void cli_path_read(const struct ibv_path_data *data, struct cli_path *ret_path);
