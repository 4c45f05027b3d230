/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of OTLP receivers, and lists of OTEL_ variables: any bytes are read within their bounds,
 * what is shown of them is one line of UTF-8, and no answer makes more points rejected than there
 * can be.
 *
 * Input: a byte of choices (encoding, cut, what kind of input, a code), then the answer's body, or
 * the list up to a NUL or the end.
 */
#include "fuzz_input.h"

#include "common/shown_text.h"
#include "otlp/otlp_fate.h"
#include "otlp/otlp_pairs.h"

/* Control characters and broken characters do not get into a log. */
static void check_words(const crest_otlp_answer *said)
{
    FUZZ_WANTS(strlen(said->words) < sizeof said->words);
    FUZZ_WANTS(crest_push_text_valid(said->words));
    for (const char *c = said->words; *c != '\0'; c++)
        FUZZ_WANTS((unsigned char)*c >= ' ' && *c != 0x7f);
    FUZZ_WANTS(said->rejected <= INT64_MAX);
}

/* In a block of exactly its size, so that a read behind it is found. */
static void check_answer(uint8_t choice, const uint8_t *bytes, size_t size)
{
    crest_otlp_answer said;
    uint8_t *exact = malloc(size + 1);
    FUZZ_WANTS(exact != NULL);
    uint8_t *from = exact + 1; /* not aligned */
    memcpy(from, bytes, size);
    crest_otlp_encoding encoding = choice & 1 ? CREST_OTLP_JSON : CREST_OTLP_PROTOBUF;
    int whole = crest_otlp_answer_decode(from, size, 0, encoding, &said);
    if (whole)
        check_words(&said);
    /* what is whole is good when it is cut, too */
    int cut = crest_otlp_answer_decode(from, size, 1, encoding, &said);
    check_words(&said);
    FUZZ_WANTS(!whole || cut);
    crest_otlp_answer_refusal(from, size, &said);
    check_words(&said);
    free(exact);
}

static void check_fate(uint8_t choice, const uint8_t *bytes, size_t size)
{
    static const unsigned codes[] = {200, 204, 301, 400, 413, 429, 500, 503};
    static const char *const types[] = {"", "application/json", "application/x-protobuf",
                                        "text/html"};
    const crest_otlp_question question = {"http://h/v1/metrics", CREST_OTLP_PROTOBUF, "points", 7,
                                          99};
    crest_http_answer *answer = calloc(1, sizeof *answer);
    FUZZ_WANTS(answer != NULL);
    answer->code = codes[choice & 7];
    answer->length = size < sizeof answer->words ? size : sizeof answer->words;
    memcpy(answer->words, bytes, answer->length);
    strcpy(answer->type, types[choice >> 3 & 3]);
    crest_otlp_answer said;
    crest_error error = {.status = CREST_OK};
    crest_otlp_fate fate = crest_otlp_judge(&question, answer, &said, &error);
    FUZZ_WANTS((fate == CREST_OTLP_TAKEN) == (error.status == CREST_OK));
    FUZZ_WANTS(fate == CREST_OTLP_TAKEN || error.message[0] != '\0');
    FUZZ_WANTS(answer->code < 300 || fate != CREST_OTLP_TAKEN);
    free(answer);
}

static void check_pairs(const char *list)
{
    crest_otlp_pairs pairs;
    const char *problem;
    crest_status status = crest_otlp_pairs_read(list, &pairs, &problem);
    FUZZ_WANTS((status == CREST_OK) == (problem == NULL));
    FUZZ_WANTS(pairs.count <= CREST_OTLP_PAIRS_MAX);
    for (unsigned i = 0; i < pairs.count; i++) {
        FUZZ_WANTS(pairs.labels[i].key[0] != '\0');
        FUZZ_WANTS(crest_push_text_valid(pairs.labels[i].value));
        FUZZ_WANTS(crest_otlp_pairs_find(&pairs, pairs.labels[i].key) == pairs.labels[i].value);
    }
    crest_otlp_pairs_fini(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    uint8_t choice = fuzz_byte(&input);
    if (choice >> 6 == 3) {
        char *list = fuzz_text(&input);
        check_pairs(list);
        free(list);
    } else if (choice >> 6 == 2) {
        check_fate(choice, input.at, (size_t)(input.end - input.at));
    } else {
        check_answer(choice, input.at, (size_t)(input.end - input.at));
    }
    return 0;
}
