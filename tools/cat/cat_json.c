/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state file as JSON. See cat_json.h.
 */
#include "cat/cat_json.h"

#include <math.h>

/* A string; bytes that are not ASCII are kept where they are UTF-8's, and else become '?'. */
static void cat_json_text(const char *text, FILE *to)
{
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        unsigned more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc2 ? 1 : 0, have = 0;
        while (have < more && (at[have + 1] & 0xc0) == 0x80)
            have++;
        if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < ' ' || *at == 0x7f)
            fprintf(to, "\\u%04x", *at);
        else if (*at < 0x80)
            fputc(*at, to);
        else if (more == 0 || have < more || *at > 0xf4)
            fputc('?', to);
        else {
            fwrite(at, 1, more + 1, to);
            at += more;
        }
    }
    fputc('"', to);
}

static void cat_json_member(const char *name, const char *text, FILE *to)
{
    fprintf(to, "\"%s\":", name);
    cat_json_text(text, to);
    fputc(',', to);
}

static void cat_json_value(const crest_series_view *view, FILE *to)
{
    const crest_distribution *d = view->distribution;
    switch (view->kind) {
    case CREST_KIND_COUNTER:
        fprintf(to, "\"value\":%llu", (unsigned long long)view->counter);
        break;
    case CREST_KIND_GAUGE:
        fprintf(to, isfinite(view->gauge) ? "\"value\":%.17g" : "\"value\":null", view->gauge);
        break;
    case CREST_KIND_RANGE_SAMPLER: fprintf(to, "\"value\":%lld", (long long)view->current); break;
    default:
        fprintf(to,
                "\"count\":%llu,\"sum\":%llu,\"min\":%llu,\"max\":%llu,\"p50\":%llu,\"p99\":%llu",
                (unsigned long long)crest_distribution_count(d),
                (unsigned long long)crest_distribution_sum(d),
                (unsigned long long)crest_distribution_min(d),
                (unsigned long long)crest_distribution_max(d),
                (unsigned long long)crest_distribution_quantile(d, 0.5),
                (unsigned long long)crest_distribution_quantile(d, 0.99));
    }
}

static void cat_json_series(const crest_series_view *view, FILE *to)
{
    fputc('{', to);
    cat_json_member("metric", view->name, to);
    fputs("\"labels\":{", to);
    for (unsigned i = 0; i < view->label_count; i++) {
        cat_json_text(view->label_keys[i], to);
        fputc(':', to);
        cat_json_text(view->label_values[i], to);
        if (i + 1 < view->label_count)
            fputc(',', to);
    }
    fputs("},", to);
    cat_json_value(view, to);
    fputc('}', to);
}

static void cat_json_id(const char *name, const uint8_t *bytes, size_t count, FILE *to)
{
    fprintf(to, "\"%s\":\"", name);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%02x", bytes[i]);
    fputs("\",", to);
}

static void cat_json_span_id(const char *name, crest_span_id id, FILE *to)
{
    fprintf(to, "\"%s\":\"%016llx\",", name, (unsigned long long)id);
}

static void cat_json_attribute(const crest_span_attribute *attribute, FILE *to)
{
    cat_json_text(attribute->key, to);
    fputc(':', to);
    switch (attribute->type) {
    case CREST_SPAN_I64: fprintf(to, "%lld", (long long)attribute->value.i); break;
    case CREST_SPAN_BOOL: fputs(attribute->value.b ? "true" : "false", to); break;
    case CREST_SPAN_DOUBLE:
        if (isfinite(attribute->value.d))
            fprintf(to, "%.17g", attribute->value.d);
        else
            fputs("null", to);
        break;
    default: cat_json_text(attribute->value.s, to);
    }
}

static void cat_json_details(const crest_span *span, FILE *to)
{
    fputs("\"attributes\":{", to);
    for (size_t i = 0; i < span->attribute_count; i++) {
        fputs(i == 0 ? "" : ",", to);
        cat_json_attribute(&span->attributes[i], to);
    }
    fputs("},\"events\":[", to);
    for (size_t i = 0; i < span->event_count; i++) {
        fputs(i == 0 ? "{" : ",{", to);
        cat_json_member("name", span->events[i].name, to);
        fprintf(to, "\"timeUnixNano\":%llu}", (unsigned long long)span->events[i].unix_ns);
    }
    fputs("],", to);
    if (span->folded_count != 0)
        fprintf(to, "\"folded\":{\"count\":%llu,\"sum_ns\":%llu,\"max_ns\":%llu},",
                (unsigned long long)span->folded_count, (unsigned long long)span->folded_sum_ns,
                (unsigned long long)span->folded_max_ns);
}

