/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: how long the way to a neighbour and back takes. A socket probe asks the kernel about a
 * socket of the node's, without a packet; a connect probe connects to a port; a ping probe times a
 * ping that the node exchanges itself.
 *
 *     crest_probe *watch = crest_probe_socket("node-3", fd, NULL, &error);
 *     crest_probe *dial = crest_probe_connect("node-3", "10.0.0.7:40400", NULL, &error);
 *     crest_probe *ping = crest_probe_ping("node-3", send_ping, connection, NULL, &error);
 *     ...                                        crest_probe_pong(ping, id) when the answer came
 *     crest_probe_stop(ping);
 *
 * Every metric has one label, `peer`; two probes of one peer record into the same series.
 *
 *   probe.socket.rtt                    histogram: the kernel's smoothed round-trip time
 *   probe.socket.rtt-least, .rtt-variation
 *                                       gauges: its minimum, its mean deviation
 *   probe.socket.retransmits            counter: segments sent again
 *   probe.socket.data-acknowledged, .data-received
 *                                       counters, bytes
 *   probe.socket.segments-unacknowledged, .segments-lost, .congestion-window
 *                                       gauges: segments now under way, held for lost, allowed
 *   probe.sockets-ended                 counter, label `cause`: closed, replaced, disconnected
 *   probe.connect-time                  timer: from connect() to connected
 *   probe.resolve-time                  timer: looking up the name, where it is one
 *   probe.ping-time                     timer: from `send` to crest_probe_pong
 *   probe.pongs-unexpected              counter: late, twice, or of no ping that was sent
 *   probe.send-overruns                 counter: `send` took longer than CREST_PROBE_SEND_MS
 *
 * One thread of the library's own, "crest-prober", which blocks all signals, does all of this; it
 * starts with the first probe and ends with the last. Each name is looked up by a thread of its
 * own, "crest-resolver", that ends with the answer. The child of a fork has none of its parent's
 * probes, nor their threads and descriptors; for its copies every call answers CREST_NOT_FOUND, and
 * it may start its own.
 *
 * Points of time that pass unused are left out, never made up for.
 */
#ifndef CREST_PROBE_H
#define CREST_PROBE_H

#include <crest/registry.h>

/* Probes at a time. */
#define CREST_PROBES_MAX 1000u
/* Bytes of a peer's name, and of HOST:PORT. */
#define CREST_PROBE_PEER_BYTES_MAX 255u
#define CREST_PROBE_ADDRESS_BYTES_MAX 300u
/* The interval between two tries, and how long a try waits for its answer. */
#define CREST_PROBE_INTERVAL_MS_DEFAULT 1000u
#define CREST_PROBE_INTERVAL_MS_MIN 10u
#define CREST_PROBE_INTERVAL_MS_MAX 86400000u
#define CREST_PROBE_TIMEOUT_MS_DEFAULT 5000u
#define CREST_PROBE_TIMEOUT_MS_MAX 600000u
/* As the interval of pings: only those of crest_probe_ping_now. */
#define CREST_PROBE_BY_HAND UINT32_MAX
/* Pings of one probe that are remembered: those under way, and the latest that are over. */
#define CREST_PROBE_PINGS_MAX 64u
/* What `send` may take; a longer call is counted, because all other probes are late meanwhile. */
#define CREST_PROBE_SEND_MS 10u
/* How long the addresses of a name are used; after a failure it is looked up again. */
#define CREST_PROBE_RESOLVE_MS 60000u
/* Addresses of a name that are tried, one a time. */
#define CREST_PROBE_ADDRESSES_MAX 8u

typedef struct crest_probe crest_probe;

/* Sends the ping with this id to the peer; returns 0 when it was sent. Called on the prober's
 * thread, or on the caller's by crest_probe_ping_now, without any lock held; must not block. It may
 * call crest_probe_pong, and crest_probe_stop. */
typedef int crest_probe_send_fn(void *context, uint64_t id);

