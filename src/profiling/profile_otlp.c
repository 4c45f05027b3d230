/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as OTLP. See profile_otlp.h.
 *
 * Every table of the dictionary begins with an entry that is empty: number 0 means none. Tables and
 * samples are built apart, in memory, since each message has its length in front of it.
 */
#include "profiling/profile_otlp.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "metrics/metric_inside.h"
#include "wire/protobuf.h"

#include <string.h>

/* Room for a message: a stack's places, a location. */
#define OTLP_MESSAGE_BYTES 4096u
#define OTLP_TEXT_BYTES 4096u
/* Attributes remembered: of metrics and their stages. */
#define OTLP_KNOWN_MAX 64u

/* Fields of ExportProfilesServiceRequest, ResourceProfiles, ScopeProfiles, Profile. */
enum { OTLP_REQUEST_RESOURCES = 1, OTLP_REQUEST_DICTIONARY = 2 };
enum { OTLP_RESOURCE = 1, OTLP_SCOPES = 2, OTLP_RESOURCE_ATTRIBUTES = 1 };
enum { OTLP_SCOPE = 1, OTLP_PROFILES = 2, OTLP_SCOPE_NAME = 1 };
enum {
    OTLP_SAMPLE_TYPE = 1,
    OTLP_SAMPLES = 2,
    OTLP_TIME = 3,
    OTLP_DURATION = 4,
    OTLP_PERIOD_TYPE = 5,
    OTLP_PERIOD = 6
};
/* Fields of ProfilesDictionary. */
enum {
    OTLP_MAPPINGS = 1,
    OTLP_LOCATIONS = 2,
    OTLP_FUNCTIONS = 3,
    OTLP_LINKS = 4,
    OTLP_STRINGS = 5,
    OTLP_ATTRIBUTES = 6,
    OTLP_STACKS = 7,
    OTLP_TABLES
};
/* Fields of KeyValue and AnyValue; of KeyValueAndUnit, the same. */
enum { OTLP_KEY = 1, OTLP_VALUE = 2, OTLP_STRING_VALUE = 1 };

typedef struct otlp_part {
    char *bytes;
    size_t used, room;
    uint64_t count; /* messages */
} otlp_part;

typedef struct otlp_profile {
    const crest_rows *rows;
    const crest_code_places *places;
    otlp_part table[OTLP_TABLES]; /* by field */
    otlp_part samples;
    const void *known[OTLP_KNOWN_MAX];
    uint64_t known_attribute[OTLP_KNOWN_MAX];
    unsigned known_count;
    uint64_t timer_key, stage_key, id_key;
    int failed;
    char message[OTLP_MESSAGE_BYTES];
} otlp_profile;

/* ---- parts ---- */

static void otlp_part_put(otlp_profile *made, otlp_part *part, const char *bytes, size_t length)
{
    if (part->room - part->used < length) {
        size_t room = part->room * 2 + length + 1024;
        char *grown = crest_alloc_resize(part->bytes, room, 1);
        if (grown == NULL) {
            made->failed = 1;
            return;
        }
        part->bytes = grown;
        part->room = room;
    }
    memcpy(part->bytes + part->used, bytes, length);
    part->used += length;
}

/* A whole message, whose body's first byte is `body`; its number. */
static uint64_t otlp_message(otlp_profile *made, otlp_part *part, char *body, char *at)
{
    at = crest_wire_end(body, at);
    otlp_part_put(made, part, made->message, (size_t)(at - made->message));
    return part->count++;
}

static uint64_t otlp_empty(otlp_profile *made, unsigned table)
{
    char *body, *at = crest_wire_begin(made->message, table, &body);
    return otlp_message(made, &made->table[table], body, at);
}

