/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pushgateway reporter, in libcrest-reporters: pushes a snapshot to
 * URL/metrics/job/JOB/instance/INSTANCE[/KEY/VALUE…], cumulative values and the windows' figures.
 *
 *     crest_error error;
 *     crest_pushgateway_options options = {.url = "http://127.0.0.1:9091", .job = "rnode"};
 *     crest_reporter *gateway = crest_pushgateway_new(&options, &error);
 *     crest_reporter_attach(NULL, gateway, NULL, &error);
 *
 * From crest_start: pushgateway=URL, and
 *
 *   pushgateway.job, pushgateway.instance   the group; by default service, or "crest", and instance
 *   pushgateway.label.KEY=VALUE             further grouping labels
 *   pushgateway.method                      put (the default) or post
 *   pushgateway.gzip, pushgateway.windows   on (the default) or off
 *   pushgateway.delete-on-stop              on or off (the default)
 *   pushgateway.protobuf                    on or off (the default): with native histograms
 *   pushgateway.user, with pushgateway.password-file=PATH or pushgateway.password-env=NAME
 *   pushgateway.bearer-file=PATH or pushgateway.bearer-env=NAME
 *   pushgateway.ca-file, pushgateway.cert-file, pushgateway.key-file, pushgateway.key-password-file
 *   pushgateway.proxy=http://[user:password@]host:port
 *   pushgateway.interval, pushgateway.timeout (default 10s), pushgateway.jitter: see run.h
 *
 * What to know before using a Pushgateway:
 *
 * - Job, instance and further grouping labels name a group, and a PUT replaces its group whole. So
 *   no two processes may push to one group, and the instance must differ between the processes of a
 *   job. The child of a fork is refused its parent's group (CREST_REFUSED) while the parent lives;
 *   give it pushgateway.instance=${HOST}-${PID}. The group becomes the parent's when its reporter
 *   is attached. For a reporter made without a job or an instance, and not by crest_start, that is
 *   at its first push. Programs that were not forked from each other cannot know of each other.
 *   Several reporters of one process (pushgateway@NAME) replace each other's metrics unless each
 *   has a group of its own.
 * - POST replaces only the metrics that are in the push, each whole, with all its series. What is
 *   left out stays for ever: a metric that is gone, and the last figures of windows, which the last
 *   push leaves out. Use it for a group that other programs push other metrics to as well.
 * - A group stays until it is deleted: a node that is gone shows its last values for ever. A node
 *   that is stopped for good deletes it (delete_on_stop); a batch job leaves it for Prometheus to
 *   fetch. Watch `time() - push_time_seconds`.
 * - A metric has one type in all groups. A process that changes a type has its whole push refused
 *   until the groups with the old type are deleted; rename a metric instead of changing its type.
 * - Prometheus must scrape the gateway with `honor_labels: true`.
 *
 * Secrets: user and password in the URL, or a password or bearer token from a file or the
 * environment. A file holds one line, whose end is dropped. It is read when the reporter is made
 * and again for each push, so that the operator can exchange it, and wiped from memory after it.
 * The environment is read once, when the reporter is made. Secrets are never in a message or a
 * metric; they go to the gateway alone, because redirects are not followed. Without https every
 * host on the way, a proxy included, can read them. A secret's file that all users may read is told
 * to the log once.
 *
 * Each push is one request, never two at once: HTTP/1.1, gzip, the connection kept. Redirects are
 * refused, since another path is another group. Proxies named in the environment, its no_proxy and
 * ~/.netrc are not used; no signal is raised. 200 and 202 are success. When the gateway has closed
 * the kept connection, the same push goes again on another, once and at once; every other failure
 * waits for the next report. The next push makes up for a failed one, because values are
 * cumulative.
 *
 * Source: the Pushgateway's README, "API"; tried with 1.5.1.
 */
#ifndef CREST_PUSHGATEWAY_H
#define CREST_PUSHGATEWAY_H

#include <crest/reporter.h>

#define CREST_PUSHGATEWAY_LABELS_MAX 16u
#define CREST_PUSHGATEWAY_URL_BYTES_MAX 4096u
/* Bytes of a password or token. */
#define CREST_PUSHGATEWAY_SECRET_BYTES_MAX 8192u

