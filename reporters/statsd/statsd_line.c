/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, tags, counters and gauges as StatsD lines; distributions are in statsd_values.c. See
 * statsd_line.h.
 */
#include "statsd/statsd_line.h"
#include "common/decimal.h"
#include "common/series_figures.h"
#include "common/shown_text.h"

#include <string.h>

/* ---- names and tags ---- */

static int statsd_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

int crest_statsd_prefix_is_valid(const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < length; i++)
        if (!statsd_is_word(prefix[i]) && prefix[i] != '-' && prefix[i] != '.')
            return 0;
    return length <= CREST_STATSD_PREFIX_BYTES_MAX;
}

/* Letters, digits, - and _ stay, and dots if they are wanted; any other character is one _. */
static size_t statsd_put_clean(char *to, size_t length, size_t size, const char *text, int dots,
                               int dashes)
{
    size_t left = strlen(text);
    if (left == 0 && length + 1 < size)
        to[length++] = '_';
    while (left > 0 && length + 1 < size) {
        size_t step = crest_push_text_step(text, left);
        int keep = statsd_is_word(*text) || (dots && *text == '.') || (dashes && *text == '-');
        to[length++] = keep ? *text : '_';
        step = step != 0 ? step : 1;
        text += step;
        left -= step;
    }
    to[length] = '\0';
    return length;
}

/* Characters that would end a tag, and controls, become _. netdata ends a tag at @ and # too. */
static int statsd_tag_keeps(unsigned char c)
{
    return c > ' ' && c != 0x7f && strchr(",|@#", c) == NULL;
}

/* Copies text into a tag, character by character, up to the room and the characters left. */
static size_t statsd_put_tag_text(char *to, size_t length, size_t size, const char *text,
                                  unsigned *characters)
{
    size_t left = strlen(text);
    while (left > 0 && *characters > 0) {
        size_t step = crest_push_text_step(text, left);
        size_t bytes = step != 0 ? step : 1;
        int keep = step > 1 || (step == 1 && statsd_tag_keeps((unsigned char)*text));
        if (length + bytes >= size)
            break;
        if (keep)
            memcpy(to + length, text, bytes);
        else
            to[length] = '_';
        length += keep ? bytes : 1;
        text += bytes;
        left -= bytes;
        --*characters;
    }
    to[length] = '\0';
    return length;
}

size_t crest_statsd_tag(char *tags, size_t length, size_t size, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return length;
    size_t at = length;
    unsigned characters = CREST_STATSD_TAG_CHARACTERS_MAX;
    if (at + 2 >= size)
        return length;
    if (at > 0)
        tags[at++] = ',';
    at = statsd_put_tag_text(tags, at, size, key, &characters);
    if (characters > 0 && at + 1 < size) {
        tags[at++] = ':';
        characters--;
    }
    size_t before = at;
    at = statsd_put_tag_text(tags, at, size, value, &characters);
    if (at == before) {
        tags[length] = '\0';
        return length;
    }
    return at;
}

static void statsd_identify_tags(const crest_statsd_form *form, const crest_series_view *series,
                                 crest_statsd_identity *identity)
{
    /* behind the two bytes that begin tags on a line */
    char *tags = identity->tags + 2;
    size_t size = sizeof identity->tags - 2, length = strlen(form->tags);
    if (length >= size)
        length = 0;
    memcpy(tags, form->tags, length);
    tags[length] = '\0';
    for (unsigned i = 0; i < series->label_count; i++)
        length =
            crest_statsd_tag(tags, length, size, series->label_keys[i], series->label_values[i]);
    memcpy(identity->tags, "|#", 2);
    identity->tags_length = length != 0 ? length + 2 : 0;
}

static void statsd_identify_labels(const crest_series_view *series, crest_statsd_identity *identity)
{
    size_t length = 0;
    for (unsigned i = 0; i < series->label_count; i++) {
        if (series->open && series->label_values[i][0] == '\0')
            continue;
        const char *const parts[] = {series->label_keys[i], series->label_values[i]};
        for (unsigned part = 0; part < 2; part++) {
            if (length + 1 < sizeof identity->labels)
                identity->labels[length++] = '.';
            length = statsd_put_clean(identity->labels, length, sizeof identity->labels,
                                      parts[part], 0, 1);
        }
    }
    identity->labels_length = length;
}

