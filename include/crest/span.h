/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans: timings with a place to go. A timer is traced by an option, `spans=casper.*`, at start or
 * at run time, with no change of code; each of its records is then also a span. Timers that are not
 * traced run no instruction more. A duration of 0, which no clock gives, is no span.
 *
 * This header has what a span has and a timing lacks: a parent, attributes, events, links, a kind
 * and a text for its status. A span timing records its timer whether that is traced or not.
 *
 *     CREST_SPAN_KEY(peer_key, "peer");
 *     crest_span_timing fetch;
 *     crest_timer_start_under(&fetch_time, op, &parent, &fetch);
 *     crest_span_set_text(&fetch, &peer_key, name, strlen(name));
 *     ...
 *     crest_span_end(&fetch, op, CREST_OUTCOME_OK);
 *
 * Which spans are kept is decided for an operation as a whole, at the end of its root: see
 * docs/tracing.md. Kept ones are handed to exporters in batches.
 */
#ifndef CREST_SPAN_H
#define CREST_SPAN_H

#include <crest/reporter.h>
#include <crest/timer.h>
#include <crest/trace_context.h>

#ifdef __cplusplus
#include <exception>
#endif

/* Attributes of a span; further ones are counted in dropped_attributes. */
#define CREST_SPAN_ATTRIBUTES_MAX 8u
/* Events and links of a span; further ones are dropped. */
#define CREST_SPAN_EVENTS_MAX 8u
#define CREST_SPAN_LINKS_MAX 4u
/* Bytes of a text attribute, and of a status message; longer ones are cut at a character. */
#define CREST_SPAN_TEXT_BYTES_MAX 128u
/* Keys of attributes and names of events in a process, and bytes of each. */
#define CREST_SPAN_KEYS_MAX 255u
#define CREST_SPAN_KEY_BYTES_MAX 63u
/* Bytes that attributes, events, links and message of one span take: a number 16, a text 8 and its
 * bytes rounded up to 8, an event 16, a link 40. What does not fit is dropped, attributes counted.
 */
#define CREST_SPAN_DETAIL_BYTES 512u
/* Spans of an operation before they fold, at most; and bytes of a list of patterns, its NUL
 * included. */
#define CREST_SPANS_PER_OP_MAX 4096u
#define CREST_SPANS_GLOBS_BYTES 1024u
/* Exporters of a process. */
#define CREST_SPAN_EXPORTERS_MAX 8u
/* Spans of a batch, and bytes that one holds. */
#define CREST_SPAN_BATCH_MAX 512u
#define CREST_SPAN_BATCH_BYTES_MAX 262144u

/* What the operation is to its caller and those it calls. */
typedef enum crest_span_kind {
    CREST_SPAN_INTERNAL,
    CREST_SPAN_SERVER,
    CREST_SPAN_CLIENT,
    CREST_SPAN_PRODUCER,
    CREST_SPAN_CONSUMER,
    CREST_SPAN_KIND_COUNT
} crest_span_kind;

typedef enum crest_span_value_type {
    CREST_SPAN_I64 = 1,
    CREST_SPAN_DOUBLE,
    CREST_SPAN_BOOL,
    CREST_SPAN_TEXT
} crest_span_value_type;

/* Why a span was kept; the first that holds, in this order. */
typedef enum crest_span_why {
    CREST_SPAN_SAMPLED,   /* its operation is among the sampled ones */
    CREST_SPAN_FAILED,    /* a root of its operation ended as error */
    CREST_SPAN_TIMED_OUT, /* … as timeout */
    CREST_SPAN_SLOW,      /* … later than its timer's spans usually do */
    CREST_SPAN_STUCK,     /* its operation was overdue and still open */
    CREST_SPAN_WHY_COUNT
} crest_span_why;

/* The key of an attribute or the name of an event; zeroed but for its name it is valid. */
typedef struct crest_span_key {
    const char *name; /* copied at first use */
    uint32_t id;      /* the library's */
} crest_span_key;

/* CREST_SPAN_KEY(variable, "name"): declares a key at file scope. Valid UTF-8, not empty, at most
 * CREST_SPAN_KEY_BYTES_MAX bytes; of another, and of one beyond CREST_SPAN_KEYS_MAX, attributes are
 * dropped and counted as misuse. */
#define CREST_SPAN_KEY(variable, name) static crest_span_key variable = {name, 0}

/*
 * A running timing with details. It holds no resource: one that is dropped is not recorded. It may
 * be copied as long as only one copy is ended. Not initialised by the caller.
 */
