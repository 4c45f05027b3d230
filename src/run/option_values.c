/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of options as durations, switches, fractions and bytes. Digits are read here by hand:
 * strtod and its relatives ask the locale what a decimal point looks like. See options.h.
 */
#include "base/utf8.h"
#include "run/options.h"

#include <string.h>

/* Bytes of a bad value that a message repeats. */
#define OPTION_SHOWN_BYTES 80

/* More decimals than this are not read: a microsecond, in seconds. */
#define OPTION_DECIMALS_MAX 6

/* Reads digits[.digits] as millionths and moves *at behind it; 0 when there is none or too much. */
static int option_read_millionths(const char **at, uint64_t *millionths)
{
    uint64_t whole = 0, part = 0, scale = 1000000;
    const char *p = *at;
    if (*p < '0' || *p > '9')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (whole > CREST_OPTION_DURATION_MS_MAX)
            return 0;
        whole = whole * 10 + (uint64_t)(*p - '0');
    }
    if (*p == '.') {
        const char *point = p++;
        for (; *p >= '0' && *p <= '9'; p++) {
            if (p - point > OPTION_DECIMALS_MAX)
                return 0;
            scale /= 10;
            part += scale * (uint64_t)(*p - '0');
        }
        if (p == point + 1)
            return 0;
    }
    if (whole > CREST_OPTION_DURATION_MS_MAX)
        return 0;
    *millionths = whole * 1000000 + part;
    *at = p;
    return 1;
}

static crest_status option_refuse(const crest_options *options, const char *key, const char *what,
                                  crest_error *error)
{
    const char *text = crest_option(options, key);
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%.*s %s is not %s", key,
                           (int)crest_utf8_cut(text, strlen(text), OPTION_SHOWN_BYTES), text,
                           crest_option_origin(options, key), what);
}

crest_status crest_option_duration_ms(const crest_options *options, const char *key,
                                      uint64_t *value, crest_error *error)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    uint64_t millionths;
    if (option_read_millionths(&text, &millionths)) {
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (strcmp(text, units[i].name) != 0)
                continue;
            /* not ms * millionths first: that could be more than 64 bits hold */
            uint64_t whole = millionths / 1000000, part = millionths % 1000000;
            if (whole > CREST_OPTION_DURATION_MS_MAX / units[i].ms)
                break;
            *value = whole * units[i].ms + part * units[i].ms / 1000000;
            return CREST_OK;
        }
    }
    return option_refuse(options, key, "a duration: write 250ms, 10s, 5m or 1h", error);
}

crest_status crest_option_switch(const crest_options *options, const char *key, int *value,
                                 crest_error *error)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2;
            return CREST_OK;
        }
    }
    return option_refuse(options, key, "a switch: write on or off", error);
}

crest_status crest_option_fraction(const crest_options *options, const char *key, double *value,
                                   crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    uint64_t millionths;
    if (!option_read_millionths(&text, &millionths) || *text != '\0' || millionths > 1000000)
        return option_refuse(options, key, "a number from 0 to 1", error);
    *value = (double)millionths / 1e6;
    return CREST_OK;
}

crest_status crest_option_bytes(const crest_options *options, const char *key, uint64_t least,
                                uint64_t most, const char *what, uint64_t *value,
                                crest_error *error)
{
    static const struct {
        const char *unit;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    size_t digits = strspn(text, "0123456789");
    uint64_t number = 0;
    for (size_t i = 0; i < digits && number <= most; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    for (size_t i = 0; digits != 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].unit) != 0 || number > most >> units[i].shift ||
            number << units[i].shift < least)
            continue;
        *value = number << units[i].shift;
        return CREST_OK;
    }
    return option_refuse(options, key, what, error);
}
