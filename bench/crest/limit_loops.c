/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See limit_loops.h. Its total shows that a loop has not lost its operation. Where there is no
 * total, and to see that it is the intended operation, look at the machine code:
 *
 *     objdump -d --no-show-raw-insn build/release/obj/bench/crest/limit_loops.o
 *
 * limit_thread_local_add has one `addq $1,(…)` in each step, limit_lock_xadd one `lock xadd`,
 * limit_empty_call_so one `call limits_so_empty`, limit_store_double one `movsd …,(…)`, limit_clock
 * one `rdtsc`, limit_memcpy_page one `call memcpy`. Words that the compiler could keep in a
 * register are kept apart by an empty piece of assembly that pretends to use them.
 */
#define _GNU_SOURCE
#include "limit_loops.h"
#include "so/limits_so.h"

#include <crest/clock.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* A word alone on its cache line. */
typedef struct limit_line {
    uint64_t value __attribute__((aligned(64)));
} limit_line;

#define LIMIT_USED(word) __asm__ volatile("" : "+m"(word))
#define LIMIT_PLAIN_ADDRESS(pointer) __asm__("" : "+r"(pointer))

/* ---- thread-local words ---- */

static __thread uint64_t limit_words[LOOPS_HOT] __attribute__((aligned(64)));
static __thread limit_line limit_lines[8];
static uint64_t limit_added[LIMIT_WORDS][LOOPS_HOT];

/* A thread's words end with it, so a loop's effect on them is kept: a difference, read back. */
static void limit_keep(enum limit_word word, unsigned object, uint64_t added)
{
    __atomic_fetch_add(&limit_added[word][object], added, __ATOMIC_RELAXED);
}

uint64_t limit_thread_local_total(enum limit_word word, unsigned object)
{
    return __atomic_load_n(&limit_added[word][object], __ATOMIC_RELAXED);
}

/* The words' addresses are one register, without an index: see CREST_PLAIN_ADDRESS_ of abi.h. */
LOOPS_LOOP void limit_thread_local_add(unsigned object, uint64_t times)
{
    uint64_t *word = &limit_words[object], before = *word;
    LIMIT_PLAIN_ADDRESS(word);
    for (uint64_t i = 0; i < times; i++) {
        ++*word;
        LIMIT_USED(*word);
    }
    limit_keep(LIMIT_WORD, object, *word - before);
}

LOOPS_LOOP void limit_thread_local_add_so(unsigned object, uint64_t times)
{
    uint64_t before = limits_so_word[object];
    for (uint64_t i = 0; i < times; i++)
        limits_so_add(object);
    limit_keep(LIMIT_WORD_SO, object, limits_so_word[object] - before);
}

LOOPS_LOOP void limit_thread_local_add_so_inline(unsigned object, uint64_t times)
{
    uint64_t *word = &limits_so_word[object], before = *word;
    LIMIT_PLAIN_ADDRESS(word);
    for (uint64_t i = 0; i < times; i++) {
        ++*word;
        LIMIT_USED(*word);
    }
    limit_keep(LIMIT_WORD_SO_INLINE, object, *word - before);
}

static uint64_t limit_lines_sum(const limit_line *lines)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 8; i++)
        sum += __atomic_load_n(&lines[i].value, __ATOMIC_RELAXED);
    return sum;
}

LOOPS_LOOP void limit_thread_local_add_8_lines(unsigned object, uint64_t times)
{
    uint64_t before = limit_lines_sum(limit_lines);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t *word = &limit_lines[i % 8].value;
        LIMIT_PLAIN_ADDRESS(word);
        ++*word;
        LIMIT_USED(*word);
    }
    limit_keep(LIMIT_WORD_LINES, object, limit_lines_sum(limit_lines) - before);
}

static __thread uint64_t limit_random_words[LIMIT_RANDOM_MAX];
static uint64_t limit_random_added;

static uint64_t limit_random_sum(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LIMIT_RANDOM_MAX; i++)
        sum += limit_random_words[i];
    return sum;
}

LOOPS_LOOP void limit_thread_local_add_random(unsigned object, uint64_t times)
{
    (void)object;
    uint64_t before = limit_random_sum();
    for (uint64_t i = 0; i < times; i++) {
        uint64_t *word = &limit_random_words[loops_order[i % LOOPS_VALUES]];
        LIMIT_PLAIN_ADDRESS(word);
        ++*word;
        LIMIT_USED(*word);
    }
    __atomic_fetch_add(&limit_random_added, limit_random_sum() - before, __ATOMIC_RELAXED);
}

uint64_t limit_random_total(void)
{
    return __atomic_load_n(&limit_random_added, __ATOMIC_RELAXED);
}

/* ---- words that all threads add to ---- */

static limit_line limit_locked[LOOPS_HOT], limit_locked_8[LOOPS_HOT][8];

#if defined(__x86_64__)
/* The result stays in use, or a compiler would rightly choose `lock add` instead. */
#define LIMIT_LOCK_XADD(word)                                                                      \
    do {                                                                                           \
        uint64_t one = 1;                                                                          \
        __asm__ volatile("lock xaddq %0, %1" : "+r"(one), "+m"(word) : : "cc", "memory");          \
    } while (0)