static uint64_t otlp_text(otlp_profile *made, const char *text)
{
    char head[CREST_WIRE_FIELD_BYTES_MAX], valid[OTLP_TEXT_BYTES];
    otlp_part *strings = &made->table[OTLP_STRINGS];
    size_t length = crest_utf8_copy(text, valid, sizeof valid, NULL);
    char *end = crest_wire_varint(crest_wire_tag(head, OTLP_STRINGS, CREST_WIRE_LENGTH), length);
    otlp_part_put(made, strings, head, (size_t)(end - head));
    otlp_part_put(made, strings, valid, length);
    return strings->count++;
}

/* A KeyValueAndUnit with a text; its number. */
static uint64_t otlp_attribute(otlp_profile *made, uint64_t key, const char *value)
{
    char *body, *any, *at = crest_wire_begin(made->message, OTLP_ATTRIBUTES, &body);
    char valid[OTLP_TEXT_BYTES / 4];
    size_t length = crest_utf8_copy(value, valid, sizeof valid, NULL);
    at = crest_wire_u64(at, OTLP_KEY, key);
    at = crest_wire_begin(at, OTLP_VALUE, &any);
    at = crest_wire_end(any, crest_wire_bytes(at, OTLP_STRING_VALUE, valid, length));
    return otlp_message(made, &made->table[OTLP_ATTRIBUTES], body, at);
}

static uint64_t otlp_known(otlp_profile *made, const void *thing, uint64_t key, const char *value)
{
    for (unsigned i = 0; i < made->known_count; i++)
        if (made->known[i] == thing)
            return made->known_attribute[i];
    uint64_t number = otlp_attribute(made, key, value);
    if (made->known_count < OTLP_KNOWN_MAX) {
        made->known[made->known_count] = thing;
        made->known_attribute[made->known_count++] = number;
    }
    return number;
}

static char *otlp_packed(char *at, unsigned field, const uint64_t *numbers, unsigned count)
{
    char *body;
    if (count == 0)
        return at;
    at = crest_wire_begin(at, field, &body);
    for (unsigned i = 0; i < count; i++)
        at = crest_wire_varint(at, numbers[i]);
    return crest_wire_end(body, at);
}

/* ---- where the code is ---- */

/* A mapping's number is that of its module, from 1; all are written, so that it is. */
static void otlp_mapping(otlp_profile *made, const crest_module *module)
{
    static const char digits[] = "0123456789abcdef";
    char id[2 * CREST_BUILD_ID_MAX + 1], *body;
    for (unsigned i = 0; i < module->build_id_bytes; i++) {
        id[2 * i] = digits[module->build_id[i] >> 4];
        id[2 * i + 1] = digits[module->build_id[i] & 15];
    }
    id[2 * module->build_id_bytes] = '\0';
    uint64_t path = otlp_text(made, module->path);
    uint64_t attribute = module->build_id_bytes > 0 ? otlp_attribute(made, made->id_key, id) : 0;
    char *at = crest_wire_begin(made->message, OTLP_MAPPINGS, &body);
    at = crest_wire_u64(at, 1, module->low);
    at = crest_wire_u64(at, 2, module->high);
    at = crest_wire_u64(at, 3, module->file_offset);
    at = crest_wire_u64(at, 4, path);
    at = otlp_packed(at, 5, &attribute, attribute != 0);
    otlp_message(made, &made->table[OTLP_MAPPINGS], body, at);
}

static uint64_t otlp_function(otlp_profile *made, const crest_code_place *place)
{
    char shown[1024], *body;
    crest_code_place_show(place, made->rows, shown, sizeof shown);
    uint64_t name = otlp_text(made, shown);
    char *at = crest_wire_begin(made->message, OTLP_FUNCTIONS, &body);
    at = crest_wire_u64(at, 1, name);
    return otlp_message(made, &made->table[OTLP_FUNCTIONS], body, crest_wire_u64(at, 2, name));
}

