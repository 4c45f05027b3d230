/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading rules of events, and choosing by them. See event_rules.h.
 */
#include "events/event_rules.h"
#include "base/alloc.h"
#include "base/sync.h"
#include "base/utf8.h"
#include "names/names.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a rule that a message repeats. */
#define EVENT_RULES_SHOWN_BYTES 60
#define EVENT_RULES_WORD_BYTES_MAX 64u

/* Which things a rule says; a bit each. */
#define EVENT_RULES_SAYS_SEVERITY 1u
#define EVENT_RULES_SAYS_DETAIL 2u
#define EVENT_RULES_SAYS_LIMIT 4u
#define EVENT_RULES_SAYS_OUTPUTS 8u

typedef struct event_rule {
    char name[CREST_NAME_BYTES_MAX + 1]; /* "": all events */
    unsigned says;
    crest_event_choice choice; /* what it says of those things */
} event_rule;

struct crest_event_rules {
    size_t count;
    event_rule rule[];
};

const char *const crest_event_severity_words[] = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", "off"};
const char *const crest_event_detail_words[] = {"minimal", "normal", "detailed", "maximum"};
const char *const crest_event_output_words[] = {"log", "text", "json"};

/* What is being read: one rule of the text. */
typedef struct event_rules_reader {
    const char *rule; /* for messages, with its length */
    size_t length;
    const char *origin;
    crest_error *error;
} event_rules_reader;

#define EVENT_RULES_WORDS                                                                          \
    "a severity (debug, info, notice, warning, error, critical, alert, emergency, off), a "        \
    "detail (minimal, normal, detailed, maximum), limit=100/s, or to=log:text:json"

static crest_status event_rules_refuse(const event_rules_reader *reader, const char *what,
                                       const char *word, size_t length, const char *instead)
{
    return crest_error_set(
        reader->error, CREST_INVALID_OPTIONS, "the rule \"%.*s\" %s: %s \"%.*s\"; write %s",
        (int)crest_utf8_cut(reader->rule, reader->length, EVENT_RULES_SHOWN_BYTES), reader->rule,
        reader->origin, what, (int)crest_utf8_cut(word, length, EVENT_RULES_SHOWN_BYTES), word,
        instead);
}

static int event_rules_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int event_rules_is(const char *word, size_t length, const char *known)
{
    return strlen(known) == length && memcmp(word, known, length) == 0;
}

/* The word's place in a list; `count` if it is not there. */
static unsigned event_rules_place(const char *word, size_t length, const char *const *known,
                                  unsigned count)
{
    unsigned place = 0;
    while (place < count && !event_rules_is(word, length, known[place]))
        place++;
    return place;
}

/* N/s, N/m, N/h or off. */
static int event_rules_limit(const char *text, size_t length, crest_event_choice *choice)
{
    uint64_t n = 0, unit_ns;
    size_t at = 0;
    choice->interval_ns = choice->tolerance_ns = 0;
    if (event_rules_is(text, length, "off"))
        return 1;
    while (at < length && text[at] >= '0' && text[at] <= '9' && n <= CREST_EVENT_LIMIT_MAX)
        n = 10 * n + (uint64_t)(text[at++] - '0');
    if (n == 0 || n > CREST_EVENT_LIMIT_MAX || length - at != 2 || text[at] != '/')
        return 0;
    switch (text[at + 1]) {
    case 's': unit_ns = CREST_NS_PER_S; break;
    case 'm': unit_ns = 60 * CREST_NS_PER_S; break;
    case 'h': unit_ns = 3600 * CREST_NS_PER_S; break;
    default: return 0;
    }
    choice->interval_ns = unit_ns / n;
    choice->tolerance_ns = (n - 1) * choice->interval_ns;
    return 1;
}

/* Outputs, separated by colons; ring, which is always there, may be among them. */
static int event_rules_outputs(const char *text, size_t length, crest_event_choice *choice)
{
    choice->outputs = 0;
    for (const char *end = text + length; text <= end; text++) {
        const char *colon = memchr(text, ':', (size_t)(end - text));
        size_t bytes = (size_t)((colon != NULL ? colon : end) - text);
        unsigned place =
            event_rules_place(text, bytes, crest_event_output_words, CREST_EVENT_OUTPUTS);
        if (place < CREST_EVENT_OUTPUTS)
            choice->outputs |= 1u << place;
        else if (!event_rules_is(text, bytes, "ring"))
            return 0;
        text += bytes;
    }
    return 1;
}

