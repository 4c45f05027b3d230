/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The atomic operations of the library; its inlined part has its own few in <crest/abi.h>.
 *
 * Concurrency Kit's ck_pr normally. Under ThreadSanitizer the compiler's __atomic: the sanitizer
 * cannot see through inline assembly and would report correct publications as races. Orders are in
 * the names; a plain name is relaxed. Every stronger use names at the call the access that it pairs
 * with.
 */
#ifndef CREST_BASE_ATOMIC_H
#define CREST_BASE_ATOMIC_H

#include <crest/abi.h>

#ifdef CREST_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
/* Release and acquire for the sanitizer, around objects that a library built without it
 * (Concurrency Kit's tables) hands from thread to thread. */
#define CREST_ANNOTATE_RELEASE(address) __tsan_release((void *)(address))
#define CREST_ANNOTATE_ACQUIRE(address) __tsan_acquire((void *)(address))
/* Declared as in the sanitizer's tsan_interface_atomic.h, which GCC does not install. The builtin
 * would do with GCC; Clang compiles it to a call into libatomic, which the sanitizer does not see.
 */
__extension__ typedef unsigned __int128 crest_tsan_pair;
extern _Bool __tsan_atomic128_compare_exchange_strong(volatile void *pair, void *expected,
                                                      crest_tsan_pair desired, int order,
                                                      int order_of_failure);
#else
#include <ck_pr.h>
#define CREST_ANNOTATE_RELEASE(address) ((void)(address))
#define CREST_ANNOTATE_ACQUIRE(address) ((void)(address))
#endif

/* Makes the operation between the two a full barrier. On x86-64 a locked instruction is one
 * already; Concurrency Kit's fence there would cost more than the operation. */
#ifdef __x86_64__
#define CREST_ATOMIC_FENCE() ((void)0)
#else
#define CREST_ATOMIC_FENCE() ck_pr_fence_memory()
#endif

/* Between a thread and what interrupts it, a signal handler or a reader that stops it: the compiler
 * moves no access over it. No instruction. */
#define CREST_COMPILER_FENCE() __asm__ volatile("" ::: "memory")

static inline uint64_t crest_atomic_load(const uint64_t *word)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
    return ck_pr_load_64(word);
#endif
}

static inline uint64_t crest_atomic_load_acquire(const uint64_t *word)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
    uint64_t value = ck_pr_load_64(word);
    ck_pr_fence_acquire();
    return value;
#endif
}

#if defined(__x86_64__) && !defined(CREST_THREAD_SANITIZER)
#define CREST_ATOMIC_LOADS_TWO 1
typedef uint64_t crest_two_words __attribute__((vector_size(16)));
/* Two neighbouring words, the first on a boundary of 16 bytes. Each word is loaded as by
 * crest_atomic_load: never torn in itself. The pair may be. */
static inline crest_two_words crest_atomic_load_two(const uint64_t *words)
{
    crest_two_words value;
    __asm__ volatile("movdqa %1, %0" : "=x"(value) : "m"(*(const crest_two_words *)words));
    return value;
}
#else
#define CREST_ATOMIC_LOADS_TWO 0
#endif

static inline void crest_atomic_store(uint64_t *word, uint64_t value)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
#else
    ck_pr_store_64(word, value);
#endif
}

static inline void crest_atomic_store_release(uint64_t *word, uint64_t value)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_64(word, value);
#endif
}

static inline void crest_atomic_add(uint64_t *word, uint64_t n)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
#else
    ck_pr_add_64(word, n);
#endif
}

static inline void crest_atomic_add_release(uint64_t *word, uint64_t n)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_fetch_add(word, n, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_add_64(word, n);
#endif
}

/* Adds; non-zero when the word overflowed past 2^64 - 1 and is far too small now. */
static inline int crest_atomic_add_carry(uint64_t *word, uint64_t n)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_fetch_add(word, n, __ATOMIC_RELAXED) > UINT64_MAX - n;
#else
    return ck_pr_faa_64(word, n) > UINT64_MAX - n;
#endif
}

