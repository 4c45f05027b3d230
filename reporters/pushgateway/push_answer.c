/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains a Pushgateway's answers. See push_answer.h.
 */
#include "pushgateway/push_answer.h"
#include "common/shown_text.h"
#include "pushgateway/push_url.h"

#include <stdio.h>
#include <string.h>

/* Of the server's words in a message: what we add must fit behind them. */
#define PUSH_ANSWER_WORDS_BYTES 320u
#define PUSH_ANSWER_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"
/* Stands for the instance of a group we do not know. */
#define PUSH_ANSWER_UNKNOWN "OTHER-INSTANCE"

/* Where the answer first contains this text; NULL if it does not. It may hold NULs. */
static const char *push_answer_find(const crest_http_answer *answer, const char *text)
{
    size_t length = strlen(text);
    for (size_t at = 0; at + length <= answer->length; at++)
        if (memcmp(answer->words + at, text, length) == 0)
            return answer->words + at;
    return NULL;
}

/* Copies the text from `from` to the next quote. Returns 0 when it has no end, is escaped, or does
 * not fit. */
static int push_answer_unquote(const crest_http_answer *answer, const char *from, char *text,
                               size_t size)
{
    const char *close = memchr(from, '"', (size_t)(answer->words + answer->length - from));
    if (close == NULL || (size_t)(close - from) >= size ||
        memchr(from, '\\', (size_t)(close - from)) != NULL)
        return 0;
    memcpy(text, from, (size_t)(close - from));
    text[close - from] = '\0';
    return 1;
}

/* The name of the metric that the gateway complains about: `metric "a"` or `metric named "a"`. It
 * goes into a line to paste into a shell, so it is taken only if it is nothing but a metric's name.
 * */
static int push_answer_metric(const crest_http_answer *answer, char *name, size_t size)
{
    static const char *const leads[] = {"metric \"", "metric named \""};
    for (unsigned i = 0; i < 2; i++) {
        const char *from = push_answer_find(answer, leads[i]);
        if (from != NULL && push_answer_unquote(answer, from + strlen(leads[i]), name, size) &&
            name[0] != '\0' && name[strspn(name, PUSH_ANSWER_NAME_LETTERS)] == '\0')
            return 1;
    }
    return 0;
}

/* The value of a label: `name:"job" value:"j"`, with one blank or several between the two. */
static int push_answer_label(const crest_http_answer *answer, const char *lead, char *text,
                             size_t size)
{
    static const char middle[] = "value:\"";
    const char *end = answer->words + answer->length;
    const char *from = push_answer_find(answer, lead);
    if (from == NULL)
        return 0;
    from += strlen(lead);
    while (from < end && *from == ' ')
        from++;
    if ((size_t)(end - from) < sizeof middle || memcmp(from, middle, sizeof middle - 1) != 0)
        return 0;
    return push_answer_unquote(answer, from + sizeof middle - 1, text, size);
}

/* The address of the conflicting group. Returns 0 when the gateway did not name it: the address
 * then has our job and a placeholder for the instance. */
static int push_answer_other_group(const crest_push_question *question,
                                   const crest_http_answer *answer, char *url, size_t size)
{
    char job[CREST_LABEL_VALUE_BYTES_MAX + 1], instance[CREST_LABEL_VALUE_BYTES_MAX + 1];
    if (push_answer_label(answer, "name:\"job\"", job, sizeof job) &&
        push_answer_label(answer, "name:\"instance\"", instance, sizeof instance) &&
        (strcmp(job, question->job) != 0 || strcmp(instance, question->instance) != 0) &&
        crest_push_url_group(question->url, job, instance, NULL, 0, url, size, NULL) == CREST_OK)
        return 1;
    if (crest_push_url_group(question->url, question->job, PUSH_ANSWER_UNKNOWN, NULL, 0, url, size,
                             NULL) != CREST_OK)
        url[0] = '\0';
    return 0;
}

