/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP request, as http_transport.h sends it; http_explain.h explains its failure.
 */
#ifndef CREST_REPORTERS_HTTP_REQUEST_H
#define CREST_REPORTERS_HTTP_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* Everything is borrowed for the call. */
typedef struct crest_http_request {
    const char *kind;   /* of the reporter: the prefix of its options in messages */
    const char *method; /* PUT, DELETE, ... */
    const char *url;    /* may hold user and password */
    const char *shown;  /* the URL as messages show it: without user and password */
    /* https: a PEM file of the authorities to trust; NULL: the system's */
    const char *ca_file;
    /* https: PEM files of our certificate and its key; NULL: none, or the key is in cert_file */
    const char *cert_file, *key_file;
    const char *key_password;     /* NULL: the key has none */
    const char *user, *password;  /* NULL: those of the URL, if any */
    const char *bearer;           /* a token for the server; NULL: none */
    const char *proxy;            /* http://[user:password@]host:port; NULL: none */
    const char *proxy_shown;      /* without user and password */
    const char *content_type;     /* of the body; NULL: none */
    const char *content_encoding; /* "gzip"; NULL: none */
    const char *const *headers;   /* further ones, as "Name: value" */
    unsigned header_count;
    const void *body; /* NULL: none */
    size_t length;
    uint64_t deadline_ns; /* on crest_now's timeline */
    int once; /* non-zero: never sent a second time, and so over a connection of its own: the server
                 may not be the kind that takes the same bytes twice as once */
} crest_http_request;

#endif
