/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters: what hands snapshots to the outside. A reporter is a name and a few functions.
 * Attached to a registry with a schedule it gets a thread of its own, so that a slow server delays
 * no other reporter. A reporter that serves by itself (a scraped port) has no `report` but a
 * `start`, and gets neither thread nor schedule.
 *
 *     static crest_status report(crest_reporter *self, const crest_report *report,
 *                                crest_error *error);
 *     static crest_reporter mine = {.name = "mine", .report = report};
 *     crest_reporter_attach(NULL, &mine, &(crest_schedule){.interval_ms = 10000}, &error);
 *
 * Each report is measured in the default registry by crest.report-time (outcome ok or error),
 * crest.report-last-success-timestamp, crest.report-failures (by cause),
 * crest.report-consecutive-failures and crest.report-running, labelled with the reporter's name.
 * The log callback is told of the first failure of a streak and of its end, not of each. It is told
 * once of a report that hangs: one that goes on after its deadline for half as long again, or 5 s.
 * The ticker sees a hang, once a second; it runs as long as a reporter with a thread is attached. A
 * caller that waits for a report sees it at once.
 *
 * The child of a fork has no reporter attached and no thread running: it must not report into its
 * parent's group. It may attach reporters of its own, or call crest_start.
 */
#ifndef CREST_REPORTER_H
#define CREST_REPORTER_H

#include <crest/loop.h>
#include <crest/page.h>

#include <pthread.h>

#define CREST_INTERVAL_MS_DEFAULT 60000u
#define CREST_INTERVAL_MS_MIN 100u
#define CREST_INTERVAL_MS_MAX 86400000u
/* Reporters attached at a time, those left behind busy included. */
#define CREST_REPORTERS_MAX 64u
/* The timeout of a report, when the schedule says nothing and the interval is not shorter. */
#define CREST_REPORT_TIMEOUT_MS_DEFAULT 10000u
/* Bytes of a service, version and instance, and of a further label's value; longer ones are cut. */
#define CREST_RESOURCE_BYTES_MAX 255u
/* Further labels of a resource, bytes of a key, and of a value. */
#define CREST_RESOURCE_LABELS_MAX 16u
#define CREST_RESOURCE_KEY_BYTES_MAX 64u
/* Kinds of reporters that crest_start knows, and bytes of a kind's name; also of the NAME in
 * KIND@NAME. */
#define CREST_REPORTER_KINDS_MAX 24u
#define CREST_REPORTER_KIND_BYTES_MAX 32u

/* The process that reports, as exporters name it; borrowed for the call. */
typedef struct crest_resource {
    const char *service;  /* "" if not set */
    const char *version;  /* "" if not set */
    const char *instance; /* the host name if not set */
    /* further labels, from resource.KEY=VALUE; in crest_target_info, and the tags of every
       DogStatsD line */
    const crest_page_label *labels;
    unsigned label_count;
} crest_resource;

/* The input of a report; borrowed for the call. */
typedef struct crest_report {
    /* cumulative, windows included if the ticker observes the registry (see window.h); NULL for a
       reporter with no_snapshot */
    const crest_snapshot *snapshot;
    const crest_resource *resource;
    uint64_t deadline_ns; /* on crest_now's timeline; give up by then */
    int final;            /* the last one before stop: leave out what would go stale (windows) */
    /* the snapshot of this reporter's last successful report: the difference is what happened
       since, see crest_report_previous. NULL: none succeeded since it was attached, so that all
       that was recorded is new; or the reporter does not ask for it with `deltas` */
    const crest_snapshot *previous;
} crest_report;