typedef struct crest_span_timing {
    crest_timing timing;
    crest_span_context parent; /* all zero: the operation's root is the parent, or it is the root */
    crest_span_context before; /* of a scope: the thread's current span outside of it */
    crest_span_id id;          /* 0: not asked for */
    uint8_t traced;            /* non-zero: the timer is; otherwise it has no details */
    uint8_t scope;             /* non-zero: by crest_span_enter */
    uint8_t kind;              /* crest_span_kind */
    uint8_t attributes;        /* how many of each are in `detail` */
    uint8_t events;
    uint8_t links;
    uint16_t used; /* bytes of `detail` */
    uint16_t dropped_attributes;
    uint64_t detail[CREST_SPAN_DETAIL_BYTES / 8]; /* the library's; set up to `used` */
} crest_span_timing;

/* One attribute of a finished span. */
typedef struct crest_span_attribute {
    const char *key;
    uint8_t type; /* crest_span_value_type */
    union {
        int64_t i;
        double d;
        int b;
        const char *s; /* valid UTF-8, NUL-terminated */
    } value;
    uint32_t length; /* bytes of a text, without the NUL */
} crest_span_attribute;

typedef struct crest_span_event {
    uint64_t unix_ns;
    const char *name;
    const crest_span_attribute *attributes;
    size_t attribute_count;
} crest_span_event;

typedef struct crest_span_link {
    crest_span_context context;
} crest_span_link;

/* A kept span. Pointers are valid during the call that hands it over. */
typedef struct crest_span {
    crest_trace_id trace;
    crest_span_id id;
    crest_span_id parent; /* 0: a root */
    uint8_t flags;        /* CREST_TRACE_ */
    uint8_t kind;         /* crest_span_kind */
    crest_outcome outcome;
    const char *name;       /* the metric's; of a stage, then a dot and the stage's name */
    uint64_t start_unix_ns; /* since 1970, by the wall clock at the span's collection */
    uint64_t end_unix_ns;   /* never before the start */
    /* what its caller set, and then the labels of the timer's series, unless set by that key */
    const crest_span_attribute *attributes;
    size_t attribute_count;
    uint32_t dropped_attributes;
    const crest_span_event *events;
    size_t event_count;
    const crest_span_link *links;
    size_t link_count;
    const char *tracestate; /* "" if there is none */
    crest_op op;
    const char *status_message; /* "" if there is none */
    /* this span stands for so many children of the same name; 0: for itself alone */
    uint64_t folded_count;
    uint64_t folded_sum_ns;
    uint64_t folded_max_ns;
    uint8_t kept_why; /* crest_span_why */
} crest_span;

/* Spans to hand out, of any number of traces. Borrowed for the call. */
typedef struct crest_span_batch {
    const crest_span *spans;
    size_t count;
    const crest_resource *resource; /* as reporters get it; see <crest/reporter.h> */
    uint64_t deadline_ns;           /* on crest_now's timeline: be done by then */
    int final;                      /* non-zero: the last one, at stop or at exit */
} crest_span_batch;

/*
 * What kept spans go to. Called on the tracing thread and on those that flush, one call at a time;
 * only the final batch may be empty. It must not block for long: copy, and send elsewhere. One that
 * does holds all spans up meanwhile, until rings are full; crest_stop leaves it behind at its
 * deadline, and says so. Of this header it may record and read the totals; what locks refuses it:
 * CREST_INVALID_ARGUMENT.
 */
typedef struct crest_span_exporter {
    const char *name; /* label of self-metrics; borrowed while it is added */
    /* takes the whole batch. Another status than CREST_OK: all its spans are counted as lost */
    crest_status (*take)(struct crest_span_exporter *self, const crest_span_batch *batch,
                         crest_error *error);
    void *state; /* the exporter's own */
    /* non-zero: `take` only copies, and never waits. It is called before the exporters that may,
       and so has the last batch also when one of those never returns */
    int prompt;
} crest_span_exporter;

/* What became of all spans since the process began. After crest_spans_flush, while no thread
 * records: offered = kept + folded + all dropped. */
typedef struct crest_span_totals {
    uint64_t offered;         /* records of traced timers */
    uint64_t kept;            /* handed to exporters as a span of its own */
    uint64_t folded;          /* part of a folded span */
    uint64_t dropped_sampled; /* neither sampled nor kept by a rule */
    uint64_t dropped_full;    /* the thread's ring had no room, or there was no ring */
    uint64_t dropped_rate;    /* over the spans of a second */
    uint64_t dropped_memory;  /* the operation was pushed out, or no memory */
    uint64_t dropped_export;  /* no exporter, or all exporters refused */
    uint64_t late;            /* of these, came after their operation was decided */
    uint64_t waiting;         /* collected and not decided yet */
} crest_span_totals;

CREST_BEGIN_C

/*
 * Starts timing the operation under `parent` (NULL or all zero: under the operation's root on this
 * node) and fills *timing. The span is in the trace of the parent. Any thread, any handler. Cost: a
 * call and one crest_now.
 */
