/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making an InfluxDB reporter, from a program's options or an operator's. See <crest/influxdb.h>.
 */
#include "common/shown_text.h"
#include "influxdb/influxdb_reporter.h"
#include "kinds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define INFLUXDB_NAME "influxdb"
#define INFLUXDB_SHOWN_BYTES 100u

static const double influxdb_percentiles[] = {50, 70, 90, 95, 99, 99.9};

static void influxdb_cancel(crest_reporter *self)
{
    influxdb_reporter *influxdb = self->state;
    influxdb->sink->cancel(influxdb->sink);
}

static void influxdb_free(crest_reporter *self)
{
    influxdb_reporter *influxdb = self->state;
    if (influxdb->sink != NULL)
        influxdb->sink->free(influxdb->sink);
    free(influxdb->line);
    pthread_mutex_destroy(&influxdb->one_at_a_time);
    free(influxdb);
}

/* Without threads, a name look-up would block the host. */
static crest_status influxdb_start(crest_reporter *self, crest_registry *registry,
                                   crest_error *error)
{
    const influxdb_reporter *influxdb = self->state;
    (void)registry;
    if (!crest_loop_only() || self->waits)
        return CREST_OK;
    return crest_influx_udp_start(influxdb->sink, error);
}

/* ---- making one ---- */

static crest_status influxdb_check(const crest_influxdb_options *options, crest_error *error)
{
    if (options->url == NULL || options->url[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "No URL for InfluxDB was given; it is something like "
                               "http://127.0.0.1:8086/mydb or udp://127.0.0.1:8089");
    if (options->fields != CREST_INFLUXDB_FIELDS_CREST &&
        options->fields != CREST_INFLUXDB_FIELDS_KAMON)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There are no InfluxDB fields %d",
                               (int)options->fields);
    if ((int)options->precision < 0 || options->precision > CREST_INFLUXDB_PRECISION_S)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no precision %d",
                               (int)options->precision);
    if (options->percentiles != NULL && options->percentile_count > CREST_INFLUXDB_PERCENTILES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "%u percentiles are too many for InfluxDB; there may be %u",
                               options->percentile_count, CREST_INFLUXDB_PERCENTILES_MAX);
    for (unsigned i = 0; options->percentiles != NULL && i < options->percentile_count; i++)
        if (!(options->percentiles[i] > 0 && options->percentiles[i] <= 100))
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "A percentile is above 0 and at most 100, and %g is not",
                                   options->percentiles[i]);
    return CREST_OK;
}

static void influxdb_set_form(influxdb_reporter *influxdb, const crest_influxdb_options *options)
{
    static const uint64_t units[] = {[CREST_INFLUXDB_PRECISION_DEFAULT] = 1000000,
                                     [CREST_INFLUXDB_PRECISION_NS] = 1,
                                     [CREST_INFLUXDB_PRECISION_US] = 1000,
                                     [CREST_INFLUXDB_PRECISION_MS] = 1000000,
                                     [CREST_INFLUXDB_PRECISION_S] = 1000000000};
    int udp = crest_influx_url_is_udp(options->url);
    const double *percentiles = options->percentiles;
    unsigned count = options->percentile_count;
    if (percentiles == NULL) {
        percentiles = influxdb_percentiles;
        count = sizeof influxdb_percentiles / sizeof *influxdb_percentiles;
    }
    influxdb->form.fields = options->fields;
    influxdb->form.windows = options->windows != 0;
    influxdb->form.percentile_count = options->no_percentiles ? 0 : count;
    memcpy(influxdb->form.percentiles, percentiles, count * sizeof *percentiles);
    influxdb->unit_ns = udp && options->precision == CREST_INFLUXDB_PRECISION_DEFAULT
                            ? 1
                            : units[options->precision];
}

