/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose operations are traced, and whose spans go where its options say. Its driver gives
 * a command a line on standard input, and reads one line of answer for each.
 *
 *     span_program OPTIONS     crest_start with them; then every operation of span.* is kept
 *
 *     block ID CHILDREN     an operation: a root, so many children with attributes of every type,
 *                           an event and a link, and under the first a grandchild, of a series
 *                           with labels; each third child fails. ID: a number that the
 *                           operation's 32 bytes are made of
 *     retire                the grandchildren's series
 *     hostile ID            one whose attributes are markup, bytes that are no UTF-8, and 1 MB
 *     flush                 crest_spans_flush(1)
 *     totals                offered, kept, folded, dropped in all
 *     sent EXPORTER         what an exporter has sent, and lost in all
 *     state NAME            of the reporter NAME: reports, failures, consecutive failures, the last
 *                           error
 *     hang                  adds an exporter that sleeps for good
 *     stop [MS]             crest_stop, with this deadline or one of 5 s
 */
#include <crest/crest.h>
#include <crest/run.h>
#include <crest/span.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOP_MS 5000u
#define LONG_BYTES (1u << 20)
#define LISTED_MAX 16u

CREST_TIMER(block_time, "span.block-time", "A block.");
CREST_TIMER(step_time, "span.step-time", "A step of it.");
CREST_TIMER_FAMILY(store_time, "span.store-time", "A part of a step.", shard, kind);

CREST_SPAN_KEY(peer_key, "peer");
CREST_SPAN_KEY(height_key, "height");
CREST_SPAN_KEY(weight_key, "weight");
CREST_SPAN_KEY(final_key, "final");
CREST_SPAN_KEY(stored_key, "stored");

static void answer(crest_status status, const char *text)
{
#define STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(STATUS_NAME)};
    printf("%s %s\n", names[status], text);
    fflush(stdout);
}

/* As a hash: no two operations share the first 16 bytes. */
static crest_op block_op(unsigned long long id)
{
    unsigned char hash[32];
    uint64_t word = id;
    for (unsigned i = 0; i < sizeof hash; i++) {
        word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        hash[i] = (unsigned char)(word >> 56);
    }
    return crest_op_bytes(hash, sizeof hash);
}

static void store(crest_op op, const crest_span_context *parent)
{
    crest_span_timing timing;
    crest_timer_start_under(store_time_with("<7>", "caf\xc3\xa9"), op, parent, &timing);
    crest_span_set_kind(&timing, CREST_SPAN_CLIENT);
    crest_span_end(&timing, op, CREST_OUTCOME_OK);
}

static void step(crest_op op, const crest_span_context *root, unsigned number)
{
    crest_span_timing timing;
    crest_timer_start_under(&step_time, op, root, &timing);
    crest_span_set_text(&timing, &peer_key, "caf\xc3\xa9", 5);
    crest_span_set_i64(&timing, &height_key, -(int64_t)number);
    crest_span_set_double(&timing, &weight_key, number + 0.5);
    crest_span_set_bool(&timing, &final_key, number % 2 == 0);
    crest_span_add_event(&timing, &stored_key);
    crest_span_add_link(&timing, root);
    crest_span_context own = crest_span_timing_context(&timing);
    if (number == 0)
        store(op, &own);
    if (number % 3 == 2)
        crest_span_set_message(&timing, "no parent", 9);
    crest_span_end(&timing, op, number % 3 == 2 ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
}

static void block(unsigned long long id, unsigned children)
{
    crest_op op = block_op(id);
    crest_span_timing timing;
    crest_timer_start_under(&block_time, op, NULL, &timing);
    crest_span_context root = crest_span_timing_context(&timing);
    for (unsigned i = 0; i < children; i++)
        step(op, &root, i);
    crest_span_end(&timing, op, CREST_OUTCOME_OK);
}

static void hostile(unsigned long long id)
{
    crest_op op = block_op(id);
    crest_span_timing timing;
    char *text = malloc(LONG_BYTES);
    crest_timer_start_under(&block_time, op, NULL, &timing);
    crest_span_set_text(&timing, &peer_key, "<b>\"&\\\n</b>", 11);
    crest_span_set_text(&timing, &stored_key, "\xff\xc3(", 3);
    for (size_t i = 0; text != NULL && i < LONG_BYTES; i++)
        text[i] = i == 0 ? 'x' : i % 2 == 1 ? '\xc3' : '\xa9';
    if (text != NULL)
        crest_span_set_text(&timing, &final_key, text, LONG_BYTES);
    crest_span_end(&timing, op, CREST_OUTCOME_TIMEOUT);
    free(text);
}

/* The sum of a counter's series whose first label is this one. */
static double counted(const char *metric, const char *exporter)
{
    double found = 0;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        if (strcmp(view.name, metric) == 0 && strcmp(view.label_values[0], exporter) == 0)
            found += (double)view.counter;
    }
    crest_snapshot_free(snapshot);
    return found;
}