CREST_API void crest_timer_start_under(crest_timer *timer, crest_op op,
                                       const crest_span_context *parent, crest_span_timing *timing);

/* The context of a running span timing: the parent of what it calls. All zero where its timer is
 * not traced. Two of one timer and operation that run at once without a parent have one context,
 * and the children of both become those of one: give such a parent. One thread at a time for one
 * timing; any handler. Cost: a call; without a parent two hashes the first time. */
CREST_API crest_span_context crest_span_timing_context(crest_span_timing *timing);

/*
 * Set an attribute of a running span timing. A key that is set twice stands twice. Texts are
 * `length` bytes, need not be valid UTF-8 (what is not becomes U+FFFD), are cut as above and end at
 * a NUL. CREST_OK, also where the timer is not traced; CREST_LIMIT beyond the limits, that of keys
 * too, counted in the span's dropped_attributes; CREST_NOT_RUNNING; CREST_INVALID_ARGUMENT for a
 * bad key. One thread at a time for one timing; any handler. Cost: a call.
 */
CREST_API crest_status crest_span_set_i64(crest_span_timing *timing, crest_span_key *key,
                                          int64_t value);
CREST_API crest_status crest_span_set_double(crest_span_timing *timing, crest_span_key *key,
                                             double value);
CREST_API crest_status crest_span_set_bool(crest_span_timing *timing, crest_span_key *key,
                                           int value);
CREST_API crest_status crest_span_set_text(crest_span_timing *timing, crest_span_key *key,
                                           const char *text, size_t length);

/* Adds an event at this moment, named by a key; returns as above. Cost: a call, one crest_now. */
CREST_API crest_status crest_span_add_event(crest_span_timing *timing, crest_span_key *name);

/* Adds a link to another span; returns as above, CREST_INVALID_ARGUMENT for an invalid context. */
CREST_API crest_status crest_span_add_link(crest_span_timing *timing,
                                           const crest_span_context *context);

/* Sets the kind; CREST_INVALID_ARGUMENT for none. */
CREST_API crest_status crest_span_set_kind(crest_span_timing *timing, crest_span_kind kind);

/* Sets a text that says why it failed, cut as a text attribute; the last one counts. */
CREST_API crest_status crest_span_set_message(crest_span_timing *timing, const char *text,
                                              size_t length);

/* Ends the timing as crest_timing_end does, with the same statuses, and offers the span. */
CREST_API crest_status crest_span_end(crest_span_timing *timing, crest_op op,
                                      crest_outcome outcome);

/* The same, recorded into another series, as crest_timing_end_in. */
CREST_API crest_status crest_span_end_in(crest_span_timing *timing, crest_op op,
                                         crest_outcome outcome, crest_timer *series);

/*
 * The begin and end of a scope: as crest_timer_start_under with the thread's current span as
 * parent, if it is of any trace, and current itself until the end, by crest_span_leave or another
 * end of a span timing. Ends must come in the opposite order, on the same thread.
 */
CREST_API void crest_span_enter(crest_timer *timer, crest_op op, crest_span_timing *timing);
CREST_API crest_status crest_span_leave(crest_span_timing *timing, crest_outcome outcome);

/* Adds an exporter, the caller's until it is removed. CREST_ALREADY, CREST_LIMIT,
 * CREST_INVALID_ARGUMENT, also from an exporter. Thread-safe; locks. */
CREST_API crest_status crest_span_exporter_add(crest_span_exporter *exporter);
/* Removes it: hands out what is decided and returns when no call of it is under way; batches are
 * final at stop and exit only. CREST_NOT_FOUND; CREST_INVALID_ARGUMENT from an exporter.
 * Thread-safe; blocks for as long as the exporter does, and at most 2 s for another one. */
CREST_API crest_status crest_span_exporter_remove(crest_span_exporter *exporter);

/*
 * Collects what was recorded before the call, decides the operations that are at their end
 * (`all` non-zero: all, those under way too) and hands out every kept span. Returns CREST_OK, or
 * CREST_NOT_RUNNING where nothing was ever traced, CREST_INVALID_ARGUMENT from an exporter,
 * CREST_TIMED_OUT when another call has been in an exporter for more than 2 s. Thread-safe; blocks
 * as exporters do.
 */
CREST_API crest_status crest_spans_flush(int all);

/*
 * Hands finished spans of another tracer to the exporters as they are: with ids, names and times of
 * their own. No rule of `spans=…` is applied: that tracer has decided. Copied by the exporters
 * during the call. Counted as offered, and as kept or, when all exporters refused, dropped.
 * CREST_NOT_RUNNING without an exporter, also for count 0; CREST_INVALID_ARGUMENT, and none is
 * handed over, when one has no trace, no id or no name, a kind or an outcome that there is not, or
 * ends before it starts, and from an exporter; CREST_LIMIT when all exporters refused some.
 * Thread-safe; locks, and blocks as exporters do.
 */
