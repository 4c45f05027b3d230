/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a page's lines share with those before them, of a real registry: buckets of the metric
 * before, rows of one batch, the short form of labels; and pages that end early.
 */
#include "base/alloc.h"
#include "clock/clock_inside.h"
#include "page/exposition.h"
#include "page/page_escape.h"
#include "page/page_source.h"
#include "support/page_lines_apart.h"

#define SECOND UINT64_C(1000000000)

static char *page_of(crest_registry *registry, const crest_page_options *options)
{
    page_gathered page = {.length = 0};
    crest_error error;
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_write(snapshot, CREST_FORMAT_OPENMETRICS, options, page_gather,
                                          &page, &error),
                     CREST_OK);
    crest_snapshot_free(snapshot);
    page_assert_lines_apart(page.text);
    return page.text;
}

static void assert_has_line(const char *page, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = page; (at = strstr(at, line)) != NULL; at++)
        if ((at == page || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
            return;
    fail_msg("no line %s in\n%s", line, page);
}

/* Each series of a family was made at its own time. */
static void test_created(void **state)
{
    (void)state;
    enum { PEERS = 3 * (int)CREST_PAGE_ROWS / 2 };
    static const char *const keys[] = {"peer"};
    const crest_metric_options counted = {.name = "m"}, measured = {.name = "s"};
    crest_registry *registry = fixture_registry(NULL);
    crest_counter_family counters = crest_counter_family_new(registry, &counted, keys, 1, NULL);
    crest_histogram_family sizes = crest_histogram_family_new(registry, &measured, keys, 1, NULL);
    crest_testing_clock_set(SECOND);
    crest_testing_clock_set_wall(1700000000 * SECOND);
    char text[64];
    const char *peer = text;
    for (int i = 0; i < PEERS; i++) {
        snprintf(text, sizeof text, "%03d", i);
        crest_counter_inc(crest_counter_family_get(&counters, &peer, 1));
        crest_histogram_record(crest_histogram_family_get(&sizes, &peer, 1), 1);
        crest_testing_clock_advance(SECOND);
    }
    char *page = page_of(registry, &(crest_page_options){.created = 1});
    for (int i = 0; i < PEERS; i++) {
        snprintf(text, sizeof text, "m_created{peer=\"%03d\"} %d", i, 1700000000 + i);
        assert_has_line(page, text);
        snprintf(text, sizeof text, "s_created{peer=\"%03d\"} %d", i, 1700000000 + i);
        assert_has_line(page, text);
    }
    free(page);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* Histograms that differ in one thing only from the one before them on the page. */
static void test_buckets_of_neighbours(void **state)
{
    (void)state;
    static const double low[] = {1, 2, 3}, high[] = {100, 200, 300};
    static const crest_buckets lows = {low, 3}, highs = {high, 3};
    static const char *const keys[] = {"peer"};
    static const char *const peers[] = {"x"};
    crest_registry *registry = fixture_registry(NULL);
    const crest_metric_options options[] = {
        {.name = "a", .buckets = &lows},
        {.name = "b", .buckets = &highs},
        {.name = "c", .buckets = &highs, .unit = CREST_MILLISECONDS},
        {.name = "d", .buckets = &highs, .unit = CREST_MILLISECONDS},
        {.name = "e", .buckets = &highs, .unit = CREST_MILLISECONDS},
        {.name = "f", .range = &crest_range_none},
        {.name = "g", .range = &crest_range_none},
        {.name = "h", .range = &crest_range_none},
    };
    for (unsigned i = 0; i < LENGTH(options); i++) {
        crest_histogram *histogram;
        if (i == 3 || i == 6) {
            crest_histogram_family family =
                crest_histogram_family_new(registry, &options[i], keys, 1, NULL);
            histogram = crest_histogram_family_get(&family, peers, 1);
        } else {
            histogram = crest_histogram_get(registry, &options[i], NULL);
        }
        crest_histogram_record(histogram, 2);
        crest_histogram_record(histogram, 250);
        crest_histogram_record(histogram, 150000);
    }
    char *page = page_of(registry, NULL);
    static const char *const lines[] = {
        "a_bucket{le=\"1.0\"} 0",
        "a_bucket{le=\"2.0\"} 1",
        "a_bucket{le=\"3.0\"} 1",
        "a_bucket{le=\"+Inf\"} 3",
        "b_bucket{le=\"100.0\"} 1",
        "b_bucket{le=\"300.0\"} 2",
        "c_seconds_bucket{le=\"100.0\"} 2",
        "c_seconds_bucket{le=\"200.0\"} 3",
        "d_seconds_bucket{peer=\"x\",le=\"100.0\"} 2",
        "d_seconds_bucket{peer=\"x\",le=\"+Inf\"} 3",
        "e_seconds_bucket{le=\"100.0\"} 2",
        "e_seconds_bucket{le=\"+Inf\"} 3",
        "f_bucket{le=\"+Inf\"} 3",
        "g_bucket{peer=\"x\",le=\"+Inf\"} 3",
        "h_bucket{le=\"+Inf\"} 3",
    };
    for (unsigned i = 0; i < LENGTH(lines); i++)
        assert_has_line(page, lines[i]);
    free(page);
    crest_registry_free(registry);
}

/* ---- pages that end early ---- */

static unsigned counted_rows;

static unsigned counting_rows(const crest_snapshot *snapshot, const crest_page_metric *metric,
                              size_t index, crest_page_row *rows, unsigned room)
{
    counted_rows++;
    return crest_page_source_snapshot.rows(snapshot, metric, index, rows, room);
}

static int write_nothing(void *context, const void *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    return length != 0;
}

/* When the client has gone, the rest of a page is not made. */
static void test_broken_early(void **state)
{
    (void)state;
    enum { PEERS = 900, BYTES = 300 };
    static const char *const keys[] = {"peer"};
    const crest_metric_options options = {.name = "m"};
    crest_page_source source = crest_page_source_snapshot;
    source.rows = counting_rows;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    char text[BYTES + 1];
    const char *peer = text;
    for (int i = 0; i < PEERS; i++) {
        snprintf(text, sizeof text, "%0*d", BYTES, i);
        crest_counter_family_get(&family, &peer, 1);
    }
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_error error;
    assert_int_equal(crest_exposition_write(&source, snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL,
                                            write_nothing, NULL, &error),
                     CREST_IO);
    /* a buffer full, and the batch that was under way */
    assert_true(counted_rows <= CREST_PAGE_PIECE_BYTES / BYTES / CREST_PAGE_ROWS + 2);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Memory that lacks anywhere: a page is whole, or it is told that it is not. */
static void test_lacking_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    /* so large that a tally cannot tell it, and the counts have to be merged */
    for (int i = 0; i < 8; i++)
        crest_histogram_record_n(histogram, INT64_C(1) << 40, 1 << 22);
    crest_snapshot_free(fixture_snapshot(registry)); /* what is kept from one to the next */
    unsigned refused = 0, whole = 0;
    for (unsigned long n = 1; n < 10; n++) {
        page_gathered page = {.length = 0};
        crest_error error;
        crest_alloc_fail_after(n);
        crest_status status =
            crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, page_gather, &page, &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK) {
            whole++;
            assert_has_line(page.text, "h_count 33554432");
        } else {
            assert_int_equal(status, CREST_NO_MEMORY);
            refused += page.text != NULL;
        }
        free(page.text);
    }
    assert_true(refused != 0 && whole != 0);
    crest_registry_free(registry);
}

/* ---- texts ---- */

/* Whatever room there is, no byte is written behind it, and going on gives the same text. */
static void test_escape_in_pieces(void **state)
{
    (void)state;
    static const char text[] =
        "a\"\"b\\\\\nc\xc3\xa9\xe2\x82\xac\"\xf0\x9f\x98\x80\\\xff\xff\n\"\"\"";
    char whole[256];
    const char *all = text;
    size_t length = crest_page_escape(&all, whole, sizeof whole, 1);
    assert_int_equal(*all, '\0');
    for (size_t size = CREST_PAGE_ESCAPE_MIN; size < length + 2; size++) {
        char pieces[256];
        const char *rest = text;
        size_t used = 0;
        while (*rest != '\0') {
            char piece[64];
            memset(piece, '#', sizeof piece);
            size_t step = crest_page_escape(&rest, piece, size, 1);
            assert_in_range(step, 1, size);
            for (size_t i = size; i < sizeof piece; i++)
                assert_int_equal(piece[i], '#');
            memcpy(pieces + used, piece, step);
            used += step;
        }
        assert_int_equal(used, length);
        assert_memory_equal(pieces, whole, length);
    }
}

/* Constant labels so long that keys behind them find no room in the short form. */
static void test_long_labels(void **state)
{
    (void)state;
    char value[CREST_LABEL_VALUE_BYTES_MAX], key[2][CREST_LABEL_KEY_BYTES_MAX + 1], line[8192];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (unsigned k = 0; k < 2; k++) {
        memset(key[k], k == 0 ? 'k' : 'l', CREST_LABEL_KEY_BYTES_MAX);
        key[k][CREST_LABEL_KEY_BYTES_MAX] = '\0';
    }
    const char *const keys[] = {key[0], key[1]}, *const values[] = {"first", "second"};
    for (size_t bytes = 0; bytes < sizeof value; bytes += 3) {
        char constant[sizeof value];
        snprintf(constant, sizeof constant, "%.*s", (int)bytes, value);
        const crest_registry_options options = {.labels = {{"a", value}, {"b", constant}}};
        crest_registry *registry = crest_registry_new(&options);
        crest_counter_family family =
            crest_counter_family_new(registry, &(crest_metric_options){.name = "m"}, keys, 2, NULL);
        crest_counter_inc(crest_counter_family_get(&family, values, 2));
        char *page = page_of(registry, NULL);
        snprintf(line, sizeof line, "m_total{a=\"%s\",b=\"%s\",%s=\"first\",%s=\"second\"} 1",
                 value, constant, key[0], key[1]);
        assert_has_line(page, line);
        free(page);
        crest_registry_free(registry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_created),          cmocka_unit_test(test_buckets_of_neighbours),
        cmocka_unit_test(test_broken_early),     cmocka_unit_test(test_lacking_memory),
        cmocka_unit_test(test_escape_in_pieces), cmocka_unit_test(test_long_labels),
    };
    return cmocka_run_group_tests_name("page neighbours", tests, NULL, NULL);
}