typedef struct crest_reporter {
    /* for status and messages; borrowed while attached */
    const char *name;
    /* hands the report out; on failure fills *error (never NULL) and returns its status:
       CREST_REFUSED when a retry will not help, so that the next try is the next regular report.
       Called from one thread at a time. What it did not deliver is in the next snapshot, which is
       cumulative. NULL if there is a `start`: it serves by itself */
    crest_status (*report)(struct crest_reporter *self, const crest_report *report,
                           crest_error *error);
    /* called after the final report, on the same thread; for a reporter without `report`, on the
       thread that detaches it. May be NULL */
    crest_status (*stop)(struct crest_reporter *self, uint64_t deadline_ns, crest_error *error);
    /* frees the reporter; NULL for one that needs no freeing. Called by crest_reporter_free only */
    void (*free)(struct crest_reporter *self);
    void *state; /* the reporter's own */
    int deltas;  /* non-zero: crest_report.previous is wanted, which costs its memory */
    /* called by attach, on the caller's thread, before the first report; `registry` is the
       registry to report, never NULL. On failure fills *error (never NULL); then nothing is
       attached, and `stop` is not called. May be NULL */
    crest_status (*start)(struct crest_reporter *self, crest_registry *registry,
                          crest_error *error);
    /* makes the report give up soon, as its deadline has passed or the time to stop is running out.
       Called on any other thread, only while `report` runs: at the next tick, or at once while a
       caller waits for it, and again after 100 ms, 200 ms … as long as it runs. So `report` may
       begin by forgetting an earlier call. Must not block. May be
       NULL */
    void (*cancel)(struct crest_reporter *self);
    /* with threads=off (loop.h), for a reporter without `report`: does what is due, without
       waiting, and returns in how many ms to call it again at the latest; UINT64_MAX: never. Called
       by crest_loop_run, from `start` to `stop`; its descriptors are crest_loop_watch's. NULL: it
       needs threads of its own, and is then not attached */
    uint64_t (*turn)(struct crest_reporter *self);
    int waits; /* non-zero: `report` waits for servers for longer than a host's loop can, so that it
                  is not attached with threads=off */
    /* set by `report` before it fails: when on crest_now's timeline the server wants the next try
       at the earliest. A retry that would come sooner comes then. Ignored if that has passed, and
       by crest_report_now and the last report */
    uint64_t retry_at_ns;
    int no_snapshot; /* non-zero: it reports no metrics but what it has by itself, such as spans;
                        report->snapshot is NULL, and none is taken */
} crest_reporter;

/*
 * When to report. Reports belong to points of time one interval apart. The first point comes after
 * a random part of the interval, so that many nodes do not push at once. Each later report is
 * delayed behind its point by its own random part of up to jitter times the interval. A point that
 * passes while a report is still under way is left out, never made up for.
 */
typedef struct crest_schedule {
    /* 0: CREST_INTERVAL_MS_DEFAULT; CREST_INTERVAL_MS_MIN to CREST_INTERVAL_MS_MAX */
    uint64_t interval_ms CREST_DEFAULT_(0);
    /* 0: a tenth; up to 1; negative: none, and the first report comes after one interval */
    double jitter CREST_DEFAULT_(0);
    /* of one report; 0: CREST_REPORT_TIMEOUT_MS_DEFAULT, with threads=off CREST_LOOP_REPORT_MS, at
       most the interval */
    uint64_t timeout_ms CREST_DEFAULT_(0);
    /* non-zero: the points of time are the multiples of the interval on the wall clock (in UTC),
       the first one included; each report is moved by the jitter as above. When the wall clock is
       set, they move with it */
    int align CREST_DEFAULT_(0);
    /* what is reported: series whose canonical names match, as in crest_snapshot_select; NULL or ""
       for all, and for no exception. Copied. A reporter that serves by itself does not get them */
    const char *include CREST_DEFAULT_(NULL);
    const char *exclude CREST_DEFAULT_(NULL);
} crest_schedule;