/* With the members that a line of spans-json= has. */
static void cat_json_span(const crest_span *span, const crest_remains_about *about, FILE *to)
{
    static const char *const kinds[] = {"internal", "server", "client", "producer", "consumer"};
    static const char *const outcomes[] = {"ok", "error", "timeout", "cancelled"};
    static const char *const whys[] = {"sampled", "failed", "timed-out", "slow", "stuck"};
    char id[CREST_OP_TEXT_BYTES];
    fputc('{', to);
    cat_json_id("traceId", span->trace.bytes, sizeof span->trace.bytes, to);
    cat_json_span_id("spanId", span->id, to);
    if (span->parent != 0)
        cat_json_span_id("parentSpanId", span->parent, to);
    cat_json_member("name", span->name, to);
    cat_json_member("kind", kinds[span->kind], to);
    cat_json_member("outcome", outcomes[span->outcome], to);
    cat_json_member("kept", whys[span->kept_why], to);
    if (span->op.kind != CREST_OP_NONE) {
        crest_op_format(&span->op, id, sizeof id);
        cat_json_member("operation", id, to);
    }
    if (span->status_message[0] != '\0')
        cat_json_member("message", span->status_message, to);
    cat_json_member("service", about->service, to);
    cat_json_member("instance", about->instance, to);
    cat_json_details(span, to);
    if (span->dropped_attributes != 0)
        fprintf(to, "\"droppedAttributesCount\":%u,", span->dropped_attributes);
    fprintf(to, "\"startTimeUnixNano\":%llu,\"endTimeUnixNano\":%llu}",
            (unsigned long long)span->start_unix_ns, (unsigned long long)span->end_unix_ns);
}

void cat_json(const crest_remains *remains, const crest_remains_about *about, FILE *to)
{
    crest_series_view view;
    crest_remains_op op;
    crest_span span;
    fputs("{\"process\":{", to);
    cat_json_member("program", about->program, to);
    cat_json_member("service", about->service, to);
    cat_json_member("instance", about->instance, to);
    cat_json_member("version", about->version, to);
    fprintf(to,
            "\"pid\":%llu,\"opened_ns\":%llu,\"beat_ns\":%llu,\"farewell_ns\":%llu,"
            "\"alive\":%s,\"adopted\":%s,\"damaged\":%llu},\n\"in_flight\":[",
            (unsigned long long)about->pid, (unsigned long long)about->opened_wall_ns,
            (unsigned long long)about->beat_wall_ns, (unsigned long long)about->farewell_wall_ns,
            about->alive ? "true" : "false", about->adopted ? "true" : "false",
            (unsigned long long)about->damaged);
    for (size_t i = 0; crest_remains_in_flight(remains, i, &op) == CREST_OK; i++) {
        char id[CREST_OP_TEXT_BYTES];
        crest_op_format(&op.op, id, sizeof id);
        fputs(i == 0 ? "\n{" : ",\n{", to);
        cat_json_member("timer", op.timer, to);
        cat_json_member("op", id, to);
        fprintf(to, "\"begun_ns\":%llu,\"age_ns\":%llu}", (unsigned long long)op.begun_wall_ns,
                (unsigned long long)op.age_ns);
    }
    fputs("],\n\"spans\":[", to);
    for (size_t i = 0; crest_remains_span(remains, i, &span) == CREST_OK; i++) {
        fputs(i == 0 ? "\n" : ",\n", to);
        cat_json_span(&span, about, to);
    }
    fputs("],\n\"series\":[", to);
    for (size_t i = 0; crest_remains_series(remains, i, &view) == CREST_OK; i++) {
        fputs(i == 0 ? "\n" : ",\n", to);
        cat_json_series(&view, to);
    }
    fputs("]}\n", to);
}
