/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the grammar, the order in which sources win, files, values, and that no input, however
 * odd, does more than be refused with a message.
 */
#include "base/alloc.h"
#include "base/host_name.h"
#include "run/options.h"
#include "support/random_numbers.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define IN_CODE "in the string given to crest_start"

static const char *const known[] = {
    "service",     "interval",        "jitter",           "console",
    "pushgateway", "pushgateway.job", "pushgateway.gzip", "pushgateway.label.",
};
#define KNOWN (sizeof known / sizeof *known)

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void assert_value(const crest_options *options, const char *key, const char *value)
{
    const char *found = crest_option(options, key);
    if (found == NULL)
        fail_msg("%s is not set", key);
    assert_string_equal(found, value);
}

static void test_grammar(void **state)
{
    static const struct {
        const char *text, *key, *value;
    } cases[] = {
        {"service=a", "service", "a"},
        {"  service =  a b  ,x=1", "service", "a b"},
        {"service=", "service", ""},
        {"service=\"\"", "service", ""},
        {",,service=a,,", "service", "a"},
        {"\n  service=a,\n  x=b\n", "x", "b"},
        {"service=\"a,b=c\",x=1", "service", "a,b=c"},
        {"service='a,b' , x=1", "x", "1"},
        {"service='say \"hi\"'", "service", "say \"hi\""},
        {"service=\"say \"\"hi\"\"\"", "service", "say \"hi\""},
        {"service='it''s'", "service", "it's"},
        {"service=it's", "service", "it's"},
        {"service=a\\b", "service", "a\\b"},
        {"service=$1", "service", "$1"},
        {"service=$${PID}", "service", "${PID}"},
        {"service=a=b", "service", "a=b"},
        {"service=\xc3\xa9", "service", "\xc3\xa9"},
        {"service=a,service=b", "service", "b"},
        {"service=@x", "service", "@x"},
        {"pushgateway.label.Zone_1=b", "pushgateway.label.Zone_1", "b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_options *options = crest_options_new();
        crest_error error;
        crest_error_set(&error, CREST_OK, "%s", "");
        crest_status status = crest_options_add(options, cases[i].text, IN_CODE, &error);
        if (status != CREST_OK)
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_value(options, cases[i].key, cases[i].value);
        assert_string_equal(crest_option_origin(options, cases[i].key), IN_CODE);
        crest_options_free(options);
    }
}

static void test_bad_grammar(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"service", "\"service\" in CREST_OPTS is not an option: write key=value"},
        {"a b=c", "\"a b=c\" in CREST_OPTS is not an option"},
        {"=c", "\"=c\" in CREST_OPTS"},
        {"service=a,\xff=c", "byte 0xff at offset 10, which is not valid UTF-8"},
        {"service=a\x01", "byte 0x01 at offset 9, which is a control character"},
        {"service=\"a", "begins with \", but no \" ends it"},
        {"service='a''", "no ' ends it"},
        {"service='a'b", "after the quoted value of \"service\" in CREST_OPTS comes \"b\""},
        {"service=${HOME}", "${HOME} in the value of \"service\" in CREST_OPTS is not known"},
        {"service=${PID", "${PID in the value"},
        {"service=a\ninterval=b", "goes over a line's end; options are separated by commas"},
        {"service='a\nb'", "goes over a line's end"},
        {"service=a\rb", "goes over a line's end"},
        {"@", "is to be followed by the path of a file"},
        {"@/nonexistent/crest", "/nonexistent/crest, named in CREST_OPTS, cannot be read: No such"},
        {"@/", "cannot be read: Is a directory"},
        {"@/dev/null", "cannot be read: it is not a regular file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_options *options = crest_options_new();
        crest_error error;
        assert_int_equal(crest_options_add(options, cases[i].text, "in CREST_OPTS", &error),
                         CREST_INVALID_OPTIONS);
        assert_int_equal(error.status, CREST_INVALID_OPTIONS);
        assert_contains(error.message, cases[i].part);
        assert_int_equal(crest_options_add(options, cases[i].text, "in CREST_OPTS", NULL),
                         CREST_INVALID_OPTIONS);
        crest_options_free(options);
    }
}

