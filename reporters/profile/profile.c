/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler as a reporter: its options, and the endpoint that serves profiles from start to
 * stop. See <crest/profile.h> and docs/profiling.md.
 *
 *     profile=on                       samples, and serves on CREST_PROFILE_LISTEN_DEFAULT
 *     profile.listen=ADDRESS, off      where else, or nowhere; as prometheus=ADDRESS
 *     profile.hz=99, profile.signal=N  of crest_profiler_options
 *     profile.counters=N               counters of the N hottest functions
 *     profile.otlp=on                  sends them by OTLP, each profile.otlp-interval=10s
 *     profile.hosts=NAMES              further names that requests may be for
 */
#include <crest/clock.h>
#include <crest/profile.h>
#include <crest/prometheus.h>

#include "kinds.h"
#include "otlp/otlp_profiles.h"
#include "profile/profile_pages.h"
#include "scrape/scrape_endpoint.h"

#include <stdlib.h>
#include <string.h>

#define PROFILE_OTLP_INTERVAL_MS 10000u

typedef struct profile {
    crest_reporter reporter; /* first: the caller holds a pointer to it */
    crest_scrape_endpoint endpoint;
    crest_profiler_options options;
    int ready;            /* the endpoint is initialised */
    int listens, started; /* whether the profiler is ours to stop */
} profile;

/* ---- serving ---- */

static crest_status profile_listen(profile *self, crest_registry *registry, crest_error *error)
{
    char shown[CREST_SCRAPE_SHOWN_BYTES];
    int loopback;
    crest_status status = crest_scrape_endpoint_start(
        &self->endpoint, registry,
        "Profiles are served by a thread, which threads=off forbids: set profile.listen=off", shown,
        &loopback, error);
    if (status == CREST_OK)
        crest_log_write(loopback ? CREST_LOG_INFO : CREST_LOG_WARNING,
                        "crest: profiles are at http://%s/debug/pprof/%s", shown,
                        loopback ? ""
                                 : ", which is no loopback address: any client that reaches it "
                                   "sees the program's functions, and can have it profiled");
    return status;
}

static crest_status profile_start(crest_reporter *reporter, crest_registry *registry,
                                  crest_error *error)
{
    profile *self = reporter->state;
    crest_status status = crest_profiler_start(&self->options, error);
    self->started = status == CREST_OK;
    if (status != CREST_OK && status != CREST_ALREADY)
        return status;
    status = self->listens ? profile_listen(self, registry, error) : CREST_OK;
    if (status != CREST_OK && self->started) {
        (void)crest_profiler_stop(NULL);
        self->started = 0;
    }
    return status;
}

static crest_status profile_end(profile *self, uint64_t left_ns, crest_error *error)
{
    if (self->started) /* first: profiles that are being taken end with it */
        (void)crest_profiler_stop(NULL);
    self->started = 0;
    return crest_scrape_endpoint_stop(&self->endpoint, left_ns, error);
}

static crest_status profile_stop(crest_reporter *reporter, uint64_t deadline_ns, crest_error *error)
{
    uint64_t now_ns = crest_now();
    return profile_end(reporter->state, deadline_ns > now_ns ? deadline_ns - now_ns : 0, error);
}

static void profile_free(crest_reporter *reporter)
{
    profile *self = reporter->state;
    while (self->ready &&
           profile_end(self, CREST_PROFILE_SECONDS_MAX * UINT64_C(1000000000), NULL) != CREST_OK)
        continue;
    if (self->ready)
        crest_scrape_endpoint_fini(&self->endpoint);
    free(self);
}

/* ---- from options ---- */

static crest_status profile_read_number(const crest_options *options, const char *key,
                                        unsigned highest, unsigned *value, crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    size_t digits = strspn(text, "0123456789");
    unsigned long number = digits > 0 && digits < 6 ? strtoul(text, NULL, 10) : 0;
    if (number == 0 || number > highest || text[digits] != '\0')
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s=%.60s is not a number from 1 to %u", key, text, highest);
    *value = (unsigned)number;
    return CREST_OK;
}

static crest_status profile_read(profile *self, const char *value, const crest_options *options,
                                 crest_error *error)
{
    const char *listen = crest_option(options, "profile.listen");
    unsigned signal = 0;
    if (strcmp(value, "on") != 0)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "profile=%.60s is not on or off; profile.listen says where "
                               "profiles are served",
                               value);
    crest_status status =
        profile_read_number(options, "profile.hz", CREST_PROFILE_HZ_MAX, &self->options.hz, error);
    if (status == CREST_OK)
        status = profile_read_number(options, "profile.signal", 64, &signal, error);
    if (status == CREST_OK)
        status = profile_read_number(options, "profile.counters", CREST_PROFILE_COUNTERS_MAX,
                                     &self->options.counters, error);
    self->options.signal = (int)signal;
    self->listens = listen == NULL || strcmp(listen, "off") != 0;
    if (listen == NULL || !self->listens)
        listen = CREST_PROFILE_LISTEN_DEFAULT;
    if (status == CREST_OK)
        status = crest_scrape_endpoint_init(&self->endpoint, &crest_profile_pages, listen,
                                            crest_option(options, "profile.hosts"), error);
    self->ready = status == CREST_OK;
    return status;
}

static crest_reporter *profile_create(const char *value, const crest_options *options,
                                      const crest_resource *resource, crest_error *error)
{
    profile *self = calloc(1, sizeof *self);
    (void)resource;
    if (self == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for the profiler's endpoint");
        return NULL;
    }
    self->reporter = (crest_reporter){
        .name = "profile",
        .start = profile_start,
        .stop = profile_stop,
        .free = profile_free,
        .state = self,
    };
    if (profile_read(self, value, options, error) == CREST_OK)
        return &self->reporter;
    profile_free(&self->reporter);
    return NULL;
}

/* The sender of profiles beside the endpoint, with profile.otlp=on. */
static crest_reporter *profile_also(const char *value, const crest_options *options,
                                    crest_schedule *schedule, crest_error *error)
{
    int otlp = 0;
    uint64_t interval_ms = PROFILE_OTLP_INTERVAL_MS;
    (void)value;
    if (crest_option_switch(options, "profile.otlp", &otlp, error) != CREST_OK ||
        crest_option_duration_ms(options, "profile.otlp-interval", &interval_ms, error) !=
            CREST_OK ||
        !otlp)
        return NULL;
    if (interval_ms < CREST_INTERVAL_MS_MIN || interval_ms > CREST_INTERVAL_MS_MAX) {
        crest_error_set(error, CREST_INVALID_OPTIONS,
                        "profile.otlp-interval=%.60s is not between 100ms and 86400s",
                        crest_option(options, "profile.otlp-interval"));
        return NULL;
    }
    schedule->interval_ms = interval_ms;
    return crest_otlp_profiles_new(options, error);
}

static const char *const profile_keys[] = {
    "profile.listen",   "profile.hz",   "profile.signal",        "profile.hosts",
    "profile.counters", "profile.otlp", "profile.otlp-interval", NULL,
};

const crest_reporter_kind crest_profile_reporter_kind = {
    .name = "profile",
    .keys = profile_keys,
    .create = profile_create,
    .also = profile_also,
};
