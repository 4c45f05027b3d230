/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of crest_start: any text, in a string and in a file. A list that was read is sorted,
 * valid, and the same again when it is written out and read.
 */
#define _GNU_SOURCE
#include "base/utf8.h"
#include "fuzz_input.h"
#include "run/options.h"

#include <sys/mman.h>
#include <unistd.h>

static void check_error(crest_status status, const crest_error *error)
{
    FUZZ_WANTS(status == CREST_OK || status == CREST_INVALID_OPTIONS);
    if (status == CREST_OK)
        return;
    FUZZ_WANTS(error->status == status);
    FUZZ_WANTS(error->message[0] != '\0' && strlen(error->message) < CREST_ERROR_BYTES);
    FUZZ_WANTS(crest_utf8_is_valid(error->message));
    for (const char *at = error->message; *at != '\0'; at++)
        FUZZ_WANTS((unsigned char)*at >= ' ' || *at == '\t');
}

/* A message about a value is in order, and a value that was read is in its bounds. */
static void check_values(const crest_options *options, const char *key)
{
    crest_error error;
    uint64_t duration_ms = 1;
    crest_status status = crest_option_duration_ms(options, key, &duration_ms, &error);
    check_error(status, &error);
    FUZZ_WANTS(status != CREST_OK || duration_ms <= CREST_OPTION_DURATION_MS_MAX);
    double fraction = 0.5;
    status = crest_option_fraction(options, key, &fraction, &error);
    check_error(status, &error);
    FUZZ_WANTS(fraction >= 0 && fraction <= 1);
    int on = 0;
    check_error(crest_option_switch(options, key, &on, &error), &error);
    FUZZ_WANTS(on == 0 || on == 1);
}

/* Every option as key="value"; returns how many bytes that takes. */
static size_t write_options(const crest_options *options, char *text)
{
    size_t cursor = 0, length = 0;
    const char *key, *value;
    while (crest_option_next(options, "", &cursor, &key, &value)) {
        length += (size_t)sprintf(text + length, "%s=\"", key);
        for (const char *at = value; *at != '\0'; at++) {
            if (*at == '"' || (at[0] == '$' && at[1] == '{'))
                text[length++] = *at;
            text[length++] = *at;
        }
        length += (size_t)sprintf(text + length, "\",");
    }
    text[length] = '\0';
    return length;
}

static void check_again(const crest_options *options, size_t bytes)
{
    char *text = malloc(2 * bytes + 1);
    FUZZ_WANTS(text != NULL);
    if (write_options(options, text) <= CREST_OPTIONS_BYTES_MAX) {
        crest_options *again = crest_options_new();
        crest_error error;
        FUZZ_WANTS(again != NULL);
        FUZZ_WANTS(crest_options_add(again, text, "written", &error) == CREST_OK);
        size_t one = 0, other = 0;
        const char *keys[2], *values[2];
        while (crest_option_next(options, "", &one, &keys[0], &values[0])) {
            FUZZ_WANTS(crest_option_next(again, "", &other, &keys[1], &values[1]));
            FUZZ_WANTS(strcmp(keys[0], keys[1]) == 0 && strcmp(values[0], values[1]) == 0);
        }
        FUZZ_WANTS(!crest_option_next(again, "", &other, &keys[1], &values[1]));
        crest_options_free(again);
    }
    free(text);
}

static void check_list(const crest_options *options)
{
    static const char *const known[] = {"service", "interval", "pushgateway", "pushgateway."};
    size_t cursor = 0, bytes = 0, count = 0;
    const char *key, *value, *before = "";
    while (crest_option_next(options, "", &cursor, &key, &value)) {
        FUZZ_WANTS(strcmp(before, key) < 0);
        FUZZ_WANTS(strlen(key) <= CREST_OPTION_KEY_BYTES_MAX);
        FUZZ_WANTS(strlen(value) <= CREST_OPTION_VALUE_BYTES_MAX);
        FUZZ_WANTS(crest_utf8_is_valid(value) && strchr(value, '\n') == NULL);
        FUZZ_WANTS(crest_option(options, key) == value);
        FUZZ_WANTS(crest_option_origin(options, key) != NULL);
        if (count++ < 8)
            check_values(options, key);
        before = key;
        bytes += strlen(key) + 2 * strlen(value) + 8;
    }
    FUZZ_WANTS(count <= CREST_OPTION_COUNT_MAX);
    crest_error error;
    check_error(crest_options_check_keys(options, known, sizeof known / sizeof *known, &error),
                &error);
    check_again(options, bytes);
}

/* As text after "@": a file that is in memory, so that no other file is ever read. */
static crest_status add_file(crest_options *options, const char *text, crest_error *error)
{
    char path[64];
    int file = memfd_create("options", 0);
    FUZZ_WANTS(file >= 0);
    FUZZ_WANTS(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "@/proc/self/fd/%d", file);
    crest_status status = crest_options_add(options, path, "in the fuzzer", error);
    close(file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    char *string = fuzz_text(&input), *file = fuzz_text(&input);
    for (char *at = string; *at != '\0'; at++)
        if (*at == '@')
            *at = 'a';
    crest_options *options = crest_options_new();
    crest_error error;
    FUZZ_WANTS(options != NULL);
    check_error(crest_options_add(options, string, "in the string", &error), &error);
    check_list(options);
    check_error(add_file(options, file, &error), &error);
    check_list(options);
    crest_options_free(options);
    free(string);
    free(file);
    return 0;
}
