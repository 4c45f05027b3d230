/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/stat, loadavg, meminfo, vmstat and pressure/ as figures. See host_text.h.
 */
#include "system/parse/host_text.h"

#include <string.h>

/* Modes that every kernel since 2.4 has. */
#define HOST_TEXT_MODES_MIN 4u
#define HOST_TEXT_KIB 1024u
/* Page faults that may happen between two readings. */
#define HOST_TEXT_FAULTS_BACK 1024u

static const char *const host_text_stat_keys[CREST_STAT_KEYS] = {
    [CREST_STAT_SWITCHES] = "ctxt",
    [CREST_STAT_INTERRUPTS] = "intr",
    [CREST_STAT_FORKS] = "processes",
    [CREST_STAT_RUNNING] = "procs_running",
    [CREST_STAT_BLOCKED] = "procs_blocked"};

static const char *const host_text_memory_keys[CREST_MEMORY_KEYS] = {
    [CREST_MEMORY_TOTAL] = "MemTotal",
    [CREST_MEMORY_FREE] = "MemFree",
    [CREST_MEMORY_AVAILABLE] = "MemAvailable",
    [CREST_MEMORY_BUFFERS] = "Buffers",
    [CREST_MEMORY_CACHED] = "Cached",
    [CREST_MEMORY_SWAP_TOTAL] = "SwapTotal",
    [CREST_MEMORY_SWAP_FREE] = "SwapFree",
    [CREST_MEMORY_DIRTY] = "Dirty",
    [CREST_MEMORY_WRITEBACK] = "Writeback",
    [CREST_MEMORY_ANONYMOUS] = "AnonPages",
    [CREST_MEMORY_MAPPED] = "Mapped",
    [CREST_MEMORY_SHARED] = "Shmem",
    [CREST_MEMORY_SLAB] = "Slab",
    [CREST_MEMORY_RECLAIMABLE] = "SReclaimable",
    [CREST_MEMORY_COMMITTED] = "Committed_AS",
    [CREST_MEMORY_COMMIT_LIMIT] = "CommitLimit"};

static const char *const host_text_paging_keys[CREST_PAGING_KEYS] = {
    [CREST_PAGING_PAGED_IN] = "pgpgin",   [CREST_PAGING_PAGED_OUT] = "pgpgout",
    [CREST_PAGING_SWAPPED_IN] = "pswpin", [CREST_PAGING_SWAPPED_OUT] = "pswpout",
    [CREST_PAGING_FAULTS] = "pgfault",    [CREST_PAGING_FAULTS_MAJOR] = "pgmajfault",
    [CREST_PAGING_OOM_KILLS] = "oom_kill"};

static const char *const host_text_pressure_kinds[CREST_PRESSURE_KINDS] = {"some", "full"};

/* Parses the line of all processors together. */
static void host_text_cpu(crest_text line, crest_text rest, crest_stat_figures *figures,
                          crest_fault *fault)
{
    uint64_t ticks[CREST_CPU_MODES];
    crest_text word;
    unsigned modes = crest_table_u64s(&rest, ticks, CREST_CPU_MODES);
    /* a short line is an old kernel's, if all of it was read */
    if (modes < HOST_TEXT_MODES_MIN || (modes < CREST_CPU_MODES && crest_text_word(&rest, &word))) {
        crest_fault_set(fault, "four or more whole numbers were expected after cpu", line);
        return;
    }
    figures->modes = modes;
    memcpy(figures->cpu, ticks, modes * sizeof ticks[0]);
}

void crest_stat_parse(crest_text text, crest_stat_figures *figures, crest_fault *fault)
{
    *figures = (crest_stat_figures){0};
    crest_text lines = text, line, word;
    while (crest_text_line(&lines, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &word) || !crest_table_begins(word, "cpu"))
            continue;
        if (crest_text_length(word) > strlen("cpu"))
            figures->cpus++;
        else if (figures->modes == 0)
            host_text_cpu(line, rest, figures, fault);
    }
    figures->found =
        crest_table_lines(text, host_text_stat_keys, CREST_STAT_KEYS, figures->values, fault);
}

int crest_loadavg_parse(crest_text text, double averages[3], crest_fault *fault)
{
    crest_text rest = text;
    for (int i = 0; i < 3; i++) {
        if (!crest_text_decimal(&rest, &averages[i])) {
            crest_fault_set(fault, "three decimal numbers were expected", text);
            return 0;
        }
    }
    return 1;
}

uint64_t crest_meminfo_parse(crest_text text, uint64_t values[CREST_MEMORY_KEYS],
                             crest_fault *fault)
{
    uint64_t found = 0;
    crest_text line, key, unit;
    while (crest_text_line(&text, &line)) {
        crest_text rest = line;
        if (!crest_text_until(&rest, ':', &key))
            continue;
        unsigned i = 0;
        while (i < CREST_MEMORY_KEYS && !crest_text_is(key, host_text_memory_keys[i]))
            i++;
        if (i == CREST_MEMORY_KEYS || crest_table_has(found, i))
            continue;
        uint64_t kib;
        if (crest_text_u64(&rest, &kib) && crest_text_word(&rest, &unit) &&
            crest_text_is(unit, "kB") && kib <= UINT64_MAX / HOST_TEXT_KIB) {
            values[i] = kib * HOST_TEXT_KIB;
            found |= UINT64_C(1) << i;
        } else {
            crest_fault_set(fault, "a whole number of kB was expected after the name", line);
        }
    }
    return found;
}

uint64_t crest_vmstat_parse(crest_text text, uint64_t values[CREST_PAGING_KEYS], crest_fault *fault)
{
    return crest_table_lines(text, host_text_paging_keys, CREST_PAGING_KEYS, values, fault);
}

uint64_t crest_minor_faults(uint64_t all, uint64_t major, uint64_t *highest)
{
    uint64_t minor = all > major ? all - major : 0;
    if (minor < *highest && *highest - minor < HOST_TEXT_FAULTS_BACK)
        return *highest;
    return *highest = minor;
}

uint64_t crest_pressure_parse(crest_text text, uint64_t totals[CREST_PRESSURE_KINDS],
                              crest_fault *fault)
{
    static const char *const key[] = {"total"};
    uint64_t found = 0;
    crest_text line, word;
    while (crest_text_line(&text, &line)) {
        crest_text rest = line;
        if (!crest_text_word(&rest, &word))
            continue;
        for (unsigned kind = 0; kind < CREST_PRESSURE_KINDS; kind++) {
            if (!crest_text_is(word, host_text_pressure_kinds[kind]))
                continue;
            uint64_t total;
            if (crest_table_pairs(rest, key, 1, &total, fault) != 0) {
                totals[kind] = total;
                found |= UINT64_C(1) << kind;
            } else {
                crest_fault_set(fault, "total= and a whole number were expected", line);
            }
        }
    }
    return found;
}
