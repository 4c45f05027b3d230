/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict reader of Prometheus' text format 0.0.4 and of OpenMetrics 1.0, written from their
 * descriptions and not from our encoder: a page that it takes, Prometheus takes. Sources:
 * prometheus.io/docs/instrumenting/exposition_formats; the OpenMetrics specification, 1.0.0
 */
#ifndef CREST_TESTS_FUZZ_PAGE_H
#define CREST_TESTS_FUZZ_PAGE_H

#include "base/utf8.h"
#include "fuzz_input.h"

#include <crest/page.h>

#define FUZZ_PAGE_LABELS_MAX 12u

typedef struct fuzz_page_label {
    char key[128];
    char value[4096];
} fuzz_page_label;

typedef struct fuzz_page_sample {
    char name[512];
    fuzz_page_label labels[FUZZ_PAGE_LABELS_MAX];
    unsigned label_count;
    double value;
} fuzz_page_sample;

typedef struct fuzz_page {
    char *text;
    size_t length;
} fuzz_page;

static int fuzz_page_take(void *context, const void *bytes, size_t length)
{
    fuzz_page *page = context;
    page->text = realloc(page->text, page->length + length + 1);
    FUZZ_WANTS(page->text != NULL);
    memcpy(page->text + page->length, bytes, length);
    page->length += length;
    page->text[page->length] = '\0';
    return 0;
}

static int fuzz_page_name_byte(char c, int first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (!first && c >= '0' && c <= '9');
}

/* A metric name or label key at *at, copied; at least one byte. */
static void fuzz_page_name(const char **at, char *name, size_t size)
{
    size_t length = 0;
    while (fuzz_page_name_byte(**at, length == 0)) {
        FUZZ_WANTS(length + 1 < size);
        name[length++] = *(*at)++;
    }
    FUZZ_WANTS(length != 0);
    name[length] = '\0';
}

/* A label's value behind its opening quote, unescaped, up to the quote that closes it. */
static void fuzz_page_value(const char **at, char *value, size_t size)
{
    size_t length = 0;
    while (**at != '"') {
        char c = *(*at)++;
        FUZZ_WANTS(c != '\0' && c != '\n');
        if (c == '\\') {
            c = *(*at)++;
            FUZZ_WANTS(c == '\\' || c == '"' || c == 'n');
            c = c == 'n' ? '\n' : c;
        }
        FUZZ_WANTS(length + 1 < size);
        value[length++] = c;
    }
    value[length] = '\0';
    (*at)++;
}

/* The rest of a HELP line. */
static void fuzz_page_help(const char *at, int openmetrics)
{
    for (; *at != '\0'; at++) {
        FUZZ_WANTS(!openmetrics || *at != '"');
        if (*at == '\\') {
            at++;
            FUZZ_WANTS(*at == '\\' || *at == 'n' || (openmetrics && *at == '"'));
        }
    }
}

static void fuzz_page_comment(const char *at)
{
    char name[512];
    int help = strncmp(at, "# HELP ", 7) == 0;
    FUZZ_WANTS(help || strncmp(at, "# TYPE ", 7) == 0);
    at += 7;
    fuzz_page_name(&at, name, sizeof name);
    FUZZ_WANTS(*at++ == ' ');
    if (help)
        fuzz_page_help(at, 0);
    else
        FUZZ_WANTS(strcmp(at, "counter") == 0 || strcmp(at, "gauge") == 0 ||
                   strcmp(at, "histogram") == 0 || strcmp(at, "untyped") == 0);
}

/* TYPE, then UNIT if it is there, then HELP, all of one name; *step is which is next. */
static void fuzz_page_metadata(const char *at, unsigned *step, char *family, size_t size)
{
    char name[512];
    const char *what = at;
    FUZZ_WANTS(strncmp(at, "# ", 2) == 0 && at[6] == ' ');
    at += 7;
    fuzz_page_name(&at, name, sizeof name);
    FUZZ_WANTS(*at++ == ' ');
    if (strncmp(what, "# TYPE", 6) == 0) {
        FUZZ_WANTS(*step == 0 && strcmp(name, family) != 0);
        FUZZ_WANTS(strcmp(at, "counter") == 0 || strcmp(at, "gauge") == 0 ||
                   strcmp(at, "histogram") == 0 || strcmp(at, "unknown") == 0);
        snprintf(family, size, "%s", name);
        *step = 1;
        return;
    }
    FUZZ_WANTS(strcmp(name, family) == 0);
    if (strncmp(what, "# UNIT", 6) == 0) {
        size_t length = strlen(name), unit = strlen(at);
        FUZZ_WANTS(*step == 1 && length > unit + 1 && name[length - unit - 1] == '_');
        FUZZ_WANTS(unit != 0 && strcmp(name + length - unit, at) == 0);
        *step = 2;
        return;
    }
    FUZZ_WANTS(strncmp(what, "# HELP", 6) == 0 && (*step == 1 || *step == 2));
    fuzz_page_help(at, 1);
    *step = 0;
}

