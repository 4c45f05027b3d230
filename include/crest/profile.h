/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampling profiler in the process: where its threads spend their CPU time, where every thread is
 * now, and what the slowest operations did. It needs no privilege and no other process, and is off
 * unless it is asked for: profile=on (docs/profiling.md), or
 *
 *     crest_profiler_start(NULL, &error);
 *     crest_profile *profile = crest_profile_begin(CREST_PROFILE_CPU, &error);
 *     sleep(10);
 *     crest_profile_end(profile, &error);
 *     crest_profile_write(profile, CREST_PROFILE_PPROF, write, file, &error);
 *     crest_profile_free(profile);
 *
 * Every thread has a timer on its own CPU clock. When that has run for 1/99 s, the thread gets a
 * signal, whose handler walks the thread's stack and counts what it finds. So a thread that sleeps
 * gets no signal, and none of its system calls is interrupted. The handler takes no lock, allocates
 * nothing and calls no function of the C library. The signal is SIGPROF where the host has left
 * that alone, or else a free real-time signal; docs/safety.md says more of it.
 *
 * Samples belong to the operation that their thread is in, if the program says so:
 *
 *     CREST_PROFILE_SCOPE(&validate_time, crest_op_bytes(hash, 32), NULL);
 *
 * times the rest of the block, as CREST_TIME_SCOPE does. The timer's name is then a label of the
 * samples (go tool pprof -tagfocus=timer=…), and the slow profile is that of the slowest operations
 * only.
 *
 * Linux on x86-64. Elsewhere crest_profiler_start answers CREST_SYSTEM. Sources: pprof's
 * profile.proto; timer_create(2).
 */
#ifndef CREST_PROFILE_H
#define CREST_PROFILE_H

#include <crest/page.h>
#include <crest/scope.h>

/* Samples a second of CPU time of each thread. The kernel's tick bounds it: 250 on most. */
#define CREST_PROFILE_HZ_DEFAULT 99u
#define CREST_PROFILE_HZ_MAX 1000u
/* Threads that are sampled at a time; frames of a stack. */
#define CREST_PROFILE_THREADS_MAX 1024u
#define CREST_PROFILE_FRAMES_MAX 128u
#define CREST_PROFILE_COUNTERS_MAX 50u
/* Of OTLP's profiles, which are in alpha: whose numbers of fields are written. */
#define CREST_PROFILE_OTLP_SCHEMA "v1development/1.11.0"
/* Names of other runtimes' frames in a process, and bytes of one, its NUL included; the longest CPU
 * time that a sample of theirs stands for. */
#define CREST_PROFILE_NAMES_MAX 32768u
#define CREST_PROFILE_NAME_BYTES_MAX 512u
#define CREST_PROFILE_ADD_NS_MAX (UINT64_C(60) * 1000000000)
/* How long a profile over HTTP may last, and how long it lasts if the request does not say. */
#define CREST_PROFILE_SECONDS_MAX 60u
#define CREST_PROFILE_SECONDS_DEFAULT 10u

/* Where profile=on serves them. */
#define CREST_PROFILE_LISTEN_DEFAULT "127.0.0.1:27379"

typedef struct crest_profiler_options {
    unsigned hz CREST_DEFAULT_(0); /* up to CREST_PROFILE_HZ_MAX; 0: the default */
    /* SIGPROF, SIGVTALRM, SIGUSR1, SIGUSR2, real-time; 0: SIGPROF, or a free real-time one */
    int signal CREST_DEFAULT_(0);
    /* functions that get counters of CPU time, crest_profile_cpu_seconds_total, at most of each
       kind; up to CREST_PROFILE_COUNTERS_MAX; 0: none. Those that ever had a hundredth of it */
    unsigned counters CREST_DEFAULT_(0);
} crest_profiler_options;

