/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as a terminal shows them, and as Chrome's trace events. See events_text.h. Source of the
 * latter: "Trace Event Format", Google, 2016; instant events with the scope of a thread.
 */
#include "events/events_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS_TEXT_NS_PER_S UINT64_C(1000000000)
/* Names longer than this do not push the others' values to the right. */
#define EVENTS_TEXT_NAME_MAX 28u
/* Of more hexadecimal digits than these a terminal gets the first ones; all with --json. */
#define EVENTS_TEXT_DIGITS_MAX 24u
#define EVENTS_TEXT_DIGITS 16u
/* "08:00:00.123456 warning   " */
#define EVENTS_TEXT_BEFORE_NAME 26u

void events_text_plain(const char *text, size_t length, FILE *to)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        int c1 = c == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0;
        fputc(c < ' ' || c == 0x7f || c1 ? '?' : c, to);
        i += (size_t)c1;
    }
}

/* Columns of a text: characters of UTF-8, each taken for one. */
static unsigned events_text_columns(const char *text, size_t length)
{
    unsigned columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

void events_text_wrapped(const char *text, unsigned blanks, unsigned width, FILE *to)
{
    unsigned used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        unsigned columns = events_text_columns(text, length);
        if (length != 0 && (used == 0 || (width != 0 && used + 1 + columns > width))) {
            fprintf(to, "%s%*s", used == 0 ? "" : "\n", (int)blanks, "");
            used = blanks;
        } else if (length != 0) {
            fputc(' ', to);
            used++;
        }
        events_text_plain(text, length, to);
        used += columns;
        text += length + strspn(text + length, " \n");
    }
    if (used != 0)
        fputc('\n', to);
}

void events_text_json(const char *text, size_t length, FILE *to)
{
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

const crest_event_view *events_text_masked(const crest_event_view *event, const events_look *look,
                                           crest_event_view *masked)
{
    if (event->info->privacy != CREST_CONFIDENTIAL || look->confidential)
        return event;
    *masked = *event;
    masked->value_count = 0;
    masked->op = (crest_op){.kind = CREST_OP_NONE};
    return masked;
}

/* ---- lines ---- */

static const char *events_text_colour(crest_severity severity)
{
    return severity >= CREST_ERROR     ? "\033[31m"
           : severity == CREST_WARNING ? "\033[33m"
           : severity == CREST_DEBUG   ? "\033[2m"
                                       : "";
}

void events_text_day(uint64_t wall_ns, events_look *look, FILE *to)
{
    time_t seconds = (time_t)(wall_ns / EVENTS_TEXT_NS_PER_S);
    uint64_t day = wall_ns / EVENTS_TEXT_NS_PER_S / 86400;
    char text[40];
    struct tm parts;
    if (look->day != day && gmtime_r(&seconds, &parts) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d", &parts) != 0)
        fprintf(to, "# %s UTC\n", text);
    look->day = day;
}

/* The time of day. */
static void events_text_time(uint64_t wall_ns, FILE *to)
{
    time_t seconds = (time_t)(wall_ns / EVENTS_TEXT_NS_PER_S);
    char text[40];
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, sizeof text, "%H:%M:%S", &parts) == 0)
        strcpy(text, "??:??:??");
    fprintf(to, "%s.%06u ", text, (unsigned)(wall_ns % EVENTS_TEXT_NS_PER_S / 1000));
}

/* The end of a value: the next blank that is in no quotes. */
static size_t events_text_word(const char *text)
{
    size_t length = 0;
    for (int quoted = 0; text[length] != '\0' && (quoted || text[length] != ' '); length++) {
        if (quoted && text[length] == '\\' && text[length + 1] != '\0')
            length++;
        else if (text[length] == '"')
            quoted = !quoted;
    }
    return length;
}

/* How much of a value of hexadecimal digits, as of a block's hash, is shown within a width; 0: all
 * of it, or it is another value. */
static size_t events_text_digits(const char *text, size_t length)
{
    size_t begin = strcspn(text, "=") + 1;
    if (length < begin + EVENTS_TEXT_DIGITS_MAX ||
        strspn(text + begin, "0123456789abcdef.") < length - begin)
        return 0;
    return begin + EVENTS_TEXT_DIGITS;
}

/* Values, each on the line if it fits, or on one of its own. */
static void events_text_values(const char *text, unsigned used, unsigned indent,
                               const events_look *look, FILE *to)
{
    while (*text != '\0') {
        size_t length = events_text_word(text);
        size_t digits = look->width != 0 ? events_text_digits(text, length) : 0;
        unsigned columns = digits != 0 ? (unsigned)digits + 3 : events_text_columns(text, length);
        if (look->width != 0 && used + 1 + columns > look->width && used > indent) {
            fprintf(to, "\n%*s", (int)indent, "");
            used = indent;
        } else {
            fputc(' ', to);
            used++;
        }
        fwrite(text, 1, digits != 0 ? digits : length, to); /* already escaped */
        fputs(digits != 0 ? "..." : "", to);
        used += columns;
        text += length + (text[length] == ' ');
    }
}

