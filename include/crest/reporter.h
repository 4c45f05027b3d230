/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters: what hands snapshots to the outside. A reporter is a name and three functions;
 * attached to a registry with a schedule it gets a thread of its own, so that a slow server delays
 * nobody.
 *
 *     static crest_status report(crest_reporter *self, const crest_report *report, crest_error
 * *error); static crest_reporter mine = {.name = "mine", .report = report};
 *     crest_reporter_attach(NULL, &mine, &(crest_schedule){.interval_ms = 10000}, &error);
 */
#ifndef CREST_REPORTER_H
#define CREST_REPORTER_H

#include <crest/page.h>

#define CREST_INTERVAL_MS_DEFAULT 60000u
#define CREST_INTERVAL_MS_MIN 100u
#define CREST_INTERVAL_MS_MAX 86400000u
#define CREST_REPORTERS_MAX 16u

/* Who reports; borrowed for the call. */
typedef struct crest_resource {
    const char *service;  /* "" if not set */
    const char *version;  /* "" if not set */
    const char *instance; /* the host name if not set */
} crest_resource;

/* What a reporter is given; borrowed for the call. */
typedef struct crest_report {
    const crest_snapshot *snapshot; /* cumulative, windows included */
    const crest_resource *resource;
    uint64_t deadline_ns; /* on crest_now's timeline; give up by then */
    int final;            /* the last one before stop: leave out what would go stale (windows) */
} crest_report;

typedef struct crest_reporter {
    /* for status and messages; borrowed while attached */
    const char *name;
    /* hands the report out; on failure fills *error (never NULL) and returns its status. Called
       from one thread at a time. What it did not deliver is in the next snapshot, which is
       cumulative */
    crest_status (*report)(struct crest_reporter *self, const crest_report *report,
                           crest_error *error);
    /* after the final report; may be NULL */
    crest_status (*stop)(struct crest_reporter *self, uint64_t deadline_ns, crest_error *error);
    /* frees the reporter; NULL for one that needs no freeing. Called by crest_reporter_free only */
    void (*free)(struct crest_reporter *self);
    void *state; /* the reporter's own */
} crest_reporter;

typedef struct crest_schedule {
    uint64_t interval_ms CREST_DEFAULT_(0); /* 0: CREST_INTERVAL_MS_DEFAULT */
    /* the first report comes after a random part of the interval, so that many nodes do not push at
       once, and each later one is moved by up to this fraction of it. 0: a tenth; negative: none,
       and the first comes after one interval */
    double jitter CREST_DEFAULT_(0);
    uint64_t timeout_ms CREST_DEFAULT_(0); /* for one report; 0: 10 s, at most the interval */
} crest_schedule;

typedef struct crest_reporter_state {
    uint64_t reports;              /* tried */
    uint64_t failures;             /* of these */
    uint64_t consecutive_failures; /* since the last success */
    uint64_t last_success_wall_ns; /* since 1970; 0: never */
    uint64_t last_duration_ns;     /* of the last try */
    crest_error last_error;        /* CREST_OK and "" if none yet */
} crest_reporter_state;

CREST_BEGIN_C

/*
 * Starts reporting the registry (NULL: the default one) through the reporter. The caller owns the
 * reporter and frees it after detaching. schedule NULL for defaults. A failed report is retried
 * after a backoff that doubles from 1 s up to the interval, with jitter. CREST_ALREADY,
 * CREST_LIMIT, CREST_INVALID_ARGUMENT, CREST_NO_MEMORY, CREST_SYSTEM; error may be NULL.
 * Thread-safe; locks; allocates; starts a thread that blocks all signals.
 */
CREST_API crest_status crest_reporter_attach(crest_registry *registry, crest_reporter *reporter,
                                             const crest_schedule *schedule, crest_error *error);

/*
 * Sends a last report and ends the thread, all within deadline_ms. The status of that last report;
 * CREST_TIMED_OUT when it did not end in time (the reporter is then still busy and must not be
 * freed); CREST_NOT_FOUND when it is not attached.
 */
CREST_API crest_status crest_reporter_detach(crest_reporter *reporter, uint64_t deadline_ms,
                                             crest_error *error);

/* Reports now on its own thread and waits for the end of it; the report's status, CREST_NOT_FOUND,
 * or CREST_TIMED_OUT. */
CREST_API crest_status crest_report_now(crest_reporter *reporter, uint64_t deadline_ms,
                                        crest_error *error);

/* How it is doing. CREST_NOT_FOUND when it is not attached. */
CREST_API crest_status crest_reporter_status(const crest_reporter *reporter,
                                             crest_reporter_state *state);

/* For batch programs: one report of the registry on the caller's thread, then `stop` of the
 * reporter if it has one. The reporter must not be attached. */
CREST_API crest_status crest_report_once(crest_registry *registry, crest_reporter *reporter,
                                         uint64_t deadline_ms, crest_error *error);

/* Calls the reporter's own free; NULL does nothing. It must not be attached. */
CREST_API void crest_reporter_free(crest_reporter *reporter);

/*
 * A kind of reporter that crest_start can make from its options. Kinds add themselves when the
 * library that has them is loaded; `name` and each key are borrowed for ever.
 */
typedef struct crest_options crest_options;
typedef struct crest_reporter_kind {
    const char *name;        /* the option that asks for one: pushgateway=… */
    const char *const *keys; /* NULL-terminated further options: "pushgateway.job" …; one that ends
                                with a dot allows every key that begins with it and goes on */
    /* `value` is the option's own value. Returns NULL and fills *error when it cannot */
    crest_reporter *(*create)(const char *value, const crest_options *options,
                              const crest_resource *resource, crest_error *error);
} crest_reporter_kind;

/* CREST_ALREADY, CREST_LIMIT, CREST_INVALID_ARGUMENT. Thread-safe; before main too. */
CREST_API crest_status crest_reporter_kind_add(const crest_reporter_kind *kind);

/* The value of an option, borrowed during create; NULL if it is not set. */
CREST_API const char *crest_option(const crest_options *options, const char *key);
/* Walks the options whose keys begin with `prefix` and go on after it, each key once, in the order
 * of the keys: *cursor starts at 0. *key is the whole key; both texts are borrowed during create.
 * Returns 0 at the end. */
CREST_API int crest_option_next(const crest_options *options, const char *prefix, size_t *cursor,
                                const char **key, const char **value);
/* As a duration ("250ms", "10s", "5m", "1h", bare: seconds) or a switch ("on"/"off"/"true"/…).
 * Absent: *value is left as it is. CREST_INVALID_OPTIONS with a message for anything else. */
CREST_API crest_status crest_option_duration_ms(const crest_options *options, const char *key,
                                                uint64_t *value, crest_error *error);
CREST_API crest_status crest_option_switch(const crest_options *options, const char *key,
                                           int *value, crest_error *error);

CREST_END_C

#endif
