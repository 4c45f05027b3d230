/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a request failed, in words an operator can act on. Pure: libcurl's codes and words in, a
 * sentence out.
 */
#ifndef CREST_REPORTERS_HTTP_EXPLAIN_H
#define CREST_REPORTERS_HTTP_EXPLAIN_H

#include "http/http_request.h"

#include <crest/status.h>

/* The steps of a request that are told apart: the name, the connection, TLS. */
#define CREST_HTTP_STEPS 3u

typedef struct crest_http_failure {
    int code;            /* libcurl's CURLcode */
    const char *words;   /* its own words for it */
    uint64_t waited_ns;  /* since the request began */
    unsigned steps_done; /* the first so many of the steps succeeded */
    size_t sent;         /* bytes of the body */
    unsigned proxy_code; /* the proxy's answer to CONNECT; 0: none, or it was not asked */
    int cancelled;       /* the transfer was broken off, because the caller stops the reporter */
    int late;            /* the deadline had come: though cancelled, it timed out */
} crest_http_failure;

/* Fills *error, and returns its status, as crest_http_send documents it. */
crest_status crest_http_explain(const crest_http_request *request,
                                const crest_http_failure *failure, crest_error *error);

#endif
