/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_refused.h: what the log says of a refused declaration names both kinds, their labels and
 * where each is written, or what of its options cannot be.
 */
#include "base/misuse.h"
#include "support/core_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

CREST_COUNTER_FAMILY(peers, "refused.peers", "Peers.", peer, direction);
#define PEERS_LINE 14
CREST_GAUGE(peers_again, "refused.peers", "Peers.");
#define AGAIN_LINE 16
CREST_COUNTER_FAMILY(bounded, "refused.bounded", "A reserved label.", le);
CREST_HISTOGRAM(longest, "refused..name", "Two dots.");

static char told[16][CREST_ERROR_BYTES];
static unsigned told_count;

static void tell(crest_log_level level, const char *message, void *unused)
{
    (void)unused;
    assert_int_equal(level, CREST_LOG_WARNING);
    assert_true(told_count < LENGTH(told));
    snprintf(told[told_count++], sizeof *told, "%s", message);
}

/* The message that has `part` in it. */
static const char *message_with(const char *part)
{
    for (unsigned i = 0; i < told_count; i++)
        if (strstr(told[i], part) != NULL)
            return told[i];
    fail_msg("no message has \"%s\"; the first of %u is: %s", part, told_count, told[0]);
    return "";
}

static void assert_said(const char *message, const char *part)
{
    if (strstr(message, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, message);
}

static int tell_all(void **state)
{
    (void)state;
    crest_status status;
    static const double falling[] = {3, 2, 1};
    crest_buckets buckets = {falling, 3};
    crest_metric_options options = {.name = "refused.falling", .buckets = &buckets};
    crest_histogram_get(NULL, &options, &status);
    crest_gauge_get(NULL, &(crest_metric_options){.name = "refused.unit", .unit = (crest_unit)99},
                    &status);
    crest_log_to(tell, NULL);
    crest_misuse_tell();
    return 0;
}

static void test_two_kinds(void **state)
{
    (void)state;
    char place[64];
    const char *message = message_with("refused.peers");
    assert_said(message, "two kinds of metric");
    snprintf(place, sizeof place, "test_metric_refused.c:%d)", PEERS_LINE);
    assert_said(message, "it is a counter with the labels peer, direction (");
    assert_said(message, place);
    snprintf(place, sizeof place, "test_metric_refused.c:%d)", AGAIN_LINE);
    assert_said(message, "asked for as a gauge without labels (");
    assert_said(message, place);
    assert_said(message, "give one of them another name");
}

static void test_label_and_name(void **state)
{
    (void)state;
    const char *label = message_with("refused.bounded"), *name = message_with("refused..name");
    assert_said(label, "label key le is one");
    assert_said(label, "test_metric_refused.c:");
    assert_said(name, "two separators in a row");
    assert_said(name, "test_metric_refused.c:");
}

static void test_options(void **state)
{
    (void)state;
    assert_said(message_with("refused.falling"), "bucket bound 2 of 3 is not above");
    assert_said(message_with("refused.unit"), "CREST_RATIO");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_kinds),
        cmocka_unit_test(test_label_and_name),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests_name("metric_refused", tests, tell_all, NULL);
}
