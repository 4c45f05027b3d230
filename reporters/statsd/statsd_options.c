/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a StatsD reporter, from a program's options or an operator's. See <crest/statsd.h>.
 */
#include "common/host_lookup.h"
#include "common/shown_text.h"
#include "kinds.h"
#include "statsd/statsd_reporter.h"
#include "statsd/statsd_url.h"

#include <stdlib.h>
#include <string.h>

#define STATSD_SHOWN_OPTION_BYTES 100u

static void statsd_cancel(crest_reporter *self)
{
    statsd_reporter *statsd = self->state;
    crest_packet_socket_cancel(statsd->to);
}

static void statsd_free(crest_reporter *self)
{
    statsd_reporter *statsd = self->state;
    crest_packet_socket_free(statsd->to);
    crest_statsd_sent_fini(&statsd->sent);
    free(statsd->packet.bytes);
    free(statsd->identity);
    free(statsd->service);
    free(statsd->version);
    free(statsd->env);
    free(statsd->entity);
    pthread_mutex_destroy(&statsd->one_at_a_time);
    free(statsd);
}

/* ---- making one ---- */

static crest_status statsd_check(const crest_statsd_options *options, crest_error *error)
{
    unsigned bytes = options->packet_bytes;
    char shown[STATSD_SHOWN_OPTION_BYTES];
    const char *prefix = options->prefix != NULL ? options->prefix : "";
    if (options->dialect != CREST_STATSD_ETSY && options->dialect != CREST_STATSD_DATADOG)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no StatsD dialect %d",
                               (int)options->dialect);
    if (bytes != 0 &&
        (bytes < CREST_STATSD_PACKET_BYTES_MIN || bytes > CREST_STATSD_PACKET_BYTES_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "StatsD packets of %u bytes cannot be; from %u to %u can", bytes,
                               CREST_STATSD_PACKET_BYTES_MIN, CREST_STATSD_PACKET_BYTES_MAX);
    if (options->samples > CREST_STATSD_SAMPLES_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%u samples of a series are too many for StatsD; there may be %u",
                               options->samples, CREST_STATSD_SAMPLES_MAX);
    if (crest_statsd_prefix_is_valid(prefix))
        return CREST_OK;
    crest_push_text_show(prefix, strlen(prefix), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "\"%s\" cannot stand before StatsD names: a prefix has at most %u "
                           "letters, digits, dots, dashes and underscores",
                           shown, CREST_STATSD_PREFIX_BYTES_MAX);
}

/* 0, or -1 without memory. */
static int statsd_copy_environment(statsd_reporter *statsd)
{
    const struct {
        const char *name;
        char **to;
    } variables[] = {{"DD_SERVICE", &statsd->service},
                     {"DD_VERSION", &statsd->version},
                     {"DD_ENV", &statsd->env},
                     {"DD_ENTITY_ID", &statsd->entity}};
    if (statsd->form.dialect != CREST_STATSD_DATADOG)
        return 0;
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = crest_statsd_environment(variables[i].name);
        if (value != NULL && (*variables[i].to = strdup(value)) == NULL)
            return -1;
    }
    return 0;
}

static void statsd_set_form(statsd_reporter *statsd, const crest_statsd_options *options)
{
    int datagram_size = statsd->url.transport == CREST_PACKET_UDP ? CREST_STATSD_PACKET_ETHERNET
                                                                  : CREST_STATSD_PACKET_UDS;
    if (options->prefix != NULL)
        memcpy(statsd->prefix, options->prefix, strlen(options->prefix) + 1);
    statsd->windows = options->windows && !options->no_windows;
    statsd->packet.size =
        options->packet_bytes != 0 ? options->packet_bytes : (unsigned)datagram_size;
    statsd->packet.terminated = statsd->url.transport == CREST_PACKET_TCP;
    statsd->form = (crest_statsd_form){
        .dialect = options->dialect,
        .prefix = statsd->prefix,
        .tags = statsd->tags,
        .line_bytes_max = statsd->packet.size - (statsd->packet.terminated ? 1 : 0),
        .samples = options->samples != 0 ? options->samples : CREST_STATSD_SAMPLES_DEFAULT,
        .host_histograms = options->host_histograms,
        .whole_seconds = options->whole_seconds != 0 ? options->whole_seconds > 0
                                                     : options->dialect == CREST_STATSD_ETSY,
        .unpacked = options->unpacked,
        .no_rates = options->no_rates};
}