typedef struct crest_probe_options {
    /* where the metrics go; NULL: the default registry. Borrowed until the stop */
    crest_registry *registry CREST_DEFAULT_(NULL);
    /* stands in place of `probe` in their names; copied. NULL: "probe" */
    const char *prefix CREST_DEFAULT_(NULL);
    /* CREST_PROBE_INTERVAL_MS_MIN to _MAX; 0: CREST_PROBE_INTERVAL_MS_DEFAULT */
    uint32_t interval_ms CREST_DEFAULT_(0);
    /* connects and pings, up to CREST_PROBE_TIMEOUT_MS_MAX; 0: CREST_PROBE_TIMEOUT_MS_DEFAULT */
    uint32_t timeout_ms CREST_DEFAULT_(0);
    /* the fraction of the interval by which a connect or ping is delayed at random, so that many
       nodes do not probe at once. 0: a tenth; up to 1; negative: none. Not for sockets */
    double jitter CREST_DEFAULT_(0);
} crest_probe_options;

typedef enum crest_probe_kind {
    CREST_PROBE_NONE = 0,
    CREST_PROBE_SOCKET,
    CREST_PROBE_CONNECT,
    CREST_PROBE_PING,
    CREST_PROBE_FILE /* timed_io.h */
} crest_probe_kind;

/* How a probe is doing; counts are of this probe alone. */
typedef struct crest_probe_state {
    crest_probe_kind kind;
    int ended;               /* it has ended itself: the socket is gone. It still needs its stop */
    uint64_t tries;          /* readings, connects, pings or rounds of a file that were begun */
    uint64_t answers;        /* of these: a reading with news, connected, answered in time, done */
    uint64_t errors;         /* of these: failed; a failed look-up of a name too */
    uint64_t timeouts;       /* of these */
    uint64_t unexpected;     /* pongs that were late, came twice, or answered no ping */
    uint64_t skipped;        /* points of time left out: too late, or the last try still ran */
    uint64_t last_rtt_ns;    /* of the last answer; 0: none yet. Of a file, a whole round */
    uint64_t last_answer_ns; /* crest_now() then */
    unsigned socket_state;   /* a socket's, at the last reading: TCP_ESTABLISHED and so on */
    int direct;              /* a file's reads and writes go past the page cache */
    crest_error last_error;  /* CREST_OK and "" if none yet */
} crest_probe_state;

/* The kernel's figures of a TCP connection. A field that this kernel does not have is 0. */
typedef struct crest_tcp_info {
    unsigned state;            /* as in <netinet/tcp.h>: 1 is TCP_ESTABLISHED */
    uint64_t rtt_ns;           /* smoothed */
    uint64_t rtt_variation_ns; /* mean deviation */
    uint64_t rtt_least_ns;     /* the kernel's own window of the minimum */
    uint64_t last_ack_ns;      /* since the last acknowledgement came */
    uint32_t retransmits;      /* segments sent again, in all; begins again at 2^32 */
    uint32_t delivered;        /* segments that were acknowledged, in all; likewise */
    uint64_t bytes_acknowledged, bytes_received; /* in all */
    uint32_t unacknowledged;                     /* segments under way */
    uint32_t lost;                               /* of these, held for lost */
    uint32_t congestion_window;                  /* segments */
    int has_rtt_least, has_bytes, has_delivered; /* non-zero: this kernel has them */
} crest_tcp_info;

CREST_BEGIN_C

/*
 * The next three: `peer` is the label's value, NUL-terminated, valid UTF-8 or made so, copied.
 * options NULL for defaults; copied. The probe is owned by the caller and ended by
 * crest_probe_stop. NULL, and *error (which may be NULL) filled, on failure:
 * CREST_INVALID_ARGUMENT, counted in crest_misuse_total{cause="invalid-probe"}; CREST_LIMIT;
 * CREST_NO_MEMORY; CREST_SYSTEM without a thread or descriptor; or why a metric cannot be had, as
 * crest_counter_family_new says. Thread-safe; not for signal handlers. Cost: locks, allocates; the
 * first starts the thread.
 */

/*
 * Watches a TCP socket: at its interval, and a last time at its stop, it asks the kernel
 * (getsockopt TCP_INFO), which sends nothing. The descriptor stays the caller's. It is not
 * duplicated, so closing it closes the connection as usual.
 *
 * A caller may close the descriptor without stopping the probe. The socket is identified by its
 * cookie (SO_COOKIE; on kernels before 4.12 by its inode), read before and after the figures. So
 * the next connection under the same number is never taken for it. The probe then ends itself, and
 * what happened since its last reading is not recorded.
 *
 * A round-trip time is recorded only when the kernel measured since the last reading: when segments
 * that this side sent were acknowledged. An idle connection has none, and an unchanging gauge of it
 * says so. (Before kernel 4.18 any acknowledgement counts.) It is the kernel's smoothed value, in
 * which a single sample weighs an eighth.
 *
 * Counters count from here on. CREST_INVALID_ARGUMENT for a descriptor that is no TCP socket, or
 * that listens or is not connected.
 */
