/* SPDX-License-Identifier: Apache-2.0 */
/* What cell.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_CELL_OFF_H
#define CREST_CELL_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API uint64_t *crest_cell_of(const crest_handle *handle)
{
    (void)handle;
    return NULL;
}

CREST_API uint64_t crest_top_bit(uint64_t word)
{
    (void)word;
    return 0;
}

CREST_API int crest_shard_record(crest_shard *shard, uint64_t value, uint64_t times)
{
    (void)shard, (void)value, (void)times;
    return 0;
}

CREST_END_C

#endif
