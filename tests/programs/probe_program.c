/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that probes one neighbour in every way, for test_probes.py: one command a line on
 * standard input, one line of answer for each. The neighbour echoes what it gets.
 *
 *     probe_program HOST PORT         connects; answers with the local port
 *
 *     ping INTERVAL_MS TIMEOUT_MS     starts pinging over the connection
 *     watch INTERVAL_MS               starts watching the connection
 *     dial INTERVAL_MS TIMEOUT_MS     starts connecting to the neighbour
 *     state WHICH                     tries, answers, errors, timeouts, the last round trip in ns
 *     figures NAME OUTCOME            count, least, sum and most of a timer or histogram
 *     kernel                          round-trip time and variation in ns, asked for here
 *     stop WHICH                      ping, watch or dial
 *     exit STATUS
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/testing.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PING, WATCH, DIAL, KINDS };
static const char *const words[KINDS] = {"ping", "watch", "dial"};
static crest_probe *probes[KINDS];
static int connection;
static char address[64];

static int send_ping(void *context, uint64_t id)
{
    (void)context;
    return send(connection, &id, sizeof id, MSG_DONTWAIT) == sizeof id ? 0 : -1;
}

static void *receive(void *context)
{
    uint64_t id;
    (void)context;
    while (recv(connection, &id, sizeof id, MSG_WAITALL) == sizeof id)
        crest_probe_pong(__atomic_load_n(&probes[PING], __ATOMIC_ACQUIRE), id);
    return NULL;
}

static int which(const char *word)
{
    int found = 0;
    while (found < KINDS && strcmp(words[found], word) != 0)
        found++;
    return found;
}

static void start(int kind, unsigned interval_ms, unsigned timeout_ms)
{
    crest_error error = {.status = CREST_OK};
    crest_probe_options options = {
        .interval_ms = interval_ms, .timeout_ms = timeout_ms, .jitter = -1};
    crest_probe *probe = kind == PING ? crest_probe_ping("far", send_ping, NULL, &options, &error)
                         : kind == WATCH ? crest_probe_socket("far", connection, &options, &error)
                                         : crest_probe_connect("far", address, &options, &error);
    __atomic_store_n(&probes[kind], probe, __ATOMIC_RELEASE);
    printf("%s %s\n", probe != NULL ? "OK" : "failed", error.message);
}

static void tell_state(int kind)
{
    crest_probe_state state;
    crest_status status = crest_probe_read(probes[kind], &state);
    printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           status == CREST_OK ? "OK" : "failed", state.tries, state.answers, state.errors,
           state.timeouts, state.last_rtt_ns);
}

static void tell_figures(const char *name, const char *outcome)
{
    crest_testing_reading reading;
    crest_error error = {.status = CREST_OK};
    crest_status status =
        outcome[0] != '\0'
            ? crest_testing_read(NULL, NULL, &reading, &error, name, "peer", "far", "outcome",
                                 outcome, NULL)
            : crest_testing_read(NULL, NULL, &reading, &error, name, "peer", "far", NULL);
    if (status == CREST_OK)
        printf("OK %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g\n",
               reading.count + reading.counter, reading.minimum, reading.sum, reading.maximum,
               reading.gauge);
    else
        printf("failed %s\n", error.message);
}

static void tell_kernel(void)
{
    crest_tcp_info info;
    crest_status status = crest_tcp_info_read(connection, &info, NULL);
    printf("%s %" PRIu64 " %" PRIu64 "\n", status == CREST_OK ? "OK" : "failed", info.rtt_ns,
           info.rtt_variation_ns);
}

static int do_line(char *line)
{
    char word[32] = "", argument[200] = "", more[64] = "";
    sscanf(line, "%31s %199s %63s", word, argument, more);
    if (which(word) < KINDS)
        start(which(word), (unsigned)atoi(argument), (unsigned)atoi(more));
    else if (strcmp(word, "state") == 0 && which(argument) < KINDS)
        tell_state(which(argument));
    else if (strcmp(word, "figures") == 0)
        tell_figures(argument, more);
    else if (strcmp(word, "kernel") == 0)
        tell_kernel();
    else if (strcmp(word, "stop") == 0 && which(argument) < KINDS)
        printf("%s\n", crest_probe_stop(probes[which(argument)]) == CREST_OK ? "OK" : "failed");
    else if (strcmp(word, "exit") == 0)
        return 1 + atoi(argument);
    else
        printf("failed unknown: %s\n", line);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    char line[300];
    int leave = 0;
    pthread_t receiver;
    if (argc != 3)
        return 2;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
    socklen_t length = sizeof name;
    snprintf(address, sizeof address, "%.40s:%.8s", argv[1], argv[2]);
    inet_pton(AF_INET, argv[1], &name.sin_addr);
    connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&name, length) != 0)
        return 2;
    getsockname(connection, (struct sockaddr *)&name, &length);
    pthread_create(&receiver, NULL, receive, NULL);
    printf("%u\n", ntohs(name.sin_port));
    fflush(stdout);
    while (!leave && fgets(line, sizeof line, stdin) != NULL)
        leave = do_line(line);
    for (int kind = 0; kind < KINDS; kind++)
        crest_probe_stop(probes[kind]);
    shutdown(connection, SHUT_RDWR);
    pthread_join(receiver, NULL);
    return leave > 0 ? leave - 1 : 0;
}
