/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of groups: which values are base64, what is refused, what is never shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pushgateway/push_url.h"

#define GATEWAY "http://gw:9091"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char url[CREST_PUSHGATEWAY_URL_BYTES_MAX];

static crest_status group(const char *job, const char *instance, const crest_page_label *labels,
                          unsigned count, crest_error *error)
{
    return crest_push_url_group(GATEWAY, job, instance, labels, count, url, sizeof url, error);
}

static void every_value_has_one_address(void **state)
{
    (void)state;
    /* The right sides were made with Python's base64.urlsafe_b64encode, padding taken off. */
    static const struct {
        const char *value, *segment;
    } cases[] = {
        {"node-1_A", "/node-1_A"},
        {"a.b", "@base64/YS5i"},
        {"..", "@base64/Li4"},
        {".", "@base64/Lg"},
        {"10.0.0.7:9000", "@base64/MTAuMC4wLjc6OTAwMA"},
        {"a/b", "@base64/YS9i"},
        {"a//b", "@base64/YS8vYg"},
        {"a b", "@base64/YSBi"},
        {"a+b", "@base64/YSti"},
        {"%2F", "@base64/JTJG"},
        {"a@b", "@base64/YUBi"},
        {"\"\\\n", "@base64/IlwK"},
        {"caf\xc3\xa9", "@base64/Y2Fmw6k"},
        {"\xe2\x98\x83", "@base64/4piD"},
        {"~~~???", "@base64/fn5-Pz8_"},
        {"\xf0\x9f\x9a\x80", "@base64/8J-agA"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[256] = GATEWAY "/metrics/job";
        strcat(strcat(want, cases[i].segment), "/instance");
        strcat(want, cases[i].segment);
        crest_error error = {0};
        assert_int_equal(group(cases[i].value, cases[i].value, NULL, 0, &error), CREST_OK);
        assert_string_equal(url, want);
    }
}

static void job_is_first_and_labels_follow_in_order(void **state)
{
    (void)state;
    const crest_page_label labels[] = {{"zone", "z/1"}, {"empty", ""}, {"dc", "x"}};
    assert_int_equal(group("j", "i", labels, 3, NULL), CREST_OK);
    assert_string_equal(url,
                        GATEWAY "/metrics/job/j/instance/i/zone@base64/ei8x/empty@base64/=/dc/x");
}

static void slashes_at_the_end_of_the_url_do_not_double(void **state)
{
    (void)state;
    assert_int_equal(
        crest_push_url_group("http://h/pre//", "j", "i", NULL, 0, url, sizeof url, NULL), CREST_OK);
    assert_string_equal(url, "http://h/pre/metrics/job/j/instance/i");
}

static void bad_groups_are_refused(void **state)
{
    (void)state;
    char longest[CREST_LABEL_VALUE_BYTES_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    char long_key[CREST_LABEL_KEY_BYTES_MAX + 2];
    memset(long_key, 'k', sizeof long_key);
    long_key[sizeof long_key - 1] = '\0';
    const struct {
        const char *job, *instance;
        crest_page_label labels[2];
        unsigned count;
        const char *says;
    } cases[] = {
        {"", "i", {{0}}, 0, "\"job\" is empty"},
        {NULL, "i", {{0}}, 0, "\"job\" is empty"},
        {"j", "", {{0}}, 0, "\"instance\" is empty"},
        {"\xff", "i", {{0}}, 0, "not UTF-8"},
        {"j", "\xc3", {{0}}, 0, "not UTF-8"},
        {"j", longest, {{0}}, 0, "1001 bytes"},
        {"j", "i", {{"a", "\xed\xa0\x80"}}, 1, "not UTF-8"},
        {"j", "i", {{"a-b", "x"}}, 1, "cannot be the key"},
        {"j", "i", {{"", "x"}}, 1, "cannot be the key"},
        {"j", "i", {{NULL, "x"}}, 1, "cannot be the key"},
        {"j", "i", {{"_a", "x"}}, 1, "cannot be the key"},
        {"j", "i", {{"__name__", "x"}}, 1, "cannot be the key"},
        {"j", "i", {{"1a", "x"}}, 1, "cannot be the key"},
        {"j", "i", {{"a\x1b[2J", "x"}}, 1, "\"a [2J\" cannot be the key"},
        {"j", "i", {{long_key, "x"}}, 1, "101 bytes"},
        {"j", "i", {{"job", "x"}}, 1, "option of its own"},
        {"j", "i", {{"instance", "x"}}, 1, "option of its own"},
        {"j", "i", {{"le", "x"}}, 1, "histograms"},
        {"j", "i", {{"quantile", "x"}}, 1, "summaries"},
        {"j", "i", {{"a", NULL}}, 1, "\"a\" is empty"},
        {"j", "i", {{"a", "1"}, {"a", "2"}}, 2, "given twice"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error = {0};
        assert_int_equal(
            group(cases[i].job, cases[i].instance, cases[i].labels, cases[i].count, &error),
            CREST_INVALID_LABEL);
        assert_int_equal(error.status, CREST_INVALID_LABEL);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
    }
}

static void too_much_is_refused_and_never_cut(void **state)
{
    (void)state;
    crest_page_label many[CREST_PUSHGATEWAY_LABELS_MAX + 1];
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                       "j", "k", "l", "m", "n", "o", "p", "q"};
    for (unsigned i = 0; i < COUNT(many); i++)
        many[i] = (crest_page_label){keys[i], "v"};
    crest_error error;
    assert_int_equal(group("j", "i", many, CREST_PUSHGATEWAY_LABELS_MAX, &error), CREST_OK);
    assert_int_equal(group("j", "i", many, COUNT(many), &error), CREST_LIMIT);
    assert_int_equal(group("j", "i", NULL, 1, &error), CREST_INVALID_ARGUMENT);

    const char *fits = GATEWAY "/metrics/job/j/instance/i";
    char small[64];
    assert_int_equal(
        crest_push_url_group(GATEWAY, "j", "i", NULL, 0, small, strlen(fits) + 1, NULL), CREST_OK);
    assert_string_equal(small, fits);
    for (size_t size = 0; size <= strlen(fits); size++)
        assert_int_equal(crest_push_url_group(GATEWAY, "j", "i", NULL, 0, small, size, &error),
                         CREST_LIMIT);
}

static void usable_urls_are_accepted(void **state)
{
    (void)state;
    static const char *const good[] = {
        "HTTPS://h",
        "http://127.0.0.1:9091",
        "https://gateway.example/prefix/",
        "HTTP://h",
        "http://[::1]:9091",
        "http://[::1]",
        "http://user:p%40ss@h:1",
        "http://u@h@h:65535",
        "http://h:9091/a%20b/..",
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        crest_error error = {0};
        if (crest_push_url_check(good[i], &error) != CREST_OK)
            fail_msg("%s: %s", good[i], error.message);
    }
}

static void unusable_urls_say_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *url, *says;
    } cases[] = {
        {NULL, "No URL"},
        {"", "No URL"},
        {"127.0.0.1:9091", "http:// or https://"},
        {"ftp://h", "http:// or https://"},
        {"file:///etc/passwd", "http:// or https://"},
        {"http://", "no host"},
        {"http:///path", "no host"},
        {"http://:9091", "no host"},
        {"http://h:", "from 1 to 65535"},
        {"http://h:0", "from 1 to 65535"},
        {"http://h:65536", "from 1 to 65535"},
        {"http://h:123456789012", "from 1 to 65535"},
        {"http://h:90a", "not a number"},
        {"http://[::1", "not complete"},
        {"http://[]:1", "not complete"},
        {"http://[::1]x", "only a port"},
        {"http://h]:1", "brackets"},
        {"http://h?x=1", "query or a fragment"},
        {"http://h/#f", "query or a fragment"},
        {"http://h/a b", "%XX"},
        {"http://h/\r\nX: y", "%XX"},
        {"http://h/caf\xc3\xa9", "%XX"},
        {"http://h/'", "%XX"},
        {"http://h:9091/metrics/job/x", "it names a group"},
        {"http://h/prefix/metrics/job/x/instance/y", "pushgateway.job"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error = {0};
        assert_int_equal(crest_push_url_check(cases[i].url, &error), CREST_INVALID_ARGUMENT);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
        assert_null(strpbrk(error.message, "\r\n"));
    }
    char huge[CREST_PUSHGATEWAY_URL_BYTES_MAX + 1] = "http://";
    memset(huge + 7, 'h', sizeof huge - 8);
    huge[sizeof huge - 1] = '\0';
    assert_int_equal(crest_push_url_check(huge, NULL), CREST_LIMIT);
}

static void passwords_are_never_shown(void **state)
{
    (void)state;
    static const char *const cases[] = {"http://user:secret@h:1/p/?", "http://u:secret/secret@h",
                                        "http://u:secret@secret@h:x", "gw:secret@h"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_error error = {0};
        crest_push_url_check(cases[i], &error);
        assert_null(strstr(error.message, "secret"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_one_address),
        cmocka_unit_test(job_is_first_and_labels_follow_in_order),
        cmocka_unit_test(slashes_at_the_end_of_the_url_do_not_double),
        cmocka_unit_test(bad_groups_are_refused),
        cmocka_unit_test(too_much_is_refused_and_never_cut),
        cmocka_unit_test(usable_urls_are_accepted),
        cmocka_unit_test(unusable_urls_say_what_is_wrong),
        cmocka_unit_test(passwords_are_never_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
