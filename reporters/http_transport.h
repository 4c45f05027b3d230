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
 * kept and reused; redirects are not followed (an answer 301 is an answer); only http and https;
 * the path is sent as it is given; no signal is used or let out; the environment's proxies and
 * ~/.netrc are not looked at; certificates are always checked; HTTP/1.1 only; no more than
 * CREST_HTTP_ANSWER_BYTES_MAX of an answer is read.
 */
#ifndef CREST_REPORTERS_HTTP_TRANSPORT_H
#define CREST_REPORTERS_HTTP_TRANSPORT_H

#include <crest/status.h>

/* Bytes of an answer's body that are read before the connection is closed instead. */
#define CREST_HTTP_ANSWER_BYTES_MAX 65536u
/* Bytes of it that are kept to be shown, and of a Location. */
#define CREST_HTTP_WORDS_BYTES 2048u
#define CREST_HTTP_LOCATION_BYTES 512u

typedef struct crest_http crest_http;

/* All borrowed for the call. */
typedef struct crest_http_request {
    const char *method; /* PUT, DELETE, ... */
    const char *url;    /* may hold user and password */
    const char *shown;  /* what messages call it: the URL without these */
    const char
        *ca_file; /* PEM file of the authorities to trust instead of the system's; NULL: those */
    const char *content_type;     /* of the body; NULL: none */
    const char *content_encoding; /* "gzip"; NULL: none */
    const void *body;             /* NULL: none */
    size_t length;
    uint64_t deadline_ns; /* on crest_now's timeline */
    int last;             /* non-zero: the process may be about to end, so do not wait for a name
                             server's thread past the deadline either */
} crest_http_request;

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

/* No request may be running. NULL does nothing. */
void crest_http_free(crest_http *http);

/*
 * Sends a request and waits for the whole answer, whatever its code: CREST_OK with *answer filled.
 * Else *error says what happened: CREST_UNREACHABLE (no such host, refused, no trust in its
 * certificate), CREST_TIMED_OUT, CREST_IO (broke off, or what came was not HTTP), CREST_NO_MEMORY,
 * CREST_INVALID_ARGUMENT. One request at a time. Blocks until the deadline at most.
 */
crest_status crest_http_send(crest_http *http, const crest_http_request *request,
                             crest_http_answer *answer, crest_error *error);

#endif
