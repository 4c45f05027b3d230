/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules in force: the words of events as rules change, of events that are declared before and
 * after; limits over a stepped clock and what is told of them; counters of events; what goes to the
 * log; events as text.
 */
#include "events/event_log.h"
#include "events/event_rules_now.h"
#include "support/event_fixture.h"

#include <crest/event_control.h>
#include <crest/event_lines.h>

#define S UINT64_C(1000000000)

CREST_EVENT(first, "control.first", CREST_INFO, "A number.", (u64, number));
CREST_EVENT(second, "control.second.step", CREST_DEBUG, "A step.", (u64, number));
CREST_EVENT_WITH(detailed, "control.detailed", CREST_ERROR, CREST_MAXIMUM, CREST_PUBLIC, "Much.");
CREST_EVENT_WITH(secret, "control.secret", CREST_INFO, CREST_NORMAL, CREST_CONFIDENTIAL, "Stays.",
                 (text, what));
CREST_EVENT(counted, "control.counted", CREST_INFO, "It is counted.");
CREST_COUNTER(times, "control.times", "Emissions of control.counted.");
CREST_EVENT_COUNTED(counted, times);
CREST_EVENT(types, "control.types", CREST_WARNING, "Values of each type.", (u64, big), (i64, small),
            (double, half), (bool, yes), (text, said, 16), (bytes, data, 4), (op, of));

static const struct {
    const char *rules;
    int first, second, detailed;
} control_on[] = {
    {"", 1, 0, 0},
    {"*: off", 0, 0, 0},
    {"*: debug", 1, 1, 0},
    {"*: debug maximum", 1, 1, 1},
    {"*: off; control.second: debug", 0, 1, 0},
    {"control: maximum emergency", 0, 0, 0},
    {"control: maximum error", 0, 0, 1},
    {"control.detailed: maximum", 1, 0, 1},
    {"control.secon: debug", 1, 0, 0},
    {"control.second.step: debug; control.first: warning", 0, 1, 0},
    {NULL, 1, 0, 0},
};

static void set_rules(const char *rules)
{
    crest_error error;
    if (crest_events_set(rules, &error) != CREST_OK)
        fail_msg("%s", error.message);
}

/* All off before events begin, but what is counted. */
static void test_before(void **state)
{
    (void)state;
    set_rules("*: debug maximum");
    assert_false(crest_event_on(&first));
    assert_true(crest_event_on(&counted));
    CREST_EMIT(counted);
    assert_int_equal(crest_counter_value(&times), 1);
    event_begin(0, 8);
    assert_true(crest_event_on(&second));
}

static void test_words(void **state)
{
    (void)state;
    crest_error error;
    for (size_t i = 0; i < LENGTH(control_on); i++) {
        set_rules(control_on[i].rules);
        /* refused rules change nothing */
        assert_int_equal(crest_events_set("*: loud", &error), CREST_INVALID_OPTIONS);
        assert_non_null(strstr(error.message, "given to crest_events_set"));
        if (crest_event_on(&first) != control_on[i].first ||
            crest_event_on(&second) != control_on[i].second ||
            crest_event_on(&detailed) != control_on[i].detailed)
            fail_msg("%s: %d %d %d", control_on[i].rules, crest_event_on(&first),
                     crest_event_on(&second), crest_event_on(&detailed));
    }
}

/* An event of a library that is loaded later, and another copy of one that there is. */
static void test_later(void **state)
{
    (void)state;
    static crest_event_declaration later_declaration = {.name = "control.later",
                                                        .doc = "Declared later.",
                                                        .severity = CREST_DEBUG,
                                                        .detail = CREST_NORMAL};
    static const crest_event_field none[] = {{NULL, CREST_EVENT_NONE, 0}};
    static crest_event later = {.abi = CREST_EVENT_ABI, .declaration = &later_declaration};
    static crest_event copy = {.abi = CREST_EVENT_ABI, .declaration = &later_declaration};
    later_declaration.fields = none;
    set_rules("control.later: debug");
    assert_int_equal(crest_event_register(&later), CREST_OK);
    assert_true(crest_event_on(&later));
    set_rules("");
    assert_false(crest_event_on(&later));
    assert_int_equal(crest_event_register(&copy), CREST_OK);
    set_rules("*: debug");
    assert_true(crest_event_on(&later) && crest_event_on(&copy));
    crest_event_unregister(&copy);
    set_rules("");
    assert_false(crest_event_on(&later));
    crest_event_unregister(&later);
    set_rules("*: debug");
    set_rules("");
}

