/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which format an Accept header asks for.
 */
#include <crest/page.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/random_numbers.h"

#define TEXT "text/plain; version=0.0.4; charset=utf-8"
#define PROTOBUF                                                                                   \
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
/* as it is asked for */
#define DELIMITED                                                                                  \
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

typedef struct accepted {
    const char *accept;
    const char *content_type;
} accepted;

/* As they are sent. */
static const accepted real[] = {
    /* Prometheus 2.42 */
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
     "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     OPENMETRICS},
    /* the same with native histograms */
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
     "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;"
     "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     PROTOBUF},
    /* Prometheus 2.22 and older */
    {"application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", TEXT},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
     "encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3",
     PROTOBUF},
    /* Prometheus 3.x with scrape_native_histograms */
    {DELIMITED ";escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=1.0.0;"
               "escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
               "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;"
               "q=0.2,*/*;q=0.1",
     PROTOBUF "; escaping=allow-utf-8"},
    {DELIMITED ";escaping=underscores;q=0.6,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
     PROTOBUF "; escaping=underscores"},
    /* Prometheus 3.x, names in UTF-8 */
    {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
     "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;"
     "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
     OPENMETRICS "; escaping=allow-utf-8"},
    /* with legacy names */
    {"application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.5,"
     "text/plain;version=1.0.0;escaping=underscores;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
     OPENMETRICS "; escaping=underscores"},
    /* with text preferred, as after `fallback_scrape_protocol` and in agents */
    {"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,"
     "application/openmetrics-text;version=1.0.0;escaping=values;q=0.3,*/*;q=0.1",
     TEXT},
    /* curl, a browser, Go's default, telegraf, Datadog's agent */
    {"*/*", TEXT},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", TEXT},
    {"text/plain", TEXT},
    {"text/plain;version=0.0.4;q=1,*/*;q=0.1", TEXT},
    {"application/openmetrics-text;version=1.0.0;charset=utf-8", OPENMETRICS},
};