/* What the profiler has done since its start; all but `threads` only grow. */
typedef struct crest_profiler_state {
    int running;
    int signal;          /* that it takes; 0: it never ran */
    unsigned threads;    /* that have a timer now */
    uint64_t samples;    /* of CPU time, those lost included */
    uint64_t lost;       /* of these: there was no room for their stacks */
    uint64_t broken;     /* of these: the stack ends before the thread's first function */
    uint64_t truncated;  /* of these: it has more than CREST_PROFILE_FRAMES_MAX frames */
    uint64_t unsampled;  /* threads that got no timer: too many, or the kernel refused */
    uint64_t operations; /* that ended with samples of theirs */
} crest_profiler_state;

typedef enum crest_profile_kind {
    CREST_PROFILE_CPU,     /* what ran, in samples and nanoseconds of CPU time */
    CREST_PROFILE_WALL,    /* what ran or waited, in nanoseconds of every thread's life */
    CREST_PROFILE_THREADS, /* where every thread is now, with its operation and that one's age */
    CREST_PROFILE_SLOW,    /* the CPU samples of the last minute's slowest operations */
    CREST_PROFILE_KINDS
} crest_profile_kind;

typedef enum crest_profile_format {
    CREST_PROFILE_PPROF, /* profile.proto, not compressed: go tool pprof reads it */
    CREST_PROFILE_FOLDED /* lines "main;store;write 12", as flame graphs are made of */
} crest_profile_format;

typedef struct crest_profile crest_profile;

/* A block that is being profiled as an operation; only the calls below fill it. */
typedef struct crest_profile_scope {
    struct crest_profile_scope *outer; /* that the thread was in before */
    const struct crest_metric *metric; /* the timer's; NULL: it records nowhere */
    uint64_t start_ns;
    uint32_t sampled; /* samples so far; written by the thread's own signal handler */
    uint32_t entered; /* non-zero: the thread has a place for it */
    uint32_t stage;   /* 1 + the index of the stage that is worked towards; 0: none is told */
    uint32_t shared;  /* non-zero: other threads may work for the same operation */
    crest_op op;
} crest_profile_scope;

CREST_BEGIN_C

/*
 * Starts the profiler, with one thread of its own, which blocks all signals. options may be NULL.
 * CREST_ALREADY when it runs; CREST_INVALID_ARGUMENT; CREST_NO_MEMORY; CREST_SYSTEM: no signal is
 * free, no thread or timer can be had, threads=off, or this is no Linux on x86-64. error may be
 * NULL. Thread-safe; allocates about 6 MiB until the stop, which are touched as samples come.
 */
CREST_API crest_status crest_profiler_start(const crest_profiler_options *options,
                                            crest_error *error);

/* Stops it, and deletes every timer. Its signal is ignored from then on, because one may still be
 * on its way. A profile under way ends. CREST_OK, CREST_NOT_RUNNING. Thread-safe; blocks for some
 * milliseconds. The child of a fork has no profiler, and may start one. */
CREST_API crest_status crest_profiler_stop(crest_error *error);

/* Thread-safe; any handler. */
CREST_API crest_profiler_state crest_profiler_status(void);

/*
 * Samples the calling thread from now on, without waiting for the profiler to find it, which takes
 * up to a tenth of a second: for threads that live shorter. Does nothing while no profiler runs.
 * Thread-safe; locks; a few system calls.
 */
CREST_API void crest_profile_thread(void);

/*
 * Begins a profile. One can be under way at a time: CREST_ALREADY. CREST_NOT_RUNNING,
 * CREST_NO_MEMORY, CREST_INVALID_ARGUMENT; NULL then, and *error filled (it may be NULL).
 * CREST_PROFILE_THREADS and _SLOW are of the moment of crest_profile_end. Owned by the caller.
 * Thread-safe; locks; allocates.
 */
CREST_API crest_profile *crest_profile_begin(crest_profile_kind kind, crest_error *error);

/* Ends it: what is written afterwards is what was seen between begin and end. CREST_OK;
 * CREST_NOT_RUNNING: the profiler was stopped meanwhile; CREST_NO_MEMORY. Thread-safe; locks;
 * allocates. */
CREST_API crest_status crest_profile_end(crest_profile *profile, crest_error *error);

