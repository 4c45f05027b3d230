/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text. See number.h.
 */
#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t number_end(char *text, size_t length)
{
    text[length] = '\0';
    return length;
}

static size_t number_text(char *text, const char *word)
{
    size_t length = strlen(word);
    memcpy(text, word, length + 1);
    return length;
}

/* Digits of a 64-bit number. */
#define NUMBER_DIGITS_MAX 20

/* A number of at most eight digits goes through one word, a digit a byte. */
#define NUMBER_GROUP UINT64_C(100000000)
#define NUMBER_GROUP_DIGITS 8u

/* Its eight digits, the first in the lowest byte. Divides halves, quarters and eighths of the word
 * all at once, by multiplying with a reciprocal that is precise enough for so few digits. */
static inline uint64_t number_group(uint64_t value)
{
    uint64_t fours = value / 10000 | (value % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (twos - tens * 10) << 8;
}

static inline void number_group_store(char *text, uint64_t digits)
{
    digits |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    digits = __builtin_bswap64(digits);
#endif
    memcpy(text, &digits, sizeof digits);
}

/* A group without leading zeros; writes all eight bytes and returns how many are digits. */
static inline size_t number_group_first(char *text, uint64_t value)
{
    uint64_t digits = number_group(value);
    /* the last digit counts, be it 0; there is no branch on how many digits there are */
    unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) & 56u;
    number_group_store(text, (digits | UINT64_C(0x3030303030303030)) >> zeros);
    return NUMBER_GROUP_DIGITS - zeros / 8;
}

/* The digits of value, without a NUL; touches as many bytes as it has digits, and at least
 * NUMBER_GROUP_DIGITS. */
static size_t number_digits(char *text, uint64_t value)
{
    if (value < NUMBER_GROUP)
        return number_group_first(text, value);
    uint64_t rest = value / NUMBER_GROUP;
    size_t length = number_digits(text, rest);
    number_group_store(text + length, number_group(value - rest * NUMBER_GROUP));
    return length + NUMBER_GROUP_DIGITS;
}

size_t crest_number_u64(char *text, uint64_t value)
{
    return number_end(text, number_digits(text, value));
}

size_t crest_number_i64(char *text, int64_t value)
{
    if (value >= 0)
        return crest_number_u64(text, (uint64_t)value);
    text[0] = '-';
    return 1 + crest_number_u64(text + 1, 0 - (uint64_t)value);
}

size_t crest_number_scaled(char *text, uint64_t value, unsigned decimals)
{
    if (decimals == 0)
        return crest_number_u64(text, value);
    uint64_t scale = 1;
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    uint64_t part = value % scale;
    size_t length = number_digits(text, value / scale);
    if (part == 0)
        return number_end(text, length);
    while (part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    char digits[NUMBER_DIGITS_MAX];
    size_t count = number_digits(digits, part);
    text[length++] = '.';
    memset(text + length, '0', decimals - count);
    length += decimals - count;
    memcpy(text + length, digits, count);
    return number_end(text, length + count);
}

/* A positive double as digits times ten to a power, the digits not ending in 0. */
typedef struct number_decimal {
    uint64_t digits;
    int exponent;
} number_decimal;

static const double number_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
/* Powers of ten up to this one are exact doubles. */
#define NUMBER_POWER_MAX 22
/* Any decimal of so many digits survives the way into a double and back. */
#define NUMBER_SAFE_DIGITS 15
#define NUMBER_SAFE 1e15
/* Digits that tell any two doubles apart, and the smallest double whose precision is full. */
#define NUMBER_DOUBLE_DIGITS 17
#define NUMBER_NORMAL_MIN 0x1p-1022

/*
 * The decimal of at most 15 digits that means `value`, if there is one. It takes the smallest k for
 * which value * 10^k, rounded, is an integer that divided by 10^k gives exactly value.
 *
 * Why that is the shortest: integer and power are exact doubles, so the division rounds as a reader
 * of the decimal does; and no two decimals of 15 digits mean the same double.
 *
 * Returns 0 when found, otherwise the number of digits at which a longer search should begin.
 */
static int number_decimal_short(double value, number_decimal *decimal)
{
    if (value < 0x1p53 && value == (double)(uint64_t)value) {
        decimal->digits = (uint64_t)value;
        decimal->exponent = 0;
        return 0;
    }
    for (int k = 1; k <= NUMBER_POWER_MAX; k++) {
        double product = value * number_powers[k];
        if (product >= NUMBER_SAFE)
            return k > 1 ? NUMBER_SAFE_DIGITS + 1 : NUMBER_SAFE_DIGITS;
        uint64_t whole = (uint64_t)(product + 0.5);
        if ((double)whole / number_powers[k] == value) {
            decimal->digits = whole;
            decimal->exponent = -k;
            return 0;
        }
    }
    return value < NUMBER_NORMAL_MIN ? 1 : NUMBER_SAFE_DIGITS;
}

/* Reads the output of %e, with any decimal point. */
static number_decimal number_read(const char *text)
{
    number_decimal decimal = {0, 0};
    int fraction = 0, digits = 0;
    for (; *text != 'e' && *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        decimal.digits = decimal.digits * 10 + (uint64_t)(*text - '0');
        fraction = digits++;
    }
    decimal.exponent = (*text == 'e' ? atoi(text + 1) : 0) - fraction;
    return decimal;
}

/* The double that a reader makes of it. Without a point in the text strtod does not ask the locale.
 */
static double number_meaning(const number_decimal *decimal)
{
    char text[NUMBER_DIGITS_MAX + 2 + NUMBER_GROUP_DIGITS];
    size_t length = number_digits(text, decimal->digits);
    text[length++] = 'e';
    crest_number_i64(text + length, decimal->exponent);
    return strtod(text, NULL);
}

/* Below a power of two doubles lie twice as close as above it. */
static int number_is_power_of_two(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & ((UINT64_C(1) << 52) - 1)) == 0;
}