/* The types of our metric and the stored one; NULL when the answer does not say. */
typedef struct push_answer_types {
    const char *ours, *theirs;
} push_answer_types;

/* The gateway's texts of a kind: the field of a metric of it, and the error of one that is not of
 * it. */
static const struct {
    const char *field, *other, *shown;
} push_answer_kinds[] = {
    {"counter:", "is not a COUNTER", "counter"},       {"gauge:", "is not a GAUGE", "gauge"},
    {"histogram:", "is not a HISTOGRAM", "histogram"}, {"summary:", "is not a SUMMARY", "summary"},
    {"untyped:", "is not a UNTYPED", "untyped"},
};
#define PUSH_ANSWER_KINDS (sizeof push_answer_kinds / sizeof push_answer_kinds[0])

/* The kind of the metric it printed: the first such field that is not in quotes. */
static const char *push_answer_printed_kind(const crest_http_answer *answer)
{
    const char *end = answer->words + answer->length, *c = push_answer_find(answer, "{");
    for (int quoted = 0; c != NULL && c < end; c++) {
        if (*c == '\\' && quoted)
            c++;
        else if (*c == '"')
            quoted = !quoted;
        for (size_t i = 0; i < PUSH_ANSWER_KINDS && !quoted; i++) {
            size_t length = strlen(push_answer_kinds[i].field);
            if (c > answer->words && (size_t)(end - c) >= length && c[-1] == ' ' &&
                memcmp(c, push_answer_kinds[i].field, length) == 0)
                return push_answer_kinds[i].shown;
        }
    }
    return NULL;
}

/* What was stored agreed with itself, so of the two types one is ours. */
static push_answer_types push_answer_find_types(const crest_http_answer *answer, int theirs)
{
    const char *printed = push_answer_printed_kind(answer), *wanted = NULL;
    for (size_t i = 0; i < PUSH_ANSWER_KINDS; i++)
        if (push_answer_find(answer, push_answer_kinds[i].other))
            wanted = push_answer_kinds[i].shown;
    if (printed == NULL || wanted == NULL)
        return (push_answer_types){NULL, NULL};
    return theirs ? (push_answer_types){wanted, printed} : (push_answer_types){printed, wanted};
}

/* The gateway's own metrics stand in no group, and cannot be deleted. */
static crest_status push_answer_explain_own(const crest_push_question *question, unsigned code,
                                            const char *words, crest_error *error)
{
    return crest_error_set(
        error, CREST_REFUSED,
        "%s %s: the Pushgateway refused the whole push (code %u), because it exports a metric "
        "of the same name itself, as another type: rename ours. What it had stored before is "
        "still there. Its words: %s",
        question->method, question->group, code, words);
}

static crest_status push_answer_explain_type(const crest_push_question *question,
                                             const crest_http_answer *answer, crest_error *error)
{
    char words[PUSH_ANSWER_WORDS_BYTES], name[CREST_NAME_BYTES_MAX + 1];
    /* The useful part of the gateway's long sentence begins behind this. */
    static const char preamble[] = "inconsistent with existing metrics: ";
    const char *from = push_answer_find(answer, preamble);
    from = from ? from + sizeof preamble - 1 : answer->words;
    crest_push_text_show(from, answer->length - (size_t)(from - answer->words), words,
                         sizeof words);
    if (push_answer_find(answer, "gathered metric family"))
        return push_answer_explain_own(question, answer->code, words, error);
    char url[CREST_PUSHGATEWAY_URL_BYTES_MAX], where[CREST_NAME_BYTES_MAX + 256] = "", types[64];
    int named = push_answer_metric(answer, name, sizeof name);
    if (!named)
        strcpy(name, "a metric");
    int theirs = push_answer_other_group(question, answer, url, sizeof url);
    push_answer_types kinds = push_answer_find_types(answer, theirs);
    strcpy(types, "is stored with another type");
    if (kinds.ours != NULL)
        snprintf(types, sizeof types, "is a %s here and stored as a %s", kinds.ours, kinds.theirs);
    if (!theirs && named)
        snprintf(where, sizeof where, " (which one: curl -s '%.160s/metrics' | grep %s)",
                 question->url, name);
    /* The gateway's own text comes last: when not all fits, it is cut. */
    return crest_error_set(
        error, CREST_REFUSED,
        "%s %s: the Pushgateway refused the whole push (code %u), because %s %s in another group, "
        "and a metric's type is the same in all groups for ever. "
        "Rename the metric, or delete the old group%s: curl -X DELETE '%s'. Its words: %s",
        question->method, question->group, answer->code, name, types, where, url, words);
}

