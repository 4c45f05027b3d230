/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished spans in a state file: a child keeps spans and is killed; what is read of its file are
 * the last ones, whole. A file that lies in any word of a span's record is read all the same.
 *
 * ThreadSanitizer's own thread keeps a state file from being opened after load.
 * crest-test: sanitizers=address
 */
#include "state/state_format.h"
#include "support/core_fixture.h"

#include <crest/run.h>
#include <crest/span.h>
#include <crest/state.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OPERATIONS 700u

CREST_TIMER(finished_timer, "finished.root-time", "A root.");
CREST_SPAN_KEY(text_key, "text");
CREST_SPAN_KEY(number_key, "number");
CREST_SPAN_KEY(share_key, "share");
CREST_SPAN_KEY(yes_key, "yes");

static char finished_dir[] = "/dev/shm/crest-finished-XXXXXX";
static char finished_file[128];

static void finished_record(uint64_t number)
{
    crest_op op = crest_op_u64x2(0xf1, number);
    crest_span_timing timing;
    crest_timer_start_under(&finished_timer, op, NULL, &timing);
    crest_span_set_text(&timing, &text_key, "caf\xc3\xa9", 5);
    crest_span_set_i64(&timing, &number_key, -(int64_t)number);
    crest_span_set_double(&timing, &share_key, 0.25);
    crest_span_set_bool(&timing, &yes_key, 1);
    crest_span_add_event(&timing, &yes_key);
    crest_span_set_message(&timing, "gone", 4);
    crest_span_end(&timing, op, CREST_OUTCOME_TIMEOUT);
}

/* The child: no exporter takes its spans. */
static void finished_die(void)
{
    char options[200];
    snprintf(options, sizeof options,
             "state=%s,state.name=node,spans=finished.*,spans.sample=1,spans.rate=1000000",
             finished_dir);
    if (crest_start(options, NULL) != CREST_OK)
        _exit(3);
    for (uint64_t number = 0; number < OPERATIONS; number++) {
        finished_record(number);
        if (number % 64 == 63)
            crest_spans_flush(1);
    }
    crest_spans_flush(1);
    kill(getpid(), SIGKILL);
}

static int finished_setup(void **state)
{
    (void)state;
    int status;
    if (mkdtemp(finished_dir) == NULL)
        return -1;
    snprintf(finished_file, sizeof finished_file, "%s/node.crest", finished_dir);
    pid_t child = fork();
    if (child == 0) {
        finished_die();
        _exit(5);
    }
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        return 0;
    fprintf(stderr, "the child ended with status %d\n", status);
    return -1;
}

static int finished_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", finished_dir);
    return system(command);
}

