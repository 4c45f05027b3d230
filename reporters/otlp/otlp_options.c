/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind "otlp" of crest_start: from options as text, and below them OpenTelemetry's environment
 * variables, to a reporter. What they mean is in <crest/otlp_http.h>.
 */
#include <crest/otlp_http.h>

#include "kinds.h"
#include "otlp/otlp_environment.h"
#include "otlp/otlp_profiles.h"
#include "otlp/otlp_reporter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OTLP_OPTIONS_NAME "otlp"
#define OTLP_OPTIONS_URL_DEFAULT "http://localhost:4318"

/* Options that are texts, taken as they are. */
static const struct {
    const char *key;
    size_t offset;
} otlp_options_texts[] = {
#define OTLP_OPTIONS_TEXT(key, member)                                                             \
    {                                                                                              \
        OTLP_OPTIONS_NAME "." key, offsetof(crest_otlp_http_options, member)                       \
    }
    OTLP_OPTIONS_TEXT("headers-file", headers_file),
    OTLP_OPTIONS_TEXT("user", user),
    OTLP_OPTIONS_TEXT("password-file", password_file),
    OTLP_OPTIONS_TEXT("password-env", password_env),
    OTLP_OPTIONS_TEXT("bearer-file", bearer_file),
    OTLP_OPTIONS_TEXT("bearer-env", bearer_env),
    OTLP_OPTIONS_TEXT("ca-file", ca_file),
    OTLP_OPTIONS_TEXT("cert-file", cert_file),
    OTLP_OPTIONS_TEXT("key-file", key_file),
    OTLP_OPTIONS_TEXT("key-password-file", key_password_file),
    OTLP_OPTIONS_TEXT("proxy", proxy),
#undef OTLP_OPTIONS_TEXT
};

static void otlp_options_read_texts(const crest_options *options, crest_otlp_http_options *made)
{
    for (size_t i = 0; i < sizeof otlp_options_texts / sizeof otlp_options_texts[0]; i++) {
        const char *value = crest_option(options, otlp_options_texts[i].key);
        memcpy((char *)made + otlp_options_texts[i].offset, &value, sizeof value);
    }
}

/* An option that is one of a few words, in the order of their numbers, the environment's if it is
 * not set, or else the first. */
static crest_status otlp_options_choose(const crest_options *options, const char *key,
                                        const char *const words[], int environment, int *made,
                                        crest_error *error)
{
    const char *text = crest_option(options, key);
    *made = environment != CREST_OTLP_UNSET ? environment : 0;
    if (text == NULL)
        return CREST_OK;
    for (int i = 0; words[i] != NULL; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *made = i;
            return CREST_OK;
        }
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%.60s is not %s%s%s%s%s", key, text,
                           words[0], words[2] != NULL ? ", " : " or ", words[1],
                           words[2] != NULL ? " or " : "", words[2] != NULL ? words[2] : "");
}

static crest_status otlp_options_read_words(const crest_options *options,
                                            const crest_otlp_environment *environment,
                                            crest_otlp_http_options *made, crest_error *error)
{
    static const char *const encodings[] = {"protobuf", "json", NULL};
    static const char *const temporalities[] = {"cumulative", "delta", NULL};
    static const char *const histograms[] = {"exponential", "explicit", NULL};
    static const char *const compressions[] = {"none", "gzip", NULL};
    static const char *const windows[] = {"ranges", "off", "all", NULL};
    static const int windows_of[] = {CREST_PAGE_WINDOWS_RANGES, CREST_PAGE_WINDOWS_NONE,
                                     CREST_PAGE_WINDOWS_ALL};
    int encoding, temporality, histogram, window;
    crest_status status = otlp_options_choose(options, "otlp.encoding", encodings,
                                              environment->encoding, &encoding, error);
    if (status == CREST_OK)
        status = otlp_options_choose(options, "otlp.temporality", temporalities,
                                     environment->temporality, &temporality, error);
    if (status == CREST_OK)
        status = otlp_options_choose(options, "otlp.histograms", histograms,
                                     environment->histograms, &histogram, error);
    if (status == CREST_OK)
        status = otlp_options_choose(options, "otlp.compression", compressions, environment->gzip,
                                     &made->gzip, error);
    if (status == CREST_OK)
        status =
            otlp_options_choose(options, "otlp.windows", windows, CREST_OTLP_UNSET, &window, error);
    if (status != CREST_OK)
        return status;
    made->encoding = (crest_otlp_encoding)encoding;
    made->temporality = (crest_otlp_temporality)temporality;
    made->histograms = (crest_otlp_histograms)histogram;
    made->windows = windows_of[window];
    return CREST_OK;
}

