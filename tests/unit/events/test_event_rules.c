/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of events: what each text says of an event, each thing by its own longest namespace; that
 * wrong ones are refused with a sentence; and the limiter, over a clock that is stepped.
 */
#include "events/event_limit.h"
#include "events/event_rules.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#define S UINT64_C(1000000000)
#define BOTH (CREST_EVENT_TO_TEXT | CREST_EVENT_TO_JSON)

static crest_event_rules *rules_of(const char *text)
{
    crest_event_rules *rules;
    crest_error error;
    if (crest_event_rules_parse(text, "in a test", &rules, &error) != CREST_OK)
        fail_msg("%s: %s", text, error.message);
    return rules;
}

static const struct {
    const char *rules, *name;
    crest_event_choice choice;
} rules_say[] = {
    {NULL, "casper.block", {1, 1, BOTH, 0, 0}},
    {"", "casper.block", {1, 1, BOTH, 0, 0}},
    {"*: error", "casper.block", {4, 1, BOTH, 0, 0}},
    {"casper: debug", "casper.block", {0, 1, BOTH, 0, 0}},
    {"casper: debug", "casper", {0, 1, BOTH, 0, 0}},
    {"casper: debug", "casper-block", {0, 1, BOTH, 0, 0}},
    {"casper: debug", "caspers", {1, 1, BOTH, 0, 0}},
    {"casper: debug", "casper2.block", {1, 1, BOTH, 0, 0}},
    {"casper.block: debug", "casper", {1, 1, BOTH, 0, 0}},
    {"casper: off; casper.block: critical", "casper.block-done", {5, 1, BOTH, 0, 0}},
    {"casper.block: critical; casper: off", "casper.block-done", {5, 1, BOTH, 0, 0}},
    {"casper: off", "casper.block-done", {8, 1, BOTH, 0, 0}},
    /* each thing by itself: the longest that says it */
    {"*: error to=log; casper: limit=2/s maximum; casper.block: debug",
     "casper.block.done",
     {0, 3, CREST_EVENT_TO_LOG, S / 2, S / 2}},
    {"*: limit=10/m; casper: limit=off", "casper.x", {1, 1, BOTH, 0, 0}},
    {"*: limit=1/h", "casper.x", {1, 1, BOTH, 3600 * S, 0}},
    {"*: limit=10/m", "x", {1, 1, BOTH, 6 * S, 54 * S}},
    {"*: to=log:text:json", "x", {1, 1, 7, 0, 0}},
    {"*: to=json; x: to=ring", "x", {1, 1, 0, 0, 0}},
    {"*: to=ring:json", "x", {1, 1, CREST_EVENT_TO_JSON, 0, 0}},
    /* blanks, ends of lines, comments */
    {" \n# all; casper: off\n*:\tnotice\r\n ; x : minimal  warning # casper: off\n",
     "x",
     {3, 0, BOTH, 0, 0}},
    {"a: error;; b: debug;", "b", {0, 1, BOTH, 0, 0}},
    {"a: error # of a\nb: debug", "b", {0, 1, BOTH, 0, 0}},
};

static void test_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rules_say); i++) {
        crest_event_rules *rules = rules_of(rules_say[i].rules);
        crest_event_choice choice;
        crest_event_rules_choose(rules, rules_say[i].name, &choice);
        if (!crest_event_choice_same(&choice, &rules_say[i].choice))
            fail_msg("%s: %s is %u %u %u %llu %llu", rules_say[i].rules, rules_say[i].name,
                     choice.severity, choice.detail, choice.outputs,
                     (unsigned long long)choice.interval_ns,
                     (unsigned long long)choice.tolerance_ns);
        crest_event_rules_free(rules);
    }
    crest_event_rules *rules = rules_of("*: error; casper.block: debug");
    assert_int_equal(crest_event_rules_count(rules), 2);
    assert_string_equal(crest_event_rules_name(rules, 0), "");
    assert_string_equal(crest_event_rules_name(rules, 1), "casper.block");
    crest_event_rules_free(rules);
    assert_int_equal(crest_event_rules_count(NULL), 0);
}

static const struct {
    const char *rules, *says;
} rules_refused[] = {
    {"casper", "the rule \"casper\" in a test: it has no colon after \"casper\""},
    {"casper debug", "no colon after \"casper\""},
    {"casper:", "it says nothing of \"casper\""},
    {"*: error; casper: loud", "the rule \"casper: loud\" in a test: it does not know \"loud\""},
    {"casper: Debug", "it does not know \"Debug\"; write a severity (debug, info"},
    {"casper: debug,error", "it does not know \"debug,error\""},
    {"casper: debug error", "it says a thing twice, the second time with \"error\""},
    {"casper: to=log to=json", "the second time with \"to=json\""},
    {"casper: debug; casper: minimal", "an earlier one is of the same namespace \"casper\""},
    {"*: debug; *: minimal", "an earlier one is of the same namespace \"*\""},
    {": debug", "there is no namespace \"\""},
    {"casper..x: debug", "there is no namespace \"casper..x\""},
    {"casper.: debug", "there is no namespace \"casper.\""},
    {"casper.*: debug", "there is no namespace \"casper.*\""},
    {"9: debug", "there is no namespace \"9\""},
    {"casper: limit=", "does not know \"limit=\""},
    {"casper: limit=0/s", "there is no limit \"limit=0/s\""},
    {"casper: limit=-1/s", "there is no limit"},
    {"casper: limit=10", "there is no limit"},
    {"casper: limit=10/d", "there is no limit"},
    {"casper: limit=10/sec", "there is no limit"},
    {"casper: limit=1000001/s", "there is no limit"},
    {"casper: limit=18446744073709551617/s", "there is no limit"},
    {"casper: limit=1.5/s", "there is no limit"},
    {"casper: to=", "does not know \"to=\""},
    {"casper: to=log:", "there is no output \"to=log:\""},
    {"casper: to=:log", "there is no output"},
    {"casper: to=kafka", "there is no output \"to=kafka\"; write to= and some of ring, log"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rules_refused); i++) {
        crest_event_rules *rules = (crest_event_rules *)1;
        crest_error error;
        assert_int_equal(
            crest_event_rules_parse(rules_refused[i].rules, "in a test", &rules, &error),
            CREST_INVALID_OPTIONS);
        assert_null(rules);
        if (strstr(error.message, rules_refused[i].says) == NULL)
            fail_msg("%s: %s", rules_refused[i].rules, error.message);
    }
}

