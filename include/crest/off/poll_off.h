/* SPDX-License-Identifier: Apache-2.0 */
/* What poll.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_POLL_OFF_H
#define CREST_POLL_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_poll *crest_gauge_poll(crest_gauge *gauge, crest_gauge_poll_fn *fn, void *context,
        const crest_poll_options *options, crest_status *status)
{
    (void)gauge, (void)fn, (void)context, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_poll);
}

CREST_API crest_poll *crest_counter_poll(crest_counter *counter, crest_counter_poll_fn *fn,
        void *context, const crest_poll_options *options, crest_status *status)
{
    (void)counter, (void)fn, (void)context, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_poll);
}

CREST_API crest_poll *crest_histogram_poll(crest_histogram *histogram, crest_value_poll_fn *fn,
        void *context, const crest_poll_options *options, crest_status *status)
{
    (void)histogram, (void)fn, (void)context, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_poll);
}

CREST_API crest_poll *crest_range_sampler_poll(crest_range_sampler *sampler,
        crest_value_poll_fn *fn, void *context, const crest_poll_options *options,
        crest_status *status)
{
    (void)sampler, (void)fn, (void)context, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_poll);
}

CREST_API crest_poll *crest_poll_every(const char *name, crest_poll_fn *fn, void *context,
        const crest_poll_options *options, crest_status *status)
{
    (void)name, (void)fn, (void)context, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_poll);
}

CREST_API crest_status crest_poll_stop(crest_poll *poll)
{
    (void)poll;
    return CREST_OK;
}

CREST_API crest_status crest_poll_read(const crest_poll *poll, crest_poll_state *state)
{
    (void)poll;
    if (state != NULL)
        __builtin_memset((void *)state, 0, sizeof *state);
    return CREST_NOT_FOUND;
}

CREST_END_C

#endif
