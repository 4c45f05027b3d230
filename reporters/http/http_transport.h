/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests with a deadline, over libcurl. Knows bytes, deadlines and answers; nothing of
 * metrics or Pushgateways.
 *
 *     crest_http *http = crest_http_new(&error);
 *     crest_http_request request = {.method = "PUT", .url = url, .shown = url, .body = bytes,
 *                                   .length = length, .deadline_ns = crest_now() + 5000000000};
 *     crest_http_answer answer;
 *     if (crest_http_send(http, &request, &answer, &error) == CREST_OK && answer.code == 200) ...
 *     crest_http_free(http);
 *
 * What it does and does not do, each because the opposite has surprised somebody: connections are
 * kept and reused, and a request that finds its kept one closed goes again on another, once;
 * redirects are not followed (an answer 301 is an answer), so that credentials go to nobody else;
 * only http and https; the path is sent as it is given; no signal is used or let out; the
 * environment's proxies, its no_proxy and ~/.netrc are not looked at; certificates are always
 * checked; a name server that hangs is not waited for past the deadline (libcurl 7.87; before that,
 * as long as it takes); HTTP/1.1 only; no more than CREST_HTTP_ANSWER_BYTES_MAX of an answer is
 * read; nothing is ever printed.
 */
#ifndef CREST_REPORTERS_HTTP_TRANSPORT_H
#define CREST_REPORTERS_HTTP_TRANSPORT_H

#include "http/http_request.h"

#include <crest/status.h>

/* Bytes of an answer's body that are read before the connection is closed instead. */
#define CREST_HTTP_ANSWER_BYTES_MAX 65536u
/* Bytes of it that are kept to be shown, and of a Location. */
#define CREST_HTTP_WORDS_BYTES 2048u
#define CREST_HTTP_LOCATION_BYTES 512u

typedef struct crest_http crest_http;

typedef struct crest_http_answer {
    unsigned code;                            /* 200, 400, ... */
    int cut;                                  /* there was more than CREST_HTTP_ANSWER_BYTES_MAX */
    size_t length;                            /* of words */
    char words[CREST_HTTP_WORDS_BYTES];       /* the body's beginning, as it came */
    char location[CREST_HTTP_LOCATION_BYTES]; /* of a redirect, fit to show; "" if none */
} crest_http_answer;

/* NULL with *error filled when there is no memory or libcurl cannot be used. Initialises libcurl,
 * once a process. Thread-safe. */
crest_http *crest_http_new(crest_error *error);

/* No request may be running. NULL does nothing. In the child of a fork, connections of its parent
 * are left as they are. */
void crest_http_free(crest_http *http);

/* Breaks off the request in flight and those that follow: they fail with CREST_TIMED_OUT, soon.
 * From any thread; does not wait. */
void crest_http_cancel(crest_http *http);

/* Allows requests again. */
void crest_http_renew(crest_http *http);

/*
 * Sends a request and waits for the whole answer, whatever its code: CREST_OK with *answer filled.
 * Else *error says what happened: CREST_UNREACHABLE (no such host, refused, no trust in its
 * certificate or ours), CREST_REFUSED (by the proxy), CREST_TIMED_OUT, CREST_IO (broke off, or what
 * came was not HTTP), CREST_NO_MEMORY, CREST_INVALID_ARGUMENT. One request at a time. Blocks until
 * the deadline at most.
 */
crest_status crest_http_send(crest_http *http, const crest_http_request *request,
                             crest_http_answer *answer, crest_error *error);

#endif
