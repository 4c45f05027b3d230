/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfluxDB: whatever names, labels, resource and values there are, a line is none or one line of
 * the grammar that says the same; whatever a server answers, and whatever URL an operator writes,
 * is read within its bytes and shown fit for a log.
 *
 * Input: a byte of choices, a byte for the answer's code, eight bytes of a number, then texts, each
 * up to a NUL: name, two label values, service, URL, answer. The reader of lines is written from
 * the format's documentation, not from our encoder.
 */
#include "fuzz_input.h"
#include "influxdb/influx_answer.h"
#include "influxdb/influx_line.h"
#include "influxdb/influx_url.h"

/* Reads up to an unescaped byte of `ends` into `text`, without the backslashes of escapes. */
static const char *read_escaped(const char *at, const char *ends, char *text)
{
    while (*at != '\0' && strchr(ends, *at) == NULL) {
        FUZZ_WANTS(*at != '\n' && *at != '\r');
        if (*at == '\\' && (at[1] == ',' || at[1] == '=' || at[1] == ' '))
            at++;
        *text++ = *at++;
    }
    *text = '\0';
    return at;
}

static int is_utf8_changed(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            return 1;
    return 0;
}

static void check_line(const crest_influx_line *line, const crest_series_view *series)
{
    static char copy[sizeof line->text + 1], text[sizeof line->text];
    if (line->length == 0)
        return;
    memcpy(copy, line->text, line->length);
    copy[line->length] = '\0';
    FUZZ_WANTS(strlen(copy) == line->length && copy[line->length - 1] == '\n');
    FUZZ_WANTS(strchr(copy, '\n') == copy + line->length - 1);
    const char *at = read_escaped(copy, ", ", text);
    FUZZ_WANTS(is_utf8_changed(series->name) || strcmp(text, series->name) == 0);
    char last[64] = "";
    while (*at == ',') {
        at = read_escaped(at + 1, "=, ", text);
        FUZZ_WANTS(*at == '=' && text[0] != '\0' && strcmp(last, text) < 0);
        FUZZ_WANTS(strlen(text) < sizeof last);
        memcpy(last, text, strlen(text) + 1);
        at = read_escaped(at + 1, ",= ", text);
        FUZZ_WANTS(text[0] != '\0' && *at != '=');
        for (unsigned i = 0; i < series->label_count; i++)
            if (strcmp(series->label_keys[i], last) == 0)
                FUZZ_WANTS(is_utf8_changed(series->label_values[i]) ||
                           strcmp(text, series->label_values[i]) == 0);
    }
    do {
        at = read_escaped(at + 1, "= ", text);
        FUZZ_WANTS(*at == '=' && text[0] != '\0');
        char *end;
        double value = strtod(at + 1, &end);
        FUZZ_WANTS(end > at + 1 && value - value == 0 && strspn(at + 1, "-0123456789.e") > 0);
        at = *end == 'i' ? end + 1 : end;
    } while (*at == ',');
    FUZZ_WANTS(at[0] == ' ' && strspn(at + 1, "0123456789") == strlen(at) - 2);
}

static void try_line(fuzz_input *input, unsigned choices, uint64_t number)
{
    static crest_influx_line line;
    static const char *const keys[] = {"kind", "peer"};
    char *name = fuzz_text(input), *first = fuzz_text(input), *second = fuzz_text(input);
    char *service = fuzz_text(input);
    const char *const values[] = {first, second};
    static const crest_kind kinds[] = {CREST_KIND_COUNTER, CREST_KIND_GAUGE,
                                       CREST_KIND_RANGE_SAMPLER, CREST_KIND_HISTOGRAM};
    static const crest_unit units[] = {CREST_NONE, CREST_NANOSECONDS};
    crest_distribution *distribution = crest_distribution_new(NULL);
    /* a registry takes no name with a backslash or a line end */
    crest_series_view series = {.name =
                                    name[0] != '\0' && strpbrk(name, "\\\r\n") == NULL ? name : "a",
                                .kind = kinds[choices & 3],
                                .unit = units[choices >> 2 & 1],
                                .label_count = choices >> 3 & 1 ? 2 : 0,
                                .label_keys = keys,
                                .label_values = values,
                                .counter = number,
                                .current = (int64_t)number,
                                .distribution = distribution};
    memcpy(&series.gauge, &number, sizeof series.gauge);
    FUZZ_WANTS(distribution != NULL);
    (void)crest_distribution_record(distribution, (int64_t)(number >> 1), 1 + (number & 7));
    const crest_resource resource = {service, "", second, NULL, 0};
    const crest_report report = {.resource = &resource};
    const crest_influx_form form = {.fields = choices >> 4 & 1 ? CREST_INFLUXDB_FIELDS_KAMON
                                                               : CREST_INFLUXDB_FIELDS_CREST,
                                    .percentiles = {50, 99.9},
                                    .percentile_count = 2};
    const crest_influx_point point = {.series = &series, .report = &report, .now = number};
    FUZZ_WANTS(crest_influx_line_make(&line, &form, &point) == CREST_OK);
    check_line(&line, &series);
    crest_distribution_free(distribution);
    free(name);
    free(first);
    free(second);
    free(service);
}

static void check_shown(const char *text)
{
    for (; *text != '\0'; text++)
        FUZZ_WANTS((unsigned char)*text >= ' ' && *text != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    static const unsigned codes[] = {204, 200, 400, 401, 404, 413, 429, 500, 301};
    unsigned choices = fuzz_byte(&input);
    crest_http_answer answer = {.code = codes[fuzz_byte(&input) % (sizeof codes / sizeof *codes)]};
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number = number << 8 | fuzz_byte(&input);
    try_line(&input, choices, number);
    char *url = fuzz_text(&input);
    crest_influx_url made;
    crest_error error = {0};
    const crest_influxdb_options options = {.url = url};
    if (crest_influx_url_make(&options, &made, &error) == CREST_OK)
        FUZZ_WANTS(strstr(made.write, "/write?db=") != NULL && made.database[0] != '\0');
    else
        check_shown(error.message);
    size_t rest = (size_t)(input.end - input.at);
    answer.length = rest < sizeof answer.words ? rest : sizeof answer.words;
    if (answer.length != 0)
        memcpy(answer.words, input.at, answer.length);
    crest_influx_answer meant;
    crest_status status = crest_influx_answer_check(&answer, "http://h", "db", &meant, &error);
    FUZZ_WANTS(meant.partial == (meant.dropped != 0));
    FUZZ_WANTS(!meant.partial || (status == CREST_OK && answer.code == 400));
    check_shown(meant.words);
    if (status != CREST_OK)
        check_shown(error.message);
    free(url);
    return 0;
}
