/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open families of <crest/family.h>: keys that come one by one, what reports make of them, and what
 * is refused.
 */
#include "support/core_fixture.h"
#include "base/misuse.h"

#define LABELS(...)                                                                                \
    (const crest_label[]){__VA_ARGS__}, sizeof((crest_label[]){__VA_ARGS__}) / sizeof(crest_label)

static const crest_metric_options requests = {.name = "requests", .description = "All of them."};

static crest_counter *counter(crest_registry *registry, const crest_label *labels, unsigned count)
{
    crest_status status;
    crest_counter *made = crest_counter_labelled(registry, &requests, labels, count, &status);
    assert_int_equal(status, CREST_OK);
    return made;
}

static char *page_text(crest_registry *registry)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(crest_prometheus_write(registry, stream), 0);
    fclose(stream);
    return text;
}

static void test_keys_come_later(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *plain = counter(registry, NULL, 0);
    crest_counter_add(plain, 1);
    crest_counter *get = counter(registry, LABELS({"method", "GET"}));
    crest_counter_add(get, 2);
    crest_snapshot *before = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(before), 2);
    crest_counter *failed = counter(registry, LABELS({"error", "true"}, {"method", "GET"}));
    crest_counter_add(failed, 4);
    crest_counter *odd = counter(registry, LABELS({"error", "a\"b\n\xe2\x82\xac"}));
    crest_counter_add(odd, 8);
    /* the same whatever the order, and with what is as good as none */
    assert_ptr_equal(counter(registry, NULL, 0), plain);
    assert_ptr_equal(counter(registry, LABELS({"error", ""}, {"later", NULL})), plain);
    assert_ptr_equal(counter(registry, LABELS({"error", NULL}, {"method", "GET"})), get);
    assert_ptr_equal(counter(registry, LABELS({"method", "GET"}, {"error", "true"})), failed);

    char *text = page_text(registry);
    assert_non_null(strstr(text, "# HELP requests_total All of them. [requests]\n"
                                 "# TYPE requests_total counter\n"
                                 "requests_total{method=\"\",error=\"\"} 1\n"));
    assert_non_null(strstr(text, "\nrequests_total{method=\"GET\",error=\"\"} 2\n"));
    assert_non_null(strstr(text, "\nrequests_total{method=\"GET\",error=\"true\"} 4\n"));
    assert_non_null(
        strstr(text, "\nrequests_total{method=\"\",error=\"a\\\"b\\n\xe2\x82\xac\"} 8\n"));
    assert_null(strstr(text, "later"));
    free(text);

    /* a snapshot of before knows the keys of today, and has its series all the same */
    crest_series_view view;
    assert_int_equal(crest_snapshot_size(before), 2);
    assert_int_equal(crest_snapshot_series(before, 1, &view), CREST_OK);
    assert_int_equal(view.label_count, 2);
    assert_string_equal(view.label_values[0], "GET");
    assert_string_equal(view.label_values[1], "");
    assert_int_equal(view.open, 1);
    assert_int_equal(view.counter, 2);
    crest_snapshot_free(before);
    crest_registry_free(registry);
}

static void test_every_kind(void **state)
{
    (void)state;
    crest_registry_options named = {.prefix = "p", .labels = {{"network", "main"}}};
    crest_registry *registry = crest_registry_new(&named);
    crest_status status;
    crest_metric_options options = {.name = "depth"};
    crest_gauge_set(crest_gauge_labelled(registry, &options, LABELS({"queue", "in"}), &status), -2);
    assert_int_equal(status, CREST_OK);
    options = (crest_metric_options){.name = "size", .unit = CREST_BYTES};
    crest_histogram_record_n(
        crest_histogram_labelled(registry, &options, LABELS({"kind", "block"}), &status), 600, 3);
    assert_int_equal(status, CREST_OK);
    options = (crest_metric_options){.name = "waiting"};
    crest_range_sampler_add(
        crest_range_sampler_labelled(registry, &options, LABELS({"kind", "x"}), NULL), 5);
    char *text = page_text(registry);
    assert_non_null(strstr(text, "\np_depth{network=\"main\",queue=\"in\"} -2\n"));
    assert_non_null(
        strstr(text, "\np_size_bytes_bucket{network=\"main\",kind=\"block\",le=\"1024.0\"} 3\n"));
    assert_non_null(strstr(text, "\np_waiting{network=\"main\",kind=\"x\"} 5\n"));
    free(text);
    options.name = "depth";
    crest_gauge_labelled(registry, &options, LABELS({"network", "test"}), &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "p.depth", (const char *[]){"in"}, 1, &view),
                     CREST_OK);
    assert_int_equal(view.label_count, 2);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Refused with the status, counted, and a handle that records nowhere. */
