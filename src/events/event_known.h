/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that are known: each name once, however many objects declare it. They outlive the
 * objects, so that what a plugin emitted stays readable.
 */
#ifndef CREST_EVENT_KNOWN_H
#define CREST_EVENT_KNOWN_H

#include <crest/event.h>

/* Bits of an event's word. */
#define CREST_EVENT_RECORD 1u  /* into the thread's ring */
#define CREST_EVENT_COUNTS 2u  /* crest_event_limit_count is called first */
#define CREST_EVENT_LIMITED 4u /* crest_event_limit_allows is asked */

#include "events/event_limit.h"

/* Written under the list's lock, but for `limit`. Memory of crest_arena META, never given back. */
typedef struct crest_event_known {
    uint32_t number;      /* in the file, from 1 */
    uint32_t word;        /* that its declarations have */
    uint32_t fixed_words; /* of an event without texts, bytes and ops, its values; else 0 */
    crest_event *events;  /* the loaded objects' declarations */
    struct crest_event_known *next;
    crest_event_declaration declaration; /* copied; note NULL */
    crest_event_limit limit;             /* event_limit.h's */
} crest_event_known;

/* Bounds the list, words, and the file's directory. Not under the slow path's lock; not for
 * handlers. A child of a fork has it free. */
void crest_event_list_lock(void);
void crest_event_list_unlock(void);

/* Under the list's lock: calls `each` for all, the oldest first. */
typedef void crest_event_each(crest_event_known *known, void *context);
void crest_event_list_each(crest_event_each *each, void *context);

/* The same; takes the lock. */
void crest_events_each(crest_event_each *each, void *context);

/* Under the list's lock: the event of this name; NULL. */
crest_event_known *crest_event_find(const char *name);

/* Under the list's lock: gives its declarations this word. */
void crest_event_word_set(crest_event_known *known, uint32_t word);

/* Under the list's lock: the event of this number in the file; NULL. */
crest_event_known *crest_event_known_at(uint32_t number);

/* The word that an event shall have, answered under the list's lock. Until one is set: RECORD while
 * events are written, of info and above, and of normal detail at most. Set before threads start. */
typedef uint32_t crest_event_rule(crest_event_known *known);
void crest_event_rule_by(crest_event_rule *rule);

/* Under the list's lock: asks the rule for every event's word. */
void crest_event_words_again(void);

/* Events that are known. Any thread. */
uint64_t crest_event_count_known(void);

#endif