/* How a reporter is doing; all of it stays 0 for a reporter that serves by itself. */
typedef struct crest_reporter_state {
    uint64_t reports;              /* tried */
    uint64_t failures;             /* of these */
    uint64_t consecutive_failures; /* since the last success */
    uint64_t last_success_wall_ns; /* since 1970; 0: never */
    uint64_t last_duration_ns;     /* of the last try */
    crest_error last_error;        /* CREST_OK and "" if none yet */
    uint64_t series;               /* of the last try: how many it was given */
    uint64_t running_ns;           /* how long the present report has run; 0: none is under way */
    uint64_t next_in_ns;           /* until the next report is due; 0 while one is under way */
    int hangs;                     /* the log has been told that the present report hangs */
} crest_reporter_state;

/* An attached reporter, by name: KIND@NAME if crest_start made it, else its own name. */
typedef struct crest_reporter_info {
    char name[CREST_RESOURCE_BYTES_MAX + 1]; /* cut at a character */
    crest_reporter_state state;
} crest_reporter_info;

CREST_BEGIN_C

/*
 * Starts reporting the registry (NULL: the default one) through the reporter. The caller owns the
 * reporter and frees it after detaching. schedule NULL for defaults; copied. A failed report is
 * tried again after a backoff that doubles from 1 s up to the interval. A random part of up to a
 * half is taken off it, none without jitter. A refused report is tried again at its next regular
 * time. Returns the status of the reporter's `start`, CREST_ALREADY, CREST_LIMIT,
 * CREST_INVALID_ARGUMENT, CREST_NO_MEMORY, CREST_SYSTEM; error may be NULL. Thread-safe; locks;
 * allocates; starts a thread that blocks all signals. With threads=off (loop.h) it starts none:
 * crest_loop_run, crest_report_now and crest_reporter_detach make the reports, on their callers'
 * threads.
 */
CREST_API crest_status crest_reporter_attach(crest_registry *registry, crest_reporter *reporter,
                                             const crest_schedule *schedule, crest_error *error);

/*
 * Fills *view with series `index` of report->snapshot as it was in report->previous, for the
 * reporter to subtract. CREST_NOT_FOUND, and *view zeroed, when it was not there: the series is
 * new, or this is another life of a series that had gone, which began at zero, or there is no
 * previous report. A series that goes on from a run that was killed was there, as far as that run
 * had delivered it. CREST_INVALID_ARGUMENT past the end. What the view points to is borrowed during
 * the report. Thread-safe. Cost: constant on average when asked in order of the index.
 */
CREST_API crest_status crest_report_previous(const crest_report *report, size_t index,
                                             crest_series_view *view);

/*
 * Tells that the receiver has counter `index` of report->snapshot up to `counter`. With a state
 * file (state=DIR) and a kill, the next run's first difference begins there: crest_report_previous
 * has it. For a reporter with an account of its own that delivers part by part; called once a part
 * has arrived. Of a reporter with `deltas` it is known when its report succeeds. One value is kept
 * of each counter, the highest that any reporter has told. Other kinds and an index past the end
 * are ignored. During the report. Thread-safe; takes the lock of the slow path; without a state
 * file it does nothing.
 */
CREST_API void crest_report_delivered(const crest_report *report, size_t index, uint64_t counter);

/*
 * The same of histogram or timer `index`: the receiver has the records in `counts`, which has them
 * from the beginning, as crest_series_view.distribution does, and not the difference. Borrowed; of
 * another range than the series, and NULL, it is ignored. Cells that another reporter told more of
 * stay as they are. Cost: as a merge of the shard of one thread.
 */
CREST_API void crest_report_delivered_counts(const crest_report *report, size_t index,
                                             const crest_distribution *counts);

/*
 * Sends a last report (final is 1), calls the reporter's stop and ends its thread, all within
 * deadline_ms (0: 2 s). Returns the status of the last report, or of stop when the report went
 * well.
 *
 * - CREST_NOT_FOUND: it is not attached.
 * - CREST_TIMED_OUT: it did not end in time. Its thread is left behind and ends when the report
 *   does, without calling stop. The reporter must not be freed while it is busy. Call detach again
 *   to wait for its end: CREST_OK then, or CREST_NOT_FOUND when it had ended already.
 * - CREST_ALREADY: another thread is detaching it.
 * - CREST_INVALID_ARGUMENT: called from the reporter's own thread.
 *
 * Thread-safe; blocks.
 */
