/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of OTLP for the tests of their encoder: where they go, and what is looked for in them.
 */
#ifndef CREST_TEST_OTLP_FIXTURE_H
#define CREST_TEST_OTLP_FIXTURE_H

#include "otlp/otlp_encoder.h"
#include "otlp/otlp_json.h"
#include "otlp/otlp_protobuf.h"
#include "support/page_samples.h"

#define BODIES_MAX 4096u

/* All bodies of a call, one behind the other. */
typedef struct bodies {
    char *bytes;
    size_t length, longest;
    unsigned count, refuse_at; /* the body to refuse; 0: none */
    crest_otlp_body body[BODIES_MAX];
} bodies;

static int bodies_take(void *context, const crest_otlp_body *body)
{
    bodies *into = context;
    assert_in_range(body->points, 1, SIZE_MAX);
    assert_in_range(body->length, 1, PAGE_BYTES_MAX - into->length);
    assert_in_range(into->count, 0, BODIES_MAX - 1);
    if (into->count + 1 == into->refuse_at)
        return -7;
    memcpy(into->bytes + into->length, body->bytes, body->length);
    into->body[into->count] = *body;
    into->body[into->count++].bytes = into->bytes + into->length;
    into->length += body->length;
    into->longest = body->length > into->longest ? body->length : into->longest;
    return 0;
}

static bodies *bodies_clear(bodies *into)
{
    into->length = into->longest = into->count = into->refuse_at = 0;
    return into;
}

static int bodies_setup(void **state)
{
    bodies *into = calloc(1, sizeof *into);
    into->bytes = calloc(1, PAGE_BYTES_MAX + 1);
    *state = into;
    return 0;
}

static int bodies_teardown(void **state)
{
    bodies *into = *state;
    free(into->bytes);
    free(into);
    return 0;
}

__attribute__((unused)) static void encode_fake(bodies *into, const crest_snapshot *snapshot,
                                                const crest_otlp_options *options)
{
    crest_error error;
    const crest_otlp_format *format = options->encoding == CREST_OTLP_JSON
                                          ? &crest_otlp_format_json
                                          : &crest_otlp_format_protobuf;
    assert_int_equal(crest_otlp_encode(format, &fake, snapshot, options, 0, bodies_take,
                                       bodies_clear(into), &error),
                     CREST_OK);
    into->bytes[into->length] = '\0';
}

/* How often a text is in the bodies. */
__attribute__((unused)) static unsigned times_in(const bodies *into, const char *text)
{
    unsigned count = 0;
    const char *at = into->bytes, *end = at + into->length;
    for (; (at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL; at++)
        count++;
    return count;
}

__attribute__((unused)) static void assert_in(const bodies *into, const char *text)
{
    if (times_in(into, text) == 0)
        fail_msg("%s is not in %s", text, into->bytes);
}

#define BODIES_TEST(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, bodies_setup, bodies_teardown)

#endif
