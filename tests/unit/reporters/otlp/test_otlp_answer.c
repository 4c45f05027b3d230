/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of OTLP receivers: what is read of them, in both encodings, whole, cut and hostile; and
 * what each means for the body.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "otlp/otlp_fate.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text) (text), sizeof(text) - 1

static crest_otlp_answer said;
static crest_error error;

static void partial_successes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        crest_otlp_encoding encoding;
        int decodes;
        uint64_t rejected;
        const char *words;
    } cases[] = {
        {BYTES(""), CREST_OTLP_PROTOBUF, 1, 0, ""},
        {BYTES("\x0a\x00"), CREST_OTLP_PROTOBUF, 1, 0, ""},
        {BYTES("\x0a\x02\x08\x07"), CREST_OTLP_PROTOBUF, 1, 7, ""},
        {BYTES("\x0a\x09\x08\xac\x02\x12\x04hi\n!"), CREST_OTLP_PROTOBUF, 1, 300, "hi !"},
        {BYTES("\x0a\x04\x12\x02no"), CREST_OTLP_PROTOBUF, 1, 0, "no"},
        /* fields of a later version, of each type */
        {BYTES("\x10\x05\x19xxxxxxxx\x25yyyy\x0a\x02\x08\x01"), CREST_OTLP_PROTOBUF, 1, 1, ""},
        /* a negative number of points is none */
        {BYTES("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CREST_OTLP_PROTOBUF, 1, 0,
         ""},
        /* 65 bits */
        {BYTES("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), CREST_OTLP_PROTOBUF, 0, 0,
         ""},
        {BYTES("<html>login</html>"), CREST_OTLP_PROTOBUF, 0, 0, ""},
        {BYTES("\x0a\x05\x08"), CREST_OTLP_PROTOBUF, 0, 0, ""},
        {BYTES("\x0a"), CREST_OTLP_PROTOBUF, 0, 0, ""},
        {BYTES("\x00"), CREST_OTLP_PROTOBUF, 0, 0, ""},
        {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), CREST_OTLP_PROTOBUF, 0, 0, ""},
        {BYTES("{}"), CREST_OTLP_JSON, 1, 0, ""},
        {BYTES(" {\"partialSuccess\":{}} \n"), CREST_OTLP_JSON, 1, 0, ""},
        {BYTES("{\"partialSuccess\":{\"rejectedDataPoints\":\"12\",\"errorMessage\":\"a "
               "\\\"b\\\"\"}}"),
         CREST_OTLP_JSON, 1, 12, "a \"b\""},
        {BYTES("{\"x\":[1,{\"y\":null}],\"partial_success\":{\"rejected_data_points\":3,\"z\":-1."
               "5e9}}"),
         CREST_OTLP_JSON, 1, 3, ""},
        {BYTES("{\"partialSuccess\":null}"), CREST_OTLP_JSON, 1, 0, ""},
        {BYTES("{\"partialSuccess\":{\"rejectedDataPoints\":-4}}"), CREST_OTLP_JSON, 1, 0, ""},
        {BYTES("{\"partialSuccess\":{\"rejectedDataPoints\":99999999999999999999}}"),
         CREST_OTLP_JSON, 1, 0, ""},
        {BYTES("<html>"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\":1"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\" 1}"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{} {}"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\":]}"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]"), CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1"
               "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"),
         CREST_OTLP_JSON, 0, 0, ""},
        {BYTES("{\"a\\"), CREST_OTLP_JSON, 0, 0, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int decodes =
            crest_otlp_answer_decode(cases[i].bytes, cases[i].length, 0, cases[i].encoding, &said);
        if (decodes != cases[i].decodes)
            fail_msg("case %zu: %d", i, decodes);
        if (decodes && (said.rejected != cases[i].rejected || strcmp(said.words, cases[i].words)))
            fail_msg("case %zu: %llu, \"%s\"", i, (unsigned long long)said.rejected, said.words);
    }
}

/* Of an answer that is longer than what is kept, the beginning counts. */
static void cut_answers_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    static const char bytes[] = "\x0a\xb4\x10\x08\x09\x12\xac\x10words that go on";
    assert_int_equal(
        crest_otlp_answer_decode(bytes, sizeof bytes - 1, 1, CREST_OTLP_PROTOBUF, &said), 1);
    assert_int_equal(said.rejected, 9);
    assert_string_equal(said.words, "words that go on");
    for (size_t length = 0; length < sizeof bytes; length++)
        assert_int_equal(crest_otlp_answer_decode(bytes, length, 1, CREST_OTLP_PROTOBUF, &said), 1);
    assert_int_equal(
        crest_otlp_answer_decode(bytes, sizeof bytes - 1, 0, CREST_OTLP_PROTOBUF, &said), 0);
}

