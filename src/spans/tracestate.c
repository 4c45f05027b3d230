/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W3C's tracestate: read, shortened, passed on. See <crest/trace_context.h>.
 *
 *     ot=th:8,congo=t61rcWkgMzE
 *
 * A walk over members, without a table of them: of 32 members each key is compared with those
 * before it. Source: W3C Trace Context, level 2, 3.3.
 */
#include <crest/trace_context.h>

#include "base/error.h"
#include "base/misuse.h"

#include <string.h>

#define TRACESTATE_PART_MAX 256
#define TRACESTATE_LONG 128

/* A member: its text, and how much of it is the key. */
typedef struct tracestate_member {
    const char *text;
    size_t length, key;
} tracestate_member;

static int tracestate_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int tracestate_key_byte(char c, int first)
{
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
        return 1;
    return !first && (c == '_' || c == '-' || c == '*' || c == '/' || c == '@');
}

/* Level 2 allows what level 1 does, and `@` anywhere but first. */
static int tracestate_key_good(const char *key, size_t length)
{
    if (length == 0 || length > TRACESTATE_PART_MAX)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (!tracestate_key_byte(key[i], i == 0))
            return 0;
    return 1;
}

static int tracestate_value_good(const char *value, size_t length)
{
    if (length == 0 || length > TRACESTATE_PART_MAX || value[length - 1] == ' ')
        return 0;
    for (size_t i = 0; i < length; i++)
        if (value[i] < 0x20 || value[i] > 0x7e || value[i] == ',' || value[i] == '=')
            return 0;
    return 1;
}

/* The next member at *at, blanks around it taken off; 0 at the end. An empty one has length 0. */
static int tracestate_next(const char **at, const char *end, tracestate_member *member)
{
    if (*at == NULL || *at > end)
        return 0;
    const char *stop = memchr(*at, ',', (size_t)(end - *at));
    const char *last = stop != NULL ? stop : end, *first = *at;
    *at = last + 1;
    while (first < last && tracestate_blank(*first))
        first++;
    while (first < last && tracestate_blank(last[-1]))
        last--;
    const char *equals = memchr(first, '=', (size_t)(last - first));
    *member = (tracestate_member){first, (size_t)(last - first),
                                  equals != NULL ? (size_t)(equals - first) : 0};
    return 1;
}

static int tracestate_same_key(const tracestate_member *a, const tracestate_member *b)
{
    return a->key == b->key && memcmp(a->text, b->text, a->key) == 0;
}

/* Non-zero when a member before `end` has this key. */
static int tracestate_seen(const char *text, const char *end, const tracestate_member *member)
{
    tracestate_member other;
    while (tracestate_next(&text, end, &other))
        if (other.length != 0 && tracestate_same_key(&other, member))
            return 1;
    return 0;
}

/* Why it is none, or NULL; *whole: the bytes that all members take. */
static const char *tracestate_wrong(const char *text, size_t length, size_t *whole)
{
    const char *at = text, *end = text + length;
    tracestate_member member;
    unsigned members = 0;
    *whole = 0;
    while (tracestate_next(&at, end, &member)) {
        if (member.length == 0)
            continue;
        if (++members > CREST_TRACESTATE_MEMBERS)
            return "it has more than 32 members";
        if (!tracestate_key_good(member.text, member.key))
            return "a member has no valid key";
        if (!tracestate_value_good(member.text + member.key + 1, member.length - member.key - 1))
            return "a member has no valid value";
        if (member.text > text && tracestate_seen(text, member.text - 1, &member))
            return "a key is in it twice";
        *whole += member.length + (*whole != 0);
    }
    return NULL;
}

/* Appends the member, if there is room for all of it. */
static int tracestate_add(crest_tracestate *state, const tracestate_member *member)
{
    size_t comma = state->length != 0;
    if (state->length + comma + member->length > CREST_TRACESTATE_BYTES)
        return 0;
    if (comma)
        state->text[state->length] = ',';
    memcpy(state->text + state->length + comma, member->text, member->length);
    state->length += (uint32_t)(comma + member->length);
    state->text[state->length] = '\0';
    return 1;
}

crest_status crest_tracestate_read(const char *text, size_t length, crest_tracestate *state,
                                   crest_error *error)
{
    size_t whole;
    crest_error_clear(error);
    memset(state, 0, sizeof *state);
    if (text == NULL || length == 0)
        return CREST_OK;
    const char *wrong = tracestate_wrong(text, length, &whole);
    if (wrong != NULL) {
        crest_misuse_count(CREST_MISUSE_CONTEXT, wrong);
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "What came as a tracestate (%zu bytes) is none: %s. It is not "
                               "passed on.",
                               length, wrong);
    }
    const char *at = text, *end = text + length;
    tracestate_member member;
    while (tracestate_next(&at, end, &member)) {
        /* as long ones go first, the short ones behind them may stay */
        int dropped = whole > CREST_TRACESTATE_BYTES && member.length > TRACESTATE_LONG;
        if (dropped)
            whole -= member.length + 1;
        if (!dropped && member.length != 0 && !tracestate_add(state, &member))
            break;
    }
    return CREST_OK;
}

crest_status crest_tracestate_put(crest_tracestate *state, const char *key, const char *value)
{
    char text[2 * TRACESTATE_PART_MAX + 1];
    size_t key_length = strlen(key), value_length = strlen(value);
    if (!tracestate_key_good(key, key_length) || !tracestate_value_good(value, value_length) ||
        key_length + 1 + value_length > CREST_TRACESTATE_BYTES)
        return CREST_INVALID_ARGUMENT;
    memcpy(text, key, key_length);
    text[key_length] = '=';
    memcpy(text + key_length + 1, value, value_length);
    crest_tracestate before = *state;
    const char *at = before.text, *end = before.text + before.length;
    tracestate_member member = {text, key_length + 1 + value_length, key_length}, other;
    memset(state, 0, sizeof *state);
    tracestate_add(state, &member);
    unsigned members = 1;
    while (tracestate_next(&at, end, &other))
        if (other.length != 0 && !tracestate_same_key(&other, &member) &&
            (members++ >= CREST_TRACESTATE_MEMBERS || !tracestate_add(state, &other)))
            break;
    return CREST_OK;
}

const char *crest_tracestate_find(const crest_tracestate *state, const char *key, size_t *length)
{
    const char *at = state->text, *end = state->text + state->length;
    tracestate_member member, wanted = {key, 0, strlen(key)};
    *length = 0;
    while (tracestate_next(&at, end, &member))
        if (member.length != 0 && tracestate_same_key(&member, &wanted)) {
            *length = member.length - member.key - 1;
            return member.text + member.key + 1;
        }
    return NULL;
}
