/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors: what the kernel and the C library know of this process and this machine, as metrics.
 * They are off until an option of crest_start or these functions start them:
 *
 *     crest_start("system=on,prometheus=27378", &error);          most programs
 *
 *     crest_system_options options = {.groups = "process malloc"};
 *     crest_system *system = crest_system_start(&options, &error);
 *     ...
 *     crest_system_stop(system);
 *
 * Each collector runs with each snapshot of its registry (run.h's ticker takes one a second), on
 * the poller's thread and by a poll of its own, "system.NAME". A collector that hangs, as statvfs
 * does on a dead mount, delays no other collector, and no snapshot for longer than
 * CREST_POLL_ROUND_MS. Sources that walk memory, or may hang, are read at the slow interval only.
 *
 * A cumulative source becomes a counter, which shows the kernel's own total. Gauges show what
 * stands at the snapshot. Consumption in an interval is recorded in histograms too, at most once an
 * interval, from differences over measured time.
 *
 * A figure that cannot be read, or is in doubt, is not exported. No metric is made before its
 * source was read, and a metric whose source has gone is in no further snapshot until it is back.
 * The reason is counted in crest_collect_failures_total{collector,cause}, told once a cause to the
 * log callback, and in crest_system_list. docs/system.md says which metric comes from where.
 */
#ifndef CREST_SYSTEM_H
#define CREST_SYSTEM_H

#include <crest/registry.h>

/* Intervals of the readings of consumption, and of what is slow to read. */
#define CREST_SYSTEM_INTERVAL_MS_DEFAULT 1000u
#define CREST_SYSTEM_SLOW_INTERVAL_MS_DEFAULT 10000u
#define CREST_SYSTEM_INTERVAL_MS_MIN 10u
#define CREST_SYSTEM_INTERVAL_MS_MAX 86400000u
/* Collectors that there can be. */
#define CREST_SYSTEM_COLLECTORS_MAX 32u
/* Bytes of a root and of a list of patterns, their NUL not included. */
#define CREST_SYSTEM_PATH_BYTES_MAX 400u
#define CREST_SYSTEM_GLOBS_BYTES_MAX 4000u
/* Bytes of the text that says why a collector found nothing, its NUL included. */
#define CREST_SYSTEM_WHY_BYTES 256u
/* How long crest_system_stop waits for a running collector. */
#define CREST_SYSTEM_STOP_MS 1000u

/* The default of what is left out. */
#define CREST_SYSTEM_MOUNTS_EXCLUDE_DEFAULT                                                        \
    "squashfs tmpfs devtmpfs ramfs aufs overlay autofs proc sysfs cgroup* devpts mqueue "          \
    "hugetlbfs "                                                                                   \
    "debugfs tracefs securityfs pstore bpf configfs fusectl rpc_pipefs binfmt_misc nsfs efivarfs"
#define CREST_SYSTEM_INTERFACES_EXCLUDE_DEFAULT "docker0 br-* veth*"
#define CREST_SYSTEM_DEVICES_EXCLUDE_DEFAULT "loop* ram* zram*"

/*
 * Zero or NULL is the default everywhere; all texts are copied. Lists of patterns are as those of
 * reporters: * is any bytes, ? is one, separated by blanks or colons; "" leaves nothing out.
 */
typedef struct crest_system_options {
    /* where the metrics are made and whose snapshots are followed; NULL: the default registry.
       Borrowed until crest_system_stop */
    crest_registry *registry CREST_DEFAULT_(NULL);
    /* names of groups separated by blanks or colons: "process malloc"; NULL or "on": all */
    const char *groups CREST_DEFAULT_(NULL);
    /* in place of /proc and /sys, in a container that has the host's mounted elsewhere */
    const char *proc CREST_DEFAULT_(NULL);
    const char *sys CREST_DEFAULT_(NULL);
    /* the least time between two readings of consumption: CREST_SYSTEM_INTERVAL_MS_MIN to _MAX;
       0: CREST_SYSTEM_INTERVAL_MS_DEFAULT */
    uint32_t interval_ms CREST_DEFAULT_(0);
    /* the least time between two readings of what is slow; 0: CREST_SYSTEM_SLOW_INTERVAL_MS_DEFAULT
     */
    uint32_t slow_interval_ms CREST_DEFAULT_(0);
    /* mount points, or types of file systems, that are left out; NULL:
       CREST_SYSTEM_MOUNTS_EXCLUDE_DEFAULT */
    const char *mounts_exclude CREST_DEFAULT_(NULL);
    /* network interfaces; NULL: CREST_SYSTEM_INTERFACES_EXCLUDE_DEFAULT */
    const char *interfaces_exclude CREST_DEFAULT_(NULL);
    /* block devices; NULL: CREST_SYSTEM_DEVICES_EXCLUDE_DEFAULT */
    const char *devices_exclude CREST_DEFAULT_(NULL);
} crest_system_options;

/* Running collectors; only the library looks inside. */
typedef struct crest_system crest_system;

/* How a collector is doing. */
typedef struct crest_system_state {
    const char *name;                 /* static: the label `collector` */
    const char *group;                /* static: what options call it by */
    uint64_t collections;             /* that came to their end */
    uint64_t failures;                /* sources that could not be read, all causes together */
    uint64_t last_duration_ns;        /* of the last collection */
    unsigned series;                  /* that the last collection found a value for */
    int running;                      /* one is under way */
    char why[CREST_SYSTEM_WHY_BYTES]; /* what the latest failure was; "" if there was none */
} crest_system_state;

CREST_BEGIN_C

/*
 * Starts the collectors of the named groups. options: NULL for defaults. The result is ended by
 * crest_system_stop. NULL on failure, with nothing left running and a message in *error (which may
 * be NULL): CREST_INVALID_OPTIONS for an unknown group (the message lists the groups), a text that
 * is too long or an interval out of range; CREST_ALREADY when the registry has collectors running,
 * started by any caller; CREST_NO_MEMORY; CREST_LIMIT when there is no room for their polls. Not
 * reference-counted: the caller that started them stops them, and crest_start's collectors are its
 * own. Thread-safe, not for signal handlers. Cost: locks, allocates; the first poll of the process
 * starts a thread.
 */
CREST_API crest_system *crest_system_start(const crest_system_options *options, crest_error *error);

/* Whether crest_system_start would take these options: CREST_OK, or CREST_INVALID_OPTIONS and a
 * message. Thread-safe. */
CREST_API crest_status crest_system_check(const crest_system_options *options, crest_error *error);

/*
 * Stops the collectors. What they set is in no further snapshot, and goes on from there if they are
 * started again. Waits for running collectors, but for all together no longer than
 * CREST_SYSTEM_STOP_MS, then CREST_TIMED_OUT: a collector that hangs is left behind, touches no
 * metric any more, and frees its memory when it comes back. `system` is gone in any case.
 * CREST_NOT_FOUND for collectors that are not running, such as the parent's in the child of a fork.
 * NULL does nothing. Thread-safe, but not from a callback of the collectors' polls; blocks.
 */
CREST_API crest_status crest_system_stop(crest_system *system);

/* Lists what runs: fills the first `room` of states, in the order in which the collectors run, and
 * returns how many there are; 0 for a stopped `system`. Thread-safe; locks. */
CREST_API size_t crest_system_list(const crest_system *system, crest_system_state *states,
                                   size_t room);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/system_off.h>
#endif

#endif
