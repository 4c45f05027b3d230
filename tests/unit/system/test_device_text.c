/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_text.h: disks, interfaces and TCP, as kernels write them and as they do not.
 */
#include "system/parse/device_text.h"

#include "support/proc_fixture.h"

static void disks(void **state)
{
    (void)state;
    static const char text[] = "   8       0 sda 84204 12558 5674690 66408 23388 18016 3531800 "
                               "16357 0 16160 84545 9216 41 "
                               "1639624 1594 3016 185\n"
                               "   8       1 sda1 1 2 3 4\n"              /* before 2.6.25 */
                               "   8       2 sda2 1 2 3 4 5 6 7 8 9 10\n" /* cut off */
                               "\n"
                               " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11\n" /* before 4.18 */
                               "   x       0 sdb 1 2 3 4 5 6 7 8 9 10 11\n"
                               "   8      32 sdc 1 2 3 -4 5 6 7 8 9 10 11\n";
    crest_text rest = TEXT(text);
    crest_fault fault = {0};
    crest_disk_row row;
    assert_true(crest_diskstats_next(&rest, &row, &fault));
    assert_string_equal(row.name, "sda");
    assert_null(fault.why);
    assert_int_equal(row.major, 8);
    static const uint64_t values[] = {84204,   12558, 5674690, 66408, 23388, 18016,
                                      3531800, 16357, 0,       16160, 84545};
    assert_int_equal(LENGTH(values), CREST_DISK_FIELDS);
    assert_memory_equal(row.values, values, sizeof values);
    assert_true(crest_diskstats_next(&rest, &row, &fault));
    assert_string_equal(row.name, "nvme0n1");
    assert_non_null(strstr(fault_shown(&fault), "sda2"));
    assert_false(crest_diskstats_next(&rest, &row, &fault));
}

