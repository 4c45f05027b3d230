/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells crest_start of the reporters in this library when it is loaded. No code calls this file, so
 * a static link has to ask for it by its symbol: -Wl,--undefined=crest_reporters_linked.
 */
#include "kinds.h"

#include <crest/pushgateway.h>

const int crest_reporters_linked = 1;

__attribute__((constructor)) static void linked_add_kinds(void)
{
    /* A kind that cannot be added shows when crest_start does not know its option. */
    (void)crest_reporter_kind_add(&crest_pushgateway_kind);
    (void)crest_reporter_kind_add(&crest_console_kind);
    (void)crest_reporter_kind_add(&crest_textfile_kind);
    (void)crest_reporter_kind_add(&crest_statsd_kind);
    (void)crest_reporter_kind_add(&crest_profile_reporter_kind);
    (void)crest_reporter_kind_add(&crest_live_kind);
    (void)crest_reporter_kind_add(&crest_json_kind);
    (void)crest_reporter_kind_add(&crest_spans_json_kind);
    (void)crest_reporter_kind_add(&crest_events_json_kind);
    (void)crest_reporter_kind_add(&crest_events_text_kind);
    (void)crest_reporter_kind_add(&crest_zipkin_kind);
    (void)crest_reporter_kind_add(&crest_influxdb_kind);
    (void)crest_reporter_kind_add(&crest_hlog_kind);
    (void)crest_reporter_kind_add(&crest_prometheus_kind);
    (void)crest_reporter_kind_add(&crest_otlp_kind);
}
