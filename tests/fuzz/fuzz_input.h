/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share: assertions that a fuzzer sees, and an input taken apart into texts.
 *
 * A target is LLVMFuzzerTestOneInput in fuzz_x.c; its seeds are the files in corpus/x. `make fuzz`
 * links it with libFuzzer, `make check` with replay_corpus.c.
 */
#ifndef CREST_TESTS_FUZZ_INPUT_H
#define CREST_TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registries are not given back to the last byte: after so many of them a target goes on with what
 * needs none. */
#define FUZZ_REGISTRIES_MAX 200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_WANTS(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct fuzz_input {
    const uint8_t *at;
    const uint8_t *end;
} fuzz_input;

/* The next byte; 0 behind the end. */
__attribute__((unused)) static uint8_t fuzz_byte(fuzz_input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* The text up to the next NUL or the end, of exactly its size, so that reading on is found. */
__attribute__((unused)) static char *fuzz_text(fuzz_input *input)
{
    size_t rest = (size_t)(input->end - input->at);
    const uint8_t *nul = rest != 0 ? memchr(input->at, 0, rest) : NULL;
    size_t length = nul != NULL ? (size_t)(nul - input->at) : rest;
    char *text = malloc(length + 1);
    FUZZ_WANTS(text != NULL);
    if (length != 0)
        memcpy(text, input->at, length);
    text[length] = '\0';
    input->at += length + (nul != NULL);
    return text;
}

#endif