/* What can fail: memory and the socket's file descriptor. */
static crest_status statsd_set_up(statsd_reporter *statsd, const crest_statsd_options *options,
                                  crest_error *error)
{
    unsigned rate = options->rate != 0 ? options->rate : CREST_STATSD_RATE_DEFAULT;
    statsd_set_form(statsd, options);
    statsd->packet.bytes = malloc(statsd->packet.size);
    statsd->identity = malloc(sizeof *statsd->identity);
    if (statsd->packet.bytes == NULL || statsd->identity == NULL ||
        statsd_copy_environment(statsd) != 0)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for a StatsD reporter");
    crest_error reason;
    statsd->to =
        crest_packet_socket_new(&statsd->url, rate <= CREST_STATSD_RATE_MAX ? rate : 0, &reason);
    if (statsd->to == NULL)
        return crest_error_set(error, reason.status, "%s", reason.message);
    return CREST_OK;
}

/* Without threads, a name look-up would block the host. */
static crest_status statsd_start(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    const statsd_reporter *statsd = self->state;
    (void)registry;
    if (!crest_loop_only() || statsd->url.transport == CREST_PACKET_UNIX ||
        crest_host_is_address(statsd->url.host))
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "The StatsD server's host %s is a name, and with threads=off there is "
                           "no thread to look it up: write its address, as udp://127.0.0.1:8125",
                           statsd->url.host);
}

crest_reporter *crest_statsd_new(const crest_statsd_options *options, crest_error *error)
{
    static const crest_statsd_options defaults = {.url = NULL};
    if (options == NULL)
        options = &defaults;
    if (statsd_check(options, error) != CREST_OK)
        return NULL;
    statsd_reporter *statsd = calloc(1, sizeof *statsd);
    if (statsd == NULL || pthread_mutex_init(&statsd->one_at_a_time, NULL) != 0) {
        free(statsd);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a StatsD reporter");
        return NULL;
    }
    statsd->reporter = (crest_reporter){.name = "statsd",
                                        .report = crest_statsd_report,
                                        .free = statsd_free,
                                        .start = statsd_start,
                                        .state = statsd,
                                        .cancel = statsd_cancel};
    crest_status status =
        options->url != NULL
            ? crest_statsd_url_parse(options->url, "the option url", &statsd->url, error)
            : crest_statsd_url_default(options->dialect == CREST_STATSD_DATADOG, &statsd->url,
                                       error);
    if (status == CREST_OK)
        status = statsd_set_up(statsd, options, error);
    if (status == CREST_OK)
        return &statsd->reporter;
    statsd_free(&statsd->reporter);
    return NULL;
}

/* ---- from options ---- */

static crest_status statsd_refuse(const char *key, const char *value, const char *wanted,
                                  crest_error *error)
{
    char shown[STATSD_SHOWN_OPTION_BYTES];
    crest_push_text_show(value, strlen(value), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%s: it is %s", key, shown, wanted);
}

/* One of the words, whose number *to becomes; absent, *to stays. */
static crest_status statsd_read_word(const crest_options *options, const char *key,
                                     const char *const *words, const unsigned *numbers,
                                     const char *wanted, unsigned *to, crest_error *error)
{
    const char *value = crest_option(options, key);
    if (value == NULL)
        return CREST_OK;
    for (unsigned i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], value) == 0) {
            *to = numbers[i];
            return CREST_OK;
        }
    /* a number, where one of the words may be one; too large ones are as large as can be */
    char *end = NULL;
    unsigned long number = value[0] >= '0' && value[0] <= '9' ? strtoul(value, &end, 10) : 0;
    if (numbers[0] == 0 || end == NULL || *end != '\0' || number == 0)
        return statsd_refuse(key, value, wanted, error);
    *to = number > CREST_STATSD_RATE_MAX ? CREST_STATSD_RATE_MAX : (unsigned)number;
    return CREST_OK;
}

