/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry's environment variables: lists, words and numbers, which of two wins, and what is
 * told of wrong ones; and the resource that they give.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "otlp/otlp_environment.h"
#include "otlp/otlp_resource.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
    "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_METRIC_EXPORT_TIMEOUT",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SDK_DISABLED",
};

static unsigned warnings;
static char warned[CREST_ERROR_BYTES];

static void note_warning(crest_log_level level, const char *message, void *context)
{
    (void)context;
    assert_int_equal(level, CREST_LOG_WARNING);
    warnings++;
    strcpy(warned, message);
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    warnings = 0;
    warned[0] = '\0';
    crest_log_to(note_warning, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    crest_log_to(NULL, NULL);
    return set_up(state);
}

static void lists_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *list, *joined, *problem;
    } cases[] = {
        {"a=b", "a=b|", NULL},
        {" a = b c ,d=", "a=b c|d=|", NULL},
        {"a=1,a=2", "a=2|", NULL},
        {"a=%20%C3%A9%2c,b=%3D=", "a= \xc3\xa9,|b===|", NULL},
        {"k=v;prop=1,x=y", "k=v|x=y|", NULL},
        {"a=b,,c=d,", "a=b|c=d|", NULL},
        {"", "", NULL},
        {"a", "", "has no ="},
        {"=b", "", "a key is empty"},
        {"a=%2", "", "two hexadecimal digits"},
        {"a=%", "", "two hexadecimal digits"},
        {"a=%zz", "", "two hexadecimal digits"},
        {"a=%00", "", "%00"},
        {"a=%ff", "", "a value is not UTF-8"},
        {"\xff=b", "", "a key is not UTF-8"},
        {"ok=1,bad", "", "has no ="},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        crest_otlp_pairs pairs;
        const char *problem;
        char joined[256] = "";
        crest_status status = crest_otlp_pairs_read(cases[i].list, &pairs, &problem);
        assert_int_equal(status, cases[i].problem ? CREST_INVALID_ARGUMENT : CREST_OK);
        for (unsigned k = 0; k < pairs.count; k++)
            strcat(strcat(strcat(strcat(joined, pairs.labels[k].key), "="), pairs.labels[k].value),
                   "|");
        assert_string_equal(joined, cases[i].joined);
        if (cases[i].problem != NULL && strstr(problem, cases[i].problem) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].problem, problem);
        crest_otlp_pairs_fini(&pairs);
    }
    char many[1024] = "";
    for (unsigned i = 0; i <= CREST_OTLP_PAIRS_MAX; i++) {
        char pair[16];
        snprintf(pair, sizeof pair, "k%u=v,", i);
        strcat(many, pair);
    }
    crest_otlp_pairs pairs;
    const char *problem;
    assert_int_equal(crest_otlp_pairs_read(many, &pairs, &problem), CREST_INVALID_ARGUMENT);
    assert_int_equal(pairs.count, 0);
    strrchr(many, 'k')[0] = '\0';
    assert_int_equal(crest_otlp_pairs_read(many, &pairs, &problem), CREST_OK);
    assert_int_equal(pairs.count, CREST_OTLP_PAIRS_MAX);
    assert_string_equal(crest_otlp_pairs_find(&pairs, "k63"), "v");
    assert_null(crest_otlp_pairs_find(&pairs, "k64"));
    crest_otlp_pairs_fini(&pairs);
}

static void nothing_set_is_nothing(void **state)
{
    (void)state;
    crest_otlp_environment found;
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "", 1);
    assert_int_equal(crest_otlp_environment_read(&found, CREST_OTLP_METRICS), CREST_OK);
    assert_null(found.url);
    assert_int_equal(found.encoding, CREST_OTLP_UNSET);
    assert_int_equal(found.temporality, CREST_OTLP_UNSET);
    assert_int_equal(found.histograms, CREST_OTLP_UNSET);
    assert_int_equal(found.gzip, CREST_OTLP_UNSET);
    assert_int_equal(found.headers.count + found.attributes.count, 0);
    assert_int_equal(found.disabled, 0);
    assert_int_equal(crest_otlp_environment_interval_ms(CREST_OTLP_METRICS), 0);
    assert_int_equal(crest_otlp_environment_timeout_ms(CREST_OTLP_METRICS), 0);
    assert_int_equal(warnings, 0);
    crest_otlp_environment_fini(&found);
}

static void the_form_for_metrics_wins(void **state)
{
    (void)state;
    crest_otlp_environment found;
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", 1);
    setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", 1);
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "x=1", 1);
    setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "GZIP", 1);
    setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca", 1);
    setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/cert", 1);
    setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key", 1);
    assert_int_equal(crest_otlp_environment_read(&found, CREST_OTLP_METRICS), CREST_OK);
    assert_string_equal(found.url, "http://a:1");
    assert_int_equal(found.whole, 0);
    assert_int_equal(found.encoding, CREST_OTLP_JSON);
    assert_int_equal(found.gzip, 1);
    assert_string_equal(found.ca_file, "/ca");
    assert_string_equal(found.cert_file, "/cert");
    assert_string_equal(found.key_file, "/key");
    assert_string_equal(crest_otlp_pairs_find(&found.headers, "x"), "1");
    crest_otlp_environment_fini(&found);
    setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:2/x", 1);
    setenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf", 1);
    setenv("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "y=2", 1);
    assert_int_equal(crest_otlp_environment_read(&found, CREST_OTLP_METRICS), CREST_OK);
    assert_string_equal(found.url, "http://b:2/x");
    assert_int_equal(found.whole, 1);
    assert_int_equal(found.encoding, CREST_OTLP_PROTOBUF);
    assert_int_equal(found.headers.count, 1);
    assert_string_equal(crest_otlp_pairs_find(&found.headers, "y"), "2");
    crest_otlp_environment_fini(&found);
    assert_int_equal(warnings, 0);
}

