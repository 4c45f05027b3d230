/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans: where the time of one block went. The timers are those that a node has anyway; that they
 * are traced is a setting (the option `spans=casper.*`), and so is where their spans go (`otlp=`,
 * `zipkin=`, `spans-json=`). Here an exporter of the program's own prints them.
 *
 * Two operations are under way, and one of them fails: it is kept because of that, the other one is
 * neither sampled nor slow.
 */
#include <crest/crest.h>
#include <crest/span.h>
#include <stdio.h>
#include <string.h>

CREST_TIMER(import_time, "casper.import-time", "Executing and storing a peer's block.");
CREST_TIMER(execute_time, "casper.execute-time", "Executing the deploys of a block.");
CREST_TIMER(store_time, "casper.store-time", "Storing a block.");
CREST_SPAN_KEY(peer_key, "peer");
CREST_SPAN_KEY(height_key, "height");

/* ---- the node ---- */

/* As any timer is used: traced or not, this code is the same. */
static void execute(crest_op block)
{
    crest_timing timing = crest_timer_start(&execute_time, block);
    crest_timing_stop(&timing, block);
}

static void store(crest_op block, const crest_span_context *parent, int disk_is_full)
{
    crest_span_timing timing;
    crest_timer_start_under(&store_time, block, parent, &timing);
    if (disk_is_full) {
        static const char why[] = "no space left on the disk";
        crest_span_set_message(&timing, why, sizeof why - 1);
    }
    crest_span_end(&timing, block, disk_is_full ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
}

/* With what a span has and a timing lacks: attributes, and a context that others can hang below. */
static void import_block(const unsigned char hash[32], int64_t height, int disk_is_full)
{
    static const char peer[] = "node-2";
    crest_op block = crest_op_bytes(hash, 32);
    crest_span_timing timing;
    crest_timer_start_under(&import_time, block, NULL, &timing);
    crest_span_set_text(&timing, &peer_key, peer, sizeof peer - 1);
    crest_span_set_i64(&timing, &height_key, height);
    crest_span_context here = crest_span_timing_context(&timing);
    execute(block);
    store(block, &here, disk_is_full);
    crest_span_end(&timing, block, disk_is_full ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
}

/* ---- the exporter ---- */

static void print_span(const crest_span *span, const crest_span_batch *batch)
{
    const char *parent = "none";
    for (size_t i = 0; i < batch->count; i++)
        if (batch->spans[i].id == span->parent)
            parent = batch->spans[i].name;
    printf("  %s below %s, %s", span->name, parent, crest_outcome_text(span->outcome));
    for (size_t i = 0; i < span->attribute_count; i++) {
        const crest_span_attribute *attribute = &span->attributes[i];
        if (attribute->type == CREST_SPAN_TEXT)
            printf(", %s=%s", attribute->key, attribute->value.s);
        else if (attribute->type == CREST_SPAN_I64)
            printf(", %s=%lld", attribute->key, (long long)attribute->value.i);
    }
    printf("%s%s\n", span->status_message[0] != '\0' ? ": " : "", span->status_message);
}

/* On a thread of the library's: copy here, and send elsewhere. */
static crest_status print_batch(crest_span_exporter *self, const crest_span_batch *batch,
                                crest_error *error)
{
    (void)self;
    (void)error;
    if (batch->count == 0)
        return CREST_OK;
    printf("trace ");
    for (size_t i = 0; i < sizeof batch->spans[0].trace.bytes; i++)
        printf("%02x", batch->spans[0].trace.bytes[i]);
    printf(", %zu spans\n", batch->count);
    for (size_t i = 0; i < batch->count; i++)
        print_span(&batch->spans[i], batch);
    return CREST_OK;
}

int main(void)
{
    crest_span_exporter exporter = {.name = "print", .take = print_batch};
    crest_spans_settings settings = {
        .spans = "casper.*", .sample = -1, .slow_ns = UINT64_C(3600000000000)};
    unsigned char good[32], bad[32];
    crest_error error;
    memset(good, 0x11, sizeof good);
    memset(bad, 0xbd, sizeof bad);
    if (crest_span_exporter_add(&exporter) != CREST_OK ||
        crest_spans_set(&settings, &error) != CREST_OK) {
        fprintf(stderr, "nothing is traced\n");
        return 1;
    }

    import_block(good, 41, 0);
    import_block(bad, 42, 1);
    crest_spans_flush(1);

    crest_span_totals totals = crest_spans_totals();
    printf("%llu offered, %llu kept, %llu dropped as neither sampled nor kept by a rule\n",
           (unsigned long long)totals.offered, (unsigned long long)totals.kept,
           (unsigned long long)totals.dropped_sampled);
    return crest_span_exporter_remove(&exporter) == CREST_OK ? 0 : 1;
}