/* One word of a rule. */
static crest_status event_rules_word(const event_rules_reader *reader, const char *word,
                                     size_t length, event_rule *rule)
{
    crest_event_choice *choice = &rule->choice;
    unsigned says;
    unsigned severity =
        event_rules_place(word, length, crest_event_severity_words, CREST_SEVERITY_COUNT + 1);
    unsigned detail = event_rules_place(word, length, crest_event_detail_words, CREST_DETAIL_COUNT);
    if (severity <= CREST_SEVERITY_COUNT) {
        says = EVENT_RULES_SAYS_SEVERITY;
        choice->severity = severity;
    } else if (detail < CREST_DETAIL_COUNT) {
        says = EVENT_RULES_SAYS_DETAIL;
        choice->detail = detail;
    } else if (length > 6 && memcmp(word, "limit=", 6) == 0) {
        says = EVENT_RULES_SAYS_LIMIT;
        if (!event_rules_limit(word + 6, length - 6, choice))
            return event_rules_refuse(reader, "there is no limit", word, length,
                                      "limit=N/s, N/m or N/h with N from 1 to 1000000, or "
                                      "limit=off");
    } else if (length > 3 && memcmp(word, "to=", 3) == 0) {
        says = EVENT_RULES_SAYS_OUTPUTS;
        if (!event_rules_outputs(word + 3, length - 3, choice))
            return event_rules_refuse(reader, "there is no output", word, length,
                                      "to= and some of ring, log, text and json with colons "
                                      "between them");
    } else {
        return event_rules_refuse(reader, "it does not know", word, length, EVENT_RULES_WORDS);
    }
    if (rule->says & says)
        return event_rules_refuse(reader, "it says a thing twice, the second time with", word,
                                  length, "each once");
    rule->says |= says;
    return CREST_OK;
}

static crest_status event_rules_space(const event_rules_reader *reader, const char *name,
                                      size_t length, event_rule *rule)
{
    char why[CREST_NAMES_WHY_BYTES];
    if (event_rules_is(name, length, "*"))
        return CREST_OK;
    if (length <= CREST_NAME_BYTES_MAX) {
        memcpy(rule->name, name, length);
        rule->name[length] = '\0';
    }
    if (length == 0 || length > CREST_NAME_BYTES_MAX ||
        crest_name_check(rule->name, why, sizeof why) != CREST_OK)
        return event_rules_refuse(reader, "there is no namespace", name, length,
                                  "the begin of events' names up to a dot or dash, as casper, or "
                                  "* for all");
    return CREST_OK;
}

/* One rule, without the blanks around it. */
static crest_status event_rules_one(const event_rules_reader *reader, event_rule *rule)
{
    const char *at = reader->rule, *end = at + reader->length;
    const char *colon = memchr(at, ':', reader->length);
    *rule = (event_rule){.says = 0};
    if (colon == NULL)
        return event_rules_refuse(reader, "it has no colon after", at, strcspn(at, " ;\t\r\n"),
                                  "a namespace, a colon and what it shall be, as casper: debug");
    size_t length = (size_t)(colon - at);
    while (length > 0 && event_rules_blank(at[length - 1]))
        length--;
    crest_status status = event_rules_space(reader, at, length, rule);
    for (at = colon + 1; status == CREST_OK && at < end;) {
        const char *word = at;
        while (at < end && !event_rules_blank(*at))
            at++;
        if (at > word)
            status = event_rules_word(reader, word, (size_t)(at - word), rule);
        else
            at++;
    }
    if (status == CREST_OK && rule->says == 0)
        return event_rules_refuse(reader, "it says nothing of", reader->rule, length,
                                  EVENT_RULES_WORDS);
    return status;
}

