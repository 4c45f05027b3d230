/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of back-filling. See hiccup_fill.h.
 */
#include "latency/local/hiccup_fill.h"

#include <crest/hiccups.h>

crest_hiccup_fill crest_hiccup_fill_begin(uint64_t excess_ns, uint64_t resolution_ns)
{
    crest_hiccup_fill fill = {.next_ns = excess_ns, .step_ns = resolution_ns, .first = 1};
    if (fill.next_ns > CREST_HICCUPS_LONGEST_NS)
        fill.next_ns = CREST_HICCUPS_LONGEST_NS;
    fill.left = fill.next_ns / resolution_ns;
    if (fill.left == 0)
        fill.left = 1;
    fill.group = (fill.left - 1 + CREST_HICCUPS_STEPS_MAX - 1) / CREST_HICCUPS_STEPS_MAX;
    return fill;
}

int crest_hiccup_fill_next(crest_hiccup_fill *fill, uint64_t *value_ns, uint64_t *times)
{
    if (fill->left == 0)
        return 0;
    uint64_t together = fill->first ? 1 : fill->group;
    if (together > fill->left)
        together = fill->left;
    /* the values lie a step apart: their mean is halfway between the first and the last */
    *value_ns = fill->next_ns - (together - 1) * fill->step_ns / 2;
    *times = together;
    fill->first = 0;
    fill->left -= together;
    if (fill->left != 0)
        fill->next_ns -= together * fill->step_ns;
    return 1;
}
