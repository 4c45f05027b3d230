/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of probes share: connections over loopback, waiting for a probe, the library's
 * threads and a process's descriptors. Tests nothing itself.
 */
#ifndef CREST_TESTS_PROBE_FIXTURE_H
#define CREST_TESTS_PROBE_FIXTURE_H

#include "support/core_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>

/* A test that waits longer has failed; nothing takes it on a healthy machine. */
#define PROBE_PATIENCE_MS 30000u
#define PROBE_MS UINT64_C(1000000)

__attribute__((unused)) static uint64_t probe_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

__attribute__((unused)) static void probe_sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

__attribute__((unused)) static crest_probe_state probe_state(const crest_probe *probe)
{
    crest_probe_state state;
    assert_int_equal(crest_probe_read(probe, &state), CREST_OK);
    return state;
}

/* Waits until the condition holds, which may name `now`, the probe's state. */
#define PROBE_UNTIL(probe, condition)                                                              \
    do {                                                                                           \
        uint64_t probe_began_ms = probe_now_ms();                                                  \
        for (;;) {                                                                                 \
            crest_probe_state now = probe_state(probe);                                            \
            if (condition)                                                                         \
                break;                                                                             \
            if (probe_now_ms() - probe_began_ms > PROBE_PATIENCE_MS)                               \
                fail_msg("never: %s; %llu tries, %llu answers, %llu errors, %llu timeouts: %s",    \
                         #condition, (unsigned long long)now.tries,                                \
                         (unsigned long long)now.answers, (unsigned long long)now.errors,          \
                         (unsigned long long)now.timeouts, now.last_error.message);                \
            probe_sleep_ms(1);                                                                     \
        }                                                                                          \
    } while (0)

/* Makes a listening socket on a free port of 127.0.0.1; its address as text. */
__attribute__((unused)) static int probe_listen(int backlog, char address[64])
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fixture_holds(fd >= 0);
    fixture_equal(bind(fd, (struct sockaddr *)&name, length), 0);
    if (backlog >= 0)
        fixture_equal(listen(fd, backlog), 0);
    fixture_equal(getsockname(fd, (struct sockaddr *)&name, &length), 0);
    snprintf(address, 64, "127.0.0.1:%u", ntohs(name.sin_port));
    return fd;
}

/* Connects to a socket of probe_listen. */
__attribute__((unused)) static int probe_dial(const char *address)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                               .sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fixture_holds(fd >= 0);
    fixture_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

/* Makes both ends of a connection. */
__attribute__((unused)) static void probe_pair(int ends[2])
{
    char address[64];
    int listener = probe_listen(1, address);
    ends[0] = probe_dial(address);
    ends[1] = accept(listener, NULL, NULL);
    fixture_holds(ends[1] >= 0);
    int on = 1;
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

/* Sends so many bytes from one end to the other, and one back, so that all are acknowledged. */
__attribute__((unused)) static void probe_exchange(const int ends[2], size_t bytes)
{
    char buffer[4096] = "";
    for (size_t left = bytes; left > 0;) {
        size_t part = left < sizeof buffer ? left : sizeof buffer;
        assert_int_equal(write(ends[0], buffer, part), (ssize_t)part);
        for (size_t got = 0; got < part;) {
            ssize_t some = read(ends[1], buffer, part - got);
            assert_true(some > 0);
            got += (size_t)some;
        }
        left -= part;
    }
    assert_int_equal(write(ends[1], buffer, 1), 1);
    assert_int_equal(read(ends[0], buffer, 1), 1);
}

/* Counts entries of a directory of /proc; only those with a `file` that reads `text`, if one is
 * given. */
__attribute__((unused)) static unsigned probe_count(const char *directory, const char *file,
                                                    const char *text)
{
    unsigned count = 0;
    DIR *entries = opendir(directory);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[600], name[64] = "";
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", directory, entry->d_name, file ? file : "");
        FILE *content = file != NULL ? fopen(path, "r") : NULL;
        if (content != NULL) {
            if (fgets(name, sizeof name, content) != NULL)
                name[strcspn(name, "\n")] = '\0';
            fclose(content);
        }
        count += file == NULL || strcmp(name, text) == 0;
    }
    closedir(entries);
    return count;
}

__attribute__((unused)) static unsigned probe_threads(const char *name)
{
    return probe_count("/proc/self/task", "comm", name);
}

/* A thread that ended may still show for a moment, and a new thread has yet to take its name. */
__attribute__((unused)) static void probe_threads_are(const char *name, unsigned expected)
{
    for (unsigned tries = 0; probe_threads(name) != expected; tries++) {
        assert_true(tries < PROBE_PATIENCE_MS);
        probe_sleep_ms(1);
    }
}

__attribute__((unused)) static unsigned probe_descriptors(void)
{
    return probe_count("/proc/self/fd", NULL, NULL);
}

/* Waits likewise, for a thread that closes a descriptor as it ends. */
__attribute__((unused)) static void probe_descriptors_are(unsigned expected)
{
    for (unsigned tries = 0; probe_descriptors() != expected; tries++) {
        if (tries > PROBE_PATIENCE_MS)
            assert_int_equal(probe_descriptors(), expected);
        probe_sleep_ms(1);
    }
}

#endif