/* Whether the gateway refused the metric's type. */
static int push_answer_is_type_clash(const crest_http_answer *answer)
{
    if (push_answer_find(answer, "registered with another type") ||
        push_answer_find(answer, "but should have") ||
        push_answer_find(answer, "collides with previously collected"))
        return 1;
    for (size_t i = 0; i < PUSH_ANSWER_KINDS; i++)
        if (push_answer_find(answer, push_answer_kinds[i].other))
            return 1;
    return 0;
}

static const char *push_answer_advice(unsigned code)
{
    switch (code) {
    case 400: return "What it had stored before is still there";
    case 401:
    case 403:
        return "Give the user and password that it wants in the URL (https://user:password@host) "
               "or by pushgateway.user and pushgateway.password-file, or a token by "
               "pushgateway.bearer-file";
    case 404: return "Is this a Pushgateway, and is the URL's path its --web.route-prefix?";
    case 405: return "Is this a Pushgateway? One takes PUT, POST and DELETE here";
    case 407:
        return "Put the user and password that the proxy wants into pushgateway.proxy: "
               "http://user:password@host:port";
    case 413: return "Something on the way limits how large a push may be; raise that limit";
    case 429: return "Something on the way limits how often to push; raise pushgateway.interval";
    default: break;
    }
    if (code >= 500)
        return "The server, or a proxy before it, has a problem of its own; its log says more";
    return "A Pushgateway answers 200 or 202";
}

crest_status crest_push_answer_check(const crest_push_question *question,
                                     const crest_http_answer *answer, crest_error *error)
{
    if ((answer->code == 200 || answer->code == 202) && !answer->cut)
        return CREST_OK;
    if (answer->code == 200 || answer->code == 202)
        return crest_error_set(error, CREST_IO,
                               "%s %s: answered with code %u and more than %u bytes, which a "
                               "Pushgateway never does; is the URL right?",
                               question->method, question->group, answer->code,
                               CREST_HTTP_ANSWER_BYTES_MAX);
    if (answer->code >= 300 && answer->code < 400)
        return crest_error_set(error, CREST_REFUSED,
                               "%s %s: answered with code %u, a redirect to \"%s\", which is not "
                               "followed because another path is another group. If that is where "
                               "the Pushgateway is, give that address",
                               question->method, question->group, answer->code,
                               answer->location[0] ? answer->location : "(it does not say where)");
    if (answer->code == 400 && push_answer_is_type_clash(answer))
        return push_answer_explain_type(question, answer, error);
    char words[PUSH_ANSWER_WORDS_BYTES];
    if (crest_push_text_show(answer->words, answer->length, words, sizeof words) == 0)
        strcpy(words, "(it says nothing)");
    if (answer->code >= 500)
        return crest_error_set(error, CREST_UNREACHABLE, "%s %s: failed with code %u: %s. %s",
                               question->method, question->group, answer->code, words,
                               push_answer_advice(answer->code));
    return crest_error_set(error, CREST_REFUSED, "%s %s: refused with code %u: %s. %s",
                           question->method, question->group, answer->code, words,
                           push_answer_advice(answer->code));
}
