/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_text.h: /proc/stat, loadavg, meminfo, vmstat and pressure/ of kernels old and new, cut off,
 * and with what does not belong there.
 */
#include "system/parse/host_text.h"

#include "support/proc_fixture.h"

static const char stat_new[] = "cpu  100 2 30 4000 50 0 7 8 90 1\n"
                               "cpu0 60 1 10 2000 25 0 7 4 50 1\n"
                               "cpu1 40 1 20 2000 25 0 0 4 40 0\n"
                               "intr 123456 5 0 0 9\n"
                               "ctxt 777\n"
                               "btime 1795318749\n"
                               "processes 99\n"
                               "procs_running 3\n"
                               "procs_blocked 1\n"
                               "softirq 617773 0 63045 4\n";

static void stat_of_a_new_kernel(void **state)
{
    (void)state;
    crest_stat_figures stat;
    crest_fault fault = {0};
    crest_stat_parse(TEXT(stat_new), &stat, &fault);
    assert_null(fault.why);
    static const uint64_t cpu[CREST_CPU_MODES] = {100, 2, 30, 4000, 50, 0, 7, 8};
    assert_int_equal(stat.modes, CREST_CPU_MODES);
    assert_memory_equal(stat.cpu, cpu, sizeof cpu);
    assert_int_equal(stat.cpus, 2);
    static const uint64_t values[CREST_STAT_KEYS] = {777, 123456, 99, 3, 1};
    assert_int_equal(stat.found, (1u << CREST_STAT_KEYS) - 1);
    assert_memory_equal(stat.values, values, sizeof values);
}

static void stat_old_cut_or_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned modes, cpus;
        uint64_t found;
        int fault;
    } cases[] = {
        {"", 0, 0, 0, 0},
        {"cpu  1 2 3 4\nctxt 5\n", 4, 0, 1 << CREST_STAT_SWITCHES, 0}, /* 2.4 */
        {"cpu 1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n", 7, 1, 0, 0},       /* 2.6.0 */
        {"cpu 1 2 3 4 5 6 7 8 9 10 11 12\n", 8, 0, 0, 0},              /* some day */
        {"cpu 1 2 3\n", 0, 0, 0, 1},
        {"cpu 1 2 3 4 5 6 7 x\n", 0, 0, 0, 1},
        {"cpu 1 2 -3 4 5 6 7 8\n", 0, 0, 0, 1},
        {"cpu 1 2 3 99999999999999999999 5\n", 0, 0, 0, 1},
        {"cpu 1 2 3 4\ncpu 9 9 9 9\nctxt\nprocesses 7", 4, 0, 1 << CREST_STAT_FORKS, 1},
        {"garbage\n\n\n\377\376", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_stat_figures stat;
        crest_fault fault = {0};
        crest_stat_parse(TEXT(cases[i].text), &stat, &fault);
        assert_int_equal(stat.modes, cases[i].modes);
        assert_int_equal(stat.cpus, cases[i].cpus);
        assert_int_equal(stat.found, cases[i].found);
        assert_int_equal(fault.why != NULL, cases[i].fault);
        if (stat.modes > 0)
            assert_int_equal(stat.cpu[0], 1);
    }
}

static void load(void **state)
{
    (void)state;
    double averages[3];
    crest_fault fault = {0};
    assert_true(crest_loadavg_parse(TEXT("0.79 1.48 12.05 1/95 2012\n"), averages, &fault));
    assert_true(averages[0] == 0.79 && averages[1] == 1.48 && averages[2] == 12.05);
    assert_false(crest_loadavg_parse(TEXT("0.79 0.48\n"), averages, &fault));
    assert_non_null(fault.why);
    assert_false(crest_loadavg_parse(TEXT("a b c\n"), averages, &fault));
    assert_false(crest_loadavg_parse(TEXT(""), averages, &fault));
}

static void memory_is_in_bytes(void **state)
{
    (void)state;
    static const char text[] = "MemTotal:       24684092 kB\n"
                               "MemFree:        24120696 kB\n"
                               "MemAvailable:   24300812 MB\n" /* no such unit */
                               "Buffers:            3648 kB\n"
                               "SwapCached:            0 kB\n"
                               "SwapTotal:             0 kB\n"
                               "SwapFree:              0\n"
                               "HugePages_Total:       0\n";
    uint64_t values[CREST_MEMORY_KEYS];
    crest_fault fault = {0};
    uint64_t found = crest_meminfo_parse(TEXT(text), values, &fault);
    assert_int_equal(found, 1u << CREST_MEMORY_TOTAL | 1u << CREST_MEMORY_FREE |
                                1u << CREST_MEMORY_BUFFERS | 1u << CREST_MEMORY_SWAP_TOTAL);
    assert_int_equal(values[CREST_MEMORY_TOTAL], UINT64_C(24684092) * 1024);
    assert_int_equal(values[CREST_MEMORY_BUFFERS], 3648 * 1024);
    assert_string_equal(fault_shown(&fault), "MemAvailable:   24300812 MB");
    crest_fault large = {0};
    assert_int_equal(
        crest_meminfo_parse(TEXT("MemFree: 18014398509481983 kB\nDirty: 18014398509481984 kB\n"),
                            values, &large),
        1u << CREST_MEMORY_FREE);
    assert_non_null(large.why);
}

static void paging(void **state)
{
    (void)state;
    static const char text[] = "nr_free_pages 6030174\npgpgin 2837473\npgpgout 1765900\n"
                               "pswpin 3\npswpout 4\npgfault 21401689\npgmajfault 2926\n"
                               "pgfault_other 1\n";
    uint64_t values[CREST_PAGING_KEYS];
    crest_fault fault = {0};
    uint64_t found = crest_vmstat_parse(TEXT(text), values, &fault);
    assert_int_equal(found, (1u << CREST_PAGING_OOM_KILLS) - 1); /* absent before Linux 4.13 */
    assert_null(fault.why);
    assert_int_equal(values[CREST_PAGING_FAULTS_MAJOR], 2926);
    assert_int_equal(values[CREST_PAGING_SWAPPED_OUT], 4);
}

static void pressure(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t found, some, full;
        int fault;
    } cases[] = {
        {"some avg10=2.72 avg60=3.80 avg300=2.44 total=55874165\n"
         "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n",
         3, 55874165, 17, 0},
        {"some avg10=2.72 avg60=3.80 avg300=2.44 total=5\n", 1, 5, 0, 0}, /* cpu before 5.13 */
        {"some avg10=2.72 total=-5\nfull total=1\n", 2, 0, 1, 1},
        {"some avg10=2.72\n", 0, 0, 0, 1},
        {"most total=3\n", 0, 0, 0, 0},
        {"", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t totals[CREST_PRESSURE_KINDS] = {0};
        crest_fault fault = {0};
        assert_int_equal(crest_pressure_parse(TEXT(cases[i].text), totals, &fault), cases[i].found);
        assert_int_equal(totals[CREST_PRESSURE_SOME], cases[i].some);
        assert_int_equal(totals[CREST_PRESSURE_FULL], cases[i].full);
        assert_int_equal(fault.why != NULL, cases[i].fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_of_a_new_kernel),
        cmocka_unit_test(stat_old_cut_or_wrong),
        cmocka_unit_test(load),
        cmocka_unit_test(memory_is_in_bytes),
        cmocka_unit_test(paging),
        cmocka_unit_test(pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