/* Bytes: a whole number, bare or with KiB or MiB behind it. */
static crest_status otlp_options_read_body(const crest_options *options, size_t *bytes,
                                           crest_error *error)
{
    const char *text = crest_option(options, "otlp.body");
    if (text == NULL)
        return CREST_OK;
    size_t digits = strspn(text, "0123456789"), value = 0;
    for (size_t i = 0; i < digits && digits <= 8; i++)
        value = value * 10 + (size_t)(text[i] - '0');
    const char *unit = text + digits;
    size_t factor = strcasecmp(unit, "MiB") == 0   ? 1u << 20
                    : strcasecmp(unit, "KiB") == 0 ? 1u << 10
                    : *unit == '\0'                ? 1
                                                   : 0;
    *bytes = value * factor;
    if (digits >= 1 && digits <= 8 && *bytes >= CREST_OTLP_BODY_BYTES_MIN &&
        *bytes <= CREST_OTLP_BODY_BYTES_MAX)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "otlp.body=%.60s is not a number of bytes from 1KiB to 64MiB, such as "
                           "4MiB",
                           text);
}

/* What the environment says where no option does. */
static void otlp_options_below(const crest_otlp_environment *environment,
                               crest_otlp_http_options *made)
{
    if (made->ca_file == NULL)
        made->ca_file = environment->ca_file;
    if (made->cert_file == NULL && made->key_file == NULL) {
        made->cert_file = environment->cert_file;
        made->key_file = environment->cert_file != NULL ? environment->key_file : NULL;
    }
    made->headers = environment->headers.labels;
    made->header_count = environment->headers.count;
    made->disabled = environment->disabled;
}

/* The resource's attributes of the environment, OTEL_SERVICE_NAME first. */
static unsigned otlp_options_attributes(const crest_otlp_environment *environment,
                                        crest_page_label labels[CREST_OTLP_ATTRIBUTES_MAX])
{
    unsigned count = 0;
    if (environment->service != NULL)
        labels[count++] = (crest_page_label){"service.name", environment->service};
    for (unsigned i = 0; i < environment->attributes.count && count < CREST_OTLP_ATTRIBUTES_MAX;
         i++)
        labels[count++] = environment->attributes.labels[i];
    return count;
}

static crest_reporter *otlp_options_make(const char *value, const crest_options *options,
                                         const crest_otlp_environment *environment,
                                         crest_otlp_signal signal, crest_error *error)
{
    crest_page_label attributes[CREST_OTLP_ATTRIBUTES_MAX];
    crest_otlp_http_options made = {.url = value,
                                    .attributes = attributes,
                                    .traces = signal == CREST_OTLP_TRACES,
                                    .profiles = signal == CREST_OTLP_PROFILES};
    if (strcasecmp(value, "on") == 0) {
        made.url = environment->url != NULL ? environment->url : OTLP_OPTIONS_URL_DEFAULT;
        made.whole_url = environment->url != NULL && environment->whole;
    }
    otlp_options_read_texts(options, &made);
    otlp_options_below(environment, &made);
    made.attribute_count = otlp_options_attributes(environment, attributes);
    int stale = 1;
    if (otlp_options_read_words(options, environment, &made, error) != CREST_OK ||
        otlp_options_read_body(options, &made.body_bytes, error) != CREST_OK ||
        crest_option_switch(options, "otlp.stale-on-stop", &stale, error) != CREST_OK)
        return NULL;
    made.no_stale = !stale;
    return crest_otlp_http_new(&made, error);
}

/* A reporter of metrics, of spans or of profiles, with the environment of that. */
static crest_reporter *otlp_options_of_signal(const char *value, const crest_options *options,
                                              crest_otlp_signal signal, crest_error *error)
{
    crest_otlp_environment environment;
    crest_reporter *reporter = NULL;
    if (crest_otlp_environment_read(&environment, signal) == CREST_OK)
        reporter = otlp_options_make(value, options, &environment, signal, error);
    else
        crest_error_set(error, CREST_NO_MEMORY, "No memory for the OTEL_ variables");
    crest_otlp_environment_fini(&environment);
    return reporter;
}

/* What otlp.traces says. */
enum { OTLP_OPTIONS_METRICS, OTLP_OPTIONS_BOTH, OTLP_OPTIONS_TRACES };

static crest_status otlp_options_signals(const crest_options *options, int *signals,
                                         crest_error *error)
{
    static const char *const words[] = {"off", "on", "only", NULL};
    return otlp_options_choose(options, "otlp.traces", words, CREST_OTLP_UNSET, signals, error);
}

