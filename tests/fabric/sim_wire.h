/* SPDX-License-Identifier: BSD-2-Clause */
/* The one attachment of this process to ibsim, through umad2sim, shared by all its umad ports. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* Attaches at the first call. Returns 0, or what umad_open_port() says of this name and number. */
int rcm_sim_wire_open(const char *ca, int portnum);

/* Sees to it that MADs of this class arrive; they go to rcm_sim_port_deliver(). 0 or -errno. */
int rcm_sim_wire_listen(uint8_t mgmt_class, uint8_t class_version);

/* Sends one message of @len MAD bytes, in several MADs where it is long. 0 or -errno. */
int rcm_sim_wire_send(const void *umad, size_t len);

/*
 * To be called where umad2sim may have attached just before, as each open() of its files does: this process then ends in
 * the right order. Each exit handler of umad2sim's is there by then.
 */
void rcm_sim_wire_see_off(void);