/* What may be a part of a password in a URL is not repeated. */
static void test_secrets_are_not_shown(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"p=http://u:hid,den@h:9091", "write a comma as %2C"},
        {"p=http://u:hid,den,den@h:9091,service=x", "write a comma as %2C"},
        {"p='http://u:hid'den@h:9091'", "a quote inside quotes twice"},
        {"p=http://u:hid${den@h:9091", "$${ stands for a plain ${"},
        {"p=http://u:hid${PID}${den}@h:9091", "$${ stands for a plain ${"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_options *options = crest_options_new();
        crest_error error = {CREST_OK, ""};
        assert_int_equal(crest_options_add(options, cases[i].text, "in CREST_OPTS", &error),
                         CREST_INVALID_OPTIONS);
        assert_contains(error.message, cases[i].part);
        assert_null(strstr(error.message, "hid"));
        assert_null(strstr(error.message, "den"));
        crest_options_free(options);
    }
    crest_options *options = crest_options_new();
    crest_error error;
    assert_int_equal(crest_options_add(options, "p=http://h,servce,a=b@c", "here", &error),
                     CREST_INVALID_OPTIONS);
    assert_contains(error.message, "\"servce\" here is not an option");
    crest_options_free(options);
}

static void test_replaced(void **state)
{
    (void)state;
    crest_options *options = crest_options_new();
    assert_int_equal(
        crest_options_add(options, "a=x${PID}y,b='${HOST}',c=\"${HOST}-${PID}\"", IN_CODE, NULL),
        CREST_OK);
    char host[CREST_HOST_BYTES], expected[CREST_HOST_BYTES + 32];
    crest_host_name(host);
    assert_true(host[0] != '\0' && crest_utf8_is_valid(host));
    snprintf(expected, sizeof expected, "x%ldy", (long)getpid());
    assert_value(options, "a", expected);
    assert_value(options, "b", host);
    snprintf(expected, sizeof expected, "%s-%ld", host, (long)getpid());
    assert_value(options, "c", expected);
    crest_options_free(options);
}

static void test_later_wins(void **state)
{
    (void)state;
    crest_options *options = crest_options_new();
    assert_int_equal(crest_options_add(options, "service=code,interval=1s", IN_CODE, NULL),
                     CREST_OK);
    assert_int_equal(crest_options_add(options, NULL, "in CREST_OPTS", NULL), CREST_OK);
    assert_int_equal(crest_options_add(options, "service=operator", "in CREST_OPTS", NULL),
                     CREST_OK);
    assert_value(options, "service", "operator");
    assert_string_equal(crest_option_origin(options, "service"), "in CREST_OPTS");
    assert_value(options, "interval", "1s");
    assert_null(crest_option(options, "jitter"));
    assert_null(crest_option_origin(options, "jitter"));
    crest_options_free(options);
}

static void test_walk(void **state)
{
    (void)state;
    crest_options *options = crest_options_new();
    const char *text = "p.label.b=2,p.label.=0,p=1,p.label.c=3,p.labels=9,p.label.a=1,p.label.b=4";
    assert_int_equal(crest_options_add(options, text, IN_CODE, NULL), CREST_OK);
    char seen[64] = "";
    size_t cursor = 0;
    const char *key, *value;
    while (crest_option_next(options, "p.label.", &cursor, &key, &value)) {
        strcat(seen, key + strlen("p.label."));
        strcat(seen, value);
    }
    assert_string_equal(seen, "a1b4c3");
    assert_int_equal(crest_option_next(options, "p.label.", &cursor, &key, &value), 0);
    crest_options_free(options);
}

