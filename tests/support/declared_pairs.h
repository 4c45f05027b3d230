/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations as a header shares them, of every instrument and every family; test_declared.c
 * defines them, in a static registry of an embedded library with eight label keys.
 */
#ifndef CREST_TESTS_DECLARED_PAIRS_H
#define CREST_TESTS_DECLARED_PAIRS_H

#include <crest/crest.h>

CREST_BEGIN_C

CREST_REGISTRY_DECLARE(pairs_registry);
CREST_COUNTER_DECLARE(pairs_counter);
CREST_GAUGE_DECLARE(pairs_gauge);
CREST_HISTOGRAM_DECLARE(pairs_histogram);
CREST_TIMER_DECLARE(pairs_timer);
CREST_RANGE_SAMPLER_DECLARE(pairs_sampler);
CREST_STAGES_DECLARE(pairs_stages);
CREST_MUTEX_DECLARE(pairs_mutex);
CREST_COUNTER_FAMILY_DECLARE(pairs_counters, a, b, c, d, e, f, g, h);
CREST_GAUGE_FAMILY_DECLARE(pairs_gauges, a, b, c, d, e, f, g, h);
CREST_HISTOGRAM_FAMILY_DECLARE(pairs_histograms, a, b, c, d, e, f, g, h);
CREST_TIMER_FAMILY_DECLARE(pairs_timers, a, b, c, d, e, f, g, h);
CREST_RANGE_SAMPLER_FAMILY_DECLARE(pairs_samplers, a, b, c, d, e, f, g, h);
CREST_STAGES_FAMILY_DECLARE(pairs_many_stages, a, b, c, d, e, f, g, h);

CREST_END_C

#endif
