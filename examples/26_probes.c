/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency: the round trip to a neighbour, by the kernel's figures of a connection, by connecting,
 * and by a ping over the node's own messages; the disk, by the node's own calls and by a small
 * file; and the process itself, by how late a thread wakes up.
 */
#include <arpa/inet.h>
#include <crest/crest.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- a neighbour, which sends back what it gets ---- */

static void *neighbour(void *listener)
{
    int fd = accept((int)(intptr_t)listener, NULL, NULL);
    uint64_t id;
    while (read(fd, &id, sizeof id) == sizeof id)
        if (write(fd, &id, sizeof id) != sizeof id)
            break;
    close(fd);
    return NULL;
}

/* ---- the node ---- */

typedef struct connection {
    int fd;
    crest_probe *ping; /* known to the reader once it is there */
} connection;

/* The node's own message for a ping: its id. */
static int send_ping(void *context, uint64_t id)
{
    const connection *to = context;
    return write(to->fd, &id, sizeof id) == sizeof id ? 0 : -1;
}

static void *reader(void *context)
{
    connection *from = context;
    uint64_t id;
    while (read(from->fd, &id, sizeof id) == sizeof id)
        crest_probe_pong(__atomic_load_n(&from->ping, __ATOMIC_ACQUIRE), id);
    return NULL;
}

/* Until it was answered so often. */
static void wait_for(const crest_probe *probe, uint64_t answers)
{
    crest_probe_state state;
    while (crest_probe_read(probe, &state) == CREST_OK && state.answers < answers)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void show(const char *what, const crest_probe *probe)
{
    crest_probe_state state;
    crest_probe_read(probe, &state);
    printf("%s: answered %s, failed %s, in less than a minute: %s\n", what,
           state.answers > 0 ? "yes" : "no", state.errors + state.timeouts > 0 ? "yes" : "no",
           state.last_rtt_ns < UINT64_C(60000000000) ? "yes" : "no");
}

static crest_probe *or_fail(crest_probe *probe, const crest_error *error)
{
    if (probe == NULL) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    return probe;
}

/* What a node's store does with a block. */
static void store(crest_timed_io *blocks)
{
    char path[] = "/tmp/crest-example-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    crest_timed_pwrite(blocks, fd, "a block", 7, 0);
    crest_timed_fdatasync(blocks, fd);
    close(fd);
}

int main(void)
{
    crest_error error;
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, length) != 0 || listen(listener, 100) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &length) != 0)
        return 1;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, neighbour, (void *)(intptr_t)listener);
    connection to = {socket(AF_INET, SOCK_STREAM, 0), NULL};
    if (connect(to.fd, (struct sockaddr *)&name, length) != 0)
        return 1;
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(name.sin_port));

    crest_hiccups_start(NULL, &error);
    crest_probe_options often = {.interval_ms = 20};
    crest_probe_options disk_often = {.interval_ms = 100};
    crest_probe *ping = or_fail(crest_probe_ping("node-1", send_ping, &to, &often, &error), &error);
    __atomic_store_n(&to.ping, ping, __ATOMIC_RELEASE);
    pthread_create(&threads[1], NULL, reader, &to);
    crest_probe *watch = or_fail(crest_probe_socket("node-1", to.fd, &often, &error), &error);
    crest_probe *dial = or_fail(crest_probe_connect("node-1", address, &often, &error), &error);
    crest_probe *disk = or_fail(crest_probe_file("tmp", "/tmp", &disk_often, &error), &error);
    crest_timed_io blocks;
    crest_timed_io_init(&blocks, "blocks", NULL, &error);
    store(&blocks);

    wait_for(ping, 5);
    wait_for(watch, 3);
    wait_for(dial, 3);
    wait_for(disk, 1);
    show("ping", ping);
    show("socket", watch);
    show("connect", dial);
    show("disk", disk);

    /* probes before what they use; the socket's takes a last reading */
    crest_probe_stop(ping);
    crest_probe_stop(watch);
    crest_probe_stop(dial);
    crest_probe_stop(disk);
    crest_hiccups_stop();
    shutdown(to.fd, SHUT_RDWR);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    close(to.fd);
    close(listener);

    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view series;
    const char *const synced[] = {"blocks", "fdatasync", "ok"}, *const ok[] = {"ok"};
    if (crest_snapshot_find(snapshot, "disk.call-time", synced, 3, &series) == CREST_OK)
        printf("blocks synchronised: %" PRIu64 "\n", crest_distribution_count(series.distribution));
    if (crest_snapshot_find(snapshot, "process.hiccups", ok, 1, &series) == CREST_OK)
        printf("looked for hiccups: %s\n",
               crest_distribution_count(series.distribution) > 0 ? "yes" : "no");
    crest_snapshot_free(snapshot);
    return 0;
}