static const accepted grammar[] = {
    {NULL, TEXT},
    {"", TEXT},
    {" ", TEXT},
    {",,;,", TEXT},
    {"application/openmetrics-text", OPENMETRICS},
    {"APPLICATION/OpenMetrics-Text;VERSION=1.0.0", OPENMETRICS},
    {"application/openmetrics-text;version=\"1.0.0\"", OPENMETRICS},
    {"application/openmetrics-text;version=\"1.0.0", TEXT},
    {" \tapplication/openmetrics-text ; version = 1.0.0 ; q = 0.5 ", OPENMETRICS},
    {"application/openmetrics-text;;q=0.5;", OPENMETRICS},
    {"application/openmetrics-text;version=2.0.0", TEXT},
    {"application/openmetrics-text;version=1.0.00", TEXT},
    {"application/openmetrics-text;version=1.0", TEXT},
    {"application/openmetrics-textual", TEXT},
    {"application/*", OPENMETRICS},
    {"application/*;q=0.5, text/plain;q=0.4", OPENMETRICS},
    {"application/*, text/*", TEXT},
    {"text/*, application/*", TEXT},
    {"*/plain", TEXT},
    {"*/openmetrics-text", TEXT},
    /* values of q */
    {"text/plain;q=0.2,application/openmetrics-text;q=0.3", OPENMETRICS},
    {"text/plain;q=0.3,application/openmetrics-text;q=0.2", TEXT},
    {"text/plain;q=0.300,application/openmetrics-text;q=0.301", OPENMETRICS},
    {"text/plain;q=0.3,application/openmetrics-text;Q=1.000", OPENMETRICS},
    {"text/plain;q=0.3,application/openmetrics-text;q=1.", OPENMETRICS},
    {"text/plain;q=0.3,application/openmetrics-text;q=0.", TEXT},
    {"application/openmetrics-text;q=0", TEXT},
    {"application/openmetrics-text;q=0.000,*/*", TEXT},
    {"text/plain;q=0,*/*;q=0.1", OPENMETRICS},
    {"text/plain;q=0,application/openmetrics-text;q=0", TEXT},
    /* equal ones: a name before a wildcard, then the first */
    {"*/*,application/openmetrics-text", OPENMETRICS},
    {"*/*,text/plain", TEXT},
    {"application/openmetrics-text,text/plain", OPENMETRICS},
    {"text/plain,application/openmetrics-text", TEXT},
    /* the most specific range of a type speaks for it, wherever it stands */
    {"application/openmetrics-text;version=1.0.0;q=0.1,application/openmetrics-text,"
     "text/plain;q=0.5",
     TEXT},
    {"*/*;q=0.9,application/openmetrics-text;q=0.1", TEXT},
    {"application/*;q=0.1,*/*", TEXT},
    /* malformed parts are not there */
    {"application/openmetrics-text;q=2,text/plain;q=0.1", TEXT},
    {"application/openmetrics-text;q=1.001,text/plain;q=0.1", TEXT},
    {"application/openmetrics-text;q=0.0001,text/plain;q=0.1", TEXT},
    {"application/openmetrics-text;q=-1", TEXT},
    {"application/openmetrics-text;q=", TEXT},
    {"application/openmetrics-text;q", TEXT},
    {"application/openmetrics-text;q=0.5x", TEXT},
    {"application/openmetrics-text;q=0,5", TEXT},
    {"application/openmetrics-text;q=NaN", TEXT},
    {"application/openmetrics-text q=0.5", TEXT},
    {"application openmetrics-text", TEXT},
    {"/openmetrics-text,application/", TEXT},
    {"application/openmetrics-text/x", TEXT},
    {"x y,application/openmetrics-text", OPENMETRICS},
    {"a/b;c=\"d,application/openmetrics-text\",text/plain;q=0.1", TEXT},
    {"a/b c=\"d,e\",application/openmetrics-text", OPENMETRICS},
    {"a/b;c=\"d\\\",\",application/openmetrics-text", OPENMETRICS},
    {"a/b;c=\"d\\", TEXT},
    {"a/b;c=@,application/openmetrics-text", OPENMETRICS},
    {"a/b;flag;x=y,application/openmetrics-text;flag", OPENMETRICS},
    {"\xff\xfe\x01,application/openmetrics-text", OPENMETRICS},
    /* protobuf: to a client that names all of it, and to no wildcard */
    {DELIMITED, PROTOBUF},
    {DELIMITED ";q=0", TEXT},
    {DELIMITED ";q=0.5,text/plain;q=0.6", TEXT},
    {DELIMITED ";q=0.6,text/plain;q=0.5", PROTOBUF},
    {"text/plain," DELIMITED, TEXT},
    {DELIMITED ",text/plain", PROTOBUF},
    {"*/*," DELIMITED, PROTOBUF},
    {"application/*;q=0.1," DELIMITED ";q=0.05", OPENMETRICS},
    {"APPLICATION/VND.Google.Protobuf; Proto=\"io.prometheus.client.MetricFamily\"; "
     "ENCODING=delimited ; q = 0.3",
     PROTOBUF},
    {"application/vnd.google.protobuf", TEXT},
    {"application/vnd.google.protobuf;encoding=delimited", TEXT},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", TEXT},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", TEXT},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamil;encoding=delimited",
     TEXT},
    {"application/vnd.google.protobuf;proto=;encoding=delimited", TEXT},
    {DELIMITED ";q=1.5,text/plain;q=0.1", TEXT},
    {"application/*," DELIMITED ";q=0", OPENMETRICS},
    {DELIMITED ";escaping=values", PROTOBUF "; escaping=values"},
    {DELIMITED ";escaping=dots", PROTOBUF},
    /* escaping */
    {"application/openmetrics-text;version=1.0.0;escaping=values", OPENMETRICS "; escaping=values"},
    {"application/openmetrics-text;version=1.0.0;escaping=dots", OPENMETRICS},
    {"application/openmetrics-text;version=1.0.0;escaping=\"x\"", OPENMETRICS},
    {"text/plain;version=0.0.4;escaping=underscores", TEXT},
};