/* Bounds: as many rules and bytes as there may be, and one more. */
static void test_bounds(void **state)
{
    (void)state;
    static char text[CREST_EVENT_RULES_BYTES_MAX + 2];
    crest_event_rules *rules;
    crest_error error;
    size_t used = 0;
    for (unsigned i = 0; i < CREST_EVENT_RULES_MAX; i++)
        used += (size_t)sprintf(text + used, "n%u: error\n", i);
    crest_event_rules_free(rules_of(text));
    strcpy(text + used, "m: error");
    assert_int_equal(crest_event_rules_parse(text, "in a test", &rules, &error),
                     CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "more than 256 rules in a test"));
    memset(text, ';', CREST_EVENT_RULES_BYTES_MAX);
    text[CREST_EVENT_RULES_BYTES_MAX] = '\0';
    crest_event_rules_free(rules_of(text));
    text[CREST_EVENT_RULES_BYTES_MAX] = ';';
    assert_int_equal(crest_event_rules_parse(text, "in a test", &rules, &error),
                     CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "have 32769 bytes, and may have 32768"));
    /* a name as long as any, and one byte more */
    memset(text, 'a', CREST_NAME_BYTES_MAX);
    strcpy(text + CREST_NAME_BYTES_MAX, ": error");
    crest_event_rules_free(rules_of(text));
    memset(text, 'a', CREST_NAME_BYTES_MAX + 1);
    strcpy(text + CREST_NAME_BYTES_MAX + 1, ": error");
    assert_int_equal(crest_event_rules_parse(text, "in a test", &rules, &error),
                     CREST_INVALID_OPTIONS);
}

/* Ten at once, then one each tenth of a second, and ten at once again after a quiet second. */
static void test_limit_steps(void **state)
{
    (void)state;
    crest_event_choice choice;
    crest_event_rules *rules = rules_of("*: limit=10/s");
    crest_event_rules_choose(rules, "x", &choice);
    crest_event_rules_free(rules);
    uint64_t word = 0, now = 5 * S;
    for (unsigned second = 0; second < 3; second++, now += 10 * S) {
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(
                crest_event_limit_take(&word, choice.interval_ns, choice.tolerance_ns, now),
                i < 10);
        for (unsigned i = 1; i < 10; i++) {
            uint64_t at = now + i * S / 10;
            assert_int_equal(
                crest_event_limit_take(&word, choice.interval_ns, choice.tolerance_ns, at - 1), 0);
            assert_int_equal(
                crest_event_limit_take(&word, choice.interval_ns, choice.tolerance_ns, at), 1);
        }
    }
    /* a clock that goes back lets nothing through that was used up already */
    assert_int_equal(crest_event_limit_take(&word, S, 0, now), 1);
    assert_int_equal(crest_event_limit_take(&word, S, 0, now - 5 * S), 0);
}

/* Against the definition: in no time T do more than N + T / interval pass, and a greedy writer gets
 * all of them. */
static void test_limit_random(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (unsigned run = 0; run < 200; run++) {
        uint64_t n = 1 + random_next(&seed) % 50, interval = 1 + random_next(&seed) % 1000000;
        uint64_t word = 0;
        uint64_t now = 1 + random_next(&seed) % 1000, first = now, passed = 0;
        for (unsigned i = 0; i < 2000; i++) {
            now += random_next(&seed) % 2 * (random_next(&seed) % interval);
            passed += (uint64_t)crest_event_limit_take(&word, interval, (n - 1) * interval, now);
            assert_true(passed <= n + (now - first) / interval);
        }
        now = word + 1;
        for (uint64_t i = 0; i <= n; i++)
            assert_int_equal(crest_event_limit_take(&word, interval, (n - 1) * interval, now),
                             i < n);
    }
}

/* Threads that share a bucket get together what one would. */
static uint64_t limit_word, limit_passed;

static void *limit_taker(void *turns)
{
    for (uint64_t i = 0; i < (uint64_t)(uintptr_t)turns; i++)
        crest_atomic_add(&limit_passed,
                         (uint64_t)crest_event_limit_take(&limit_word, 1000, 999 * 1000, 1));
    return NULL;
}

static void test_limit_shared(void **state)
{
    (void)state;
    pthread_t takers[4];
    for (size_t i = 0; i < LENGTH(takers); i++)
        assert_int_equal(pthread_create(&takers[i], NULL, limit_taker, (void *)1000), 0);
    for (size_t i = 0; i < LENGTH(takers); i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(limit_passed, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_limit_steps),
        cmocka_unit_test(test_limit_random), cmocka_unit_test(test_limit_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
