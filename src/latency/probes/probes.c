/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all probes have: options, metrics by their prefix, the labels' series, counts and errors.
 * See <crest/probe.h>; the thread is prober.c.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "latency/probes/prober.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const probes_key[] = {"peer"};

/* ---- metrics ---- */

crest_metric_options crest_probe_metric(const crest_probe *probe, const char *word,
                                        const char *description, crest_unit unit,
                                        char text[CREST_PROBE_NAME_BYTES])
{
    crest_metric_options options = {.name = text, .description = description, .unit = unit};
    snprintf(text, CREST_PROBE_NAME_BYTES, "%s.%s", probe->prefix, word);
    return options;
}

/* Keeps the first reason. */
static void probes_keep(crest_status *status, crest_status found)
{
    if (*status == CREST_OK)
        *status = found;
}

crest_counter *crest_probe_counter(const crest_probe *probe, const char *word,
                                   const char *description, crest_unit unit, crest_status *status)
{
    char text[CREST_PROBE_NAME_BYTES];
    const char *peer = probe->peer;
    crest_status found;
    crest_metric_options options = crest_probe_metric(probe, word, description, unit, text);
    crest_counter_family family =
        crest_counter_family_new(probe->registry, &options, probes_key, 1, &found);
    probes_keep(status, found);
    return crest_counter_family_get(&family, &peer, 1);
}

crest_gauge *crest_probe_gauge(const crest_probe *probe, const char *word, const char *description,
                               crest_unit unit, crest_status *status)
{
    char text[CREST_PROBE_NAME_BYTES];
    const char *peer = probe->peer;
    crest_status found;
    crest_metric_options options = crest_probe_metric(probe, word, description, unit, text);
    crest_gauge_family family =
        crest_gauge_family_new(probe->registry, &options, probes_key, 1, &found);
    probes_keep(status, found);
    return crest_gauge_family_get(&family, &peer, 1);
}

crest_histogram *crest_probe_histogram(const crest_probe *probe, const char *word,
                                       const char *description, crest_status *status)
{
    char text[CREST_PROBE_NAME_BYTES];
    const char *peer = probe->peer;
    crest_status found;
    crest_metric_options options =
        crest_probe_metric(probe, word, description, CREST_NANOSECONDS, text);
    options.buckets = CREST_BUCKETS_FAST;
    crest_histogram_family family =
        crest_histogram_family_new(probe->registry, &options, probes_key, 1, &found);
    probes_keep(status, found);
    return crest_histogram_family_get(&family, &peer, 1);
}

crest_timer *crest_probe_timer(const crest_probe *probe, const char *word, const char *description,
                               crest_status *status)
{
    char text[CREST_PROBE_NAME_BYTES];
    const char *peer = probe->peer;
    crest_status found;
    crest_metric_options options = crest_probe_metric(probe, word, description, CREST_NONE, text);
    options.buckets = CREST_BUCKETS_FAST;
    crest_timer_family family =
        crest_timer_family_new(probe->registry, &options, probes_key, 1, &found);
    probes_keep(status, found);
    return crest_timer_family_get(&family, &peer, 1);
}

/* ---- making ---- */

static crest_status probes_check(const char *peer, const crest_probe_options *options,
                                 crest_error *error)
{
    if (peer == NULL || peer[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe needs a peer: the value of its label");
    if (options->interval_ms != 0 && options->interval_ms != CREST_PROBE_BY_HAND &&
        (options->interval_ms < CREST_PROBE_INTERVAL_MS_MIN ||
         options->interval_ms > CREST_PROBE_INTERVAL_MS_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe of %s every %u ms: the interval is between %u ms and %u ms",
                               peer, options->interval_ms, CREST_PROBE_INTERVAL_MS_MIN,
                               CREST_PROBE_INTERVAL_MS_MAX);
    if (options->timeout_ms > CREST_PROBE_TIMEOUT_MS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe of %s with a timeout of %u ms: it is at most %u ms", peer,
                               options->timeout_ms, CREST_PROBE_TIMEOUT_MS_MAX);
    /* negated, for NaN */
    if (!(options->jitter <= 1))
        return crest_error_set(
            error, CREST_INVALID_ARGUMENT,
            "a probe of %s with a jitter of %g: it is at most 1, of the interval", peer,
            options->jitter);
    if (options->prefix != NULL && strlen(options->prefix) > CREST_PROBE_PREFIX_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a probe of %s: its prefix has more than %u bytes", peer,
                               CREST_PROBE_PREFIX_BYTES_MAX);
    return CREST_OK;
}

crest_probe *crest_probe_new(crest_probe_kind kind, const crest_probe_work *work, const char *peer,
                             const crest_probe_options *options, crest_error *error)
{
    static const crest_probe_options defaults = {.interval_ms = 0};
    if (options == NULL)
        options = &defaults;
    if (probes_check(peer, options, error) != CREST_OK)
        return crest_probe_refuse(NULL, error);
    crest_probe *probe = crest_alloc(1, sizeof *probe);
    if (probe == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "no memory for a probe of %s", peer);
        return NULL;
    }
    uint32_t interval_ms =
        options->interval_ms != 0 ? options->interval_ms : CREST_PROBE_INTERVAL_MS_DEFAULT;
    uint32_t timeout_ms =
        options->timeout_ms != 0 ? options->timeout_ms : CREST_PROBE_TIMEOUT_MS_DEFAULT;
    probe->state.kind = kind;
    probe->work = work;
    probe->registry = options->registry;
    snprintf(probe->prefix, sizeof probe->prefix, "%s",
             options->prefix != NULL ? options->prefix : "probe");
    crest_utf8_copy(peer, probe->peer, sizeof probe->peer, NULL);
    probe->interval_ns = interval_ms == CREST_PROBE_BY_HAND ? 0 : interval_ms * CREST_NS_PER_MS;
    probe->timeout_ns = timeout_ms * CREST_NS_PER_MS;
    probe->jitter = options->jitter == 0 ? 0.1 : options->jitter < 0 ? 0 : options->jitter;
    probe->wake_ns = CREST_PROBE_NEVER;
    return probe;
}

crest_probe *crest_probe_refuse(crest_probe *probe, const crest_error *error)
{
    if (error->status == CREST_INVALID_ARGUMENT)
        crest_misuse_count(CREST_MISUSE_PROBE, "crest_probe");
    else if (error->status == CREST_LIMIT)
        crest_misuse_count(CREST_MISUSE_LIMIT, "crest_probe");
    crest_probe_free(probe);
    return NULL;
}

/* ---- counts ---- */

void crest_probe_failed(crest_probe *probe, crest_status status, const char *format, ...)
{
    va_list arguments;
    char message[CREST_ERROR_BYTES];
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (status == CREST_TIMED_OUT)
        probe->state.timeouts++;
    else
        probe->state.errors++;
    crest_error_set(&probe->state.last_error, status, "%s", message);
}

void crest_probe_answered(crest_probe *probe, uint64_t rtt_ns)
{
    probe->state.answers++;
    probe->state.last_rtt_ns = rtt_ns;
    probe->state.last_answer_ns = crest_now();
}
