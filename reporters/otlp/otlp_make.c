/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an OTLP reporter from a program's options. See <crest/otlp_http.h>. */
#define _GNU_SOURCE
#include "common/shown_text.h"
#include "http/http_url.h"
#include "otlp/otlp_reporter.h"

#include <crest/profile.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(CREST_OTLP_HTTP_URL_BYTES_MAX == CREST_HTTP_URL_BYTES_MAX,
               "what the header says of URLs");

static void otlp_make_cancel(crest_reporter *self)
{
    otlp_reporter *otlp = self->state;
    crest_http_cancel(otlp->http);
}

static void otlp_make_free(crest_reporter *self)
{
    otlp_reporter *otlp = self->state;
    crest_span_queue_fini(&otlp->queue);
    crest_profile_stream_close(otlp->stream);
    for (unsigned i = 0; otlp->more != NULL && i < otlp->more_count; i++) {
        free((char *)(uintptr_t)otlp->more[i].key);
        free((char *)(uintptr_t)otlp->more[i].value);
    }
    free(otlp->more);
    crest_http_secret_free(otlp->url);
    free(otlp->shown);
    crest_http_secret_free(otlp->proxy);
    free(otlp->proxy_shown);
    free(otlp->ca_file);
    crest_http_free(otlp->http);
    crest_http_login_fini(&otlp->login);
    crest_otlp_headers_fini(&otlp->headers);
    crest_http_body_fini(&otlp->packed);
    crest_otlp_delivered_fini(&otlp->account);
    free(otlp->pending.bytes);
    pthread_mutex_destroy(&otlp->one_at_a_time);
    free(otlp);
}

/* ---- what the options may say ---- */

/* The URL's length without slashes at its end, and without this path if that is what it ends with.
 */
static size_t otlp_make_url_length(const char *url, const char *without)
{
    size_t length = strlen(url), path = strlen(without);
    while (length > 0 && url[length - 1] == '/')
        length--;
    return length > path && memcmp(url + length - path, without, path) == 0 ? length - path
                                                                            : length;
}

static crest_status otlp_make_check_form(const crest_otlp_http_options *options, crest_error *error)
{
    if (options->encoding != CREST_OTLP_PROTOBUF && options->encoding != CREST_OTLP_JSON)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no OTLP encoding %d",
                               (int)options->encoding);
    if (options->temporality != CREST_OTLP_CUMULATIVE && options->temporality != CREST_OTLP_DELTA)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no OTLP temporality %d",
                               (int)options->temporality);
    if (options->histograms != CREST_OTLP_EXPONENTIAL && options->histograms != CREST_OTLP_EXPLICIT)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "There are no OTLP histograms of the kind %d",
                               (int)options->histograms);
    if (options->windows < CREST_PAGE_WINDOWS_NONE || options->windows > CREST_PAGE_WINDOWS_ALL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The windows of an OTLP reporter are %d, which is no "
                               "CREST_PAGE_WINDOWS_",
                               options->windows);
    if (options->body_bytes != 0 && (options->body_bytes < CREST_OTLP_BODY_BYTES_MIN ||
                                     options->body_bytes > CREST_OTLP_BODY_BYTES_MAX))
        return crest_error_set(
            error, CREST_INVALID_ARGUMENT, "OTLP bodies of %zu bytes cannot be; from %u to %u can",
            options->body_bytes, CREST_OTLP_BODY_BYTES_MIN, CREST_OTLP_BODY_BYTES_MAX);
    return CREST_OK;
}

static crest_status otlp_make_check_attributes(const crest_otlp_http_options *options,
                                               crest_error *error)
{
    if (options->attribute_count > CREST_OTLP_ATTRIBUTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "There are %u attributes of the resource; there may be %u",
                               options->attribute_count, CREST_OTLP_ATTRIBUTES_MAX);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (options->attributes[i].key == NULL || options->attributes[i].key[0] == '\0' ||
            options->attributes[i].value == NULL ||
            !crest_push_text_valid(options->attributes[i].key) ||
            !crest_push_text_valid(options->attributes[i].value))
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "Attribute %u of the resource has no key, or is not UTF-8",
                                   i + 1);
    for (unsigned i = 0; i < options->header_count; i++)
        if (options->headers[i].key == NULL || options->headers[i].value == NULL)
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "OTLP header %u has no name or no value", i + 1);
    return CREST_OK;
}

static crest_status otlp_make_check(const crest_otlp_http_options *options, crest_error *error)
{
    static const crest_http_url_kind receiver = {"OTLP receiver", "http://127.0.0.1:4318", NULL};
    crest_status status = crest_http_url_check(options->url, &receiver, error);
    if (status == CREST_OK &&
        strlen(options->url) + sizeof CREST_OTLP_PROFILES_PATH >= CREST_HTTP_URL_BYTES_MAX)
        status = crest_error_set(error, CREST_LIMIT,
                                 "The OTLP receiver's URL has no room for " CREST_OTLP_PATH
                                 " in %u bytes",
                                 CREST_HTTP_URL_BYTES_MAX - 1);
    if (status == CREST_OK && options->proxy != NULL)
        status = crest_http_url_proxy_check(options->proxy, CREST_OTLP_KIND, error);
    if (status == CREST_OK && options->ca_file != NULL && access(options->ca_file, R_OK) != 0)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT,
                                 "The file of certificate authorities %s cannot be read: %s",
                                 options->ca_file, strerror(errno));
    if (status == CREST_OK)
        status = otlp_make_check_form(options, error);
    return status == CREST_OK ? otlp_make_check_attributes(options, error) : status;
}

