/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as a line of text or of JSON. What its members mean is in <crest/event_lines.h>.
 */
#include "events/event_line.h"
#include "common/json_text.h"
#include "common/span_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define EVENT_LINE_NS_PER_S UINT64_C(1000000000)

static void event_line_time(crest_json_output *output, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / EVENT_LINE_NS_PER_S);
    struct tm utc = {0};
    char text[100];
    gmtime_r(&seconds, &utc); /* 64 bits of nanoseconds are years that it knows */
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
             (unsigned)(wall_ns % EVENT_LINE_NS_PER_S));
    crest_json_text(output, "time", text);
    crest_json_u64(output, "timeUnixNano", wall_ns);
}

static void event_line_bytes(crest_json_output *output, const char *key, const char *bytes,
                             size_t length)
{
    char digits[3];
    crest_json_key(output, key);
    crest_json_put(output, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        snprintf(digits, sizeof digits, "%02x", (unsigned char)bytes[i]);
        crest_json_put(output, digits, 2);
    }
    crest_json_put(output, "\"", 1);
}

static void event_line_op(crest_json_output *output, const char *key, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    crest_op_format(op, text, sizeof text);
    crest_json_text(output, key, text);
}

static void event_line_value(crest_json_output *output, const char *key,
                             const crest_event_value *value)
{
    switch (value->type) {
    case CREST_EVENT_U64: crest_json_u64(output, key, value->as.u); break;
    case CREST_EVENT_I64: crest_json_i64(output, key, value->as.i); break;
    case CREST_EVENT_DOUBLE: crest_json_double(output, key, value->as.d); break;
    case CREST_EVENT_BOOL:
        crest_json_key(output, key);
        crest_json_put_text(output, value->as.u != 0 ? "true" : "false");
        break;
    case CREST_EVENT_TEXT:
        crest_json_key(output, key);
        crest_json_put_part(output, value->as.text.data, value->as.text.length);
        break;
    case CREST_EVENT_BYTES:
        event_line_bytes(output, key, value->as.text.data, value->as.text.length);
        break;
    case CREST_EVENT_OP: event_line_op(output, key, &value->as.op); break;
    default: break;
    }
}

static int event_line_is_cut(const crest_event_value *value)
{
    return (value->type == CREST_EVENT_TEXT || value->type == CREST_EVENT_BYTES) &&
           value->as.text.was_length > value->as.text.length;
}

static void event_line_values(crest_json_output *output, const crest_event_view *event)
{
    int any_cut = 0;
    crest_json_open(output, "values");
    for (unsigned i = 0; i < event->value_count; i++) {
        event_line_value(output, event->info->fields[i].name, &event->values[i]);
        any_cut |= event_line_is_cut(&event->values[i]);
    }
    crest_json_close(output);
    if (!any_cut)
        return;
    crest_json_open(output, "cut");
    for (unsigned i = 0; i < event->value_count; i++) {
        if (!event_line_is_cut(&event->values[i]))
            continue;
        if (event->values[i].as.text.was_length != UINT32_MAX) {
            crest_json_u64(output, event->info->fields[i].name,
                           event->values[i].as.text.was_length);
        } else {
            crest_json_key(output, event->info->fields[i].name);
            crest_json_put_text(output, "null");
        }
    }
    crest_json_close(output);
}

static int event_line_json(const crest_event_view *event, crest_write_fn *write, void *context)
{
    crest_json_output output = {.write = write, .context = context, .before = ""};
    crest_json_put(&output, "{", 1);
    event_line_time(&output, event->wall_ns);
    crest_json_text(&output, "event", event->info->name);
    crest_json_text(&output, "severity", crest_severity_text(event->info->severity));
    if (event->info->privacy == CREST_CONFIDENTIAL)
        crest_json_text(&output, "privacy", "confidential");
    if (event->thread != 0)
        crest_json_u64(&output, "thread", event->thread);
    if (event->thread_name[0] != '\0')
        crest_json_text(&output, "threadName", event->thread_name);
    if (event->op.kind != CREST_OP_NONE)
        event_line_op(&output, "operation", &event->op);
    if (event->span.span != 0) {
        crest_span_json_trace(&output, "traceId", &event->span.trace);
        crest_span_json_id(&output, "spanId", event->span.span);
    }
    event_line_values(&output, event);
    crest_json_put(&output, "}\n", 2);
    return output.stopped;
}

int crest_event_line_write(const crest_event_view *event, crest_event_form form,
                           crest_write_fn *write, void *context)
{
    char line[CREST_EVENT_TEXT_BYTES + 1];
    if (form == CREST_EVENT_FORM_JSON)
        return event_line_json(event, write, context);
    size_t length = crest_event_line_text(event, line, CREST_EVENT_TEXT_BYTES);
    line[length] = '\n';
    return write(context, line, length + 1);
}

int crest_event_line_lost(uint64_t wall_ns, uint64_t lost, uint64_t lost_bytes,
                          crest_event_form form, crest_write_fn *write, void *context)
{
    crest_json_output output = {.write = write, .context = context, .before = ""};
    char line[120];
    if (form == CREST_EVENT_FORM_TEXT) {
        int length = snprintf(line, sizeof line,
                              "%llu events (%llu bytes) were overwritten before they were read\n",
                              (unsigned long long)lost, (unsigned long long)lost_bytes);
        return write(context, line, (size_t)length);
    }
    crest_json_put(&output, "{", 1);
    event_line_time(&output, wall_ns);
    crest_json_u64(&output, "lost", lost);
    crest_json_u64(&output, "lostBytes", lost_bytes);
    crest_json_put(&output, "}\n", 2);
    return output.stopped;
}
