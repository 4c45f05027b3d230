/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state file read into a sorted list of series. See <crest/state.h>.
 */
#define _GNU_SOURCE
#include "remains/remains.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/uncancelled.h"
#include "metrics/metric_inside.h"
#include "names/buckets.h"
#include "state/state_place.h"

#include <crest/timer.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The items, of which there are `count`, with room for one more; NULL without memory. */
static void *remains_room(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return items;
    return crest_alloc_resize(items, count != 0 ? 2 * count : 1, size);
}

/* ---- metrics ---- */

/* Whether a text can be a name, of any writer: nothing that would end it on a page. */
static int remains_is_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || strchr("\"\\{}=,\x7f", *at) != NULL)
            return 0;
    return *text != '\0';
}

static crest_buckets remains_buckets(const crest_state_metric *record)
{
    return (crest_buckets){(const double *)(const void *)(record + 1), record->bound_count};
}

/* Whether the record can be of a metric that the library makes. */
static int remains_metric_is_sound(const crest_state_metric *record, const char *const *texts)
{
    if (record->constant_count > CREST_CONSTANT_LABELS_MAX ||
        record->key_count > CREST_LABELS_KEPT_MAX || record->kind >= CREST_KIND_STAGES ||
        record->unit > CREST_RATIO)
        return 0;
    crest_buckets buckets = remains_buckets(record);
    if (buckets.count != 0 && crest_buckets_check(&buckets, NULL, 0) != CREST_OK)
        return 0;
    for (unsigned i = 0; i < record->constant_count; i++)
        if (!remains_is_name(texts[3 + 2 * i]))
            return 0;
    for (unsigned i = 0; i < record->key_count; i++)
        if (!remains_is_name(texts[3 + 2 * record->constant_count + i]))
            return 0;
    return remains_is_name(texts[0]) && remains_is_name(texts[1]);
}

/* Fills in a metric; 0 without memory. */
static int remains_metric(crest_remains *remains, uint32_t id)
{
    const crest_state_metric *record = crest_dead_metric(remains->dead, id);
    crest_remains_metric *metric = &remains->metrics[id];
    const char *texts[CREST_DEAD_TEXTS_MAX];
    if (record == NULL || !crest_dead_texts(record, texts) ||
        !remains_metric_is_sound(record, texts))
        return 1;
    unsigned constants = record->constant_count, keys = record->key_count;
    int timer = record->kind == CREST_KIND_TIMER;
    metric->keys = crest_alloc(2 * (size_t)constants + keys + 2, sizeof *metric->keys);
    if (metric->keys == NULL)
        return 0;
    for (unsigned i = 0; i < constants; i++) {
        metric->keys[i] = texts[3 + 2 * i];
        metric->keys[constants + keys + 1 + i] = texts[4 + 2 * i];
    }
    memcpy(metric->keys + constants, texts + 3 + 2 * constants, keys * sizeof *texts);
    if (timer)
        metric->keys[constants + keys] = "outcome";
    memcpy(metric->texts, texts, sizeof metric->texts);
    metric->constant_values = metric->keys + constants + keys + 1;
    metric->constants = constants;
    metric->labels = constants + keys + (unsigned)timer;
    metric->buckets = remains_buckets(record);
    if (!crest_dead_layout(record, &metric->layout))
        metric->layout = (crest_layout){0};
    metric->record = record;
    return 1;
}

static int remains_metrics(crest_remains *remains)
{
    remains->metric_count = crest_dead_metric_count(remains->dead);
    remains->metrics = crest_alloc(remains->metric_count + 1, sizeof *remains->metrics);
    if (remains->metrics == NULL)
        return 0;
    for (uint32_t id = 0; id < remains->metric_count; id++)
        if (!remains_metric(remains, id))
            return 0;
    return 1;
}

/* ---- series ---- */

static crest_remains_entry *remains_entry(crest_remains *remains)
{
    if (remains->count == remains->room) {
        size_t room = 2 * remains->room + 64;
        crest_remains_entry *more =
            crest_alloc_resize(remains->entries, room, sizeof *remains->entries);
        if (more == NULL)
            return NULL;
        remains->entries = more;
        remains->room = room;
    }
    crest_remains_entry *entry = &remains->entries[remains->count];
    memset(entry, 0, sizeof *entry);
    return entry;
}

