/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrape endpoint, in libcrest-reporters: an HTTP server for Prometheus to read from, at
 * http://ADDRESS/metrics. Try this way to Prometheus first: Prometheus sees when a node is gone,
 * nothing stands in between, and no figure outlives its node.
 *
 *     crest_error error;
 *     crest_prometheus_options options = {.listen = "127.0.0.1:27378"};
 *     crest_reporter *scrape = crest_prometheus_new(&options, &error);
 *     crest_reporter_attach(NULL, scrape, NULL, &error);
 *
 * From crest_start: prometheus=ADDRESSES, or prometheus=on for 127.0.0.1:27378, with
 * prometheus.timeout (10s), prometheus.concurrency (5), prometheus.connections (64),
 * prometheus.windows (ranges; off, all), prometheus.exemplars (on), prometheus.created (off),
 * prometheus.gzip (on), prometheus.native (on; only, off), prometheus.native.factor (1.1),
 * prometheus.native.buckets (160), prometheus.hosts, prometheus.include and prometheus.exclude
 * (globs of canonical names).
 *
 * ADDRESSES are one or more, separated by blanks or |, and the first that is free is taken. Each is
 * PORT, HOST:PORT, or HOST:FIRST-LAST for the first free port of a range; without a host it is the
 * loopback interface. HOST is a name, an IPv4 address, an IPv6 address in brackets, or * for every
 * interface; port 0 is any free one, which the log callback is told and crest_prometheus_port says:
 *
 *     27378      127.0.0.1:27378-27386      [::1]:27378 | 127.0.0.1:27378      127.0.0.1:0
 *
 * On a loopback address it answers requests for the machine itself only: their Host is localhost, a
 * name below it, 127.x.x.x, [::1] or nothing, or one of `hosts`. Otherwise a web page whose owner
 * points its own name at 127.0.0.1 (DNS rebinding) could read the metrics through a browser.
 *
 * There is neither TLS nor a password: leave it on the loopback interface and put a proxy before
 * it, as docs/scraping.md shows.
 *
 *   GET /metrics     the page: text 0.0.4, OpenMetrics 1.0 or Prometheus' protobuf, which has
 *                    native histograms, by Accept, gzip by Accept-Encoding.
 *                    ?name[]=NAME, repeated, narrows it to the families of these exported names.
 *                    X-Prometheus-Scrape-Timeout-Seconds is kept to. 503 with Retry-After when
 *                    `concurrency` pages are being made; 406 when neither gzip nor none will do
 *   GET /-/healthy   200, however busy it is
 *   GET /spans       the last kept spans, of up to 1 MiB, as lines of JSON, those of json_lines.h;
 *                    for `crest op`. To clients on this machine, by a loopback name, on whichever
 *                    address it serves; 403 to others
 *   GET /            links to these
 * HEAD is answered like GET, every other method with 405. Each page has a thread, which encodes it
 * while it is sent, through a buffer of CREST_PROMETHEUS_BUFFER_BYTES. So a slow client costs that
 * buffer and its snapshot, and delays no other client. It is cut off when its time is over, or when
 * it has read nothing for CREST_PROMETHEUS_STALL_S. A connection beyond `connections` displaces the
 * connection that has waited longest for its request to be complete.
 *
 * Self-metrics: crest.scrapes, crest.scrape-time, crest.scrapes-in-flight, crest.scrape-data-sent
 * and crest.scrape-connections-closed; see METRICS.md.
 *
 * The child of a fork neither serves nor keeps the port. Sources: RFC 9110 and 9112; what
 * Prometheus 2.42 sends.
 */
#ifndef CREST_PROMETHEUS_H
#define CREST_PROMETHEUS_H

#include <crest/reporter.h>

#define CREST_PROMETHEUS_LISTEN_DEFAULT "127.0.0.1:27378"
/* Bytes of an address list, and addresses tried of it. */
#define CREST_PROMETHEUS_LISTEN_BYTES_MAX 1024u
#define CREST_PROMETHEUS_ADDRESSES_MAX 1000u
/* Pages being made at once. */
#define CREST_PROMETHEUS_CONCURRENCY_DEFAULT 5u
#define CREST_PROMETHEUS_CONCURRENCY_MAX 100u
#define CREST_PROMETHEUS_CONNECTIONS_DEFAULT 64u
#define CREST_PROMETHEUS_CONNECTIONS_MAX 1000u
/* The timeout of a scrape whose client does not say how long it waits, and the most that may be
 * set. A client may ask for CREST_PROMETHEUS_ASKED_MS_MAX, or for what is set where that is
 * more. */