static void refusals_show_the_servers_words(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *words;
    } cases[] = {
        {BYTES("\x08\x03\x12\x09"
               "bad point"),
         "bad point"},
        {BYTES("{\"code\":3,\"message\":\"bad\\npoint\"}"), "bad point"},
        {BYTES("404 page not found\n"), "404 page not found"},
        {BYTES("\x1b[2Jred"), "[2Jred"},
        {BYTES(""), ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_otlp_answer_refusal(cases[i].bytes, cases[i].length, &said);
        assert_string_equal(said.words, cases[i].words);
    }
}

static crest_otlp_fate judge(unsigned code, const char *type, const char *body, int cut)
{
    static const crest_otlp_question question = {"http://h/v1/metrics", CREST_OTLP_PROTOBUF,
                                                 "points", 5, 99};
    static crest_http_answer answer;
    memset(&answer, 0, sizeof answer);
    memset(&error, 0, sizeof error);
    answer.code = code;
    answer.cut = cut;
    answer.retry_after_s = code == 503 ? 17 : 0;
    answer.length = strlen(body);
    memcpy(answer.words, body, answer.length);
    strcpy(answer.type, type);
    strcpy(answer.location, code == 302 ? "http://elsewhere/" : "");
    return crest_otlp_judge(&question, &answer, &said, &error);
}

static void each_code_has_its_fate(void **state)
{
    (void)state;
    static const struct {
        unsigned code;
        const char *type, *body;
        int cut;
        crest_otlp_fate fate;
        crest_status status;
        const char *says;
    } cases[] = {
        {200, "application/x-protobuf", "", 0, CREST_OTLP_TAKEN, CREST_OK, ""},
        {204, "", "", 0, CREST_OTLP_TAKEN, CREST_OK, ""},
        {200, "application/json; x=y", "{}", 0, CREST_OTLP_TAKEN, CREST_OK, ""},
        {200, "text/html", "<html>", 0, CREST_OTLP_NEVER, CREST_REFUSED, "text/html and no OTLP"},
        {200, "", "?", 0, CREST_OTLP_NEVER, CREST_REFUSED, "no content type and no OTLP"},
        {200, "", "", 1, CREST_OTLP_NEVER, CREST_REFUSED, "more than 65536 bytes"},
        {302, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "a redirect to \"http://elsewhere/\""},
        {400, "", "why", 0, CREST_OTLP_REFUSED, CREST_REFUSED,
         "a body of 5 points and 99 bytes was refused with code 400: why"},
        {401, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "otlp.headers-file"},
        {404, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "--web.enable-otlp-receiver"},
        {405, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "takes POST"},
        {407, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "otlp.proxy"},
        {408, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "answers 200"},
        {413, "", "", 0, CREST_OTLP_TOO_LARGE, CREST_REFUSED, "otlp.body"},
        {415, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "otlp.compression=none"},
        {429, "", "", 0, CREST_OTLP_LATER, CREST_UNREACHABLE, "tried again soon"},
        {500, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "a problem of its own"},
        {501, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "a problem of its own"},
        {502, "", "", 0, CREST_OTLP_LATER, CREST_UNREACHABLE, "(it says nothing)"},
        {503, "", "", 0, CREST_OTLP_LATER, CREST_UNREACHABLE, "in 17 s, as it asks"},
        {504, "", "", 0, CREST_OTLP_LATER, CREST_UNREACHABLE, "not now"},
        {505, "", "", 0, CREST_OTLP_NEVER, CREST_REFUSED, "a problem of its own"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_otlp_fate fate = judge(cases[i].code, cases[i].type, cases[i].body, cases[i].cut);
        if (fate != cases[i].fate || error.status != cases[i].status)
            fail_msg("code %u: fate %d, %s", cases[i].code, (int)fate, error.message);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_successes_are_read),
        cmocka_unit_test(cut_answers_are_read_as_far_as_they_go),
        cmocka_unit_test(refusals_show_the_servers_words),
        cmocka_unit_test(each_code_has_its_fate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