CREST_API crest_status crest_reporter_detach(crest_reporter *reporter, uint64_t deadline_ms,
                                             crest_error *error);

/*
 * Reports now on the reporter's own thread, with a snapshot taken after the call, and waits for its
 * end; the schedule goes on as it was. Returns the report's status, CREST_NOT_FOUND when it is not
 * attached or is being detached, CREST_INVALID_ARGUMENT from the reporter's own thread, or
 * CREST_TIMED_OUT after deadline_ms (0: CREST_REPORT_TIMEOUT_MS_DEFAULT). The report itself has the
 * schedule's timeout. Thread-safe; blocks.
 */
CREST_API crest_status crest_report_now(crest_reporter *reporter, uint64_t deadline_ms,
                                        crest_error *error);

/* Fills *state. CREST_NOT_FOUND, and zeros, when it is not attached. Thread-safe; locks. */
CREST_API crest_status crest_reporter_status(const crest_reporter *reporter,
                                             crest_reporter_state *state);

/* Lists the attached reporters, including those left behind busy and those that crest_start made.
 * Fills the first `room` of infos, the last attached first, and returns how many there are.
 * Thread-safe; locks. */
CREST_API size_t crest_reporter_list(crest_reporter_info *infos, size_t room);

/*
 * For batch programs: one report of the registry (NULL: the default one) on the caller's thread,
 * with final set, between the reporter's `start` and `stop` if it has them. Report and stop get the
 * deadline (0: CREST_REPORT_TIMEOUT_MS_DEFAULT), and must keep it themselves. There is no previous
 * report, so a reporter with `deltas` hands out all that was recorded: call it once. Returns the
 * status of start, of the report, or of stop when that went well; CREST_ALREADY when the reporter
 * is attached. Thread-safe; blocks.
 */
CREST_API crest_status crest_report_once(crest_registry *registry, crest_reporter *reporter,
                                         uint64_t deadline_ms, crest_error *error);

/*
 * For every descriptor that a reporter opens: returns it, or in place of 0, 1 and 2 a duplicate
 * above them, closed on exec. A host may have closed its standard input, output and error; what it
 * prints next would go into the reporter's socket.
 *
 *     int file = crest_reporter_descriptor(open(path, O_WRONLY | O_CLOEXEC));
 *
 * `descriptor`: what open, socket, accept4, eventfd … returned; a negative one is returned as it
 * is, with errno as it was. -1 with errno when it cannot be duplicated, and then it is closed.
 * Thread-safe and signal-safe; no system call unless it is 0, 1 or 2, and then two.
 */
CREST_API int crest_reporter_descriptor(int descriptor);

/*
 * Starts a thread for a reporter as the library starts its own. All signals are blocked, because
 * the host handles them. The stack is as crest_thread_stack says, because the process's default may
 * be 8 MiB under mlockall, or 16 KiB.
 *
 * `thread`: set to the thread, which the caller joins; NULL: the thread is detached. `run`,
 * `context`: what it calls, and with what. 0, or an error number of pthread_create and nothing was
 * started. Thread-safe, not signal-safe; allocates, and looks at every loaded object.
 */
CREST_API int crest_reporter_thread(pthread_t *thread, void *(*run)(void *), void *context);

/* Calls the reporter's own free; NULL does nothing. It must not be attached. */
CREST_API void crest_reporter_free(crest_reporter *reporter);

/*
 * A kind of reporter that crest_start can make from its options. A kind is added by the library
 * that has it, when that is loaded; `name` and each key are borrowed for ever.
 */
