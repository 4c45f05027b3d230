/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of HdrHistogram's logs. See crest_hlog_parse in <crest/hlog.h>.
 *
 *     #[StartTime: 1441812279.474 (seconds since epoch), …]
 *     "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
 *     Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmS…
 */
#include <crest/hlog.h>

#include "hlog/hlog_base64.h"
#include "common/shown_text.h"

#include <stdlib.h>
#include <string.h>

/* Times of lines that lie so far before the log's start are counted from it. */
#define HLOG_YEAR_S (365.0 * 24 * 3600)
#define HLOG_SHOWN_BYTES 60u

typedef struct hlog_text {
    const char *at, *end;
} hlog_text;

static int hlog_begins(const hlog_text *text, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, with, length) == 0;
}

static int hlog_is_digit(const hlog_text *text)
{
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

/* A decimal number, with a point in every locale; 0 if there is none. */
static int hlog_number(hlog_text *text, double *number)
{
    double value = 0, scale = 1;
    int digits = 0, negative = text->at < text->end && *text->at == '-';
    text->at += negative;
    for (; hlog_is_digit(text); digits++)
        value = value * 10 + (*text->at++ - '0');
    if (text->at < text->end && *text->at == '.')
        for (text->at++; hlog_is_digit(text); digits++) {
            value = value * 10 + (*text->at++ - '0');
            scale *= 10;
        }
    *number = (negative ? -value : value) / scale;
    return digits > 0 && digits < 300;
}

static void hlog_blanks(hlog_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
}

/* A field that is a number, and the comma behind it. */
static int hlog_field(hlog_text *text, double *number)
{
    hlog_blanks(text);
    if (!hlog_number(text, number))
        return 0;
    hlog_blanks(text);
    return text->at < text->end && *text->at++ == ',';
}

/* What a comment says of time. */
static void hlog_comment(crest_hlog_log *log, hlog_text text)
{
    double number;
    int base = hlog_begins(&text, "#[BaseTime:");
    if (!base && !hlog_begins(&text, "#[StartTime:"))
        return;
    text.at = memchr(text.at, ':', (size_t)(text.end - text.at));
    text.at++;
    hlog_blanks(&text);
    if (!hlog_number(&text, &number))
        return;
    if (base) {
        log->base_s = number;
        log->has_base = 1;
    } else {
        log->started_s = number;
    }
}

/* The first line's time says what times of the log are counted from. */
static double hlog_time(crest_hlog_log *log, double time_s)
{
    if (!log->has_base) {
        log->base_s = time_s < log->started_s - HLOG_YEAR_S ? log->started_s : 0;
        log->has_base = 1;
    }
    return log->base_s + time_s;
}

static crest_status hlog_histogram(const hlog_text *text, crest_hlog_interval *interval,
                                   crest_error *error)
{
    size_t letters = (size_t)(text->end - text->at);
    unsigned char *bytes = malloc(letters + 1);
    if (bytes == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for a line of a log");
    crest_error inner = {.status = CREST_INVALID_ARGUMENT};
    size_t length = crest_hlog_base64_decode(text->at, letters, bytes);
    if (length == (size_t)-1)
        crest_error_set(&inner, CREST_INVALID_ARGUMENT, "its last field is no base64");
    else
        interval->distribution = crest_distribution_decode_compressed(bytes, length, &inner);
    free(bytes);
    if (interval->distribution != NULL)
        return CREST_OK;
    return crest_error_set(error, inner.status, "%s", inner.message);
}

/* What is wrong with a line, and the part of it where. */
static crest_status hlog_wrong(const hlog_text *text, const char *what, crest_error *error)
{
    char shown[HLOG_SHOWN_BYTES];
    crest_push_text_show(text->at, (size_t)(text->end - text->at), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "Not a line of an HdrHistogram log: %s at \"%s\"", what, shown);
}

crest_status crest_hlog_parse(crest_hlog_log *log, const char *line, size_t length,
                              crest_hlog_interval *interval, crest_error *error)
{
    hlog_text text = {line, line + length};
    *interval = (crest_hlog_interval){.tag = line};
    while (text.end > text.at && (text.end[-1] == '\r' || text.end[-1] == ' '))
        text.end--;
    if (text.at == text.end || *text.at == '"')
        return CREST_OK;
    if (*text.at == '#') {
        hlog_comment(log, text);
        return CREST_OK;
    }
    if (hlog_begins(&text, "Tag=")) {
        const char *tag = text.at + 4, *comma = memchr(tag, ',', (size_t)(text.end - tag));
        if (comma == NULL)
            return hlog_wrong(&text, "no comma after its tag,", error);
        interval->tag = tag;
        interval->tag_length = (size_t)(comma - tag);
        text.at = comma + 1;
    }
    if (!hlog_field(&text, &interval->start_s) || !hlog_field(&text, &interval->length_s) ||
        !hlog_field(&text, &interval->max))
        return hlog_wrong(&text, "no number and comma", error);
    hlog_blanks(&text);
    crest_status status = hlog_histogram(&text, interval, error);
    if (status == CREST_OK)
        interval->start_s = hlog_time(log, interval->start_s);
    return status;
}
