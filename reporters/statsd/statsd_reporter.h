/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private struct of a StatsD reporter, for the two files that make it: statsd_options.c, which
 * sets it up, and statsd.c, which reports.
 */
#ifndef CREST_REPORTERS_STATSD_REPORTER_H
#define CREST_REPORTERS_STATSD_REPORTER_H

#include "common/line_packet.h"
#include "common/packet_socket.h"
#include "statsd/statsd_sent.h"

#include <pthread.h>

typedef struct statsd_reporter {
    crest_reporter reporter; /* first: what the caller holds */
    crest_packet_url url;
    crest_statsd_form form;
    int windows;
    char prefix[CREST_STATSD_PREFIX_BYTES_MAX + 1];
    char *service, *version, *env,
        *entity; /* of the environment; NULL: not set, or another dialect */
    crest_packet_socket *to;
    /* held during a report (trylock only); guards the fields below */
    pthread_mutex_t one_at_a_time;
    crest_line_packet packet;
    crest_statsd_sent sent;
    int unsettled; /* the last report's end is still on its way, and `sent` waits for it */
    crest_statsd_identity *identity;
    char tags[CREST_STATSD_NAME_BYTES_MAX];
    /* of the report under way */
    crest_statsd_entry *entry; /* of the series whose lines are put; NULL: of a gauge */
    crest_error *error;
    crest_status status;
    uint64_t deadline_ns;
    int final;
} statsd_reporter;

crest_status crest_statsd_report(crest_reporter *self, const crest_report *report,
                                 crest_error *error);

#endif