#else
#define LIMIT_LOCK_XADD(word) __atomic_fetch_add(&(word), 1, __ATOMIC_SEQ_CST)
#endif

LOOPS_LOOP void limit_lock_xadd(unsigned object, uint64_t times)
{
    limit_line *line = &limit_locked[object];
    for (uint64_t i = 0; i < times; i++)
        LIMIT_LOCK_XADD(line->value);
}

LOOPS_LOOP void limit_lock_xadd_8_lines(unsigned object, uint64_t times)
{
    limit_line *lines = limit_locked_8[object];
    for (uint64_t i = 0; i < times; i++)
        LIMIT_LOCK_XADD(lines[i % 8].value);
}

uint64_t limit_lock_total(unsigned object)
{
    return __atomic_load_n(&limit_locked[object].value, __ATOMIC_SEQ_CST);
}

uint64_t limit_lock_8_total(unsigned object)
{
    return limit_lines_sum(limit_locked_8[object]);
}

/* ---- two words at once ---- */

static struct {
    uint64_t first __attribute__((aligned(64))), second;
} limit_pairs[LOOPS_HOT];

int limit_has_cmpxchg16b(void)
{
#if defined(__x86_64__)
    return 1;
#else
    return 0;
#endif
}

LOOPS_LOOP void limit_lock_cmpxchg16b(unsigned object, uint64_t times)
{
#if defined(__x86_64__)
    for (uint64_t i = 0; i < times; i++) {
        uint64_t first = limit_pairs[object].first, second = limit_pairs[object].second;
        unsigned char done;
        do
            __asm__ volatile("lock cmpxchg16b %1"
                             : "=@ccz"(done), "+m"(limit_pairs[object]), "+a"(first), "+d"(second)
                             : "b"(first + 1), "c"(second + i)
                             : "memory");
        while (!done);
    }
#else
    (void)object;
    (void)times;
#endif
}

uint64_t limit_pair_total(unsigned object)
{
    return limit_pairs[object].first;
}

/* ---- a call, a store ---- */

LOOPS_LOOP void limit_empty_call_so(unsigned object, uint64_t times)
{
    void *handle = &limit_locked[object];
    for (uint64_t i = 0; i < times; i++)
        limits_so_empty(handle);
}

static struct {
    double value __attribute__((aligned(64)));
} limit_doubles[LOOPS_HOT];

LOOPS_LOOP void limit_store_double(unsigned object, uint64_t times)
{
    double *cell = &limit_doubles[object].value;
    for (uint64_t i = 0; i < times; i++) {
        double value = (double)(i % LOOPS_VALUES);
        __atomic_store(cell, &value, __ATOMIC_RELAXED);
    }
}

double limit_store_double_value(unsigned object)
{
    double value;
    __atomic_load(&limit_doubles[object].value, &value, __ATOMIC_RELAXED);
    return value;
}

/* ---- clocks ---- */

static uint64_t limit_clocked;

uint64_t limit_clock_total(void)
{
    return limit_clocked;
}

LOOPS_LOOP void limit_clock(unsigned object, uint64_t times)
{
    (void)object;
    uint64_t last = 0, right = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t now = crest_now();
        right += now >= last;
        last = now;
    }
    limit_clocked += right;
}

LOOPS_LOOP void limit_clock_twice(unsigned object, uint64_t times)
{
    (void)object;
    uint64_t right = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t start = crest_now();
        right += crest_now() >= start;
    }
    limit_clocked += right;
}

LOOPS_LOOP void limit_clock_gettime(unsigned object, uint64_t times)
{
    (void)object;
    int64_t last = 0;
    uint64_t right = 0;
    for (uint64_t i = 0; i < times; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        right += now_ns >= last;
        last = now_ns;
    }
    limit_clocked += right;
}

/* ---- a page ---- */

#define LIMIT_PAGE_WORDS 512u

static uint64_t limit_from[LIMIT_PAGE_WORDS] __attribute__((aligned(4096)));
static uint64_t limit_to[LIMIT_PAGE_WORDS] __attribute__((aligned(4096)));
static uint64_t limit_arrived;

LOOPS_LOOP void limit_memcpy_page(unsigned object, uint64_t times)
{
    uint64_t arrived = 0;
    for (uint64_t i = 0; i < times; i++) {
        size_t bytes = sizeof limit_from;
        __asm__ volatile("" : "+r"(bytes)); /* so that the C library copies, not a loop in here */
        limit_from[LIMIT_PAGE_WORDS - 1] = i + object;
        memcpy(limit_to, limit_from, bytes);
        __asm__ volatile("" ::: "memory");
        arrived += limit_to[LIMIT_PAGE_WORDS - 1] == i + object;
    }
    limit_arrived += arrived;
}

uint64_t limit_memcpy_total(void)
{
    return limit_arrived;
}

/* ---- a mutex ---- */

static pthread_mutex_t limit_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t limit_guarded;

LOOPS_LOOP void limit_plain_mutex(unsigned object, uint64_t times)
{
    (void)object;
    for (uint64_t i = 0; i < times; i++) {
        pthread_mutex_lock(&limit_mutex);
        limit_guarded++;
        pthread_mutex_unlock(&limit_mutex);
    }
}

uint64_t limit_mutex_total(void)
{
    return limit_guarded;
}