/* The samples of the text page, which is read already, between metadata of its own and an end. */
static void fuzz_page_openmetrics(const char *text, const char *openmetrics)
{
    static char line[1 << 20];
    char family[512] = "";
    unsigned step = 0;
    for (;;) {
        size_t length = strcspn(openmetrics, "\n");
        FUZZ_WANTS(openmetrics[length] == '\n' && length != 0 && length < sizeof line);
        if (strcmp(openmetrics, "# EOF\n") == 0)
            break;
        memcpy(line, openmetrics, length);
        line[length] = '\0';
        openmetrics += length + 1;
        if (*line == '#') {
            fuzz_page_metadata(line, &step, family, sizeof family);
            continue;
        }
        FUZZ_WANTS(step == 0 && strncmp(line, family, strlen(family)) == 0);
        while (*text == '#')
            text = strchr(text, '\n') + 1;
        FUZZ_WANTS(strncmp(text, line, length) == 0 && text[length] == '\n');
        text += length + 1;
    }
    while (*text == '#')
        text = strchr(text, '\n') + 1;
    FUZZ_WANTS(*text == '\0' && step == 0);
}

static void fuzz_page_read_sample(const char *at, fuzz_page_sample *sample)
{
    sample->label_count = 0;
    fuzz_page_name(&at, sample->name, sizeof sample->name);
    if (*at == '{') {
        do {
            FUZZ_WANTS(sample->label_count < FUZZ_PAGE_LABELS_MAX);
            fuzz_page_label *label = &sample->labels[sample->label_count++];
            at++;
            fuzz_page_name(&at, label->key, sizeof label->key);
            FUZZ_WANTS(at[0] == '=' && at[1] == '"');
            at += 2;
            fuzz_page_value(&at, label->value, sizeof label->value);
        } while (*at == ',');
        FUZZ_WANTS(*at++ == '}');
    }
    FUZZ_WANTS(*at++ == ' ');
    char *end;
    sample->value = strtod(at, &end);
    FUZZ_WANTS(end != at && *end == '\0');
}

/* Writes the registry's page, reads each line of it, and gives every sample to `visit`. */
__attribute__((unused)) static void
fuzz_page_check(crest_registry *registry,
                void (*visit)(const fuzz_page_sample *sample, void *context), void *context)
{
    static fuzz_page_sample sample;
    fuzz_page page = {NULL, 0};
    crest_error error;
    FUZZ_WANTS(crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, fuzz_page_take, &page,
                                &error) == CREST_OK);
    FUZZ_WANTS(page.length == 0 || strlen(page.text) == page.length);
    FUZZ_WANTS(page.length == 0 || page.text[page.length - 1] == '\n');
    FUZZ_WANTS(page.length == 0 || crest_utf8_is_valid(page.text));
    fuzz_page openmetrics = {NULL, 0};
    FUZZ_WANTS(crest_page_write(registry, CREST_FORMAT_OPENMETRICS, fuzz_page_take, &openmetrics,
                                &error) == CREST_OK);
    FUZZ_WANTS(strlen(openmetrics.text) == openmetrics.length);
    fuzz_page_openmetrics(page.length != 0 ? page.text : "", openmetrics.text);
    free(openmetrics.text);
    for (char *line = page.text; line != NULL && *line != '\0';) {
        char *feed = strchr(line, '\n');
        *feed = '\0';
        if (*line == '#') {
            fuzz_page_comment(line);
        } else {
            fuzz_page_read_sample(line, &sample);
            visit(&sample, context);
        }
        line = feed + 1;
    }
    free(page.text);
}

#endif