void events_text_measure(const char *name, events_look *look)
{
    size_t columns = strlen(name);
    if (columns > look->name_width)
        look->name_width =
            columns < EVENTS_TEXT_NAME_MAX ? (unsigned)columns : EVENTS_TEXT_NAME_MAX;
}

void events_text_event(const crest_event_view *event, events_look *look, FILE *to)
{
    static char values[CREST_EVENT_TEXT_BYTES];
    crest_event_view masked;
    const crest_event_view *shown = events_text_masked(event, look, &masked);
    const char *name = event->info->name, *end = look->colours ? "\033[0m" : "";
    unsigned columns = (unsigned)strlen(name);
    events_text_measure(name, look);
    events_text_time(event->wall_ns, to);
    fprintf(to, "%s%-9s%s ", look->colours ? events_text_colour(event->info->severity) : "",
            crest_severity_text(event->info->severity), end);
    fputs(look->colours ? "\033[1m" : "", to);
    events_text_plain(name, columns, to);
    fputs(end, to);
    size_t length = crest_event_values_text(shown, values, sizeof values);
    if (shown->op.kind != CREST_OP_NONE && length + 4 + CREST_OP_TEXT_BYTES < sizeof values) {
        char op[CREST_OP_TEXT_BYTES];
        crest_op_format(&shown->op, op, sizeof op);
        length += (size_t)snprintf(values + length, sizeof values - length,
                                   "%sop=", length != 0 ? " " : "");
        for (const char *at = op; *at != '\0'; at++)
            values[length++] = *at > ' ' && *at != 0x7f ? *at : '_';
        values[length] = '\0';
    }
    if (shown != event)
        strcpy(values, "(confidential)");
    unsigned used = EVENTS_TEXT_BEFORE_NAME + columns;
    unsigned at = EVENTS_TEXT_BEFORE_NAME + look->name_width;
    if (used < at && values[0] != '\0')
        fprintf(to, "%*s", (int)(at - used), "");
    events_text_values(values, used < at ? at : used, EVENTS_TEXT_BEFORE_NAME, look, to);
    fputc('\n', to);
}

/* ---- Chrome's trace events ---- */

static void events_text_number(const crest_event_value *value, FILE *to)
{
    char text[40];
    if (value->type == CREST_EVENT_U64)
        fprintf(to, "%llu", (unsigned long long)value->as.u);
    else if (value->type == CREST_EVENT_I64)
        fprintf(to, "%lld", (long long)value->as.i);
    else if (value->type == CREST_EVENT_BOOL)
        fputs(value->as.u != 0 ? "true" : "false", to);
    else if (!isfinite(value->as.d))
        fputs("null", to);
    else {
        snprintf(text, sizeof text, "%.17g", value->as.d);
        fputs(text, to);
    }
}

static void events_text_argument(const crest_event_value *value, FILE *to)
{
    char op[CREST_OP_TEXT_BYTES];
    switch (value->type) {
    case CREST_EVENT_TEXT: events_text_json(value->as.text.data, value->as.text.length, to); break;
    case CREST_EVENT_BYTES:
        fputc('"', to);
        for (uint32_t i = 0; i < value->as.text.length; i++)
            fprintf(to, "%02x", (unsigned char)value->as.text.data[i]);
        fputc('"', to);
        break;
    case CREST_EVENT_OP:
        events_text_json(op, crest_op_format(&value->as.op, op, sizeof op), to);
        break;
    default: events_text_number(value, to);
    }
}

void events_text_chrome(const crest_event_view *event, const events_look *look, uint64_t pid,
                        int first, FILE *to)
{
    crest_event_view masked;
    const crest_event_view *shown = events_text_masked(event, look, &masked);
    const char *name = event->info->name;
    char op[CREST_OP_TEXT_BYTES];
    fputs(first ? "\n" : ",\n", to);
    fputs("{\"name\":", to);
    events_text_json(name, strlen(name), to);
    fputs(",\"cat\":", to);
    events_text_json(name, strcspn(name, ".-"), to);
    fprintf(to, ",\"ph\":\"i\",\"s\":\"t\",\"ts\":%llu.%03u,\"pid\":%llu,\"tid\":%llu,\"args\":{",
            (unsigned long long)(event->wall_ns / 1000), (unsigned)(event->wall_ns % 1000),
            (unsigned long long)pid,
            (unsigned long long)(event->thread != 0 ? event->thread : event->ring));
    fprintf(to, "\"crest.severity\":\"%s\"", crest_severity_text(event->info->severity));
    for (unsigned i = 0; i < shown->value_count; i++) {
        fputc(',', to);
        events_text_json(event->info->fields[i].name, strlen(event->info->fields[i].name), to);
        fputc(':', to);
        events_text_argument(&shown->values[i], to);
    }
    if (shown->op.kind != CREST_OP_NONE) {
        fputs(",\"crest.operation\":", to);
        events_text_json(op, crest_op_format(&shown->op, op, sizeof op), to);
    }
    fputs("}}", to);
}