/*
 * The first of the correctly rounded decimals of `digits` to 17 digits that means `value`.
 * Subnormal doubles have less precision and often need few digits, so there the search begins at
 * one. At a power of two the next decimal above may mean it where the nearest, being below, does
 * not: 2^-44.
 */
static number_decimal number_decimal_long(double value, int digits)
{
    int kept = errno; /* strtod reports subnormal results */
    number_decimal decimal = {0, 0};
    for (; digits <= NUMBER_DOUBLE_DIGITS; digits++) {
        char text[2 * CREST_NUMBER_BYTES_MAX];
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        decimal = number_read(text);
        if (number_meaning(&decimal) == value)
            break;
        decimal.digits++;
        if (number_is_power_of_two(value) && number_meaning(&decimal) == value)
            break;
    }
    errno = kept;
    return decimal;
}

static number_decimal number_decimal_of(double value)
{
    number_decimal decimal;
    int digits = number_decimal_short(value, &decimal);
    if (digits != 0)
        decimal = number_decimal_long(value, digits);
    while (decimal.digits != 0 && decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    return decimal;
}

/* d.ddde±xx, the exponent of at least two digits. */
static size_t number_scientific(char *text, const char *digits, size_t count, int exponent)
{
    size_t length = 0;
    text[length++] = digits[0];
    if (count > 1) {
        text[length++] = '.';
        memcpy(text + length, digits + 1, count - 1);
        length += count - 1;
    }
    text[length++] = 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    uint64_t size = (uint64_t)(exponent < 0 ? -exponent : exponent);
    if (size < 10)
        text[length++] = '0';
    return length + number_digits(text + length, size);
}

/* The digits with the point where it belongs: `exponent` is that of the first digit. */
static size_t number_plain(char *text, const char *digits, size_t count, int exponent)
{
    size_t length = 0;
    if (exponent < 0) {
        text[length++] = '0';
        text[length++] = '.';
        for (int i = -1; i > exponent; i--)
            text[length++] = '0';
        memcpy(text + length, digits, count);
        return length + count;
    }
    size_t whole = (size_t)exponent + 1;
    if (count <= whole) {
        memcpy(text, digits, count);
        memset(text + count, '0', whole - count);
        return whole;
    }
    memcpy(text, digits, whole);
    text[whole] = '.';
    memcpy(text + whole + 1, digits + whole, count - whole);
    return count + 1;
}

/* Where a form turns to exponents. */
typedef struct number_form {
    int exponent_min, exponent_max; /* of the first digit, in plain decimals */
    const char *whole;              /* what follows a plain integer */
} number_form;

static size_t number_print(char *text, double value, const number_form *form)
{
    if (value != value)
        return number_text(text, "NaN");
    size_t sign = 0;
    if (__builtin_signbit(value)) {
        text[sign++] = '-';
        value = -value;
    }
    if (value > 0x1.fffffffffffffp1023)
        return number_text(text, sign != 0 ? "-Inf" : "+Inf");

    number_decimal decimal = number_decimal_of(value);
    char digits[NUMBER_DIGITS_MAX];
    size_t count = number_digits(digits, decimal.digits);
    int exponent = decimal.exponent + (int)count - 1;
    text += sign;
    if (exponent < form->exponent_min || exponent > form->exponent_max)
        return number_end(text, number_scientific(text, digits, count, exponent)) + sign;
    size_t length = number_plain(text, digits, count, exponent);
    if ((int)count <= exponent + 1)
        length += number_text(text + length, form->whole);
    return number_end(text, length) + sign;
}

size_t crest_number_double(char *text, double value)
{
    static const number_form form = {-5, 20, ""};
    return number_print(text, value, &form);
}

size_t crest_number_bound(char *text, double value)
{
    static const number_form form = {-4, 5, ".0"};
    return number_print(text, value, &form);
}
