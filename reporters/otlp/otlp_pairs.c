/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of key=value. See otlp_pairs.h. */
#define _GNU_SOURCE
#include "otlp/otlp_pairs.h"
#include "common/shown_text.h"

#include <stdlib.h>
#include <string.h>

static int otlp_pairs_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Cuts the blanks off both ends of [from, end), and terminates it there. */
static char *otlp_pairs_trim(char *from, char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return from;
}

/* Puts the bytes that %XX stand for in their places. What is wrong, or NULL. */
static const char *otlp_pairs_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = otlp_pairs_hex(from[1]), low = high < 0 ? -1 : otlp_pairs_hex(from[2]);
        if (low < 0)
            return "a % is not followed by two hexadecimal digits";
        if (high == 0 && low == 0)
            return "%00 cannot be part of a value";
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return crest_push_text_valid(text) ? NULL : "a value is not UTF-8";
}

static const char *otlp_pairs_add(crest_otlp_pairs *pairs, char *from, char *end)
{
    char *equals = memchr(from, '=', (size_t)(end - from));
    if (equals == NULL)
        return *otlp_pairs_trim(from, end) == '\0' ? NULL : "a part has no =";
    char *properties = memchr(equals, ';', (size_t)(end - equals));
    const char *key = otlp_pairs_trim(from, equals);
    char *value = otlp_pairs_trim(equals + 1, properties != NULL ? properties : end);
    if (key[0] == '\0')
        return "a key is empty";
    if (!crest_push_text_valid(key))
        return "a key is not UTF-8";
    const char *problem = otlp_pairs_decode(value);
    if (problem != NULL)
        return problem;
    unsigned at = 0;
    while (at < pairs->count && strcmp(pairs->labels[at].key, key) != 0)
        at++;
    if (at == CREST_OTLP_PAIRS_MAX)
        return "it has more than 64 parts";
    pairs->labels[at] = (crest_page_label){key, value};
    pairs->count += at == pairs->count;
    return NULL;
}

crest_status crest_otlp_pairs_read(const char *list, crest_otlp_pairs *pairs, const char **problem)
{
    *pairs = (crest_otlp_pairs){.text = strdup(list)};
    *problem = NULL;
    if (pairs->text == NULL)
        return CREST_NO_MEMORY;
    for (char *from = pairs->text; from != NULL && *problem == NULL;) {
        char *comma = strchr(from, ',');
        *problem = otlp_pairs_add(pairs, from, comma != NULL ? comma : from + strlen(from));
        from = comma != NULL ? comma + 1 : NULL;
    }
    if (*problem == NULL)
        return CREST_OK;
    crest_otlp_pairs_fini(pairs);
    return CREST_INVALID_ARGUMENT;
}

const char *crest_otlp_pairs_find(const crest_otlp_pairs *pairs, const char *key)
{
    for (unsigned i = 0; i < pairs->count; i++)
        if (strcmp(pairs->labels[i].key, key) == 0)
            return pairs->labels[i].value;
    return NULL;
}

void crest_otlp_pairs_fini(crest_otlp_pairs *pairs)
{
    /* the text was cut into pieces, so that each is wiped by itself */
    for (unsigned i = 0; i < pairs->count; i++) {
        char *value = (char *)(uintptr_t)pairs->labels[i].value;
        explicit_bzero(value, strlen(value));
    }
    free(pairs->text);
    *pairs = (crest_otlp_pairs){.text = NULL};
}
