/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The StatsD reporter, in libcrest-reporters: sends what was recorded since the last report to a
 * StatsD server, or to a Datadog agent.
 *
 *     crest_error error;
 *     crest_statsd_options options = {.url = "udp://127.0.0.1:8125", .prefix = "node7"};
 *     crest_reporter *statsd = crest_statsd_new(&options, &error);
 *     crest_reporter_attach(NULL, statsd, &(crest_schedule){.interval_ms = 10000}, &error);
 *
 * From crest_start: statsd=URL (or statsd=on for the default address), statsd.dialect=etsy|datadog,
 * statsd.prefix, statsd.packet=internet|ethernet|jumbo|uds|BYTES, statsd.rate (packets a second, or
 * off), statsd.samples, statsd.rates (on), statsd.windows (off), statsd.type=d|h, statsd.packing
 * (on), statsd.whole-seconds (on in the etsy dialect). docs/statsd.md has what each server needs.
 *
 * What goes out (METRICS.md has the table):
 *
 * - Counters as their growth, `c`; a new counter once as 0. Times in seconds: whole ones in the
 *   etsy dialect, where the remainder goes with a later report.
 * - Gauges and range samplers as their value, `g`. A value below zero takes two lines in one
 *   packet, a 0 before it: a sign means a change. NaN and infinities are left out, and counted.
 * - Distributions, timers too, as single values, `ms` (etsy; times in milliseconds) or `d` or `h`
 *   (datadog; times in seconds), of the records since the last report. Few records are sent one by
 *   one; of many, a value stands for several, by its sample rate: 1/rate is the number of records,
 *   exactly. Values are those of the histogram's buckets; the smallest and the largest of a report
 *   are the exact ones where they are known.
 * - Of range samplers X.min1m, X.max1m and X.avg1m as gauges; with statsd.windows=on the results of
 *   all windows: X.rate1m, X.peak1m, X.avg1m, X.max1m, X.min1m, X.p99_1m where a metric asks for
 *   it, and those of 5m and 15m where they are kept. The last report of a clean stop has none of
 *   them: no later report would correct them.
 *
 * Names are the canonical ones behind the prefix. etsy: labels follow as .KEY.VALUE, and what is
 * not a letter, digit, - or _ in a value becomes _; values that are equal after that share a name.
 * datadog: labels are tags, and so are service, version, env and the resource's further labels; -
 * becomes _ in a name; a space, a comma, |, @ and # in a tag become _.
 *
 * Delivery: the next report makes up for a failed one, and no record is sent twice. The reporter
 * knows line by line what has been sent. So a failure in the middle of a report loses no line
 * before or after it. Sent means
 *   unix://   the receiver's socket has it: no loss but the receiver's own;
 *   tcp://    the receiving host has acknowledged it; what a killed server had not read is lost.
 *             A late connection is kept, not broken off;
 *   udp://    it was handed out and no ICMP error within 5 ms said that the port is closed. A
 *             network or a full socket may lose it all the same: prefer unix:// on one machine.
 * What was sent is remembered by the reporter, not by its attachment: detaching and attaching it
 * again goes on. Another reporter begins with all that was recorded since the process began.
 *
 * The child of a fork must make a reporter of its own.
 *
 * A host name is looked up by a thread of its own, so that a slow name server does not hold up a
 * report past its deadline; again after each failure, and every minute.
 *
 * Environment, datadog dialect only: DD_DOGSTATSD_URL, or DD_AGENT_HOST and DD_DOGSTATSD_PORT,
 * where no URL is given; DD_SERVICE, DD_VERSION and DD_ENV where the resource says nothing;
 * DD_ENTITY_ID. Options win over these. A set-user-ID program does not read them.
 *
 * Source: statsd/statsd 0.9.0 stats.js and docs/metric_types.md; collectd 5.12 src/statsd.c;
 * Datadog, "DogStatsD datagram format", protocol v1.1. Tried with the first two.
 */
#ifndef CREST_STATSD_H
#define CREST_STATSD_H

#include <crest/reporter.h>

