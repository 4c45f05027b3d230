/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prober: one thread, the list of probes, and when each is to do something. The inside of
 * <crest/probe.h>. Each kind has its file: probe_socket.c, probe_connect.c, probe_ping.c. A probe
 * of a file has a thread of its own (probe_file.c) and is only in the list.
 *
 * Everything here is under the prober's lock. It is given up only for the node's `send` and while
 * the thread waits: a step of a probe is some system calls that do not block. Ownership of a probe:
 *
 *   list        until it is stopped
 *   stopper     the caller that stops it: waits for calls of `send` under way, then frees it
 *   last call   if `send` itself stops it: the last of its calls frees it
 *   own thread  for a probe of a file
 *
 * No model: every step is under one lock.
 *
 * Schedules are on the kernel's monotonic clock, durations on crest_now(), which a test may set.
 */
#ifndef CREST_LATENCY_PROBER_H
#define CREST_LATENCY_PROBER_H

#include "base/leavable.h"
#include "base/sync.h"
#include "metrics/metric_inside.h"
#include <crest/lifetime.h>
#include <crest/probe.h>

#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#define CREST_PROBE_NEVER UINT64_MAX
/* Bytes of a prefix, at most. */
#define CREST_PROBE_PREFIX_BYTES_MAX 100u

/* What a kind of probe does. All under the lock. */
typedef struct crest_probe_work {
    /* its time has come, or what it waits for on probe->fd; `ready_ns` is crest_now() when the
     * prober noticed that. Sets probe->wake_ns */
    void (*step)(crest_probe *probe, uint64_t now_ns, uint64_t ready_ns, int ready);
    /* the probe was taken off the list: makes the last records, and closes descriptors */
    void (*stop)(crest_probe *probe);
    /* releases its series */
    void (*release)(crest_probe *probe);
    /* does what the schedule set probe->wanted for. Gives up the lock meanwhile; the probe may be
     * freed afterwards. NULL: the kind never sets `wanted` */
    void (*send)(crest_probe *probe);
    int own_thread; /* the prober's thread does nothing for it */
} crest_probe_work;

typedef struct crest_probe_socket_part {
    int fd; /* the caller owns it */
    int by_inode;
    uint64_t identity;
    crest_tcp_info last;
    crest_histogram *rtt;
    crest_gauge *least, *variation, *unacknowledged, *lost, *window;
    crest_counter *retransmits, *acknowledged, *received;
    crest_counter_family ended;
} crest_probe_socket_part;

typedef struct crest_probe_address {
    struct sockaddr_storage bytes;
    socklen_t length;
} crest_probe_address;

/* A look-up. Its thread owns it until it is done, the probe afterwards. */
typedef struct crest_probe_question {
    crest_leavable leavable;
    int done;   /* under the prober's lock */
    int answer; /* getaddrinfo's */
    int count;
    uint64_t start_ns, took_ns;
    crest_probe_address addresses[CREST_PROBE_ADDRESSES_MAX];
    char port[8];
    char host[CREST_PROBE_ADDRESS_BYTES_MAX + 1];
} crest_probe_question;

typedef struct crest_probe_connect_part {
    char text[CREST_PROBE_ADDRESS_BYTES_MAX + 1];
    char host[CREST_PROBE_ADDRESS_BYTES_MAX + 1];
    char port[8];
    int numeric;
    crest_probe_address addresses[CREST_PROBE_ADDRESSES_MAX];
    int count, at;        /* of addresses, and the index of the next to try */
    uint64_t resolved_ns; /* when they were found, on the schedule's clock */
    uint64_t start_ns;    /* of the connect or look-up, on crest_now() */
    uint64_t deadline_ns; /* of the same, on the schedule's clock */
    crest_timer *connect, *resolve;
} crest_probe_connect_part;

typedef enum crest_probe_ping_phase {
    CREST_PING_NONE = 0,
    CREST_PING_SENT,
    CREST_PING_LATE, /* timed out; tells a late answer from an unknown one */
    CREST_PING_OVER
} crest_probe_ping_phase;

typedef struct crest_probe_ping_entry {
    uint64_t id, start_ns;
    crest_probe_ping_phase phase;
} crest_probe_ping_entry;

typedef struct crest_probe_ping_part {
    crest_probe_send_fn *send;
    void *context;
    crest_probe_ping_entry pings[CREST_PROBE_PINGS_MAX];
    unsigned next;
    unsigned under_way;
    crest_timer *time;
    crest_counter *unexpected, *overruns;
} crest_probe_ping_part;

