/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans made by hand for the tests of what encodes them: a block's way over one node, and spans
 * that a hostile caller would make.
 *
 *     crest_span_batch batch = span_samples();
 */
#ifndef CREST_TEST_SPAN_SAMPLES_H
#define CREST_TEST_SPAN_SAMPLES_H

#include <crest/span.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_SAMPLES_NS UINT64_C(1700000000000000000)
#define SPAN_SAMPLES_LONG_BYTES (1u << 20)

/* What the sampled trace's id is: the first half of the operation's bytes. */
__attribute__((unused)) static crest_trace_id span_sample_trace(void)
{
    return (crest_trace_id){{0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}};
}

__attribute__((unused)) static crest_op span_sample_op(void)
{
    uint8_t hash[32];
    crest_trace_id trace = span_sample_trace();
    memset(hash, 0x5a, sizeof hash);
    memcpy(hash, trace.bytes, sizeof trace.bytes);
    return crest_op_bytes(hash, sizeof hash);
}

__attribute__((unused)) static crest_span_batch span_samples(void)
{
    static const crest_span_attribute typed[] = {
        {.key = "peer", .type = CREST_SPAN_TEXT, .value.s = "node-1", .length = 6},
        {.key = "height", .type = CREST_SPAN_I64, .value.i = -7},
        {.key = "weight", .type = CREST_SPAN_DOUBLE, .value.d = 0.5},
        {.key = "final", .type = CREST_SPAN_BOOL, .value.b = 1},
    };
    static const crest_span_attribute hostile[] = {
        {.key = "markup", .type = CREST_SPAN_TEXT, .value.s = "<b>\"&\\\n</b>\x01", .length = 12},
        {.key = "bad\xff",
         .type = CREST_SPAN_TEXT,
         .value.s = "caf\xc3\xa9 \xc3\x28\xff",
         .length = 9},
        {.key = "", .type = CREST_SPAN_TEXT, .value.s = NULL, .length = 5},
    };
    static const crest_span_event events[] = {
        {.unix_ns = SPAN_SAMPLES_NS + 1000000, .name = "verified"},
        {.unix_ns = SPAN_SAMPLES_NS + 2000000,
         .name = "stored \"twice\"",
         .attributes = typed,
         .attribute_count = 2},
    };
    static crest_span_link links[2];
    static crest_span spans[5];
    crest_trace_id trace = span_sample_trace(), other = {{[15] = 9}};
    links[0].context = (crest_span_context){.trace = other, .span = 0x11, .flags = 1, .remote = 1};
    links[1].context = (crest_span_context){.trace = trace, .span = 0x22};
    for (unsigned i = 0; i < 5; i++)
        spans[i] = (crest_span){
            .trace = trace,
            .id = UINT64_C(0x0102030405060700) + i,
            .parent = i == 0 ? 0 : UINT64_C(0x0102030405060700),
            .flags = 1,
            .kind = (uint8_t)i,
            .start_unix_ns = SPAN_SAMPLES_NS + i * 1000,
            .end_unix_ns = SPAN_SAMPLES_NS + 5000000 + i,
            .name = "casper.add-block-time",
            .op = span_sample_op(),
        };
    spans[0].attributes = typed;
    spans[0].attribute_count = 4;
    spans[0].dropped_attributes = 3;
    spans[0].tracestate = "ot=th:8";
    spans[0].events = events;
    spans[0].event_count = 2;
    spans[1].outcome = CREST_OUTCOME_ERROR;
    spans[1].status_message = "no \xff parent";
    spans[1].name = "casper.<validate> \"\\\t";
    spans[1].attributes = hostile;
    spans[1].attribute_count = 3;
    spans[2].outcome = CREST_OUTCOME_TIMEOUT;
    spans[2].links = links;
    spans[2].link_count = 2;
    spans[2].flags = 0;
    spans[3].outcome = CREST_OUTCOME_CANCELLED;
    spans[3].end_unix_ns = spans[3].start_unix_ns;
    spans[4].name = "";
    spans[4].folded_count = 99488;
    spans[4].folded_sum_ns = UINT64_MAX;
    spans[4].folded_max_ns = 12345;
    return (crest_span_batch){.spans = spans, .count = 5};
}

/* A batch of one span whose attribute is a megabyte of two-byte characters behind one byte; free
 * what *text gets. */
__attribute__((unused)) static crest_span_batch span_sample_long(char **text)
{
    static crest_span_attribute attribute;
    static crest_span span;
    char *bytes = malloc(SPAN_SAMPLES_LONG_BYTES + 1);
    for (size_t i = 0; i < SPAN_SAMPLES_LONG_BYTES; i++)
        bytes[i] = i == 0 ? 'x' : i % 2 == 1 ? '\xc3' : '\xa9';
    bytes[SPAN_SAMPLES_LONG_BYTES] = '\0';
    *text = bytes;
    attribute = (crest_span_attribute){.key = "long",
                                       .type = CREST_SPAN_TEXT,
                                       .value.s = bytes,
                                       .length = SPAN_SAMPLES_LONG_BYTES};
    span = (crest_span){.trace = span_sample_trace(),
                        .id = 1,
                        .name = "long",
                        .start_unix_ns = 1,
                        .end_unix_ns = 2,
                        .attributes = &attribute,
                        .attribute_count = 1};
    return (crest_span_batch){.spans = &span, .count = 1};
}

#endif
