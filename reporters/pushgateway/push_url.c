/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a Pushgateway's URL and makes the addresses of groups. See push_url.h.
 */
#include "pushgateway/push_url.h"
#include "common/shown_text.h"

#include <string.h>
#include <strings.h>

#define PUSH_URL_PORT_DIGITS_MAX 5u
#define PUSH_URL_PORT_MAX 65535u

static const char push_url_base64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Locale-independent, unlike isalnum. */
static int push_url_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static size_t push_url_scheme_length(const char *url)
{
    if (strncasecmp(url, "http://", 7) == 0)
        return 7;
    return strncasecmp(url, "https://", 8) == 0 ? 8 : 0;
}

/* Where the part that may be shown begins, after the scheme: behind the last @ there is, because a
 * password with an unescaped slash in it must not be shown either. */
static const char *push_url_after_secret(const char *url, size_t scheme)
{
    const char *at = strrchr(url + scheme, '@');
    return at == NULL ? url + scheme : at + 1;
}

void crest_push_url_show(const char *url, char *shown, size_t size)
{
    size_t scheme = push_url_scheme_length(url);
    const char *rest = push_url_after_secret(url, scheme);
    const char *hidden = rest == url + scheme ? "" : CREST_PUSH_URL_HIDDEN "@";
    size_t used = 0, length = strlen(rest);
    while (length > 0 && rest[length - 1] == '/')
        length--;
    const char *parts[] = {url, hidden, rest};
    const size_t lengths[] = {scheme, strlen(hidden), length};
    for (unsigned i = 0; i < 3; i++) {
        size_t room = size - 1 - used, bytes = lengths[i] < room ? lengths[i] : room;
        memcpy(shown + used, parts[i], bytes);
        used += bytes;
    }
    shown[used] = '\0';
}

/* RFC 3986 without ? and #: a query or a fragment would swallow the path we append. */
static int push_url_character(char c)
{
    return push_url_alnum(c) || (c != '\0' && strchr("-._~:/[]@!$&()*+,;=%", c) != NULL);
}

/* "host", "host:port", "[v6]", "[v6]:port"; what is wrong with it, or NULL. */
static const char *push_url_host_problem(const char *host, size_t length)
{
    const char *end = host + length, *colon;
    if (length > 0 && host[0] == '[') {
        const char *close = memchr(host, ']', length);
        if (close == NULL || close == host + 1)
            return "the IPv6 address in brackets is not complete";
        colon = close + 1;
        if (colon < end && *colon != ':')
            return "only a port may follow the IPv6 address";
    } else {
        colon = memchr(host, ':', length);
        if (colon == NULL)
            colon = end;
        if (colon == host)
            return "there is no host in it";
        if (memchr(host, '[', (size_t)(colon - host)) || memchr(host, ']', (size_t)(colon - host)))
            return "the brackets belong around an IPv6 address";
    }
    if (colon == end)
        return NULL;
    unsigned port = 0;
    size_t digits = (size_t)(end - colon) - 1;
    for (size_t i = 1; i <= digits && digits <= PUSH_URL_PORT_DIGITS_MAX; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return "the port is not a number";
        port = port * 10 + (unsigned)(colon[i] - '0');
    }
    if (port == 0 || port > PUSH_URL_PORT_MAX)
        return "the port is not one from 1 to 65535";
    return NULL;
}

static const char *push_url_problem(const char *url)
{
    size_t scheme = push_url_scheme_length(url);
    if (scheme == 0)
        return "it does not begin with http:// or https://";
    for (const char *c = url; *c != '\0'; c++) {
        if (*c == '?' || *c == '#')
            return "it has a query or a fragment, and the group's path has to follow it";
        if (!push_url_character(*c))
            return "it has a character that must be written as %XX";
    }
    size_t length = strcspn(url + scheme, "/");
    const char *host = url + scheme;
    for (size_t i = 0; i < length; i++)
        if (url[scheme + i] == '@')
            host = url + scheme + i + 1;
    if (strchr(url + scheme + length, '@') != NULL)
        return "it has an @ behind a slash; write a slash in a password as %2F and an @ in a path "
               "as %40";
    return push_url_host_problem(host, length - (size_t)(host - url - (ptrdiff_t)scheme));
}

