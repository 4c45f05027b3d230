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
 * Rules, each because its opposite has surprised users:
 *
 *   - Connections are kept and reused. A request whose kept connection was closed is sent again on
 *     another, once. One with `once` has a connection of its own, and is never sent again.
 *   - Redirects are not followed (an answer 301 is an answer), so that no other server gets
 *     credentials.
 *   - Only http and https; HTTP/1.1 only; the path is sent as it is given.
 *   - No signal is used or let out, and nothing is ever printed.
 *   - The environment's proxies, its no_proxy and ~/.netrc are not looked at.
 *   - Certificates are always checked.
 *   - A name server that hangs is not waited for past the deadline (libcurl 7.87; before that, as
 *     long as it takes).
 *   - At most CREST_HTTP_ANSWER_BYTES_MAX of an answer is read.
 */
#ifndef CREST_REPORTERS_HTTP_TRANSPORT_H
#define CREST_REPORTERS_HTTP_TRANSPORT_H

#include "http/http_request.h"

#include <crest/status.h>

/* Bytes of an answer's body that are read; of a longer one the connection is closed. */
#define CREST_HTTP_ANSWER_BYTES_MAX 65536u
/* Bytes of the body that are kept to be shown, and bytes of a Location. */
#define CREST_HTTP_WORDS_BYTES 2048u
#define CREST_HTTP_LOCATION_BYTES 512u
/* Bytes of an answer's content type. */
#define CREST_HTTP_TYPE_BYTES 64u

typedef struct crest_http crest_http;

typedef struct crest_http_answer {
    unsigned code;                            /* 200, 400, ... */
    int cut;                                  /* the body was longer than is read */
    size_t length;                            /* of words */
    char words[CREST_HTTP_WORDS_BYTES];       /* the body's beginning, as it came */
    char location[CREST_HTTP_LOCATION_BYTES]; /* of a redirect, fit to show; "" if none */
    char type[CREST_HTTP_TYPE_BYTES];         /* of the body, fit to show; "" if none */
    uint64_t retry_after_s; /* from a Retry-After, in seconds or as a date; 0: none, or it passed */
    int sent; /* a byte of the request has gone out; also when there was no answer */
} crest_http_answer;

/* NULL with *error filled when there is no memory or libcurl cannot be used. Initialises libcurl,
 * once a process. Thread-safe. */
crest_http *crest_http_new(crest_error *error);

/* No request may be running. NULL does nothing. In the child of a fork, its parent's connections
 * are left as they are. */
void crest_http_free(crest_http *http);

/* Breaks off the request in flight and all later ones: they fail soon, with CREST_TIMED_OUT. From
 * any thread; does not wait. */
void crest_http_cancel(crest_http *http);

/* Allows requests again. */
void crest_http_renew(crest_http *http);

/*
 * Sends a request and waits for the whole answer, whatever its code: CREST_OK with *answer filled.
 * Else *error says what happened, and answer->sent whether the server may have it:
 * CREST_UNREACHABLE (no such host, refused, no trust in its
 * certificate or ours), CREST_REFUSED (by the proxy), CREST_TIMED_OUT, CREST_IO (broke off, or what
 * came was not HTTP), CREST_NO_MEMORY, CREST_INVALID_ARGUMENT. One request at a time. Blocks until
 * the deadline at most.
 */
crest_status crest_http_send(crest_http *http, const crest_http_request *request,
                             crest_http_answer *answer, crest_error *error);

#endif