/* Bytes of a URL, and of the prefix. */
#define CREST_STATSD_URL_BYTES_MAX 1024u
#define CREST_STATSD_PREFIX_BYTES_MAX 100u
/* Bytes of a packet: at least, and at most (what UDP can carry). */
#define CREST_STATSD_PACKET_BYTES_MIN 64u
#define CREST_STATSD_PACKET_BYTES_MAX 65507u
/* The presets of statsd.packet. */
#define CREST_STATSD_PACKET_INTERNET 512u
#define CREST_STATSD_PACKET_ETHERNET 1432u
#define CREST_STATSD_PACKET_JUMBO 8932u
#define CREST_STATSD_PACKET_UDS 8192u
/* The default for packets a second over UDP: 700 kB/s, and a burst of 16. */
#define CREST_STATSD_RATE_DEFAULT 500u
#define CREST_STATSD_RATE_MAX 1000000u
/* Values of one series in a report, and the most that may be asked for. */
#define CREST_STATSD_SAMPLES_DEFAULT 1000u
#define CREST_STATSD_SAMPLES_MAX 1000000u
/* Series no longer in snapshots whose last sent values are remembered. */
#define CREST_STATSD_ABSENT_MAX 20000u

typedef enum crest_statsd_dialect {
    CREST_STATSD_ETSY,   /* c, g and ms, no tags: what every StatsD server reads */
    CREST_STATSD_DATADOG /* tags, d and h, several values a line */
} crest_statsd_dialect;

typedef struct crest_statsd_options {
    /* udp://HOST:PORT, tcp://HOST:PORT, unix:///PATH (a datagram socket); an IPv6 address stands in
       brackets, and the port is 8125 if it is not given. NULL: udp://127.0.0.1:8125, in the datadog
       dialect what the environment says */
    const char *url CREST_DEFAULT_(NULL);
    crest_statsd_dialect dialect CREST_DEFAULT_(CREST_STATSD_ETSY);
    /* stands before every name, with a dot between; letters, digits, . - and _. NULL: none */
    const char *prefix CREST_DEFAULT_(NULL);
    /* bytes of a packet; 0: 1432 for UDP, 8192 otherwise. collectd reads no more than 4095 */
    unsigned packet_bytes CREST_DEFAULT_(0);
    /* packets a second over UDP, evenly spread so that the receiver's socket does not overflow; 0:
       CREST_STATSD_RATE_DEFAULT; more than the maximum: unlimited */
    unsigned rate CREST_DEFAULT_(0);
    /* values of one series in a report; with more records than these, a value stands for several.
       0: CREST_STATSD_SAMPLES_DEFAULT. The rank of a quantile is then right to one part in so many.
       Not in the datadog dialect: agents weigh values, so one value a bucket is enough there */
    unsigned samples CREST_DEFAULT_(0);
    /* non-zero: without sample rates, a value for each record, however many there are. For
       collectd and netdata, which divide the values of timers by the rate */
    int no_rates CREST_DEFAULT_(0);
    /* non-zero: results of windows too, seven names and more for a timer; those of range samplers
       are always sent. A window without a record has no average, maximum or quantile */
    int windows CREST_DEFAULT_(0);
    /* non-zero: none of these, whatever `windows` says */
    int no_windows CREST_DEFAULT_(0);
    /* datadog: distributions as h, aggregated by the agent, instead of d, by Datadog's server */
    int host_histograms CREST_DEFAULT_(0);
    /* datadog, non-zero: one value a line, for servers that do not read a:1:2|d */
    int unpacked CREST_DEFAULT_(0);
    /* counters of time in whole seconds, because 0.9 is 0 to Telegraf, netdata and OpenTelemetry's
       receiver. The remainder goes with a later report, and with the last one in a line of its own.
       Above 0: on; below 0: off, with fractions; 0: on in the etsy dialect only */
    int whole_seconds CREST_DEFAULT_(0);
} crest_statsd_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied, NULL for defaults. NULL with *error filled (which may be
 * NULL): CREST_INVALID_ARGUMENT for an option or a variable of the environment, CREST_NO_MEMORY,
 * CREST_SYSTEM without a file descriptor. Owned by the caller, freed with crest_reporter_free.
 * Thread-safe; allocates; opens one file descriptor, and a socket at the first report.
 *
 * Its report: CREST_UNREACHABLE (no such host or path, the port is closed), CREST_TIMED_OUT,
 * CREST_IO (the connection broke, or a packet is too large for the network), CREST_NO_MEMORY,
 * CREST_SYSTEM, CREST_ALREADY (another report of this reporter is running). Blocks until
 * report->deadline_ns at most. Counted in crest.statsd-sent-packets and crest.statsd-sent (bytes)
 * by address, in crest.statsd-dropped-packets by cause (refused, unreachable, timed-out, io), and
 * in crest.statsd-dropped-lines by cause (too-long, not-a-number).
 */
CREST_API crest_reporter *crest_statsd_new(const crest_statsd_options *options, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/statsd_off.h>
#endif

#endif
