/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split metrics: which names are too close, that each pair is told by both names and counted, and
 * that strict mode refuses them.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "names/lookalike_names.h"

#include <crest/by_name.h>

#define TOLD_MAX 256
static char told[TOLD_MAX][512];
static unsigned told_count;

static void hear(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (told_count < TOLD_MAX)
        snprintf(told[told_count++], sizeof told[0], "%s", message);
}

/* How many messages have both of these in them, in this order. */
static unsigned heard(const char *first, const char *second)
{
    unsigned count = 0;
    for (unsigned i = 0; i < told_count; i++) {
        const char *at = strstr(told[i], first);
        count += at != NULL && strstr(at, second) != NULL;
    }
    return count;
}

static void listen(void)
{
    told_count = 0;
    crest_log_to(hear, NULL);
    crest_split_tell();
    crest_log_to(NULL, NULL);
}

static crest_status get(crest_registry *registry, const char *name)
{
    crest_metric_options options = {.name = name};
    crest_status status;
    crest_counter_get(registry, &options, &status);
    return status;
}

static void test_which_are_close(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int same;
    } cases[] = {
        {"comm.block-seen", "comm.block_seen", 1},
        {"comm.block-seen", "comm-block-seen", 1},
        {"comm.block-seen", "comm.blockSeen", 1},
        {"comm.block-seen", "Comm.BlockSeen", 1},
        {"comm.block-seen", "COMM_BLOCK__SEEN", 1},
        {"comm.block-seen", "comm.blockseen", 1},
        {"a_", "a", 1},
        {"ping", "ping-time", 0},
        {"ping", "pings", 0},
        {"comm.events", "comm.event", 0},
        {"shard-1-2", "shard-12", 0},
        {"shard-1-2", "shard-1.2", 1},
        {"shard-1__2", "shard_1.2", 1},
        {"shard-1", "shard1", 1},
        {"v1.a2", "v.1a-2", 1},
        {"a", "b", 0},
        {"ab", "a", 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        if (crest_split_same(cases[i].a, cases[i].b) != cases[i].same ||
            crest_split_same(cases[i].b, cases[i].a) != cases[i].same)
            fail_msg("%s and %s: not %d", cases[i].a, cases[i].b, cases[i].same);
        if ((crest_split_hash(cases[i].a) == crest_split_hash(cases[i].b)) != cases[i].same)
            fail_msg("the hashes of %s and %s", cases[i].a, cases[i].b);
    }
}

static void test_each_pair_is_told(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("lax");
    uint64_t before = crest_misuse_value(CREST_MISUSE_SPLIT_NAME);
    assert_int_equal(get(registry, "comm.block-seen"), CREST_OK);
    assert_int_equal(get(registry, "comm.block-seen"), CREST_OK);
    assert_int_equal(get(registry, "comm.ping"), CREST_OK);
    assert_int_equal(get(registry, "comm.ping-time"), CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before);
    assert_int_equal(get(registry, "comm.blockSeen"), CREST_OK);
    assert_int_equal(get(registry, "comm.BlockSeen"), CREST_OK);
    assert_int_equal(get(registry, "comm.BlockSeen"), CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before + 2);
    listen();
    assert_int_equal(heard("'lax.comm.blockSeen'", "'lax.comm.block-seen'"), 1);
    assert_int_equal(heard("'lax.comm.BlockSeen'", "'lax.comm.block-seen'"), 1);
    assert_int_equal(heard("comm.ping", ""), 0);
    listen();
    assert_int_equal(told_count, 0);
    /* another registry's names are its own */
    crest_registry *other = fixture_registry("LAX");
    assert_int_equal(get(other, "comm.block-seen"), CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before + 2);
    crest_registry_free(other);
    crest_registry_free(registry);
}

static void test_clashes_are_told_by_both_names(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("clash");
    assert_int_equal(get(registry, "block-seen"), CREST_OK);
    uint64_t used = crest_arena_used(CREST_ARENA_META);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(get(registry, "block.seen"), CREST_NAME_CLASH);
    /* who asks again and again takes no memory */
    assert_int_equal(crest_arena_used(CREST_ARENA_META), used);
    assert_int_equal(get(registry, "block-seen.rate1m"), CREST_NAME_CLASH);
    listen();
    assert_int_equal(heard("'clash.block.seen'", "'clash.block-seen'"), 1);
    assert_int_equal(heard("'clash.block-seen.rate1m'", "like what windows give"), 1);
    crest_registry_free(registry);
}

CREST_COUNTER(declared, "splits.declared-one", "A declared name.");
CREST_HISTOGRAM(declared_again, "splits.declaredOne", "Another, too close to it.");