static crest_status statsd_read_words(const crest_options *options, crest_statsd_options *to,
                                      crest_error *error)
{
    static const char *const dialects[] = {"etsy", "datadog", NULL};
    static const char *const packets[] = {"internet", "ethernet", "jumbo", "uds", NULL};
    static const char *const rates[] = {"off", NULL};
    static const char *const types[] = {"d", "h", NULL};
    static const char *const none[] = {NULL};
    static const unsigned zero_one[] = {0, 1};
    static const unsigned sizes[] = {CREST_STATSD_PACKET_INTERNET, CREST_STATSD_PACKET_ETHERNET,
                                     CREST_STATSD_PACKET_JUMBO, CREST_STATSD_PACKET_UDS};
    static const unsigned off[] = {CREST_STATSD_RATE_MAX + 1};
    unsigned dialect = 0, type = 0;
    crest_status status = statsd_read_word(options, "statsd.dialect", dialects, zero_one,
                                           "etsy or datadog", &dialect, error);
    if (status == CREST_OK)
        status = statsd_read_word(options, "statsd.packet", packets, sizes,
                                  "internet, ethernet, jumbo, uds or a number of bytes",
                                  &to->packet_bytes, error);
    if (status == CREST_OK)
        status =
            statsd_read_word(options, "statsd.rate", rates, off,
                             "a number of packets a second, at least 1, or off", &to->rate, error);
    if (status == CREST_OK)
        status = statsd_read_word(options, "statsd.samples", none, off,
                                  "a number of values, at least 1", &to->samples, error);
    if (status == CREST_OK)
        status = statsd_read_word(options, "statsd.type", types, zero_one,
                                  "d (distributions) or h (histograms)", &type, error);
    to->dialect = dialect ? CREST_STATSD_DATADOG : CREST_STATSD_ETSY;
    to->host_histograms = (int)type;
    return status;
}

static crest_reporter *statsd_create(const char *value, const crest_options *options,
                                     const crest_resource *resource, crest_error *error)
{
    (void)resource; /* comes with each report */
    crest_statsd_options made = {.url = strcmp(value, "on") == 0 ? NULL : value,
                                 .prefix = crest_option(options, "statsd.prefix")};
    int rates = 1, packing = 1, whole = -1;
    if (statsd_read_words(options, &made, error) != CREST_OK ||
        crest_option_switch(options, "statsd.rates", &rates, error) != CREST_OK ||
        crest_option_switch(options, "statsd.windows", &made.windows, error) != CREST_OK ||
        crest_option_switch(options, "statsd.packing", &packing, error) != CREST_OK ||
        crest_option_switch(options, "statsd.whole-seconds", &whole, error) != CREST_OK)
        return NULL;
    made.no_rates = !rates;
    made.unpacked = !packing;
    made.whole_seconds = whole < 0 ? 0 : whole ? 1 : -1; /* not said: as the dialect has it */
    return crest_statsd_new(&made, error);
}

static const char *const statsd_keys[] = {
    "statsd.dialect",
    "statsd.prefix",
    "statsd.packet",
    "statsd.rate",
    "statsd.samples",
    "statsd.rates",
    "statsd.windows",
    "statsd.type",
    "statsd.packing",
    "statsd.whole-seconds",
    NULL,
};

const crest_reporter_kind crest_statsd_kind = {
    .name = "statsd",
    .keys = statsd_keys,
    .create = statsd_create,
};
