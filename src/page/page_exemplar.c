/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exemplars. See page_exemplar.h.
 */
#include "page/page_exemplar.h"
#include "base/misuse.h"
#include "spans/kept_spans.h"

#include <crest/window.h>

_Static_assert(sizeof CREST_EXEMPLAR_LABEL - 1 + CREST_OP_TEXT_BYTES - 1 <= 128,
               "an operation's id fits an exemplar");

/* The operation's id is left out where all would be too long: the trace's id has half of a hash. */
static void page_exemplar_trace(crest_page_exemplar *exemplar, const crest_op *op, const char *name)
{
    static const char digits[] = "0123456789abcdef";
    size_t characters = sizeof CREST_EXEMPLAR_LABEL + sizeof CREST_EXEMPLAR_TRACE_LABEL +
                        sizeof CREST_EXEMPLAR_SPAN_LABEL - 3 + CREST_EXEMPLAR_TRACE_BYTES +
                        CREST_EXEMPLAR_SPAN_BYTES - 2 + exemplar->id_bytes;
    exemplar->whole = 1;
    exemplar->traced = crest_kept_spans_find(op, name, &exemplar->trace, &exemplar->span);
    if (!exemplar->traced)
        return;
    exemplar->whole = characters <= CREST_EXEMPLAR_CHARACTERS_MAX;
    for (unsigned i = 0; i < CREST_EXEMPLAR_TRACE_BYTES - 1; i++)
        exemplar->trace_text[i] = digits[exemplar->trace.bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    for (unsigned i = 0; i < CREST_EXEMPLAR_SPAN_BYTES - 1; i++)
        exemplar->span_text[i] = digits[exemplar->span >> (60 - 4 * i) & 15];
    exemplar->trace_text[CREST_EXEMPLAR_TRACE_BYTES - 1] = '\0';
    exemplar->span_text[CREST_EXEMPLAR_SPAN_BYTES - 1] = '\0';
}

int crest_page_exemplar_of(crest_page_exemplar *exemplar, const crest_page *page,
                           const crest_page_metric *metric, size_t index)
{
    char id[CREST_OP_TEXT_BYTES];
    crest_window window;
    unsigned what = 0;
    if (page->options->no_exemplars || metric->first.kind != CREST_KIND_TIMER)
        return 0;
    page->source->window(page->snapshot, index, CREST_WINDOW_S, &window);
    if (window.slowest.kind == CREST_OP_NONE || window.events == 0)
        return 0;
    crest_op_format(&window.slowest, id, sizeof id);
    /* The parser of Prometheus' Python client drops a page with an escape in an exemplar's
     * label. */
    for (char *at = id; *at != '\0'; at++)
        *at = *at == '"' ? '\'' : *at == '\\' ? '/' : *at == '\n' ? ' ' : *at;
    exemplar->id_bytes = crest_utf8_copy(id, exemplar->id, sizeof exemplar->id, &what);
    if (what & CREST_UTF8_REPLACED)
        crest_misuse_count(CREST_MISUSE_TEXT, metric->first.name);
    page_exemplar_trace(exemplar, &window.slowest, metric->first.name);
    exemplar->value = crest_page_in_base_unit(window.maximum, CREST_NANOSECONDS);
    exemplar->wall_ns = page->source->wall_ns(page->snapshot);
    return 1;
}