/* Whatever way a metric came about. */
static void test_every_way_to_a_metric(void **state)
{
    (void)state;
    uint64_t before = crest_misuse_value(CREST_MISUSE_SPLIT_NAME);
    crest_increment_counter("splits.DeclaredOne");
    crest_set_gauge("Splits.DeclaredOne", 1);
    const char *const keys[] = {"peer"};
    crest_metric_options options = {.name = "splits.declared.one"};
    crest_status status;
    crest_timer_family_new(NULL, &options, keys, 1, &status);
    assert_int_equal(status, CREST_NAME_CLASH);
    options.name = "SPLITS.declaredone";
    crest_timer_family_new(NULL, &options, keys, 1, &status);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before + 3);
    listen();
    assert_int_equal(heard("'splits.declaredOne'", "'splits.declared-one'") +
                         heard("'splits.declared-one'", "'splits.declaredOne'"),
                     1);
    assert_int_equal(heard("'splits.DeclaredOne'", ""), 1);
    assert_int_equal(heard("'Splits.DeclaredOne'", ""), 1);
    assert_int_equal(heard("'splits.declared.one' was refused", ""), 1);
    assert_int_equal(heard("'SPLITS.declaredone'", ""), 1);
    crest_counter_inc(&declared);
    crest_histogram_record(&declared_again, 1);
}

static void test_strict(void **state)
{
    (void)state;
    crest_registry_options strict = {.prefix = "strict", .strict = 1};
    crest_registry *registry = crest_registry_new(&strict);
    assert_non_null(registry);
    assert_int_equal(get(registry, "block-seen"), CREST_OK);
    uint64_t before = crest_misuse_value(CREST_MISUSE_SPLIT_NAME);
    uint64_t used = crest_arena_used(CREST_ARENA_META);
    for (int i = 0; i < 100; i++)
        assert_int_equal(get(registry, "blockSeen"), CREST_SPLIT_NAME);
    assert_int_equal(crest_arena_used(CREST_ARENA_META), used);
    assert_int_equal(get(registry, "block-seen"), CREST_OK);
    assert_int_equal(get(registry, "block-seen-time"), CREST_OK);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before + 100);
    listen();
    assert_int_equal(heard("'strict.blockSeen' was refused", "'strict.block-seen'"), 1);
    crest_registry_strict(registry, 0);
    assert_int_equal(get(registry, "blockSeen"), CREST_OK);
    crest_registry_strict(registry, 1);
    assert_int_equal(get(registry, "blockSeen"), CREST_OK); /* it is there */
    assert_int_equal(get(registry, "BlockSeen"), CREST_SPLIT_NAME);
    crest_registry_free(registry);
}

static void test_strict_by_option(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_start("strict=maybe", &error), CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "strict=maybe"));
    assert_int_equal(get(NULL, "option.block-seen"), CREST_OK);
    assert_int_equal(crest_start("strict=on,atexit=off", &error), CREST_OK);
    assert_int_equal(get(NULL, "option.blockSeen"), CREST_SPLIT_NAME);
    crest_increment_counter("option.blockSeen");
    assert_int_equal(crest_counter_value(crest_counter_by_name("option.blockSeen")), 0);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    /* not given, it leaves the host's choice */
    assert_int_equal(crest_start("atexit=off", &error), CREST_OK);
    assert_int_equal(get(NULL, "option.blockSeen"), CREST_SPLIT_NAME);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    assert_int_equal(crest_start("strict=off,atexit=off", &error), CREST_OK);
    assert_int_equal(get(NULL, "option.blockSeen"), CREST_OK);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
}

/* A name that could not be kept for want of memory is as if it had never been asked for. */
static void test_without_memory(void **state)
{
    (void)state;
    for (unsigned long after = 1;; after++) {
        crest_registry_options strict = {.strict = 1};
        crest_registry *registry = crest_registry_new(&strict);
        assert_non_null(registry);
        crest_arena_fail_after(after);
        crest_status status = get(registry, "block-seen");
        crest_arena_fail_after(0);
        assert_int_equal(get(registry, status == CREST_OK ? "block-seen" : "blockSeen"), CREST_OK);
        crest_registry_free(registry);
        if (status == CREST_OK)
            break;
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_true(after < 1000);
    }
}

static void test_pairs_are_bounded(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    uint64_t before = crest_misuse_value(CREST_MISUSE_SPLIT_NAME);
    char name[32];
    for (unsigned i = 0; i < 2 * CREST_SPLITS_MAX; i++) {
        snprintf(name, sizeof name, "bounded.m%u", i);
        assert_int_equal(get(registry, name), CREST_OK);
        snprintf(name, sizeof name, "bounded.M%u", i);
        assert_int_equal(get(registry, name), CREST_OK);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_SPLIT_NAME), before + 2 * CREST_SPLITS_MAX);
    listen();
    assert_true(told_count > 0 && told_count <= CREST_SPLITS_MAX);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_to_a_metric), /* first: it hears of declarations */
        cmocka_unit_test(test_which_are_close),
        cmocka_unit_test(test_each_pair_is_told),
        cmocka_unit_test(test_clashes_are_told_by_both_names),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_strict_by_option),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_pairs_are_bounded),
    };
    return cmocka_run_group_tests_name("splits", tests, NULL, NULL);
}