/* The labels' values; NULL without memory. Those of keys that came later are "". */
static const char **remains_values(const crest_remains_metric *metric,
                                   const crest_state_series *series)
{
    const char **values = crest_alloc(metric->labels + 1, sizeof *values);
    if (values == NULL)
        return NULL;
    unsigned keys = metric->record->key_count;
    for (unsigned i = 0; i < metric->constants; i++)
        values[i] = metric->constant_values[i];
    for (unsigned i = 0; i < keys; i++)
        values[metric->constants + i] = "";
    crest_state_texts(&series->record, 0, values + metric->constants, series->value_count);
    if (metric->record->kind == CREST_KIND_TIMER)
        values[metric->constants + keys] = crest_outcome_text((crest_outcome)series->outcome);
    return values;
}

/* Whether a series is one that the library makes. */
static int remains_fits(const crest_remains_metric *metric, const crest_state_series *series)
{
    const char *texts[CREST_DEAD_TEXTS_MAX];
    return metric->record != NULL && series->value_count <= metric->record->key_count &&
           series->outcome < CREST_OUTCOME_COUNT &&
           crest_state_texts(&series->record, 0, texts, series->value_count);
}

/* Adds a series; 0 without memory. */
static int remains_add(crest_remains *remains, const crest_state_series *series)
{
    const crest_remains_metric *metric = &remains->metrics[series->metric];
    if (!remains_fits(metric, series)) {
        remains->damaged++;
        return 1;
    }
    crest_remains_entry *entry = remains_entry(remains);
    if (entry == NULL || (entry->values = remains_values(metric, series)) == NULL)
        return 0;
    entry->metric = metric;
    entry->birth = series->birth;
    entry->made_s = series->made_s;
    entry->outcome = series->outcome;
    switch ((crest_kind)metric->record->kind) {
    case CREST_KIND_COUNTER: entry->counter = crest_dead_counter(remains->dead, series); break;
    case CREST_KIND_GAUGE: entry->gauge = crest_dead_gauge(remains->dead, series); break;
    case CREST_KIND_RANGE_SAMPLER: entry->current = crest_dead_range(remains->dead, series); break;
    default: entry->distribution = crest_dead_distribution(remains->dead, series);
    }
    remains->count++;
    return 1;
}

