/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry: a node that sends to a receiver. The receiver here is a thread that says what it
 * is sent; a real one would get
 *
 *     CREST_OPTS='otlp=http://127.0.0.1:4318,service=rnode,instance=node-7,interval=10s' ./node
 */
#include <crest/crest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

CREST_COUNTER(blocks, "casper.blocks-created", "Blocks this node proposed.");
CREST_TIMER(replay, "casper.replay-time", "Replaying a block.");

static char request[65536];

/* Reads a whole request; 0 at the connection's end. */
static int read_request(int connection)
{
    size_t used = 0, wanted = sizeof request - 1;
    while (used < wanted) {
        ssize_t got = recv(connection, request + used, wanted - used, 0);
        if (got <= 0)
            return 0;
        used += (size_t)got;
        request[used] = '\0';
        const char *body = strstr(request, "\r\n\r\n");
        const char *length = strstr(request, "Content-Length: ");
        if (body != NULL && length != NULL)
            wanted = (size_t)(body + 4 - request) + strtoul(length + 16, NULL, 10);
    }
    return 1;
}

/* Says of a request what it has. */
static void show(void)
{
    static const char *const parts[] = {
        "POST /v1/metrics", "\"service.name\"",       "\"casper.blocks-created\"",
        "\"asInt\":\"3\"",  "\"casper.replay-time\"", "\"exponentialHistogram\"",
        "\"flags\":1"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(request, parts[i]) != NULL)
            printf("%s%s", i == 0 ? "" : " ", parts[i]);
    printf("\n");
}

static void *receive(void *context)
{
    static const char taken[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    int connection = accept(*(int *)context, NULL, NULL);
    while (read_request(connection)) {
        show();
        if (send(connection, taken, sizeof taken - 1, 0) < 0)
            break;
    }
    close(connection);
    return NULL;
}

int main(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    pthread_t receiver;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&here, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&here, &size) != 0 ||
        pthread_create(&receiver, NULL, receive, &listener) != 0)
        return 1;

    char options[256];
    snprintf(options, sizeof options,
             "otlp=http://127.0.0.1:%u,otlp.encoding=json,otlp.include=casper.*,"
             "service=rnode,instance=node-7,interval=1h",
             ntohs(here.sin_port));
    crest_error error;
    if (crest_start(options, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    crest_counter_add(&blocks, 3);
    crest_timer_record(&replay, 7000000, CREST_OUTCOME_OK);
    /* with a last report, and behind it markers that the series end */
    if (crest_stop(5000, &error) != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    pthread_join(receiver, NULL);
    close(listener);
    return 0;
}
