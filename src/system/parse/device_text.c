/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/diskstats, /proc/net/dev, snmp, netstat and sockstat as figures. See device_text.h.
 */
#include "system/parse/device_text.h"

#include <string.h>

/* Figures after the name: of partitions before Linux 2.6.25; of an interface, both ways. */
#define DEVICE_TEXT_OLD_PARTITION 4u
#define DEVICE_TEXT_INTERFACE 16u

static const char *const device_text_tcp_keys[CREST_TCP_KEYS] = {
    [CREST_TCP_ACTIVE_OPENS] = "ActiveOpens",     [CREST_TCP_PASSIVE_OPENS] = "PassiveOpens",
    [CREST_TCP_ATTEMPTS_FAILED] = "AttemptFails", [CREST_TCP_RESETS_SEEN] = "EstabResets",
    [CREST_TCP_ESTABLISHED] = "CurrEstab",        [CREST_TCP_SEGMENTS_READ] = "InSegs",
    [CREST_TCP_SEGMENTS_WRITTEN] = "OutSegs",     [CREST_TCP_RETRANSMITTED] = "RetransSegs",
    [CREST_TCP_READ_FAILED] = "InErrs",           [CREST_TCP_RESETS_SENT] = "OutRsts"};

static const char *const device_text_more_keys[CREST_TCP_MORE_KEYS] = {
    [CREST_TCP_LISTEN_OVERFLOWS] = "ListenOverflows",
    [CREST_TCP_LISTEN_DROPS] = "ListenDrops",
    [CREST_TCP_TIMEOUTS] = "TCPTimeouts",
    [CREST_TCP_SYN_RETRANSMITTED] = "TCPSynRetrans"};

static const char *const device_text_socket_keys[CREST_SOCKETS_KEYS] = {
    [CREST_SOCKETS_IN_USE] = "inuse",
    [CREST_SOCKETS_ORPHANED] = "orphan",
    [CREST_SOCKETS_TIME_WAIT] = "tw",
    [CREST_SOCKETS_ALLOCATED] = "alloc",
    [CREST_SOCKETS_PAGES] = "mem"};

int crest_diskstats_next(crest_text *text, crest_disk_row *row, crest_fault *fault)
{
    crest_text line, name, word;
    while (crest_text_line(text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &word)) /* an empty line */
            continue;
        rest = line;
        int named = crest_text_u64(&rest, &row->major) && crest_text_u64(&rest, &row->minor) &&
                    crest_text_word(&rest, &name) &&
                    crest_text_copy(name, row->name, sizeof row->name);
        unsigned found = named ? crest_table_u64s(&rest, row->values, CREST_DISK_FIELDS) : 0;
        if (found == CREST_DISK_FIELDS)
            return 1;
        if (!named || found != DEVICE_TEXT_OLD_PARTITION || crest_text_word(&rest, &word))
            crest_fault_set(fault, "two numbers, a name and eleven numbers were expected", line);
    }
    return 0;
}

int crest_disk_is_partition(const char *name, const char *disk)
{
    size_t length = strlen(disk);
    if (length == 0 || strncmp(name, disk, length) != 0)
        return 0;
    const char *rest = name + length;
    if (disk[length - 1] >= '0' && disk[length - 1] <= '9' && *rest++ != 'p')
        return 0;
    return *rest != '\0' && rest[strspn(rest, "0123456789")] == '\0';
}

