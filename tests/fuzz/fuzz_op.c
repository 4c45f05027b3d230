/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of operations from any bytes, hexadecimal digits and texts, and how they are shown.
 */
#include "base/utf8.h"
#include "fuzz_input.h"

#include <crest/op.h>

/* Every size that a text may be given: never more than fits, always the beginning of the whole. */
static void check_format(const crest_op *op)
{
    char whole[CREST_OP_TEXT_BYTES];
    size_t length = crest_op_format(op, whole, sizeof whole);
    FUZZ_WANTS(length < sizeof whole && strlen(whole) <= length);
    FUZZ_WANTS(whole[length] == '\0');
    for (size_t size = 1; size <= length + 2 && size <= sizeof whole; size++) {
        char *cut = malloc(size);
        FUZZ_WANTS(cut != NULL);
        size_t kept = crest_op_format(op, cut, size);
        FUZZ_WANTS(kept < size && cut[kept] == '\0');
        FUZZ_WANTS(kept <= length && memcmp(cut, whole, kept) == 0);
        FUZZ_WANTS(size <= length || kept == length);
        free(cut);
    }
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at;
    c = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* The same bytes by way of their digits are the same operation. */
static void check_bytes(const uint8_t *data, size_t size)
{
    crest_op op = crest_op_bytes(data, size);
    FUZZ_WANTS((op.kind == CREST_OP_NONE) == (size == 0));
    FUZZ_WANTS(size == 0 || (op.kind == CREST_OP_BYTES && op.length == (uint32_t)size));
    char *digits = malloc(2 * size + 1);
    FUZZ_WANTS(digits != NULL);
    for (size_t i = 0; i < size; i++) {
        digits[2 * i] = "0123456789abcdef"[data[i] >> 4];
        digits[2 * i + 1] = "0123456789ABCDEF"[data[i] & 15];
    }
    digits[2 * size] = '\0';
    crest_op same = crest_op_hex(digits);
    FUZZ_WANTS(crest_op_equal(&op, &same));
    free(digits);
    check_format(&op);
}

/* Any text as digits: an identity exactly if it is made of pairs of them. */
static void check_hex(const char *text)
{
    size_t length = strlen(text), valid = 0;
    while (valid < length && hex_digit(text[valid]) >= 0)
        valid++;
    crest_op op = crest_op_hex(text);
    FUZZ_WANTS((op.kind != CREST_OP_NONE) == (length != 0 && valid == length && length % 2 == 0));
    if (op.kind == CREST_OP_NONE)
        return;
    uint8_t *bytes = malloc(length / 2);
    FUZZ_WANTS(bytes != NULL);
    for (size_t i = 0; i < length / 2; i++)
        bytes[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    crest_op same = crest_op_bytes(bytes, length / 2);
    FUZZ_WANTS(crest_op_equal(&op, &same));
    free(bytes);
}

static void check_text(const char *text)
{
    crest_op op = crest_op_text(text);
    FUZZ_WANTS((op.kind == CREST_OP_NONE) == (text[0] == '\0'));
    check_format(&op);
    char shown[CREST_OP_TEXT_BYTES];
    crest_op_format(&op, shown, sizeof shown);
    if (crest_utf8_is_valid(text)) {
        FUZZ_WANTS(crest_utf8_is_valid(shown));
        for (size_t size = 1; size < sizeof shown; size++) {
            crest_op_format(&op, shown, size);
            FUZZ_WANTS(crest_utf8_is_valid(shown));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    check_bytes(data, size);
    char *first = fuzz_text(&input), *second = fuzz_text(&input);
    check_hex(first);
    check_text(first);
    crest_op a = crest_op_text(first), b = crest_op_text(second);
    FUZZ_WANTS(crest_op_equal(&a, &b) == (strcmp(first, second) == 0));
    crest_op numbers = crest_op_u64x2(a.word[0], b.word[0]), number = crest_op_u64(a.word[0]);
    check_format(&numbers);
    check_format(&number);
    FUZZ_WANTS(!crest_op_equal(&numbers, &number));
    free(first);
    free(second);
    return 0;
}
