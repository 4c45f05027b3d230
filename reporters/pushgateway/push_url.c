/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a Pushgateway's URL and makes the addresses of groups. See push_url.h.
 */
#include "pushgateway/push_url.h"
#include "common/shown_text.h"
#include "http/http_url.h"

#include <string.h>

static const char push_url_base64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The gateway's own address, to which each push appends its group's path. */
static const char *push_url_names_group(const char *url)
{
    return strstr(url, "/metrics/job/") == NULL
               ? NULL
               : "it names a group; end it before /metrics, and name the group with "
                 "pushgateway.job, pushgateway.instance and pushgateway.label.KEY";
}

crest_status crest_push_url_check(const char *url, crest_error *error)
{
    static const crest_http_url_kind gateway = {"Pushgateway", "http://127.0.0.1:9091",
                                                push_url_names_group};
    return crest_http_url_check(url, &gateway, error);
}

crest_status crest_push_url_key_check(const char *key, crest_error *error)
{
    static const char *const taken[] = {"job", "instance", "le", "quantile"};
    int valid = key != NULL && key[0] != '\0' && key[0] != '_' && !(key[0] >= '0' && key[0] <= '9');
    for (const char *c = key; valid && *c != '\0'; c++)
        valid = crest_http_url_alnum(*c) || *c == '_';
    if (valid && strlen(key) > CREST_LABEL_KEY_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_LABEL,
                               "A grouping label's key has %zu bytes; there may be at most %u",
                               strlen(key), CREST_LABEL_KEY_BYTES_MAX);
    if (!valid) {
        char shown[128];
        crest_push_text_show(key ? key : "", key ? strlen(key) : 0, shown, sizeof shown);
        return crest_error_set(error, CREST_INVALID_LABEL,
                               "\"%s\" cannot be the key of a grouping label: keys are letters, "
                               "digits and _, and begin with a letter",
                               shown);
    }
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(key, taken[i]) == 0)
            return crest_error_set(error, CREST_INVALID_LABEL,
                                   i < 2 ? "The grouping label \"%s\" has an option of its own; "
                                           "give its value there"
                                         : "\"%s\" cannot be the key of a grouping label: "
                                           "histograms and summaries use it themselves",
                                   key);
    return CREST_OK;
}

/* A text being built in a buffer of the caller's; `full` once something did not fit. */
typedef struct push_url_text {
    char *text;
    size_t used, size;
    int full;
} push_url_text;

static void push_url_put(push_url_text *out, const char *bytes, size_t length)
{
    if (out->full || length >= out->size - out->used) {
        out->full = 1;
        return;
    }
    memcpy(out->text + out->used, bytes, length);
    out->used += length;
    out->text[out->used] = '\0';
}

static int push_url_value_is_plain(const char *value)
{
    if (value[0] == '\0')
        return 0;
    for (; *value != '\0'; value++)
        if (!crest_http_url_alnum(*value) && *value != '-' && *value != '_')
            return 0;
    return 1;
}

/* The URL-safe alphabet without padding, which the gateway does not need. */
static void push_url_put_base64(push_url_text *out, const char *value)
{
    const unsigned char *s = (const unsigned char *)value;
    size_t left = strlen(value);
    for (; left > 0; s += 3) {
        unsigned take = left < 3 ? (unsigned)left : 3;
        unsigned bits = (unsigned)s[0] << 16;
        if (take > 1)
            bits |= (unsigned)s[1] << 8;
        if (take > 2)
            bits |= s[2];
        char letters[4];
        for (unsigned i = 0; i < 4; i++)
            letters[i] = push_url_base64[(bits >> (18 - 6 * i)) & 63];
        push_url_put(out, letters, take + 1);
        left -= take;
    }
}

/* "/key/value" or "/key@base64/dmFsdWU"; an empty value is "=", since a slash at the end may go. */
static void push_url_put_segment(push_url_text *out, const char *key, const char *value)
{
    push_url_put(out, "/", 1);
    push_url_put(out, key, strlen(key));
    if (push_url_value_is_plain(value)) {
        push_url_put(out, "/", 1);
        push_url_put(out, value, strlen(value));
        return;
    }
    push_url_put(out, "@base64/", 8);
    if (value[0] == '\0')
        push_url_put(out, "=", 1);
    else
        push_url_put_base64(out, value);
}

static crest_status push_url_value_check(const char *key, const char *value, int may_be_empty,
                                         crest_error *error)
{
    if (value == NULL || (value[0] == '\0' && !may_be_empty))
        return crest_error_set(
            error, CREST_INVALID_LABEL,
            "The group's \"%s\" is empty, and the Pushgateway tells groups apart "
            "by it; set it, or leave the option out for its default",
            key);
    if (strlen(value) > CREST_LABEL_VALUE_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_LABEL,
                               "The value of the grouping label \"%s\" has %zu bytes; there may be "
                               "at most %u",
                               key, strlen(value), CREST_LABEL_VALUE_BYTES_MAX);
    if (!crest_push_text_valid(value))
        return crest_error_set(error, CREST_INVALID_LABEL,
                               "The value of the grouping label \"%s\" is not UTF-8, and the "
                               "Pushgateway would refuse every push to such a group",
                               key);
    return CREST_OK;
}

static crest_status push_url_labels_check(const crest_page_label *labels, unsigned count,
                                          crest_error *error)
{
    if (count > CREST_PUSHGATEWAY_LABELS_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "There are %u grouping labels; there may be at most %u", count,
                               CREST_PUSHGATEWAY_LABELS_MAX);
    if (count > 0 && labels == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "There are to be %u grouping labels, but none were given", count);
    for (unsigned i = 0; i < count; i++) {
        crest_status status = crest_push_url_key_check(labels[i].key, error);
        if (status == CREST_OK)
            status = push_url_value_check(labels[i].key, labels[i].value, 1, error);
        if (status != CREST_OK)
            return status;
        for (unsigned j = 0; j < i; j++)
            if (strcmp(labels[i].key, labels[j].key) == 0)
                return crest_error_set(error, CREST_INVALID_LABEL,
                                       "The grouping label \"%s\" is given twice, and the "
                                       "Pushgateway would silently keep one of the two",
                                       labels[i].key);
    }
    return CREST_OK;
}

crest_status crest_push_url_group(const char *url, const char *job, const char *instance,
                                  const crest_page_label *labels, unsigned count, char *text,
                                  size_t size, crest_error *error)
{
    crest_status status = push_url_value_check("job", job, 0, error);
    if (status == CREST_OK)
        status = push_url_value_check("instance", instance, 0, error);
    if (status == CREST_OK)
        status = push_url_labels_check(labels, count, error);
    if (status != CREST_OK)
        return status;
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/')
        length--;
    push_url_text out = {text, 0, size, size == 0};
    push_url_put(&out, url, length);
    push_url_put(&out, "/metrics", 8);
    push_url_put_segment(&out, "job", job);
    push_url_put_segment(&out, "instance", instance);
    for (unsigned i = 0; i < count; i++)
        push_url_put_segment(&out, labels[i].key, labels[i].value);
    if (out.full)
        return crest_error_set(error, CREST_LIMIT,
                               "The address of the group does not fit into %zu bytes; shorten the "
                               "grouping labels",
                               size - 1);
    return CREST_OK;
}