static void finished_check(const crest_span *span, uint64_t number)
{
    crest_op op = crest_op_u64x2(0xf1, number);
    crest_trace_id trace = crest_trace_id_of(op);
    assert_string_equal(span->name, "finished.root-time");
    assert_true(crest_op_equal(&span->op, &op));
    assert_memory_equal(&span->trace, &trace, sizeof trace);
    assert_true(span->id != 0 && span->parent == 0);
    assert_int_equal(span->outcome, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(span->kept_why, CREST_SPAN_SAMPLED);
    assert_string_equal(span->status_message, "gone");
    assert_true(span->end_unix_ns >= span->start_unix_ns && span->start_unix_ns != 0);
    assert_int_equal(span->folded_count, 0);
    assert_int_equal(span->attribute_count, 4);
    assert_string_equal(span->attributes[0].key, "text");
    assert_string_equal(span->attributes[0].value.s, "caf\xc3\xa9");
    assert_int_equal(span->attributes[0].length, 5);
    assert_int_equal(span->attributes[1].value.i, -(int64_t)number);
    assert_true(span->attributes[2].value.d == 0.25);
    assert_int_equal(span->attributes[3].type, CREST_SPAN_BOOL);
    assert_int_equal(span->attributes[3].value.b, 1);
    assert_int_equal(span->event_count, 1);
    assert_string_equal(span->events[0].name, "yes");
    assert_in_range(span->events[0].unix_ns, span->start_unix_ns, span->end_unix_ns);
}

/* At least one extent's bytes of the last spans, each once. */
static void test_last_ones(void **state)
{
    (void)state;
    crest_error error;
    crest_remains *remains;
    crest_remains_about about;
    crest_span span;
    size_t count = 0;
    if (crest_remains_read(finished_file, &remains, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_remains_tell(remains, &about);
    assert_int_equal(about.damaged, 0);
    while (crest_remains_span(remains, count, &span) == CREST_OK)
        count++;
    assert_in_range(count, CREST_STATE_SPANS_BYTES / 416, 2 * CREST_STATE_SPANS_BYTES / 256);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(crest_remains_span(remains, i, &span), CREST_OK);
        finished_check(&span, OPERATIONS - count + i);
    }
    assert_int_equal(crest_remains_span(remains, count, &span), CREST_INVALID_ARGUMENT);
    crest_remains_free(remains);
}

/* Reads the file of these bytes, and all that its spans point to. Returns how many there are. */
static size_t finished_try(const char *path, const char *bytes, size_t length, uint64_t *damaged)
{
    crest_error error = {0};
    crest_remains *remains;
    crest_remains_about about;
    crest_span span;
    size_t count = 0, text = 0;
    char id[CREST_OP_TEXT_BYTES];
    FILE *file = fopen(path, "w");
    assert_true(fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
    if (crest_remains_read(path, &remains, &error) != CREST_OK)
        fail_msg("%s", error.message);
    for (; crest_remains_span(remains, count, &span) == CREST_OK; count++) {
        text += strlen(span.name) + strlen(span.status_message);
        text += (size_t)crest_op_format(&span.op, id, sizeof id);
        assert_true((unsigned)span.outcome < CREST_OUTCOME_COUNT);
        assert_true(span.end_unix_ns >= span.start_unix_ns);
        assert_true(span.kind < CREST_SPAN_KIND_COUNT && span.kept_why < CREST_SPAN_WHY_COUNT);
        for (size_t i = 0; i < span.attribute_count; i++)
            text += strlen(span.attributes[i].key) + (span.attributes[i].type == CREST_SPAN_TEXT
                                                          ? strlen(span.attributes[i].value.s)
                                                          : 0);
        for (size_t i = 0; i < span.event_count; i++)
            text += strlen(span.events[i].name);
    }
    assert_true(count == 0 || text != 0);
    crest_remains_tell(remains, &about);
    *damaged = about.damaged;
    crest_remains_free(remains);
    return count;
}

/* The header, and one extent of spans with the first record of the file. */
static size_t finished_small(char *small)
{
    FILE *file = fopen(finished_file, "r");
    assert_int_equal(fread(small, 1, CREST_STATE_HEADER_BYTES, file), CREST_STATE_HEADER_BYTES);
    crest_state_header *header = (crest_state_header *)(void *)small;
    crest_state_extent *extents = (crest_state_extent *)(void *)(small + CREST_STATE_PAGE);
    crest_state_extent found = {0};
    for (uint32_t i = 0; i < header->extents; i++)
        if (extents[i].kind == CREST_STATE_SPANS)
            found = extents[i];
    assert_int_equal(found.bytes, CREST_STATE_SPANS_BYTES);
    assert_int_equal(fseek(file, (long)found.offset, SEEK_SET), 0);
    assert_int_equal(fread(small + CREST_STATE_HEADER_BYTES, 1, CREST_STATE_PAGE, file),
                     CREST_STATE_PAGE);
    fclose(file);
    found.offset = CREST_STATE_HEADER_BYTES;
    found.bytes = CREST_STATE_PAGE;
    found.used = ((crest_state_record *)(void *)(small + CREST_STATE_HEADER_BYTES))->bytes;
    extents[0] = found;
    header->extents = 1;
    return CREST_STATE_HEADER_BYTES + CREST_STATE_PAGE;
}

/* Each byte, with the check made right again and without: never more than a span of any words. */
static void test_lies(void **state)
{
    (void)state;
    static char small[CREST_STATE_HEADER_BYTES + CREST_STATE_PAGE];
    static const unsigned char lies[] = {0, 1, 4, 25, 0x80, 0xff};
    char path[160];
    uint64_t damaged, refused = 0, taken = 0;
    size_t length = finished_small(small);
    crest_state_record *record = (crest_state_record *)(void *)(small + CREST_STATE_HEADER_BYTES);
    snprintf(path, sizeof path, "%s/lies", finished_dir);
    assert_int_equal(finished_try(path, small, length, &damaged), 1);
    assert_int_equal(damaged, 0);
    size_t bytes = record->bytes;
    for (size_t at = 0; at < bytes; at++)
        for (size_t i = 0; i < sizeof lies; i++) {
            char kept = ((char *)record)[at];
            uint64_t check = record->check;
            ((char *)record)[at] = (char)lies[i];
            int changed = kept != (char)lies[i];
            size_t there = finished_try(path, small, length, &damaged);
            /* one whose type is FREE is an empty place */
            assert_true(there == 1 ? !changed : damaged != 0 || record->type == CREST_STATE_FREE);
            if (at >= sizeof *record) {
                record->check = crest_state_check(record->type, record + 1, bytes - sizeof *record);
                there = finished_try(path, small, length, &damaged);
                assert_int_equal(there + damaged, 1);
                taken += there;
                refused += damaged;
            }
            ((char *)record)[at] = kept;
            record->check = check;
        }
    assert_true(taken > 100 && refused > 10);
}

/* Overlapping extents, as no writer makes them, give no more spans than the bound. */
static void test_many(void **state)
{
    (void)state;
    static char small[CREST_STATE_HEADER_BYTES + CREST_STATE_PAGE];
    char path[160];
    uint64_t damaged;
    size_t length = finished_small(small);
    crest_state_header *header = (crest_state_header *)(void *)small;
    crest_state_extent *extents = (crest_state_extent *)(void *)(small + CREST_STATE_PAGE);
    header->extents = 1500;
    for (uint32_t i = 1; i < header->extents; i++)
        extents[i] = extents[0];
    snprintf(path, sizeof path, "%s/many", finished_dir);
    assert_int_equal(finished_try(path, small, length, &damaged), 1024);
    assert_int_equal(damaged, 1500 - 1024);
    /* extents of another kind are passed over */
    for (uint32_t i = 0; i < header->extents; i++)
        extents[i].kind = CREST_STATE_SPANS + 1;
    assert_int_equal(finished_try(path, small, length, &damaged), 0);
    assert_int_equal(damaged, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_ones),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, finished_setup, finished_teardown);
}
