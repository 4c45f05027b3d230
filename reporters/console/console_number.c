/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people. printf's floating-point conversions ask the locale for a decimal point, so
 * digits are made of integers here. See console_number.h.
 */
#include "console/console_number.h"

#include <stdio.h>
#include <string.h>

#define CONSOLE_DIGITS 3
#define CONSOLE_DIGITS_BARE 6
#define CONSOLE_DECIMALS_MAX 6
/* From here on an exponent is shorter than the digits. */
#define CONSOLE_PLAIN_MAX 1e15

typedef struct console_unit {
    double size;
    const char *name;
} console_unit;

/* `value`, 0 or more and below CONSOLE_PLAIN_MAX, rounded to so many digits, zeros at the end left
 * out. */
static void console_digits(char text[CREST_CONSOLE_NUMBER_BYTES], double value, int digits)
{
    int decimals = digits - 1;
    for (double bound = 10; value >= bound && decimals > 0; bound *= 10)
        decimals--;
    for (double bound = 1; value < bound && value > 0 && decimals < CONSOLE_DECIMALS_MAX;
         bound /= 10)
        decimals++;
    uint64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    uint64_t scaled = (uint64_t)(value * (double)scale + 0.5);
    for (; decimals > 0 && scaled % 10 == 0; decimals--) {
        scaled /= 10;
        scale /= 10;
    }
    int length =
        snprintf(text, CREST_CONSOLE_NUMBER_BYTES, "%llu", (unsigned long long)(scaled / scale));
    if (decimals == 0)
        return;
    text[length] = '.';
    text[length + decimals + 1] = '\0';
    for (int i = decimals; i > 0; i--, scaled /= 10)
        text[length + i] = (char)('0' + scaled % 10);
}

/* The same for any value, with a sign or an exponent where that is needed. */
static void console_number(char text[CREST_CONSOLE_NUMBER_BYTES], double value, int digits)
{
    if (value != value) {
        strcpy(text, "NaN");
        return;
    }
    if (value < 0) {
        *text++ = '-';
        value = -value;
    }
    if (value > 1.7976931348623157e308) {
        strcpy(text, "Inf");
        return;
    }
    int exponent = 0;
    if (value >= CONSOLE_PLAIN_MAX)
        for (; value >= 10; value /= 10)
            exponent++;
    char plain[CREST_CONSOLE_NUMBER_BYTES];
    console_digits(plain, value, digits);
    snprintf(text, CREST_CONSOLE_NUMBER_BYTES - 1, exponent > 0 ? "%.16se+%d" : "%.16s", plain,
             exponent);
}

/* The largest unit in which the value is at least 1, after rounding. */
static const console_unit *console_unit_of(const console_unit *units, size_t count, double value)
{
    double size = value < 0 ? -value : value;
    const console_unit *unit = units;
    for (size_t i = 1; i < count && size >= units[i].size * 0.9995; i++)
        unit = &units[i];
    return unit;
}

static void console_in_unit(char text[CREST_CONSOLE_NUMBER_BYTES], double value, crest_unit unit,
                            const char *after)
{
    static const console_unit times[] = {
        {1, " ns"}, {1e3, " \xc2\xb5s"}, {1e6, " ms"}, {1e9, " s"}};
    static const console_unit bytes[] = {{1, " B"},
                                         {1024.0, " KiB"},
                                         {1048576.0, " MiB"},
                                         {1073741824.0, " GiB"},
                                         {1099511627776.0, " TiB"},
                                         {1125899906842624.0, " PiB"}};
    static const console_unit bare = {1, ""};
    const console_unit *chosen = &bare;
    int digits = CONSOLE_DIGITS;
    switch (unit) {
    case CREST_SECONDS: value *= 1e9; break;
    case CREST_MILLISECONDS: value *= 1e6; break;
    case CREST_MICROSECONDS: value *= 1e3; break;
    default: break;
    }
    switch (unit) {
    case CREST_SECONDS:
    case CREST_MILLISECONDS:
    case CREST_MICROSECONDS:
    case CREST_NANOSECONDS:
        chosen = console_unit_of(times, sizeof times / sizeof *times, value);
        break;
    case CREST_BYTES: chosen = console_unit_of(bytes, sizeof bytes / sizeof *bytes, value); break;
    default: digits = *after != '\0' ? CONSOLE_DIGITS : CONSOLE_DIGITS_BARE; break;
    }
    char number[CREST_CONSOLE_NUMBER_BYTES];
    console_number(number, value / chosen->size, digits);
    snprintf(text, CREST_CONSOLE_NUMBER_BYTES, "%.22s%s%s", number, chosen->name, after);
}

void crest_console_quantity(char text[CREST_CONSOLE_NUMBER_BYTES], double value, crest_unit unit)
{
    console_in_unit(text, value, unit, "");
}

void crest_console_rate(char text[CREST_CONSOLE_NUMBER_BYTES], double per_second, crest_unit unit)
{
    console_in_unit(text, per_second, unit, "/s");
}

void crest_console_count(char text[CREST_CONSOLE_NUMBER_BYTES], uint64_t value, crest_unit unit)
{
    if (unit == CREST_NONE || unit == CREST_RATIO)
        snprintf(text, CREST_CONSOLE_NUMBER_BYTES, "%llu", (unsigned long long)value);
    else
        console_in_unit(text, (double)value, unit, "");
}
