/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/status.h>: every status has a text, messages are cut at a character, and the log callback
 * never sees another's context.
 */
#include "base/atomic.h"
#include "support/core_fixture.h"
#include "base/error.h"
#include "base/utf8.h"

static void test_texts(void **state)
{
    (void)state;
    for (int a = 0; a < CREST_STATUS_COUNT; a++) {
        assert_true(strlen(crest_status_text((crest_status)a)) > 1);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(crest_status_text((crest_status)a),
                                    crest_status_text((crest_status)b));
    }
    assert_string_equal(crest_status_text(CREST_STATUS_COUNT), "no such status");
    assert_string_equal(crest_status_text((crest_status)-1), "no such status");
}

static void test_messages(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_error_set(&error, CREST_IO, "tried %s %d", "this", 5), CREST_IO);
    assert_int_equal(error.status, CREST_IO);
    assert_string_equal(error.message, "tried this 5");
    assert_int_equal(crest_error_set(NULL, CREST_LIMIT, "%s", "nobody"), CREST_LIMIT);
    crest_error_clear(&error);
    assert_int_equal(error.status, CREST_OK);
    assert_string_equal(error.message, "");
    crest_error_clear(NULL);
    /* one, two, three and four bytes a character, cut at each of its places */
    static const char *const characters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a"};
    for (size_t c = 0; c < LENGTH(characters); c++)
        for (int before = 0; before < 4; before++) {
            static char text[4 * CREST_ERROR_BYTES];
            memset(text, 'b', sizeof text);
            size_t at = (size_t)before, bytes = strlen(characters[c]);
            for (; at + bytes < sizeof text; at += bytes)
                memcpy(text + at, characters[c], bytes);
            text[at] = '\0';
            crest_error_set(&error, CREST_IO, "%s", text);
            assert_true(crest_utf8_is_valid(error.message));
            assert_in_range(strlen(error.message), CREST_ERROR_BYTES - 1 - 4,
                            CREST_ERROR_BYTES - 1);
            assert_memory_equal(error.message, text, strlen(error.message));
        }
}

typedef struct listener {
    uint64_t number, heard, wrong;
} listener;

static void listen(crest_log_level level, const char *message, void *context)
{
    listener *l = context;
    (void)level;
    __atomic_fetch_add(&l->heard, 1, __ATOMIC_RELAXED);
    if (strcmp(message, "message 7") != 0)
        __atomic_fetch_add(&l->wrong, 1, __ATOMIC_RELAXED);
}

static void listen_odd(crest_log_level level, const char *message, void *context)
{
    listener *l = context;
    if (l->number % 2 != 1)
        __atomic_fetch_add(&l->wrong, 1, __ATOMIC_RELAXED);
    listen(level, message, context);
}

static void listen_even(crest_log_level level, const char *message, void *context)
{
    listener *l = context;
    if (l->number % 2 != 0)
        __atomic_fetch_add(&l->wrong, 1, __ATOMIC_RELAXED);
    listen(level, message, context);
}

static void *write_log(void *times)
{
    for (uintptr_t i = 0; i < (uintptr_t)times; i++)
        crest_log_write(CREST_LOG_WARNING, "message %d", 7);
    return NULL;
}

static void test_log(void **state)
{
    (void)state;
    listener two[2] = {{0, 0, 0}, {1, 0, 0}};
    assert_false(crest_log_wanted());
    crest_log_write(CREST_LOG_ERROR, "to nobody");
    crest_log_to(listen_odd, &two[1]);
    assert_true(crest_log_wanted());
    const uintptr_t times = FIXTURE_TIMES(20000);
    pthread_t writers[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_log, (void *)times), 0);
    for (int i = 0; i < 1000; i++) {
        crest_log_to(i % 2 ? listen_odd : listen_even, &two[i % 2]);
        sched_yield();
    }
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    assert_int_equal(two[0].heard + two[1].heard, 2 * times);
    assert_int_equal(two[0].wrong + two[1].wrong, 0);
    crest_log_to(NULL, NULL);
    assert_false(crest_log_wanted());
    crest_log_write(CREST_LOG_ERROR, "to nobody");
    assert_int_equal(two[0].heard + two[1].heard, 2 * times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
