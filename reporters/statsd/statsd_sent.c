/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of what was sent. See statsd_sent.h.
 */
#include "statsd/statsd_sent.h"

#include <stdlib.h>
#include <string.h>

#define STATSD_PLACES_FIRST 64u
#define STATSD_MARKS_FIRST 256u

/* Fibonacci hashing: lives are addresses and a count, alike in their low bits. */
static size_t statsd_place(uint64_t life, size_t places)
{
    return (size_t)((life * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (places - 1);
}

static crest_statsd_entry *statsd_find(crest_statsd_entry *entries, size_t places, uint64_t life)
{
    size_t at = statsd_place(life, places);
    while (entries[at].life != 0 && entries[at].life != life)
        at = (at + 1) & (places - 1);
    return &entries[at];
}

static void statsd_entry_fini(crest_statsd_entry *entry)
{
    crest_distribution_free(entry->distribution);
    crest_distribution_free(entry->next);
}

/* Moves the entries that were in a report since `oldest` into a table of so many places. */
static crest_status statsd_move(crest_statsd_sent *sent, size_t places, uint32_t oldest)
{
    crest_statsd_entry *entries = calloc(places, sizeof *entries);
    if (entries == NULL)
        return CREST_NO_MEMORY;
    sent->count = 0;
    for (size_t i = 0; i < sent->places; i++) {
        crest_statsd_entry *entry = &sent->entries[i];
        if (entry->life == 0)
            continue;
        if (sent->report - entry->report > sent->report - oldest) {
            statsd_entry_fini(entry);
            continue;
        }
        *statsd_find(entries, places, entry->life) = *entry;
        sent->count++;
    }
    free(sent->entries);
    sent->entries = entries;
    sent->places = places;
    return CREST_OK;
}

static int statsd_compare_ages(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The oldest report whose series are still remembered when the absent are too many; 0 without
 * memory to find out. */
static uint32_t statsd_oldest(const crest_statsd_sent *sent, size_t absent)
{
    uint32_t *ages = calloc(absent, sizeof *ages);
    size_t count = 0;
    if (ages == NULL)
        return 0;
    for (size_t i = 0; i < sent->places; i++)
        if (sent->entries[i].life != 0 && sent->entries[i].report != sent->report)
            ages[count++] = sent->report - sent->entries[i].report;
    qsort(ages, count, sizeof *ages, statsd_compare_ages);
    /* half of them, so that it is not done again at once; those of the limit's age go together */
    uint32_t age = ages[CREST_STATSD_ABSENT_MAX / 2];
    free(ages);
    return sent->report - age + 1;
}

static size_t statsd_absent(const crest_statsd_sent *sent)
{
    size_t absent = 0;
    for (size_t i = 0; i < sent->places; i++)
        absent += sent->entries[i].life != 0 && sent->entries[i].report != sent->report;
    return absent;
}

crest_status crest_statsd_sent_begin(crest_statsd_sent *sent, size_t series)
{
    size_t absent = statsd_absent(sent), places = STATSD_PLACES_FIRST;
    uint32_t oldest = 0;
    if (absent > CREST_STATSD_ABSENT_MAX)
        oldest = statsd_oldest(sent, absent);
    while (places < 2 * (sent->count + series))
        places *= 2;
    crest_status status = CREST_OK;
    if (places > sent->places || oldest != 0)
        status = statsd_move(sent, places > sent->places ? places : sent->places, oldest);
    if (status == CREST_OK)
        sent->report++;
    sent->mark_first = sent->mark_end = 0;
    return status;
}

crest_statsd_entry *crest_statsd_sent_entry(crest_statsd_sent *sent,
                                            const crest_series_view *series)
{
    crest_statsd_entry *entry = statsd_find(sent->entries, sent->places, series->life);
    if (entry->life == 0) {
        entry->life = series->life;
        sent->count++;
    }
    entry->report = sent->report;
    return entry;
}

void crest_statsd_sent_note(crest_statsd_sent *sent, crest_statsd_entry *entry, uint64_t counter)
{
    if (sent->under_way == NULL || entry->noted == counter)
        return;
    crest_report_delivered(sent->under_way, entry->index, counter);
    entry->noted = counter;
}

void crest_statsd_sent_note_counts(crest_statsd_sent *sent, crest_statsd_entry *entry,
                                   const crest_distribution *counts)
{
    uint64_t count = crest_distribution_count(counts);
    if (sent->under_way == NULL || entry->noted == count)
        return;
    crest_report_delivered_counts(sent->under_way, entry->index, counts);
    entry->noted = count;
}

/* A part of the entry's delta has arrived: the state file hears of a counter's part at once, and of
 * a distribution when all its lines are there. */
static void statsd_arrived(crest_statsd_sent *sent, crest_statsd_entry *entry)
{
    if (entry->next == NULL)
        crest_statsd_sent_note(sent, entry, entry->counter + entry->done);
    else if (entry->done ==
             crest_distribution_count(entry->next) - crest_distribution_count(entry->distribution))
        crest_statsd_sent_note_counts(sent, entry, entry->next);
}

crest_status crest_statsd_sent_mark(crest_statsd_sent *sent, uint64_t end,
                                    crest_statsd_entry *entry, uint64_t done)
{
    if (sent->mark_end == sent->mark_places && sent->mark_first > sent->mark_places / 2) {
        sent->mark_end -= sent->mark_first;
        memmove(sent->marks, sent->marks + sent->mark_first, sent->mark_end * sizeof *sent->marks);
        sent->mark_first = 0;
    }
    if (sent->mark_end == sent->mark_places) {
        size_t places = sent->mark_places ? sent->mark_places * 2 : STATSD_MARKS_FIRST;
        if (places > CREST_STATSD_MARKS_MAX)
            return CREST_LIMIT;
        crest_statsd_mark *marks = realloc(sent->marks, places * sizeof *marks);
        if (marks == NULL)
            return CREST_NO_MEMORY;
        sent->marks = marks;
        sent->mark_places = places;
    }
    sent->marks[sent->mark_end++] = (crest_statsd_mark){end, entry, done};
    return CREST_OK;
}

void crest_statsd_sent_confirm(crest_statsd_sent *sent, uint64_t end)
{
    while (sent->mark_first < sent->mark_end && sent->marks[sent->mark_first].end <= end) {
        const crest_statsd_mark *mark = &sent->marks[sent->mark_first++];
        mark->entry->done = mark->done;
        mark->entry->known = 1;
        statsd_arrived(sent, mark->entry);
    }
    if (sent->mark_first == sent->mark_end)
        sent->mark_first = sent->mark_end = 0;
}

/* Moves confirmed deltas into the values that have been sent. */
static void statsd_settle(crest_statsd_entry *entry, const crest_statsd_form *form)
{
    crest_distribution *next = entry->next;
    entry->next = NULL;
    uint64_t sent = crest_distribution_count(entry->distribution);
    if (entry->done == crest_distribution_count(next) - sent) {
        crest_distribution_free(entry->distribution);
        entry->distribution = next;
        return;
    }
    if (entry->distribution == NULL) {
        /* an empty one with the same buckets */
        entry->distribution = crest_distribution_copy(next);
        if (entry->distribution != NULL)
            crest_distribution_subtract(entry->distribution, next);
    } else {
        crest_distribution_subtract(next, entry->distribution);
    }
    if (entry->distribution != NULL)
        crest_statsd_said(form, next, entry->done, entry->distribution);
    crest_distribution_free(next);
}

void crest_statsd_sent_end(crest_statsd_sent *sent, const crest_statsd_form *form)
{
    for (size_t i = 0; i < sent->places; i++) {
        crest_statsd_entry *entry = &sent->entries[i];
        if (entry->done != 0 && entry->next != NULL)
            statsd_settle(entry, form);
        else if (entry->done != 0)
            entry->counter += entry->done;
        crest_distribution_free(entry->next);
        entry->next = NULL;
        entry->done = 0;
    }
    sent->mark_first = sent->mark_end = 0;
}

void crest_statsd_sent_fini(crest_statsd_sent *sent)
{
    for (size_t i = 0; i < sent->places; i++)
        statsd_entry_fini(&sent->entries[i]);
    free(sent->entries);
    free(sent->marks);
    *sent = (crest_statsd_sent){.entries = NULL};
}
