/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules in force, counters of events, and summaries of limiters. See event_rules_now.h and
 * <crest/event_control.h>.
 */
#include "events/event_rules_now.h"
#include "events/event_directory.h"
#include "events/event_rules.h"
#include <crest/registry.h>

#include <string.h>

#define EVENT_LIMIT_TOLD "crest.event-limit"
/* Summaries of one turn. */
#define EVENT_LIMITS_TOLD_MAX 64u

CREST_EVENT(event_limit_told, EVENT_LIMIT_TOLD, CREST_NOTICE,
            "The limiter of an event held some of its emissions back.", (text, event, 200),
            (u64, suppressed));
CREST_COUNTER(event_limit_suppressed, "crest.suppressed-events",
              "Events that their limiters held back: they are in no ring.");

/* Guarded by the lock of the list; NULL: none. */
static crest_event_rules *event_rules_in_force;
/* What events go to, all together. Relaxed; a hint. */
static uint64_t event_rules_outputs_now;

/* The rule of event_known.h: fills known->limit, and returns the word that the event shall have. */
static uint32_t event_rule_word(crest_event_known *known)
{
    crest_event_choice choice;
    crest_event_limit *limit = &known->limit;
    crest_event_rules_choose(event_rules_in_force, known->declaration.name, &choice);
    if (strcmp(known->declaration.name, EVENT_LIMIT_TOLD) == 0)
        choice.interval_ns = 0; /* what is told of limits is not held back by one */
    if (known->declaration.privacy == CREST_CONFIDENTIAL)
        choice.outputs = 0;
    uint32_t word =
        crest_atomic_load_ptr_acquire(CREST_PTR(&limit->counter)) != NULL ? CREST_EVENT_COUNTS : 0;
    crest_atomic_store(&limit->tolerance_ns, choice.tolerance_ns);
    crest_atomic_store(&limit->interval_ns, choice.interval_ns);
    crest_atomic_store(&limit->outputs, choice.outputs);
    if (!crest_events_running() || known->declaration.severity < choice.severity ||
        known->declaration.detail > choice.detail)
        return word;
    crest_atomic_store(&event_rules_outputs_now,
                       crest_atomic_load(&event_rules_outputs_now) | choice.outputs);
    return word | CREST_EVENT_RECORD | (choice.interval_ns != 0 ? CREST_EVENT_LIMITED : 0);
}

void crest_event_rules_apply(void)
{
    crest_event_list_lock();
    crest_atomic_store(&event_rules_outputs_now, 0);
    crest_event_words_again();
    crest_event_list_unlock();
}

/* Events that were declared by earlier constructors have their words from the rule before. */
__attribute__((constructor)) static void event_rules_begin(void)
{
    crest_event_rule_by(event_rule_word);
    crest_event_rules_apply();
}

crest_status crest_event_rules_use(const char *text, const char *origin, crest_error *error)
{
    crest_event_rules *rules = NULL;
    crest_status status =
        text != NULL ? crest_event_rules_parse(text, origin, &rules, error) : CREST_OK;
    if (status != CREST_OK)
        return status;
    crest_event_list_lock();
    crest_event_rules *old = event_rules_in_force;
    event_rules_in_force = rules;
    crest_event_list_unlock();
    crest_event_rules_free(old);
    crest_event_rules_apply(); /* of two threads that set rules the later one sees the last */
    return CREST_OK;
}

crest_status crest_events_set(const char *rules, crest_error *error)
{
    return crest_event_rules_use(rules, "given to crest_events_set", error);
}

int crest_event_rules_any(unsigned outputs)
{
    return (crest_atomic_load(&event_rules_outputs_now) & outputs) != 0;
}

unsigned crest_event_goes_to(uint32_t number)
{
    crest_event_list_lock();
    crest_event_known *known = crest_event_known_at(number);
    unsigned outputs = known != NULL ? (unsigned)crest_atomic_load(&known->limit.outputs) : 0;
    crest_event_list_unlock();
    return outputs;
}

/* ---- counters ---- */

crest_status crest_event_counted(crest_event *event, crest_counter *counter)
{
    crest_status status = CREST_OK;
    if (event == NULL || counter == NULL)
        return CREST_INVALID_ARGUMENT;
    /* the library's own handle, because the counter's object may be unloaded before the event's */
    const crest_declaration *declaration = counter->handle.declaration;
    crest_counter *own = counter;
    if (declaration != NULL)
        own = crest_counter_get(declaration->registry, &declaration->options, &status);
    if (status != CREST_OK)
        return status;
    crest_event_list_lock();
    crest_event_known *known = event->known;
    if (known != NULL) {
        /* release: partner of the acquire load in crest_event_limit_count */
        crest_atomic_store_ptr_release(CREST_PTR(&known->limit.counter), own);
        crest_event_word_set(known, event_rule_word(known));
    }
    crest_event_list_unlock();
    return known != NULL ? CREST_OK : CREST_INVALID_ARGUMENT;
}

/* ---- summaries ---- */

typedef struct event_limits_turn {
    const char *name[EVENT_LIMITS_TOLD_MAX]; /* the library's, for good */
    uint64_t suppressed[EVENT_LIMITS_TOLD_MAX];
    unsigned count;
} event_limits_turn;

static void event_limits_look(crest_event_known *known, void *context)
{
    event_limits_turn *turn = context;
    uint64_t suppressed = crest_atomic_load(&known->limit.suppressed) - known->limit.told;
    if (suppressed == 0 || turn->count == EVENT_LIMITS_TOLD_MAX)
        return;
    known->limit.told += suppressed;
    turn->name[turn->count] = known->declaration.name;
    turn->suppressed[turn->count++] = suppressed;
}

void crest_event_limits_tell(void)
{
    event_limits_turn turn = {.count = 0};
    crest_events_each(event_limits_look, &turn);
    for (unsigned i = 0; i < turn.count; i++) {
        crest_counter_add(&event_limit_suppressed, turn.suppressed[i]);
        CREST_EMIT(event_limit_told, turn.name[i], turn.suppressed[i]);
    }
}
