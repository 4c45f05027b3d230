/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: what happened, one by one, in rings that another process can read. The options say where
 * they go: `events=on` keeps them in memory, `events=/dev/shm/node` in a file that a killed process
 * leaves behind (`crest events tail /dev/shm/node`). Here the process reads its own.
 */
#include <crest/crest.h>
#include <crest/event.h>
#include <crest/event_control.h>
#include <crest/event_reader.h>
#include <crest/run.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

CREST_EVENT(block_proposed, "casper.block-proposed", CREST_INFO, "A block was proposed.",
            (u64, height), (bytes, hash, 32), (text, proposer, 64));
CREST_EVENT(block_rejected, "casper.block-rejected", CREST_WARNING, "A block was not valid.",
            (u64, height), (text, why));
/* Off unless a rule asks for it, as all that are of severity debug: its call costs a branch. */
CREST_EVENT(deploy_seen, "casper.deploy-seen", CREST_DEBUG, "A deploy came from a peer.",
            (text, peer));
/* A metric from an event: it counts each, whatever rules and limits do with the event. */
CREST_COUNTER(rejected, "casper.blocks-rejected", "Blocks that were not valid.");
CREST_EVENT_COUNTED(block_rejected, rejected);

/* ---- the node ---- */

static uint64_t height = 40;

static void run_node(void)
{
    unsigned char hash[32];
    height++;
    memset(hash, 0xab, sizeof hash);
    CREST_EMIT(deploy_seen, "10.0.0.7:40400");
    CREST_EMIT(block_proposed, height, crest_bytes(hash, sizeof hash), "node-2");
    height++;
    CREST_EMIT(block_rejected, height, "its signature does not fit");
}

/* ---- the reader ---- */

static void print_value(const crest_event_field *field, const crest_event_value *value)
{
    printf(" %s=", field->name);
    switch (field->type) {
    case CREST_EVENT_U64: printf("%" PRIu64, value->as.u); break;
    case CREST_EVENT_TEXT: printf("\"%s\"", value->as.text.data); break;
    case CREST_EVENT_BYTES: printf("%" PRIu32 " bytes", value->as.text.length); break;
    default: printf("?"); break;
    }
}

/* Those that came since this reader looked last. The node does not wait for it. */
static void print_new(crest_event_reader *reader)
{
    crest_event_view event;
    while (crest_event_reader_next(reader, &event)) {
        printf("  %s", event.info->name);
        for (unsigned i = 0; i < event.info->field_count; i++)
            print_value(&event.info->fields[i], &event.values[i]);
        putchar('\n');
    }
}

int main(void)
{
    crest_error error;
    crest_event_reader *reader;
    if (crest_start("events=on", &error) != CREST_OK ||
        crest_event_reader_own(&reader, &error) != CREST_OK) {
        fprintf(stderr, "no events: %s\n", error.message);
        return 1;
    }
    puts("without rules:");
    run_node();
    print_new(reader);

    /* at run time, by the longest namespace that fits; wrong rules are refused with a sentence */
    if (crest_events_set("casper: warning; casper.deploy-seen: debug", &error) != CREST_OK)
        fprintf(stderr, "%s\n", error.message);
    puts("with rules:");
    run_node();
    print_new(reader);

    crest_event_totals totals = {0};
    crest_event_totals_read(&totals);
    printf("%" PRIu64 " written, %" PRIu64 " refused; %" PRIu64 " blocks rejected\n",
           totals.written, totals.refused, crest_counter_value(&rejected));
    crest_event_reader_free(reader);
    return crest_stop(1000, &error) == CREST_OK ? 0 : 1;
}