/* A location's number is that of its place, from 1. */
static void otlp_locations(otlp_profile *made)
{
    uint64_t function = 0;
    for (size_t i = 0; i < made->places->count; i++) {
        const crest_code_place *place = &made->places->place[i], *before = place - 1;
        char *body, *line;
        if (place->name != NULL &&
            (i == 0 || before->name == NULL || before->module != place->module ||
             before->symbol != place->symbol))
            function = otlp_function(made, place);
        char *at = crest_wire_begin(made->message, OTLP_LOCATIONS, &body);
        if (place->module != CREST_PLACE_NO_MODULE)
            at = crest_wire_u64(at, 1, place->module + 1);
        at = crest_wire_u64(at, 2, place->pc);
        if (place->name != NULL) {
            at = crest_wire_begin(at, 3, &line);
            at = crest_wire_end(line, crest_wire_u64(at, 1, function));
        }
        otlp_message(made, &made->table[OTLP_LOCATIONS], body, at);
    }
}

/* ---- samples ---- */

static void otlp_sample(otlp_profile *made, const crest_row *row)
{
    uint64_t attributes[2], value = row->value[1];
    unsigned count = 0;
    char *body, *packed;
    if (row->metric != NULL)
        attributes[count++] = otlp_known(made, row->metric, made->timer_key, row->metric->name);
    if (crest_row_stage(row) != NULL)
        attributes[count++] =
            otlp_known(made, crest_row_stage(row), made->stage_key, crest_row_stage(row));
    char *at = crest_wire_begin(made->message, OTLP_STACKS, &body);
    at = crest_wire_begin(at, 1, &packed);
    for (unsigned i = 0; i < row->depth; i++)
        at = crest_wire_varint(
            at, crest_code_places_at(made->places, made->rows->frame[row->frames + i]) + 1);
    uint64_t stack =
        otlp_message(made, &made->table[OTLP_STACKS], body, crest_wire_end(packed, at));
    at = crest_wire_begin(made->message, OTLP_SAMPLES, &body);
    at = crest_wire_u64(at, 1, stack);
    at = otlp_packed(at, 2, attributes, count);
    otlp_message(made, &made->samples, body, otlp_packed(at, 4, &value, 1));
}

/* ---- the whole ---- */

static void otlp_put_part(crest_buffer *out, const otlp_part *part)
{
    if (part->used > 0)
        crest_buffer_put_bytes(out, part->bytes, part->used);
}

static void otlp_put_head(crest_buffer *out, unsigned field, size_t length)
{
    char head[CREST_WIRE_FIELD_BYTES_MAX];
    char *end = crest_wire_varint(crest_wire_tag(head, field, CREST_WIRE_LENGTH), length);
    crest_buffer_put_bytes(out, head, (size_t)(end - head));
}

static size_t otlp_field_bytes(size_t length)
{
    return 1 + crest_wire_varint_bytes(length) + length;
}

/* The Resource as a field, and the scope as one. */
static void otlp_resource(otlp_profile *made, otlp_part *resource,
                          const crest_page_label *attributes, unsigned count)
{
    otlp_part pairs = {.bytes = NULL};
    for (unsigned i = 0; i < count; i++) {
        char *pair, *any, *at = crest_wire_begin(made->message, OTLP_RESOURCE_ATTRIBUTES, &pair);
        char valid[OTLP_TEXT_BYTES / 4];
        size_t length = crest_utf8_copy(attributes[i].key, valid, sizeof valid, NULL);
        at = crest_wire_bytes(at, OTLP_KEY, valid, length);
        length = crest_utf8_copy(attributes[i].value, valid, sizeof valid, NULL);
        at = crest_wire_begin(at, OTLP_VALUE, &any);
        at = crest_wire_end(any, crest_wire_bytes(at, OTLP_STRING_VALUE, valid, length));
        otlp_message(made, &pairs, pair, at);
    }
    char head[CREST_WIRE_FIELD_BYTES_MAX];
    char *end =
        crest_wire_varint(crest_wire_tag(head, OTLP_RESOURCE, CREST_WIRE_LENGTH), pairs.used);
    otlp_part_put(made, resource, head, (size_t)(end - head));
    if (pairs.used > 0)
        otlp_part_put(made, resource, pairs.bytes, pairs.used);
    crest_alloc_free(pairs.bytes);
}