/* Atomic maximum: raises the word to at least n, beside concurrent writers. */
static inline void crest_atomic_raise(uint64_t *word, uint64_t n)
{
    uint64_t seen = crest_atomic_load(word);
#ifdef CREST_THREAD_SANITIZER
    while (seen < n &&
           !__atomic_compare_exchange_n(word, &seen, n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
#else
    while (seen < n && !ck_pr_cas_64_value(word, seen, n, &seen))
        continue;
#endif
}

/* The same with release order. */
static inline void crest_atomic_raise_release(uint64_t *word, uint64_t n)
{
    uint64_t seen = crest_atomic_load(word);
#ifdef CREST_THREAD_SANITIZER
    while (seen < n &&
           !__atomic_compare_exchange_n(word, &seen, n, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
#else
    ck_pr_fence_release();
    while (seen < n && !ck_pr_cas_64_value(word, seen, n, &seen))
        continue;
#endif
}

/* Atomic minimum: lowers the word to at most n, beside concurrent writers. */
static inline void crest_atomic_lower(uint64_t *word, uint64_t n)
{
    uint64_t seen = crest_atomic_load(word);
#ifdef CREST_THREAD_SANITIZER
    while (seen > n &&
           !__atomic_compare_exchange_n(word, &seen, n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
#else
    while (seen > n && !ck_pr_cas_64_value(word, seen, n, &seen))
        continue;
#endif
}

/*
 * Compare-and-swap of a word with one writer thread (and its signal handlers) and many readers:
 * release, without a lock prefix on x86-64. Returns the old value: `was` when the word was set.
 */
static inline uint64_t crest_word_change(uint64_t *word, uint64_t was, uint64_t n)
{
#ifdef CREST_X86_64_ASM
    __asm__ volatile("cmpxchgq %2, %0" : "+m"(*word), "+a"(was) : "r"(n) : "cc", "memory");
#else
    __atomic_compare_exchange_n(word, &was, n, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
#endif
    return was;
}

/* The same from 0. */
static inline uint64_t crest_word_settle(uint64_t *word, uint64_t n)
{
    return crest_word_change(word, 0, n);
}

/* Full barrier exchange. */
static inline uint64_t crest_atomic_exchange(uint64_t *word, uint64_t value)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
#else
    CREST_ATOMIC_FENCE();
    uint64_t old = ck_pr_fas_64(word, value);
    CREST_ATOMIC_FENCE();
    return old;
#endif
}

/*
 * Compare-and-swap of two words (CAS16), the first on a boundary of 16 bytes. Non-zero when it
 * replaced `seen`. Otherwise it loads the words into `seen`; the pair may be torn where the
 * processor only has load-linked pairs. A full barrier either way.
 */
static inline int crest_atomic_cas_pair(uint64_t *pair, uint64_t *seen, uint64_t first,
                                        uint64_t second)
{
#ifdef CREST_THREAD_SANITIZER
    crest_tsan_pair expected, desired = (crest_tsan_pair)second << 64 | first;
    __builtin_memcpy(&expected, seen, sizeof expected);
    int done = __tsan_atomic128_compare_exchange_strong(pair, &expected, desired, __ATOMIC_SEQ_CST,
                                                        __ATOMIC_SEQ_CST);
    __builtin_memcpy(seen, &expected, sizeof expected);
    /* the sanitizer may emulate it under a lock of its own, whose release is no full barrier */
    uint64_t barrier = 0;
    __atomic_exchange_n(&barrier, 1, __ATOMIC_SEQ_CST);
    return done;
#else
    uint64_t to[2] = {first, second};
    CREST_ATOMIC_FENCE();
    int done = ck_pr_cas_64_2_value(pair, seen, to, seen);
    CREST_ATOMIC_FENCE();
    return done;
#endif
}

/* Saturating add: stops at UINT64_MAX; non-zero when the word is there. */
static inline int crest_atomic_add_capped(uint64_t *word, uint64_t n)
{
    uint64_t seen = crest_atomic_load(word), to;
#ifdef CREST_THREAD_SANITIZER
    do
        to = n > UINT64_MAX - seen ? UINT64_MAX : seen + n;
    while (!__atomic_compare_exchange_n(word, &seen, to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
#else
    do
        to = n > UINT64_MAX - seen ? UINT64_MAX : seen + n;
    while (!ck_pr_cas_64_value(word, seen, to, &seen));
#endif
    return to == UINT64_MAX;
}

/* Acquire and release; non-zero when it happened. */
static inline int crest_atomic_cas(uint64_t *word, uint64_t from, uint64_t to)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#else
    ck_pr_fence_release();
    int done = ck_pr_cas_64(word, from, to);
    ck_pr_fence_acquire();
    return done;
#endif
}

static inline uint32_t crest_atomic_load32(const uint32_t *word)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
    return ck_pr_load_32(word);
#endif
}

static inline uint32_t crest_atomic_load32_acquire(const uint32_t *word)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
    uint32_t value = ck_pr_load_32(word);
    ck_pr_fence_acquire();
    return value;
#endif
}

static inline void crest_atomic_store32(uint32_t *word, uint32_t value)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
#else
    ck_pr_store_32(word, value);
#endif
}

static inline void crest_atomic_store32_release(uint32_t *word, uint32_t value)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_32(word, value);
#endif
}

/* Acquire on success; non-zero when it happened. */
static inline int crest_atomic_cas32_acquire(uint32_t *word, uint32_t from, uint32_t to)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
#else
    int done = ck_pr_cas_32(word, from, to);
    ck_pr_fence_acquire();
    return done;
#endif
}

/* Release exchange. */
static inline uint32_t crest_atomic_exchange32_release(uint32_t *word, uint32_t value)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_exchange_n(word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    return ck_pr_fas_32(word, value);
#endif
}

/* Full barrier exchange. */
static inline uint32_t crest_atomic_exchange32(uint32_t *word, uint32_t value)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
#else
    CREST_ATOMIC_FENCE();
    uint32_t old = ck_pr_fas_32(word, value);
    CREST_ATOMIC_FENCE();
    return old;
#endif
}

static inline void *crest_atomic_load_ptr_acquire(void *const *word)
{
#ifdef CREST_THREAD_SANITIZER
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
    void *value = ck_pr_load_ptr(word);
    ck_pr_fence_acquire();
    return value;
#endif
}

static inline void crest_atomic_store_ptr_release(void **word, void *value)
{
#ifdef CREST_THREAD_SANITIZER
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_ptr(word, value);
#endif
}

/* Any pointer object's address, for the functions above. */
#define CREST_PTR(address) ((void **)(uintptr_t)(address))

#endif
