/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as pprof's profile.proto. See profile_pprof.h.
 *
 * Texts are numbered as they are written, so each is written before the message that names it. The
 * numbers of fields are the schema's.
 */
#include "profiling/profile_pprof.h"
#include "base/utf8.h"
#include "metrics/metric_inside.h"
#include "wire/protobuf.h"

#include <string.h>

/* Room for a message: a sample's places, values and labels. */
#define PPROF_MESSAGE_BYTES 4096u
/* The longest text: a file's name. */
#define PPROF_TEXT_BYTES 4096u
/* Names remembered by their address: of metrics and their stages. */
#define PPROF_KNOWN_MAX 64u

typedef struct pprof {
    crest_buffer *out;
    const crest_rows *rows;
    const crest_code_places *places;
    uint64_t texts; /* written so far */
    const void *known[PPROF_KNOWN_MAX];
    uint64_t known_text[PPROF_KNOWN_MAX];
    unsigned known_count;
    crest_op op; /* the last one, and its text */
    uint64_t op_text;
    uint64_t timer_key, stage_key, op_key, age_key, thread_key, state_key, id_key, unit;
    char message[PPROF_MESSAGE_BYTES];
} pprof;

/* Writes a text; its number. Readers of protobuf refuse a whole profile for one invalid byte, which
 * a thread's or a file's name may have. */
static uint64_t pprof_text(pprof *made, const char *text)
{
    char head[CREST_WIRE_FIELD_BYTES_MAX], valid[PPROF_TEXT_BYTES];
    size_t length = crest_utf8_copy(text, valid, sizeof valid, NULL);
    char *end = crest_wire_varint(crest_wire_tag(head, 6, CREST_WIRE_LENGTH), length);
    crest_buffer_put_bytes(made->out, head, (size_t)(end - head));
    crest_buffer_put_bytes(made->out, valid, length);
    return made->texts++;
}

/* The number of a text that is written once: that of what lies at `key`. */
static uint64_t pprof_known(pprof *made, const void *key, const char *what)
{
    for (unsigned i = 0; i < made->known_count; i++)
        if (made->known[i] == key)
            return made->known_text[i];
    uint64_t text = pprof_text(made, what);
    if (made->known_count < PPROF_KNOWN_MAX) {
        made->known[made->known_count] = key;
        made->known_text[made->known_count++] = text;
    }
    return text;
}

static uint64_t pprof_op(pprof *made, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    if (made->op_text == 0 || !crest_op_equal(op, &made->op)) {
        crest_op_format(op, text, sizeof text);
        made->op = *op;
        made->op_text = pprof_text(made, text);
    }
    return made->op_text;
}

/* Writes the message that was put together behind `body`. */
static void pprof_message(pprof *made, char *body, char *at)
{
    at = crest_wire_end(body, at);
    crest_buffer_put_bytes(made->out, made->message, (size_t)(at - made->message));
}

/* ---- what the values are ---- */

static void pprof_value_type(pprof *made, unsigned field, const char *type, const char *unit)
{
    char *body, *at;
    uint64_t type_text = pprof_text(made, type), unit_text = pprof_text(made, unit);
    at = crest_wire_begin(made->message, field, &body);
    at = crest_wire_u64(at, 1, type_text);
    pprof_message(made, body, crest_wire_u64(at, 2, unit_text));
}

static void pprof_values(pprof *made, const crest_profile_about *about)
{
    int threads = about->kind == CREST_PROFILE_THREADS;
    const char *measure = about->kind == CREST_PROFILE_WALL ? "wall" : "cpu";
    pprof_value_type(made, 1, threads ? "threads" : "samples", "count");
    if (!threads)
        pprof_value_type(made, 1, measure, "nanoseconds");
    pprof_value_type(made, 11, threads ? "threads" : measure, threads ? "count" : "nanoseconds");
    char *at = made->message;
    at = crest_wire_u64(at, 9, about->began_unix_ns);
    at = crest_wire_u64(at, 10, about->duration_ns);
    at = crest_wire_u64(at, 12, threads ? 1 : about->period_ns);
    crest_buffer_put_bytes(made->out, made->message, (size_t)(at - made->message));
}

/* ---- where the code is ---- */

static int pprof_is_used(const pprof *made, size_t module, int *named)
{
    int used = 0;
    *named = 0;
    for (size_t i = 0; i < made->places->count; i++)
        if (made->places->place[i].module == module) {
            used = 1;
            *named |= made->places->place[i].name != NULL;
        }
    return used;
}

/* A mapping's number is that of its module, from 1. */
static void pprof_mapping(pprof *made, size_t number)
{
    static const char digits[] = "0123456789abcdef";
    const crest_module *module = &made->rows->module[number];
    char id[2 * CREST_BUILD_ID_MAX + 1], *body, *at;
    int named;
    if (!pprof_is_used(made, number, &named))
        return;
    for (unsigned i = 0; i < module->build_id_bytes; i++) {
        id[2 * i] = digits[module->build_id[i] >> 4];
        id[2 * i + 1] = digits[module->build_id[i] & 15];
    }
    id[2 * module->build_id_bytes] = '\0';
    uint64_t path = pprof_text(made, module->path), id_text = pprof_text(made, id);
    at = crest_wire_begin(made->message, 3, &body);
    at = crest_wire_u64(at, 1, number + 1);
    at = crest_wire_u64(at, 2, module->low);
    at = crest_wire_u64(at, 3, module->high);
    at = crest_wire_u64(at, 4, module->file_offset);
    at = crest_wire_u64(at, 5, path);
    at = crest_wire_u64(at, 6, id_text);
    pprof_message(made, body, crest_wire_u64(at, 7, (uint64_t)named));
}

