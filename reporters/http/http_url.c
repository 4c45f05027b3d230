/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and shows URLs of servers and proxies. See http_url.h.
 */
#include "http/http_url.h"
#include "common/shown_text.h"

#include <string.h>
#include <strings.h>

#define HTTP_URL_PORT_DIGITS_MAX 5u
#define HTTP_URL_PORT_MAX 65535u

int crest_http_url_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static size_t http_url_scheme_length(const char *url)
{
    if (strncasecmp(url, "http://", 7) == 0)
        return 7;
    return strncasecmp(url, "https://", 8) == 0 ? 8 : 0;
}

/* Where the part that may be shown begins, after the scheme: behind the last @ there is, because a
 * password with an unescaped slash in it must not be shown either. */
static const char *http_url_after_secret(const char *url, size_t scheme)
{
    const char *at = strrchr(url + scheme, '@');
    return at == NULL ? url + scheme : at + 1;
}

void crest_http_url_show(const char *url, char *shown, size_t size)
{
    size_t scheme = http_url_scheme_length(url);
    const char *rest = http_url_after_secret(url, scheme);
    const char *hidden = rest == url + scheme ? "" : CREST_HTTP_URL_HIDDEN "@";
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
static int http_url_character(char c)
{
    return crest_http_url_alnum(c) || (c != '\0' && strchr("-._~:/[]@!$&()*+,;=%", c) != NULL);
}

/* "host", "host:port", "[v6]", "[v6]:port"; what is wrong with it, or NULL. */
static const char *http_url_host_problem(const char *host, size_t length)
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
    for (size_t i = 1; i <= digits && digits <= HTTP_URL_PORT_DIGITS_MAX; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return "the port is not a number";
        port = port * 10 + (unsigned)(colon[i] - '0');
    }
    if (port == 0 || port > HTTP_URL_PORT_MAX)
        return "the port is not one from 1 to 65535";
    return NULL;
}

static const char *http_url_problem(const char *url)
{
    size_t scheme = http_url_scheme_length(url);
    if (scheme == 0)
        return "it does not begin with http:// or https://";
    for (const char *c = url; *c != '\0'; c++) {
        if (*c == '?' || *c == '#')
            return "it has a query or a fragment, and a path has to follow it";
        if (!http_url_character(*c))
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
    return http_url_host_problem(host, length - (size_t)(host - url - (ptrdiff_t)scheme));
}

crest_status crest_http_url_check(const char *url, const crest_http_url_kind *kind,
                                  crest_error *error)
{
    if (url == NULL || url[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "No URL for the %s was given; it is something like %s", kind->server,
                               kind->example);
    if (strlen(url) >= CREST_HTTP_URL_BYTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "The %s's URL has %zu bytes; there may be at most %u", kind->server,
                               strlen(url), CREST_HTTP_URL_BYTES_MAX - 1);
    const char *problem = http_url_problem(url);
    if (problem == NULL && kind->further != NULL)
        problem = kind->further(url);
    if (problem == NULL)
        return CREST_OK;
    char shown[256], printable[256];
    crest_http_url_show(url, shown, sizeof shown);
    crest_push_text_show(shown, strlen(shown), printable, sizeof printable);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "The %s's URL \"%s\" cannot be used: %s. It is something like %s or "
                           "https://user:password@host/prefix",
                           kind->server, printable, problem, kind->example);
}

void crest_http_url_bare(const char *url, char *bare, size_t size)
{
    size_t scheme = http_url_scheme_length(url);
    const char *rest = http_url_after_secret(url, scheme);
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

static const char *http_url_proxy_problem(const char *proxy)
{
    if (strncasecmp(proxy, "http://", 7) != 0)
        return "it does not begin with http://";
    const char *problem = http_url_problem(proxy);
    if (problem != NULL)
        return problem;
    const char *host = http_url_after_secret(proxy, 7), *close = strchr(host, ']');
    if (strchr(host, '/') != NULL)
        return "it has a path";
    /* Programs differ in the default port of a proxy, so there is none here. */
    return strchr(close != NULL ? close : host, ':') == NULL ? "it has no port" : NULL;
}

crest_status crest_http_url_proxy_check(const char *proxy, const char *kind, crest_error *error)
{
    if (strlen(proxy) >= CREST_HTTP_URL_BYTES_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "The proxy's URL has %zu bytes; there may be at most %u",
                               strlen(proxy), CREST_HTTP_URL_BYTES_MAX - 1);
    const char *problem = http_url_proxy_problem(proxy);
    if (problem == NULL)
        return CREST_OK;
    char shown[256], printable[256];
    crest_http_url_show(proxy, shown, sizeof shown);
    crest_push_text_show(shown, strlen(shown), printable, sizeof printable);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "%s.proxy \"%s\" cannot be used: %s. It is something like "
                           "http://user:password@proxy:3128",
                           kind, printable, problem);
}
