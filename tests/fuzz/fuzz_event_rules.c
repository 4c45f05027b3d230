/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of events: any text is refused with a sentence, or made of rules of which each holds for
 * the event of its own name; what is said of a name does not change when the rules change places.
 *
 * Input: an event's name, up to a NUL, then the rules.
 */
#include "base/utf8.h"
#include "events/event_rules.h"
#include "fuzz_input.h"

/* The rules from the last to the first, a line each; NULL where a comment may hold an end of a
 * rule. */
static char *backwards(const char *rules)
{
    size_t length = strlen(rules), used = 0;
    char *text = malloc(length + 2);
    FUZZ_WANTS(text != NULL);
    for (size_t end = length, begin; strchr(rules, '#') == NULL; end = begin - 1) {
        begin = end;
        while (begin > 0 && rules[begin - 1] != ';' && rules[begin - 1] != '\n')
            begin--;
        memcpy(text + used, rules + begin, end - begin);
        used += end - begin;
        text[used++] = '\n';
        text[used] = '\0';
        if (begin == 0)
            return text;
    }
    free(text);
    return NULL;
}

static void check_choice(const crest_event_choice *choice)
{
    FUZZ_WANTS(choice->severity <= CREST_SEVERITY_COUNT);
    FUZZ_WANTS(choice->detail < CREST_DETAIL_COUNT);
    FUZZ_WANTS(choice->outputs < 1u << CREST_EVENT_OUTPUTS);
    FUZZ_WANTS(choice->interval_ns != 0 || choice->tolerance_ns == 0);
}

static void check_rules(const crest_event_rules *rules, const char *text, const char *name)
{
    crest_event_choice choice, again;
    crest_error error;
    crest_event_rules *other;
    crest_event_rules_choose(rules, name, &choice);
    check_choice(&choice);
    for (size_t i = 0; i < crest_event_rules_count(rules); i++)
        FUZZ_WANTS(crest_event_rules_holds(crest_event_rules_name(rules, i),
                                           crest_event_rules_name(rules, i)));
    char *turned = backwards(text);
    if (turned == NULL)
        return;
    FUZZ_WANTS(crest_event_rules_parse(turned, "turned", &other, &error) == CREST_OK);
    FUZZ_WANTS(crest_event_rules_count(other) == crest_event_rules_count(rules));
    crest_event_rules_choose(other, name, &again);
    FUZZ_WANTS(crest_event_choice_same(&choice, &again));
    crest_event_rules_free(other);
    free(turned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    crest_event_rules *rules;
    crest_error error;
    char *name = fuzz_text(&input), *text = fuzz_text(&input);
    crest_status status = crest_event_rules_parse(text, "in a test", &rules, &error);
    FUZZ_WANTS(status == CREST_OK || status == CREST_INVALID_OPTIONS);
    FUZZ_WANTS((status == CREST_OK) == (rules != NULL));
    if (status == CREST_OK)
        check_rules(rules, text, name);
    else
        FUZZ_WANTS(strstr(error.message, "in a test") != NULL);
    crest_event_rules_free(rules);
    free(name);
    free(text);
    return 0;
}
