/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines: whatever names, labels, resources, operations and numbers there are, a line is one
 * JSON object, of valid UTF-8, without a control character, and ends with the only line feed.
 *
 * Input: a byte of choices, sixteen bytes of numbers, then texts, each up to a NUL: name, key,
 * value, service, resource key and value, operation. The reader is written from RFC 8259, not from
 * our encoder.
 */
#include "base/utf8.h"
#include "fuzz_input.h"
#include "json/json_line.h"

#define JSON_DEPTH_MAX 8

typedef struct json_text {
    char *bytes;
    size_t length;
} json_text;

static int json_take(void *context, const void *bytes, size_t length)
{
    json_text *text = context;
    text->bytes = realloc(text->bytes, text->length + length + 1);
    FUZZ_WANTS(text->bytes != NULL);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
    return 0;
}

static void json_string(const char **at)
{
    FUZZ_WANTS(*(*at)++ == '"');
    while (**at != '"') {
        unsigned char c = (unsigned char)*(*at)++;
        FUZZ_WANTS(c >= ' ' && c != 0x7f);
        if (c != '\\')
            continue;
        char escaped = *(*at)++;
        FUZZ_WANTS(escaped != '\0' && strchr("\"\\/bfnrtu", escaped) != NULL);
        for (int i = 0; escaped == 'u' && i < 4; i++, (*at)++)
            FUZZ_WANTS(**at != '\0' && strchr("0123456789abcdef", **at) != NULL);
    }
    (*at)++;
}

static void json_digits(const char **at)
{
    size_t digits = strspn(*at, "0123456789");
    FUZZ_WANTS(digits > 0);
    *at += digits;
}

static void json_number(const char **at)
{
    *at += **at == '-';
    FUZZ_WANTS((*at)[0] != '0' || (*at)[1] < '0' || (*at)[1] > '9');
    json_digits(at);
    if (**at == '.') {
        (*at)++;
        json_digits(at);
    }
    if (**at == 'e' || **at == 'E') {
        (*at)++;
        *at += **at == '+' || **at == '-';
        json_digits(at);
    }
}

static void json_value(const char **at, int depth)
{
    static const char *const words[] = {"null", "true"};
    char open = **at;
    FUZZ_WANTS(depth < JSON_DEPTH_MAX);
    if (open == '"') {
        json_string(at);
    } else if (open == '{' || open == '[') {
        char close = open == '{' ? '}' : ']';
        (*at)++;
        for (int first = 1; **at != close; first = 0) {
            if (!first)
                FUZZ_WANTS(*(*at)++ == ',');
            if (open == '{') {
                json_string(at);
                FUZZ_WANTS(*(*at)++ == ':');
            }
            json_value(at, depth + 1);
        }
        (*at)++;
    } else if (strncmp(*at, words[0], 4) == 0 || strncmp(*at, words[1], 4) == 0) {
        *at += 4;
    } else {
        json_number(at);
    }
}

static uint64_t json_eight(fuzz_input *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | fuzz_byte(bytes);
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input bytes = {data, data + size};
    unsigned choices = fuzz_byte(&bytes);
    uint64_t numbers[2] = {json_eight(&bytes), json_eight(&bytes)};
    double real;
    memcpy(&real, &numbers[0], sizeof real);
    char *texts[7];
    for (int i = 0; i < 7; i++)
        texts[i] = fuzz_text(&bytes);

    crest_distribution *distribution = crest_distribution_new(NULL);
    (void)crest_distribution_record(distribution, (int64_t)(numbers[0] >> 1), numbers[1] & 0xff);
    (void)crest_distribution_record(distribution, (int64_t)(numbers[1] >> 20), 3);
    const crest_page_label label = {texts[4], texts[5]};
    const crest_resource resource = {texts[3], "", texts[2], &label, 1};
    const char *keys[] = {texts[1]}, *values[] = {texts[2]};
    const crest_series_view view = {.name = texts[0],
                                    .kind = (crest_kind)(choices % (CREST_KIND_RANGE_SAMPLER + 1)),
                                    .unit = (crest_unit)(choices / 8 % (CREST_RATIO + 1)),
                                    .label_count = 1,
                                    .label_keys = keys,
                                    .label_values = values,
                                    .counter = numbers[0],
                                    .gauge = real,
                                    .current = (int64_t)numbers[1],
                                    .distribution = distribution};
    const crest_json_report report = {.wall_ns = numbers[1],
                                      .number = numbers[0],
                                      .resource = &resource,
                                      .delta_s = real,
                                      .final = choices & 1,
                                      .buckets = (crest_json_buckets)(choices / 64 % 3)};
    crest_json_series series = {.view = &view, .previous = choices & 2 ? &view : NULL};
    series.windows[choices % CREST_JSON_LINE_WINDOWS] =
        (crest_window){.covered_s = 1,
                       .per_second = real,
                       .maximum = real,
                       .events = numbers[0],
                       .slowest = crest_op_text(texts[6])};
    json_text line = {NULL, 0};
    FUZZ_WANTS(crest_json_line_write(&report, &series, json_take, &line) == 0);
    FUZZ_WANTS(strlen(line.bytes) == line.length && crest_utf8_is_valid(line.bytes));
    FUZZ_WANTS(strchr(line.bytes, '\n') == line.bytes + line.length - 1);
    const char *at = line.bytes;
    FUZZ_WANTS(*at == '{');
    json_value(&at, 0);
    FUZZ_WANTS(strcmp(at, "\n") == 0);

    free(line.bytes);
    crest_distribution_free(distribution);
    for (int i = 0; i < 7; i++)
        free(texts[i]);
    return 0;
}
