/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfluxDB: a series is a line, and its values are fields. The server here is a socket that prints
 * what it receives, without the timestamps; a real one would get
 *
 *     CREST_OPTS='influxdb=http://127.0.0.1:8086/mydb,service=rnode,interval=10s' ./node
 */
#include <crest/crest.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

CREST_COUNTER_FAMILY(messages, "comm.messages", "Messages sent.", kind);
CREST_GAUGE(balance, "casper.balance", "May be below zero.");
CREST_TIMER(replay, "casper.replay-time", "Replaying a block.");

static void print_lines(int server)
{
    char packet[2048];
    ssize_t length = recv(server, packet, sizeof packet - 1, MSG_DONTWAIT);
    packet[length > 0 ? length : 0] = '\0';
    for (char *line = strtok(packet, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        *strrchr(line, ' ') = '\0'; /* the timestamp */
        printf("%s\n", line);
    }
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

    char options[256];
    snprintf(options, sizeof options,
             "influxdb=%s,influxdb.percentiles=50:99.9,influxdb.include=casper.*:comm.*,"
             "service=rnode,instance=node-7,interval=1h",
             url);
    crest_error error;
    if (crest_start(options, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    crest_counter_inc(messages_with("a b"));
    crest_gauge_set(&balance, -2.5);
    for (int i = 0; i < 3; i++)
        crest_timer_record(&replay, 7000000, CREST_OUTCOME_OK);
    crest_stop(2000, &error); /* with a last report */
    print_lines(server);
    close(server);
    return 0;
}
