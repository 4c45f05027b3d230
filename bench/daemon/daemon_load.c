/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a daemon with requests whose answers are known byte by byte, and compares them.
 *
 *     daemon_load memcached PORT get|mixed|set PIPELINE CONNECTIONS BATCHES
 *     daemon_load mosquitto PORT 0|1 PIPELINE 1 BATCHES
 *
 * A batch is PIPELINE requests sent at once; the next one follows when its answers are there. Of
 * several connections each has a batch under way. `mixed` is a set in every tenth request. Gets ask
 * for what one turn of sets has stored. The messages of mosquitto go from one client to another.
 * Ends with 1 and a word on stderr when an answer is wrong.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOAD_KEYS 1000u
#define LOAD_VALUE_BYTES 100u
#define LOAD_REQUEST_BYTES 256u
#define LOAD_CONNECTIONS 64u
#define LOAD_PIPELINE 1000u

typedef struct load_text {
    char *bytes;
    size_t length;
} load_text;

typedef struct load_batch {
    load_text request;
    load_text answer;
} load_batch;

static void load_fail(const char *what)
{
    fprintf(stderr, "daemon_load: %s\n", what);
    exit(1);
}

static int load_connect(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void load_send(int fd, const void *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = write(fd, (const char *)bytes + sent, length - sent);
        if (n <= 0)
            load_fail("cannot send");
        sent += (size_t)n;
    }
}

static void load_receive(int fd, void *bytes, size_t length)
{
    for (size_t got = 0; got < length;) {
        ssize_t n = read(fd, (char *)bytes + got, length - got);
        if (n <= 0)
            load_fail("the daemon hung up");
        got += (size_t)n;
    }
}

static void load_expect(int fd, const void *bytes, size_t length)
{
    static char answer[LOAD_REQUEST_BYTES * LOAD_PIPELINE];
    load_receive(fd, answer, length);
    if (memcmp(answer, bytes, length) != 0)
        load_fail("a wrong answer");
}

/* ---- memcached ---- */

static void load_append(load_text *text, const char *more)
{
    size_t length = strlen(more);
    memcpy(text->bytes + text->length, more, length);
    text->length += length;
}

/* The request `i` of all: a set, or a get of what that set stores. */
static void load_request(load_batch *batch, unsigned i, int is_set)
{
    char value[LOAD_VALUE_BYTES + 1], line[LOAD_REQUEST_BYTES];
    unsigned key = i % LOAD_KEYS;
    memset(value, 'a' + (int)(key % 26), LOAD_VALUE_BYTES);
    value[LOAD_VALUE_BYTES] = '\0';
    if (is_set)
        snprintf(line, sizeof line, "set key-%04u 0 0 %u\r\n%s\r\n", key, LOAD_VALUE_BYTES, value);
    else
        snprintf(line, sizeof line, "get key-%04u\r\n", key);
    load_append(&batch->request, line);
    if (is_set)
        snprintf(line, sizeof line, "STORED\r\n");
    else
        snprintf(line, sizeof line, "VALUE key-%04u 0 %u\r\n%s\r\nEND\r\n", key, LOAD_VALUE_BYTES,
                 value);
    load_append(&batch->answer, line);
}

static void load_memcached(const char *port, const char *what, unsigned pipeline,
                           unsigned connections, unsigned long batches)
{
    int fd[LOAD_CONNECTIONS];
    unsigned kinds = LOAD_KEYS / pipeline;
    load_batch *batch = calloc(kinds, sizeof *batch);
    if (batch == NULL)
        load_fail("no memory");
    for (unsigned k = 0; k < kinds; k++) {
        batch[k].request.bytes = malloc((size_t)LOAD_REQUEST_BYTES * pipeline);
        batch[k].answer.bytes = malloc((size_t)LOAD_REQUEST_BYTES * pipeline);
        if (batch[k].request.bytes == NULL || batch[k].answer.bytes == NULL)
            load_fail("no memory");
        for (unsigned i = k * pipeline; i < (k + 1) * pipeline; i++)
            load_request(&batch[k], i, *what == 's' || (*what == 'm' && i % 10 == 0));
    }
    for (unsigned c = 0; c < connections; c++)
        fd[c] = load_connect(port);
    for (unsigned long done = 0; done < batches; done += connections) {
        for (unsigned c = 0; c < connections; c++) {
            load_text *request = &batch[(done + c) % kinds].request;
            load_send(fd[c], request->bytes, request->length);
        }
        for (unsigned c = 0; c < connections; c++) {
            load_text *answer = &batch[(done + c) % kinds].answer;
            load_expect(fd[c], answer->bytes, answer->length);
        }
    }
    for (unsigned c = 0; c < connections; c++)
        close(fd[c]);
    for (unsigned k = 0; k < kinds; k++) {
        free(batch[k].request.bytes);
        free(batch[k].answer.bytes);
    }
    free(batch);
}

