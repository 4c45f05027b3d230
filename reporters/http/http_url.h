/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of servers and proxies: are they usable, and how are they shown without their password. Pure
 * functions of their arguments; no network, no allocation.
 *
 *     static const crest_http_url_kind gateway = {"Pushgateway", "http://127.0.0.1:9091", NULL};
 *     if (crest_http_url_check(url, &gateway, &error) == CREST_OK)
 *         crest_http_url_show(url, shown, sizeof shown);
 */
#ifndef CREST_REPORTERS_HTTP_URL_H
#define CREST_REPORTERS_HTTP_URL_H

#include <crest/status.h>
#include <stddef.h>

/* Bytes of a URL, its NUL included. */
#define CREST_HTTP_URL_BYTES_MAX 4096u
/* What stands for user and password wherever the URL is shown. */
#define CREST_HTTP_URL_HIDDEN "***"

/* What messages say of a server's URL. */
typedef struct crest_http_url_kind {
    const char *server;  /* "Pushgateway" */
    const char *example; /* "http://127.0.0.1:9091" */
    /* what else is wrong with a URL, or NULL; NULL: nothing else can be */
    const char *(*further)(const char *url);
} crest_http_url_kind;

/* CREST_OK when the text is http:// or https:// with a host, at most a port and a path, and nothing
 * else; CREST_INVALID_ARGUMENT or CREST_LIMIT with a message that never shows a password. */
crest_status crest_http_url_check(const char *url, const crest_http_url_kind *kind,
                                  crest_error *error);

/* Copies the URL without the slashes at its end and with CREST_HTTP_URL_HIDDEN for user and
 * password; cut to `size`. */
void crest_http_url_show(const char *url, char *shown, size_t size);

/* Copies the URL without user and password, scheme and host in small letters: the key that
 * distinguishes two servers. `size` is more than the URL has bytes. */
void crest_http_url_bare(const char *url, char *bare, size_t size);

/* CREST_OK when the text is http://[user:password@]host:port and nothing else; the status as above.
 * `kind` is the prefix of the option's name, KIND.proxy. */
crest_status crest_http_url_proxy_check(const char *proxy, const char *kind, crest_error *error);

/* Whether it is an ASCII letter or digit; independent of the locale, unlike isalnum. */
int crest_http_url_alnum(char c);

#endif