/* ---- copies ---- */

static int otlp_make_copy_text(char **copy, const char *text)
{
    return text == NULL || (*copy = strdup(text)) != NULL ? 0 : -1;
}

/* A URL, and as it is shown. `path`: what it is to end with; NULL: it is taken as it is. */
static int otlp_make_copy_url(char **copy, char **shown, const char *url, const char *path)
{
    if (url == NULL)
        return 0;
    size_t length = strlen(url);
    if (path != NULL && otlp_make_url_length(url, path) != otlp_make_url_length(url, ""))
        path = NULL; /* it does */
    if (path != NULL)
        length = otlp_make_url_length(url, CREST_OTLP_PATH); /* spans where metrics go */
    size_t size = length + sizeof CREST_OTLP_PROFILES_PATH + sizeof CREST_HTTP_URL_HIDDEN + 1;
    *copy = calloc(1, size);
    *shown = calloc(1, size);
    if (*copy == NULL || *shown == NULL)
        return -1;
    memcpy(*copy, url, length);
    if (path != NULL)
        strcpy(*copy + length, path);
    crest_http_url_show(*copy, *shown, size);
    return 0;
}

/* 0, or -1 without memory; the texts copied by then belong to the reporter. */
static int otlp_make_copy(otlp_reporter *otlp, const crest_otlp_http_options *options)
{
    const char *path = options->profiles ? CREST_OTLP_PROFILES_PATH
                       : options->traces ? CREST_OTLP_TRACES_PATH
                                         : CREST_OTLP_PATH;
    if (otlp_make_copy_url(&otlp->url, &otlp->shown, options->url,
                           options->whole_url ? NULL : path) != 0 ||
        otlp_make_copy_url(&otlp->proxy, &otlp->proxy_shown, options->proxy, NULL) != 0 ||
        otlp_make_copy_text(&otlp->ca_file, options->ca_file) != 0)
        return -1;
    otlp->more = calloc(options->attribute_count + 1, sizeof *otlp->more);
    if (otlp->more == NULL)
        return -1;
    otlp->more_count = options->attribute_count;
    for (unsigned i = 0; i < options->attribute_count; i++) {
        otlp->more[i].key = strdup(options->attributes[i].key);
        otlp->more[i].value = strdup(options->attributes[i].value);
        if (otlp->more[i].key == NULL || otlp->more[i].value == NULL)
            return -1;
    }
    return 0;
}

static void otlp_make_settings(otlp_reporter *otlp, const crest_otlp_http_options *options)
{
    otlp->reporter = (crest_reporter){
        .name = CREST_OTLP_KIND,
        .report = crest_otlp_http_report,
        .free = otlp_make_free,
        .state = otlp,
        .cancel = otlp_make_cancel,
        .waits = 1,
    };
    otlp->process = getpid();
    otlp->form.encoding = options->encoding;
    otlp->form.temporality = options->temporality;
    otlp->form.histograms = options->histograms;
    otlp->form.body_bytes =
        options->body_bytes != 0 ? options->body_bytes : CREST_OTLP_BODY_BYTES_DEFAULT;
    otlp->windows = options->windows;
    otlp->gzip = options->gzip != 0;
    otlp->no_stale = options->no_stale != 0;
    otlp->disabled = options->disabled != 0;
    otlp->packed.limit = CREST_HTTP_BODY_BYTES_MAX;
}

crest_reporter *crest_otlp_http_new(const crest_otlp_http_options *options, crest_error *error)
{
    if (options == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "crest_otlp_http_new: options is NULL; at least the URL is needed");
        return NULL;
    }
    if (otlp_make_check(options, error) != CREST_OK)
        return NULL;
    otlp_reporter *otlp = calloc(1, sizeof *otlp);
    if (otlp == NULL || pthread_mutex_init(&otlp->one_at_a_time, NULL) != 0) {
        free(otlp);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an OTLP reporter");
        return NULL;
    }
    otlp_make_settings(otlp, options);
    const crest_http_login_options login = CREST_HTTP_LOGIN_OF(CREST_OTLP_KIND, options);
    if (otlp_make_copy(otlp, options) != 0)
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an OTLP reporter");
    else if (crest_http_login_init(&otlp->login, &login, error) == CREST_OK &&
             crest_otlp_headers_init(&otlp->headers, options->headers_file, options->headers,
                                     options->header_count, error) == CREST_OK &&
             (otlp->http = crest_http_new(error)) != NULL &&
             (!options->traces || crest_otlp_traces_init(otlp, error) == CREST_OK) &&
             (!options->profiles || crest_otlp_profiles_init(otlp, error) == CREST_OK))
        return &otlp->reporter;
    otlp_make_free(&otlp->reporter);
    return NULL;
}
