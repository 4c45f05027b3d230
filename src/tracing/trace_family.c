/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of one operation's spans. See trace_family.h.
 */
#include "tracing/trace_family.h"
#include "base/alloc.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distinct names whose first span is known; of further ones each span has an id of its own. */
#define FAMILY_NAMES_MAX 256u
#define FAMILY_NAME_BYTES 512u
#define FAMILY_SKEW_NS UINT64_C(100000)

typedef struct family_member {
    crest_span_id id;
    crest_span_record *record;
    uint32_t order; /* of arrival; those whose ids were given out come before all others */
    uint32_t mark;  /* of the look for circles */
} family_member;

typedef struct family_name {
    const crest_metric *metric;
    unsigned stage;
} family_name;

struct crest_trace_family {
    family_member member[CREST_TRACE_FAMILY_MAX];
    size_t count;
    family_name name[FAMILY_NAMES_MAX];
    unsigned names;
};

crest_trace_family *crest_trace_family_new(void)
{
    return crest_alloc(1, sizeof(crest_trace_family));
}

void crest_trace_family_free(crest_trace_family *family)
{
    crest_alloc_free(family);
}

int crest_trace_is_root(const crest_span_record *record)
{
    unsigned flags = CREST_SPAN_FLAGS(record);
    return CREST_SPAN_STAGE(record) == 0 &&
           ((flags & CREST_SPAN_HAS_PARENT) == 0 || (flags & CREST_SPAN_REMOTE) != 0);
}

/* ---- ids ---- */

/* The id that crest_span_id_of gives the name of this record. */
static crest_span_id family_named(const crest_trace_op *op, const crest_metric *metric,
                                  unsigned stage, const char *instance)
{
    char name[FAMILY_NAME_BYTES];
    if (stage == 0 || stage > metric->stage_count)
        return crest_span_id_in(&op->trace, metric->name, instance);
    snprintf(name, sizeof name, "%s.%s", metric->name, metric->stages[stage - 1]);
    return crest_span_id_in(&op->trace, name, instance);
}

/* An id of its own: the name's, mixed with when it was and its number in the operation. */
static crest_span_id family_own(crest_trace_op *op, const crest_span_record *record,
                                const char *instance)
{
    crest_span_id id =
        family_named(op, crest_span_metric(record), CREST_SPAN_STAGE(record), instance);
    do
        id = crest_hash_mix(crest_hash_mix(id, record->end_ns ^ record->duration_ns), ++op->handed);
    while (id == 0);
    return id;
}

/* Whether this is the first span of its name. */
static int family_first(crest_trace_family *family, const crest_span_record *record)
{
    unsigned stage = CREST_SPAN_STAGE(record);
    for (unsigned i = 0; i < family->names; i++)
        if (family->name[i].metric == crest_span_metric(record) && family->name[i].stage == stage)
            return 0;
    if (family->names == FAMILY_NAMES_MAX)
        return 0;
    family->name[family->names++] = (family_name){crest_span_metric(record), stage};
    return 1;
}

