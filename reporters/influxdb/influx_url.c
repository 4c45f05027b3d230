/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of InfluxDB. See influx_url.h.
 */
#include "influxdb/influx_url.h"
#include "common/shown_text.h"
#include "http/http_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INFLUX_URL_SHOWN_BYTES 200u

int crest_influx_url_is_udp(const char *url)
{
    return strncasecmp(url, "udp://", 6) == 0;
}

const char *crest_influx_precision_word(crest_influxdb_precision precision)
{
    switch (precision) {
    case CREST_INFLUXDB_PRECISION_NS: return "ns";
    case CREST_INFLUXDB_PRECISION_US: return "u";
    case CREST_INFLUXDB_PRECISION_S: return "s";
    default: return "ms";
    }
}

/* %XX of all but letters, digits, - and _; cut to `size`. */
static void influx_url_put_escaped(char *text, size_t size, const char *name)
{
    size_t used = strlen(text);
    for (; *name != '\0' && used + 4 <= size; name++) {
        if (crest_http_url_alnum(*name) || *name == '-' || *name == '_')
            text[used++] = *name;
        else
            used += (size_t)snprintf(text + used, 4, "%%%02X", (unsigned)(unsigned char)*name);
        text[used] = '\0';
    }
}

static void influx_url_put(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

static int influx_url_hex(char digit)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = digit != '\0' ? strchr(digits, digit) : NULL;
    return at != NULL ? (int)(at - digits) % 16 : -1;
}

/* A part of a path, with its %XX undone. */
static void influx_url_unescape(const char *part, size_t length,
                                char name[CREST_INFLUXDB_NAME_BYTES_MAX + 1])
{
    size_t used = 0;
    for (size_t i = 0; i < length && used < CREST_INFLUXDB_NAME_BYTES_MAX; i++) {
        int high = part[i] == '%' && length - i > 2 ? influx_url_hex(part[i + 1]) : -1;
        int low = high >= 0 ? influx_url_hex(part[i + 2]) : -1;
        name[used++] = low >= 0 ? (char)(high * 16 + low) : part[i];
        i += low >= 0 ? 2 : 0;
    }
    name[used] = '\0';
}

static crest_status influx_url_name_check(const char *what, const char *name, crest_error *error)
{
    size_t length = name != NULL ? strlen(name) : 0;
    char shown[INFLUX_URL_SHOWN_BYTES];
    if (name == NULL)
        return CREST_OK;
    crest_push_text_show(name, length, shown, sizeof shown);
    if (length == 0 || length > CREST_INFLUXDB_NAME_BYTES_MAX || !crest_push_text_valid(name))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "influxdb.%s \"%s\" cannot be used: it is 1 to %u bytes of UTF-8",
                               what, shown, CREST_INFLUXDB_NAME_BYTES_MAX);
    return CREST_OK;
}

/* Takes the database from the end of the URL, of which *length bytes are left. */
static void influx_url_take_database(const char *url, size_t *length,
                                     char database[CREST_INFLUXDB_NAME_BYTES_MAX + 1])
{
    const char *host = strstr(url, "://") + 3;
    size_t end = *length, slash = end;
    while (slash > 0 && url[slash - 1] != '/')
        slash--;
    database[0] = '\0';
    if (url + slash <= host)
        return;
    influx_url_unescape(url + slash, end - slash, database);
    *length = slash - 1;
}

crest_status crest_influx_url_make(const crest_influxdb_options *options, crest_influx_url *made,
                                   crest_error *error)
{
    static const crest_http_url_kind server = {"InfluxDB", "http://127.0.0.1:8086/mydb", NULL};
    memset(made, 0, sizeof *made);
    crest_status status = crest_http_url_check(options->url, &server, error);
    if (status == CREST_OK && strlen(options->url) >= CREST_INFLUXDB_URL_BYTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "InfluxDB's URL has %zu bytes; there may be at most %u",
                               strlen(options->url), CREST_INFLUXDB_URL_BYTES_MAX - 1);
    if (status == CREST_OK)
        status = influx_url_name_check("database", options->database, error);
    if (status == CREST_OK)
        status = influx_url_name_check("retention", options->retention, error);
    if (status != CREST_OK)
        return status;
    size_t length = strlen(options->url);
    while (length > 0 && options->url[length - 1] == '/')
        length--;
    if (options->database != NULL)
        memcpy(made->database, options->database, strlen(options->database) + 1);
    else
        influx_url_take_database(options->url, &length, made->database);
    char shown[CREST_INFLUXDB_URL_BYTES_MAX + sizeof CREST_HTTP_URL_HIDDEN + 1];
    snprintf(made->write, sizeof made->write, "%.*s", (int)length, options->url);
    crest_http_url_show(made->write, shown, sizeof shown);
    if (made->database[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "InfluxDB's URL %.*s names no database: write it behind the last "
                               "slash, as in http://127.0.0.1:8086/mydb, or as influxdb.database",
                               (int)INFLUX_URL_SHOWN_BYTES, shown);
    snprintf(made->shown, sizeof made->shown, "%s", shown);
    char query[CREST_INFLUX_WRITE_URL_BYTES - CREST_INFLUXDB_URL_BYTES_MAX] = "/write?db=";
    influx_url_put_escaped(query, sizeof query, made->database);
    influx_url_put(query, sizeof query, "&precision=");
    influx_url_put(query, sizeof query, crest_influx_precision_word(options->precision));
    if (options->retention != NULL) {
        influx_url_put(query, sizeof query, "&rp=");
        influx_url_put_escaped(query, sizeof query, options->retention);
    }
    influx_url_put(made->write, sizeof made->write, query);
    influx_url_put(made->shown, sizeof made->shown, query);
    return CREST_OK;
}
