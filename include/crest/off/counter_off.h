/* SPDX-License-Identifier: Apache-2.0 */
/* What counter.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_COUNTER_OFF_H
#define CREST_COUNTER_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API void crest_counter_add_slow(crest_counter *counter, int64_t amount)
{
    (void)counter, (void)amount;
}

CREST_API void crest_counter_full_slow(crest_counter *counter)
{
    (void)counter;
}

CREST_API void crest_counter_add(crest_counter *counter, int64_t amount)
{
    (void)counter, (void)amount;
}

CREST_API void crest_counter_inc(crest_counter *counter)
{
    (void)counter;
}

CREST_API uint64_t crest_counter_value(const crest_counter *counter)
{
    (void)counter;
    return 0;
}

CREST_END_C

#endif
