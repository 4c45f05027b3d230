/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registering events. See event_known.h.
 */
#include "events/event_known.h"
#include "base/arena.h"
#include "base/forked.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "base/uncancelled.h"
#include "base/utf8.h"
#include "events/event_directory.h"
#include "events/event_format.h"
#include "names/names.h"

#include <string.h>

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_event_known *known_first;
static crest_event_known **known_last = &known_first;
static uint64_t known_count;

static uint32_t known_rule_default(crest_event_known *known)
{
    return crest_events_running() && known->declaration.severity >= CREST_INFO &&
                   known->declaration.detail <= CREST_NORMAL
               ? CREST_EVENT_RECORD
               : 0;
}
static crest_event_rule *known_rule = known_rule_default;

static void known_forked(void)
{
    crest_mutex_fresh(&known_lock);
}
CREST_FORKED(EVENTS_KNOWN, known_forked)

void crest_event_list_lock(void)
{
    pthread_mutex_lock(&known_lock);
}

void crest_event_list_unlock(void)
{
    pthread_mutex_unlock(&known_lock);
}

uint64_t crest_event_count_known(void)
{
    return crest_atomic_load(&known_count);
}

void crest_event_list_each(crest_event_each *each, void *context)
{
    for (crest_event_known *known = known_first; known != NULL; known = known->next)
        each(known, context);
}

void crest_events_each(crest_event_each *each, void *context)
{
    CREST_UNCANCELLED;
    crest_event_list_lock();
    crest_event_list_each(each, context);
    crest_event_list_unlock();
}

crest_event_known *crest_event_find(const char *name)
{
    for (crest_event_known *known = known_first; known != NULL; known = known->next)
        if (strcmp(known->declaration.name, name) == 0)
            return known;
    return NULL;
}

crest_event_known *crest_event_known_at(uint32_t number)
{
    crest_event_known *known = known_first;
    while (known != NULL && known->number != number)
        known = known->next;
    return known;
}

void crest_event_rule_by(crest_event_rule *rule)
{
    known_rule = rule;
}

void crest_event_word_set(crest_event_known *known, uint32_t word)
{
    known->word = word;
    for (crest_event *event = known->events; event != NULL; event = event->next)
        crest_atomic_store32(&event->word, word);
}

static void known_word_again(crest_event_known *known, void *context)
{
    (void)context;
    crest_event_word_set(known, known_rule(known));
}

void crest_event_words_again(void)
{
    crest_event_list_each(known_word_again, NULL);
}

/* ---- what is valid ---- */

static int known_text(const char *text, size_t most)
{
    return text != NULL && strnlen(text, most + 1) <= most && crest_utf8_is_valid(text);
}

/* Words of a field's values at most; 0 when it is not valid. */
static unsigned known_field_words(const crest_event_field *field)
{
    char why[CREST_NAMES_WHY_BYTES];
    if (field->name == NULL ||
        strnlen(field->name, CREST_EVENT_FIELD_BYTES_MAX + 1) > CREST_EVENT_FIELD_BYTES_MAX ||
        crest_label_key_syntax(field->name, why, sizeof why) != CREST_OK)
        return 0;
    switch (field->type) {
    case CREST_EVENT_U64:
    case CREST_EVENT_I64:
    case CREST_EVENT_DOUBLE:
    case CREST_EVENT_BOOL: return 1;
    case CREST_EVENT_TEXT:
    case CREST_EVENT_BYTES:
        if (field->bound > CREST_EVENT_BOUND_MAX)
            return 0;
        return 1 + ((field->bound ? field->bound : CREST_EVENT_BOUND_DEFAULT) + 7u) / 8u;
    case CREST_EVENT_OP: return CREST_EVENT_OP_WORDS;
    default: return 0;
    }
}

static crest_status known_check(const crest_event_declaration *declaration)
{
    char why[CREST_NAMES_WHY_BYTES];
    unsigned words = 0;
    if (declaration->name == NULL || crest_name_check(declaration->name, why, sizeof why))
        return CREST_INVALID_NAME;
    if (!known_text(declaration->doc, CREST_EVENT_DOC_BYTES_MAX))
        return CREST_INVALID_TEXT;
    if (declaration->severity >= CREST_SEVERITY_COUNT ||
        declaration->detail >= CREST_DETAIL_COUNT || declaration->privacy > CREST_CONFIDENTIAL ||
        declaration->field_count > CREST_EVENT_FIELDS_MAX)
        return CREST_INVALID_ARGUMENT;
    for (unsigned i = 0; i < declaration->field_count; i++) {
        unsigned more = known_field_words(&declaration->fields[i]);
        for (unsigned k = 0; more != 0 && k < i; k++)
            if (strcmp(declaration->fields[k].name, declaration->fields[i].name) == 0)
                more = 0;
        if (more == 0)
            return CREST_INVALID_ARGUMENT;
        words += more;
    }
    return 8 * words <= CREST_EVENT_PAYLOAD_BYTES_MAX ? CREST_OK : CREST_INVALID_ARGUMENT;
}

