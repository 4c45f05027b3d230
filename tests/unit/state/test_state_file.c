/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file of a living process: what is in it, whom it belongs to, what is refused, and what
 * forks do to it. The process keeps one file from the first test on.
 */
#define _GNU_SOURCE
#include "base/arena.h"
#include "state/directory_records.h"
#include "state/state_file.h"
#include "state/state_view.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FILE_NAME "node.crest"

CREST_COUNTER(blocks, "test.blocks", "Blocks.");
CREST_COUNTER_FAMILY(peers, "test.peers", "Peers.", peer);
CREST_GAUGE(height, "test.height", "Height.");

static crest_state_view *view_of(const char *file)
{
    crest_state_view *view;
    crest_error error = {.status = CREST_OK};
    int descriptor = open(state_dir_path(file), O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    crest_status status = crest_state_view_read(descriptor, &view, &error);
    close(descriptor);
    if (status != CREST_OK)
        fail_msg("%s", error.message);
    return view;
}

/* The record of the metric of this name, or of its series with this first value (NULL: none). */
static const crest_state_record *record_of(crest_state_view *view, const char *name,
                                           const char *value)
{
    const crest_state_record *record, *metric = NULL;
    const char *texts[8];
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;) {
        const crest_state_metric *one = (const crest_state_metric *)(const void *)record;
        if (record->type == CREST_STATE_METRIC &&
            crest_state_texts(record, one->bound_count * sizeof(double), texts, 1) &&
            strcmp(texts[0], name) == 0)
            metric = record;
    }
    if (value == NULL || metric == NULL)
        return metric;
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;) {
        const crest_state_series *one = (const crest_state_series *)(const void *)record;
        if (record->type == CREST_STATE_SERIES &&
            one->metric == ((const crest_state_metric *)(const void *)metric)->id &&
            crest_state_texts(record, 0, texts, one->value_count) &&
            (one->value_count == 0 || strcmp(texts[0], value) == 0))
            return record;
    }
    return NULL;
}

/* The sum of a counter's cells, as docs/state-format.md tells. */
static uint64_t sum_of(crest_state_view *view, const char *name, const char *value)
{
    const crest_state_series *series =
        (const crest_state_series *)(const void *)record_of(view, name, value);
    const crest_state_record *record;
    assert_non_null(series);
    uint64_t sum = 0, slot = series->slot;
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;) {
        const crest_state_thread *thread = (const crest_state_thread *)(const void *)record;
        const crest_state_shared_chunk *shared =
            (const crest_state_shared_chunk *)(const void *)record;
        if (record->type == CREST_STATE_THREAD && thread->flags == 0) {
            uint64_t chunk =
                crest_state_word(view, thread->table + slot / CREST_STATE_CHUNK * sizeof(uint64_t));
            sum += chunk != 0 ? crest_state_word(view, chunk + slot * sizeof(uint64_t)) : 0;
        }
        if (record->type == CREST_STATE_SHARED_CHUNK && shared->chunk == slot / CREST_STATE_CHUNK)
            sum += crest_state_word(view,
                                    shared->address + slot % CREST_STATE_CHUNK * sizeof(uint64_t));
    }
    return sum - series->base;
}

static uint64_t sum_now(const char *name, const char *value)
{
    crest_state_view *view = view_of(FILE_NAME);
    uint64_t sum = sum_of(view, name, value);
    crest_state_view_free(view);
    return sum;
}

static void *counting(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        crest_counter_inc(&blocks);
    return NULL;
}

/* What was counted before the start is there, at the same address, and so is what came later. */
static void test_opened(void **state)
{
    (void)state;
    crest_error error;
    crest_counter_add(&blocks, 5);
    crest_counter_add(peers_with("before"), 3);
    const uint64_t *cell = crest_cell_of(&blocks.handle);
    assert_int_equal(crest_start(state_dir_options(",state.name=node,service=shop"), &error),
                     CREST_OK);
    assert_ptr_equal(crest_cell_of(&blocks.handle), cell);
    assert_int_equal(sum_now("test.blocks", ""), 5);
    assert_int_equal(sum_now("test.peers", "before"), 3);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, counting, NULL), 0);
    pthread_join(thread, NULL);
    crest_counter_add(peers_with("later"), 9);
    crest_gauge_set(&height, 42.5);
    crest_state_view *view = view_of(FILE_NAME);
    assert_int_equal(sum_of(view, "test.blocks", ""), 1005);
    assert_int_equal(sum_of(view, "test.peers", "later"), 9);
    const crest_state_series *gauge =
        (const crest_state_series *)(const void *)record_of(view, "test.height", "");
    double value;
    memcpy(&value, crest_state_at(view, gauge->shared, sizeof value), sizeof value);
    assert_true(value == 42.5);
    assert_int_equal(view->header->phase, CREST_STATE_LIVE);
    assert_int_equal(view->header->pid, getpid());
    assert_int_equal(view->header->pid_start, crest_state_pid_start((uint64_t)getpid()));
    assert_string_equal(view->header->service, "shop");
    assert_string_equal(view->header->name, "node");
    crest_state_view_free(view);
}