typedef struct crest_pushgateway_options {
    /* http:// or https://, with an optional user:password@ and an optional path prefix, as in
       https://user:password@host:9091/prefix; required. User and password (% and reserved
       characters in them as %XX) are never shown in a message */
    const char *url CREST_DEFAULT_(NULL);
    /* NULL: the resource's service, or "crest"; not empty */
    const char *job CREST_DEFAULT_(NULL);
    /* NULL: the resource's instance at each push; not empty */
    const char *instance CREST_DEFAULT_(NULL);
    /* further grouping labels: any UTF-8 for a value, and a key that no metric has. A metric with
       that key fails the push with CREST_INVALID_LABEL, because the gateway would overwrite it */
    const crest_page_label *labels CREST_DEFAULT_(NULL);
    unsigned label_count CREST_DEFAULT_(0);
    /* https: a PEM file of the certificate authorities to trust; NULL: the system's */
    const char *ca_file CREST_DEFAULT_(NULL);
    /* non-zero: send the page as it is (needed for a Pushgateway before 1.5) */
    int no_gzip CREST_DEFAULT_(0);
    /* non-zero: leave out X_rate1m and its relatives, but not those of range samplers, which
       Prometheus cannot compute. The last push before a stop leaves out all of them */
    int no_windows CREST_DEFAULT_(0);
    /* non-zero: DELETE the group on stop, after the last push, if anything was sent to it */
    int delete_on_stop CREST_DEFAULT_(0);
    /* non-zero: POST instead of PUT, which leaves metrics in the group that are not in the push */
    int post CREST_DEFAULT_(0);
    /* basic authentication: a user without a colon, and either a file or an environment variable
       that holds the password; not with a user in the URL */
    const char *user CREST_DEFAULT_(NULL);
    const char *password_file CREST_DEFAULT_(NULL);
    const char *password_env CREST_DEFAULT_(NULL);
    /* bearer authentication, which a proxy before the gateway may want; one of the two */
    const char *bearer_file CREST_DEFAULT_(NULL);
    const char *bearer_env CREST_DEFAULT_(NULL);
    /* https: PEM files of a client certificate and of its key (NULL: in cert_file too), and a file
       that holds the key's password; read whenever a connection is made */
    const char *cert_file CREST_DEFAULT_(NULL);
    const char *key_file CREST_DEFAULT_(NULL);
    const char *key_password_file CREST_DEFAULT_(NULL);
    /* http://[user:password@]host:port; https goes through it by CONNECT; NULL: none */
    const char *proxy CREST_DEFAULT_(NULL);
    /* non-zero: push Prometheus' protobuf, in which histograms have native buckets beside the
       classic ones, instead of text. The gateway keeps both; its own text page, and a Prometheus
       that does not ask it for protobuf, have the classic ones */
    int protobuf CREST_DEFAULT_(0);
} crest_pushgateway_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT for a URL, a file, or options that contradict each other,
 * CREST_INVALID_LABEL for job, instance or a label, CREST_LIMIT, CREST_NO_MEMORY, CREST_SYSTEM when
 * libcurl cannot be used. Owned by the caller, freed with crest_reporter_free. Thread-safe;
 * allocates; reads files; may call the log callback; initialises libcurl, and with it the TLS
 * library, once a process. If its URL is https, make it before crest_start: only atexit handlers
 * registered after it can still speak TLS when the process exits.
 *
 * Its report:
 *
 * - CREST_REFUSED for an answer below 500 that is no success, with the server's own words and what
 *   to do; for a group that is the parent process's; and in a fork's child for a copied reporter.
 * - CREST_UNREACHABLE: no connection, no trust in a certificate, or an answer of 500 and above: the
 *   server or a proxy before it has a problem of its own.
 * - CREST_TIMED_OUT, cancelled included.
 * - CREST_IO: broken off, or no HTTP, or a secret's file cannot be read.
 * - CREST_INVALID_LABEL: see labels; or there is no instance.
 * - CREST_LIMIT: the page has more than 64 MiB as sent.
 * - CREST_ALREADY: another push or delete of this reporter is running.
 * - CREST_NO_MEMORY.
 *
 * Blocks until report->deadline_ns at most.
 */
CREST_API crest_reporter *crest_pushgateway_new(const crest_pushgateway_options *options,
                                                crest_error *error);

/* Non-zero. Naming it in a static link pulls in the object that tells crest_start of this
 * reporter. */
#ifndef CREST_DISABLE
extern CREST_API const int crest_reporters_linked;
#else
static const int crest_reporters_linked __attribute__((unused)) = 1;
#endif

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/pushgateway_off.h>
#endif

#endif
