/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host program and the plugin of check_plugin.py have in common: metrics that the host
 * defines, and the plugin's functions.
 */
#ifndef CREST_TESTS_PLUGIN_SHARED_H
#define CREST_TESTS_PLUGIN_SHARED_H

#include <crest/crest.h>

CREST_COUNTER_DECLARE(shared_events);
CREST_GAUGE_DECLARE(shared_level);
CREST_HISTOGRAM_DECLARE(shared_size);
CREST_TIMER_DECLARE(shared_time);
CREST_COUNTER_FAMILY_DECLARE(shared_by_kind, kind);

/* Records `times` times into everything that the plugin knows. */
#define PLUGIN_RECORD "plugin_record"
typedef void plugin_record_fn(int times, int with_host);

/* How often the plugin recorded into its own counter since the process began, as it reads it. */
#define PLUGIN_COUNT "plugin_count"
typedef uint64_t plugin_count_fn(void);

#endif