static void partitions_are_named_after_their_disk(void **state)
{
    (void)state;
    static const struct {
        const char *name, *disk;
        int is;
    } cases[] = {
        {"sda1", "sda", 1},
        {"sda12", "sda", 1},
        {"sda", "sda", 0},
        {"sdaa", "sda", 0},
        {"sdaa1", "sda", 0},
        {"nvme0n1p2", "nvme0n1", 1},
        {"nvme0n12", "nvme0n1", 0},
        {"nvme0n1p", "nvme0n1", 0},
        {"mmcblk0p1", "mmcblk0", 1},
        {"mmcblk0boot0", "mmcblk0", 0},
        {"dm-10", "dm-1", 0},
        {"md127p1", "md127", 1},
        {"vda1", "", 0},
        {"loop10", "loop1", 0},
        {"sdap1", "sda", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (crest_disk_is_partition(cases[i].name, cases[i].disk) != cases[i].is)
            fail_msg("%s of %s", cases[i].name, cases[i].disk);
}

static void interfaces(void **state)
{
    (void)state;
    static const char text[] =
        "Inter-|   Receive                    |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
        "    lo: 379282670  295980    1    2    3     4   5   6 379282671  295981    7    8    9   "
        "  10       11          12\n"
        "eth0:18446744073709551615 1758 0 0 0 0 0 0 100081 1113 0 0 0 0 0 0\n"
        "eth1: 1 2 3\n"
        ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
        "a-name-longer-than-any-interface-has: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
    crest_text rest = TEXT(text);
    crest_fault fault = {0};
    crest_interface_row row;
    assert_true(crest_net_dev_next(&rest, &row, &fault));
    assert_string_equal(row.name, "lo");
    static const uint64_t values[CREST_INTERFACE_FIELDS] = {379282670, 295980, 1, 2,
                                                            379282671, 295981, 7, 8};
    assert_memory_equal(row.values, values, sizeof values);
    assert_true(crest_net_dev_next(&rest, &row, &fault));
    assert_string_equal(row.name, "eth0");
    assert_int_equal(row.values[CREST_INTERFACE_READ_BYTES], UINT64_MAX);
    assert_int_equal(row.values[CREST_INTERFACE_WRITTEN_PACKETS], 1113);
    assert_null(fault.why);
    assert_false(crest_net_dev_next(&rest, &row, &fault));
    assert_string_equal(fault_shown(&fault), "eth1: 1 2 3");
}

static void tcp(void **state)
{
    (void)state;
    static const char snmp[] =
        "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
        "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
        "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n"
        "Tcp: 1 200 120000 -1 22635 22227 382 920 4 296110 297665 59 6 958 0\n"
        "Udp: InDatagrams\nUdp: 1601\n";
    uint64_t values[CREST_TCP_KEYS];
    crest_fault fault = {0};
    assert_int_equal(crest_snmp_parse(TEXT(snmp), values, &fault), (1u << CREST_TCP_KEYS) - 1);
    assert_null(fault.why);
    static const uint64_t wanted[CREST_TCP_KEYS] = {22635,  22227,  382, 920, 4,
                                                    296110, 297665, 59,  6,   958};
    assert_memory_equal(values, wanted, sizeof wanted);

    static const char netstat[] = "TcpExt: ListenDrops Other ListenOverflows\nTcpExt: 3 x 2\n"
                                  "IpExt: InOctets\nIpExt: 5\n";
    uint64_t more[CREST_TCP_MORE_KEYS];
    assert_int_equal(crest_netstat_parse(TEXT(netstat), more, &fault),
                     1u << CREST_TCP_LISTEN_DROPS | 1u << CREST_TCP_LISTEN_OVERFLOWS);
    assert_null(fault.why);
    assert_int_equal(more[CREST_TCP_LISTEN_OVERFLOWS], 2);
    assert_int_equal(more[CREST_TCP_LISTEN_DROPS], 3);
}

static void tcp_tables_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t found;
    } cases[] = {
        {"Tcp: InSegs OutSegs RetransSegs\nTcp: 1 2\n",
         1u << CREST_TCP_SEGMENTS_READ | 1u << CREST_TCP_SEGMENTS_WRITTEN},
        {"Tcp: InSegs OutSegs\nTcp: x 2\n", 1u << CREST_TCP_SEGMENTS_WRITTEN},
        {"Tcp: InSegs OutSegs\nUdp: 1 2\n", 0},
        {"Tcp: InSegs OutSegs\n", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t values[CREST_TCP_KEYS];
        crest_fault fault = {0};
        assert_int_equal(crest_snmp_parse(TEXT(cases[i].text), values, &fault), cases[i].found);
        assert_non_null(fault.why);
    }
    uint64_t values[CREST_TCP_KEYS];
    crest_fault fault = {0};
    assert_int_equal(crest_snmp_parse(TEXT("Udp: InDatagrams\nUdp: 1\n"), values, &fault), 0);
    assert_null(fault.why); /* absent is not wrong */
}

static void sockets(void **state)
{
    (void)state;
    static const char text[] = "sockets: used 17\n"
                               "TCP: inuse 1 orphan 2 tw 3 alloc 4 mem 5\n"
                               "UDP: inuse 6 mem 7\n";
    uint64_t values[CREST_SOCKETS_KEYS];
    crest_fault fault = {0};
    assert_int_equal(crest_sockstat_parse(TEXT(text), values, &fault),
                     (1u << CREST_SOCKETS_KEYS) - 1);
    static const uint64_t wanted[CREST_SOCKETS_KEYS] = {1, 2, 3, 4, 5};
    assert_memory_equal(values, wanted, sizeof wanted);
    assert_null(fault.why);
    assert_int_equal(crest_sockstat_parse(TEXT("TCP: inuse 1 orphan -2 tw 3\n"), values, &fault),
                     1u << CREST_SOCKETS_IN_USE);
    assert_non_null(fault.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disks),
        cmocka_unit_test(partitions_are_named_after_their_disk),
        cmocka_unit_test(interfaces),
        cmocka_unit_test(tcp),
        cmocka_unit_test(tcp_tables_that_do_not_fit),
        cmocka_unit_test(sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