crest_reporter *crest_influxdb_new(const crest_influxdb_options *options, crest_error *error)
{
    static const crest_influxdb_options nothing = {.url = NULL};
    if (options == NULL)
        options = &nothing;
    if (influxdb_check(options, error) != CREST_OK)
        return NULL;
    influxdb_reporter *influxdb = calloc(1, sizeof *influxdb);
    if (influxdb == NULL || pthread_mutex_init(&influxdb->one_at_a_time, NULL) != 0) {
        free(influxdb);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
        return NULL;
    }
    int udp = crest_influx_url_is_udp(options->url);
    influxdb->reporter = (crest_reporter){.name = INFLUXDB_NAME,
                                          .report = crest_influxdb_report,
                                          .free = influxdb_free,
                                          .start = influxdb_start,
                                          .state = influxdb,
                                          .deltas = 1,
                                          .cancel = influxdb_cancel,
                                          .waits = !udp};
    influxdb_set_form(influxdb, options);
    influxdb->line = malloc(sizeof *influxdb->line);
    if (influxdb->line == NULL)
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
    else
        influxdb->sink =
            udp ? crest_influx_udp_new(options, error) : crest_influx_http_new(options, error);
    if (influxdb->sink != NULL)
        return &influxdb->reporter;
    influxdb_free(&influxdb->reporter);
    return NULL;
}

/* ---- from options ---- */

/* Options that are texts, taken as they are. */
static const struct {
    const char *key;
    size_t offset;
} influxdb_texts[] = {
#define INFLUXDB_TEXT(key, member)                                                                 \
    {                                                                                              \
        INFLUXDB_NAME "." key, offsetof(crest_influxdb_options, member)                            \
    }
    INFLUXDB_TEXT("database", database),
    INFLUXDB_TEXT("retention", retention),
    INFLUXDB_TEXT("user", user),
    INFLUXDB_TEXT("password-file", password_file),
    INFLUXDB_TEXT("password-env", password_env),
    INFLUXDB_TEXT("bearer-file", bearer_file),
    INFLUXDB_TEXT("bearer-env", bearer_env),
    INFLUXDB_TEXT("ca-file", ca_file),
    INFLUXDB_TEXT("cert-file", cert_file),
    INFLUXDB_TEXT("key-file", key_file),
    INFLUXDB_TEXT("key-password-file", key_password_file),
    INFLUXDB_TEXT("proxy", proxy),
#undef INFLUXDB_TEXT
};

static crest_status influxdb_refuse(const char *key, const char *value, const char *wanted,
                                    crest_error *error)
{
    char shown[INFLUXDB_SHOWN_BYTES];
    crest_push_text_show(value, strlen(value), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%s: it is %s", key, shown, wanted);
}

/* The place of the option's word among `words`, from 1; absent, *to stays. */
static crest_status influxdb_read_word(const crest_options *options, const char *key,
                                       const char *const *words, const char *wanted, unsigned *to,
                                       crest_error *error)
{
    const char *value = crest_option(options, key);
    for (unsigned i = 0; value != NULL && words[i] != NULL; i++)
        if (strcmp(words[i], value) == 0) {
            *to = i + 1;
            return CREST_OK;
        }
    return value == NULL ? CREST_OK : influxdb_refuse(key, value, wanted, error);
}

/* A number above 0; too large ones are as large as can be. Absent, *to stays. */
static crest_status influxdb_read_number(const crest_options *options, const char *key,
                                         const char *wanted, unsigned *to, crest_error *error)
{
    const char *value = crest_option(options, key);
    uint64_t number = 0;
    if (value == NULL)
        return CREST_OK;
    size_t length = strlen(value);
    if (length == 0 || strspn(value, "0123456789") != length)
        return influxdb_refuse(key, value, wanted, error);
    for (size_t i = 0; i < length && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(value[i] - '0');
    if (number == 0)
        return influxdb_refuse(key, value, wanted, error);
    *to = number < UINT32_MAX ? (unsigned)number : UINT32_MAX;
    return CREST_OK;
}

/* "99.9" in any locale; 0 for what is no percentile. */
static double influxdb_percentile(const char *text, size_t length)
{
    double value = 0, scale = 1;
    int point = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && !point && i > 0 && i + 1 < length)
            point = 1;
        else if (text[i] >= '0' && text[i] <= '9' && length <= 10) {
            value = value * 10 + (text[i] - '0');
            scale *= point ? 10 : 1;
        } else
            return 0;
    }
    return value / scale;
}

