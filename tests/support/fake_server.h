/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server in a thread of the test. It keeps what it was sent and answers as the test says,
 * also as no server should. One connection at a time, on a free port of the loopback interface.
 *
 *     fake_server server;
 *     fake_server_start(&server);
 *     fake_server_say(&server, FAKE_ANSWER, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
 *     ... requests to 127.0.0.1, server.port ...
 *     fake_server_stop(&server);
 */
#ifndef CREST_TESTS_FAKE_SERVER_H
#define CREST_TESTS_FAKE_SERVER_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAKE_HEAD_BYTES 8192
#define FAKE_BODY_BYTES (4 << 20)
/* Longer than any request or answer takes on a working machine, however busy. */
#define FAKE_SERVER_MS UINT64_C(60000)
#define FAKE_OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

typedef enum fake_manner {
    FAKE_ANSWER,        /* says its words after each request and keeps the connection */
    FAKE_ANSWER_CLOSE,  /* says its words, then closes */
    FAKE_ANSWER_ONCE,   /* says its words to one request, closes at the next without a word */
    FAKE_ANSWER_RESET,  /* says its words to one request, resets the connection at the next */
    FAKE_SILENT,        /* reads the request and says nothing */
    FAKE_DEAF,          /* does not even read it */
    FAKE_CLOSE_AT_ONCE, /* accepts and closes */
    FAKE_GREET,         /* accepts, says its words without being asked, and closes */
    FAKE_ENDLESS,       /* says its words, then x for ever */
    FAKE_DRIP           /* says its words a byte at a time, 20 ms apart */
} fake_manner;

typedef struct fake_server {
    int listener, wake[2];
    unsigned port;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    fake_manner manner;
    char words[16384];
    unsigned connections, requests;
    char head[FAKE_HEAD_BYTES]; /* of the last request */
    unsigned char *body;
    size_t body_length;
} fake_server;

/* Waits until the socket can be read or written; 0 when the server is to stop. */
static inline int fake_server_wait(fake_server *server, int fd, short events, int timeout_ms)
{
    struct pollfd polled[2] = {{fd, events, 0}, {server->wake[0], POLLIN, 0}};
    int ready = poll(polled, 2, timeout_ms);
    return polled[1].revents ? 0 : ready > 0 ? 1 : -1;
}

static inline int fake_server_send(fake_server *server, int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        if (fake_server_wait(server, fd, POLLOUT, -1) != 1)
            return -1;
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            return -1;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Reads a request into the server; 0 when the connection or the server ended before. */
static inline int fake_server_read(fake_server *server, int fd)
{
    char *head = calloc(1, FAKE_HEAD_BYTES), *end = NULL;
    unsigned char *body = malloc(FAKE_BODY_BYTES);
    size_t used = 0, have = 0, want = 0;
    int whole = 0;
    while (head != NULL && body != NULL && !whole) {
        if (fake_server_wait(server, fd, POLLIN, -1) != 1)
            break;
        if (end == NULL) {
            /* A byte at a time: what follows the head is the body's. */
            if (used == FAKE_HEAD_BYTES - 1 || recv(fd, head + used, 1, 0) != 1)
                break;
            used++;
            if ((end = strstr(head, "\r\n\r\n")) != NULL) {
                const char *length = strcasestr(head, "\r\ncontent-length:");
                want = length ? strtoul(length + 17, NULL, 10) : 0;
            }
        } else {
            ssize_t got = recv(fd, body + have, FAKE_BODY_BYTES - have, 0);
            if (got <= 0)
                break;
            have += (size_t)got;
        }
        whole = end != NULL && have >= want;
    }
    if (whole) {
        pthread_mutex_lock(&server->lock);
        memcpy(server->head, head, FAKE_HEAD_BYTES);
        free(server->body);
        server->body = body;
        server->body_length = have;
        server->requests++;
        body = NULL;
        pthread_mutex_unlock(&server->lock);
    }
    free(head);
    free(body);
    return whole;
}

/* Waits until the client closes or the server is to stop. */
static inline void fake_server_linger(fake_server *server, int fd)
{
    char byte;
    while (fake_server_wait(server, fd, POLLIN, -1) == 1 && recv(fd, &byte, 1, 0) == 1)
        continue;
}

/* Reads the beginning of a request; the unread rest makes closing a reset. */
static inline void fake_server_reset(fake_server *server, int fd)
{
    char bytes[64];
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (fake_server_wait(server, fd, POLLIN, -1) == 1)
        (void)!recv(fd, bytes, sizeof bytes, 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static inline void fake_server_serve(fake_server *server, int fd)
{
    for (unsigned served = 0;; served++) {
        /* What the test says between two requests holds for the second. */
        if (served > 0 && fake_server_wait(server, fd, POLLIN, -1) != 1)
            return;
        pthread_mutex_lock(&server->lock);
        fake_manner manner = server->manner;
        char words[sizeof server->words];
        memcpy(words, server->words, sizeof words);
        pthread_mutex_unlock(&server->lock);
        if (manner == FAKE_CLOSE_AT_ONCE)
            return;
        if (manner == FAKE_GREET) {
            fake_server_send(server, fd, words, strlen(words));
            shutdown(fd, SHUT_WR);
            fake_server_linger(server, fd);
            return;
        }
        if (manner == FAKE_DEAF) {
            fake_server_wait(server, -1, 0, -1);
            return;
        }
        if (manner == FAKE_ANSWER_RESET && served > 0) {
            fake_server_reset(server, fd);
            return;
        }
        if (!fake_server_read(server, fd))
            return;
        pthread_mutex_lock(&server->lock);
        manner = server->manner;
        memcpy(words, server->words, sizeof words);
        pthread_mutex_unlock(&server->lock);
        if (manner == FAKE_SILENT) {
            fake_server_linger(server, fd);
            return;
        }
        if (manner == FAKE_ANSWER_ONCE && served > 0)
            return;
        if (manner == FAKE_DRIP) {
            for (const char *c = words; *c != '\0'; c++)
                if (fake_server_wait(server, -1, 0, 20) == 0 ||
                    fake_server_send(server, fd, c, 1) != 0)
                    return;
        } else if (fake_server_send(server, fd, words, strlen(words)) != 0) {
            return;
        }
        while (manner == FAKE_ENDLESS)
            if (fake_server_send(server, fd, "xxxxxxxxxxxxxxxx", 16) != 0)
                return;
        if (manner == FAKE_ANSWER_CLOSE)
            return;
    }
}

static inline void *fake_server_run(void *context)
{
    fake_server *server = context;
    while (fake_server_wait(server, server->listener, POLLIN, -1) == 1) {
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            continue;
        pthread_mutex_lock(&server->lock);
        server->connections++;
        pthread_mutex_unlock(&server->lock);
        fake_server_serve(server, fd);
        close(fd);
    }
    return NULL;
}

/* Binds a socket to a free port, which *port gets. Until it listens, a client that connects is
 * refused, and no other process can take the port. */
static inline int fake_server_bind(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        perror("fake_server: a socket on the loopback interface");
        abort();
    }
    *port = ntohs(address.sin_port);
    return fd;
}

static inline int fake_server_listen(unsigned *port, int backlog)
{
    int fd = fake_server_bind(port);
    if (listen(fd, backlog) != 0) {
        perror("fake_server: listening on the loopback interface");
        abort();
    }
    return fd;
}

static inline void fake_server_say(fake_server *server, fake_manner manner, const char *words)
{
    pthread_mutex_lock(&server->lock);
    server->manner = manner;
    snprintf(server->words, sizeof server->words, "%s", words);
    pthread_mutex_unlock(&server->lock);
}

static inline void fake_server_start(fake_server *server)
{
    memset(server, 0, sizeof *server);
    server->listener = fake_server_listen(&server->port, 8);
    pthread_mutex_init(&server->lock, NULL);
    fake_server_say(server, FAKE_ANSWER, FAKE_OK);
    if (pipe(server->wake) != 0 ||
        pthread_create(&server->thread, NULL, fake_server_run, server) != 0) {
        perror("fake_server: a thread and its pipe");
        abort();
    }
}

static inline void fake_server_stop(fake_server *server)
{
    close(server->wake[1]);
    pthread_join(server->thread, NULL);
    close(server->wake[0]);
    close(server->listener);
    pthread_mutex_destroy(&server->lock);
    free(server->body);
}

static inline unsigned fake_server_requests(fake_server *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned requests = server->requests;
    pthread_mutex_unlock(&server->lock);
    return requests;
}

static inline unsigned fake_server_connections(fake_server *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned connections = server->connections;
    pthread_mutex_unlock(&server->lock);
    return connections;
}

/* Waits until so many requests have come; 0 when that takes too long. */
static inline int fake_server_await(fake_server *server, unsigned requests)
{
    for (uint64_t ms = 0; ms < FAKE_SERVER_MS; ms++) {
        if (fake_server_requests(server) >= requests)
            return 1;
        poll(NULL, 0, 1);
    }
    return 0;
}

/* Whether the head of the last request contains this text, in any case. */
static inline int fake_server_got(fake_server *server, const char *text)
{
    pthread_mutex_lock(&server->lock);
    int got = strcasestr(server->head, text) != NULL;
    pthread_mutex_unlock(&server->lock);
    return got;
}

#endif
