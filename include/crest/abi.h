/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every other header of Crest starts from: export and inline keywords, branch hints, the
 * numbers that are frozen within a soname, and the few atomic operations the inline part needs.
 *
 * It declares nothing that records; see counter.h and its neighbours for that.
 */
#ifndef CREST_ABI_H
#define CREST_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CREST_BEGIN_C extern "C" {
#define CREST_END_C }
/* A field's default, so that C++ neither warns about fields left out nor leaves them undefined. */
#define CREST_DEFAULT_(value) = value
#else
#define CREST_BEGIN_C
#define CREST_END_C
#define CREST_DEFAULT_(value)
#endif

/*
 * A symbol that the shared libraries export; everything else is hidden. In a program that is
 * compiled with CREST_DISABLE (docs/disable.md) each such function is an inline one that does
 * nothing, in off/: one file for each header, made by scripts/make-off.
 */
#ifndef CREST_DISABLE
#define CREST_API __attribute__((visibility("default")))
#elif defined(CREST_BUILDING)
#error "CREST_DISABLE is for programs that use Crest; the library itself needs its code"
#else
#define CREST_API static inline __attribute__((unused))
/* The result of functions that never return NULL: zeros, enough for any handle. */
static unsigned char crest_nothing_[1024] __attribute__((aligned(64), unused));
static inline void *crest_nothing_at_(void)
{
    return crest_nothing_;
}
#define CREST_NOTHING_(type) ((type *)crest_nothing_at_())
#endif

/*
 * The hot path is inline in these headers. src/instruments/inline_symbols.c compiles them once more
 * with this keyword redefined, so that each inline also exists as an exported symbol for foreign
 * callers.
 */
#ifndef CREST_INLINE
#define CREST_INLINE static inline __attribute__((always_inline, unused))
#endif

/* Of the cold paths: in C++ the code around an inlined call then has no frame for exceptions. */
#define CREST_NOTHROW_ __attribute__((nothrow))

/* What has to hold when it is compiled, and what to do otherwise; in C99 an extension. */
#ifdef __cplusplus
#define CREST_ASSERT_(condition, text) static_assert(condition, text)
#else
#define CREST_ASSERT_(condition, text) __extension__ _Static_assert(condition, text)
#endif

/* One word of two, after both have been expanded. */
#define CREST_PASTE_(a, b) CREST_PASTE_NOW_(a, b)
#define CREST_PASTE_NOW_(a, b) a##b

#define CREST_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CREST_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/*
 * The version of everything that inlined code depends on: handle layouts, CREST_CHUNK_BITS, the
 * thread's cell table, the timing. Each declaration carries it; the cold path refuses another one.
 */
#define CREST_ABI 6u

/* 4,096 cells of 8 bytes make a chunk of 32 KiB; 1,024 chunks make 4,194,304 slots a process. */
#define CREST_CHUNK_BITS 12u
#define CREST_CHUNK_CELLS (1u << CREST_CHUNK_BITS)
#define CREST_CHUNK_COUNT 1024u
#define CREST_SLOT_COUNT (CREST_CHUNK_CELLS * CREST_CHUNK_COUNT)

/* ThreadSanitizer follows __atomic builtins only, so the hot path's inline assembly gives way. */
#if defined(__SANITIZE_THREAD__)
#define CREST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CREST_THREAD_SANITIZER 1
#endif
#endif

#if defined(__x86_64__) && !defined(CREST_THREAD_SANITIZER)
#define CREST_X86_64_ASM 1
#endif

/*
 * Puts an address into one register, without an index. On Intel's Golden Cove a load is forwarded
 * what was just stored at no cost, but only without an index: with one it waits for the store. A
 * hot counter takes a quarter of the time so, for one instruction more.
 */
#define CREST_PLAIN_ADDRESS_(pointer) __asm__("" : "+r"(pointer))

CREST_BEGIN_C

/*
 * Single-writer add: adds n to a word that only this thread writes.
 *
 * - Signal handlers: on x86-64 it is one instruction without `lock`, which a handler on the same
 *   thread cannot split.
 * - Other threads: none writes the word, so none can lose the add. They read with relaxed loads.
 * - The release form orders the add after earlier adds of this thread. Partner: the acquire load of
 *   `sum` in a snapshot.
 */
CREST_INLINE void crest_word_add(uint64_t *word, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    CREST_PLAIN_ADDRESS_(word);
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(n) : "cc");
#else
    __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
#endif
}

CREST_INLINE void crest_word_add_release(uint64_t *word, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    /* the processor keeps stores in order, and the compiler volatile assembly */
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(n) : "cc");
#else
    __atomic_fetch_add(word, n, __ATOMIC_RELEASE);
#endif
}

/*
 * crest_word_add_release, for a histogram's sum: a word that each record adds to right after
 * another word whose address it has just loaded. An `add` there costs Golden Cove 2.5 ns a record
 * instead of 1.4, as each waits for the add before it. At some addresses it costs 7 ns for
 * thousands of records, as if no record could begin before the previous record's stores were known.
 * `xadd` has neither cost, and is one instruction without `lock` too.
 */
CREST_INLINE void crest_word_sum_release(uint64_t *word, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    /* as crest_word_add_release; what the word held is not used */
    __asm__ volatile("xaddq %1, %0" : "+m"(*word), "+r"(n) : : "cc");
#else
    crest_word_add_release(word, n);
#endif
}

/* crest_word_add; non-zero when the word wrapped past 2^64 - 1, and so is far too small now. The
 * carry costs nothing that could be measured. */
CREST_INLINE int crest_word_add_carry(uint64_t *word, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    int carry;
    CREST_PLAIN_ADDRESS_(word);
    __asm__ volatile("addq %2, %0" : "+m"(*word), "=@ccc"(carry) : "er"(n));
    return carry;
#else
    return __atomic_fetch_add(word, n, __ATOMIC_RELAXED) > UINT64_MAX - n;
#endif
}

/*
 * Unlocked compare-and-swap on a word that only this thread writes: writes n if the word still
 * holds *seen, otherwise loads *seen and returns 0. Needed because a signal handler of this thread
 * may have written since the load.
 */
CREST_INLINE int crest_word_replace(uint64_t *word, uint64_t *seen, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    unsigned char done;
    __asm__ volatile("cmpxchgq %3, %0\n\tsete %2"
                     : "+m"(*word), "+a"(*seen), "=q"(done)
                     : "r"(n)
                     : "cc");
    return done;
#else
    return __atomic_compare_exchange_n(word, seen, n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Raises a word that only this thread writes to at least n. */
CREST_INLINE void crest_word_raise(uint64_t *word, uint64_t n)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (seen < n && !crest_word_replace(word, &seen, n))
        continue;
}

/* Lowers a word that only this thread writes to at most n. */
CREST_INLINE void crest_word_lower(uint64_t *word, uint64_t n)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (seen > n && !crest_word_replace(word, &seen, n))
        continue;
}

CREST_END_C

#endif
