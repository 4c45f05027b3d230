/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of operations that are longer than an integer, and the texts of outcomes. See
 * <crest/op.h> and <crest/timer.h>.
 */
#define _GNU_SOURCE
#include <crest/op.h>
#include <crest/timer.h>

#include "base/siphash.h"

#include <stdio.h>
#include <string.h>

crest_op crest_op_bytes(const void *bytes, size_t length)
{
    crest_op op = {{0, 0, 0, 0}, (uint32_t)length, CREST_OP_BYTES};
    if (bytes == NULL || length == 0)
        return (crest_op){{0, 0, 0, 0}, 0, CREST_OP_NONE};
    if (length <= CREST_OP_EXACT_BYTES) {
        memcpy(op.word, bytes, length);
        return op;
    }
    memcpy(op.word, bytes, CREST_OP_PREFIX_BYTES);
    crest_siphash128(bytes, length, &op.word[2]);
    return op;
}

crest_op crest_op_text(const char *text)
{
    crest_op op = crest_op_bytes(text, text ? strlen(text) : 0);
    if (op.kind != CREST_OP_NONE)
        op.kind = CREST_OP_TEXT;
    return op;
}

static int op_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

crest_op crest_op_hex(const char *digits)
{
    crest_op none = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    size_t count = digits ? strlen(digits) : 0;
    if (count == 0 || count % 2 != 0)
        return none;
    unsigned char exact[CREST_OP_EXACT_BYTES];
    crest_siphash hash;
    crest_siphash_begin(&hash);
    for (size_t i = 0; i < count; i += 2) {
        int high = op_digit(digits[i]), low = op_digit(digits[i + 1]);
        if (high < 0 || low < 0)
            return none;
        unsigned char byte = (unsigned char)(high << 4 | low);
        if (i / 2 < sizeof exact)
            exact[i / 2] = byte;
        crest_siphash_byte(&hash, byte);
    }
    if (count / 2 <= sizeof exact)
        return crest_op_bytes(exact, count / 2);
    crest_op op = {{0, 0, 0, 0}, (uint32_t)(count / 2), CREST_OP_BYTES};
    memcpy(op.word, exact, CREST_OP_PREFIX_BYTES);
    crest_siphash_end(&hash, &op.word[2]);
    return op;
}

/* Digits of a number, base 10 or 16, without stdio, which signal handlers may not use. */
static size_t op_put_number(char *text, uint64_t number, unsigned base)
{
    char digits[20];
    size_t count = 0, at = 0;
    do
        digits[count++] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    while (count != 0)
        text[at++] = digits[--count];
    return at;
}

/* The length of the bytes without a character cut in the middle at their end. */
static size_t op_whole_characters(const char *text, size_t length)
{
    size_t lead = length;
    while (lead != 0 && length - lead < 3 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
        lead--;
    unsigned char first = lead != 0 ? (unsigned char)text[lead - 1] : 0;
    size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return first >= 0xc0 && length - (lead - 1) < bytes ? lead - 1 : length;
}

/* The kept bytes as text, or as hexadecimal digits; an ellipsis if bytes were dropped. */
static size_t op_put_bytes(const crest_op *op, char *text)
{
    const unsigned char *bytes = (const unsigned char *)op->word;
    size_t kept = op->length <= CREST_OP_EXACT_BYTES ? op->length : CREST_OP_PREFIX_BYTES, at = 0;
    if (op->kind == CREST_OP_TEXT) {
        memcpy(text, bytes, kept);
        at = kept < op->length ? op_whole_characters(text, kept) : kept;
    } else {
        text[at++] = '0';
        text[at++] = 'x';
        for (size_t i = 0; i < kept; i++) {
            text[at++] = "0123456789abcdef"[bytes[i] >> 4];
            text[at++] = "0123456789abcdef"[bytes[i] & 15];
        }
    }
    if (kept < op->length) {
        memcpy(text + at, "\xe2\x80\xa6", 3);
        at += 3;
    }
    return at;
}

size_t crest_op_format(const crest_op *op, char *text, size_t size)
{
    char whole[CREST_OP_TEXT_BYTES];
    size_t length = 0;
    if (size == 0)
        return 0;
    switch (op->kind) {
    case CREST_OP_U64: length = op_put_number(whole, op->word[0], 10); break;
    case CREST_OP_U64X2:
        length = op_put_number(whole, op->word[0], 10);
        whole[length++] = ':';
        length += op_put_number(whole + length, op->word[1], 10);
        break;
    case CREST_OP_BYTES:
    case CREST_OP_TEXT: length = op_put_bytes(op, whole); break;
    default: whole[length++] = '-';
    }
    if (length > size - 1)
        length = op_whole_characters(whole, size - 1);
    memcpy(text, whole, length);
    text[length] = '\0';
    return length;
}

const char *crest_outcome_text(crest_outcome outcome)
{
    static const char *const texts[] = {"ok", "error", "timeout", "cancelled"};
    return (unsigned)outcome < CREST_OUTCOME_COUNT ? texts[outcome] : NULL;
}