static unsigned read_numbers(crest_event_reader *reader, const char *name, uint64_t *last)
{
    crest_event_view event;
    unsigned count = 0;
    while (crest_event_reader_next(reader, &event))
        if (strcmp(event.info->name, name) == 0) {
            *last = event.values[event.value_count - 1].as.u;
            count++;
        }
    return count;
}

static void test_limit(void **state)
{
    (void)state;
    uint64_t last = 0;
    crest_testing_mark *before = crest_testing_mark_take(NULL);
    crest_event_reader *reader = event_own();
    crest_testing_clock_set(100 * S);
    set_rules("*: limit=3/s; crest: limit=1/h");
    read_numbers(reader, "", &last);
    for (uint64_t i = 0; i < 10; i++)
        CREST_EMIT(first, i);
    assert_int_equal(read_numbers(reader, "control.first", &last), 3);
    assert_int_equal(last, 2);
    crest_event_limits_tell();
    crest_event_limits_tell();
    assert_int_equal(read_numbers(reader, "crest.event-limit", &last), 1);
    assert_int_equal(last, 7);
    CREST_EMIT(first, 10);
    crest_event_limits_tell();
    assert_int_equal(read_numbers(reader, "crest.event-limit", &last), 1);
    assert_int_equal(last, 1);
    crest_testing_clock_advance(S / 3);
    CREST_EMIT(first, 10);
    CREST_EMIT(first, 11);
    assert_int_equal(read_numbers(reader, "control.first", &last), 1);
    assert_int_equal(last, 10);
    /* each event has a bucket of its own */
    CREST_EMIT(secret, "x");
    assert_int_equal(read_numbers(reader, "control.secret", &last), 1);
    set_rules("");
    for (uint64_t i = 0; i < 10; i++)
        CREST_EMIT(first, i);
    assert_int_equal(read_numbers(reader, "control.first", &last), 10);
    crest_event_limits_tell();
    crest_error error;
    if (crest_testing_grew(before, 9, &error, "crest.suppressed-events", NULL) != CREST_OK)
        fail_msg("%s", error.message);
    crest_testing_mark_free(before);
    crest_testing_clock_real();
    event_account(reader);
    crest_event_reader_free(reader);
}