static int known_same(const crest_event_declaration *a, const crest_event_declaration *b)
{
    if (a->severity != b->severity || a->detail != b->detail || a->privacy != b->privacy ||
        a->field_count != b->field_count)
        return 0;
    for (unsigned i = 0; i < a->field_count; i++)
        if (a->fields[i].type != b->fields[i].type || a->fields[i].bound != b->fields[i].bound ||
            strcmp(a->fields[i].name, b->fields[i].name) != 0)
            return 0;
    return 1;
}

/* ---- making ---- */

/* Under the slow path's lock: a copy that stays; 0 without memory. */
static int known_copy(const crest_event_declaration *from, crest_event_declaration *to)
{
    crest_event_field *fields =
        crest_arena_take(CREST_ARENA_META, (from->field_count + 1u) * sizeof *fields, 8);
    *to = *from;
    to->note = NULL;
    to->fields = fields;
    to->name = crest_arena_copy(from->name, strlen(from->name));
    to->doc = crest_arena_copy(from->doc, strlen(from->doc));
    if (fields == NULL || to->name == NULL || to->doc == NULL)
        return 0;
    for (unsigned i = 0; i < from->field_count; i++) {
        fields[i] = from->fields[i];
        fields[i].name = crest_arena_copy(from->fields[i].name, strlen(from->fields[i].name));
        if (fields[i].name == NULL)
            return 0;
    }
    return 1;
}

static uint32_t known_fixed_words(const crest_event_declaration *declaration)
{
    for (unsigned i = 0; i < declaration->field_count; i++)
        if (declaration->fields[i].type >= CREST_EVENT_TEXT)
            return 0;
    return 2u + declaration->field_count;
}

static crest_event_known *known_make(const crest_event_declaration *declaration,
                                     crest_status *status)
{
    *status = CREST_LIMIT;
    if (known_count >= CREST_EVENTS_MAX)
        return NULL;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_event_known *known = crest_arena_take(CREST_ARENA_META, sizeof *known, CREST_LINE_BYTES);
    int made = known != NULL && known_copy(declaration, &known->declaration);
    crest_lock_drop(&saved);
    *status = CREST_NO_MEMORY;
    if (!made)
        return NULL;
    known->fixed_words = known_fixed_words(declaration);
    known->number = (uint32_t)known_count + 1;
    crest_atomic_store(&known_count, known_count + 1);
    *known_last = known;
    known_last = &known->next;
    crest_event_directory_add(known->number, &known->declaration);
    *status = CREST_OK;
    return known;
}

/* Under the list's lock. */
static crest_status known_register(crest_event *event)
{
    const crest_event_declaration *declaration = event->declaration;
    crest_status status = known_check(declaration);
    if (status != CREST_OK)
        return status;
    if (event->known != NULL)
        return CREST_OK;
    crest_event_known *known = crest_event_find(declaration->name);
    if (known != NULL && !known_same(&known->declaration, declaration))
        return CREST_TYPE_CLASH;
    if (known == NULL && (known = known_make(declaration, &status)) == NULL)
        return status;
    event->next = known->events;
    known->events = event;
    /* partner: the acquire load in crest_event_write */
    crest_atomic_store_ptr_release(CREST_PTR(&event->known), known);
    crest_event_word_set(known, known_rule(known));
    return CREST_OK;
}

crest_status crest_event_register(crest_event *event)
{
    CREST_UNCANCELLED;
    crest_status status = CREST_INVALID_ARGUMENT;
    if (event != NULL && event->abi != CREST_EVENT_ABI)
        status = CREST_ABI_MISMATCH;
    else if (event != NULL && event->declaration != NULL) {
        crest_event_list_lock();
        status = known_register(event);
        crest_event_list_unlock();
    }
    if (status != CREST_OK)
        crest_misuse_count(crest_misuse_of(status), status != CREST_ABI_MISMATCH && event != NULL &&
                                                            event->declaration != NULL
                                                        ? event->declaration->name
                                                        : NULL);
    return status;
}

void crest_event_unregister(crest_event *event)
{
    CREST_UNCANCELLED;
    if (event == NULL || event->abi != CREST_EVENT_ABI)
        return;
    crest_event_list_lock();
    crest_atomic_store32(&event->word, 0);
    if (event->known != NULL) {
        crest_event **link = &event->known->events;
        while (*link != NULL && *link != event)
            link = &(*link)->next;
        if (*link == event)
            *link = event->next;
        event->next = NULL;
        crest_atomic_store_ptr_release(CREST_PTR(&event->known), NULL); /* its partner is gone */
    }
    crest_event_list_unlock();
}
