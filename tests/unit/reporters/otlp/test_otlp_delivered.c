/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of what was delivered: differences add up to the total whatever was staged, dropped
 * and settled, in any order; series that go and come back; what is forgotten. And files of headers.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <crest/crest.h>

#include "otlp/otlp_delivered.h"
#include "otlp/otlp_headers.h"
#include "support/random_numbers.h"

#define SERIES 200u

static crest_otlp_account account;

static crest_series_view counter(uint64_t life, uint64_t value)
{
    return (crest_series_view){.kind = CREST_KIND_COUNTER, .life = life, .counter = value};
}

/* Adds up the differences of settled bodies, as a receiver does. */
static void differences_add_up(void **state)
{
    (void)state;
    static uint64_t value[SERIES], received[SERIES];
    uint64_t random = 7;
    for (unsigned turn = 0; turn < 300; turn++) {
        assert_int_equal(crest_otlp_delivered_begin(&account, SERIES), CREST_OK);
        for (unsigned first = 0; first < SERIES; first += 50) {
            uint64_t sent[50];
            for (unsigned i = 0; i < 50; i++) {
                random = random_step(random);
                value[first + i] += random >> 60;
                crest_series_view series = counter(first + i + 1, value[first + i]);
                sent[i] = value[first + i] - crest_otlp_delivered_find(&account, &series)->counter;
                assert_int_equal(crest_otlp_delivered_stage(&account, &series, turn + 1), CREST_OK);
            }
            random = random_step(random);
            if (random >> 63) {
                crest_otlp_delivered_drop(&account);
                continue;
            }
            crest_otlp_delivered_settle(&account);
            for (unsigned i = 0; i < 50; i++)
                received[first + i] += sent[i];
        }
    }
    for (unsigned i = 0; i < SERIES; i++) {
        crest_series_view series = counter(i + 1, value[i]);
        crest_otlp_entry *entry = crest_otlp_delivered_find(&account, &series);
        assert_int_equal(received[i], entry->counter);
        assert_true(entry->wall_ns > 200 && entry->wall_ns <= 300);
    }
    crest_otlp_delivered_fini(&account);
}

/* What is staged stays so over a report that only tries again. */
static void what_is_staged_waits(void **state)
{
    (void)state;
    crest_series_view series = counter(1, 5);
    assert_int_equal(crest_otlp_delivered_begin(&account, 1), CREST_OK);
    assert_int_equal(crest_otlp_delivered_stage(&account, &series, 10), CREST_OK);
    assert_int_equal(crest_otlp_delivered_begin(&account, 3000), CREST_OK);
    crest_otlp_entry *entry = crest_otlp_delivered_find(&account, &series);
    assert_int_equal(entry->wall_ns, 0);
    crest_otlp_delivered_settle(&account);
    assert_int_equal(entry->counter, 5);
    assert_int_equal(entry->wall_ns, 10);
    crest_otlp_delivered_drop(&account);
    assert_int_equal(entry->counter, 5);
    crest_otlp_delivered_fini(&account);
}

static void histograms_are_copied_when_they_grew(void **state)
{
    (void)state;
    crest_distribution *distribution = crest_distribution_new(NULL);
    assert_non_null(distribution);
    crest_distribution_record(distribution, 3, 2);
    crest_series_view series = {
        .kind = CREST_KIND_HISTOGRAM, .life = 9, .distribution = distribution};
    assert_int_equal(crest_otlp_delivered_begin(&account, 1), CREST_OK);
    crest_otlp_entry *entry = crest_otlp_delivered_find(&account, &series);
    assert_int_equal(crest_otlp_delivered_stage(&account, &series, 1), CREST_OK);
    crest_otlp_delivered_drop(&account);
    assert_null(entry->distribution);
    assert_int_equal(crest_otlp_delivered_stage(&account, &series, 2), CREST_OK);
    crest_otlp_delivered_settle(&account);
    const crest_distribution *kept = entry->distribution;
    assert_int_equal(crest_distribution_count(kept), 2);
    assert_int_equal(crest_otlp_delivered_stage(&account, &series, 3), CREST_OK);
    assert_null(entry->next);
    crest_otlp_delivered_settle(&account);
    assert_ptr_equal(entry->distribution, kept);
    assert_int_equal(entry->wall_ns, 3);
    crest_distribution_record(distribution, 4, 1);
    assert_int_equal(crest_otlp_delivered_stage(&account, &series, 4), CREST_OK);
    crest_otlp_delivered_settle(&account);
    assert_int_equal(crest_distribution_count(entry->distribution), 3);
    crest_distribution_free(distribution);
    crest_otlp_delivered_fini(&account);
}

