/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with one thread and its own epoll loop, which serves Crest's work beside its own: no
 * thread is made. The client that reads the page is a child, so that it is no thread either.
 *
 *     ./29_one_thread 60     serves for so many seconds
 */
#include <arpa/inet.h>
#include <crest/crest.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

CREST_COUNTER(turns, "demo.turns", "Turns of the host's own timer.");
CREST_GAUGE(temperature, "demo.temperature", "Of the room, in degrees.");

static double read_sensor(void *degrees)
{
    return *(double *)degrees;
}

static unsigned threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* The child: asks as Prometheus would, and exits. */
static void scrape(unsigned port)
{
    static const char request[] = "GET /metrics?name[]=demo_turns_total&name[]=demo_temperature "
                                  "HTTP/1.0\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    FILE *answer = client >= 0 ? fdopen(client, "r+") : NULL;
    if (answer == NULL || connect(client, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(client, request, sizeof request - 1) < 0)
        _exit(1);
    char line[1024];
    while (fgets(line, sizeof line, answer) != NULL)
        if (strncmp(line, "demo_", 5) == 0)
            fputs(line, stdout);
    fflush(stdout);
    _exit(0);
}

static unsigned free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int taken = socket(AF_INET, SOCK_STREAM, 0);
    if (taken < 0 || bind(taken, (struct sockaddr *)&at, size) != 0 ||
        getsockname(taken, (struct sockaddr *)&at, &size) != 0)
        exit(1);
    close(taken);
    return ntohs(at.sin_port);
}

static void wait_for(int epoll, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int main(int argc, char **argv)
{
    crest_error error;
    char options[64];
    unsigned port = free_port();
    double degrees = 5;
    snprintf(options, sizeof options, "threads=off,prometheus=127.0.0.1:%u", port);
    if (crest_start(options, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    /* after the start, so that no thread is made for it */
    crest_poll *poll = crest_gauge_poll(&temperature, read_sensor, &degrees, NULL, NULL);

    struct itimerspec often = {.it_interval.tv_nsec = 10000000, .it_value.tv_nsec = 10000000};
    int own = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int crest = crest_loop_fd(&error), epoll = epoll_create1(EPOLL_CLOEXEC);
    timerfd_settime(own, 0, &often, NULL);
    wait_for(epoll, own);
    wait_for(epoll, crest);

    unsigned counted = 0, last = argc > 1 ? (unsigned)atoi(argv[1]) * 100 : 3;
    pid_t child = 0;
    while (counted < last || (child != 0 && waitpid(child, NULL, WNOHANG) == 0)) {
        struct epoll_event events[2];
        int count = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < count; i++) {
            unsigned long long expired;
            if (events[i].data.fd == crest)
                crest_loop_run(NULL);
            else if (read(own, &expired, sizeof expired) > 0 && counted < last && ++counted != 0)
                crest_counter_inc(&turns);
        }
        if (counted == 3 && child == 0 && (child = fork()) == 0)
            scrape(port);
    }
    printf("%u thread\n", threads());
    crest_poll_stop(poll);
    crest_stop(2000, NULL);
    return threads() == 1 ? 0 : 1;
}