/* Writes an ended profile, as often as wanted. Names come from the files of the process's modules,
 * where these are still the same; other frames keep module and address. CREST_OK,
 * CREST_INVALID_ARGUMENT, CREST_NO_MEMORY, or CREST_IO when `write` refused. Allocates; reads
 * files. */
CREST_API crest_status crest_profile_write(const crest_profile *profile,
                                           crest_profile_format format, crest_write_fn *write,
                                           void *context, crest_error *error);

/* Frees it; one that has not ended is ended. NULL does nothing. */
CREST_API void crest_profile_free(crest_profile *profile);

/* Samples in an ended profile; of threads, how many there are. */
CREST_API uint64_t crest_profile_samples(const crest_profile *profile);

/*
 * A reader that gets each sample of CPU time once, whatever profiles are taken beside it: for what
 * sends profiles on and on. crest_profile_stream_next hands out what came since the last one as an
 * ended profile, of no samples if there were none or no profiler runs. NULL and *error:
 * CREST_NO_MEMORY. One thread at a time; locks; allocates. A stream may be opened before the
 * profiler starts, goes on over its stops, and costs 128 KiB while it runs.
 */
typedef struct crest_profile_stream crest_profile_stream;
CREST_API crest_profile_stream *crest_profile_stream_open(crest_error *error);
CREST_API crest_profile *crest_profile_stream_next(crest_profile_stream *stream,
                                                   crest_error *error);
/* NULL does nothing. */
CREST_API void crest_profile_stream_close(crest_profile_stream *stream);

/* Writes an ended CPU profile as an ExportProfilesServiceRequest of OTLP with these attributes of
 * its resource, of the schema CREST_PROFILE_OTLP_SCHEMA; otherwise as crest_profile_write.
 * CREST_INVALID_ARGUMENT for other kinds. */
CREST_API crest_status crest_profile_write_otlp(const crest_profile *profile,
                                                const crest_page_label *attributes, unsigned count,
                                                crest_write_fn *write, void *context,
                                                crest_error *error);

/*
 * Says which operation the thread is in, until the matching crest_profile_leave, which must be
 * called by the same thread, last entered first. *scope is the caller's and lies still meanwhile: a
 * variable of the function. Any thread, not for signal handlers. Cost: a call and some stores,
 * whether a profiler runs or not; a thread's first one and a timer's first one take a lock.
 */
CREST_API void crest_profile_enter(crest_profile_scope *scope, crest_timer *timer, crest_op op);
CREST_API void crest_profile_leave(crest_profile_scope *scope);

/*
 * The same of a keyed timer's operation, which begins and ends elsewhere (in_flight.h): the thread
 * works for it, and so may others. timer: a keyed one, or `timer` of stages; stage: the index of
 * the mark that it works towards, as for crest_stages_mark; negative, or out of range: none is
 * told. Nothing is timed. All that was done for one operation is one in the slow profile: as long
 * as from the first of it to the last.
 */
CREST_API void crest_profile_work(crest_profile_scope *scope, crest_timer *timer, crest_op op,
                                  int stage);

/*
 * For runtimes whose code has no tables to unwind by, and which sample it themselves, as a JVM: the
 * frame of a function, by its name, for crest_profile_add. Copied, and kept for the life of the
 * process; a name beyond the limits is `[too many names]`. 0 without memory. Thread-safe; locks;
 * the first time it allocates 512 KiB.
 */
CREST_API uint64_t crest_profile_frame(const char *name);

/*
 * Adds to CPU profiles a sample of a thread that stands for `cpu_ns` of CPU time: frames of
 * crest_profile_frame, innermost first, at most CREST_PROFILE_FRAMES_MAX; timer: the one that the
 * thread was in, or NULL. CREST_OK, CREST_NOT_RUNNING: no profiler runs; CREST_INVALID_ARGUMENT.
 * Thread-safe; locks.
 */
CREST_API crest_status crest_profile_add(const uint64_t *frames, size_t depth,
                                         const crest_timer *timer, uint64_t cpu_ns);

