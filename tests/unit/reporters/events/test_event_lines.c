/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters of events as lines: which events they get, what a line has, what is said of overwritten
 * ones, and that lines wait for a file that cannot be written.
 */
#include "support/event_fixture.h"

#include <crest/event_control.h>
#include <crest/event_lines.h>
#include <sys/stat.h>

CREST_EVENT(numbered, "lines.number", CREST_INFO, "A number.", (u64, number));
CREST_EVENT(types, "lines.types", CREST_ERROR, "Values of each type.", (u64, big), (i64, small),
            (double, half), (bool, yes), (text, said, 8), (bytes, data, 4), (op, of));
CREST_EVENT_WITH(secret, "lines.secret", CREST_INFO, CREST_NORMAL, CREST_CONFIDENTIAL, "Stays.",
                 (text, what));

static char lines_text[1 << 20];

static crest_status report(crest_reporter *reporter, crest_error *error)
{
    crest_report one = {.deadline_ns = crest_now() + UINT64_C(60000000000)};
    return reporter->report(reporter, &one, error);
}

static crest_reporter *lines_new(const char *file, crest_event_form form)
{
    crest_error error;
    crest_reporter *reporter = crest_event_lines_new(state_dir_path(file), form, &error);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static const char *lines_of(const char *file)
{
    FILE *from = fopen(state_dir_path(file), "r");
    size_t got = from != NULL ? fread(lines_text, 1, sizeof lines_text - 1, from) : 0;
    lines_text[got] = '\0';
    if (from != NULL)
        fclose(from);
    return lines_text;
}

static unsigned lines_count(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void test_before_events(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *reporter = lines_new("early", CREST_EVENT_FORM_JSON);
    assert_int_equal(report(reporter, &error), CREST_OK);
    event_begin(0, 4);
    CREST_EMIT(numbered, 1);
    assert_int_equal(report(reporter, &error), CREST_OK);
    assert_int_equal(lines_count(lines_of("early"), "\"event\":\"lines.number\""), 1);
    crest_reporter_free(reporter);
}

static void test_json(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *reporter = lines_new("json", CREST_EVENT_FORM_JSON);
    CREST_EMIT(types, UINT64_MAX, -5, 0.25, 1, "\033\"x\xc3\xa9 and more",
               crest_bytes("\x01\xff\x02\x03\x04", 5), crest_op_text("block 17"));
    CREST_EMIT(types, 0, INT64_MIN, (double)NAN, 0, NULL, crest_bytes("", 0), crest_op_u64(9));
    CREST_EMIT(secret, "hunter2");
    assert_int_equal(report(reporter, &error), CREST_OK);
    const char *text = lines_of("json");
    assert_non_null(strstr(text, "Z\",\"timeUnixNano\":1"));
    assert_non_null(strstr(text, ",\"event\":\"lines.types\",\"severity\":\"error\",\"thread\":"));
    assert_non_null(strstr(text, "\"values\":{\"big\":18446744073709551615,\"small\":-5,\"half\":"
                                 "0.25,\"yes\":true,\"said\":\"\\u001b\\\"x\xc3\xa9 an\","
                                 "\"data\":\"01ff0203\",\"of\":\"block 17\"},\"cut\":{"));
    assert_non_null(strstr(text, "\"data\":5}}\n"));
    assert_non_null(strstr(text,
                           "\"values\":{\"big\":0,\"small\":-9223372036854775808,\"half\":"
                           "null,\"yes\":false,\"said\":\"\",\"data\":\"\",\"of\":\"9\"}}\n"));
    assert_null(strstr(text, "hunter2"));
    crest_reporter_free(reporter);
}

static void test_text_and_rules(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *text = lines_new("text", CREST_EVENT_FORM_TEXT);
    crest_reporter *json = lines_new("ruled", CREST_EVENT_FORM_JSON);
    assert_int_equal(report(text, &error), CREST_OK);
    assert_int_equal(report(json, &error), CREST_OK);
    assert_int_equal(crest_events_set("lines.number: to=text; lines.types: to=json", &error),
                     CREST_OK);
    unlink(state_dir_path("text"));
    unlink(state_dir_path("ruled"));
    CREST_EMIT(numbered, 4711);
    CREST_EMIT(types, 1, 1, 1, 1, "", crest_bytes("", 0), crest_op_u64(1));
    assert_int_equal(report(text, &error), CREST_OK);
    assert_int_equal(report(json, &error), CREST_OK);
    assert_non_null(strstr(lines_of("text"), "Z info lines.number number=4711 thread="));
    assert_int_equal(lines_count(lines_text, "\n"), 1);
    assert_int_equal(lines_count(lines_of("ruled"), "\n"), 1);
    assert_non_null(strstr(lines_text, "lines.types"));
    assert_int_equal(crest_events_set(NULL, &error), CREST_OK);
    crest_reporter_free(text);
    crest_reporter_free(json);
}

/* A line tells how many were overwritten; with those that were read they are all. */
static void test_lost(void **state)
{
    (void)state;
    crest_error error;
    unsigned long long lost = 0, lost_bytes = 0;
    crest_reporter *text = lines_new("lost-text", CREST_EVENT_FORM_TEXT);
    crest_reporter *json = lines_new("lost-json", CREST_EVENT_FORM_JSON);
    assert_int_equal(report(text, &error), CREST_OK);
    assert_int_equal(report(json, &error), CREST_OK);
    unlink(state_dir_path("lost-text"));
    unlink(state_dir_path("lost-json"));
    for (uint64_t i = 0; i < 5000; i++)
        CREST_EMIT(numbered, i);
    assert_int_equal(report(text, &error), CREST_OK);
    assert_int_equal(report(json, &error), CREST_OK);
    const char *lines = lines_of("lost-text");
    const char *last = strstr(lines, " were overwritten before they were read\n");
    assert_non_null(last);
    while (last > lines && last[-1] != '\n')
        last--;
    assert_int_equal(sscanf(last, "%llu events (%llu bytes)", &lost, &lost_bytes), 2);
    assert_int_equal(lines_count(lines, "lines.number") + lost, 5000);
    assert_int_equal(lost_bytes, 24 * lost);
    lines = lines_of("lost-json");
    last = strstr(lines, ",\"lost\":");
    assert_non_null(last);
    assert_int_equal(sscanf(last, ",\"lost\":%llu,\"lostBytes\":%llu}", &lost, &lost_bytes), 2);
    assert_int_equal(lines_count(lines, "lines.number") + lost, 5000);
    crest_reporter_free(text);
    crest_reporter_free(json);
}

/* A file that cannot be written: its lines are written by the report that can. */
static void test_waits(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *reporter = lines_new("waits", CREST_EVENT_FORM_JSON);
    assert_int_equal(report(reporter, &error), CREST_OK);
    unlink(state_dir_path("waits"));
    assert_int_equal(mkdir(state_dir_path("waits"), 0700), 0);
    CREST_EMIT(numbered, 1);
    assert_int_equal(report(reporter, &error), CREST_IO);
    assert_non_null(strstr(error.message, "waits"));
    CREST_EMIT(numbered, 2);
    assert_int_equal(report(reporter, &error), CREST_IO);
    rmdir(state_dir_path("waits"));
    assert_int_equal(report(reporter, &error), CREST_OK);
    assert_int_equal(lines_count(lines_of("waits"), "lines.number"), 2);
    assert_int_equal(report(reporter, &error), CREST_OK);
    assert_int_equal(lines_count(lines_of("waits"), "lines.number"), 2);
    crest_reporter_free(reporter);
}

static void test_refused(void **state)
{
    (void)state;
    crest_error error;
    assert_null(crest_event_lines_new(NULL, CREST_EVENT_FORM_TEXT, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    assert_null(crest_event_lines_new("", CREST_EVENT_FORM_TEXT, NULL));
    assert_null(crest_event_lines_new("x", (crest_event_form)2, NULL));
    assert_null(crest_event_lines_new("/nowhere/x", CREST_EVENT_FORM_TEXT, &error));
    assert_int_equal(error.status, CREST_IO);
    crest_reporter *reporter = crest_event_lines_new("stderr", CREST_EVENT_FORM_TEXT, &error);
    assert_non_null(reporter);
    assert_string_equal(reporter->name, "events-text");
    crest_reporter_free(reporter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_events),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_text_and_rules), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_waits),          cmocka_unit_test(test_refused),
    };
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
