/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StatsD: counters go out as their growth, distributions as values with sample rates, gauges as
 * they are. The server here is a socket that prints what it receives; a real one would get
 *
 *     CREST_OPTS='statsd=udp://127.0.0.1:8125,statsd.prefix=node7,interval=10s' ./node
 *
 * and a Datadog agent the same with statsd.dialect=datadog.
 */
#include <crest/crest.h>
#include <crest/statsd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

CREST_REGISTRY(mine);
#define CREST_REGISTRY_HERE &mine
CREST_COUNTER(blocks, "casper.blocks-created", "Blocks this node proposed.");
CREST_COUNTER_FAMILY(messages, "comm.messages", "Messages sent.", kind);
CREST_GAUGE(balance, "casper.balance", "May be below zero.");
CREST_TIMER(replay, "casper.replay-time", "Replaying a block.");

static void print_packet(int server)
{
    char packet[2048];
    ssize_t length = recv(server, packet, sizeof packet, MSG_DONTWAIT);
    printf("--- %zd bytes\n%.*s\n", length, length > 0 ? (int)length : 0, packet);
}

int main(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    int server = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(server, (struct sockaddr *)&here, size) != 0 ||
        getsockname(server, (struct sockaddr *)&here, &size) != 0)
        return 1;
    char url[64];
    snprintf(url, sizeof url, "udp://127.0.0.1:%u", ntohs(here.sin_port));

    crest_error error;
    crest_statsd_options options = {.url = url, .prefix = "node7"};
    crest_reporter *statsd = crest_statsd_new(&options, &error);
    crest_schedule hourly = {.interval_ms = 3600000};
    if (statsd == NULL || crest_reporter_attach(&mine, statsd, &hourly, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    crest_counter_add(&blocks, 3);
    crest_counter_inc(messages_with("ping"));
    crest_gauge_set(&balance, -2.5);
    for (int i = 0; i < 3; i++)
        crest_timer_record(&replay, 7000000, CREST_OUTCOME_OK);
    crest_report_now(statsd, 2000, &error);
    print_packet(server);

    crest_counter_inc(&blocks); /* only what is news goes out again, and gauges */
    crest_reporter_detach(statsd, 2000, &error);
    print_packet(server);
    crest_reporter_free(statsd);
    close(server);
    return 0;
}