struct crest_probe {
    /* what the prober reads of every probe at each waking: one cache line */
    crest_probe *next;
    const crest_probe_work *work;
    uint64_t wake_ns;               /* when to step it; or CREST_PROBE_NEVER */
    uint64_t polled_in;             /* number of the wait that `polled` is of */
    unsigned polled;                /* index in the prober's list of descriptors */
    uint32_t fd;                    /* what the prober waits for, biased by one; 0: nothing */
    int wanted;                     /* the schedule wants a ping to be sent */
    crest_probe_question *question; /* a connect's look-up under way */
    /* the rest */
    crest_registry *registry;
    char prefix[CREST_PROBE_PREFIX_BYTES_MAX + 1];
    char peer[CREST_PROBE_PEER_BYTES_MAX + 1];
    uint64_t interval_ns, timeout_ns;
    double jitter;
    uint64_t point_ns; /* the schedule's next point of time */
    uint64_t due_ns;   /* the same, moved by the jitter */
    crest_probe_state state;
    unsigned calls; /* of `send` under way */
    int stopped;
    int own; /* stopped by its own `send`: the last call frees it */
    union {
        crest_probe_socket_part socket;
        crest_probe_connect_part connect;
        crest_probe_ping_part ping;
        struct crest_probe_file_part *file;
    } part;
};

/* ---- prober.c ---- */

/* The prober's lock, for files that share it. */
pthread_mutex_t *crest_prober_mutex(void);
void crest_prober_lock(void);
void crest_prober_unlock(void);
/* Under the lock: whether the probe is in the list. */
int crest_prober_has(const crest_probe *probe);
/* Under the lock: the list. */
const crest_probe *crest_prober_first(void);
/* Under the lock: whether another probe in the list has the same series. */
int crest_probe_shares(const crest_probe *probe);
/* The probe must be in no list, and none of its calls under way. NULL does nothing. */
void crest_probe_free(crest_probe *probe);
/* Under the lock: makes the thread look again. */
void crest_prober_wake(void);
/* Takes the probe into the list; its first step is at probe->wake_ns. CREST_LIMIT, CREST_SYSTEM,
 * with *error filled. */
crest_status crest_prober_add(crest_probe *probe, crest_error *error);
/* Under the lock, given up meanwhile: waits for a condition until then, on the schedule's clock. */
void crest_prober_wait_for(pthread_cond_t *condition, const struct timespec *until);
/* Under the lock, given up meanwhile: calls `send` for a ping. */
int crest_prober_send(crest_probe *probe, uint64_t id);

/* The schedule's clock. */
uint64_t crest_prober_now_ns(void);
/* Under the lock: the schedule's point was used, or left out; moves on to the first point after
 * now. */
void crest_prober_next_point(crest_probe *probe, uint64_t now_ns);
/* Sets the first point: after a random part of the interval, or at once without jitter. */
void crest_prober_first_point(crest_probe *probe);
/* A random number, never 0, that a peer cannot guess. */
uint64_t crest_prober_random(void);

/* ---- probes.c ---- */

/* A probe with what all kinds have, not yet in the list; NULL with *error filled. */
crest_probe *crest_probe_new(crest_probe_kind kind, const crest_probe_work *work, const char *peer,
                             const crest_probe_options *options, crest_error *error);
/* Counts why a probe was not added after all, and frees it. */
crest_probe *crest_probe_refuse(crest_probe *probe, const crest_error *error);

/* Under the lock: notes a failed try, and why. */
void crest_probe_failed(crest_probe *probe, crest_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Under the lock: notes an answer. */
void crest_probe_answered(crest_probe *probe, uint64_t rtt_ns);

/* The options of a metric of the probe's; `text` is where its name is put. */
#define CREST_PROBE_NAME_BYTES (CREST_NAME_BYTES_MAX + 1)
crest_metric_options crest_probe_metric(const crest_probe *probe, const char *word,
                                        const char *description, crest_unit unit,
                                        char text[CREST_PROBE_NAME_BYTES]);
/* A series with the probe's peer. On failure *status says why, unless it has a reason already. */
crest_counter *crest_probe_counter(const crest_probe *probe, const char *word,
                                   const char *description, crest_unit unit, crest_status *status);
crest_gauge *crest_probe_gauge(const crest_probe *probe, const char *word, const char *description,
                               crest_unit unit, crest_status *status);
crest_histogram *crest_probe_histogram(const crest_probe *probe, const char *word,
                                       const char *description, crest_status *status);
crest_timer *crest_probe_timer(const crest_probe *probe, const char *word, const char *description,
                               crest_status *status);

#endif
