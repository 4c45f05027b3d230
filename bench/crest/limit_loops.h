/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's limits, and the simplest code that a program needing only a number would have:
 * loops of the same shape as Crest's, to compare with.
 */
#ifndef BENCH_LIMIT_LOOPS_H
#define BENCH_LIMIT_LOOPS_H

#include "loops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A thread-local word of the program, of the library through a call, of the library inlined; one of
 * LOOPS_HOT. And eight words on lines of their own, in turn. */
loops_loop limit_thread_local_add, limit_thread_local_add_so, limit_thread_local_add_so_inline;
loops_loop limit_thread_local_add_8_lines;
/* The sum of all threads' additions in each of these four, ended threads included. */
enum limit_word { LIMIT_WORD, LIMIT_WORD_SO, LIMIT_WORD_SO_INLINE, LIMIT_WORD_LINES, LIMIT_WORDS };
uint64_t limit_thread_local_total(enum limit_word word, unsigned object);

/* Thread-local words, as many as there are metrics, in the order that is given; the total as above,
 * of all that any thread added. */
#define LIMIT_RANDOM_MAX 4096u
loops_loop limit_thread_local_add_random;
uint64_t limit_random_total(void);

/* One of LOOPS_HOT words on lines of their own; of as many sets, eight lines in turn. */
loops_loop limit_lock_xadd, limit_lock_xadd_8_lines;
uint64_t limit_lock_total(unsigned object);
uint64_t limit_lock_8_total(unsigned object);

/* Two words at once, as a range sampler's are replaced; the total is of the first. 0 where there is
 * no such instruction. */
int limit_has_cmpxchg16b(void);
loops_loop limit_lock_cmpxchg16b;
uint64_t limit_pair_total(unsigned object);

loops_loop limit_empty_call_so;

loops_loop limit_store_double;
double limit_store_double_value(unsigned object);

/* crest_now() once and twice, clock_gettime(CLOCK_MONOTONIC) once. The total is how often the clock
 * had not gone backwards. */
loops_loop limit_clock, limit_clock_twice, limit_clock_gettime;
uint64_t limit_clock_total(void);

/* A page of 4 KiB, in the cache; the total is how many arrived. */
loops_loop limit_memcpy_page;
uint64_t limit_memcpy_total(void);

/* From a name to a number: its length, a hash of it, a look into a table of all of them, and the
 * comparison; the total is how many were right. */
int limit_names_prepare(const char *const *names, unsigned count);
loops_loop limit_hash_and_probe;
uint64_t limit_hash_total(void);

/* plain_hdr.h, as published and folded by hand, with the values and with the even ones; `object` is
 * one of LOOPS_HOT. Preparing returns 0 without memory; the total is 0 when the counts disagree. */
enum limit_plain { LIMIT_PLAIN, LIMIT_PLAIN_FOLDED, LIMIT_PLAIN_EVEN, LIMIT_PLAINS };
int limit_plain_prepare(void);
loops_loop limit_plain_hdr, limit_plain_hdr_folded, limit_plain_hdr_even;
uint64_t limit_plain_total(enum limit_plain plain, unsigned object, int64_t *least, int64_t *most);

/* An uncontended lock and unlock; the total is of the word that they guard. */
loops_loop limit_plain_mutex;
uint64_t limit_mutex_total(void);

#ifdef __cplusplus
}
#endif

#endif