/* "50:99:99.9", or "off". */
static crest_status influxdb_read_percentiles(const crest_options *options,
                                              crest_influxdb_options *made,
                                              double percentiles[CREST_INFLUXDB_PERCENTILES_MAX],
                                              crest_error *error)
{
    static const char key[] = "influxdb.percentiles";
    static const char wanted[] = "off, or at most 16 percentiles with colons between them, each "
                                 "above 0 and at most 100: 50:99:99.9";
    const char *value = crest_option(options, key), *at = value;
    made->no_percentiles = value != NULL && strcmp(value, "off") == 0;
    if (value == NULL || made->no_percentiles)
        return CREST_OK;
    for (;; at++) {
        size_t length = strcspn(at, ":");
        double percentile = influxdb_percentile(at, length);
        if (made->percentile_count == CREST_INFLUXDB_PERCENTILES_MAX || !(percentile > 0) ||
            percentile > 100)
            return influxdb_refuse(key, value, wanted, error);
        percentiles[made->percentile_count++] = percentile;
        at += length;
        if (*at == '\0')
            break;
    }
    made->percentiles = percentiles;
    return CREST_OK;
}

static crest_status influxdb_read_words(const crest_options *options, crest_influxdb_options *made,
                                        crest_error *error)
{
    static const char *const fields[] = {"crest", "kamon", NULL};
    /* in the order of crest_influxdb_precision, whose first is the default */
    static const char *const precisions[] = {"ns", "u", "ms", "s", NULL};
    unsigned field = 1, precision = 0;
    crest_status status =
        influxdb_read_word(options, "influxdb.fields", fields, "crest or kamon", &field, error);
    if (status == CREST_OK)
        status = influxdb_read_word(options, "influxdb.precision", precisions, "ns, u, ms or s",
                                    &precision, error);
    if (status == CREST_OK)
        status = influxdb_read_number(options, "influxdb.packet", "a number of bytes",
                                      &made->packet_bytes, error);
    if (status == CREST_OK)
        status =
            influxdb_read_number(options, "influxdb.rate",
                                 "a number of packets a second, at least 1", &made->rate, error);
    made->fields = (crest_influxdb_fields)(field - 1);
    made->precision = (crest_influxdb_precision)precision;
    return status;
}

static crest_reporter *influxdb_create(const char *value, const crest_options *options,
                                       const crest_resource *resource, crest_error *error)
{
    (void)resource; /* comes with each report */
    double percentiles[CREST_INFLUXDB_PERCENTILES_MAX];
    crest_influxdb_options made = {.url = value};
    int gzip = 1;
    for (size_t i = 0; i < sizeof influxdb_texts / sizeof influxdb_texts[0]; i++) {
        const char *text = crest_option(options, influxdb_texts[i].key);
        memcpy((char *)&made + influxdb_texts[i].offset, &text, sizeof text);
    }
    if (influxdb_read_words(options, &made, error) != CREST_OK ||
        influxdb_read_percentiles(options, &made, percentiles, error) != CREST_OK ||
        crest_option_switch(options, "influxdb.windows", &made.windows, error) != CREST_OK ||
        crest_option_switch(options, "influxdb.gzip", &gzip, error) != CREST_OK)
        return NULL;
    made.no_gzip = !gzip;
    return crest_influxdb_new(&made, error);
}

static const char *const influxdb_keys[] = {
    "influxdb.fields",        "influxdb.percentiles",
    "influxdb.windows",       "influxdb.precision",
    "influxdb.database",      "influxdb.retention",
    "influxdb.gzip",          "influxdb.packet",
    "influxdb.rate",          "influxdb.user",
    "influxdb.password-file", "influxdb.password-env",
    "influxdb.bearer-file",   "influxdb.bearer-env",
    "influxdb.ca-file",       "influxdb.cert-file",
    "influxdb.key-file",      "influxdb.key-password-file",
    "influxdb.proxy",         NULL,
};

const crest_reporter_kind crest_influxdb_kind = {
    .name = INFLUXDB_NAME,
    .keys = influxdb_keys,
    .create = influxdb_create,
};
