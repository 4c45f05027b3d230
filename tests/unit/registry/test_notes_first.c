/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which the ticker reads a timer: what was noted as its slowest first, the counts
 * next. What is recorded in between is noted in the tick that counts it, or in a later one, and in
 * none before. The ticker takes memory for counts that it did not expect, so the allocator is where
 * this program records.
 *
 * crest-test: sanitizers=none
 */
#include "distributions/distribution_inside.h"
#include "snapshot/snapshot_inside.h"
#include "support/core_fixture.h"

#define NOTES_BEFORE 10
#define NOTES_SMALL 1000
#define NOTES_LARGE (1 << 20) /* in another block of counts, which are read after the small ones' */

void *__libc_calloc(size_t count, size_t size);

static struct notes {
    crest_timer *timer;
    unsigned taken; /* pieces of memory, since it began to listen */
    int listens;
} notes;

static void notes_record(uint64_t ns)
{
    crest_op op = crest_op_u64(ns);
    crest_timer_record_op(notes.timer, (int64_t)ns, CREST_OUTCOME_OK, &op);
}

/* In place of the C library's, for the whole program. The pieces are: a snapshot, its first
 * distribution, and counts of this that are found later. */
void *calloc(size_t count, size_t size)
{
    if (notes.listens && ++notes.taken == 2)
        notes_record(NOTES_LARGE);
    else if (notes.listens && notes.taken == 3)
        notes_record(NOTES_SMALL + 1);
    return __libc_calloc(count, size);
}

/* Reads as the ticker does. */
static crest_note notes_read(crest_registry *registry, uint64_t *count)
{
    crest_snapshot *snapshot = crest_snapshot_read_notes(registry->state);
    fixture_holds(snapshot != NULL);
    notes.listens = 0;
    const crest_distribution *d = fixture_series(snapshot, "t", "ok").distribution;
    crest_note note = d->note;
    *count = crest_distribution_count(d);
    crest_snapshot_free(snapshot);
    return note;
}

static void notes_expect(crest_note note, uint64_t value)
{
    crest_op op = crest_op_u64(value);
    assert_int_equal(note.value, value);
    assert_true(crest_op_equal(&note.op, &op));
}

static void test_notes_first(void **state)
{
    (void)state;
    uint64_t count;
    crest_registry *registry = fixture_registry(NULL);
    notes.timer = fixture_timer(registry, "t");
    for (unsigned i = 0; i < NOTES_BEFORE; i++)
        notes_record(NOTES_SMALL);
    notes_expect(notes_read(registry, &count), NOTES_SMALL);
    assert_int_equal(count, NOTES_BEFORE);
    notes.listens = 1;
    notes_expect(notes_read(registry, &count), NOTES_LARGE);
    assert_true(notes.taken >= 3);
    assert_int_equal(count, NOTES_BEFORE + 1);
    notes_expect(notes_read(registry, &count), NOTES_SMALL + 1);
    assert_int_equal(count, NOTES_BEFORE + 2);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_notes_first)};
    return cmocka_run_group_tests_name("notes first", tests, NULL, NULL);
}
