/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text. See number.h.
 */
#include "number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char number_pairs[] = "00010203040506070809"
                                   "10111213141516171819"
                                   "20212223242526272829"
                                   "30313233343536373839"
                                   "40414243444546474849"
                                   "50515253545556575859"
                                   "60616263646566676869"
                                   "70717273747576777879"
                                   "80818283848586878889"
                                   "90919293949596979899";

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

/* How many digits it has. */
static unsigned number_length(uint64_t value)
{
    static const uint64_t powers[] = {
        0,
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    /* 1233 / 4096 is the logarithm of 2 to the base of 10, near enough for 64 bits */
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), digits = bits * 1233 >> 12;
    return digits + (value >= powers[digits]);
}

/* The digits of value, without a NUL, from the last on; two at a time, because the division is what
 * costs, and in 32 bits as soon as they are enough. */
static size_t number_digits(char *text, uint64_t value)
{
    unsigned length = value == 0 ? 1 : number_length(value);
    char *at = text + length;
    while (value > UINT32_MAX) {
        at -= 2;
        memcpy(at, number_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    uint32_t rest = (uint32_t)value;
    while (rest >= 100) {
        at -= 2;
        memcpy(at, number_pairs + 2 * (rest % 100), 2);
        rest /= 100;
    }
    if (rest >= 10)
        memcpy(at - 2, number_pairs + 2 * rest, 2);
    else
        at[-1] = (char)('0' + rest);
    return length;
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
 * Finds the decimal of at most 15 digits that means `value`, if there is one: the smallest k for
 * which value * 10^k is, but for its rounding, an integer that divided by 10^k gives exactly value.
 * Both are exact doubles, so the division rounds as a reader of the decimal does; and no two
 * decimals of 15 digits mean the same double, so there is no shorter one. Returns 0 when it found
 * it, otherwise the number of digits from which it is worth looking further.
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

/* Reads what %e printed, whatever stands there for a decimal point. */
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

/* What a reader makes of it. Without a point in it, strtod does not ask the locale. */
static double number_meaning(const number_decimal *decimal)
{
    char text[NUMBER_DIGITS_MAX + 8];
    size_t length = number_digits(text, decimal->digits);
    text[length++] = 'e';
    crest_number_i64(text + length, decimal->exponent);
    return strtod(text, NULL);
}

/* Below a power of two doubles are twice as close as above it. */
static int number_is_power_of_two(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & ((UINT64_C(1) << 52) - 1)) == 0;
}

/*
 * The first of the correctly rounded decimals of `digits` to 17 digits that means `value`. Doubles
 * below the normal ones have less precision and often need few, so there the search begins at one.
 * At a power of two the decimal next above may mean it where the nearest, being below, does not:
 * 2^-44.
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
