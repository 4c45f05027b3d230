/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of operations whose spans are collected. See trace_ops.h.
 */
#include "tracing/trace_ops.h"
#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

int crest_trace_ops_init(crest_trace_ops *ops)
{
    memset(ops, 0, sizeof *ops);
    ops->all = crest_alloc(CREST_TRACE_OPS_MAX + 1, sizeof *ops->all);
    ops->bucket = crest_alloc(CREST_TRACE_OPS_MAX, sizeof *ops->bucket);
    ops->fresh = 1;
    if (ops->all != NULL && ops->bucket != NULL)
        return 1;
    crest_trace_ops_fini(ops);
    return 0;
}

void crest_trace_ops_fini(crest_trace_ops *ops)
{
    crest_alloc_free(ops->all);
    crest_alloc_free(ops->bucket);
    memset(ops, 0, sizeof *ops);
}

/* ---- by trace ---- */

static uint32_t *ops_bucket(const crest_trace_ops *ops, const crest_trace_id *trace)
{
    uint64_t words[2];
    memcpy(words, trace, sizeof words);
    uint64_t hash = crest_hash_mix(crest_hash_mix(crest_hash_seed(), words[0]), words[1]);
    return &ops->bucket[hash % CREST_TRACE_OPS_MAX];
}

crest_trace_op *crest_trace_op_find(const crest_trace_ops *ops, const crest_trace_id *trace)
{
    for (uint32_t number = *ops_bucket(ops, trace); number != 0; number = ops->all[number].chain)
        if (memcmp(&ops->all[number].trace, trace, sizeof *trace) == 0)
            return &ops->all[number];
    return NULL;
}

static void ops_unchain(crest_trace_ops *ops, uint32_t number)
{
    uint32_t *link = ops_bucket(ops, &ops->all[number].trace);
    while (*link != number)
        link = &ops->all[*link].chain;
    *link = ops->all[number].chain;
}

/* ---- by age ---- */

static void ops_append(crest_trace_ops *ops, crest_trace_ages *ages, uint32_t number)
{
    crest_trace_op *op = &ops->all[number];
    op->older = ages->newest;
    op->newer = 0;
    if (ages->newest != 0)
        ops->all[ages->newest].newer = number;
    else
        ages->oldest = number;
    ages->newest = number;
    ages->count++;
}

static void ops_remove(crest_trace_ops *ops, crest_trace_ages *ages, uint32_t number)
{
    const crest_trace_op *op = &ops->all[number];
    if (op->older != 0)
        ops->all[op->older].newer = op->newer;
    else
        ages->oldest = op->newer;
    if (op->newer != 0)
        ops->all[op->newer].older = op->older;
    else
        ages->newest = op->older;
    ages->count--;
}

/* ---- life ---- */

static uint32_t ops_place(crest_trace_ops *ops)
{
    if (ops->fresh <= CREST_TRACE_OPS_MAX)
        return ops->fresh++;
    uint32_t number = ops->decided.oldest;
    if (number != 0) {
        ops_remove(ops, &ops->decided, number);
        ops_unchain(ops, number);
    }
    return number;
}

crest_trace_op *crest_trace_op_make(crest_trace_ops *ops, const crest_trace_id *trace)
{
    uint32_t number = ops_place(ops);
    if (number == 0)
        return NULL;
    crest_trace_op *op = &ops->all[number];
    memset(op, 0, sizeof *op);
    op->trace = *trace;
    op->state = CREST_TRACE_WAITING;
    uint32_t *bucket = ops_bucket(ops, trace);
    op->chain = *bucket;
    *bucket = number;
    ops_append(ops, &ops->waiting, number);
    return op;
}

void crest_trace_op_decided(crest_trace_ops *ops, crest_trace_op *op, crest_trace_state state)
{
    uint32_t number = (uint32_t)(op - ops->all);
    ops_remove(ops, op->state == CREST_TRACE_WAITING ? &ops->waiting : &ops->decided, number);
    op->state = (uint8_t)state;
    ops_append(ops, &ops->decided, number);
}

crest_trace_op *crest_trace_op_oldest(const crest_trace_ops *ops)
{
    return ops->waiting.oldest != 0 ? &ops->all[ops->waiting.oldest] : NULL;
}

crest_trace_op *crest_trace_op_newer(const crest_trace_ops *ops, const crest_trace_op *op)
{
    return op->newer != 0 ? &ops->all[op->newer] : NULL;
}
