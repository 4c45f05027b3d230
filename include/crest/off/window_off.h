/* SPDX-License-Identifier: Apache-2.0 */
/* What window.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_WINDOW_OFF_H
#define CREST_WINDOW_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API unsigned crest_window_results(const crest_series_view *series, const unsigned *window_s,
        unsigned windows, crest_window_result results[CREST_WINDOW_RESULTS_MAX])
{
    (void)series, (void)window_s, (void)windows, (void)results;
    return 0;
}

CREST_API crest_status crest_windows_configure(const crest_windows_options *options)
{
    (void)options;
    return CREST_OK;
}

CREST_API crest_status crest_ticker_attach(crest_registry *registry)
{
    (void)registry;
    return CREST_OK;
}

CREST_API crest_status crest_ticker_detach(crest_registry *registry)
{
    (void)registry;
    return CREST_OK;
}

CREST_API crest_rate crest_counter_rate(const crest_counter *counter, unsigned window_s)
{
    crest_rate nothing;
    (void)counter, (void)window_s;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_window crest_histogram_window(const crest_histogram *histogram, unsigned window_s)
{
    crest_window nothing;
    (void)histogram, (void)window_s;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_window crest_timer_window(const crest_timer *timer, crest_outcome outcome,
        unsigned window_s)
{
    crest_window nothing;
    (void)timer, (void)outcome, (void)window_s;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_window crest_range_sampler_window(const crest_range_sampler *sampler,
        unsigned window_s)
{
    crest_window nothing;
    (void)sampler, (void)window_s;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_END_C

#endif