int crest_net_dev_next(crest_text *text, crest_interface_row *row, crest_fault *fault)
{
    /* the column of each field */
    static const unsigned char columns[CREST_INTERFACE_FIELDS] = {
        [CREST_INTERFACE_READ_BYTES] = 0,    [CREST_INTERFACE_READ_PACKETS] = 1,
        [CREST_INTERFACE_READ_FAILED] = 2,   [CREST_INTERFACE_READ_DROPPED] = 3,
        [CREST_INTERFACE_WRITTEN_BYTES] = 8, [CREST_INTERFACE_WRITTEN_PACKETS] = 9,
        [CREST_INTERFACE_WRITE_FAILED] = 10, [CREST_INTERFACE_WRITE_DROPPED] = 11};
    crest_text line, before, name;
    while (crest_text_line(text, &line)) {
        crest_text rest = line;
        uint64_t values[DEVICE_TEXT_INTERFACE];
        if (!crest_text_until(&rest, ':', &before))
            continue;
        if (!crest_text_word(&before, &name) ||
            !crest_text_copy(name, row->name, sizeof row->name) ||
            crest_table_u64s(&rest, values, DEVICE_TEXT_INTERFACE) != DEVICE_TEXT_INTERFACE) {
            crest_fault_set(fault, "a name, a colon and sixteen numbers were expected", line);
            continue;
        }
        for (unsigned i = 0; i < CREST_INTERFACE_FIELDS; i++)
            row->values[i] = values[columns[i]];
        return 1;
    }
    return 0;
}

/* Parses one pair of lines of a table; both begin with its name and a colon, which are taken
 * off. */
static uint64_t device_text_columns(crest_text names, crest_text numbers, const char *const *keys,
                                    unsigned count, uint64_t *values, crest_fault *fault)
{
    uint64_t found = 0;
    crest_text rest = numbers, name, number;
    while (crest_text_word(&names, &name)) {
        if (!crest_text_word(&rest, &number)) {
            crest_fault_set(fault, "there are fewer numbers than names", numbers);
            break;
        }
        unsigned i = 0;
        while (i < count && !crest_text_is(name, keys[i]))
            i++;
        if (i == count || crest_table_has(found, i))
            continue;
        if (crest_table_number(number, &values[i]))
            found |= UINT64_C(1) << i;
        else
            crest_fault_set(fault, "whole numbers were expected", numbers);
    }
    return found;
}

/* Parses the table of this name, which ends in a colon. */
static uint64_t device_text_table(crest_text text, const char *table, const char *const *keys,
                                  unsigned count, uint64_t *values, crest_fault *fault)
{
    crest_text names, numbers, word;
    while (crest_text_line(&text, &names)) {
        if (!crest_text_word(&names, &word) || !crest_text_is(word, table))
            continue;
        if (crest_text_line(&text, &numbers) && crest_text_word(&numbers, &word) &&
            crest_text_is(word, table))
            return device_text_columns(names, numbers, keys, count, values, fault);
        crest_fault_set(fault, "a line of numbers was expected after this one of names", names);
        return 0;
    }
    return 0;
}

uint64_t crest_snmp_parse(crest_text text, uint64_t values[CREST_TCP_KEYS], crest_fault *fault)
{
    return device_text_table(text, "Tcp:", device_text_tcp_keys, CREST_TCP_KEYS, values, fault);
}

uint64_t crest_netstat_parse(crest_text text, uint64_t values[CREST_TCP_MORE_KEYS],
                             crest_fault *fault)
{
    return device_text_table(text, "TcpExt:", device_text_more_keys, CREST_TCP_MORE_KEYS, values,
                             fault);
}

uint64_t crest_sockstat_parse(crest_text text, uint64_t values[CREST_SOCKETS_KEYS],
                              crest_fault *fault)
{
    uint64_t found = 0;
    crest_text line, name;
    while (crest_text_line(&text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &name) || !crest_text_is(name, "TCP:"))
            continue;
        while (crest_text_word(&rest, &name)) {
            uint64_t value;
            if (!crest_text_u64(&rest, &value)) {
                crest_fault_set(fault, "a whole number was expected after each name", line);
                break;
            }
            for (unsigned i = 0; i < CREST_SOCKETS_KEYS; i++) {
                if (crest_text_is(name, device_text_socket_keys[i])) {
                    values[i] = value;
                    found |= UINT64_C(1) << i;
                }
            }
        }
    }
    return found;
}