static void words_and_wrong_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {
        {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "no gRPC"},
        {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none"},
        {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "x", "lowmemory"},
        {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "x", "explicit_bucket"},
        {"OTEL_SDK_DISABLED", "maybe", "true or false"},
        {"OTEL_RESOURCE_ATTRIBUTES", "secret%", "OTEL_RESOURCE_ATTRIBUTES is ignored: a part"},
        {"OTEL_EXPORTER_OTLP_HEADERS", "k=secret%", "two hexadecimal digits"},
    };
    crest_otlp_environment found;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        set_up(state);
        setenv(wrong[i].name, wrong[i].value, 1);
        assert_int_equal(crest_otlp_environment_read(&found, CREST_OTLP_METRICS), CREST_OK);
        if (warnings != 1 || strstr(warned, wrong[i].says) == NULL)
            fail_msg("%s: %u warnings: %s", wrong[i].name, warnings, warned);
        assert_non_null(strstr(warned, wrong[i].name));
        assert_null(strstr(warned, "secret"));
        crest_otlp_environment_fini(&found);
    }
    set_up(state);
    setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "LowMemory", 1);
    setenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram",
           1);
    setenv("OTEL_SDK_DISABLED", "TRUE", 1);
    assert_int_equal(crest_otlp_environment_read(&found, CREST_OTLP_METRICS), CREST_OK);
    assert_int_equal(found.temporality, CREST_OTLP_DELTA);
    assert_int_equal(found.histograms, CREST_OTLP_EXPLICIT);
    assert_int_equal(found.disabled, 1);
    assert_int_equal(warnings, 0);
    crest_otlp_environment_fini(&found);
}

static void times_are_milliseconds(void **state)
{
    (void)state;
    static const struct {
        const char *one, *all;
        uint64_t timeout_ms;
        unsigned warnings;
    } cases[] = {{"1500", NULL, 1500, 0},
                 {NULL, "2500", 2500, 0},
                 {"1500", "2500", 1500, 0},
                 {"2500", "1500", 1500, 0},
                 {"10s", "1500", 1500, 1},
                 {"0", NULL, 0, 1},
                 {"-1", "99999999999999999999", 0, 2},
                 {"86400001", NULL, 0, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        set_up(state);
        if (cases[i].one != NULL)
            setenv("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", cases[i].one, 1);
        if (cases[i].all != NULL)
            setenv("OTEL_METRIC_EXPORT_TIMEOUT", cases[i].all, 1);
        assert_int_equal(crest_otlp_environment_timeout_ms(CREST_OTLP_METRICS),
                         cases[i].timeout_ms);
        assert_int_equal(warnings, cases[i].warnings);
    }
    setenv("OTEL_METRIC_EXPORT_INTERVAL", "30000", 1);
    assert_int_equal(crest_otlp_environment_interval_ms(CREST_OTLP_METRICS), 30000);
    setenv("OTEL_METRIC_EXPORT_INTERVAL", "99", 1);
    assert_int_equal(crest_otlp_environment_interval_ms(CREST_OTLP_METRICS), 0);
}

static const char *attribute(const crest_page_label *labels, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return "";
}

static void the_resource_says_who_reports(void **state)
{
    (void)state;
    char host[256] = "", service[CREST_OTLP_SERVICE_BYTES];
    gethostname(host, sizeof host - 1);
    const crest_page_label own[] = {{"zone", "eu"}, {"empty", ""}};
    const crest_page_label more[] = {{"service.name", "other"},
                                     {"service.instance.id", "i-9"},
                                     {"zone", "us"},
                                     {"service.version", "9"},
                                     {"team", "core"}};
    crest_page_label made[CREST_OTLP_ATTRIBUTES_MAX];
    crest_resource resource = {
        .service = "rnode", .version = "1", .instance = "n-1", .labels = own, .label_count = 2};
    unsigned count = crest_otlp_resource(&resource, more, 5, service, made);
    assert_int_equal(count, 5);
    assert_string_equal(made[0].key, "service.name");
    assert_string_equal(made[0].value, "rnode");
    assert_string_equal(attribute(made, count, "service.version"), "1");
    assert_string_equal(attribute(made, count, "service.instance.id"), "n-1");
    assert_string_equal(attribute(made, count, "zone"), "eu");
    assert_string_equal(attribute(made, count, "team"), "core");
    /* a host's name is Crest's default, above which the environment is */
    resource = (crest_resource){.service = "", .version = "", .instance = host};
    count = crest_otlp_resource(&resource, more, 5, service, made);
    assert_string_equal(attribute(made, count, "service.name"), "other");
    assert_string_equal(attribute(made, count, "service.version"), "9");
    assert_string_equal(attribute(made, count, "service.instance.id"), "i-9");
    count = crest_otlp_resource(&resource, NULL, 0, service, made);
    assert_string_equal(attribute(made, count, "service.name"),
                        "unknown_service:test_otlp_environment");
    assert_string_equal(attribute(made, count, "service.instance.id"), host);
    assert_int_equal(count, 2);
}

int main(void)
{
#define CLEAN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CLEAN(lists_are_read),
        CLEAN(nothing_set_is_nothing),
        CLEAN(the_form_for_metrics_wins),
        CLEAN(words_and_wrong_words),
        CLEAN(times_are_milliseconds),
        CLEAN(the_resource_says_who_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