/* What the Profile has beside its samples. */
static void otlp_about(otlp_profile *made, otlp_part *about_part, const crest_profile_about *about)
{
    static const unsigned types[] = {OTLP_SAMPLE_TYPE, OTLP_PERIOD_TYPE};
    uint64_t cpu = otlp_text(made, "cpu"), unit = otlp_text(made, "nanoseconds");
    for (unsigned i = 0; i < 2; i++) {
        char *body, *at = crest_wire_begin(made->message, types[i], &body);
        at = crest_wire_u64(at, 1, cpu);
        otlp_message(made, about_part, body, crest_wire_u64(at, 2, unit));
    }
    char *at = crest_wire_fixed64(crest_wire_tag(made->message, OTLP_TIME, CREST_WIRE_FIXED64),
                                  about->began_unix_ns);
    at = crest_wire_u64(at, OTLP_DURATION, about->duration_ns);
    at = crest_wire_u64(at, OTLP_PERIOD, about->period_ns);
    otlp_part_put(made, about_part, made->message, (size_t)(at - made->message));
}

static void otlp_put_all(otlp_profile *made, crest_buffer *out, const otlp_part *resource,
                         const otlp_part *about)
{
    static const char scope[] = "\x0a\x07\x0a\x05"
                                "crest";
    size_t profile = about->used + made->samples.used;
    size_t scopes = sizeof scope - 1 + otlp_field_bytes(profile), dictionary = 0;
    for (unsigned i = 1; i < OTLP_TABLES; i++)
        dictionary += made->table[i].used;
    otlp_put_head(out, OTLP_REQUEST_RESOURCES, resource->used + otlp_field_bytes(scopes));
    otlp_put_part(out, resource);
    otlp_put_head(out, OTLP_SCOPES, scopes);
    crest_buffer_put_bytes(out, scope, sizeof scope - 1);
    otlp_put_head(out, OTLP_PROFILES, profile);
    otlp_put_part(out, about);
    otlp_put_part(out, &made->samples);
    otlp_put_head(out, OTLP_REQUEST_DICTIONARY, dictionary);
    for (unsigned i = 1; i < OTLP_TABLES; i++)
        otlp_put_part(out, &made->table[i]);
}

int crest_profile_otlp_write(crest_buffer *out, const crest_profile_about *about,
                             const crest_rows *rows, const crest_code_places *places,
                             const crest_page_label *attributes, unsigned count)
{
    otlp_part resource = {.bytes = NULL}, about_part = {.bytes = NULL};
    otlp_profile *made = crest_alloc(1, sizeof *made);
    if (made == NULL)
        return 0;
    made->rows = rows;
    made->places = places;
    for (unsigned i = 1; i < OTLP_TABLES; i++)
        (void)otlp_empty(made, i);
    made->timer_key = otlp_text(made, "timer");
    made->stage_key = otlp_text(made, "stage");
    made->id_key = otlp_text(made, "process.executable.build_id.gnu");
    otlp_resource(made, &resource, attributes, count);
    otlp_about(made, &about_part, about);
    for (size_t i = 0; i < rows->module_count; i++)
        otlp_mapping(made, &rows->module[i]);
    otlp_locations(made);
    for (size_t i = 0; i < rows->count; i++)
        otlp_sample(made, &rows->row[i]);
    int good = !made->failed;
    if (good)
        otlp_put_all(made, out, &resource, &about_part);
    for (unsigned i = 1; i < OTLP_TABLES; i++)
        crest_alloc_free(made->table[i].bytes);
    crest_alloc_free(made->samples.bytes);
    crest_alloc_free(resource.bytes);
    crest_alloc_free(about_part.bytes);
    crest_alloc_free(made);
    return good;
}
