/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pushgateway reporter, in libcrest-reporters: pushes a snapshot with PUT to
 * URL/metrics/job/JOB/instance/INSTANCE[/KEY/VALUE…], cumulative values and the 1m window's moving
 * averages.
 *
 *     crest_error error;
 *     crest_pushgateway_options options = {.url = "http://127.0.0.1:9091", .job = "rnode"};
 *     crest_reporter *gateway = crest_pushgateway_new(&options, &error);
 *     crest_reporter_attach(NULL, gateway, NULL, &error);
 *
 * From crest_start: pushgateway=URL, pushgateway.job (default: service, or "crest"),
 * pushgateway.instance, pushgateway.interval, pushgateway.timeout (default 10s), pushgateway.gzip
 * (on), pushgateway.windows (on), pushgateway.delete-on-stop (off), pushgateway.ca-file,
 * pushgateway.label.KEY=VALUE for further grouping labels.
 *
 * What to know before using a Pushgateway:
 *
 * - Job, instance and further grouping labels name a group, and a push replaces its group whole. So
 *   no two processes may push to one group, and the instance must differ between those of a job.
 * - A group stays until it is deleted: a node that is gone shows its last values for ever. A node
 *   that is stopped for good deletes it (delete_on_stop); a batch job leaves it for Prometheus to
 *   fetch. Watch `time() - push_time_seconds`.
 * - A metric has one type in all groups. One process that changes a type is refused, whole, until
 *   the groups with the old type are deleted; rename a metric instead of changing its type.
 * - Prometheus must scrape the gateway with `honor_labels: true`.
 *
 * Each push is one request, never two at once: HTTP/1.1, gzip, the connection kept; redirects
 * refused, since another path is another group; proxies named in the environment and ~/.netrc are
 * not used; no signal is raised. 200 and 202 are success. What a failed push did not deliver is in
 * the next one, because values are cumulative.
 *
 * Source: the Pushgateway's README, "API"; tried with 1.5.1.
 */
#ifndef CREST_PUSHGATEWAY_H
#define CREST_PUSHGATEWAY_H

#include <crest/reporter.h>

#define CREST_PUSHGATEWAY_LABELS_MAX 16u
#define CREST_PUSHGATEWAY_URL_BYTES_MAX 4096u

typedef struct crest_pushgateway_options {
    /* http:// or https://, with an optional user:password@ and an optional path prefix, as in
       https://user:password@host:9091/prefix; required. User and password (% and reserved
       characters in them as %XX) are never shown in a message */
    const char *url CREST_DEFAULT_(NULL);
    /* NULL: the resource's service, or "crest"; not empty */
    const char *job CREST_DEFAULT_(NULL);
    /* NULL: the resource's instance at each push; not empty */
    const char *instance CREST_DEFAULT_(NULL);
    /* further grouping labels; any UTF-8 for a value, and a key that no metric has: a push with a
       metric that has it fails with CREST_INVALID_LABEL, because the gateway would overwrite it */
    const crest_page_label *labels CREST_DEFAULT_(NULL);
    unsigned label_count CREST_DEFAULT_(0);
    /* https: a PEM file of the certificate authorities to trust; NULL: the system's */
    const char *ca_file CREST_DEFAULT_(NULL);
    /* non-zero: send the page as it is (needed for a Pushgateway before 1.5) */
    int no_gzip CREST_DEFAULT_(0);
    /* non-zero: leave out X_rate1m and its relatives, but what Prometheus could not compute: those
       of range samplers. The last push before a stop leaves out all of them */
    int no_windows CREST_DEFAULT_(0);
    /* non-zero: DELETE the group on stop, after the last push */
    int delete_on_stop CREST_DEFAULT_(0);
} crest_pushgateway_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT for the URL or ca_file, CREST_INVALID_LABEL for job, instance or a label,
 * CREST_LIMIT, CREST_NO_MEMORY, CREST_SYSTEM when libcurl cannot be used. Owned by the caller,
 * freed with crest_reporter_free. Thread-safe; allocates; initialises libcurl, and with it the TLS
 * library, once a process. Make it before crest_start when its URL is https: only what is
 * registered with atexit later can still speak TLS when the process exits.
 *
 * Its report: CREST_REFUSED with the server's own words and what to do, CREST_UNREACHABLE,
 * CREST_TIMED_OUT, CREST_IO (broken off, or no HTTP), CREST_INVALID_LABEL (see labels; or there is
 * no instance), CREST_LIMIT (the page has more than 64 MiB as sent), CREST_ALREADY (another push or
 * delete of this reporter is running), CREST_NO_MEMORY. Blocks until report->deadline_ns at most.
 */
CREST_API crest_reporter *crest_pushgateway_new(const crest_pushgateway_options *options,
                                                crest_error *error);

/* Non-zero; naming it in a static link pulls in the object that tells crest_start of this reporter.
 */
extern CREST_API const int crest_reporters_linked;

CREST_END_C

#endif