typedef struct crest_options crest_options;
typedef struct crest_reporter_kind {
    const char *name;        /* the option that asks for one: pushgateway=… */
    const char *const *keys; /* NULL-terminated further options: "pushgateway.job" …; a key that
                                ends with a dot allows every key that begins with it and goes on.
                                NULL: none. NAME.interval, .timeout, .jitter, .align, .include and
                                .exclude need not be among them: they are every kind's, and
                                crest_start reads them */
    /* `value` is the option's own value. Each of several reporters of a kind sees only its own
       options, under the kind's name: NAME@lan reads NAME.job too. On failure returns NULL and
       fills *error. CREST_IO or CREST_SYSTEM: the machine is not as the option needs it, and the
       other reporters start all the same (CREST_PARTIAL). Any other status: the option is refused,
       and nothing starts */
    crest_reporter *(*create)(const char *value, const crest_options *options,
                              const crest_resource *resource, crest_error *error);
    int value_is_interval; /* non-zero: the option's own value is NAME.interval, or "on" */
    /* fills interval_ms and timeout_ms where no option gives them, as an environment variable of
       the reporter's own world may; called before `create`. NULL: nothing does */
    void (*schedule)(const crest_options *options, crest_schedule *schedule);
    /* makes another reporter of the same option, with a schedule and a name of its own, as one of
       spans beside one of metrics; called after `create`, with the option's own value. *schedule
       has the jitter of all reporters. NULL with *error as it is (CREST_OK): there is none. NULL:
       there never is */
    crest_reporter *(*also)(const char *value, const crest_options *options,
                            crest_schedule *schedule, crest_error *error);
} crest_reporter_kind;

/* CREST_ALREADY, CREST_LIMIT, CREST_INVALID_ARGUMENT. Thread-safe; before main too. */
CREST_API crest_status crest_reporter_kind_add(const crest_reporter_kind *kind);

/* The value of an option, NULL if it is not set. Borrowed during create, or from
 * crest_options_read's until crest_options_free. */
CREST_API const char *crest_option(const crest_options *options, const char *key);
/* The origin of an option, in words that can follow it in a message ("in CREST_OPTS"); borrowed
 * too; NULL if it is not set. */
CREST_API const char *crest_option_origin(const crest_options *options, const char *key);
/* Walks the options whose keys begin with `prefix` and go on after it, each key once, in the order
 * of the keys: *cursor starts at 0. *key is the whole key; both texts are borrowed during create.
 * Returns 0 at the end. */
CREST_API int crest_option_next(const crest_options *options, const char *prefix, size_t *cursor,
                                const char **key, const char **value);
/* As a duration ("250ms", "1.5s", "5m", "1h", bare: seconds) or a switch ("on"/"off"/"true"/…).
 * Absent: *value is left as it is. CREST_INVALID_OPTIONS with a message for anything else. */
CREST_API crest_status crest_option_duration_ms(const crest_options *options, const char *key,
                                                uint64_t *value, crest_error *error);
CREST_API crest_status crest_option_switch(const crest_options *options, const char *key,
                                           int *value, crest_error *error);

/*
 * Options that another library carries out, as the JVM shim does jvm=on. Once that library has
 * added a name, crest_start lets NAME=… and NAME.KEY=… pass, and the library reads them with
 * crest_options_read. A name is as one of a reporter's kind, and not one that a kind has; copied,
 * known for good. CREST_OK also when it was added before; CREST_INVALID_ARGUMENT, CREST_LIMIT.
 * Thread-safe; locks.
 */
CREST_API crest_status crest_option_name_add(const char *name);

/*
 * Reads the options as crest_start(text) would at this moment: those in `text` (NULL: none), and on
 * top of them those in CREST_OPTS. Neither names nor values are checked. *options is freed with
 * crest_options_free, which ends what was borrowed from it; NULL on failure. CREST_INVALID_OPTIONS,
 * CREST_NO_MEMORY; error may be NULL. Thread-safe; allocates; reads the files that are named with
 * an @.
 */
CREST_API crest_status crest_options_read(const char *text, crest_options **options,
                                          crest_error *error);
CREST_API void crest_options_free(crest_options *options);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/reporter_off.h>
#endif

#endif