/* The gateway's own address, to which each push appends its group's path. */
static const char *push_url_gateway_problem(const char *url)
{
    const char *problem = push_url_problem(url);
    if (problem == NULL && strstr(url, "/metrics/job/") != NULL)
        problem = "it names a group; end it before /metrics, and name the group with "
                  "pushgateway.job, pushgateway.instance and pushgateway.label.KEY";
    return problem;
}

crest_status crest_push_url_check(const char *url, crest_error *error)
{
    if (url == NULL || url[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "No URL for the Pushgateway was given; it is something like "
                               "http://127.0.0.1:9091");
    if (strlen(url) >= CREST_PUSHGATEWAY_URL_BYTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "The Pushgateway's URL has %zu bytes; there may be at most %u",
                               strlen(url), CREST_PUSHGATEWAY_URL_BYTES_MAX - 1);
    const char *problem = push_url_gateway_problem(url);
    if (problem == NULL)
        return CREST_OK;
    char shown[256], printable[256];
    crest_push_url_show(url, shown, sizeof shown);
    crest_push_text_show(shown, strlen(shown), printable, sizeof printable);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "The Pushgateway's URL \"%s\" cannot be used: %s. It is something like "
                           "http://127.0.0.1:9091 or https://user:password@host/prefix",
                           printable, problem);
}

void crest_push_url_bare(const char *url, char *bare, size_t size)
{
    size_t scheme = push_url_scheme_length(url);
    const char *rest = push_url_after_secret(url, scheme);
    size_t length = strlen(rest), host = scheme + strcspn(rest, "/");
    bare[0] = '\0';
    if (scheme + length >= size)
        return;
    memcpy(bare, url, scheme);
    memcpy(bare + scheme, rest, length + 1);
    for (size_t i = 0; i < host; i++)
        if (bare[i] >= 'A' && bare[i] <= 'Z')
            bare[i] = (char)(bare[i] - 'A' + 'a');
}

static const char *push_url_proxy_problem(const char *proxy)
{
    if (strncasecmp(proxy, "http://", 7) != 0)
        return "it does not begin with http://";
    const char *problem = push_url_problem(proxy);
    if (problem != NULL)
        return problem;
    const char *host = push_url_after_secret(proxy, 7), *close = strchr(host, ']');
    if (strchr(host, '/') != NULL)
        return "it has a path";
    /* Programs differ in the default port of a proxy, so there is none here. */
    return strchr(close != NULL ? close : host, ':') == NULL ? "it has no port" : NULL;
}

crest_status crest_push_url_proxy_check(const char *proxy, crest_error *error)
{
    if (strlen(proxy) >= CREST_PUSHGATEWAY_URL_BYTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "The proxy's URL has %zu bytes; there may be at most %u",
                               strlen(proxy), CREST_PUSHGATEWAY_URL_BYTES_MAX - 1);
    const char *problem = push_url_proxy_problem(proxy);
    if (problem == NULL)
        return CREST_OK;
    char shown[256], printable[256];
    crest_push_url_show(proxy, shown, sizeof shown);
    crest_push_text_show(shown, strlen(shown), printable, sizeof printable);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "pushgateway.proxy \"%s\" cannot be used: %s. It is something like "
                           "http://user:password@proxy:3128",
                           printable, problem);
}

crest_status crest_push_url_key_check(const char *key, crest_error *error)
{
    static const char *const taken[] = {"job", "instance", "le", "quantile"};
    int valid = key != NULL && key[0] != '\0' && key[0] != '_' && !(key[0] >= '0' && key[0] <= '9');
    for (const char *c = key; valid && *c != '\0'; c++)
        valid = push_url_alnum(*c) || *c == '_';
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
        if (!push_url_alnum(*value) && *value != '-' && *value != '_')
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
