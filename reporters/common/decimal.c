/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimals of numbers. See decimal.h.
 */
#include "common/decimal.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Any two doubles differ within so many digits. */
#define DECIMAL_DIGITS_MAX 17
/* Zeros written out before an exponent takes over; a rate is 2^-63 or more. */
#define DECIMAL_ZEROS_MAX 6
#define DECIMAL_RATE_ZEROS_MAX 20
/* Weights above are not exact as doubles. */
#define DECIMAL_EXACT (UINT64_C(1) << 53)

/* 0.DIGITS times ten to the exponent. */
typedef struct decimal_parts {
    char digits[DECIMAL_DIGITS_MAX + 1];
    int count;
    int exponent;
} decimal_parts;

/* The shortest digits of a positive, finite value. The locale's point may be any text, so digits
 * are picked out of printf's output. */
static void decimal_of(double value, decimal_parts *decimal)
{
    char text[64];
    /* the 15 digits that any double keeps, less where it has lost precision */
    int precision = value < DBL_MIN ? 0 : DECIMAL_DIGITS_MAX - 3;
    do {
        snprintf(text, sizeof text, "%.*e", precision, value);
    } while (strtod(text, NULL) != value && ++precision < DECIMAL_DIGITS_MAX);
    decimal->count = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9' && decimal->count < DECIMAL_DIGITS_MAX)
            decimal->digits[decimal->count++] = *at;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
    decimal->exponent = (int)strtol(at + 1, NULL, 10) + 1;
}

static size_t decimal_zeros(char *text, int count)
{
    if (count > 0)
        memset(text, '0', (size_t)count);
    return count > 0 ? (size_t)count : 0;
}

/* Without an exponent, with at most `zeros_max` zeros that are no digits; 0 if that is too few. */
static size_t decimal_plain(const decimal_parts *decimal, int zeros_max, char *text)
{
    size_t length = 0, count = (size_t)decimal->count;
    int point = decimal->exponent;
    if (-point > zeros_max || point - decimal->count > zeros_max)
        return 0;
    if (point <= 0) {
        memcpy(text, "0.", 2);
        length = 2 + decimal_zeros(text + 2, -point);
        memcpy(text + length, decimal->digits, count);
        return length + count;
    }
    if (point >= decimal->count) {
        memcpy(text, decimal->digits, count);
        return count + decimal_zeros(text + count, point - decimal->count);
    }
    memcpy(text, decimal->digits, (size_t)point);
    text[point] = '.';
    memcpy(text + point + 1, decimal->digits + point, count - (size_t)point);
    return count + 1;
}

static size_t decimal_exponent(const decimal_parts *decimal, char *text, size_t size)
{
    int more = decimal->count > 1;
    return (size_t)snprintf(text, size, "%c%s%.*se%d", decimal->digits[0], more ? "." : "",
                            decimal->count - 1, decimal->digits + 1, decimal->exponent - 1);
}

size_t crest_decimal_shortest(char text[CREST_DECIMAL_BYTES], double value)
{
    size_t length = 0;
    if (value - value != 0)
        return 0;
    if (value == 0) {
        memcpy(text, "0", 2);
        return 1;
    }
    if (value < 0) {
        text[length++] = '-';
        value = -value;
    }
    decimal_parts decimal;
    decimal_of(value, &decimal);
    size_t plain = decimal_plain(&decimal, DECIMAL_ZEROS_MAX, text + length);
    length += plain != 0 ? plain
                         : decimal_exponent(&decimal, text + length, CREST_DECIMAL_BYTES - length);
    text[length] = '\0';
    return length;
}

size_t crest_decimal_scaled(char text[CREST_DECIMAL_BYTES], uint64_t value, unsigned decimals)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    int length = snprintf(text, CREST_DECIMAL_BYTES, "%llu", (unsigned long long)(value / scale));
    if (value % scale == 0)
        return (size_t)length;
    length += snprintf(text + length, CREST_DECIMAL_BYTES - (size_t)length, ".%0*llu",
                       (int)decimals, (unsigned long long)(value % scale));
    while (text[length - 1] == '0')
        text[--length] = '\0';
    return (size_t)length;
}

/*
 * The double whose reciprocal is the weight; 0 if there is none. Where the weight's mantissa is
 * above the root of two, reciprocals of neighbours are further apart than weights, and some are
 * left out, a sixth of all. No neighbour of 1/weight helps there, as a trial of the first million
 * weights showed.
 */
static double decimal_reciprocal(uint64_t weight)
{
    if (weight == 0 || weight > DECIMAL_EXACT)
        return 0;
    /* volatile: what a server computes has been rounded to a double in between */
    volatile double rate = 1.0 / (double)weight;
    volatile double back = 1.0 / rate;
    return back == (double)weight ? rate : 0;
}

size_t crest_decimal_rate(char text[CREST_DECIMAL_BYTES], uint64_t weight)
{
    double rate = decimal_reciprocal(weight);
    if (rate == 0)
        return 0;
    decimal_parts decimal;
    decimal_of(rate, &decimal);
    size_t length = decimal_plain(&decimal, DECIMAL_RATE_ZEROS_MAX, text);
    text[length] = '\0';
    return length;
}

uint64_t crest_decimal_weight(uint64_t weight)
{
    if (weight > DECIMAL_EXACT)
        weight = DECIMAL_EXACT;
    while (weight > 0 && decimal_reciprocal(weight) == 0)
        weight--;
    return weight;
}