CREST_API crest_status crest_spans_give(const crest_span *spans, size_t count);

/* What became of all spans. Thread-safe. */
CREST_API crest_span_totals crest_spans_totals(void);

/* What tracing is set to; zero-initialised fields mean the defaults. */
typedef struct crest_spans_settings {
    const char *spans;                    /* globs of metrics' names, separated by ':' or ','; "" or
                                            NULL: none, which ends tracing */
    double sample CREST_DEFAULT_(0);      /* of operations, 0 to 1; 0: 0.01; negative: none */
    double slow_factor CREST_DEFAULT_(0); /* times the timer's windowed p99; 0: 2; negative: off */
    uint64_t slow_ns CREST_DEFAULT_(0);   /* non-zero: slow is this, whatever the p99 */
    uint32_t rate CREST_DEFAULT_(0);      /* spans a second; 0: 1000 */
    uint32_t per_op CREST_DEFAULT_(0);    /* spans of an operation before they fold; 0: 512 */
    uint64_t buffer_bytes CREST_DEFAULT_(0); /* of rings and waiting spans; 0: 12 MiB. The process's
                                                first call that traces sets it for good */
} crest_spans_settings;

/*
 * Traces the timers that match, from now on, as the options spans=… do. Later calls replace what
 * was set. CREST_INVALID_ARGUMENT for a ratio or a list that is too long, and from an exporter, and
 * nothing changes then; CREST_NO_MEMORY, CREST_SYSTEM without a thread. error may be NULL.
 * Thread-safe; locks; allocates.
 */
CREST_API crest_status crest_spans_set(const crest_spans_settings *settings, crest_error *error);

/* A scope; only the macro makes them. */
typedef struct crest_span_scope {
    crest_span_timing *timing;
    const crest_outcome *outcome;
} crest_span_scope;

#ifndef CREST_DISABLE
CREST_INLINE crest_span_scope crest_span_scope_begin(crest_span_timing *timing, crest_timer *timer,
                                                     crest_op op, const crest_outcome *outcome)
{
    crest_span_scope scope = {timing, outcome};
    crest_span_enter(timer, op, timing);
    return scope;
}

CREST_INLINE void crest_span_scope_end(crest_span_scope *scope)
{
    crest_span_leave(scope->timing, scope->outcome ? *scope->outcome : CREST_OUTCOME_OK);
}
#endif

CREST_END_C

/*
 * CREST_SPAN_SCOPE(variable, timer, op, outcome): declares the crest_span_timing `variable` and
 * times the rest of the block under the thread's current span, as CREST_TIME_SCOPE does; what is
 * traced inside of it, on the same thread, is its child.
 */
#ifndef __cplusplus
#define CREST_SPAN_SCOPE(variable, timer, op, outcome)                                             \
    crest_span_timing variable;                                                                    \
    __attribute__((cleanup(crest_span_scope_end), unused)) crest_span_scope CREST_PASTE_(          \
        crest_span_scope_of_, __COUNTER__) = crest_span_scope_begin(&variable, timer, op, outcome)
#else
/* As crest_time_scope_guard: a block that an exception leaves while the outcome says ok is an
 * error. Not for a coroutine that goes on on another thread: the current span is the thread's. */
class crest_span_scope_guard
{
  public:
    crest_span_scope_guard(crest_span_timing *timing, crest_timer *timer, crest_op op,
                           const crest_outcome *outcome)
        : timing_(timing), outcome_(outcome), exceptions_(std::uncaught_exceptions())
    {
        crest_span_enter(timer, op, timing);
    }
    crest_span_scope_guard(const crest_span_scope_guard &) = delete;
    crest_span_scope_guard &operator=(const crest_span_scope_guard &) = delete;
    ~crest_span_scope_guard()
    {
        crest_outcome outcome = outcome_ != nullptr ? *outcome_ : CREST_OUTCOME_OK;
        if (outcome == CREST_OUTCOME_OK && std::uncaught_exceptions() > exceptions_)
            outcome = CREST_OUTCOME_ERROR;
        crest_span_leave(timing_, outcome);
    }

  private:
    crest_span_timing *timing_;
    const crest_outcome *outcome_;
    int exceptions_;
};

#define CREST_SPAN_SCOPE(variable, timer, op, outcome)                                             \
    crest_span_timing variable;                                                                    \
    crest_span_scope_guard CREST_PASTE_(crest_span_scope_of_, __COUNTER__)(&variable, timer, op,   \
                                                                           outcome)
#endif

#ifdef CREST_DISABLE
#include <crest/off/span_off.h>
#endif

#endif
