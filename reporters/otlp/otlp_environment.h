/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry's environment variables, as far as an exporter of metrics or of spans has them. One
 * that is wrong is told to the log and taken as not set, as the specification wants it; none is
 * read in a set-user-ID program.
 *
 *     crest_otlp_environment environment;
 *     if (crest_otlp_environment_read(&environment, CREST_OTLP_METRICS) == CREST_OK) ...
 * environment.url ...
 *     crest_otlp_environment_fini(&environment);
 *
 * Of OTEL_EXPORTER_OTLP_X and OTEL_EXPORTER_OTLP_METRICS_X, or _TRACES_X or
 * _PROFILES_X, the second wins. Source:
 * OpenTelemetry's specification 1.5x, "Environment Variable Specification" and "OpenTelemetry
 * Protocol Exporter".
 */
#ifndef CREST_REPORTERS_OTLP_ENVIRONMENT_H
#define CREST_REPORTERS_OTLP_ENVIRONMENT_H

#include "otlp/otlp_pairs.h"

#include <crest/otlp.h>

/* Whose variables they are. */
typedef enum crest_otlp_signal {
    CREST_OTLP_METRICS,
    CREST_OTLP_TRACES,
    CREST_OTLP_PROFILES
} crest_otlp_signal;

/* Of a choice that no variable makes. */
#define CREST_OTLP_UNSET (-1)

/* Texts are the environment's own, and NULL if not set. */
typedef struct crest_otlp_environment {
    const char *url; /* …_ENDPOINT */
    int whole;       /* the URL is …_METRICS_ENDPOINT's or so: no path is to be added */
    int encoding;    /* …_PROTOCOL: a crest_otlp_encoding, or CREST_OTLP_UNSET; so the next two */
    int temporality; /* …_METRICS_TEMPORALITY_PREFERENCE */
    int histograms;  /* …_METRICS_DEFAULT_HISTOGRAM_AGGREGATION */
    int gzip;        /* …_COMPRESSION: 0 or 1, or CREST_OTLP_UNSET */
    const char *ca_file, *cert_file,
        *key_file;               /* …_CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY */
    crest_otlp_pairs headers;    /* …_HEADERS */
    crest_otlp_pairs attributes; /* OTEL_RESOURCE_ATTRIBUTES */
    const char *service;         /* OTEL_SERVICE_NAME */
    int disabled;                /* OTEL_SDK_DISABLED is true */
} crest_otlp_environment;

/* Reads them all. CREST_NO_MEMORY; fini is due in any case. Tells the log of wrong ones. */
crest_status crest_otlp_environment_read(crest_otlp_environment *environment,
                                         crest_otlp_signal signal);

void crest_otlp_environment_fini(crest_otlp_environment *environment);

/* OTEL_METRIC_EXPORT_INTERVAL, and the shorter of OTEL_METRIC_EXPORT_TIMEOUT and
 * OTEL_EXPORTER_OTLP_TIMEOUT; of traces OTEL_BSP_SCHEDULE_DELAY and OTEL_BSP_EXPORT_TIMEOUT: in
 * milliseconds, 0 if not set. Tells the log of wrong ones. */
uint64_t crest_otlp_environment_interval_ms(crest_otlp_signal signal);
uint64_t crest_otlp_environment_timeout_ms(crest_otlp_signal signal);

#endif