/* ---- MQTT 3.1.1: packets whose remaining length fits one byte ---- */

#define LOAD_TOPIC "bench/topic"
#define LOAD_PAYLOAD_BYTES 64u

static int load_client(const char *port, char name)
{
    const unsigned char accepted[] = {0x20, 2, 0, 0};
    unsigned char packet[] = {0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 1, 0};
    int fd = load_connect(port);
    packet[sizeof packet - 1] = (unsigned char)name;
    load_send(fd, packet, sizeof packet);
    load_expect(fd, accepted, sizeof accepted);
    return fd;
}

static void load_subscribe(int fd, unsigned qos)
{
    unsigned char packet[7 + sizeof LOAD_TOPIC - 1] = {0x82, 5 + sizeof LOAD_TOPIC - 1, 0, 1,
                                                       0,    sizeof LOAD_TOPIC - 1};
    const unsigned char accepted[] = {0x90, 3, 0, 1, (unsigned char)qos};
    memcpy(packet + 6, LOAD_TOPIC, sizeof LOAD_TOPIC - 1);
    packet[sizeof packet - 1] = (unsigned char)qos;
    load_send(fd, packet, sizeof packet);
    load_expect(fd, accepted, sizeof accepted);
}

/* Writes a message, with its number at QoS 1, and returns its length. */
static size_t load_message(unsigned char *packet, unsigned qos, unsigned id)
{
    size_t at = 2;
    packet[0] = (unsigned char)(0x30 | qos << 1);
    packet[at++] = 0;
    packet[at++] = sizeof LOAD_TOPIC - 1;
    memcpy(packet + at, LOAD_TOPIC, sizeof LOAD_TOPIC - 1);
    at += sizeof LOAD_TOPIC - 1;
    if (qos != 0) {
        packet[at++] = (unsigned char)(id >> 8);
        packet[at++] = (unsigned char)id;
    }
    memset(packet + at, 'm', LOAD_PAYLOAD_BYTES);
    at += LOAD_PAYLOAD_BYTES;
    packet[1] = (unsigned char)(at - 2);
    return at;
}

/* The broker numbers its messages as this client does: from 1 to 65535, and again. */
static void load_mosquitto(const char *port, unsigned qos, unsigned pipeline, unsigned long batches)
{
    static unsigned char messages[128 * LOAD_PIPELINE], acknowledged[4 * LOAD_PIPELINE];
    int to = load_client(port, 's'), from = load_client(port, 'p');
    load_subscribe(to, qos);
    unsigned id = 0;
    for (unsigned long done = 0; done < batches; done++) {
        size_t length = 0;
        for (unsigned i = 0; i < pipeline; i++) {
            id = id % 65535 + 1;
            length += load_message(messages + length, qos, id);
            const unsigned char puback[] = {0x40, 2, (unsigned char)(id >> 8), (unsigned char)id};
            memcpy(acknowledged + 4ul * i, puback, sizeof puback);
        }
        load_send(from, messages, length);
        load_expect(to, messages, length);
        if (qos != 0) {
            load_send(to, acknowledged, 4ul * pipeline);
            load_expect(from, acknowledged, 4ul * pipeline);
        }
    }
    const unsigned char ping[] = {0xc0, 0}, pong[] = {0xd0, 0};
    /* so that the broker has processed all that was acknowledged */
    load_send(to, ping, sizeof ping);
    load_expect(to, pong, sizeof pong);
    close(from);
    close(to);
}

int main(int argc, char **argv)
{
    if (argc != 7)
        load_fail("see the top of daemon_load.c");
    unsigned pipeline = (unsigned)atoi(argv[4]), connections = (unsigned)atoi(argv[5]);
    unsigned long batches = strtoul(argv[6], NULL, 10);
    if (pipeline == 0 || pipeline > LOAD_PIPELINE || connections == 0 ||
        connections > LOAD_CONNECTIONS || LOAD_KEYS % pipeline != 0 || batches % connections != 0)
        load_fail("numbers that do not go together");
    if (strcmp(argv[1], "memcached") == 0)
        load_memcached(argv[2], argv[3], pipeline, connections, batches);
    else
        load_mosquitto(argv[2], (unsigned)atoi(argv[3]), pipeline, batches);
    return 0;
}
