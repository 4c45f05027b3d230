/* SPDX-License-Identifier: Apache-2.0 */
/* See node_report.h. */
#include "node_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_NAME_BYTES 300

static bool report_events;

static void report_add(report *r, const char *text, size_t length)
{
    if (r->length + length + 1 > r->capacity) {
        r->capacity = (r->length + length) * 2 + 256;
        r->text = node_realloc(r->text, r->capacity);
    }
    memcpy(r->text + r->length, text, length);
    r->length += length;
    r->text[r->length] = '\0';
}

static void report_add_text(report *r, const char *text)
{
    report_add(r, text, strlen(text));
}

static void report_add_quoted(report *r, const char *text)
{
    report_add_text(r, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        char escape[8];
        if (*at == '"' || *at == '\\')
            snprintf(escape, sizeof escape, "\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*at);
        else
            snprintf(escape, sizeof escape, "%c", *at);
        report_add_text(r, escape);
    }
    report_add_text(r, "\"");
}

static void report_key(report *r, const char *key)
{
    report_add_text(r, r->first ? "" : ",");
    r->first = false;
    report_add_quoted(r, key);
    report_add_text(r, ":");
}

void report_begin(report *r, const char *event)
{
    memset(r, 0, sizeof *r);
    report_add_text(r, "{");
    r->first = true;
    report_text(r, "event", event);
    report_text(r, "node", node_name());
}

void report_member(report *r, const char *key, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    report_key(r, key);
    report_add_text(r, value);
}

void report_text(report *r, const char *key, const char *value)
{
    report_key(r, key);
    report_add_quoted(r, value);
}

void report_series_begin(report *r, const char *key)
{
    report_key(r, key);
    report_add_text(r, "{");
    r->first = true;
}

static void report_series_value(report *r, const char *value, const char *series, va_list arguments)
{
    char name[REPORT_NAME_BYTES];
    vsnprintf(name, sizeof name, series, arguments);
    report_key(r, name);
    report_add_text(r, value);
}

void report_count(report *r, uint64_t value, const char *series, ...)
{
    char text[32];
    va_list arguments;
    snprintf(text, sizeof text, "%" PRIu64, value);
    va_start(arguments, series);
    report_series_value(r, text, series, arguments);
    va_end(arguments);
}

void report_seconds(report *r, uint64_t ns, const char *series, ...)
{
    char text[48];
    va_list arguments;
    snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, ns / NODE_NS_PER_S, ns % NODE_NS_PER_S);
    va_start(arguments, series);
    report_series_value(r, text, series, arguments);
    va_end(arguments);
}

void report_series_end(report *r)
{
    report_add_text(r, "}");
    r->first = false;
}

void report_within(report *r)
{
    report_series_begin(r, "within");
    if (r->within != NULL) {
        report_add_text(r, r->within->text);
        free(r->within->text);
        free(r->within);
        r->within = NULL;
    }
    report_series_end(r);
}

void report_print(report *r)
{
    report_add_text(r, "}\n");
    for (size_t done = 0; done < r->length;) {
        ssize_t wrote = write(STDOUT_FILENO, r->text + done, r->length - done);
        if (wrote <= 0)
            break; /* no reader is left */
        done += (size_t)wrote;
    }
    free(r->text);
    memset(r, 0, sizeof *r);
}

void report_events_on(void)
{
    report_events = true;
}

void report_event(const char *event, const char *format, ...)
{
    if (!report_events)
        return;
    char members[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(members, sizeof members, format, arguments);
    va_end(arguments);
    report r;
    report_begin(&r, event);
    report_add_text(&r, ",");
    report_add_text(&r, members);
    report_print(&r);
}

void report_timed(const char *timer, const uint8_t hash[NODE_HASH_BYTES], const report_clock *took,
                  const char *outcome)
{
    char text[NODE_HEX_BYTES];
    if (report_events)
        report_event("timed",
                     "\"timer\":\"%s\",\"block\":\"%s\",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64
                     ",\"outcome\":\"%s\",\"within_ns\":%" PRIu64,
                     timer, node_hex(hash, text), took->start_ns, took->end_ns, outcome,
                     took->apart_ns);
}

void report_clock_start(report_clock *clock)
{
    clock->start_ns = node_now_ns();
}

void report_clock_started(report_clock *clock)
{
    clock->apart_ns = node_now_ns() - clock->start_ns;
}

void report_clock_end(report_clock *clock)
{
    clock->end_ns = node_now_ns();
}

void report_timer_add(report_timer *timer, uint64_t ns, uint64_t within_ns)
{
    timer->count++;
    timer->sum_ns += ns;
    timer->within_ns += within_ns;
}

report_clock report_timer_add_clock(report_timer *timer, const report_clock *clock)
{
    uint64_t now_ns = node_now_ns();
    report_clock took = {clock->start_ns, now_ns, clock->apart_ns + now_ns - clock->end_ns};
    report_timer_add(timer, took.end_ns - took.start_ns, took.apart_ns);
    return took;
}

void report_timer_print(report *r, const report_timer *timer, bool always, const char *name,
                        const char *labels, ...)
{
    char text[REPORT_NAME_BYTES];
    va_list arguments;
    if (timer->count == 0 && !always)
        return;
    va_start(arguments, labels);
    vsnprintf(text, sizeof text, labels, arguments);
    va_end(arguments);
    report_count(r, timer->count, "%s_seconds_count{%s}", name, text);
    report_seconds(r, timer->sum_ns, "%s_seconds_sum{%s}", name, text);
    if (r->within == NULL) {
        r->within = node_alloc_zero(1, sizeof *r->within);
        r->within->first = true;
    }
    report_seconds(r->within, timer->within_ns, "%s_seconds_sum{%s}", name, text);
}
