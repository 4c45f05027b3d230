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
 * (on), pushgateway.windows (on), pushgateway.delete-on-stop (off), pushgateway.label.KEY=VALUE for
 * further grouping labels.
 */
#ifndef CREST_PUSHGATEWAY_H
#define CREST_PUSHGATEWAY_H

#include <crest/reporter.h>

#define CREST_PUSHGATEWAY_LABELS_MAX 16u
#define CREST_PUSHGATEWAY_URL_BYTES_MAX 4096u

typedef struct crest_pushgateway_options {
    /* http:// or https://, with an optional path prefix; required */
    const char *url CREST_DEFAULT_(NULL);
    /* NULL: the resource's service, or "crest"; not empty */
    const char *job CREST_DEFAULT_(NULL);
    /* NULL: the resource's instance at each push */
    const char *instance CREST_DEFAULT_(NULL);
    /* further grouping labels; no metric may have one of these keys */
    const crest_page_label *labels CREST_DEFAULT_(NULL);
    unsigned label_count CREST_DEFAULT_(0);
    /* non-zero: send the page as it is */
    int no_gzip CREST_DEFAULT_(0);
    /* non-zero: leave out X_rate1m and its relatives */
    int no_windows CREST_DEFAULT_(0);
    /* non-zero: DELETE the group on stop, after the last push */
    int delete_on_stop CREST_DEFAULT_(0);
} crest_pushgateway_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled when the URL or a label is not
 * valid, or there is no memory. Owned by the caller, freed with crest_reporter_free. Thread-safe;
 * allocates; initialises libcurl.
 */
CREST_API crest_reporter *crest_pushgateway_new(const crest_pushgateway_options *options,
                                                crest_error *error);

/* Non-zero; naming it in a static link pulls in the object that tells crest_start of this reporter.
 */
extern CREST_API const int crest_reporters_linked;

CREST_END_C

#endif
