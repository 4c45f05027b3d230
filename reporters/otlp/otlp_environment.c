/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's environment variables. See otlp_environment.h. */
#define _GNU_SOURCE
#include "otlp/otlp_environment.h"
#include "common/shown_text.h"

#include <crest/reporter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of a variable's name. */
#define OTLP_ENVIRONMENT_NAME_BYTES 96u
#define OTLP_ENVIRONMENT_SHOWN_BYTES 80u
/* Of a number of milliseconds: no longer than the longest interval. */
#define OTLP_ENVIRONMENT_DIGITS_MAX 8u

/* A variable; NULL if it is not set or "", which the specification takes for the same. */
static const char *otlp_environment_get(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* OTEL_EXPORTER_OTLP_METRICS_X, or _TRACES_X or _PROFILES_X, or else OTEL_EXPORTER_OTLP_X; `name`
 * gets the name of what is set. */
static const char *otlp_environment_exporter(crest_otlp_signal signal, const char *x,
                                             char name[OTLP_ENVIRONMENT_NAME_BYTES], int *of_signal)
{
    static const char *const signals[] = {"METRICS", "TRACES", "PROFILES"};
    snprintf(name, OTLP_ENVIRONMENT_NAME_BYTES, "OTEL_EXPORTER_OTLP_%s_%s", signals[signal], x);
    const char *value = otlp_environment_get(name);
    *of_signal = value != NULL;
    if (value != NULL)
        return value;
    snprintf(name, OTLP_ENVIRONMENT_NAME_BYTES, "OTEL_EXPORTER_OTLP_%s", x);
    return otlp_environment_get(name);
}

/* `value` NULL: it may hold secrets. */
static void otlp_environment_warn(const char *name, const char *value, const char *problem)
{
    char shown[OTLP_ENVIRONMENT_SHOWN_BYTES] = "";
    if (value != NULL)
        crest_push_text_show(value, strlen(value), shown, sizeof shown);
    crest_log_write(CREST_LOG_WARNING, "crest: otlp: %s%s%s is ignored: %s", name,
                    value != NULL ? "=" : "", shown, problem);
}

/* Words of a variable, and what they mean. */
typedef struct otlp_environment_word {
    const char *word;
    int value;
} otlp_environment_word;

/* The value of the variable's word, in any case; `none` if it is not set or another. */
static int otlp_environment_choose(const char *name, const char *value,
                                   const otlp_environment_word *words, int none, const char *wanted)
{
    if (value == NULL)
        return none;
    for (; words->word != NULL; words++)
        if (strcasecmp(value, words->word) == 0)
            return words->value;
    otlp_environment_warn(name, value, wanted);
    return none;
}

static int otlp_environment_encoding(crest_otlp_signal signal)
{
    static const otlp_environment_word words[] = {
        {"http/protobuf", CREST_OTLP_PROTOBUF}, {"http/json", CREST_OTLP_JSON}, {NULL, 0}};
    char name[OTLP_ENVIRONMENT_NAME_BYTES];
    int of_signal;
    const char *value = otlp_environment_exporter(signal, "PROTOCOL", name, &of_signal);
    return otlp_environment_choose(name, value, words, CREST_OTLP_UNSET,
                                   "http/protobuf and http/json are spoken here, and no gRPC");
}

static int otlp_environment_gzip(crest_otlp_signal signal)
{
    static const otlp_environment_word words[] = {{"gzip", 1}, {"none", 0}, {NULL, 0}};
    char name[OTLP_ENVIRONMENT_NAME_BYTES];
    int of_signal;
    const char *value = otlp_environment_exporter(signal, "COMPRESSION", name, &of_signal);
    return otlp_environment_choose(name, value, words, CREST_OTLP_UNSET, "it is gzip or none");
}

/* Low memory means differences for what is recorded, which is most of it. */
static int otlp_environment_temporality(void)
{
    static const otlp_environment_word words[] = {{"cumulative", CREST_OTLP_CUMULATIVE},
                                                  {"delta", CREST_OTLP_DELTA},
                                                  {"lowmemory", CREST_OTLP_DELTA},
                                                  {NULL, 0}};
    static const char name[] = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    return otlp_environment_choose(name, otlp_environment_get(name), words, CREST_OTLP_UNSET,
                                   "it is cumulative, delta or lowmemory");
}

static int otlp_environment_histograms(void)
{
    static const otlp_environment_word words[] = {
        {"explicit_bucket_histogram", CREST_OTLP_EXPLICIT},
        {"base2_exponential_bucket_histogram", CREST_OTLP_EXPONENTIAL},
        {NULL, 0}};
    static const char name[] = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
    return otlp_environment_choose(
        name, otlp_environment_get(name), words, CREST_OTLP_UNSET,
        "it is explicit_bucket_histogram or base2_exponential_bucket_histogram");
}

static int otlp_environment_disabled(void)
{
    static const otlp_environment_word words[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
    return otlp_environment_choose("OTEL_SDK_DISABLED", otlp_environment_get("OTEL_SDK_DISABLED"),
                                   words, 0, "it is true or false");
}

static crest_status otlp_environment_pairs(const char *name, const char *list,
                                           crest_otlp_pairs *pairs)
{
    const char *problem;
    *pairs = (crest_otlp_pairs){.text = NULL};
    if (list == NULL)
        return CREST_OK;
    crest_status status = crest_otlp_pairs_read(list, pairs, &problem);
    if (status != CREST_INVALID_ARGUMENT)
        return status;
    otlp_environment_warn(name, NULL, problem);
    return CREST_OK;
}

crest_status crest_otlp_environment_read(crest_otlp_environment *environment,
                                         crest_otlp_signal signal)
{
    char name[OTLP_ENVIRONMENT_NAME_BYTES];
    int of_signal;
    *environment = (crest_otlp_environment){
        .encoding = otlp_environment_encoding(signal),
        .temporality = otlp_environment_temporality(),
        .histograms = otlp_environment_histograms(),
        .gzip = otlp_environment_gzip(signal),
        .service = otlp_environment_get("OTEL_SERVICE_NAME"),
        .disabled = otlp_environment_disabled(),
    };
    environment->url = otlp_environment_exporter(signal, "ENDPOINT", name, &environment->whole);
    environment->ca_file = otlp_environment_exporter(signal, "CERTIFICATE", name, &of_signal);
    environment->cert_file =
        otlp_environment_exporter(signal, "CLIENT_CERTIFICATE", name, &of_signal);
    environment->key_file = otlp_environment_exporter(signal, "CLIENT_KEY", name, &of_signal);
    const char *headers = otlp_environment_exporter(signal, "HEADERS", name, &of_signal);
    crest_status status = otlp_environment_pairs(name, headers, &environment->headers);
    if (status == CREST_OK)
        status = otlp_environment_pairs("OTEL_RESOURCE_ATTRIBUTES",
                                        otlp_environment_get("OTEL_RESOURCE_ATTRIBUTES"),
                                        &environment->attributes);
    return status;
}

void crest_otlp_environment_fini(crest_otlp_environment *environment)
{
    crest_otlp_pairs_fini(&environment->headers);
    crest_otlp_pairs_fini(&environment->attributes);
}

/* ---- times ---- */

/* A variable's milliseconds from `least` up to a day; 0 if it is not set or another. */
static uint64_t otlp_environment_ms(const char *name, const char *value, uint64_t least)
{
    uint64_t ms = 0;
    if (value == NULL)
        return 0;
    size_t digits = strspn(value, "0123456789");
    for (size_t i = 0; i < digits && digits <= OTLP_ENVIRONMENT_DIGITS_MAX; i++)
        ms = ms * 10 + (uint64_t)(value[i] - '0');
    if (value[digits] == '\0' && ms >= least && ms <= CREST_INTERVAL_MS_MAX)
        return ms;
    otlp_environment_warn(name, value,
                          "it is a number of milliseconds, up to 86400000, an interval at least "
                          "100");
    return 0;
}

uint64_t crest_otlp_environment_interval_ms(crest_otlp_signal signal)
{
    const char *name =
        signal == CREST_OTLP_TRACES ? "OTEL_BSP_SCHEDULE_DELAY" : "OTEL_METRIC_EXPORT_INTERVAL";
    return otlp_environment_ms(name, otlp_environment_get(name), CREST_INTERVAL_MS_MIN);
}

uint64_t crest_otlp_environment_timeout_ms(crest_otlp_signal signal)
{
    const char *whole =
        signal == CREST_OTLP_TRACES ? "OTEL_BSP_EXPORT_TIMEOUT" : "OTEL_METRIC_EXPORT_TIMEOUT";
    char name[OTLP_ENVIRONMENT_NAME_BYTES];
    int of_signal;
    const char *text = otlp_environment_exporter(signal, "TIMEOUT", name, &of_signal);
    uint64_t one_ms = otlp_environment_ms(name, text, 1);
    uint64_t all_ms = otlp_environment_ms(whole, otlp_environment_get(whole), 1);
    return one_ms == 0 || (all_ms != 0 && all_ms < one_ms) ? all_ms : one_ms;
}
