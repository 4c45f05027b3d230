/* SPDX-License-Identifier: Apache-2.0 */
/* The account of what was delivered. See otlp_delivered.h. */
#include "otlp/otlp_delivered.h"

#include <stdlib.h>
#include <string.h>

#define DELIVERED_PLACES_FIRST 64u

/* Fibonacci hashing: lives are addresses and a count, alike in their low bits. */
static size_t delivered_place(uint64_t life, size_t places)
{
    return (size_t)((life * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (places - 1);
}

static crest_otlp_entry *delivered_entry(crest_otlp_entry *entries, size_t places, uint64_t life)
{
    size_t at = delivered_place(life, places);
    while (entries[at].life != 0 && entries[at].life != life)
        at = (at + 1) & (places - 1);
    return &entries[at];
}

static void delivered_entry_fini(crest_otlp_entry *entry)
{
    crest_distribution_free(entry->distribution);
    crest_distribution_free(entry->next);
}

static uint32_t delivered_age(const crest_otlp_account *account, const crest_otlp_entry *entry)
{
    return account->report - entry->report;
}

/* Moves the entries that are not older than `age` reports into a table of so many places. */
static crest_status delivered_move(crest_otlp_account *account, size_t places, uint32_t age)
{
    crest_otlp_entry *entries = calloc(places, sizeof *entries);
    if (entries == NULL)
        return CREST_NO_MEMORY;
    account->count = 0;
    for (size_t i = 0; i < account->places; i++) {
        crest_otlp_entry *entry = &account->entries[i];
        if (entry->life == 0)
            continue;
        if (!entry->staged && delivered_age(account, entry) > age) {
            delivered_entry_fini(entry);
            continue;
        }
        *delivered_entry(entries, places, entry->life) = *entry;
        account->count++;
    }
    free(account->entries);
    account->entries = entries;
    account->places = places;
    return CREST_OK;
}

static int delivered_compare_ages(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The age beyond which absent series are forgotten, so that half of the limit is left; UINT32_MAX:
 * none is, or there is no memory to find out. */
static uint32_t delivered_oldest(const crest_otlp_account *account)
{
    size_t absent = 0, count = 0;
    for (size_t i = 0; i < account->places; i++)
        absent +=
            account->entries[i].life != 0 && delivered_age(account, &account->entries[i]) != 0;
    if (absent <= CREST_OTLP_ABSENT_MAX)
        return UINT32_MAX;
    uint32_t *ages = calloc(absent, sizeof *ages);
    if (ages == NULL)
        return UINT32_MAX;
    for (size_t i = 0; i < account->places; i++)
        if (account->entries[i].life != 0 && delivered_age(account, &account->entries[i]) != 0)
            ages[count++] = delivered_age(account, &account->entries[i]);
    qsort(ages, count, sizeof *ages, delivered_compare_ages);
    uint32_t age = ages[CREST_OTLP_ABSENT_MAX / 2] - 1;
    free(ages);
    return age;
}

crest_status crest_otlp_delivered_begin(crest_otlp_account *account, size_t series)
{
    size_t places = account->places > 0 ? account->places : DELIVERED_PLACES_FIRST;
    uint32_t age = delivered_oldest(account);
    while (places < 2 * (account->count + series))
        places *= 2;
    crest_status status = CREST_OK;
    if (places > account->places || age != UINT32_MAX)
        status = delivered_move(account, places, age);
    if (status == CREST_OK)
        account->report++;
    return status;
}

crest_otlp_entry *crest_otlp_delivered_find(crest_otlp_account *account,
                                            const crest_series_view *series)
{
    crest_otlp_entry *entry = delivered_entry(account->entries, account->places, series->life);
    if (entry->life == 0) {
        entry->life = series->life;
        account->count++;
    }
    entry->report = account->report;
    return entry;
}

crest_status crest_otlp_delivered_stage(crest_otlp_account *account,
                                        const crest_series_view *series, uint64_t wall_ns)
{
    crest_otlp_entry *entry = crest_otlp_delivered_find(account, series);
    crest_distribution_free(entry->next);
    entry->next = NULL;
    if (series->distribution != NULL &&
        (entry->distribution == NULL || crest_distribution_count(series->distribution) !=
                                            crest_distribution_count(entry->distribution))) {
        entry->next = crest_distribution_copy(series->distribution);
        if (entry->next == NULL)
            return CREST_NO_MEMORY;
    }
    entry->next_counter = series->kind == CREST_KIND_COUNTER ? series->counter : 0;
    entry->next_wall_ns = wall_ns;
    entry->staged = 1;
    return CREST_OK;
}

/* The end of what is staged: confirmed, or forgotten. */
static void delivered_end(crest_otlp_account *account, int confirmed)
{
    for (size_t i = 0; i < account->places; i++) {
        crest_otlp_entry *entry = &account->entries[i];
        if (!entry->staged)
            continue;
        entry->staged = 0;
        if (confirmed) {
            entry->counter = entry->next_counter;
            entry->wall_ns = entry->next_wall_ns;
        }
        if (confirmed && entry->next != NULL) {
            crest_distribution_free(entry->distribution);
            entry->distribution = entry->next;
        } else {
            crest_distribution_free(entry->next);
        }
        entry->next = NULL;
    }
}

void crest_otlp_delivered_settle(crest_otlp_account *account)
{
    delivered_end(account, 1);
}

void crest_otlp_delivered_drop(crest_otlp_account *account)
{
    delivered_end(account, 0);
}

void crest_otlp_delivered_fini(crest_otlp_account *account)
{
    for (size_t i = 0; i < account->places; i++)
        delivered_entry_fini(&account->entries[i]);
    free(account->entries);
    *account = (crest_otlp_account){.entries = NULL};
}
