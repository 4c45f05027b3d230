/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The InfluxDB reporter, in libcrest-reporters: sends lines of InfluxDB's line protocol, over HTTP
 * to /write or in UDP packets, to InfluxDB 1.x, VictoriaMetrics and others that read them.
 *
 *     crest_error error;
 *     crest_influxdb_options options = {.url = "http://127.0.0.1:8086/rnode"};
 *     crest_reporter *influxdb = crest_influxdb_new(&options, &error);
 *     crest_reporter_attach(NULL, influxdb, NULL, &error);
 *
 * From crest_start: influxdb=http://HOST:PORT/DATABASE or influxdb=udp://HOST:PORT, and
 *
 *   influxdb.fields                    crest (the default) or kamon
 *   influxdb.percentiles               50:70:90:95:99:99.9 (the default), or off
 *   influxdb.windows                   on or off (the default): figures of windows as fields
 *   influxdb.precision                 ns, u, ms or s, of timestamps; ms over HTTP, ns over UDP
 *   influxdb.database                  the database, where the URL's path is a prefix only
 *   influxdb.retention                 the retention policy; by default the database's own
 *   influxdb.gzip                      on (the default) or off
 *   influxdb.user, with influxdb.password-file=PATH or influxdb.password-env=NAME
 *   influxdb.bearer-file=PATH or influxdb.bearer-env=NAME
 *   influxdb.ca-file, influxdb.cert-file, influxdb.key-file, influxdb.key-password-file
 *   influxdb.proxy=http://[user:password@]host:port
 *   influxdb.packet, influxdb.rate     UDP: bytes of a packet, packets a second
 *   influxdb.interval, influxdb.timeout (default 10s), influxdb.jitter: see run.h
 *
 * A series is a line: its measurement is the metric's canonical name, its tags are the labels, and
 * service, instance and the resource's further labels where it has no label of that key; version is
 * no tag, for a new one would begin every series anew. A field has one type for ever, which follows
 * from the metric's kind and unit: times are floats, in seconds; gauges and figures of windows are
 * floats; all else is an integer of 64 bits. Integers above 2^63 - 1, which InfluxDB has not got,
 * stay at that.
 *
 * Fields, with influxdb.fields=crest:
 *
 *   counter         count: cumulative
 *   gauge           value
 *   range sampler   value; min1m, max1m, avg1m, and those of 5m and 15m where they are kept
 *   histogram,      count, sum: cumulative; and of what was recorded since the last report that
 *   timer           arrived, unless that is nothing: min, max, mean, p50 … p99.9
 *   with influxdb.windows=on: rate1m, peak1m, avg1m, max1m, p99_1m …, as METRICS.md names them
 *
 * With influxdb.fields=kamon, as Kamon's reporter has them, for its dashboards: counters and
 * distributions are what was recorded since the last report that arrived, in the metric's own unit
 * and, percentiles apart, as integers: count, and count, sum, mean, min, p50.0 … p99.9, max;
 * nothing of a distribution without a record. A range sampler has value, min, mean and max of 1m.
 *
 * Left out, and counted in crest.influxdb-dropped-lines by cause: a gauge that is NaN or infinite
 * (not-a-number); a line with a line feed or carriage return in a tag, which cannot be written
 * (line-end), or with a backslash in a tag at its end or before a comma, a blank or an equals sign,
 * which servers read in different ways (backslash); a line that does not fit into a packet (too-
 * long); and what the server refused of a body that it took the rest of (partial-write).
 *
 * Delivery: the next report makes up for a failed one. Values are cumulative, or, with
 * influxdb.fields=kamon, sent again with the timestamp of the report that failed: InfluxDB keeps
 * one value of a series, a field and a timestamp, so that a report which arrived, and whose answer
 * did not, is not counted twice. (VictoriaMetrics may keep both: use crest there.) A body that was
 * written in part ("partial write") is never sent again, and is no failure: the log is told of it,
 * once a streak, and the counter has the lines.
 *
 * Over UDP a report has failed if an ICMP error said within 5 ms that the port is closed. A network
 * or a full socket may lose packets all the same.
 *
 * Secrets and proxies are as in <crest/pushgateway.h>. The child of a fork must make a reporter of
 * its own.
 *
 * Source: InfluxData, "InfluxDB line protocol reference" 1.8 and influxdb 1.6 models/points.go;
 * tried with InfluxDB 1.6.7 and VictoriaMetrics 1.79.5. Kamon 2.8 InfluxDBReporter.scala.
 */
#ifndef CREST_INFLUXDB_H
#define CREST_INFLUXDB_H

#include <crest/reporter.h>

