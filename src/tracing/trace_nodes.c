/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of collected spans. See trace_nodes.h.
 */
#include "tracing/trace_nodes.h"

#include <string.h>
#include <sys/mman.h>

int crest_trace_nodes_init(crest_trace_nodes *nodes, uint64_t bytes)
{
    uint64_t count = bytes / sizeof(crest_trace_node);
    memset(nodes, 0, sizeof *nodes);
    if (count < 2 * CREST_SPAN_SLOTS_MAX)
        count = 2 * CREST_SPAN_SLOTS_MAX;
    if (count > UINT32_MAX)
        count = UINT32_MAX;
    /* mapped, so that pages that are never needed are never there */
    void *memory = mmap(NULL, count * sizeof(crest_trace_node), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    nodes->all = memory;
    nodes->count = (uint32_t)count;
    nodes->fresh = 1;
    return 1;
}

void crest_trace_nodes_fini(crest_trace_nodes *nodes)
{
    if (nodes->all != NULL)
        munmap(nodes->all, nodes->count * sizeof *nodes->all);
    memset(nodes, 0, sizeof *nodes);
}

static uint32_t nodes_take_one(crest_trace_nodes *nodes)
{
    uint32_t number = nodes->free;
    if (number != 0)
        nodes->free = nodes->all[number].next;
    else if (nodes->fresh < nodes->count)
        number = nodes->fresh++;
    else
        return 0;
    nodes->in_use++;
    nodes->all[number].next = nodes->all[number].part = 0;
    nodes->all[number].why = 0;
    return number;
}

void crest_trace_node_give(crest_trace_nodes *nodes, uint32_t number)
{
    while (number != 0) {
        crest_trace_node *node = &nodes->all[number];
        uint32_t part = node->part;
        node->next = nodes->free;
        nodes->free = number;
        nodes->in_use--;
        number = part;
    }
}

uint32_t crest_trace_node_take(crest_trace_nodes *nodes, const crest_span_record *record,
                               const uint64_t *detail)
{
    uint32_t first = nodes_take_one(nodes), last = first;
    if (first == 0)
        return 0;
    nodes->all[first].as.record = *record;
    unsigned words = CREST_SPAN_WORDS(record);
    for (unsigned at = CREST_SPAN_WORDS_FIRST; at < words; at += CREST_TRACE_NODE_WORDS) {
        uint32_t more = nodes_take_one(nodes);
        if (more == 0) {
            crest_trace_node_give(nodes, first);
            return 0;
        }
        unsigned part = words - at < CREST_TRACE_NODE_WORDS ? words - at : CREST_TRACE_NODE_WORDS;
        memcpy(nodes->all[more].as.more, &detail[at], part * sizeof *detail);
        nodes->all[last].part = more;
        last = more;
    }
    return first;
}

unsigned crest_trace_node_detail(const crest_trace_nodes *nodes, uint32_t number,
                                 uint64_t detail[CREST_SPAN_WORDS_MAX])
{
    const crest_trace_node *node = &nodes->all[number];
    unsigned words = CREST_SPAN_WORDS(&node->as.record);
    memcpy(detail, node->as.record.detail, sizeof node->as.record.detail);
    for (unsigned at = CREST_SPAN_WORDS_FIRST; at < words; at += CREST_TRACE_NODE_WORDS) {
        unsigned part = words - at < CREST_TRACE_NODE_WORDS ? words - at : CREST_TRACE_NODE_WORDS;
        node = &nodes->all[node->part];
        memcpy(&detail[at], node->as.more, part * sizeof *detail);
    }
    return words;
}

void crest_trace_list_push(crest_trace_nodes *nodes, crest_trace_list *list, uint32_t number)
{
    nodes->all[number].next = 0;
    if (list->first == 0)
        list->first = number;
    else
        nodes->all[list->last].next = number;
    list->last = number;
    list->count++;
}

uint32_t crest_trace_list_pop(crest_trace_nodes *nodes, crest_trace_list *list)
{
    uint32_t number = list->first;
    if (number == 0)
        return 0;
    list->first = nodes->all[number].next;
    if (list->first == 0)
        list->last = 0;
    list->count--;
    return number;
}

void crest_trace_list_give(crest_trace_nodes *nodes, crest_trace_list *list)
{
    for (uint32_t number; (number = crest_trace_list_pop(nodes, list)) != 0;)
        crest_trace_node_give(nodes, number);
}