/* When spans are sent. */
static crest_status otlp_options_traces_schedule(const crest_options *options,
                                                 crest_schedule *schedule, crest_error *error)
{
    uint64_t interval_ms = crest_otlp_environment_interval_ms(CREST_OTLP_TRACES);
    uint64_t timeout_ms = crest_otlp_environment_timeout_ms(CREST_OTLP_TRACES);
    if (interval_ms == 0)
        interval_ms = CREST_SPAN_INTERVAL_MS;
    crest_status status =
        crest_option_duration_ms(options, "otlp.traces-interval", &interval_ms, error);
    if (status == CREST_OK)
        status = crest_option_duration_ms(options, "otlp.timeout", &timeout_ms, error);
    if (status == CREST_OK &&
        (interval_ms < CREST_INTERVAL_MS_MIN || interval_ms > CREST_INTERVAL_MS_MAX))
        status = crest_error_set(error, CREST_INVALID_OPTIONS,
                                 "otlp.traces-interval=%.60s is not between 100ms and 86400s",
                                 crest_option(options, "otlp.traces-interval"));
    schedule->interval_ms = interval_ms;
    schedule->timeout_ms = timeout_ms;
    return status;
}

static crest_reporter *otlp_options_create(const char *value, const crest_options *options,
                                           const crest_resource *resource, crest_error *error)
{
    (void)resource; /* each report has it */
    int signals;
    if (otlp_options_signals(options, &signals, error) != CREST_OK)
        return NULL;
    return otlp_options_of_signal(
        value, options, signals == OTLP_OPTIONS_TRACES ? CREST_OTLP_TRACES : CREST_OTLP_METRICS,
        error);
}

/* The reporter of spans beside that of metrics. */
static crest_reporter *otlp_options_also(const char *value, const crest_options *options,
                                         crest_schedule *schedule, crest_error *error)
{
    int signals;
    if (otlp_options_signals(options, &signals, error) != CREST_OK ||
        otlp_options_traces_schedule(options, schedule, error) != CREST_OK ||
        signals != OTLP_OPTIONS_BOTH)
        return NULL;
    return otlp_options_of_signal(value, options, CREST_OTLP_TRACES, error);
}

crest_reporter *crest_otlp_profiles_new(const crest_options *options, crest_error *error)
{
    const char *value = crest_option(options, OTLP_OPTIONS_NAME);
    return otlp_options_of_signal(value != NULL && strcmp(value, "off") != 0 ? value : "on",
                                  options, CREST_OTLP_PROFILES, error);
}

/* Of options that are all reporters' own, `interval` is above the environment too. */
static void otlp_options_schedule(const crest_options *options, crest_schedule *schedule)
{
    crest_schedule traces = {.interval_ms = 0};
    int signals;
    if (otlp_options_signals(options, &signals, NULL) == CREST_OK &&
        signals == OTLP_OPTIONS_TRACES &&
        otlp_options_traces_schedule(options, &traces, NULL) == CREST_OK) {
        schedule->interval_ms = traces.interval_ms;
        if (traces.timeout_ms != 0)
            schedule->timeout_ms = traces.timeout_ms;
        return;
    }
    uint64_t interval_ms = 0, timeout_ms = crest_otlp_environment_timeout_ms(CREST_OTLP_METRICS);
    if (crest_option(options, "interval") == NULL)
        interval_ms = crest_otlp_environment_interval_ms(CREST_OTLP_METRICS);
    if (interval_ms != 0)
        schedule->interval_ms = interval_ms;
    if (timeout_ms != 0)
        schedule->timeout_ms = timeout_ms;
}

static const char *const otlp_options_keys[] = {
    "otlp.encoding",
    "otlp.temporality",
    "otlp.histograms",
    "otlp.windows",
    "otlp.compression",
    "otlp.body",
    "otlp.headers-file",
    "otlp.user",
    "otlp.password-file",
    "otlp.password-env",
    "otlp.bearer-file",
    "otlp.bearer-env",
    "otlp.ca-file",
    "otlp.cert-file",
    "otlp.key-file",
    "otlp.key-password-file",
    "otlp.stale-on-stop",
    "otlp.proxy",
    "otlp.traces",
    "otlp.traces-interval",
    NULL,
};

const crest_reporter_kind crest_otlp_kind = {
    .name = OTLP_OPTIONS_NAME,
    .keys = otlp_options_keys,
    .create = otlp_options_create,
    .schedule = otlp_options_schedule,
    .also = otlp_options_also,
};