/* A function's number is that of the first place in it, from 1; returned. */
static uint64_t pprof_function(pprof *made, size_t number)
{
    const crest_code_place *place = &made->places->place[number];
    char shown[1024], *body, *at;
    crest_code_place_show(place, made->rows, shown, sizeof shown);
    uint64_t name = pprof_text(made, shown);
    at = crest_wire_begin(made->message, 5, &body);
    at = crest_wire_u64(at, 1, number + 1);
    at = crest_wire_u64(at, 2, name);
    pprof_message(made, body, crest_wire_u64(at, 3, name));
    return number + 1;
}

/* A location's number is that of its place, from 1. */
static void pprof_locations(pprof *made)
{
    uint64_t function = 0;
    for (size_t i = 0; i < made->places->count; i++) {
        const crest_code_place *place = &made->places->place[i], *before = place - 1;
        char *body, *at, *line;
        if (place->name != NULL &&
            (i == 0 || before->name == NULL || before->module != place->module ||
             before->symbol != place->symbol))
            function = pprof_function(made, i);
        at = crest_wire_begin(made->message, 4, &body);
        at = crest_wire_u64(at, 1, i + 1);
        if (place->module != CREST_PLACE_NO_MODULE)
            at = crest_wire_u64(at, 2, place->module + 1);
        at = crest_wire_u64(at, 3, place->pc);
        if (place->name != NULL) {
            at = crest_wire_begin(at, 4, &line);
            at = crest_wire_end(line, crest_wire_u64(at, 1, function));
        }
        pprof_message(made, body, at);
    }
}

/* ---- samples ---- */

static char *pprof_label(char *at, uint64_t key, uint64_t text)
{
    char *body;
    at = crest_wire_begin(at, 3, &body);
    at = crest_wire_u64(at, 1, key);
    return crest_wire_end(body, crest_wire_u64(at, 2, text));
}

static char *pprof_number_label(char *at, uint64_t key, uint64_t number, uint64_t unit)
{
    char *body;
    at = crest_wire_begin(at, 3, &body);
    at = crest_wire_u64(at, 1, key);
    at = crest_wire_u64(at, 3, number);
    return crest_wire_end(body, unit != 0 ? crest_wire_u64(at, 4, unit) : at);
}

static char *pprof_labels(pprof *made, const crest_row *row, char *at, const uint64_t *texts)
{
    if (row->metric != NULL)
        at = pprof_label(at, made->timer_key, texts[0]);
    if (texts[4] != 0)
        at = pprof_label(at, made->stage_key, texts[4]);
    if (row->op.kind != CREST_OP_NONE)
        at = pprof_label(at, made->op_key, texts[1]);
    if (row->age_ns != 0)
        at = pprof_number_label(at, made->age_key, row->age_ns, made->unit);
    if (row->thread != 0) {
        at = pprof_label(at, made->thread_key, texts[2]);
        at = pprof_number_label(at, made->id_key, (uint64_t)row->thread, 0);
    }
    return row->state != NULL ? pprof_label(at, made->state_key, texts[3]) : at;
}

static void pprof_sample(pprof *made, const crest_row *row, unsigned values)
{
    uint64_t texts[5] = {0};
    char *body, *packed, *at;
    if (row->metric != NULL)
        texts[0] = pprof_known(made, row->metric, row->metric->name);
    if (crest_row_stage(row) != NULL)
        texts[4] = pprof_known(made, crest_row_stage(row), crest_row_stage(row));
    if (row->op.kind != CREST_OP_NONE)
        texts[1] = pprof_op(made, &row->op);
    if (row->thread != 0)
        texts[2] = pprof_text(made, row->thread_name);
    if (row->state != NULL)
        texts[3] = pprof_text(made, row->state);
    at = crest_wire_begin(made->message, 2, &body);
    at = crest_wire_begin(at, 1, &packed);
    for (unsigned i = 0; i < row->depth; i++)
        at = crest_wire_varint(
            at, crest_code_places_at(made->places, made->rows->frame[row->frames + i]) + 1);
    at = crest_wire_end(packed, at);
    at = crest_wire_begin(at, 2, &packed);
    for (unsigned i = 0; i < values; i++)
        at = crest_wire_varint(at, row->value[i]);
    at = crest_wire_end(packed, at);
    pprof_message(made, body, pprof_labels(made, row, at, texts));
}

void crest_pprof_write(crest_buffer *out, const crest_profile_about *about, const crest_rows *rows,
                       const crest_code_places *places)
{
    pprof made = {.out = out, .rows = rows, .places = places};
    (void)pprof_text(&made, ""); /* the first has to be empty */
    pprof_values(&made, about);
    made.timer_key = pprof_text(&made, "timer");
    made.stage_key = pprof_text(&made, "stage");
    made.op_key = pprof_text(&made, "op");
    made.age_key = pprof_text(&made, "op_age");
    made.thread_key = pprof_text(&made, "thread");
    made.id_key = pprof_text(&made, "thread_id");
    made.state_key = pprof_text(&made, "state");
    made.unit = pprof_text(&made, "nanoseconds");
    for (size_t i = 0; i < rows->module_count; i++)
        pprof_mapping(&made, i);
    pprof_locations(&made);
    for (size_t i = 0; i < rows->count; i++)
        pprof_sample(&made, &rows->row[i], about->kind == CREST_PROFILE_THREADS ? 1 : 2);
}
