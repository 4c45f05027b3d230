/* SPDX-License-Identifier: Apache-2.0 */
/* What gauge.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_GAUGE_OFF_H
#define CREST_GAUGE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API void crest_gauge_set_slow(crest_gauge *gauge, double value)
{
    (void)gauge, (void)value;
}

CREST_API void crest_gauge_add_slow(crest_gauge *gauge, double delta)
{
    (void)gauge, (void)delta;
}

CREST_API void crest_gauge_set(crest_gauge *gauge, double value)
{
    (void)gauge, (void)value;
}

CREST_API void crest_gauge_add(crest_gauge *gauge, double delta)
{
    (void)gauge, (void)delta;
}

CREST_API void crest_gauge_set_to_now(crest_gauge *gauge)
{
    (void)gauge;
}

CREST_API double crest_gauge_value(const crest_gauge *gauge)
{
    (void)gauge;
    return 0;
}

CREST_END_C

#endif
