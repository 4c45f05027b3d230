/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A very small HTTP client for tests: one request on a connection of its own to the loopback
 * interface, and the body, without its chunks.
 *
 *     size_t length;
 *     char *page = http_get(port, "/metrics", "", &length);   ... free(page);
 */
#ifndef CREST_TESTS_HTTP_GET_H
#define CREST_TESTS_HTTP_GET_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef HTTP_PATIENCE_S
#define HTTP_PATIENCE_S 20
#endif

/* Connects, or -1; reading and writing give up after HTTP_PATIENCE_S. */
static inline int http_connect(unsigned port)
{
    const struct timeval patience = {HTTP_PATIENCE_S, 0};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0)
        return -1;
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(client, (struct sockaddr *)&to, sizeof to) == 0)
        return client;
    close(client);
    return -1;
}

/* Reads until the server closes, adds a NUL; NULL when there is no memory. */
static inline char *http_rest(int client, size_t *length)
{
    size_t size = 65536, used = 0;
    char *bytes = malloc(size);
    for (ssize_t got; bytes != NULL; used += (size_t)got) {
        if (size - used < 32768)
            bytes = realloc(bytes, size *= 2);
        if (bytes == NULL || (got = recv(client, bytes + used, size - used - 1, 0)) <= 0)
            break;
    }
    if (bytes != NULL)
        bytes[used] = '\0';
    *length = used;
    return bytes;
}

/* Joins the chunks of a body, in place. Returns its length, or -1 when it does not end as it
 * should. */
static inline ssize_t http_unchunk(char *body)
{
    char *to = body, *from = body;
    for (;;) {
        char *data;
        size_t size = strtoul(from, &data, 16);
        if (data == from || strncmp(data, "\r\n", 2) != 0)
            return -1;
        if (size == 0)
            break;
        memmove(to, data + 2, size);
        to += size;
        from = data + 2 + size + 2;
    }
    *to = '\0';
    return to - body;
}

/* The body; NULL unless the answer is a whole 200. `headers` are further ones, each ending in
 * \r\n. */
static inline char *http_get(unsigned port, const char *path, const char *headers, size_t *length)
{
    char request[1024];
    int client = http_connect(port);
    if (client < 0)
        return NULL;
    int size = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path,
                        headers);
    char *answer = NULL;
    if (send(client, request, (size_t)size, MSG_NOSIGNAL) == size)
        answer = http_rest(client, length);
    close(client);
    char *body = answer != NULL ? strstr(answer, "\r\n\r\n") : NULL;
    if (body == NULL || strncmp(answer, "HTTP/1.1 200 ", 13) != 0) {
        free(answer);
        return NULL;
    }
    *body = '\0';
    body += 4;
    int chunked = strstr(answer, "Transfer-Encoding: chunked") != NULL;
    ssize_t whole = chunked ? http_unchunk(body) : (ssize_t)(*length - (size_t)(body - answer));
    if (whole < 0) {
        free(answer);
        return NULL;
    }
    *length = (size_t)whole;
    memmove(answer, body, *length + 1);
    return answer;
}

#endif
