/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample's operation is, in one word: its metric, and in the upper 16 bits the stage that
 * was worked towards. Addresses of programs on x86-64 have 47 bits, as long as no program asks mmap
 * for more (Linux, Documentation/arch/x86/x86_64/5level-paging). 0: no operation.
 */
#ifndef CREST_PROFILING_SAMPLE_LABEL_H
#define CREST_PROFILING_SAMPLE_LABEL_H

#include <stdint.h>

#define CREST_SAMPLE_LABEL_STAGE_BIT 48u

struct crest_metric;

/* stage: 1 + its index; 0: none. */
static inline uint64_t crest_sample_label(const struct crest_metric *metric, uint32_t stage)
{
    return metric != 0
               ? (uint64_t)(uintptr_t)metric | (uint64_t)stage << CREST_SAMPLE_LABEL_STAGE_BIT
               : 0;
}

static inline const struct crest_metric *crest_sample_label_metric(uint64_t label)
{
    uint64_t address = label & ((UINT64_C(1) << CREST_SAMPLE_LABEL_STAGE_BIT) - 1);
    return (const struct crest_metric *)(uintptr_t)address;
}

static inline uint32_t crest_sample_label_stage(uint64_t label)
{
    return (uint32_t)(label >> CREST_SAMPLE_LABEL_STAGE_BIT);
}

#endif