static int family_order(const void *a, const void *b)
{
    const family_member *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

static family_member *family_find(crest_trace_family *family, crest_span_id id)
{
    size_t low = 0, high = family->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (family->member[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < family->count && family->member[low].id == id ? &family->member[low] : NULL;
}

static void family_sort(crest_trace_family *family)
{
    qsort(family->member, family->count, sizeof *family->member, family_order);
}

/* Replaces ids that are there twice. */
static void family_unlike(crest_trace_family *family, crest_trace_op *op, const char *instance)
{
    int twice = 0;
    family_sort(family);
    for (size_t i = 1; i < family->count; i++)
        if (family->member[i].id == family->member[i - 1].id) {
            family->member[i].record->id = family_own(op, family->member[i].record, instance);
            twice = 1;
        }
    for (size_t i = 0; twice && i < family->count; i++)
        family->member[i].id = family->member[i].record->id;
    if (twice)
        family_sort(family);
}

/* ---- the tree ---- */

static void family_gather(crest_trace_family *family, const crest_trace_nodes *nodes,
                          uint32_t number)
{
    for (; number != 0 && family->count < CREST_TRACE_FAMILY_MAX;
         number = crest_trace_node_at(nodes, number)->next) {
        crest_span_record *record = &crest_trace_node_at(nodes, number)->as.record;
        family->member[family->count] =
            (family_member){.record = record, .order = (uint32_t)family->count};
        family->count++;
    }
}

static uint64_t family_start(const crest_span_record *record)
{
    return record->end_ns - record->duration_ns;
}

/* The root; NULL when every span names a parent. A timer's record knows its duration exactly, but
 * its end a little late: what began within FAMILY_SKEW_NS began at once, and the longest counts. */
static crest_span_record *family_root(crest_trace_family *family)
{
    crest_span_record *root = NULL;
    uint64_t first = 0;
    for (size_t i = 0; i < family->count; i++) {
        uint64_t start = family_start(family->member[i].record);
        if (crest_trace_is_root(family->member[i].record) &&
            (root == NULL || (int64_t)(start - first) < 0)) {
            root = family->member[i].record;
            first = start;
        }
    }
    for (size_t i = 0; i < family->count; i++) {
        crest_span_record *record = family->member[i].record;
        if (crest_trace_is_root(record) && family_start(record) - first <= FAMILY_SKEW_NS &&
            record->duration_ns > root->duration_ns)
            root = record;
    }
    return root;
}

static void family_give_ids(crest_trace_family *family, crest_trace_op *op, crest_span_record *root,
                            const char *instance)
{
    if (root != NULL && family_first(family, root) && root->id == 0)
        root->id =
            family_named(op, crest_span_metric(root), 0, instance); /* as if it were given out */
    for (size_t i = 0; i < family->count; i++) {
        crest_span_record *record = family->member[i].record;
        record->trace = op->trace;
        if (record->id == 0)
            family->member[i].order += CREST_TRACE_FAMILY_MAX;
        if (record != root) {
            int under = (CREST_SPAN_FLAGS(record) & CREST_SPAN_HAS_PARENT) != 0;
            int first = !under && family_first(family, record);
            if (record->id == 0)
                record->id = first ? family_named(op, crest_span_metric(record),
                                                  CREST_SPAN_STAGE(record), instance)
                                   : family_own(op, record, instance);
        }
        family->member[i].id = record->id;
    }
    family_unlike(family, op, instance);
}

/* The parent of a record that names none; 0 of the root. */
static crest_span_id family_parent(crest_trace_family *family, const crest_trace_op *op,
                                   const crest_span_record *record, const char *instance)
{
    if (CREST_SPAN_STAGE(record) != 0 && family != NULL) {
        crest_span_id whole = family_named(op, crest_span_metric(record), 0, instance);
        if (family_find(family, whole) != NULL)
            return whole;
    }
    return record->id != op->root ? op->root : 0;
}

/* Follows the parents of a member; those on the way are marked with its number. */
static void family_cut_circle(crest_trace_family *family, const crest_trace_op *op, size_t start)
{
    uint32_t mark = (uint32_t)start + 1;
    family_member *at = &family->member[start];
    while (at != NULL && at->mark == 0) {
        at->mark = mark;
        family_member *above = family_find(family, at->record->parent);
        if (above != NULL && above->mark == mark) {
            /* it closes a circle here */
            at->record->parent = at->id != op->root ? op->root : 0;
            return;
        }
        at = above;
    }
}

void crest_trace_family_complete(crest_trace_family *family, crest_trace_nodes *nodes,
                                 crest_trace_op *op, const char *instance)
{
    family->count = family->names = 0;
    family_gather(family, nodes, op->spans.first);
    family_gather(family, nodes, op->folds.first);
    crest_span_record *root = family_root(family);
    family_give_ids(family, op, root, instance);
    op->root = root != NULL ? root->id : 0;
    for (size_t i = 0; i < family->count; i++) {
        crest_span_record *record = family->member[i].record;
        if ((CREST_SPAN_FLAGS(record) & CREST_SPAN_HAS_PARENT) == 0)
            record->parent = family_parent(family, op, record, instance);
    }
    /* a parent elsewhere is not here; then nothing above the root leads back, and to hang a span
       under it makes no circle */
    if (root != NULL && family_find(family, root->parent) != NULL)
        root->parent = 0;
    for (size_t i = 0; i < family->count; i++)
        family_cut_circle(family, op, i);
}

void crest_trace_family_late(crest_trace_nodes *nodes, crest_trace_op *op, uint32_t number,
                             const char *instance)
{
    crest_span_record *record = &crest_trace_node_at(nodes, number)->as.record;
    record->trace = op->trace;
    if (record->id == 0)
        record->id = family_own(op, record, instance);
    if (op->root == 0 && crest_trace_is_root(record))
        op->root = record->id;
    if ((CREST_SPAN_FLAGS(record) & CREST_SPAN_HAS_PARENT) == 0)
        record->parent = family_parent(NULL, op, record, instance);
    if (record->parent == record->id)
        record->parent = 0;
}