/* Whatever rules and limits say, and not twice. */
static void test_counted(void **state)
{
    (void)state;
    static const char *const rules[] = {"", "*: off", "*: limit=1/h", "control.counted: emergency"};
    uint64_t before = crest_counter_value(&times);
    for (size_t i = 0; i < LENGTH(rules); i++) {
        set_rules(rules[i]);
        for (unsigned n = 0; n < 5; n++)
            CREST_EMIT(counted);
        assert_int_equal(crest_counter_value(&times), before + 5 * (i + 1));
    }
    set_rules("");
    static crest_event unknown;
    assert_int_equal(crest_event_counted(NULL, &times), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_event_counted(&counted, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_event_counted(&unknown, &times), CREST_INVALID_ARGUMENT);
}

static uint32_t number_of(crest_event_reader *reader, const char *name)
{
    crest_event_reader_about about;
    crest_event_reader_tell(reader, &about);
    for (size_t i = 0; i < about.events; i++)
        if (strcmp(crest_event_reader_info(reader, i)->name, name) == 0)
            return crest_event_reader_info(reader, i)->number;
    fail_msg("there is no %s", name);
    return 0;
}

static void test_outputs(void **state)
{
    (void)state;
    crest_event_reader *reader = event_own();
    uint32_t open = number_of(reader, "control.first"), kept = number_of(reader, "control.secret");
    set_rules("");
    assert_int_equal(crest_event_goes_to(open), CREST_EVENT_TO_TEXT | CREST_EVENT_TO_JSON);
    assert_int_equal(crest_event_goes_to(kept), 0);
    set_rules("*: to=log:json; control.secret: to=log:text:json");
    assert_int_equal(crest_event_goes_to(open), CREST_EVENT_TO_LOG | CREST_EVENT_TO_JSON);
    assert_int_equal(crest_event_goes_to(kept), 0);
    assert_int_equal(crest_event_goes_to(0), 0);
    assert_int_equal(crest_event_goes_to(UINT32_MAX), 0);
    set_rules("");
    crest_event_reader_free(reader);
}

/* ---- the log ---- */

static char logged[20][CREST_ERROR_BYTES];
static crest_log_level logged_level[20];
static unsigned logged_count;

static void keep_log(crest_log_level level, const char *message, void *context)
{
    (void)context;
    if (strstr(message, "control.") == NULL && strstr(message, "overwritten") == NULL)
        return;
    assert_true(logged_count < LENGTH(logged));
    logged_level[logged_count] = level;
    snprintf(logged[logged_count++], CREST_ERROR_BYTES, "%s", message);
}

static void test_log(void **state)
{
    (void)state;
    crest_log_to(keep_log, NULL);
    set_rules("control: to=log maximum; control.counted: to=ring");
    CREST_EMIT(first, 4711); /* before there is a reader of the log: later turns do not have it */
    crest_event_log_turn();
    logged_count = 0;
    CREST_EMIT(first, 17);
    CREST_EMIT(secret, "hunter2");
    CREST_EMIT(counted);
    CREST_EMIT(detailed);
    CREST_EMIT(types, 1, -1, 0.5, 1, "x", crest_bytes("ab", 2), crest_op_u64(9));
    crest_event_log_turn();
    crest_event_log_turn();
    assert_int_equal(logged_count, 3);
    assert_non_null(strstr(logged[0], "Z info control.first number=17 thread="));
    assert_non_null(strstr(logged[1], "Z error control.detailed"));
    assert_non_null(strstr(logged[2], "Z warning control.types big=1 small=-1 half=0.5"));
    assert_int_equal(logged_level[0], CREST_LOG_INFO);
    assert_int_equal(logged_level[1], CREST_LOG_ERROR);
    assert_int_equal(logged_level[2], CREST_LOG_WARNING);
    /* what came before the log was asked for again is left where it is */
    set_rules("");
    crest_event_log_turn();
    CREST_EMIT(first, 18);
    logged_count = 0;
    set_rules("control: to=log");
    crest_event_log_turn();
    CREST_EMIT(first, 19);
    crest_event_log_end();
    assert_int_equal(logged_count, 1);
    assert_non_null(strstr(logged[0], "number=19"));
    crest_log_to(NULL, NULL);
    set_rules("");
}

/* ---- text ---- */

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *said, *shown;
    } texts[] = {
        {"plain", "said=\"plain\" "},
        {"", "said=\"\" "},
        {"a \"b\" \\", "said=\"a \\\"b\\\" \\\\\" "},
        {"\033[31m\n", "said=\"\\u001b[31m\\u000a\" "},
        {"\xc2\x9b"
         "1m\xe2\x80\xa8.",
         "said=\"\\u009b1m\\u2028.\" "},
        {"\xc3\xa9\xe2\x82\xac", "said=\"\xc3\xa9\xe2\x82\xac\" "},
        {"12345678901234567", "said=\"1234567890123456\"... "},
    };
    char text[CREST_EVENT_TEXT_BYTES], cut[CREST_EVENT_TEXT_BYTES];
    crest_event_view event;
    crest_event_reader *reader = event_own();
    crest_event_reader_skip(reader);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        CREST_EMIT(types, UINT64_MAX, INT64_MIN, 0.1, 0, texts[i].said,
                   crest_bytes("\x01\xff\x02\x03\x04", 5), crest_op_text("block 17"));
        assert_true(crest_event_reader_next(reader, &event));
        size_t length = crest_event_values_text(&event, text, sizeof text);
        assert_int_equal(length, strlen(text));
        if (strstr(text, texts[i].shown) == NULL)
            fail_msg("%s: %s", texts[i].shown, text);
        assert_int_equal(strncmp(text,
                                 "big=18446744073709551615 small=-9223372036854775808 "
                                 "half=0.1 yes=false said=",
                                 76),
                         0);
        assert_non_null(strstr(text, " data=01ff0203... of=\"block 17\""));
        length = crest_event_line_text(&event, text, sizeof text);
        assert_int_equal(length, strlen(text));
        for (size_t size = 0; size <= length + 1; size++) {
            cut[0] = 'x';
            size_t kept = crest_event_line_text(&event, cut, size);
            assert_true(size == 0 ? kept == 0 && cut[0] == 'x' : kept < size && cut[kept] == '\0');
            assert_int_equal(memcmp(cut, text, kept), 0);
            assert_true(size <= length || kept == length);
        }
    }
    crest_event_reader_free(reader);
    assert_string_equal(crest_severity_text(CREST_EMERGENCY), "emergency");
    assert_string_equal(crest_severity_text(CREST_SEVERITY_COUNT), "");
    assert_string_equal(crest_detail_text(CREST_MINIMAL), "minimal");
    assert_string_equal(crest_detail_text((crest_detail)-1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_later),   cmocka_unit_test(test_limit),
        cmocka_unit_test(test_counted), cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_log),     cmocka_unit_test(test_text),
    };
    state_dir_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