/* As pages are sorted: by exported name, unit and the like, then label values, then outcome. */
static int remains_compare(const void *a, const void *b)
{
    const crest_remains_entry *x = a, *y = b;
    if (x->metric != y->metric) {
        int by_name = strcmp(x->metric->texts[1], y->metric->texts[1]);
        return by_name != 0 ? by_name : strcmp(x->metric->texts[0], y->metric->texts[0]);
    }
    unsigned end = x->metric->constants + x->metric->record->key_count;
    for (unsigned i = x->metric->constants; i < end; i++) {
        int by_value = strcmp(x->values[i], y->values[i]);
        if (by_value != 0)
            return by_value;
    }
    return (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

/* ---- operations ---- */

static uint64_t remains_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int remains_by_keyed(const void *a, const void *b)
{
    const crest_remains_keyed *x = a, *y = b;
    return (x->keyed > y->keyed) - (x->keyed < y->keyed);
}

/* Notes which timer entries with this address are of; 0 without memory. */
static int remains_note_keyed(crest_remains *remains, const crest_state_keyed *record)
{
    if (record->metric >= remains->metric_count || remains->metrics[record->metric].record == NULL)
        return 1;
    crest_remains_keyed *more =
        remains_room(remains->keyed, remains->keyed_count, sizeof *remains->keyed);
    if (more == NULL)
        return 0;
    remains->keyed = more;
    more[remains->keyed_count++] =
        (crest_remains_keyed){record->keyed, remains->metrics[record->metric].texts[0]};
    return 1;
}

/* The name of the timer that entries bear the address of; "" if none does. */
static const char *remains_timer(const crest_remains *remains, uint64_t keyed)
{
    const crest_remains_keyed wanted = {.keyed = keyed}, *found = NULL;
    if (remains->keyed_count != 0)
        found =
            bsearch(&wanted, remains->keyed, remains->keyed_count, sizeof wanted, remains_by_keyed);
    return found != NULL ? found->timer : "";
}

/* Adds an entry of the table in flight if it is begun; 0 without memory. */
static int remains_op(crest_remains *remains, const unsigned char *entry)
{
    const crest_state_header *header = remains->view->header;
    if ((remains_word(entry + CREST_STATE_ENTRY_STATE) & 3) != 1)
        return 1;
    crest_remains_op *more = remains_room(remains->ops, remains->op_count, sizeof *more);
    if (more == NULL)
        return 0;
    remains->ops = more;
    uint64_t begun_ns = remains_word(entry + CREST_STATE_ENTRY_BEGUN_NS);
    crest_remains_op *op = &more[remains->op_count++];
    memset(op, 0, sizeof *op);
    op->timer = remains_timer(remains, remains_word(entry + CREST_STATE_ENTRY_KEYED));
    op->age_ns = header->beat_ns > begun_ns ? header->beat_ns - begun_ns : 0;
    op->begun_wall_ns = header->beat_wall_ns - op->age_ns;
    memcpy(&op->op, entry + CREST_STATE_ENTRY_OP, sizeof op->op);
    return 1;
}

/* Adds a block's; those beyond `left`, which is how many the file has bytes for, are damage. */
static int remains_ops(crest_remains *remains, const crest_state_in_flight *block, uint64_t *left)
{
    const unsigned char *entries = crest_state_at(
        remains->view, block->address, (uint64_t)block->entries * CREST_STATE_ENTRY_BYTES);
    if (entries == NULL || block->entry_bytes != CREST_STATE_ENTRY_BYTES)
        return 1;
    if (block->entries > *left) {
        remains->damaged++;
        return 1;
    }
    *left -= block->entries;
    for (uint32_t i = 0; i < block->entries; i++)
        if (!remains_op(remains, entries + (size_t)i * CREST_STATE_ENTRY_BYTES))
            return 0;
    return 1;
}

/* Adds all that is in flight, and counts damaged records; 0 without memory. */
static int remains_in_flight(crest_remains *remains)
{
    const crest_state_record *record;
    uint64_t left = remains->view->bytes / CREST_STATE_ENTRY_BYTES;
    crest_state_cursor cursor = {0}, again = {0};
    while ((record = crest_state_next(remains->view, &cursor)) != NULL)
        if (record->type == CREST_STATE_KEYED &&
            !remains_note_keyed(remains, (const crest_state_keyed *)(const void *)record))
            return 0;
    if (remains->keyed_count > 1)
        qsort(remains->keyed, remains->keyed_count, sizeof *remains->keyed, remains_by_keyed);
    while ((record = crest_state_next(remains->view, &again)) != NULL)
        if (record->type == CREST_STATE_IN_FLIGHT &&
            !remains_ops(remains, (const crest_state_in_flight *)(const void *)record, &left))
            return 0;
    remains->damaged += cursor.damaged + remains->view->lost;
    return 1;
}

static int remains_by_age(const void *a, const void *b)
{
    const crest_remains_op *x = a, *y = b;
    return (x->age_ns < y->age_ns) - (x->age_ns > y->age_ns);
}

/* ---- a file ---- */

static int remains_alive(const crest_state_header *header)
{
    char boot_id[sizeof header->boot_id];
    crest_state_boot_id(boot_id);
    return header->farewell_wall_ns == 0 && strcmp(boot_id, header->boot_id) == 0 &&
           crest_state_pid_start(header->pid) == header->pid_start;
}

static int remains_fill(crest_remains *remains)
{
    const crest_state_series *series;
    remains->dead = crest_dead_new(remains->view);
    if (remains->dead == NULL || !remains_metrics(remains))
        return 0;
    for (crest_state_cursor cursor = {0};
         (series = crest_dead_next(remains->dead, &cursor)) != NULL;)
        if (!remains_add(remains, series))
            return 0;
    if (!remains_in_flight(remains))
        return 0;
    uint64_t damaged = 0;
    remains->spans = crest_finished_spans_read(remains->view, &damaged);
    if (remains->spans == NULL)
        return 0;
    /* of a process that lives, records are written while they are read */
    remains->alive = remains_alive(remains->view->header);
    remains->damaged += remains->alive ? 0 : damaged;
    if (remains->count > 1)
        qsort(remains->entries, remains->count, sizeof *remains->entries, remains_compare);
    if (remains->op_count > 1)
        qsort(remains->ops, remains->op_count, sizeof *remains->ops, remains_by_age);
    return 1;
}

/* The file, or -1 with *error. */
static int remains_open(const char *path, crest_error *error)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        crest_error_set(error, CREST_IO, "%.300s cannot be read: %s", path,
                        errno == ELOOP ? "it is a symbolic link, which is not followed"
                                       : strerror(errno));
        return -1;
    }
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        return file;
    close(file);
    crest_error_set(error, CREST_IO, "%.300s is no file with a node's state, but %s", path,
                    S_ISDIR(about.st_mode)    ? "a directory"
                    : S_ISFIFO(about.st_mode) ? "a FIFO"
                                              : "something else");
    return -1;
}

