/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being scraped: a program serves its own metrics over HTTP, for Prometheus to read, and reads them
 * once itself. `prometheus=27378` in crest_start's options, or CREST_OPTS, does the same without
 * code; 0 is any free port.
 *
 *     ./21_scrape 60 &   curl http://127.0.0.1:PORT/metrics
 */
#include <arpa/inet.h>
#include <crest/crest.h>
#include <crest/prometheus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

CREST_COUNTER(visits, "demo.visits", "Visitors so far.");

/* Prints the lines of the page that are about visitors; Prometheus would ask in the same way. */
static void look(unsigned port)
{
    static const char request[] = "GET /metrics?name[]=demo_visits_total HTTP/1.0\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((unsigned short)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    FILE *answer = client >= 0 ? fdopen(client, "r+") : NULL;
    if (answer == NULL || connect(client, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(client, request, sizeof request - 1) < 0)
        return;
    char line[1024];
    while (fgets(line, sizeof line, answer) != NULL)
        if (strstr(line, "demo_visits_total") != NULL)
            fputs(line, stdout);
    fclose(answer);
}

int main(int argc, char **argv)
{
    crest_error error;
    crest_prometheus_options options = {.listen = "127.0.0.1:0"};
    crest_reporter *scrape = crest_prometheus_new(&options, &error);
    if (scrape == NULL || crest_reporter_attach(NULL, scrape, NULL, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fprintf(stderr, "http://127.0.0.1:%u/metrics\n", crest_prometheus_port(scrape));
    crest_counter_add(&visits, 3);
    look(crest_prometheus_port(scrape));
    sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
    if (crest_reporter_detach(scrape, 2000, &error) != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    crest_reporter_free(scrape);
    return 0;
}
