/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: what CREST_SOURCE puts before the names of a file, the same for callers without a file,
 * and the table in which names are found.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "instruments/name_table.h"

#define SOURCES_TEAM "sourced"
CREST_SOURCE_IN(SOURCES_TEAM, "comm.rp");

static uint64_t counted(const char *name)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    uint64_t value = fixture_series(snapshot, name, NULL).counter;
    crest_snapshot_free(snapshot);
    return value;
}

static void test_each_kind_under_the_source(void **state)
{
    (void)state;
    const char *dropped = "dropped-at-run-time";
    for (int i = 0; i < 3; i++) {
        crest_increment_counter("events");
        crest_increment_counter_by("events", 10);
        crest_increment_counter(dropped);
        crest_set_gauge("level", 5);
        crest_increment_gauge("level", 2);
        crest_decrement_gauge("level", 3.5);
        crest_record("size", 100);
        crest_record_n("size", 200, 2);
        crest_timing timing = crest_timer_start_by_name("wait-time", crest_op_u64(1));
        assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_OK);
    }
    assert_int_equal(counted("sourced.comm.rp.events"), 33);
    assert_int_equal(counted("sourced.comm.rp.dropped-at-run-time"), 3);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_true(fixture_series(snapshot, "sourced.comm.rp.level", NULL).gauge == 3.5);
    crest_series_view size = fixture_series(snapshot, "sourced.comm.rp.size", NULL);
    assert_int_equal(crest_distribution_count(size.distribution), 9);
    crest_series_view wait = fixture_series(snapshot, "sourced.comm.rp.wait-time", "ok");
    assert_int_equal(crest_distribution_count(wait.distribution), 3);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_counter_value(crest_counter_by_name("events")), 33);
    assert_ptr_equal(crest_counter_by_name("events"),
                     crest_counter_by_name_in(NULL, "sourced.comm.rp.events"));
}

/* The functions know no file. */
static void test_functions_take_their_source(void **state)
{
    (void)state;
    crest_source *source = crest_source_get("given.comm");
    void (*count)(const char *) = crest_increment_counter;
    count("plain.events");
    crest_increment_counter_in(source, "events");
    crest_increment_counter_by_in(source, "events", 6);
    crest_increment_counter_in(NULL, "given.comm.events");
    crest_increment_counter_in(crest_source_get(""), "given.comm.events");
    crest_set_gauge_in(source, "level", 2);
    crest_increment_gauge_in(source, "level", 2);
    crest_decrement_gauge_in(source, "level", 1);
    crest_record_in(source, "size", 7);
    crest_record_n_in(source, "size", 7, 2);
    crest_timing timing = crest_timer_start_by_name_in(source, "wait-time", crest_op_u64(1));
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), CREST_OK);
    assert_int_equal(counted("plain.events"), 1);
    assert_int_equal(counted("given.comm.events"), 9);
    assert_true(crest_gauge_value(crest_gauge_by_name_in(source, "level")) == 3);
    assert_ptr_equal(crest_source_get("given.comm"), source);
    assert_ptr_not_equal(crest_source_get("given.commx"), source);
}

static void test_wrong_sources_are_counted(void **state)
{
    (void)state;
    static char longest[CREST_NAME_BYTES_MAX + 1];
    memset(longest, 'x', sizeof longest - 1);
    const char *const wrong[] = {"-", "a..b", ".a", "a.", "not a name", "1a", "\xff", longest};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        uint64_t before = crest_misuse_value(CREST_MISUSE_NAME);
        crest_source *source = crest_source_get(wrong[i]);
        assert_non_null(source);
        assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME), before + 1);
        crest_increment_counter_in(source, "events");
        assert_true(crest_misuse_value(CREST_MISUSE_NAME) > before + 1);
        assert_int_equal(crest_counter_by_name_in(source, "events")->handle.slot, 0);
    }
    crest_source foreign = {"foreign.abi", NULL, CREST_ABI + 1};
    uint64_t before = crest_misuse_value(CREST_MISUSE_ABI);
    assert_int_equal(crest_counter_by_name_in(&foreign, "events")->handle.slot, 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ABI), before + 1);
    /* a source need not be valid as a name, only before one */
    crest_increment_counter_in(crest_source_get("up"), "events");
    assert_int_equal(counted("up.events"), 1);
}

/* What a configuration says can be asked first. */
static void test_a_source_is_checked(void **state)
{
    (void)state;
    static char longest[CREST_NAME_BYTES_MAX + 2];
    memset(longest, 'x', sizeof longest - 1);
    const char *const good[] = {NULL, "", "up", "a", "rchain.comm", "a-b_c.D9"};
    const struct {
        const char *name, *said;
    } wrong[] = {
        {"-", "of \"-.x\", it begins with '-', not with a letter"},
        {"a..b", "of \"a..b.x\", it has two separators in a row, at byte 2"},
        {"a.", "of \"a..x\", it has two separators in a row, at byte 2"},
        {longest, "xxxx... is longer than 200 bytes"},
    };
    uint64_t before = crest_misuse_value(CREST_MISUSE_NAME);
    for (size_t i = 0; i < LENGTH(good); i++)
        assert_int_equal(crest_source_check(good[i], NULL), CREST_OK);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        crest_error error;
        assert_int_equal(crest_source_check(wrong[i].name, NULL), CREST_INVALID_NAME);
        assert_int_equal(crest_source_check(wrong[i].name, &error), CREST_INVALID_NAME);
        assert_int_equal(error.status, CREST_INVALID_NAME);
        assert_non_null(strstr(error.message, wrong[i].said));
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME), before);
}

