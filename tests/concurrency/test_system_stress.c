/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors under threads that take snapshots, pages, lists and failures all at once, while others
 * stop and start them and what they read comes and goes. Whatever a snapshot shows is right: no
 * counter goes down or past its source, no gauge shows what was never there, and what is stopped is
 * in no snapshot that begins afterwards.
 */
#define _GNU_SOURCE
#include "support/system_fixture.h"

/* At least so long, and until they were started so often. */
#define STRESS_MS 1500u
#define STRESS_STARTS 5u

static system_tree stress_tree;
static crest_registry *stress_registry;
static uint64_t stress_source; /* what the file says now, or is about to */
static uint32_t stress_over;

static int stress_goes_on(void)
{
    return !__atomic_load_n(&stress_over, __ATOMIC_ACQUIRE);
}

/* The file grows; now and then it is missing or nonsense. Replaced as a whole, as the kernel's are
 * made: nobody reads a part of it. */
static void *stress_write(void *unused)
{
    char text[100], from[400], to[400];
    system_tree_path(&stress_tree, "proc/self/new", from);
    system_tree_path(&stress_tree, "proc/self/io", to);
    for (uint64_t count = 1; stress_goes_on(); count++) {
        __atomic_store_n(&stress_source, count, __ATOMIC_RELEASE);
        snprintf(text, sizeof text, count % 16 == 0 ? "rchar: -%llu\n" : "rchar: %llu\n",
                 (unsigned long long)count);
        system_tree_write(&stress_tree, "proc/self/new", text);
        fixture_equal(rename(from, to), 0);
        if (count % 32 == 0)
            unlink(to);
        usleep(200);
    }
    return unused;
}

static void *stress_look(void *unused)
{
    static const char *const read[] = {"read"};
    uint64_t last = 0;
    while (stress_goes_on()) {
        crest_snapshot *snapshot = fixture_snapshot(stress_registry);
        uint64_t most = __atomic_load_n(&stress_source, __ATOMIC_ACQUIRE);
        crest_series_view view;
        if (crest_snapshot_find(snapshot, "process.io-data", read, 1, &view) == CREST_OK) {
            fixture_holds(view.counter >= last && view.counter <= most);
            last = view.counter;
        }
        if (crest_snapshot_find(snapshot, "process.max-fds", NULL, 0, &view) == CREST_OK)
            fixture_holds(view.gauge == 512 || view.gauge == 1024);
        crest_snapshot_free(snapshot);
    }
    return unused;
}

static int stress_discard(void *unused, const void *bytes, size_t length)
{
    (void)unused, (void)bytes, (void)length;
    return 0;
}

static void *stress_page(void *unused)
{
    while (stress_goes_on())
        crest_page_write(stress_registry, CREST_FORMAT_OPENMETRICS, stress_discard, NULL, NULL);
    return unused;
}

/* Starts and stops: of all that try, one has them. */
static void *stress_start(void *started)
{
    while (stress_goes_on()) {
        crest_error error;
        crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
        crest_system_options options = {.registry = stress_registry,
                                        .groups = "process malloc",
                                        .proc = stress_tree.proc,
                                        .sys = stress_tree.sys,
                                        .interval_ms = CREST_SYSTEM_INTERVAL_MS_MIN,
                                        .slow_interval_ms = CREST_SYSTEM_INTERVAL_MS_MIN};
        crest_system *system = crest_system_start(&options, &error);
        if (system == NULL) {
            fixture_equal(error.status, CREST_ALREADY);
            usleep(1000);
            continue;
        }
        __atomic_fetch_add((unsigned *)started, 1, __ATOMIC_RELAXED);
        for (unsigned i = 0; i < 5; i++) {
            fixture_holds(crest_system_list(system, states, LENGTH(states)) >= 2);
            usleep(2000);
        }
        fixture_equal(crest_system_stop(system), CREST_OK);
        fixture_equal(crest_system_list(system, states, LENGTH(states)), 0);
    }
    return NULL;
}

static void test_everything_at_once(void **state)
{
    (void)state;
    unsigned started[2] = {0};
    pthread_t threads[6];
    system_tree_make(&stress_tree);
    system_tree_write(&stress_tree, "proc/self/limits", "Max open files  512 4096 files\n");
    stress_registry = fixture_registry(NULL);
    pthread_create(&threads[0], NULL, stress_write, NULL);
    pthread_create(&threads[1], NULL, stress_look, NULL);
    pthread_create(&threads[2], NULL, stress_look, NULL);
    pthread_create(&threads[3], NULL, stress_page, NULL);
    pthread_create(&threads[4], NULL, stress_start, &started[0]);
    pthread_create(&threads[5], NULL, stress_start, &started[1]);
    usleep(1000 * STRESS_MS);
    FIXTURE_AWAIT(__atomic_load_n(&started[0], __ATOMIC_RELAXED) +
                      __atomic_load_n(&started[1], __ATOMIC_RELAXED) >=
                  STRESS_STARTS);
    __atomic_store_n(&stress_over, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 6; i++)
        fixture_join(threads[i], NULL);
    printf("    started %u and %u times, the file written %llu times\n", started[0], started[1],
           (unsigned long long)stress_source);
    /* what has been stopped is nowhere */
    crest_series_view view;
    const char *read = "read";
    crest_snapshot *snapshot = fixture_snapshot(stress_registry);
    assert_int_equal(crest_snapshot_find(snapshot, "process.max-fds", NULL, 0, &view),
                     CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "process.io-data", &read, 1, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    /* and goes on where it was: the counter shows the source's own total */
    system_tree_write(&stress_tree, "proc/self/io", "rchar: 1000000\n");
    system_under_test test = {.registry = stress_registry};
    test.options = (crest_system_options){.registry = stress_registry,
                                          .groups = "process",
                                          .proc = stress_tree.proc,
                                          .interval_ms = CREST_SYSTEM_INTERVAL_MS_MIN};
    system_test_again(&test);
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 1000000);
    system_test_stop(&test);
    system_tree_remove(&stress_tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_everything_at_once)};
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("system_stress", tests, NULL, NULL);
}