static void test_private(void **state)
{
    (void)state;
    struct stat found;
    assert_int_equal(stat(state_dir_path(FILE_NAME), &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    assert_int_equal(stat(state_dir_path("node.lock"), &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    assert_int_equal(crest_state_place_own()->twin, 1);
}

/* A series' end frees its record, and the next one of its size has it. */
static void test_reused(void **state)
{
    (void)state;
    crest_state_header *header = crest_state_header_own();
    const crest_state_extent *extent =
        (const crest_state_extent *)(const void *)((const char *)header + CREST_STATE_PAGE);
    while (extent->kind != CREST_STATE_DIRECTORY)
        extent++;
    uint64_t before = 0;
    crest_state_series series = {.slot = CREST_STATE_CHUNK * 9, .metric = 1, .value_count = 1};
    for (int i = 0; i < 1000; i++) {
        const char *value = i % 2 ? "one" : "two";
        crest_state_note_series(&series, &value);
        crest_state_note_end(series.slot);
        if (i == 0)
            before = extent->used;
    }
    assert_int_equal(extent->used, before);
    crest_state_view *view = view_of(FILE_NAME);
    crest_state_cursor cursor = {0};
    while (crest_state_next(view, &cursor) != NULL)
        continue;
    assert_int_equal(cursor.damaged, 0);
    crest_state_view_free(view);
}

/* ---- forks ---- */

enum { BY_FORK, BY_RAW_FORK, BY_CLONE, FORKS };

static pid_t fork_by(int how)
{
    if (how == BY_FORK)
        return fork();
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (how == BY_RAW_FORK)
        return _Fork();
#endif
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* A child counts into memory of its own: at once after fork(), and after its first call that takes
 * a cold path, as is the making of a series, otherwise. */
__attribute__((unused)) static void test_forks(void **state)
{
    (void)state;
    for (int how = 0; how < FORKS; how++) {
        uint64_t before = sum_now("test.blocks", "");
        pid_t child = fork_by(how);
        if (child == 0) {
            if (how != BY_FORK)
                crest_counter_inc(peers_with("of-a-child"));
            crest_counter_add(&blocks, 1000000);
            _exit(crest_state_header_own() == NULL && crest_counter_value(&blocks) == 1000000 ? 0
                                                                                              : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        crest_counter_inc(&blocks);
        assert_int_equal(sum_now("test.blocks", ""), before + 1);
    }
    crest_state_view *view = view_of(FILE_NAME);
    assert_null(record_of(view, "test.peers", "of-a-child"));
    crest_state_view_free(view);
}

/* A second process of the name has a file of its own; so has a child that starts Crest. */
__attribute__((unused)) static void test_second(void **state)
{
    (void)state;
    uint64_t before = sum_now("test.blocks", "");
    pid_t child = fork();
    if (child == 0) {
        crest_error error;
        crest_counter_add(&blocks, 7);
        crest_status status = crest_start(state_dir_options(",state.name=node"), &error);
        if (status != CREST_OK)
            fprintf(stderr, "%s\n", error.message);
        crest_counter_add(&blocks, 7);
        crest_state_view *view = view_of("node.2.crest");
        _exit(status == CREST_OK && sum_of(view, "test.blocks", "") == 14 &&
                      crest_state_place_own()->twin == 2
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(sum_now("test.blocks", ""), before);
}

/* ---- what is refused ---- */

static void assert_refused(const char *dir, const char *name, const char *words)
{
    crest_state_wish wish = {.dir = dir, .name = name};
    crest_state_place place;
    crest_error error = {.status = CREST_OK};
    crest_status status = crest_state_place_take(&wish, &place, &error);
    if (status == CREST_OK || strstr(error.message, words) == NULL)
        fail_msg("%d \"%s\" does not say: %s", (int)status, error.message, words);
    assert_int_equal(place.lock, -1);
}

static void test_refused(void **state)
{
    (void)state;
    char disk[] = "/var/tmp/crest-test-XXXXXX";
    struct statfs found;
    assert_refused("/dev/shm", "node", "alone");
    assert_refused("/dev/shm/crest-test-no/such/place", "node", "cannot be made");
    assert_refused("/proc/self/status", "node", "cannot be");
    assert_refused(state_dir, "", "not a file's name");
    assert_refused(state_dir, "a/b", "not a file's name");
    assert_refused(state_dir, ".hidden", "not a file's name");
    assert_int_equal(symlink("/dev/null", state_dir_path("linked.lock")), 0);
    assert_refused(state_dir, "linked", "its lock cannot be taken");
    if (mkdtemp(disk) != NULL) {
        assert_int_equal(statfs(disk, &found), 0);
        if (found.f_type != 0x01021994)
            assert_refused(disk, "node", "is on a disk");
        rmdir(disk);
    }
}

/* Symbolic links and foreign files in the place of a state file are put aside, not written to. */
static void test_links(void **state)
{
    (void)state;
    crest_state_wish wish = {.dir = state_dir, .name = "other"};
    crest_state_place place;
    crest_state_found was;
    crest_error error = {.status = CREST_OK};
    char target[256];
    snprintf(target, sizeof target, "%s", state_dir_path("target"));
    assert_int_equal(symlink(target, state_dir_path("other.crest")), 0);
    assert_int_equal(crest_state_place_take(&wish, &place, &error), CREST_OK);
    int descriptor = crest_state_place_make(&place, &was, &error);
    assert_true(descriptor >= 0);
    assert_int_equal(was.end, CREST_STATE_END_UNREADABLE);
    assert_false(state_dir_has("target"));
    assert_true(state_dir_has("other.crest.left.1"));
    close(descriptor);
    crest_state_place_drop(&place);
}

/* A daemon that closed all descriptors and opened others: nothing is written into these. */
__attribute__((unused)) static void test_closed(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        crest_error error;
        if (crest_start(state_dir_options(",state.name=closed"), &error) != CREST_OK)
            _exit(2);
        for (int i = 3; i < 64; i++)
            close(i);
        int other = -1;
        for (int i = 3; i < 64; i++)
            other = open(state_dir_path("others"), O_RDWR | O_CREAT, 0600);
        struct stat found;
        for (int i = 0; i < 300000; i++)
            if (i % 50 == 0) {
                char name[32];
                snprintf(name, sizeof name, "%d", i);
                crest_counter_inc(peers_with(name));
            }
        _exit(fstat(other, &found) == 0 && found.st_size == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_farewell(void **state)
{
    (void)state;
    assert_int_equal(crest_stop(0, NULL), CREST_OK);
    crest_state_view *view = view_of(FILE_NAME);
    assert_int_equal(view->header->phase, CREST_STATE_FAREWELL);
    assert_true(view->header->farewell_wall_ns >= view->header->opened_wall_ns);
    crest_state_view_free(view);
}

/* A start after that, which names the same file in other words, goes on with it; one that asks for
 * another is told so, and has the one that there is. */
static void test_started_again(void **state)
{
    (void)state;
    crest_error error = {.status = CREST_OK};
    char other[300], options[400];
    snprintf(options, sizeof options, ",state.name=node,atexit=off");
    assert_int_equal(crest_start(state_dir_options(options), &error), CREST_OK);
    assert_int_equal(crest_state_header_own()->phase, CREST_STATE_LIVE);
    assert_int_equal(crest_stop(0, NULL), CREST_OK);
    snprintf(options, sizeof options, "state=%s/.,atexit=off", state_dir);
    assert_int_equal(crest_start(options, &error), CREST_OK);
    assert_int_equal(crest_stop(0, NULL), CREST_OK);
    snprintf(other, sizeof other, "%s", state_dir_path("elsewhere"));
    snprintf(options, sizeof options, "state=%s,state.name=node,atexit=off", other);
    assert_int_equal(crest_start(options, &error), CREST_PARTIAL);
    if (strstr(error.message, "has its state file already, node.crest in ") == NULL ||
        strstr(error.message, other) == NULL)
        fail_msg("%s", error.message);
    assert_false(state_dir_has("elsewhere"));
    assert_int_equal(crest_state_header_own()->phase, CREST_STATE_LIVE);
    assert_int_equal(crest_stop(0, NULL), CREST_OK);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "nod" : "node.2";
        snprintf(options, sizeof options, "state=%s,state.name=%s,atexit=off", state_dir, name);
        assert_int_equal(crest_start(options, &error), CREST_PARTIAL);
        assert_int_equal(crest_stop(0, NULL), CREST_OK);
    }
}

int main(void)
{
    state_dir_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opened),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_reused),
#if !defined(CREST_THREAD_SANITIZER) /* it takes no children that start threads */
        cmocka_unit_test(test_forks),
        cmocka_unit_test(test_second),
        cmocka_unit_test(test_closed),
#endif
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_farewell),
        cmocka_unit_test(test_started_again)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
