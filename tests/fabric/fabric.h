/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test program does to the fabric it runs in, through scripts/fabric/world. */
#pragma once

/* How much later than its deadline an outcome may come; a sanitizer makes everything ten times as slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RCM_FABRIC_LATE_MS = 100 };
#else
enum { RCM_FABRIC_LATE_MS = 10 };
#endif

/* Runs "world WORDS" and waits for it; returns its exit status. Fails the test where it can't be run. */
int rcm_fabric(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets or deletes service records from a host ("hca3"), whosever they are: those of publishers that are none of this
 * library's. The words are options of records.c. Returns its exit status. */
int rcm_fabric_records(const char *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As rcm_fabric(), started only: returns its process, for rcm_fabric_wait(). */
int rcm_fabric_start(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rcm_fabric_wait(int pid);

/* Writes a port's GID as the hosts of the fabric have them: "hca3" is the third. */
void rcm_fabric_gid(unsigned host, unsigned char ret_gid[16]);

/* From now on so many in a hundred of this program's SA MADs are lost, and of its questions met with BUSY. */
void rcm_fabric_faults(unsigned lost_percent, unsigned busy_percent);
