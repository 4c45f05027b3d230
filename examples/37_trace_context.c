/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which trace, which span: a trace id is the operation's, the same in every process, and a parent
 * travels in a traceparent or in a stamp.
 */
#include <crest/crest.h>

#include <stdio.h>
#include <string.h>

/* What the node that has a block sends with it: in HTTP a header, in its own protocol a stamp. */
static void send_block(crest_op block, char *header, crest_stamp_parent *stamp)
{
    crest_span_id root = crest_span_id_of(block, "casper.block-time", "node-1");
    crest_span_context here = crest_span_context_of(block, root);
    crest_span_context before = crest_span_current_set(&here); /* a scope does this */
    crest_traceparent_write(&here, header, CREST_TRACEPARENT_BYTES);
    crest_stamp_make_under(block, crest_span_current().span, stamp, NULL);
    crest_span_current_set(&before);
}

static void show(const char *where, crest_span_context parent)
{
    char text[CREST_TRACEPARENT_BYTES];
    if (crest_traceparent_write(&parent, text, sizeof text) == 0)
        strcpy(text, "none: a root");
    printf("%-22s %s\n", where, text);
}

int main(void)
{
    unsigned char hash[32];
    for (unsigned i = 0; i < sizeof hash; i++)
        hash[i] = (unsigned char)(0xa0 + i);
    crest_op block = crest_op_bytes(hash, sizeof hash);

    char header[CREST_TRACEPARENT_BYTES];
    crest_stamp_parent stamp;
    send_block(block, header, &stamp);

    crest_span_context parent;
    crest_error error;
    crest_traceparent_read(header, strlen(header), &parent, &error);
    show("from the header:", parent);

    crest_stamp_view view;
    if (crest_stamp_read(&stamp, sizeof stamp, &view, &error) == CREST_OK)
        show("from the stamp:", crest_stamp_context(&view, block));

    /* what a proxy has garbled is no parent; the trace is the block's all the same */
    header[0] = 'f', header[1] = 'f';
    crest_traceparent_read(header, strlen(header), &parent, &error);
    show("garbled:", parent);
    printf("%s\n", error.message);

    /* others' members are passed on, one's own goes in front */
    crest_tracestate state;
    crest_tracestate_read("congo=t61rcWkgMzE", 17, &state, &error);
    crest_tracestate_put(&state, "ot", "th:8");
    printf("tracestate: %s\n", state.text);
    return 0;
}
