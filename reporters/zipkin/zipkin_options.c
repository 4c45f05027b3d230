/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind "zipkin" of crest_start. What its options mean is in <crest/zipkin.h>.
 */
#include <crest/zipkin.h>

#include "common/span_queue.h"
#include "kinds.h"

#include <stddef.h>
#include <string.h>

#define ZIPKIN_OPTIONS_NAME "zipkin"

/* Options that are texts, taken as they are. */
static const struct {
    const char *key;
    size_t offset;
} zipkin_options_texts[] = {
#define ZIPKIN_OPTIONS_TEXT(key, member)                                                           \
    {                                                                                              \
        ZIPKIN_OPTIONS_NAME "." key, offsetof(crest_zipkin_options, member)                        \
    }
    ZIPKIN_OPTIONS_TEXT("user", user),
    ZIPKIN_OPTIONS_TEXT("password-file", password_file),
    ZIPKIN_OPTIONS_TEXT("password-env", password_env),
    ZIPKIN_OPTIONS_TEXT("bearer-file", bearer_file),
    ZIPKIN_OPTIONS_TEXT("bearer-env", bearer_env),
    ZIPKIN_OPTIONS_TEXT("ca-file", ca_file),
    ZIPKIN_OPTIONS_TEXT("cert-file", cert_file),
    ZIPKIN_OPTIONS_TEXT("key-file", key_file),
    ZIPKIN_OPTIONS_TEXT("key-password-file", key_password_file),
    ZIPKIN_OPTIONS_TEXT("proxy", proxy),
#undef ZIPKIN_OPTIONS_TEXT
};

static crest_reporter *zipkin_options_create(const char *value, const crest_options *options,
                                             const crest_resource *resource, crest_error *error)
{
    crest_zipkin_options made = {.url = value};
    int gzip = 1;
    (void)resource; /* comes with each batch */
    for (size_t i = 0; i < sizeof zipkin_options_texts / sizeof zipkin_options_texts[0]; i++) {
        const char *text = crest_option(options, zipkin_options_texts[i].key);
        memcpy((char *)&made + zipkin_options_texts[i].offset, &text, sizeof text);
    }
    if (crest_option_switch(options, "zipkin.gzip", &gzip, error) != CREST_OK)
        return NULL;
    made.no_gzip = !gzip;
    return crest_zipkin_new(&made, error);
}

static void zipkin_options_schedule(const crest_options *options, crest_schedule *schedule)
{
    (void)options;
    schedule->interval_ms = CREST_SPAN_INTERVAL_MS;
}

static const char *const zipkin_options_keys[] = {
    "zipkin.gzip",          "zipkin.user",
    "zipkin.password-file", "zipkin.password-env",
    "zipkin.bearer-file",   "zipkin.bearer-env",
    "zipkin.ca-file",       "zipkin.cert-file",
    "zipkin.key-file",      "zipkin.key-password-file",
    "zipkin.proxy",         NULL,
};

const crest_reporter_kind crest_zipkin_kind = {
    .name = ZIPKIN_OPTIONS_NAME,
    .keys = zipkin_options_keys,
    .create = zipkin_options_create,
    .schedule = zipkin_options_schedule,
};
