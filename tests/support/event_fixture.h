/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of events share: a file of them in a directory of its own, and readers that keep
 * account. Tests nothing itself.
 */
#ifndef CREST_TESTS_EVENT_FIXTURE_H
#define CREST_TESTS_EVENT_FIXTURE_H

#include "events/event_file.h"
#include "events/event_rings.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

/* Begins events in state_dir, in rings of the least size, or so many bytes. */
__attribute__((unused)) static void event_begin(uint64_t ring_bytes, uint64_t rings)
{
    crest_error error = {.status = CREST_OK};
    crest_events_wish wish = {.place = {.dir = state_dir, .name = "node"},
                              .ring_bytes =
                                  ring_bytes != 0 ? ring_bytes : CREST_EVENT_RING_BYTES_MIN,
                              .rings = rings};
    if (crest_events_begin(&wish, &error) != CREST_OK)
        fail_msg("%s", error.message);
}

__attribute__((unused)) static crest_event_reader *event_open(const char *file)
{
    crest_event_reader *reader;
    crest_error error = {.status = CREST_OK};
    if (crest_event_reader_open(state_dir_path(file), &reader, &error) != CREST_OK)
        fail_msg("%s", error.message);
    return reader;
}

__attribute__((unused)) static crest_event_reader *event_own(void)
{
    crest_event_reader *reader;
    crest_error error = {.status = CREST_OK};
    if (crest_event_reader_own(&reader, &error) != CREST_OK)
        fail_msg("%s", error.message);
    return reader;
}

/* Every place of a reader that has nothing more to read: read + lost is what was written. */
__attribute__((unused)) static crest_event_reader_totals event_account(crest_event_reader *reader)
{
    crest_event_reader_totals totals;
    crest_event_reader_totals_read(reader, &totals);
    assert_int_equal(totals.read + totals.lost, totals.written);
    assert_int_equal(totals.read_bytes + totals.lost_bytes, totals.written_bytes);
    assert_int_equal(totals.unreadable, 0);
    return totals;
}

#endif
