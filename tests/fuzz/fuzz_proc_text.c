/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What collectors take for lines, words and numbers in any bytes: all within the text, each byte of
 * it in one line, and a number exactly where the C library reads the same digits and nothing else.
 */
#include "fuzz_input.h"
#include "system/parse/proc_text.h"

#include <errno.h>

/* What the C library says of the word, and that it is of digits alone; 0: no number. */
static int expected_u64(crest_text word, uint64_t *value)
{
    char text[64];
    if (!crest_text_copy(word, text, sizeof text) || strlen(text) > 40)
        return -1; /* too long for this to judge */
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return 0;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno == 0;
}

static void check_word(crest_text line, crest_text word)
{
    uint64_t value = 0, wanted = 0;
    int64_t whole = 0;
    double decimal;
    crest_text at = {word.at, line.end}; /* what is behind the word is looked at, too */
    int expected = expected_u64(word, &wanted);
    int is_number = crest_text_u64(&at, &value);
    if (expected >= 0) {
        FUZZ_WANTS(is_number == expected);
        FUZZ_WANTS(!is_number || (value == wanted && at.at == word.end));
    }
    at = (crest_text){word.at, line.end};
    if (crest_text_i64(&at, &whole))
        FUZZ_WANTS(at.at == word.end && (whole < 0) == (*word.at == '-' && whole != 0));
    FUZZ_WANTS(!is_number || value > (uint64_t)INT64_MAX || (uint64_t)whole == value);
    at = (crest_text){word.at, line.end};
    if (crest_text_decimal(&at, &decimal))
        FUZZ_WANTS(at.at == word.end && decimal >= 0 && (!is_number || decimal == (double)value));
    else
        FUZZ_WANTS(!is_number && at.at == word.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* so that a step too far is seen */
    FUZZ_WANTS(copy != NULL);
    memcpy(copy, data, size);
    crest_text text = crest_text_of(copy, size), rest = text, line, word, field;
    const char *expected = copy;
    while (crest_text_line(&rest, &line)) {
        FUZZ_WANTS(line.at == expected && line.end >= line.at && line.end <= text.end);
        expected = line.end < text.end ? line.end + 1 : text.end;
        FUZZ_WANTS(rest.at == expected);
        for (crest_text words = line; crest_text_word(&words, &word);) {
            FUZZ_WANTS(word.at >= line.at && word.end <= line.end && word.at < word.end);
            check_word(line, word);
        }
    }
    FUZZ_WANTS(expected == text.end);
    if (crest_text_field(text, "Pss:", &field))
        FUZZ_WANTS(field.at >= text.at + 4 && memcmp(field.at - 4, "Pss:", 4) == 0);
    free(copy);
    return 0;
}