static void check(const accepted *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *type = "none";
        crest_format format = crest_format_negotiate(cases[i].accept, &type);
        if (strcmp(type, cases[i].content_type) != 0)
            fail_msg("%s gives %s, not %s", cases[i].accept, type, cases[i].content_type);
        int openmetrics = strncmp(type, OPENMETRICS, strlen(OPENMETRICS)) == 0;
        int protobuf = strncmp(type, PROTOBUF, strlen(PROTOBUF)) == 0;
        assert_int_equal(format, openmetrics ? CREST_FORMAT_OPENMETRICS
                                 : protobuf  ? CREST_FORMAT_PROMETHEUS_PROTOBUF
                                             : CREST_FORMAT_PROMETHEUS_TEXT);
        assert_int_equal(crest_format_negotiate(cases[i].accept, NULL), format);
    }
}

static void test_real(void **state)
{
    (void)state;
    check(real, sizeof real / sizeof real[0]);
}

static void test_grammar(void **state)
{
    (void)state;
    check(grammar, sizeof grammar / sizeof grammar[0]);
}

static void test_content_types(void **state)
{
    (void)state;
    assert_string_equal(crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT), TEXT);
    assert_string_equal(crest_format_content_type(CREST_FORMAT_OPENMETRICS), OPENMETRICS);
    assert_string_equal(crest_format_content_type(CREST_FORMAT_PROMETHEUS_PROTOBUF), PROTOBUF);
    assert_null(crest_format_content_type((crest_format)3));
}

/* Only the beginning is read, and a header that is nothing but trouble takes no longer. */
static void test_bounds(void **state)
{
    (void)state;
    static const char wanted[] = "application/openmetrics-text";
    static char header[4 * CREST_ACCEPT_BYTES_MAX + 1];
    memset(header, ',', sizeof header - 1);
    size_t last = CREST_ACCEPT_BYTES_MAX - (sizeof wanted - 1);
    memcpy(header + last, wanted, sizeof wanted - 1);
    assert_int_equal(crest_format_negotiate(header, NULL), CREST_FORMAT_OPENMETRICS);
    memset(header + last, ',', sizeof wanted - 1);
    memcpy(header + last + 1, wanted, sizeof wanted - 1);
    assert_int_equal(crest_format_negotiate(header, NULL), CREST_FORMAT_PROMETHEUS_TEXT);

    static const char *const troubles[] = {"\"", "a/b;", "\\", "a/b;c=\"\\\"", " ", "*/*;q=1,"};
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        size_t length = strlen(troubles[i]);
        for (size_t at = 0; at + 1 < sizeof header; at++)
            header[at] = troubles[i][at % length];
        clock_t before = clock();
        crest_format_negotiate(header, NULL);
        assert_in_range(clock() - before, 0, CLOCKS_PER_SEC / 10);
    }
}

/* Any bytes, those that mean something more often: never read past the end, always an answer. */
static void test_any_header(void **state)
{
    (void)state;
    static const char *const parts[] = {"application/openmetrics-text",
                                        "text/plain",
                                        "*/*",
                                        DELIMITED,
                                        ";",
                                        "version=1.0.0",
                                        "q=0.5",
                                        ",",
                                        "\"",
                                        "\\",
                                        " ",
                                        "escaping=",
                                        "values",
                                        "=",
                                        "/",
                                        "\x80"};
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        char built[2048] = "";
        for (unsigned part = 0; part < 12; part++) {
            seed = random_step(seed);
            strcat(built, parts[(seed >> 33) % (sizeof parts / sizeof parts[0])]);
        }
        char *exact = strdup(built); /* so that a sanitizer sees a byte too many */
        const char *type = NULL;
        crest_format format = crest_format_negotiate(exact, &type);
        assert_true(format == CREST_FORMAT_OPENMETRICS || format == CREST_FORMAT_PROMETHEUS_TEXT ||
                    format == CREST_FORMAT_PROMETHEUS_PROTOBUF);
        assert_non_null(type);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),          cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_content_types), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_any_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
