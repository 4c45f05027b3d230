/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of devices and of TCP: /proc/diskstats, /proc/net/dev, snmp, netstat,
 * sockstat. Text in, figures out; pure. Rows of devices are read one after the other:
 *
 *     crest_disk_row row;
 *     while (crest_diskstats_next(&text, &row, &fault))
 *         ...row.name, row.values[CREST_DISK_READS]...
 *
 * A malformed row is a fault and left out.
 * Sources: the kernel's Documentation/admin-guide/iostats.rst, proc_pid_net(5), RFC 4022 for what
 * the figures of TCP mean.
 */
#ifndef CREST_SYSTEM_DEVICE_TEXT_H
#define CREST_SYSTEM_DEVICE_TEXT_H

#include "system/parse/proc_table.h"

/* Bytes of a device's name, its NUL included: DISK_NAME_LEN of the kernel; more than IFNAMSIZ. */
#define CREST_DEVICE_NAME_BYTES 33u
/* What diskstats calls a sector, whatever the device's are. */
#define CREST_DISK_SECTOR_BYTES 512u

/* In the order of the file. Times are milliseconds that the kernel prints as 32 bits, so they
 * wrap; in-flight is no total. */
typedef enum crest_disk_field {
    CREST_DISK_READS,
    CREST_DISK_READS_MERGED,
    CREST_DISK_SECTORS_READ,
    CREST_DISK_READ_MS,
    CREST_DISK_WRITES,
    CREST_DISK_WRITES_MERGED,
    CREST_DISK_SECTORS_WRITTEN,
    CREST_DISK_WRITE_MS,
    CREST_DISK_IN_FLIGHT,
    CREST_DISK_BUSY_MS,
    CREST_DISK_WAITED_MS,
    CREST_DISK_FIELDS
} crest_disk_field;

typedef struct crest_disk_row {
    char name[CREST_DEVICE_NAME_BYTES];
    uint64_t major, minor;
    uint64_t values[CREST_DISK_FIELDS];
} crest_disk_row;

/* The next device; 0 at the end. The four-figure rows of partitions before Linux 2.6.25 are
 * skipped. */
int crest_diskstats_next(crest_text *text, crest_disk_row *row, crest_fault *fault);

/* Whether `name` is a partition of `disk` as the kernel names them: sda1 of sda, nvme0n1p2 of
 * nvme0n1. */
int crest_disk_is_partition(const char *name, const char *disk);

typedef enum crest_interface_field {
    CREST_INTERFACE_READ_BYTES,
    CREST_INTERFACE_READ_PACKETS,
    CREST_INTERFACE_READ_FAILED,
    CREST_INTERFACE_READ_DROPPED,
    CREST_INTERFACE_WRITTEN_BYTES,
    CREST_INTERFACE_WRITTEN_PACKETS,
    CREST_INTERFACE_WRITE_FAILED,
    CREST_INTERFACE_WRITE_DROPPED,
    CREST_INTERFACE_FIELDS
} crest_interface_field;

typedef struct crest_interface_row {
    char name[CREST_DEVICE_NAME_BYTES];
    uint64_t values[CREST_INTERFACE_FIELDS];
} crest_interface_row;

/* The next interface; 0 at the end. Lines without a colon are headings. */
int crest_net_dev_next(crest_text *text, crest_interface_row *row, crest_fault *fault);

typedef enum crest_tcp_key {
    CREST_TCP_ACTIVE_OPENS,
    CREST_TCP_PASSIVE_OPENS,
    CREST_TCP_ATTEMPTS_FAILED,
    CREST_TCP_RESETS_SEEN,
    CREST_TCP_ESTABLISHED,
    CREST_TCP_SEGMENTS_READ,
    CREST_TCP_SEGMENTS_WRITTEN,
    CREST_TCP_RETRANSMITTED,
    CREST_TCP_READ_FAILED,
    CREST_TCP_RESETS_SENT,
    CREST_TCP_KEYS
} crest_tcp_key;

typedef enum crest_tcp_more_key {
    CREST_TCP_LISTEN_OVERFLOWS,
    CREST_TCP_LISTEN_DROPS,
    CREST_TCP_TIMEOUTS,
    CREST_TCP_SYN_RETRANSMITTED,
    CREST_TCP_MORE_KEYS
} crest_tcp_more_key;

/* Parses the table Tcp of /proc/net/snmp or TcpExt of /proc/net/netstat: a line of names, then a
 * line of numbers. Returns a mask of the values found. */
uint64_t crest_snmp_parse(crest_text text, uint64_t values[CREST_TCP_KEYS], crest_fault *fault);
uint64_t crest_netstat_parse(crest_text text, uint64_t values[CREST_TCP_MORE_KEYS],
                             crest_fault *fault);

typedef enum crest_sockets_key {
    CREST_SOCKETS_IN_USE,
    CREST_SOCKETS_ORPHANED,
    CREST_SOCKETS_TIME_WAIT,
    CREST_SOCKETS_ALLOCATED,
    CREST_SOCKETS_PAGES,
    CREST_SOCKETS_KEYS
} crest_sockets_key;

/* Parses the line TCP of /proc/net/sockstat. Returns a mask of the values found. */
uint64_t crest_sockstat_parse(crest_text text, uint64_t values[CREST_SOCKETS_KEYS],
                              crest_fault *fault);

#endif