static void answer_state(const char *name)
{
    static crest_reporter_info infos[LISTED_MAX];
    char text[CREST_ERROR_BYTES + 100];
    size_t count = crest_reporter_list(infos, LISTED_MAX);
    for (size_t i = 0; i < count && i < LISTED_MAX; i++)
        if (strcmp(infos[i].name, name) == 0) {
            const crest_reporter_state *state = &infos[i].state;
            snprintf(text, sizeof text, "%llu %llu %llu %s", (unsigned long long)state->reports,
                     (unsigned long long)state->failures,
                     (unsigned long long)state->consecutive_failures, state->last_error.message);
            answer(CREST_OK, text);
            return;
        }
    answer(CREST_NOT_FOUND, name);
}

static crest_status sleep_for_good(crest_span_exporter *self, const crest_span_batch *batch,
                                   crest_error *error)
{
    (void)self, (void)batch, (void)error;
    while (pause() != 0) /* it never is 0 */
        continue;
    return CREST_OK;
}

static crest_span_exporter sleeper = {.name = "sleeper", .take = sleep_for_good};

static int obey(const char *line)
{
    char text[200] = "", name[64];
    unsigned long long id;
    unsigned children;
    crest_error error = {0};
    if (sscanf(line, "block %llu %u", &id, &children) == 2) {
        block(id, children);
        answer(CREST_OK, "");
    } else if (sscanf(line, "hostile %llu", &id) == 1) {
        hostile(id);
        answer(CREST_OK, "");
    } else if (strcmp(line, "retire") == 0) {
        answer(crest_retire(NULL, "shard", "<7>") == 1 ? CREST_OK : CREST_NOT_FOUND, "");
    } else if (strcmp(line, "flush") == 0) {
        answer(crest_spans_flush(1), "");
    } else if (strcmp(line, "totals") == 0) {
        crest_span_totals totals = crest_spans_totals();
        snprintf(text, sizeof text, "%llu %llu %llu %llu", (unsigned long long)totals.offered,
                 (unsigned long long)totals.kept, (unsigned long long)totals.folded,
                 (unsigned long long)(totals.dropped_sampled + totals.dropped_full +
                                      totals.dropped_rate + totals.dropped_memory +
                                      totals.dropped_export));
        answer(CREST_OK, text);
    } else if (sscanf(line, "sent %63s", name) == 1) {
        snprintf(text, sizeof text, "%.0f %.0f", counted("crest.spans-sent", name),
                 counted("crest.spans-lost", name));
        answer(CREST_OK, text);
    } else if (sscanf(line, "state %63s", name) == 1) {
        answer_state(name);
    } else if (strcmp(line, "hang") == 0) {
        answer(crest_span_exporter_add(&sleeper), "");
    } else if (strcmp(line, "stop") == 0) {
        answer(crest_stop(STOP_MS, &error), error.message);
    } else if (sscanf(line, "stop %llu", &id) == 1) {
        answer(crest_stop(id, &error), error.message);
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    crest_error error = {0};
    char line[256];
    if (argc != 2) {
        fprintf(stderr, "usage: see the top of tests/programs/span_program.c\n");
        return 2;
    }
    const crest_spans_settings settings = {.spans = "span.*", .sample = 1, .rate = 1000000};
    crest_status status = crest_start(argv[1], &error);
    answer(status == CREST_OK ? crest_spans_set(&settings, &error) : status, error.message);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!obey(line))
            return 0;
    }
    return 0;
}
