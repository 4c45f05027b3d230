/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of events: which are recorded, how much of them, how often, and what they go to besides
 * the ring. Pure: text in, a choice for each event's name out; knows no event and no clock.
 *
 *     crest_event_rules *rules;
 *     if (crest_event_rules_parse("*: warning; comm: debug limit=100/s to=log",
 *                                 "in events.rules", &rules, &error) == CREST_OK)
 *         crest_event_rules_choose(rules, "comm.peer-lost", &choice);
 *     crest_event_rules_free(rules);
 *
 * <crest/event_control.h> has the grammar. Source: the configuration of Cardano's trace-dispatcher.
 */
#ifndef CREST_EVENT_RULES_H
#define CREST_EVENT_RULES_H

#include <crest/event_control.h>

/* In the order of their numbers. */
extern const char *const crest_event_severity_words[CREST_SEVERITY_COUNT + 1]; /* "off" last */
extern const char *const crest_event_detail_words[CREST_DETAIL_COUNT];

#define CREST_EVENT_OUTPUTS 3u
extern const char *const crest_event_output_words[CREST_EVENT_OUTPUTS]; /* bit i */

/* What the rules say of one event. */
typedef struct crest_event_choice {
    unsigned severity;     /* the least that is recorded; CREST_SEVERITY_COUNT: none is */
    unsigned detail;       /* the most that is recorded */
    unsigned outputs;      /* bits CREST_EVENT_TO_* */
    uint64_t interval_ns;  /* of the limiter, event_limit.h; 0: there is none */
    uint64_t tolerance_ns; /* likewise */
} crest_event_choice;
/* From info on, up to normal, unlimited, to the reporters of lines. */
#define CREST_EVENT_TO_DEFAULT (CREST_EVENT_TO_TEXT | CREST_EVENT_TO_JSON)
#define CREST_EVENT_CHOICE_DEFAULT                                                                 \
    ((crest_event_choice){CREST_INFO, CREST_NORMAL, CREST_EVENT_TO_DEFAULT, 0, 0})

static inline int crest_event_choice_same(const crest_event_choice *one,
                                          const crest_event_choice *other)
{
    return one->severity == other->severity && one->detail == other->detail &&
           one->outputs == other->outputs && one->interval_ns == other->interval_ns &&
           one->tolerance_ns == other->tolerance_ns;
}

typedef struct crest_event_rules crest_event_rules;

/* Reads rules, of which there may be none; *rules is NULL after a failure. `origin` says in the
 * message where the text is from ("in events.rules"). CREST_INVALID_OPTIONS with a sentence that
 * names the rule and what could stand there; CREST_NO_MEMORY. error may be NULL. */
crest_status crest_event_rules_parse(const char *text, const char *origin,
                                     crest_event_rules **rules, crest_error *error);
void crest_event_rules_free(crest_event_rules *rules);

/* Fills the choice for an event's name. rules NULL: the default. */
void crest_event_rules_choose(const crest_event_rules *rules, const char *name,
                              crest_event_choice *choice);

/* How many rules there are, and the namespace of one: "" is that of all events. */
size_t crest_event_rules_count(const crest_event_rules *rules);
const char *crest_event_rules_name(const crest_event_rules *rules, size_t index);

/* Whether the namespace holds for the name. */
int crest_event_rules_holds(const char *space, const char *name);

#endif