crest_status crest_remains_read(const char *path, crest_remains **remains, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error inner = {.status = CREST_IO};
    *remains = NULL;
    int file = remains_open(path, error);
    if (file < 0)
        return CREST_IO;
    crest_remains *made = crest_alloc(1, sizeof *made);
    crest_status status =
        made == NULL ? CREST_NO_MEMORY : crest_state_view_read(file, &made->view, &inner);
    close(file);
    if (status == CREST_OK && !remains_fill(made))
        status = CREST_NO_MEMORY;
    if (status == CREST_OK) {
        *remains = made;
        return CREST_OK;
    }
    crest_remains_free(made);
    return status == CREST_NO_MEMORY
               ? crest_error_set(error, status, "There is no memory to read %.300s", path)
               : crest_error_set(error, status, "%.300s: %s", path, inner.message);
}

void crest_remains_free(crest_remains *remains)
{
    if (remains == NULL)
        return;
    for (size_t i = 0; i < remains->count; i++) {
        crest_distribution_free(remains->entries[i].distribution);
        crest_alloc_free(remains->entries[i].values);
    }
    for (uint32_t id = 0; remains->metrics != NULL && id < remains->metric_count; id++)
        crest_alloc_free(remains->metrics[id].keys);
    crest_alloc_free(remains->entries);
    crest_alloc_free(remains->metrics);
    crest_alloc_free(remains->ops);
    crest_alloc_free(remains->keyed);
    crest_finished_spans_free(remains->spans);
    crest_dead_free(remains->dead);
    crest_state_view_free(remains->view);
    crest_alloc_free(remains);
}

void crest_remains_tell(const crest_remains *remains, crest_remains_about *about)
{
    const crest_state_header *header = remains->view->header;
    *about = (crest_remains_about){.program = header->program,
                                   .service = header->service,
                                   .instance = header->instance,
                                   .version = header->service_version,
                                   .pid = header->pid,
                                   .opened_wall_ns = header->opened_wall_ns,
                                   .beat_wall_ns = header->beat_wall_ns,
                                   .farewell_wall_ns = header->farewell_wall_ns,
                                   .refused_bytes = header->refused_bytes,
                                   .damaged = remains->damaged,
                                   .alive = remains->alive,
                                   .adopted = header->phase == CREST_STATE_ADOPTED,
                                   .series = remains->count,
                                   .in_flight = remains->op_count};
}

crest_status crest_remains_in_flight(const crest_remains *remains, size_t index,
                                     crest_remains_op *op)
{
    if (index >= remains->op_count)
        return CREST_INVALID_ARGUMENT;
    *op = remains->ops[index];
    return CREST_OK;
}

crest_status crest_remains_span(const crest_remains *remains, size_t index, crest_span *span)
{
    const crest_span *found = crest_finished_spans_at(remains->spans, index);
    if (found == NULL)
        return CREST_INVALID_ARGUMENT;
    *span = *found;
    return CREST_OK;
}