/* Bytes of a URL, and of a database's and retention policy's name. */
#define CREST_INFLUXDB_URL_BYTES_MAX 1024u
#define CREST_INFLUXDB_NAME_BYTES_MAX 128u
/* Percentiles of a distribution. */
#define CREST_INFLUXDB_PERCENTILES_MAX 16u
/* Bytes of a UDP packet: at least, at most, and by default. */
#define CREST_INFLUXDB_PACKET_BYTES_MIN 512u
#define CREST_INFLUXDB_PACKET_BYTES_MAX 65507u
#define CREST_INFLUXDB_PACKET_BYTES_DEFAULT 1432u
/* UDP packets a second by default, and at most. */
#define CREST_INFLUXDB_RATE_DEFAULT 500u
#define CREST_INFLUXDB_RATE_MAX 1000000u
/* Bytes of a line, at most; a body is sent when it has so many bytes, before compression. */
#define CREST_INFLUXDB_LINE_BYTES_MAX 65536u
#define CREST_INFLUXDB_BODY_BYTES (UINT32_C(4) << 20)

typedef enum crest_influxdb_fields {
    CREST_INFLUXDB_FIELDS_CREST, /* cumulative, times in seconds */
    CREST_INFLUXDB_FIELDS_KAMON  /* of a period, in the metric's own unit, with Kamon's names */
} crest_influxdb_fields;

typedef enum crest_influxdb_precision {
    CREST_INFLUXDB_PRECISION_DEFAULT, /* ms over HTTP, ns over UDP */
    CREST_INFLUXDB_PRECISION_NS,
    CREST_INFLUXDB_PRECISION_US,
    CREST_INFLUXDB_PRECISION_MS,
    CREST_INFLUXDB_PRECISION_S /* with an interval of a second at least */
} crest_influxdb_precision;

typedef struct crest_influxdb_options {
    /* http:// or https://[user:password@]HOST[:PORT][/PREFIX]/DATABASE, or udp://HOST[:PORT]
       (8089); required. User and password are never shown in a message */
    const char *url CREST_DEFAULT_(NULL);
    /* HTTP: the database; NULL: the last part of the URL's path. Over UDP the server's own
       configuration says it */
    const char *database CREST_DEFAULT_(NULL);
    /* HTTP: the retention policy; NULL: the database's default */
    const char *retention CREST_DEFAULT_(NULL);
    crest_influxdb_fields fields CREST_DEFAULT_(CREST_INFLUXDB_FIELDS_CREST);
    /* of timestamps. Over UDP the server's own configuration has to say the same */
    crest_influxdb_precision precision CREST_DEFAULT_(CREST_INFLUXDB_PRECISION_DEFAULT);
    /* percentiles, above 0 and at most 100, `percentile_count` of them; NULL: 50, 70, 90, 95, 99
       and 99.9 unless no_percentiles is set */
    const double *percentiles CREST_DEFAULT_(NULL);
    unsigned percentile_count CREST_DEFAULT_(0);
    int no_percentiles CREST_DEFAULT_(0);
    /* non-zero: results of all windows as fields; those of range samplers are always there. Not
       with Kamon's fields */
    int windows CREST_DEFAULT_(0);
    /* HTTP, non-zero: bodies are sent as they are */
    int no_gzip CREST_DEFAULT_(0);
    /* UDP: bytes of a packet, 0: 1432; and packets a second, 0: 500; more than the maximum: no
       limit */
    unsigned packet_bytes CREST_DEFAULT_(0);
    unsigned rate CREST_DEFAULT_(0);
    /* HTTP: as in <crest/pushgateway.h> */
    const char *user CREST_DEFAULT_(NULL);
    const char *password_file CREST_DEFAULT_(NULL);
    const char *password_env CREST_DEFAULT_(NULL);
    const char *bearer_file CREST_DEFAULT_(NULL);
    const char *bearer_env CREST_DEFAULT_(NULL);
    const char *ca_file CREST_DEFAULT_(NULL);
    const char *cert_file CREST_DEFAULT_(NULL);
    const char *key_file CREST_DEFAULT_(NULL);
    const char *key_password_file CREST_DEFAULT_(NULL);
    const char *proxy CREST_DEFAULT_(NULL);
} crest_influxdb_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT for a URL, a file, or options that contradict each other, CREST_LIMIT,
 * CREST_NO_MEMORY, CREST_SYSTEM without a file descriptor or when libcurl cannot be used. Owned by
 * the caller, freed with crest_reporter_free. Thread-safe; allocates; reads files; may call the log
 * callback. HTTP initialises libcurl, and with https the reporter is best made before crest_start,
 * as <crest/pushgateway.h> says.
 *
 * Its report: CREST_REFUSED for an answer below 500 that is no success, with the server's own words
 * and what to do; CREST_UNREACHABLE for no connection or an answer of 500 and above, or 429;
 * CREST_TIMED_OUT; CREST_IO (broken off, or a secret's file cannot be read); CREST_LIMIT (a body of
 * more than 64 MiB); CREST_NO_MEMORY; CREST_ALREADY (another report of this reporter is running).
 * Blocks until report->deadline_ns at most. Counted in crest.influxdb-sent (bytes as sent) and
 * crest.influxdb-sent-lines by address, and in crest.influxdb-dropped-lines by cause.
 */
CREST_API crest_reporter *crest_influxdb_new(const crest_influxdb_options *options,
                                             crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/influxdb_off.h>
#endif

#endif