/* Of series that never come back, those absent longest are forgotten; those present never are. */
static void the_absent_are_bounded(void **state)
{
    (void)state;
    crest_series_view staying = counter(1, 77);
    for (uint64_t turn = 0; turn < 30; turn++) {
        assert_int_equal(crest_otlp_delivered_begin(&account, 501), CREST_OK);
        assert_int_equal(crest_otlp_delivered_find(&account, &staying)->counter, turn ? 77 : 0);
        assert_int_equal(crest_otlp_delivered_stage(&account, &staying, 1), CREST_OK);
        for (uint64_t i = 0; i < 500; i++) {
            crest_series_view series = counter(1000 + turn * 500 + i, 1);
            assert_int_equal(crest_otlp_delivered_stage(&account, &series, 1), CREST_OK);
        }
        crest_otlp_delivered_settle(&account);
        assert_true(account.count <= CREST_OTLP_ABSENT_MAX + 2 * 501);
    }
    assert_int_equal(crest_otlp_delivered_find(&account, &staying)->counter, 77);
    crest_series_view late = counter(1000 + 29 * 500, 1), early = counter(1000, 1);
    assert_int_equal(crest_otlp_delivered_find(&account, &late)->wall_ns, 1);
    assert_int_equal(crest_otlp_delivered_find(&account, &early)->wall_ns, 0);
    crest_otlp_delivered_fini(&account);
}

/* ---- headers ---- */

static char path[] = "/tmp/crest-headers-XXXXXX";
static crest_error error;

static void write_headers(const char *text, size_t length, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void headers_of_a_file_replace_the_lists(void **state)
{
    (void)state;
    crest_otlp_headers headers = {.path = NULL};
    const crest_page_label list[] = {{"api-key", "old"}, {"x-team", "core"}};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    static const char text[] = "# a comment\r\n\nAPI-Key: swordfish\r\nx-more: 1";
    write_headers(text, sizeof text - 1, 0600);
    assert_int_equal(crest_otlp_headers_init(&headers, path, list, 2, &error), CREST_OK);
    assert_null(headers.file);
    assert_int_equal(crest_otlp_headers_read(&headers, &error), CREST_OK);
    assert_int_equal(headers.count, 3);
    assert_string_equal(headers.lines[0], "API-Key: swordfish");
    assert_string_equal(headers.lines[1], "x-team: core");
    assert_string_equal(headers.lines[2], "x-more: 1");
    crest_otlp_headers_wipe(&headers);
    write_headers("api-key: next\n", 14, 0600);
    assert_int_equal(crest_otlp_headers_read(&headers, &error), CREST_OK);
    assert_int_equal(headers.count, 2);
    assert_string_equal(headers.lines[0], "api-key: next");
    crest_otlp_headers_wipe(&headers);
    unlink(path);
    assert_int_equal(crest_otlp_headers_read(&headers, &error), CREST_IO);
    assert_non_null(strstr(error.message, path));
    crest_otlp_headers_fini(&headers);
}

static void wrong_headers_are_refused_without_their_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *says;
    } cases[] = {
#define TEXT(text) text, sizeof(text) - 1
        {TEXT("ok: 1\nswordfish\n"), "line 2 of"},
        {TEXT(": swordfish"), "no name before a colon"},
        {TEXT("a b: swordfish"), "a name that HTTP does not allow"},
        {TEXT("Content-Length: swordfish"), "the request has of itself"},
        {TEXT("a: sword\x01"
              "fish"),
         "control character"},
        {TEXT("a: sword\0fish"), "a NUL in it"},
#undef TEXT
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crest_otlp_headers headers = {.path = NULL};
        write_headers(cases[i].text, cases[i].length, 0600);
        assert_int_equal(crest_otlp_headers_init(&headers, path, NULL, 0, &error),
                         CREST_INVALID_ARGUMENT);
        assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
        if (strstr(error.message, cases[i].says) == NULL)
            fail_msg("\"%s\" is not in: %s", cases[i].says, error.message);
        assert_null(strstr(error.message, "swordfish"));
        crest_otlp_headers_fini(&headers);
    }
    char *much = malloc(CREST_OTLP_HEADERS_FILE_BYTES_MAX + 1);
    assert_non_null(much);
    memset(much, '\n', CREST_OTLP_HEADERS_FILE_BYTES_MAX + 1);
    crest_otlp_headers headers = {.path = NULL};
    write_headers(much, CREST_OTLP_HEADERS_FILE_BYTES_MAX + 1, 0600);
    assert_int_equal(crest_otlp_headers_init(&headers, path, NULL, 0, &error),
                     CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "16 KiB"));
    crest_otlp_headers_fini(&headers);
    headers = (crest_otlp_headers){.path = NULL};
    write_headers(much, CREST_OTLP_HEADERS_FILE_BYTES_MAX, 0600);
    assert_int_equal(crest_otlp_headers_init(&headers, path, NULL, 0, &error), CREST_OK);
    crest_otlp_headers_fini(&headers);
    free(much);
    unlink(path);
    const crest_page_label list[] = {{"a", "x\ny"}};
    headers = (crest_otlp_headers){.path = NULL};
    assert_int_equal(crest_otlp_headers_init(&headers, NULL, list, 1, &error),
                     CREST_INVALID_ARGUMENT);
    crest_otlp_headers_fini(&headers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_add_up),
        cmocka_unit_test(what_is_staged_waits),
        cmocka_unit_test(histograms_are_copied_when_they_grew),
        cmocka_unit_test(the_absent_are_bounded),
        cmocka_unit_test(headers_of_a_file_replace_the_lists),
        cmocka_unit_test(wrong_headers_are_refused_without_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