void crest_statsd_identify(const crest_statsd_form *form, const crest_series_view *series,
                           crest_statsd_identity *identity)
{
    int dashes = form->dialect == CREST_STATSD_ETSY;
    size_t length = 0, size = sizeof identity->name;
    if (form->prefix[0] != '\0') {
        length = statsd_put_clean(identity->name, length, size, form->prefix, 1, dashes);
        if (identity->name[length - 1] != '.')
            identity->name[length++] = '.';
    }
    identity->name_length = statsd_put_clean(identity->name, length, size, series->name, 1, dashes);
    identity->labels_length = identity->tags_length = 0;
    if (form->dialect == CREST_STATSD_DATADOG)
        statsd_identify_tags(form, series, identity);
    else
        statsd_identify_labels(series, identity);
}

/* ---- lines ---- */

void crest_statsd_begin(crest_statsd_text *text, crest_statsd_identity *identity)
{
    *text = (crest_statsd_text){identity, 0, 0};
}

void crest_statsd_put(crest_statsd_text *text, const char *bytes, size_t length)
{
    if (length > sizeof text->identity->line - text->length) {
        text->over = 1;
        return;
    }
    memcpy(text->identity->line + text->length, bytes, length);
    text->length += length;
}

void crest_statsd_put_name(crest_statsd_text *text, const char *suffix)
{
    const crest_statsd_identity *identity = text->identity;
    crest_statsd_put(text, identity->name, identity->name_length);
    crest_statsd_put(text, suffix, strlen(suffix));
    crest_statsd_put(text, identity->labels, identity->labels_length);
}

void crest_statsd_put_type(crest_statsd_text *text, const char *type, uint64_t weight)
{
    char rate[CREST_DECIMAL_BYTES];
    crest_statsd_put(text, "|", 1);
    crest_statsd_put(text, type, strlen(type));
    if (weight > 1) {
        size_t length = crest_decimal_rate(rate, weight);
        crest_statsd_put(text, "|@", 2);
        crest_statsd_put(text, rate, length);
    }
    crest_statsd_put(text, text->identity->tags, text->identity->tags_length);
}

int crest_statsd_end(const crest_statsd_text *text, uint64_t done, crest_statsd_line_fn *put,
                     void *context)
{
    /* A line longer than the buffer fits into no packet; its length says so. */
    size_t length = text->over ? sizeof text->identity->line : text->length;
    return put(context, text->identity->line, length, done);
}

/* Nanoseconds of a second, milliseconds, or 1 of what is no time. */
static uint64_t statsd_whole(const crest_series_view *series)
{
    static const uint64_t scales[] = {1, 0, 0, 1000, 0, 0, 1000000, 0, 0, 1000000000};
    return scales[crest_series_decimals(series)];
}

uint64_t crest_statsd_amount(const crest_statsd_form *form, const crest_series_view *series,
                             uint64_t grown)
{
    return form->whole_seconds ? grown - grown % statsd_whole(series) : grown;
}

int crest_statsd_put_counter(const crest_statsd_form *form, const crest_series_view *series,
                             crest_statsd_identity *identity, uint64_t amount,
                             crest_statsd_line_fn *put, void *context)
{
    uint64_t said = 0;
    int stopped = 0;
    do {
        uint64_t left = amount - said, whole, step;
        step = left < CREST_STATSD_STEP_MAX ? left : CREST_STATSD_STEP_MAX;
        whole = crest_statsd_amount(form, series, step);
        step = whole != 0 ? whole : step;
        said += step;
        char number[CREST_DECIMAL_BYTES];
        size_t length = crest_decimal_scaled(number, step, crest_series_decimals(series));
        crest_statsd_text text;
        crest_statsd_begin(&text, identity);
        crest_statsd_put_name(&text, "");
        crest_statsd_put(&text, ":", 1);
        crest_statsd_put(&text, number, length);
        crest_statsd_put_type(&text, "c", 1);
        stopped = crest_statsd_end(&text, said, put, context);
    } while (said < amount && !stopped);
    return stopped;
}

int crest_statsd_put_gauge(const crest_statsd_form *form, crest_statsd_identity *identity,
                           const char *suffix, double value, crest_statsd_line_fn *put,
                           void *context)
{
    char number[CREST_DECIMAL_BYTES];
    size_t length = crest_decimal_shortest(number, value);
    if (length == 0)
        return 0;
    (void)form;
    crest_statsd_text text;
    crest_statsd_begin(&text, identity);
    /* A sign means a change, to all servers but Datadog's own, unless the gauge is 0. */
    if (number[0] == '-') {
        crest_statsd_put_name(&text, suffix);
        crest_statsd_put(&text, ":0", 2);
        crest_statsd_put_type(&text, "g", 1);
        crest_statsd_put(&text, "\n", 1);
    }
    crest_statsd_put_name(&text, suffix);
    crest_statsd_put(&text, ":", 1);
    crest_statsd_put(&text, number, length);
    crest_statsd_put_type(&text, "g", 1);
    return crest_statsd_end(&text, 0, put, context);
}
