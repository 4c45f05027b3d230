/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of the whole machine: /proc/stat, loadavg, meminfo, vmstat, pressure/. Text
 * in, figures out; pure. Each parser takes well-formed values, says by a mask or flag which they
 * are, and remembers the first malformed one; proc_table.h.
 *
 *     crest_stat_figures stat;
 *     crest_stat_parse(crest_text_of(bytes, length), &stat, &fault);
 *     if (crest_table_has(stat.found, CREST_STAT_FORKS)) ...stat.values[CREST_STAT_FORKS]...
 *
 * Sources: proc_stat(5), proc_loadavg(5), proc_meminfo(5), proc_vmstat(5), and the kernel's
 * Documentation/accounting/psi.rst.
 */
#ifndef CREST_SYSTEM_HOST_TEXT_H
#define CREST_SYSTEM_HOST_TEXT_H

#include "system/parse/proc_table.h"

/* In the order of /proc/stat. guest and guest_nice, which follow there, are in user and nice
 * already. */
typedef enum crest_cpu_mode {
    CREST_CPU_USER,
    CREST_CPU_NICE,
    CREST_CPU_SYSTEM,
    CREST_CPU_IDLE,
    CREST_CPU_IOWAIT,
    CREST_CPU_IRQ,
    CREST_CPU_SOFTIRQ,
    CREST_CPU_STEAL,
    CREST_CPU_MODES
} crest_cpu_mode;

typedef enum crest_stat_key {
    CREST_STAT_SWITCHES,
    CREST_STAT_INTERRUPTS,
    CREST_STAT_FORKS,
    CREST_STAT_RUNNING,
    CREST_STAT_BLOCKED,
    CREST_STAT_KEYS
} crest_stat_key;

typedef struct crest_stat_figures {
    uint64_t cpu[CREST_CPU_MODES]; /* ticks of all processors together, of sysconf(_SC_CLK_TCK) */
    unsigned modes;                /* how many modes there are: old kernels have four or seven */
    unsigned cpus;                 /* processors online; 0: they are not listed */
    uint64_t values[CREST_STAT_KEYS];
    uint64_t found; /* of values */
} crest_stat_figures;

void crest_stat_parse(crest_text text, crest_stat_figures *figures, crest_fault *fault);

/* Parses the averages over one, five and fifteen minutes; 0 unless all are there. */
int crest_loadavg_parse(crest_text text, double averages[3], crest_fault *fault);

typedef enum crest_memory_key {
    CREST_MEMORY_TOTAL,
    CREST_MEMORY_FREE,
    CREST_MEMORY_AVAILABLE,
    CREST_MEMORY_BUFFERS,
    CREST_MEMORY_CACHED,
    CREST_MEMORY_SWAP_TOTAL,
    CREST_MEMORY_SWAP_FREE,
    CREST_MEMORY_DIRTY,
    CREST_MEMORY_WRITEBACK,
    CREST_MEMORY_ANONYMOUS,
    CREST_MEMORY_MAPPED,
    CREST_MEMORY_SHARED,
    CREST_MEMORY_SLAB,
    CREST_MEMORY_RECLAIMABLE,
    CREST_MEMORY_COMMITTED,
    CREST_MEMORY_COMMIT_LIMIT,
    CREST_MEMORY_KEYS
} crest_memory_key;

/* Values in bytes; returns their mask. A line without "kB", or of 16 EiB and more, is a fault. */
uint64_t crest_meminfo_parse(crest_text text, uint64_t values[CREST_MEMORY_KEYS],
                             crest_fault *fault);

typedef enum crest_paging_key {
    CREST_PAGING_PAGED_IN,  /* KiB */
    CREST_PAGING_PAGED_OUT, /* KiB */
    CREST_PAGING_SWAPPED_IN,
    CREST_PAGING_SWAPPED_OUT,
    CREST_PAGING_FAULTS, /* major faults included */
    CREST_PAGING_FAULTS_MAJOR,
    CREST_PAGING_OOM_KILLS,
    CREST_PAGING_KEYS
} crest_paging_key;

/* Values in pages, unless the key says otherwise; returns their mask. */
uint64_t crest_vmstat_parse(crest_text text, uint64_t values[CREST_PAGING_KEYS],
                            crest_fault *fault);

/*
 * The minor page faults among all. Both numbers are read by themselves, so the difference may step
 * back by the faults in between. It then stays at its highest, which *highest holds and which
 * begins at 0. A larger step back is a source that began again.
 */
uint64_t crest_minor_faults(uint64_t all, uint64_t major, uint64_t *highest);

typedef enum crest_pressure_kind {
    CREST_PRESSURE_SOME,
    CREST_PRESSURE_FULL,
    CREST_PRESSURE_KINDS
} crest_pressure_kind;

/* Totals in microseconds; returns their mask, by kind. Also for a cgroup's files. */
uint64_t crest_pressure_parse(crest_text text, uint64_t totals[CREST_PRESSURE_KINDS],
                              crest_fault *fault);

#endif
