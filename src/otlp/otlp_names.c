/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in OTLP. See otlp_names.h.
 */
#include "otlp/otlp_names.h"

#include <string.h>

/* ---- what Prometheus does ---- */

/* A translated name as it grows; it may be longer than the text. */
typedef struct names_translated {
    char *text;
    size_t size, length;
} names_translated;

static int names_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':';
}

static void names_append(names_translated *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, out->length++)
        if (out->length + 1 < out->size)
            out->text[out->length] = bytes[i];
}

static void names_append_word(names_translated *out, const char *word, size_t length)
{
    /* also at the beginning, where a digit may not stand */
    if (out->length != 0 || (word[0] >= '0' && word[0] <= '9'))
        names_append(out, "_", 1);
    names_append(out, word, length);
}

/* The next word of a name, from *at on; returns its length, 0 at the end. */
static size_t names_next_word(const char **at)
{
    const char *word = *at;
    while (*word != '\0' && !names_is_word(*word))
        word++;
    *at = word;
    size_t length = 0;
    while (names_is_word(word[length]))
        length++;
    return length;
}

static int names_same(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

static int names_has_word(const char *name, const char *wanted)
{
    size_t length;
    for (const char *at = name; (length = names_next_word(&at)) != 0; at += length)
        if (names_same(at, length, wanted))
            return 1;
    return 0;
}

/* The words that Prometheus puts for a unit. */
static const char *names_unit_word(const char *ucum)
{
    return strcmp(ucum, "s") == 0 ? "seconds" : strcmp(ucum, "By") == 0 ? "bytes" : "";
}

size_t crest_otlp_translated(const char *name, const char *ucum, int counter, int gauge, char *text,
                             size_t size)
{
    names_translated out = {text, size, 0};
    const char *unit = names_unit_word(ucum);
    const char *last = counter ? "total" : gauge && strcmp(ucum, "1") == 0 ? "ratio" : "";
    size_t length;
    for (const char *at = name; (length = names_next_word(&at)) != 0; at += length)
        if (!names_same(at, length, last))
            names_append_word(&out, at, length);
    if (unit[0] != '\0' && !names_has_word(name, unit))
        names_append_word(&out, unit, strlen(unit));
    if (last[0] != '\0')
        names_append_word(&out, last, strlen(last));
    if (size != 0)
        text[out.length < size ? out.length : size - 1] = '\0';
    return out.length;
}

/* ---- our names ---- */

static const char *names_ucum(crest_unit unit)
{
    switch (unit) {
    case CREST_NONE: return "";
    case CREST_BYTES: return "By";
    case CREST_NANOSECONDS:
    case CREST_MICROSECONDS:
    case CREST_MILLISECONDS:
    case CREST_SECONDS: return "s";
    case CREST_RATIO: return "1";
    }
    return "";
}

static void names_set(crest_otlp_name *name, const char *text, size_t length)
{
    if (length >= sizeof name->text)
        length = sizeof name->text - 1;
    memcpy(name->text, text, length);
    name->text[length] = '\0';
    name->length = length;
}

/* The canonical name; a window's result has its qualifier where the page's name has it. */
static void names_set_canonical(crest_otlp_name *name, const char *canonical, crest_kind kind,
                                crest_unit unit, const char *qualifier)
{
    char stem[CREST_EXPORTED_BYTES_MAX];
    if (qualifier == NULL) {
        names_set(name, canonical, strlen(canonical));
        return;
    }
    names_set(name, canonical, crest_exported_stem(canonical, kind, unit, stem, sizeof stem));
    size_t room = sizeof name->text - name->length, more = strlen(qualifier);
    if (more + 2 > room)
        return;
    name->text[name->length++] = '.';
    memcpy(name->text + name->length, qualifier, more + 1);
    name->length += more;
}

void crest_otlp_name_of(crest_otlp_name *name, const char *canonical, crest_kind kind,
                        crest_unit unit, const char *qualifier)
{
    static const char total[] = "_total";
    char page[CREST_EXPORTED_BYTES_MAX], made[CREST_EXPORTED_BYTES_MAX];
    int counter = kind == CREST_KIND_COUNTER && qualifier == NULL;
    int gauge = qualifier != NULL || kind == CREST_KIND_GAUGE || kind == CREST_KIND_RANGE_SAMPLER;
    size_t length = crest_exported_name(canonical, kind, unit, qualifier, page, sizeof page);
    name->unit = names_ucum(crest_unit_of(kind, unit));
    /* rates and peaks of a distribution count events: the page's name has no unit */
    const char *suffix = crest_unit_suffix(crest_unit_of(kind, unit));
    if (qualifier != NULL && !names_has_word(page, suffix))
        name->unit = "";
    names_set_canonical(name, canonical, kind, unit, qualifier);
    crest_otlp_translated(name->text, name->unit, counter, gauge, made, sizeof made);
    if (strcmp(made, page) == 0)
        return;
    if (length >= sizeof page)
        length = sizeof page - 1;
    if (counter && length >= sizeof total)
        length -= sizeof total - 1;
    names_set(name, page, length);
    crest_otlp_translated(name->text, name->unit, counter, gauge, made, sizeof made);
    if (strcmp(made, page) == 0 || name->unit[0] == '\0')
        return;
    crest_otlp_translated(name->text, "", counter, gauge, made, sizeof made);
    if (strcmp(made, page) == 0)
        name->unit = "";
}
