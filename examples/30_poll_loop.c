/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of poll(2) with a value that only the host's own thread may look at: a poll with .loop is
 * called by crest_loop_run alone. Reporters have their threads, as usual.
 */
#include <crest/crest.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

CREST_GAUGE(sessions, "demo.sessions", "Sessions that are open.");

static pthread_t host;
static unsigned looked;

static double count_sessions(void *count)
{
    looked += pthread_equal(host, pthread_self()) != 0;
    return *(int *)count;
}

static double shown(void)
{
    crest_series_view view;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_snapshot_find(snapshot, "demo.sessions", NULL, 0, &view);
    crest_snapshot_free(snapshot);
    return view.gauge;
}

int main(void)
{
    crest_error error;
    int count = 0, wait_ms = 0;
    if (crest_start("windows=off", &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    host = pthread_self();
    const crest_poll_options mine = {.interval_ms = 20, .loop = 1};
    crest_poll *poll_of_ours = crest_gauge_poll(&sessions, count_sessions, &count, &mine, NULL);
    struct pollfd events[] = {{.fd = crest_loop_fd(&error), .events = POLLIN}};
    while (looked < 3) {
        count++; /* the host's own work */
        /* either says when: the descriptor among the host's own, or wait_ms */
        if (poll(events, 1, wait_ms) >= 0 && crest_loop_run(&wait_ms) != CREST_OK)
            return 1;
    }
    printf("%u looks, %s\n", looked, shown() > 0 ? "and the snapshot shows them" : "in vain");
    crest_poll_stop(poll_of_ours);
    return crest_stop(2000, NULL) == CREST_OK ? 0 : 1;
}