/* Non-zero: such samples come, so the profiler's own samples of code that is in no module, as a
 * compiler at run time makes it, are counted and not stored. Thread-safe; any handler. */
CREST_API void crest_profile_cover(int covered);

CREST_END_C

/*
 * CREST_PROFILE_SCOPE(timer, op, outcome): CREST_TIME_SCOPE, and the rest of the block is profiled
 * as that operation. It costs a call more, so what is timed a million times a second keeps
 * CREST_TIME_SCOPE.
 */
#define CREST_PROFILE_SCOPE(timer, op, outcome)                                                    \
    CREST_PROFILE_SCOPE_(timer, op, outcome, CREST_PASTE_(crest_profile_scope_of_, __COUNTER__))
/*
 * CREST_PROFILE_WORK(timer, op): the rest of the block is profiled as work for a keyed timer's
 * operation. CREST_PROFILE_STAGE(stages, op, index): the same of an operation with stages, on its
 * way to the mark `index`, whose name is the label `stage` of the samples. What such samples add up
 * to is the CPU time in that stage's histogram (stages.h).
 */
#define CREST_PROFILE_WORK(timer, op)                                                              \
    CREST_PROFILE_WORK_(timer, op, -1, CREST_PASTE_(crest_profile_scope_of_, __COUNTER__))
#define CREST_PROFILE_STAGE(stages, op, index)                                                     \
    CREST_PROFILE_WORK_(&(stages)->timer, op, index,                                               \
                        CREST_PASTE_(crest_profile_scope_of_, __COUNTER__))
#ifdef __cplusplus
class crest_profile_scope_guard
{
  public:
    crest_profile_scope_guard(crest_timer *timer, crest_op op)
    {
        crest_profile_enter(&scope_, timer, op);
    }
    crest_profile_scope_guard(crest_timer *timer, crest_op op, int stage)
    {
        crest_profile_work(&scope_, timer, op, stage);
    }
    crest_profile_scope_guard(const crest_profile_scope_guard &) = delete;
    crest_profile_scope_guard &operator=(const crest_profile_scope_guard &) = delete;
    ~crest_profile_scope_guard() { crest_profile_leave(&scope_); }

  private:
    crest_profile_scope scope_;
};
#define CREST_PROFILE_SCOPE_(timer, op, outcome, name)                                             \
    CREST_PROFILE_ONCE_(timer, op, name);                                                          \
    CREST_TIME_SCOPE(CREST_PASTE_(name, _timer), CREST_PASTE_(name, _op), outcome);                \
    crest_profile_scope_guard name(CREST_PASTE_(name, _timer), CREST_PASTE_(name, _op))
#define CREST_PROFILE_WORK_(timer, op, stage, name) crest_profile_scope_guard name(timer, op, stage)
#else
#define CREST_PROFILE_WORK_(timer, op, stage, name)                                                \
    __attribute__((cleanup(crest_profile_leave), unused)) crest_profile_scope name;                \
    crest_profile_work(&name, timer, op, stage)
#define CREST_PROFILE_SCOPE_(timer, op, outcome, name)                                             \
    CREST_PROFILE_ONCE_(timer, op, name);                                                          \
    CREST_TIME_SCOPE(CREST_PASTE_(name, _timer), CREST_PASTE_(name, _op), outcome);                \
    __attribute__((cleanup(crest_profile_leave), unused)) crest_profile_scope name;                \
    crest_profile_enter(&name, CREST_PASTE_(name, _timer), CREST_PASTE_(name, _op))
#endif
/* Both are evaluated once: crest_op_u64(next++) is one operation. */
#define CREST_PROFILE_ONCE_(timer, op, name)                                                       \
    __attribute__((unused)) crest_timer *const CREST_PASTE_(name, _timer) = (timer);               \
    __attribute__((unused)) const crest_op CREST_PASTE_(name, _op) = (op)

#ifdef CREST_DISABLE
#include <crest/off/profile_off.h>
#endif

#endif
