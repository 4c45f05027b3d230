/* SPDX-License-Identifier: Apache-2.0 */
/* What op.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_OP_OFF_H
#define CREST_OP_OFF_H

#pragma GCC system_header

#include <stdio.h>

CREST_BEGIN_C

/* Pure: one that only goes to a function that does nothing is not even made. */
#define CREST_OFF_PURE_ __attribute__((pure))

/* Identities stay identities, since programs compare them. Of a long one the hash is another than
 * the library's, which is nowhere but in one process. */
CREST_API CREST_OFF_PURE_ crest_op crest_off_op(const void *bytes, size_t length,
                                                crest_op_kind kind)
{
    crest_op op = {{0, 0, 0, 0}, (uint32_t)length, (uint32_t)kind};
    const unsigned char *from = (const unsigned char *)bytes;
    if (bytes == NULL || length > UINT32_MAX)
        return crest_op_none();
    if (length <= CREST_OP_EXACT_BYTES) {
        __builtin_memcpy(op.word, bytes, length);
        return op;
    }
    __builtin_memcpy(op.word, bytes, CREST_OP_PREFIX_BYTES);
    op.word[2] = UINT64_C(14695981039346656037); /* FNV-1a, and the same of other constants */
    op.word[3] = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < length; i++) {
        op.word[2] = (op.word[2] ^ from[i]) * UINT64_C(1099511628211);
        op.word[3] = (op.word[3] ^ from[i]) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    return op;
}

CREST_API CREST_OFF_PURE_ crest_op crest_op_bytes(const void *bytes, size_t length)
{
    return crest_off_op(bytes, length, CREST_OP_BYTES);
}

CREST_API CREST_OFF_PURE_ crest_op crest_op_text(const char *text)
{
    return crest_off_op(text, text != NULL ? __builtin_strlen(text) : 0, CREST_OP_TEXT);
}

CREST_API CREST_OFF_PURE_ int crest_off_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Of more than CREST_OP_EXACT_BYTES bytes there is no buffer for them all, and so no operation. */
CREST_API CREST_OFF_PURE_ crest_op crest_op_hex(const char *digits)
{
    unsigned char bytes[CREST_OP_EXACT_BYTES];
    size_t length = digits != NULL ? __builtin_strlen(digits) : 1;
    if (length % 2 != 0 || length > 2 * sizeof bytes)
        return crest_op_none();
    for (size_t i = 0; i < length; i++) {
        int digit = crest_off_digit(digits[i]);
        if (digit < 0)
            return crest_op_none();
        bytes[i / 2] = (unsigned char)(i % 2 == 0 ? digit << 4 : bytes[i / 2] | digit);
    }
    return crest_off_op(bytes, length / 2, CREST_OP_BYTES);
}

CREST_API size_t crest_op_format(const crest_op *op, char *text, size_t size)
{
    char whole[CREST_OP_TEXT_BYTES] = "";
    const unsigned char *bytes = (const unsigned char *)op->word;
    size_t kept = op->length < CREST_OP_EXACT_BYTES ? op->length : CREST_OP_EXACT_BYTES;
    size_t used = 0;
    if (op->kind == CREST_OP_U64 || op->kind == CREST_OP_U64X2) {
        used = (size_t)snprintf(whole, sizeof whole, "%llu", (unsigned long long)op->word[0]);
        if (op->kind == CREST_OP_U64X2)
            used += (size_t)snprintf(whole + used, sizeof whole - used, ":%llu",
                                     (unsigned long long)op->word[1]);
    } else if (op->kind == CREST_OP_TEXT) {
        used = kept;
        __builtin_memcpy(whole, bytes, kept);
    } else if (op->kind == CREST_OP_BYTES) {
        used = (size_t)snprintf(whole, sizeof whole, "0x");
        for (size_t i = 0; i < kept; i++)
            used += (size_t)snprintf(whole + used, sizeof whole - used, "%02x", bytes[i]);
    }
    if (size == 0)
        return 0;
    used = used < size ? used : size - 1;
    __builtin_memcpy(text, whole, used);
    text[used] = '\0';
    return used;
}

CREST_END_C

#endif