/* A file below /tmp with these bytes; the caller unlinks and frees the path. */
static char *file_with(const char *bytes, size_t length)
{
    char *path = strdup("/tmp/crest-options-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    close(file);
    return path;
}

static crest_status add_file(crest_options *options, const char *bytes, size_t length,
                             char *path_seen, crest_error *error)
{
    char *path = file_with(bytes, length), text[256];
    snprintf(text, sizeof text, "service=before,@%s,interval=after", path);
    crest_status status = crest_options_add(options, text, "in CREST_OPTS", error);
    strcpy(path_seen, path);
    unlink(path);
    free(path);
    return status;
}

static void test_file(void **state)
{
    (void)state;
    static const char bytes[] = "# the node\r\n"
                                "\n"
                                "  service = a, b and c  \r\n"
                                "interval=1s\n"
                                "\t# more\n"
                                "x=\"q, ${PID}\"\n"
                                "last=no line feed";
    crest_options *options = crest_options_new();
    char path[64], expected[128];
    crest_error error = {0};
    if (add_file(options, bytes, sizeof bytes - 1, path, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_value(options, "service", "a, b and c");
    snprintf(expected, sizeof expected, "in %s line 3", path);
    assert_string_equal(crest_option_origin(options, "service"), expected);
    assert_value(options, "interval", "after");
    snprintf(expected, sizeof expected, "q, %ld", (long)getpid());
    assert_value(options, "x", expected);
    assert_value(options, "last", "no line feed");
    crest_options_free(options);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *bytes, *part;
    } cases[] = {
        {"a=1\nnonsense\n", " line 2 is not an option: write key=value"},
        {"a=1\n\n@/etc/other\n", " line 3: a file of options may not name another one"},
        {"a='1\n'\n", "\"a\" in /tmp/crest-options-"},
        {"a='1',\n", "comes \",\""},
        {"a=\x80\n", "has a byte 0x80 at offset 2, which is not valid UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_options *options = crest_options_new();
        crest_error error;
        char path[64];
        assert_int_equal(add_file(options, cases[i].bytes, strlen(cases[i].bytes), path, &error),
                         CREST_INVALID_OPTIONS);
        assert_contains(error.message, cases[i].part);
        assert_contains(error.message, path);
        crest_options_free(options);
    }
}

static void test_bounds(void **state)
{
    (void)state;
    crest_options *options = crest_options_new();
    crest_error error;
    char *text = malloc(CREST_OPTIONS_BYTES_MAX + 2), path[64];
    memset(text, ',', CREST_OPTIONS_BYTES_MAX + 1);
    text[CREST_OPTIONS_BYTES_MAX + 1] = '\0';
    assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "longer than 65536 bytes");
    assert_int_equal(add_file(options, text, CREST_OPTIONS_BYTES_MAX + 1, path, &error),
                     CREST_INVALID_OPTIONS);
    assert_contains(error.message, "larger than 65536 bytes");
    text[CREST_OPTIONS_BYTES_MAX] = '\0';
    assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_OK);

    memset(text, 'k', CREST_OPTION_KEY_BYTES_MAX + 1);
    strcpy(text + CREST_OPTION_KEY_BYTES_MAX + 1, "=1");
    assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "is longer than 128 bytes");
    assert_int_equal(crest_options_add(options, text + 1, IN_CODE, &error), CREST_OK);

    memset(text, 'v', CREST_OPTION_VALUE_BYTES_MAX + 3);
    memcpy(text, "a=", 2);
    text[CREST_OPTION_VALUE_BYTES_MAX + 3] = '\0';
    assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "longer than 8192 bytes");
    text[CREST_OPTION_VALUE_BYTES_MAX + 2] = '\0';
    assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_OK);
    crest_options_free(options);

    options = crest_options_new();
    for (unsigned i = 0; i < CREST_OPTION_COUNT_MAX; i++) {
        snprintf(text, 32, "k%u=1", i);
        assert_int_equal(crest_options_add(options, text, IN_CODE, &error), CREST_OK);
    }
    assert_int_equal(crest_options_add(options, "k7=2", IN_CODE, &error), CREST_OK);
    assert_int_equal(crest_options_add(options, "one=2", IN_CODE, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "more than 256 options; the one too many is \"one\"");
    crest_options_free(options);
    free(text);
}

