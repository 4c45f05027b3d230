/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind "pushgateway" of crest_start: from options as text to a reporter. What they mean is in
 * <crest/pushgateway.h>.
 */
#include <crest/pushgateway.h>

#include "kinds.h"
#include "pushgateway/push_url.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define PUSH_OPTIONS_NAME "pushgateway"
#define PUSH_OPTIONS_METHOD "pushgateway.method"
#define PUSH_OPTIONS_LABEL_PREFIX "pushgateway.label."

/* Options that are texts, taken as they are. */
static const struct {
    const char *key;
    size_t offset;
} push_options_texts[] = {
#define PUSH_OPTIONS_TEXT(key, member)                                                             \
    {                                                                                              \
        PUSH_OPTIONS_NAME "." key, offsetof(crest_pushgateway_options, member)                     \
    }
    PUSH_OPTIONS_TEXT("job", job),
    PUSH_OPTIONS_TEXT("instance", instance),
    PUSH_OPTIONS_TEXT("user", user),
    PUSH_OPTIONS_TEXT("password-file", password_file),
    PUSH_OPTIONS_TEXT("password-env", password_env),
    PUSH_OPTIONS_TEXT("bearer-file", bearer_file),
    PUSH_OPTIONS_TEXT("bearer-env", bearer_env),
    PUSH_OPTIONS_TEXT("ca-file", ca_file),
    PUSH_OPTIONS_TEXT("cert-file", cert_file),
    PUSH_OPTIONS_TEXT("key-file", key_file),
    PUSH_OPTIONS_TEXT("key-password-file", key_password_file),
    PUSH_OPTIONS_TEXT("proxy", proxy),
#undef PUSH_OPTIONS_TEXT
};

static void push_options_read_texts(const crest_options *options, crest_pushgateway_options *made)
{
    for (size_t i = 0; i < sizeof push_options_texts / sizeof push_options_texts[0]; i++) {
        const char *value = crest_option(options, push_options_texts[i].key);
        memcpy((char *)made + push_options_texts[i].offset, &value, sizeof value);
    }
}

/* The resource does not change while crest_start's reporters run: with it the group is known before
 * the first push. */
static void push_options_name_group(const crest_resource *resource, crest_pushgateway_options *made)
{
    if (made->job == NULL)
        made->job = resource->service[0] != '\0' ? resource->service : CREST_PUSH_URL_JOB_DEFAULT;
    if (made->instance == NULL)
        made->instance = resource->instance;
}

static crest_status push_options_read_labels(const crest_options *options, crest_page_label *labels,
                                             unsigned *count, crest_error *error)
{
    size_t cursor = 0;
    const char *key, *value;
    *count = 0;
    while (crest_option_next(options, PUSH_OPTIONS_LABEL_PREFIX, &cursor, &key, &value)) {
        if (*count == CREST_PUSHGATEWAY_LABELS_MAX)
            return crest_error_set(
                error, CREST_LIMIT,
                "There are more than %u options %sKEY; there may be at most that many",
                CREST_PUSHGATEWAY_LABELS_MAX, PUSH_OPTIONS_LABEL_PREFIX);
        labels[*count].key = key + strlen(PUSH_OPTIONS_LABEL_PREFIX);
        labels[(*count)++].value = value;
    }
    return CREST_OK;
}

static crest_status push_options_read_method(const crest_options *options, int *post,
                                             crest_error *error)
{
    const char *method = crest_option(options, PUSH_OPTIONS_METHOD);
    *post = method != NULL && strcasecmp(method, "post") == 0;
    if (method == NULL || *post || strcasecmp(method, "put") == 0)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "%s=%.64s is not a method of pushing: write put, which replaces the "
                           "whole group, or post, which replaces what is pushed",
                           PUSH_OPTIONS_METHOD, method);
}

static crest_reporter *push_options_create(const char *value, const crest_options *options,
                                           const crest_resource *resource, crest_error *error)
{
    crest_page_label labels[CREST_PUSHGATEWAY_LABELS_MAX];
    crest_pushgateway_options made = {.url = value, .labels = labels};
    int gzip = 1, windows = 1;
    push_options_read_texts(options, &made);
    push_options_name_group(resource, &made);
    if (push_options_read_method(options, &made.post, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.gzip", &gzip, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.windows", &windows, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.protobuf", &made.protobuf, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.delete-on-stop", &made.delete_on_stop, error) !=
            CREST_OK ||
        push_options_read_labels(options, labels, &made.label_count, error) != CREST_OK)
        return NULL;
    made.no_gzip = !gzip;
    made.no_windows = !windows;
    return crest_pushgateway_new(&made, error);
}

/* interval, timeout and jitter are the schedule's: crest_start reads those of every kind itself. */
static const char *const push_options_keys[] = {
    "pushgateway.job",         "pushgateway.instance",       "pushgateway.interval",
    "pushgateway.timeout",     PUSH_OPTIONS_METHOD,          "pushgateway.gzip",
    "pushgateway.windows",     "pushgateway.delete-on-stop", "pushgateway.protobuf",
    "pushgateway.user",        "pushgateway.password-file",  "pushgateway.password-env",
    "pushgateway.bearer-file", "pushgateway.bearer-env",     "pushgateway.ca-file",
    "pushgateway.cert-file",   "pushgateway.key-file",       "pushgateway.key-password-file",
    "pushgateway.proxy",       PUSH_OPTIONS_LABEL_PREFIX,    NULL,
};

const crest_reporter_kind crest_pushgateway_kind = {
    .name = PUSH_OPTIONS_NAME,
    .keys = push_options_keys,
    .create = push_options_create,
};