/* What is together too long is refused, not cut. */
static void test_long_names(void **state)
{
    (void)state;
    char name[CREST_NAME_BYTES_MAX + 2];
    const char before[] = "long.source";
    crest_source *source = crest_source_get(before);
    for (size_t length = 1; length < sizeof name; length++) {
        memset(name, 'a', length);
        name[length] = '\0';
        int fits = sizeof before + length <= CREST_NAME_BYTES_MAX;
        uint64_t refused = crest_misuse_value(CREST_MISUSE_NAME);
        crest_increment_counter_in(source, name);
        assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME) > refused, !fits);
        assert_int_equal(crest_counter_value(crest_counter_by_name_in(source, name)), fits);
    }
}

/* Each name under each source is an entry of its own, however often the table has grown. */
static void test_table(void **state)
{
    (void)state;
    static char names[2000][32];
    crest_source *sources[] = {crest_source_get("table.a"), crest_source_get("table.b")};
    for (size_t i = 0; i < LENGTH(names); i++)
        for (size_t s = 0; s < LENGTH(sources); s++) {
            /* lengths from 1 to 24, so that every way through the hash is taken */
            snprintf(names[i], sizeof names[i], "n%zx%.*s", i, (int)(i % 20),
                     "abcdefghijklmnopqrst");
            crest_increment_counter_by_in(sources[s], names[i], (int64_t)(2 * i + s));
        }
    for (size_t i = 0; i < LENGTH(names); i++)
        for (size_t s = 0; s < LENGTH(sources); s++)
            assert_int_equal(crest_counter_value(crest_counter_by_name_in(sources[s], names[i])),
                             2 * i + s);
    crest_status status;
    crest_by_name_key key = {crest_source_resolve(sources[0], &status), names[7], strlen(names[7]),
                             CREST_KIND_COUNTER};
    assert_ptr_equal(crest_by_name_find(key), crest_counter_by_name_in(sources[0], names[7]));
    key.length--;
    assert_null(crest_by_name_find(key));
    key.length++;
    key.kind = CREST_KIND_GAUGE;
    assert_null(crest_by_name_find(key));
}

/* Without memory nothing is kept and nothing is lost: what can be recorded is. */
static void test_without_memory(void **state)
{
    (void)state;
    crest_source *source = crest_source_get("memory.source");
    crest_increment_counter_in(source, "kept");
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NO_MEMORY);
    crest_arena_fail_after(1);
    crest_increment_counter_in(source, "kept");
    crest_increment_counter_in(source, "not-made");
    crest_source *made_without = crest_source_get("memory.none");
    crest_increment_counter_in(made_without, "events");
    crest_arena_fail_after(0);
    assert_true(crest_misuse_value(CREST_MISUSE_NO_MEMORY) >= refused + 2);
    crest_increment_counter_in(source, "not-made");
    assert_int_equal(counted("memory.source.kept"), 2);
    assert_int_equal(counted("memory.source.not-made"), 1);
}

static void *call_in_parallel(void *unused)
{
    for (int i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%d", i);
        static crest_source fresh = {"parallel.static", NULL, CREST_ABI};
        crest_increment_counter_in(crest_source_get("parallel.got"), name);
        crest_increment_counter_in(&fresh, name);
        crest_increment_counter(name);
    }
    return unused;
}

static void test_first_uses_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_in_parallel, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 500; i++) {
        char name[64];
        static const char *const sources[] = {"parallel.got", "parallel.static", "sourced.comm.rp"};
        for (size_t s = 0; s < LENGTH(sources); s++) {
            snprintf(name, sizeof name, "%s.m%d", sources[s], i);
            assert_int_equal(crest_counter_value(crest_counter_by_name_in(NULL, name)), THREADS);
        }
    }
}

static void test_sources_are_bounded(void **state)
{
    (void)state;
    char text[32];
    uint64_t refused = crest_misuse_value(CREST_MISUSE_LIMIT);
    for (unsigned i = 0; i < CREST_SOURCES_MAX; i++) {
        snprintf(text, sizeof text, "bounded.s%u", i);
        assert_non_null(crest_source_get(text));
    }
    assert_true(crest_misuse_value(CREST_MISUSE_LIMIT) > refused);
    assert_int_equal(crest_counter_by_name_in(crest_source_get("bounded.more"), "a")->handle.slot,
                     0);
    crest_increment_counter("events"); /* those there are go on */
    assert_true(counted("sourced.comm.rp.events") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_under_the_source),
        cmocka_unit_test(test_functions_take_their_source),
        cmocka_unit_test(test_wrong_sources_are_counted),
        cmocka_unit_test(test_a_source_is_checked),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_first_uses_at_once),
        cmocka_unit_test(test_sources_are_bounded),
    };
    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