static void test_unknown_keys(void **state)
{
    static const char all[] = "There are: service, interval, jitter, console, pushgateway; and ";
    static const char of_the_gateway[] = "Those of pushgateway are: job, gzip, label.KEY";
    static const struct {
        const char *text, *part, *list;
    } cases[] = {
        {"pushgatewai=http://x", "\"pushgatewai\" (in CREST_OPTS). Did you mean \"pushgateway\"? ",
         all},
        {"intreval=1s", "Did you mean \"interval\"?", all},
        {"pushgateway.jobs=x", "Did you mean \"pushgateway.job\"?", of_the_gateway},
        {"pushgateway@lan.jobs=x", "\"pushgateway@lan.jobs\" (in", of_the_gateway},
        {"frobnicate=1", "\"frobnicate\" (in CREST_OPTS). There are: service, ", all},
        {"frobnicate.job=1", "\"frobnicate.job\" (in CREST_OPTS). There are: service, ", all},
        {"pushgateway.frobnicate=1", "(in CREST_OPTS). Those", of_the_gateway},
        {"pushgateway.label.=1", "Did you mean \"pushgateway.label.KEY\"?", of_the_gateway},
        {"pushgatewayx=1", "Did you mean \"pushgateway\"?", all},
    };
    (void)state;
    crest_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crest_options *options = crest_options_new();
        assert_int_equal(crest_options_add(options, cases[i].text, "in CREST_OPTS", NULL),
                         CREST_OK);
        assert_int_equal(crest_options_check_keys(options, known, KNOWN, &error),
                         CREST_INVALID_OPTIONS);
        assert_contains(error.message, cases[i].part);
        assert_contains(error.message, cases[i].list);
        crest_options_free(options);
    }
    crest_options *options = crest_options_new();
    assert_int_equal(
        crest_options_add(
            options, "pushgateway.label.zone=b,pushgateway=x,console=1,service=", IN_CODE, NULL),
        CREST_OK);
    assert_int_equal(crest_options_check_keys(options, known, KNOWN, &error), CREST_OK);
    /* without the kinds */
    assert_int_equal(crest_options_check_keys(options, known, 3, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "console in the string given to crest_start needs the console "
                                   "reporter");
    assert_contains(error.message, "link it with `pkg-config --libs crest-reporters`");
    crest_options_free(options);
    options = crest_options_new();
    assert_int_equal(crest_options_add(options, "pushgateway.job=x", IN_CODE, NULL), CREST_OK);
    assert_int_equal(crest_options_check_keys(options, known, 3, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "pkg-config --libs crest-reporters");
    crest_options_free(options);
}

static void test_durations(void **state)
{
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {{"250ms", 250},
                {"10s", 10000},
                {"10", 10000},
                {"5m", 300000},
                {"1h", 3600000},
                {"0", 0},
                {"1.5s", 1500},
                {"0.25", 250},
                {"0.5ms", 0},
                {"1.5h", 5400000},
                {"87600h", CREST_OPTION_DURATION_MS_MAX}};
    static const char *const bad[] = {"",
                                      "s",
                                      "-1s",
                                      "+1",
                                      "1 s",
                                      "1d",
                                      "1e3",
                                      "0x10",
                                      ".5",
                                      "1.",
                                      "1.s",
                                      "1..2",
                                      "1,5s",
                                      "10S",
                                      "1ms2",
                                      "inf",
                                      "nan",
                                      "1.1234567s",
                                      "87601h",
                                      "18446744073709551616",
                                      "99999999999999999999ms"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        crest_options *options = crest_options_new();
        char text[64];
        snprintf(text, sizeof text, "interval='%s'", good[i].text);
        assert_int_equal(crest_options_add(options, text, IN_CODE, NULL), CREST_OK);
        uint64_t ms = 77;
        assert_int_equal(crest_option_duration_ms(options, "interval", &ms, NULL), CREST_OK);
        assert_int_equal(ms, good[i].ms);
        assert_int_equal(crest_option_duration_ms(options, "absent", &ms, NULL), CREST_OK);
        assert_int_equal(ms, good[i].ms);
        crest_options_free(options);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        crest_options *options = crest_options_new();
        char text[64], expected[128];
        snprintf(text, sizeof text, "interval='%s'", bad[i]);
        assert_int_equal(crest_options_add(options, text, IN_CODE, NULL), CREST_OK);
        uint64_t ms = 77;
        crest_error error;
        assert_int_equal(crest_option_duration_ms(options, "interval", &ms, &error),
                         CREST_INVALID_OPTIONS);
        assert_int_equal(ms, 77);
        snprintf(expected, sizeof expected,
                 "interval=%s in the string given to crest_start is not a duration: write 250ms",
                 bad[i]);
        assert_contains(error.message, expected);
        crest_options_free(options);
    }
}

static void test_switches_and_fractions(void **state)
{
    (void)state;
    static const char text[] = "a=on,b=off,c=true,d=false,e=1,f=0,g=yes,h=no,i=maybe,"
                               "p=0,q=1,r=0.25,s=1.000001,t=-0.1,u=0.5x";
    crest_options *options = crest_options_new();
    crest_error error;
    assert_int_equal(crest_options_add(options, text, IN_CODE, NULL), CREST_OK);
    for (const char *key = "abcdefgh"; *key != '\0'; key++) {
        char name[2] = {*key, '\0'};
        int value = 77;
        assert_int_equal(crest_option_switch(options, name, &value, &error), CREST_OK);
        assert_int_equal(value, (*key - 'a' + 1) % 2);
    }
    int value = 77;
    assert_int_equal(crest_option_switch(options, "i", &value, &error), CREST_INVALID_OPTIONS);
    assert_int_equal(value, 77);
    assert_contains(error.message, "i=maybe in the string given to crest_start is not a switch");
    double fraction = 7;
    assert_int_equal(crest_option_fraction(options, "absent", &fraction, &error), CREST_OK);
    assert_true(fraction == 7);
    static const double expected[] = {0, 1, 0.25};
    for (const char *key = "pqr"; *key != '\0'; key++) {
        char name[2] = {*key, '\0'};
        assert_int_equal(crest_option_fraction(options, name, &fraction, &error), CREST_OK);
        assert_true(fraction == expected[*key - 'p']);
    }
    for (const char *key = "stu"; *key != '\0'; key++) {
        char name[2] = {*key, '\0'};
        assert_int_equal(crest_option_fraction(options, name, &fraction, &error),
                         CREST_INVALID_OPTIONS);
        assert_contains(error.message, "is not a number from 0 to 1");
    }
    crest_options_free(options);
}

static uint64_t draw(uint64_t *seed)
{
    return random_next(seed);
}

/* Bytes that the grammar cares about come more often than chance would have it. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char liked[] = "=,\"'${}@#\n\r\t .kPIDHOST\\";
    uint64_t seed = 0x9e3779b97f4a7c15u, refused = 0;
    for (unsigned round = 0; round < 40000; round++) {
        char text[64];
        size_t length = draw(&seed) % sizeof text;
        for (size_t i = 0; i < length; i++)
            text[i] = draw(&seed) % 4 ? liked[draw(&seed) % (sizeof liked - 1)]
                                      : (char)(draw(&seed) % 255 + 1);
        /* a path made of such bytes is not to be opened */
        for (size_t i = 0; i < length; i++)
            text[i] = text[i] == '@' && round % 2 ? '/' : text[i];
        text[length ? length - 1 : 0] = '\0';
        crest_options *options = crest_options_new();
        crest_error error = {CREST_OK, "untouched"};
        crest_status status = crest_options_add(options, text, "in CREST_OPTS", &error);
        if (status != CREST_OK) {
            refused++;
            assert_int_equal(status, CREST_INVALID_OPTIONS);
            assert_int_equal(error.status, status);
            assert_contains(error.message, "in CREST_OPTS");
            assert_true(crest_utf8_is_valid(error.message));
        }
        size_t cursor = 0;
        const char *key, *value, *before = "";
        while (crest_option_next(options, "", &cursor, &key, &value)) {
            assert_true(strcmp(before, key) < 0 && crest_utf8_is_valid(value));
            before = key;
            uint64_t ms;
            int on;
            double fraction;
            crest_option_duration_ms(options, key, &ms, &error);
            crest_option_switch(options, key, &on, &error);
            crest_option_fraction(options, key, &fraction, &error);
        }
        if (crest_options_check_keys(options, known, KNOWN, &error) != CREST_OK)
            assert_true(crest_utf8_is_valid(error.message) && error.message[0] != '\0');
        crest_options_free(options);
    }
    assert_true(refused > 1000 && refused < 40000);
}

/* Each allocation fails in turn: refused with CREST_NO_MEMORY, nothing leaks or is half there. */
static void test_no_memory(void **state)
{
    (void)state;
    char *path = file_with("c=3\nd=4\n", 8), text[128];
    snprintf(text, sizeof text, "a=1,b='2',a=3,@%s", path);
    unsigned long fail = 1;
    for (;; fail++) {
        crest_options *options = crest_options_new();
        crest_error error;
        crest_alloc_fail_after(fail);
        crest_status status = crest_options_add(options, text, IN_CODE, &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK) {
            assert_value(options, "d", "4");
            crest_options_free(options);
            break;
        }
        assert_int_equal(status, CREST_NO_MEMORY);
        crest_options_free(options);
    }
    assert_true(fail > 15);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_bad_grammar),
        cmocka_unit_test(test_secrets_are_not_shown),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_later_wins),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_switches_and_fractions),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