CREST_API crest_probe *crest_probe_socket(const char *peer, int fd,
                                          const crest_probe_options *options, crest_error *error);

/*
 * Connects to `address`, "HOST:PORT" or "[IPV6]:PORT", at its interval, times that, and closes the
 * connection at once, in order (a FIN, not a reset: the peer reads an end of file, and the port
 * waits on this side, as after any connection). Refused and unreachable are outcome `error`. A name
 * is looked up first, on a thread of its own, and timed apart; after a failure the next of several
 * addresses is tried. One connect at a time. After a lost packet a connect takes as long as the
 * kernel waits before it repeats the SYN, a second: the program's own connect would see the same.
 */
CREST_API crest_probe *crest_probe_connect(const char *peer, const char *address,
                                           const crest_probe_options *options, crest_error *error);

/*
 * Pings over an exchange of the node's own. At its interval it calls `send` with an unguessable id,
 * never 0. The node carries the id to the peer and back and calls crest_probe_pong. A ping without
 * an answer after the timeout is outcome `timeout`, with the timeout as its duration; when `send`
 * fails it is `error`; a ping under way at the stop is `cancelled`. `context` is the caller's, and
 * must live until crest_probe_stop has returned. With .interval_ms = CREST_PROBE_BY_HAND there are
 * only the pings of crest_probe_ping_now.
 */
CREST_API crest_probe *crest_probe_ping(const char *peer, crest_probe_send_fn *send, void *context,
                                        const crest_probe_options *options, crest_error *error);

/*
 * Pings at once, beside the schedule: `send` is called on this thread. CREST_OK; CREST_IO when
 * `send` failed; CREST_LIMIT with CREST_PROBE_PINGS_MAX under way; CREST_NOT_FOUND for a probe that
 * was stopped, and CREST_INVALID_ARGUMENT for a probe of another kind, both counted as misuse.
 * Thread-safe; not for signal handlers; locks.
 */
CREST_API crest_status crest_probe_ping_now(crest_probe *probe);

/*
 * The answer to the ping `id` has come. CREST_OK; CREST_TIMED_OUT when it came too late;
 * CREST_NOT_FOUND when no such ping was sent, or it was answered before, or forgotten after
 * CREST_PROBE_PINGS_MAX later pings; these are counted in probe.pongs-unexpected. CREST_NOT_FOUND
 * too, counted as misuse, for a probe that was stopped; CREST_INVALID_ARGUMENT for a probe of
 * another kind. Thread-safe; not for signal handlers; locks.
 */
CREST_API crest_status crest_probe_pong(crest_probe *probe, uint64_t id);

/*
 * Ends a probe, which is gone afterwards, and releases its series (lifetime.h) unless another probe
 * of the same peer uses them. A running `send` is waited for, unless this is called by it: when
 * this returns, nothing is called or recorded any more. A connect under way is dropped without a
 * record; a round of a file under way ends by itself, unrecorded. CREST_NOT_FOUND for a probe that
 * was stopped before. NULL does nothing. Thread-safe; not for signal handlers; locks, blocks as
 * `send` does.
 */
CREST_API crest_status crest_probe_stop(crest_probe *probe);

/* Fills *state; CREST_NOT_FOUND, and zeros, for a probe that was stopped. Thread-safe; not for
 * signal handlers; locks. */
CREST_API crest_status crest_probe_read(const crest_probe *probe, crest_probe_state *state);

/*
 * Asks the kernel about one socket, once, and records nothing. CREST_INVALID_ARGUMENT for a
 * descriptor that is no TCP socket, CREST_SYSTEM when the kernel refuses for another reason; *info
 * is all 0 then. Any thread; async-signal-safe with error NULL. Cost: one system call.
 */
CREST_API crest_status crest_tcp_info_read(int fd, crest_tcp_info *info, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/probe_off.h>
#endif

#endif
