/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as text. See <crest/event_lines.h>.
 */
#include "base/number.h"
#include "base/sync.h"
#include "events/event_rules.h"
#include <crest/event_lines.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

/* What is written so far; once something did not fit, nothing is written any more. */
typedef struct event_text {
    char *text;
    size_t used, size;
    int full;
} event_text;

static void event_text_put(event_text *to, const char *bytes, size_t length)
{
    if (to->full || length >= to->size - to->used) {
        to->full = 1;
        return;
    }
    memcpy(to->text + to->used, bytes, length);
    to->used += length;
    to->text[to->used] = '\0';
}

static void event_text_put_text(event_text *to, const char *text)
{
    event_text_put(to, text, strlen(text));
}

/* The escape of a character that a terminal or a reader of lines would take for more than itself;
 * returns how many bytes of it there are, 0: it is shown as it is. The text is valid UTF-8. */
static size_t event_text_escape(const unsigned char *at, size_t left, char escape[8])
{
    if (*at == '"' || *at == '\\')
        return snprintf(escape, 8, "\\%c", *at), 1;
    if (*at < ' ' || *at == 0x7f)
        return snprintf(escape, 8, "\\u%04x", *at), 1;
    if (*at == 0xc2 && left > 1 && at[1] < 0xa0)
        return snprintf(escape, 8, "\\u%04x", at[1]), 2;
    if (*at == 0xe2 && left > 2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
        return snprintf(escape, 8, "\\u20%02x", at[2] - 0x80), 3;
    return 0;
}

static void event_text_put_quoted(event_text *to, const char *text, size_t length, int cut)
{
    event_text_put(to, "\"", 1);
    for (size_t at = 0, plain = 0; at < length;) {
        char escape[8];
        size_t bytes = event_text_escape((const unsigned char *)text + at, length - at, escape);
        if (bytes != 0)
            event_text_put_text(to, escape);
        else {
            for (plain = at++; at < length && (text[at] & 0xc0) == 0x80; at++)
                continue;
            event_text_put(to, text + plain, at - plain);
        }
        at += bytes;
    }
    event_text_put_text(to, cut ? "\"..." : "\"");
}

static void event_text_put_bytes(event_text *to, const char *bytes, size_t length, int cut)
{
    for (size_t i = 0; i < length; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", (unsigned char)bytes[i]);
        event_text_put(to, digits, 2);
    }
    event_text_put_text(to, cut ? "..." : "");
}

static void event_text_put_op(event_text *to, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    size_t length = crest_op_format(op, text, sizeof text);
    if (strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:") ==
        length)
        event_text_put(to, text, length);
    else
        event_text_put_quoted(to, text, length, 0);
}

static void event_text_put_value(event_text *to, const crest_event_value *value)
{
    char number[CREST_NUMBER_BYTES_MAX];
    int cut = value->as.text.was_length > value->as.text.length;
    switch (value->type) {
    case CREST_EVENT_U64: crest_number_u64(number, value->as.u); break;
    case CREST_EVENT_I64: crest_number_i64(number, value->as.i); break;
    case CREST_EVENT_DOUBLE: crest_number_double(number, value->as.d); break;
    case CREST_EVENT_BOOL: strcpy(number, value->as.u != 0 ? "true" : "false"); break;
    case CREST_EVENT_TEXT:
        event_text_put_quoted(to, value->as.text.data, value->as.text.length, cut);
        return;
    case CREST_EVENT_BYTES:
        event_text_put_bytes(to, value->as.text.data, value->as.text.length, cut);
        return;
    case CREST_EVENT_OP: event_text_put_op(to, &value->as.op); return;
    default: return;
    }
    event_text_put_text(to, number);
}

static void event_text_put_values(event_text *to, const crest_event_view *event)
{
    for (unsigned i = 0; i < event->value_count; i++) {
        event_text_put_text(to, i == 0 ? "" : " ");
        event_text_put_text(to, event->info->fields[i].name);
        event_text_put(to, "=", 1);
        event_text_put_value(to, &event->values[i]);
    }
}

size_t crest_event_values_text(const crest_event_view *event, char *text, size_t size)
{
    event_text to = {.text = text, .size = size, .full = size == 0};
    if (size > 0)
        text[0] = '\0';
    event_text_put_values(&to, event);
    return to.used;
}

/* As RFC 3339, to the microsecond. */
static void event_text_put_time(event_text *to, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / CREST_NS_PER_S);
    struct tm utc = {0};
    char text[100];
    gmtime_r(&seconds, &utc); /* 64 bits of nanoseconds are years that it knows */
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06uZ ", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
             (unsigned)(wall_ns % CREST_NS_PER_S / CREST_NS_PER_US));
    event_text_put_text(to, text);
}

size_t crest_event_line_text(const crest_event_view *event, char *text, size_t size)
{
    char thread[32];
    event_text to = {.text = text, .size = size, .full = size == 0};
    if (size > 0)
        text[0] = '\0';
    event_text_put_time(&to, event->wall_ns);
    event_text_put_text(&to, crest_severity_text(event->info->severity));
    event_text_put(&to, " ", 1);
    event_text_put_text(&to, event->info->name);
    event_text_put_text(&to, event->value_count != 0 ? " " : "");
    event_text_put_values(&to, event);
    if (event->op.kind != CREST_OP_NONE) {
        event_text_put_text(&to, " op=");
        event_text_put_op(&to, &event->op);
    }
    if (event->thread != 0) {
        snprintf(thread, sizeof thread, " thread=%llu", (unsigned long long)event->thread);
        event_text_put_text(&to, thread);
    }
    if (event->thread_name[0] != '\0') {
        event_text_put(&to, " ", 1);
        event_text_put_quoted(&to, event->thread_name, strlen(event->thread_name), 0);
    }
    return to.used;
}

const char *crest_severity_text(crest_severity severity)
{
    return (unsigned)severity < CREST_SEVERITY_COUNT ? crest_event_severity_words[severity] : "";
}

const char *crest_detail_text(crest_detail detail)
{
    return (unsigned)detail < CREST_DETAIL_COUNT ? crest_event_detail_words[detail] : "";
}