static void assert_refused(crest_registry *registry, const crest_metric_options *options,
                           const crest_label *labels, unsigned count, crest_status wanted)
{
    crest_status status;
    uint64_t misuse = crest_misuse_value(crest_misuse_of(wanted));
    crest_counter *made = crest_counter_labelled(registry, options, labels, count, &status);
    assert_int_equal(status, wanted);
    assert_non_null(made);
    assert_int_equal(crest_misuse_value(crest_misuse_of(wanted)), misuse + 1);
    crest_counter_inc(made);
    assert_int_equal(crest_counter_value(made), 0);
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    counter(registry, LABELS({"a", "1"}));
    assert_refused(registry, &requests, NULL, 1, CREST_INVALID_ARGUMENT);
    assert_refused(registry, NULL, NULL, 0, CREST_INVALID_ARGUMENT);
    assert_refused(registry, &requests, LABELS({NULL, "1"}), CREST_INVALID_LABEL);
    assert_refused(registry, &requests, LABELS({"b c", "1"}), CREST_INVALID_LABEL);
    assert_refused(registry, &requests, LABELS({"le", "1"}), CREST_INVALID_LABEL);
    assert_refused(registry, &requests, LABELS({"b", "1"}, {"b", "2"}), CREST_INVALID_LABEL);
    crest_metric_options bad = {.name = "1"};
    assert_refused(registry, &bad, NULL, 0, CREST_INVALID_NAME);
    /* what is open, and what is not */
    crest_status status;
    crest_counter_get(registry, &requests, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    crest_counter_family_new(registry, &requests, (const char *[]){"a"}, 1, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    crest_gauge_labelled(registry, &requests, NULL, 0, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    fixture_counter(registry, "closed");
    crest_metric_options closed = {.name = "closed"};
    assert_refused(registry, &closed, NULL, 0, CREST_TYPE_CLASH);
    /* none of it has become a key */
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(fixture_series(snapshot, "requests", "1").label_count, 1);
    crest_snapshot_free(snapshot);
    crest_counter *late = counter(registry, LABELS({"a", "1"}));
    crest_registry_free(registry);
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_LATE);
    crest_counter_inc(late);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LATE), misuse + 1);
}

static void test_limits(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    char keys[CREST_OPEN_LABELS_MAX + 1][8];
    crest_label labels[CREST_OPEN_LABELS_MAX + 1];
    for (unsigned i = 0; i <= CREST_OPEN_LABELS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "key%u", i);
        labels[i] = (crest_label){keys[i], "value"};
    }
    assert_refused(registry, &requests, labels, CREST_OPEN_LABELS_MAX + 1, CREST_LIMIT);
    crest_counter_add(counter(registry, labels, CREST_OPEN_LABELS_MAX), 3);
    assert_refused(registry, &requests, labels + 1, CREST_OPEN_LABELS_MAX, CREST_LIMIT);
    crest_counter_add(counter(registry, labels, 3), 4);
    char *text = page_text(registry);
    assert_non_null(strstr(text, "key14=\"value\",key15=\"value\"} 3\n"));
    assert_non_null(strstr(text, "key14=\"\",key15=\"\"} 4\n"));
    free(text);
    /* values as those of families: cut, valid UTF-8, counted */
    static char longest[CREST_LABEL_VALUE_BYTES_MAX + 2];
    memset(longest, 'l', sizeof longest - 1);
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_TEXT);
    crest_counter *cut = counter(registry, LABELS({"key1", longest}));
    longest[CREST_LABEL_VALUE_BYTES_MAX] = '\0';
    assert_ptr_equal(counter(registry, LABELS({"key1", longest})), cut);
    counter(registry, LABELS({"key1", "\xff"}));
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), misuse + 2);
    crest_registry_free(registry);
}

static void test_many_series(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_status status = CREST_OK;
    char value[16];
    crest_counter *last = NULL;
    for (unsigned i = 0; i < CREST_FAMILY_SERIES_MAX + 2; i++) {
        snprintf(value, sizeof value, "%u", i);
        last = crest_counter_labelled(registry, &requests, LABELS({"n", value}), &status);
        crest_counter_inc(last);
        assert_int_equal(status, i < CREST_FAMILY_SERIES_MAX ? CREST_OK : CREST_LIMIT);
    }
    assert_int_equal(crest_counter_value(last), 2);
    /* one with a new key goes there, too */
    assert_ptr_equal(crest_counter_labelled(registry, &requests, LABELS({"m", "1"}), &status),
                     last);
    char *text = page_text(registry);
    assert_non_null(strstr(text, "\nrequests_total{n=\"overflow\",m=\"\"} 2\n"));
    free(text);
    crest_registry_free(registry);
}

static void test_lifetime(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *one = counter(registry, LABELS({"peer", "a"}));
    crest_counter_add(counter(registry, LABELS({"kind", "b"})), 1);
    crest_counter_add(counter(registry, LABELS({"kind", "b"}, {"peer", "a"})), 1);
    crest_counter_add(one, 5);
    assert_int_equal(crest_counter_release(one), CREST_OK);
    assert_ptr_equal(counter(registry, LABELS({"peer", "a"})), one);
    assert_int_equal(crest_counter_value(one), 5);
    assert_int_equal(crest_retire(registry, "peer", "a"), 2);
    assert_int_equal(crest_retire(registry, "nobody", "a"), 0);
    assert_ptr_not_equal(counter(registry, LABELS({"peer", "a"})), one);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_come_later), cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_series),     cmocka_unit_test(test_lifetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