#define CREST_PROMETHEUS_TIMEOUT_MS_DEFAULT 10000u
#define CREST_PROMETHEUS_TIMEOUT_MS_MAX 600000u
#define CREST_PROMETHEUS_ASKED_MS_MAX 60000u
/* How long a client may read nothing of its page: then it is cut off, whatever time it has left. */
#define CREST_PROMETHEUS_STALL_S 10u
/* Bytes of a page that are encoded and not sent yet. */
#define CREST_PROMETHEUS_BUFFER_BYTES 65536u
/* Bytes of the path and the query, which may have as many arguments as a page may have names. */
#define CREST_PROMETHEUS_URL_BYTES_MAX 16384u
/* Memory of a connection for a request: its line, arguments and headers. */
#define CREST_PROMETHEUS_REQUEST_BYTES 131072u
/* Seconds for a new connection to send a whole request; for an answered one to begin another. */
#define CREST_PROMETHEUS_REQUEST_S 10u
#define CREST_PROMETHEUS_IDLE_S 150u

typedef struct crest_prometheus_options {
    /* addresses as above; NULL: CREST_PROMETHEUS_LISTEN_DEFAULT */
    const char *listen CREST_DEFAULT_(NULL);
    /* pages made at once, up to CREST_PROMETHEUS_CONCURRENCY_MAX; 0: the default */
    unsigned concurrency CREST_DEFAULT_(0);
    /* connections open at once, up to CREST_PROMETHEUS_CONNECTIONS_MAX; 0: the default */
    unsigned connections CREST_DEFAULT_(0);
    /* for a scrape that does not say, up to CREST_PROMETHEUS_TIMEOUT_MS_MAX; 0: the default. More
       than CREST_PROMETHEUS_ASKED_MS_MAX is also the most that a client may ask for */
    uint64_t timeout_ms CREST_DEFAULT_(0);
    /* one of CREST_PAGE_WINDOWS_ */
    int windows CREST_DEFAULT_(CREST_PAGE_WINDOWS_RANGES);
    /* OpenMetrics: non-zero adds X_created, a further series for each counter and distribution */
    int created CREST_DEFAULT_(0);
    /* OpenMetrics and protobuf: non-zero leaves exemplars out */
    int no_exemplars CREST_DEFAULT_(0);
    /* non-zero: never compress */
    int no_gzip CREST_DEFAULT_(0);
    /* globs of canonical names, as of crest_snapshot_select; NULL: all, and none */
    const char *include CREST_DEFAULT_(NULL);
    const char *exclude CREST_DEFAULT_(NULL);
    /* for crest_target_info; NULL: the page has none */
    const crest_resource *resource CREST_DEFAULT_(NULL);
    /* further names that requests may be for, separated by blanks or |, * for any; NULL: none. For
       a server on a loopback address, see above */
    const char *hosts CREST_DEFAULT_(NULL);
    /* protobuf: as in crest_page_options */
    int native CREST_DEFAULT_(CREST_PAGE_NATIVE_ON);
    double native_factor CREST_DEFAULT_(0);
    unsigned native_buckets CREST_DEFAULT_(0);
} crest_prometheus_options;

CREST_BEGIN_C

/*
 * Makes a reporter that serves from attach to detach; the schedule it is attached with does not
 * matter. options may be NULL and are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT, CREST_NO_MEMORY. Owned by the caller, freed with crest_reporter_free,
 * which waits for threads that a detach left behind. Thread-safe; allocates.
 *
 * Attaching binds and listens: CREST_UNREACHABLE when no address is free, CREST_SYSTEM without a
 * thread or descriptors; the message says for each cause what to do. It starts one thread, and one
 * for each page while it is made; all block all signals. Detaching lets pages be finished until
 * shortly before its deadline.
 */
CREST_API crest_reporter *crest_prometheus_new(const crest_prometheus_options *options,
                                               crest_error *error);

/* The port it serves on; 0 when it is not attached, or in the child of a fork. reporter: from
 * crest_prometheus_new. Thread-safe; locks. */
CREST_API unsigned crest_prometheus_port(const crest_reporter *reporter);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/prometheus_off.h>
#endif

#endif
