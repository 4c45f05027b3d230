/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about a Pushgateway's answers. The type clashes are those of a Pushgateway
 * 1.5.1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pushgateway/push_answer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REFUSED "pushed metrics are invalid or inconsistent with existing metrics: "

static crest_status explain(unsigned code, const char *words, const char *location,
                            crest_error *error)
{
    static const crest_push_question question = {
        .method = "PUT",
        .url = "http://gw:9091",
        .group = "http://gw:9091/metrics/job/j/instance/i2",
        .job = "j",
        .instance = "i2",
    };
    crest_http_answer answer = {.code = code, .length = strlen(words)};
    memcpy(answer.words, words, answer.length);
    strcpy(answer.location, location);
    memset(error, 0, sizeof *error);
    return crest_push_answer_check(&question, &answer, error);
}

static void check_says(const crest_error *error, const char *says)
{
    if (strstr(error->message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error->message);
}

static void only_200_and_202_are_success(void **state)
{
    (void)state;
    crest_error error;
    for (unsigned code = 0; code < 600; code++) {
        crest_status want = code == 200 || code == 202 ? CREST_OK
                            : code >= 500              ? CREST_UNREACHABLE
                                                       : CREST_REFUSED;
        assert_int_equal(explain(code, "", "", &error), want);
    }
}

static void refusals_carry_the_words_and_advice(void **state)
{
    (void)state;
    static const struct {
        unsigned code;
        const char *words, *location, *says[2];
    } cases[] = {
        {301, "", "/metrics/job/j", {"code 301", "redirect to \"/metrics/job/j\""}},
        {302, "", "", {"it does not say where", "not followed"}},
        {400,
         "text format\nparsing error in line 2",
         "",
         {"code 400: text format parsing error in line 2", "still there"}},
        {401, "Unauthorized\n", "", {"code 401: Unauthorized", "pushgateway.password-file"}},
        {403, "", "", {"code 403: (it says nothing)", "user:password@"}},
        {404, "404 page not found\n", "", {"404 page not found", "--web.route-prefix"}},
        {407, "", "", {"code 407", "pushgateway.proxy"}},
        {405, "", "", {"code 405", "Is this a Pushgateway?"}},
        {413, "", "", {"code 413", "raise that limit"}},
        {429, "", "", {"code 429", "pushgateway.interval"}},
        {503, "<html>\x1b[2Jbusy</html>", "", {"<html> [2Jbusy</html>", "its log says more"}},
        {204, "", "", {"code 204", "answers 200 or 202"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error;
        assert_int_equal(explain(cases[i].code, cases[i].words, cases[i].location, &error),
                         cases[i].code < 500 ? CREST_REFUSED : CREST_UNREACHABLE);
        check_says(&error, "PUT http://gw:9091/metrics/job/j/instance/i2: ");
        check_says(&error, cases[i].says[0]);
        check_says(&error, cases[i].says[1]);
    }
}

static void an_endless_success_is_none(void **state)
{
    (void)state;
    crest_http_answer answer = {.code = 200, .cut = 1};
    crest_push_question question = {"PUT", "http://h", "http://h/g", "j", "i"};
    crest_error error;
    assert_int_equal(crest_push_answer_check(&question, &answer, &error), CREST_IO);
    check_says(&error, "more than 65536 bytes");
}

static void type_clashes_name_metric_and_way_out(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says[2];
    } cases[] = {
        /* the other group's metric is named: its group can be */
        {REFUSED "collected metric \"a_total\" { label:<name:\"instance\" value:\"i1\" > "
                 "label:<name:\"job\" value:\"j\" > counter:<value:3 > } is not a GAUGE",
         {"because a_total is a gauge here and stored as a counter in another group",
          "curl -X DELETE 'http://gw:9091/metrics/job/j/instance/i1'"}},
        /* a later protobuf library prints it differently */
        {REFUSED "collected metric \"a_total\" { label:{name:\"instance\"  value:\"h:1\"}  "
                 "label:{name:\"job\"  value:\"k\"}  counter:{value:3}} is not a GAUGE",
         {"because a_total is a gauge here and stored as a counter in",
          "curl -X DELETE 'http://gw:9091/metrics/job/k/instance@base64/aDox'"}},
        /* ours is named: the other's instance is not known */
        {REFUSED "collected metric \"h\" { label:<name:\"instance\" value:\"i2\" > "
                 "label:<name:\"job\" value:\"j\" > gauge:<value:3 > } is not a HISTOGRAM",
         {"because h is a gauge here and stored as a histogram in another group",
          "curl -X DELETE 'http://gw:9091/metrics/job/j/instance/OTHER-INSTANCE'"}},
        {REFUSED "collected metric named \"h_count\" collides with previously collected "
                 "histogram named \"h\"",
         {"because h_count is stored", "delete the old group (which one: curl -s "
                                       "'http://gw:9091/metrics' | grep h_count): curl"}},
        {"metric \"x\" has been registered with another type in some group",
         {"because x is stored", "OTHER-INSTANCE"}},
        /* the gateway's own metrics */
        {REFUSED "gathered metric family process_cpu_seconds_total has type GAUGE but should have "
                 "COUNTER",
         {"exports a metric of the same name itself", "process_cpu_seconds_total has type GAUGE"}},
        /* quotes inside a value: no guess */
        {REFUSED "collected metric \"a\" { label:<name:\"instance\" value:\"i\\\"1\" > "
                 "label:<name:\"job\" value:\"j\" > counter:<value:3 > } is not a GAUGE",
         {"because a is a counter here and stored as a gauge", "OTHER-INSTANCE"}},
        /* a label's value that looks like a type */
        {REFUSED "collected metric \"a\" { label:<name:\"instance\" value:\"i1\" > "
                 "label:<name:\"x\" value:\" gauge:<\" > label:<name:\"job\" value:\"j\" > "
                 "summary:<sample_count:3 > } is not a UNTYPED",
         {"because a is a untyped here and stored as a summary", "instance/i1'"}},
        {"metric \"a;reboot\" is not a GAUGE",
         {"because a metric is stored", "group: curl -X DELETE"}},
        {"is not a GAUGE", {"because a metric is stored", "OTHER-INSTANCE"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error;
        assert_int_equal(explain(400, cases[i].words, "", &error), CREST_REFUSED);
        check_says(&error, cases[i].says[0]);
        check_says(&error, cases[i].says[1]);
    }
    /* Words cut in the middle of anything are read no further than they go. */
    for (size_t length = 0; length < strlen(cases[0].words); length++) {
        char words[512];
        memcpy(words, cases[0].words, length);
        words[length] = '\0';
        crest_error error;
        assert_int_equal(explain(400, words, "", &error), CREST_REFUSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_200_and_202_are_success),
        cmocka_unit_test(refusals_carry_the_words_and_advice),
        cmocka_unit_test(an_endless_success_is_none),
        cmocka_unit_test(type_clashes_name_metric_and_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