/* Adds a rule; refuses a namespace that has one. */
static crest_status event_rules_add(crest_event_rules *rules, const event_rules_reader *reader)
{
    if (rules->count == CREST_EVENT_RULES_MAX)
        return crest_error_set(reader->error, CREST_INVALID_OPTIONS, "more than %u rules %s",
                               CREST_EVENT_RULES_MAX, reader->origin);
    event_rule *rule = &rules->rule[rules->count];
    crest_status status = event_rules_one(reader, rule);
    if (status != CREST_OK)
        return status;
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->rule[i].name, rule->name) == 0)
            return event_rules_refuse(reader, "an earlier one is of the same namespace",
                                      rule->name[0] != '\0' ? rule->name : "*",
                                      rule->name[0] != '\0' ? strlen(rule->name) : 1,
                                      "what it shall be into one rule");
    rules->count++;
    return CREST_OK;
}

/* How many rules there may be: one more than ends of rules. */
static size_t event_rules_most(const char *text)
{
    size_t most = 1;
    for (; *text != '\0'; text++)
        most += *text == ';' || *text == '\n';
    return most < CREST_EVENT_RULES_MAX ? most : CREST_EVENT_RULES_MAX;
}

crest_status crest_event_rules_parse(const char *text, const char *origin,
                                     crest_event_rules **rules, crest_error *error)
{
    size_t bytes = text != NULL ? strlen(text) : 0,
           most = text != NULL ? event_rules_most(text) : 0;
    *rules = NULL;
    if (bytes > CREST_EVENT_RULES_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "the rules %s have %zu bytes, and may have %u", origin, bytes,
                               CREST_EVENT_RULES_BYTES_MAX);
    crest_event_rules *made = crest_alloc(1, sizeof(crest_event_rules) + most * sizeof(event_rule));
    if (made == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for the rules %s", origin);
    crest_status status = CREST_OK;
    for (const char *at = text, *end = text + bytes; status == CREST_OK && at < end; at++) {
        event_rules_reader reader = {.origin = origin, .error = error};
        while (at < end && event_rules_blank(*at))
            at++;
        size_t line = strcspn(at, "\n"), length = strcspn(at, ";\n"), told = strcspn(at, "#;\n");
        const char *next = at + (told < length ? line : length); /* behind a # the line is over */
        length = told;
        while (length > 0 && event_rules_blank(at[length - 1]))
            length--;
        reader.rule = at;
        reader.length = length;
        if (length > 0)
            status = event_rules_add(made, &reader);
        at = next;
    }
    if (status == CREST_OK)
        *rules = made;
    else
        crest_event_rules_free(made);
    return status;
}

void crest_event_rules_free(crest_event_rules *rules)
{
    crest_alloc_free(rules);
}

size_t crest_event_rules_count(const crest_event_rules *rules)
{
    return rules != NULL ? rules->count : 0;
}

const char *crest_event_rules_name(const crest_event_rules *rules, size_t index)
{
    return rules->rule[index].name;
}

int crest_event_rules_holds(const char *space, const char *name)
{
    size_t length = strlen(space);
    return length == 0 || (strncmp(space, name, length) == 0 &&
                           (name[length] == '\0' || name[length] == '.' || name[length] == '-'));
}

void crest_event_rules_choose(const crest_event_rules *rules, const char *name,
                              crest_event_choice *choice)
{
    size_t severity = 0, detail = 0, limit = 0, outputs = 0; /* lengths of who decided, plus 1 */
    *choice = CREST_EVENT_CHOICE_DEFAULT;
    for (size_t i = 0; rules != NULL && i < rules->count; i++) {
        const event_rule *rule = &rules->rule[i];
        size_t length = strlen(rule->name) + 1;
        if (!crest_event_rules_holds(rule->name, name))
            continue;
        if ((rule->says & EVENT_RULES_SAYS_SEVERITY) && length > severity) {
            severity = length;
            choice->severity = rule->choice.severity;
        }
        if ((rule->says & EVENT_RULES_SAYS_DETAIL) && length > detail) {
            detail = length;
            choice->detail = rule->choice.detail;
        }
        if ((rule->says & EVENT_RULES_SAYS_LIMIT) && length > limit) {
            limit = length;
            choice->interval_ns = rule->choice.interval_ns;
            choice->tolerance_ns = rule->choice.tolerance_ns;
        }
        if ((rule->says & EVENT_RULES_SAYS_OUTPUTS) && length > outputs) {
            outputs = length;
            choice->outputs = rule->choice.outputs;
        }
    }
}
