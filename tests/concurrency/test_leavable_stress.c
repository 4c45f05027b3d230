/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leavable.h: owners that leave before, while and after their calls end. Each shared piece is freed
 * once, with no thread of it left, whichever thread was last.
 */
#include "base/alloc.h"
#include "base/leavable.h"
#include "support/core_fixture.h"

#include <sched.h>
#include <sys/wait.h>

#define OWNERS 3
#define PIECES 1500 /* of each owner */
#define THREADS_MAX 3

/* Counted apart from the pieces, which are gone when they are looked at; by __atomic. */
static unsigned made, freed, started, ended, wanted, unwanted, wrong;

typedef struct piece {
    pthread_mutex_t lock;
    crest_leavable leavable; /* not first: the kind finds the piece */
    unsigned inside;         /* under the lock */
    unsigned spins;
    int *hangs; /* the call hangs while this is set, unless NULL */
} piece;

static piece *piece_of(crest_leavable *leavable)
{
    return (piece *)((char *)leavable - offsetof(piece, leavable));
}

static void add(unsigned *count)
{
    __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
}

static void piece_run(crest_leavable *self)
{
    piece *mine = piece_of(self);
    unsigned spins = mine->spins;
    mine->inside++;
    crest_leavable_out(self);
    while (mine->hangs != NULL && __atomic_load_n(mine->hangs, __ATOMIC_SEQ_CST))
        usleep(100);
    for (unsigned i = 0; i < spins; i++)
        sched_yield();
    add(crest_leavable_back(self) ? &wanted : &unwanted);
    mine->inside--;
    add(&ended);
}

static void piece_free(crest_leavable *self)
{
    piece *mine = piece_of(self);
    if (mine->inside != 0 || self->threads != 0)
        add(&wrong);
    pthread_mutex_destroy(&mine->lock);
    memset(mine, 0x5a, sizeof *mine);
    crest_alloc_free(mine);
    add(&freed);
}

static const crest_leavable_kind piece_kind = {"test-leavable", piece_run, piece_free};

static piece *piece_new(unsigned spins, int *hangs)
{
    piece *mine = crest_alloc(1, sizeof *mine);
    pthread_mutex_init(&mine->lock, NULL);
    crest_leavable_init(&mine->leavable, &piece_kind, &mine->lock);
    mine->spins = spins;
    mine->hangs = hangs;
    add(&made);
    return mine;
}

static void piece_start(piece *mine)
{
    pthread_mutex_lock(&mine->lock);
    if (crest_leavable_start(&mine->leavable) == 0)
        add(&started);
    pthread_mutex_unlock(&mine->lock);
}

static void *own(void *context)
{
    unsigned random = (unsigned)(uintptr_t)context;
    for (int i = 0; i < PIECES; i++) {
        random = random * 1664525u + 1013904223u;
        piece *mine = piece_new(random >> 20 & 7, NULL);
        for (unsigned threads = random >> 24 & THREADS_MAX; threads != 0; threads--)
            piece_start(mine);
        for (unsigned spins = random >> 16 & 15; spins != 0; spins--)
            sched_yield();
        if (random & 0x400) {
            crest_leavable_leave(&mine->leavable);
            continue;
        }
        pthread_mutex_lock(&mine->lock);
        int last = crest_leavable_leave_locked(&mine->leavable);
        pthread_mutex_unlock(&mine->lock);
        if (last)
            piece_free(&mine->leavable);
    }
    return NULL;
}

static void settle(void)
{
    for (int i = 0; i < 30000 && __atomic_load_n(&freed, __ATOMIC_SEQ_CST) != made; i++)
        usleep(1000);
    assert_int_equal(__atomic_load_n(&freed, __ATOMIC_SEQ_CST), made);
    assert_int_equal(ended, started);
    assert_int_equal(wanted + unwanted, ended);
    assert_int_equal(wrong, 0);
}

static void test_freed_once(void **state)
{
    (void)state;
    pthread_t owners[OWNERS];
    for (uintptr_t i = 0; i < OWNERS; i++)
        assert_int_equal(pthread_create(&owners[i], NULL, own, (void *)(i + 1)), 0);
    for (int i = 0; i < OWNERS; i++)
        pthread_join(owners[i], NULL);
    settle();
    /* both kinds of end were tried */
    assert_true(wanted != 0 && unwanted != 0);
}

/* The owner does not wait for a call that hangs, and nothing is freed under it. */
static void test_left_hanging(void **state)
{
    (void)state;
    int hangs = 1;
    unsigned before = freed, not_wanted = unwanted;
    piece *mine = piece_new(0, &hangs);
    piece_start(mine);
    pthread_mutex_lock(&mine->lock);
    while (mine->inside == 0) {
        pthread_mutex_unlock(&mine->lock);
        usleep(100);
        pthread_mutex_lock(&mine->lock);
    }
    pthread_mutex_unlock(&mine->lock);
    crest_leavable_leave(&mine->leavable);
    usleep(2000);
    assert_int_equal(__atomic_load_n(&freed, __ATOMIC_SEQ_CST), before);
    __atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
    settle();
    assert_int_equal(unwanted, not_wanted + 1);
}

/* A forked child leaves its parent's at once, though its thread and the lock will never come. */
static void test_left_in_a_child(void **state)
{
    (void)state;
    int hangs = 1, status;
    piece *mine = piece_new(0, &hangs);
    piece_start(mine);
    pthread_mutex_lock(&mine->lock);
    pid_t child = fork();
    if (child == 0) {
        unsigned before = freed;
        mine->inside = mine->leavable.threads = 0;
        alarm(120);
        crest_leavable_leave(&mine->leavable);
        _exit(freed != before + 1);
    }
    pthread_mutex_unlock(&mine->lock);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    __atomic_store_n(&hangs, 0, __ATOMIC_SEQ_CST);
    crest_leavable_leave(&mine->leavable);
    settle();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freed_once),
        cmocka_unit_test(test_left_hanging),
        cmocka_unit_test(test_left_in_a_child),
    };
    return cmocka_run_group_tests_name("leavable_stress", tests, NULL, NULL);
}
