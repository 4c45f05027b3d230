/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops; see hot_loops.h. Included once as C and once as C++, with HOT_LANGUAGE ("c" or
 * "c++"), HOT_METRIC(name) and HOT_TABLE defined.
 *
 * What is compared stands in the same kind of loop: one operation, one step of a 64-bit counter, in
 * a function of its own that starts on a cache line. References that the compiler could fold into
 * one addition are kept apart by an empty piece of assembly that pretends to use them.
 */
#include "hot_loops.h"
#include "plain_hdr.h"

#define HOT_LOOP __attribute__((noinline, aligned(64))) static

#define HOT_COUNTER(n) CREST_COUNTER(hot_counter_##n, HOT_METRIC("counter-" #n), "Increments.")
HOT_COUNTER(0);
HOT_COUNTER(1);
HOT_COUNTER(2);
HOT_COUNTER(3);
HOT_COUNTER(4);
HOT_COUNTER(5);
HOT_COUNTER(6);
HOT_COUNTER(7);
static crest_counter *const hot_counter[HOT_METRICS] = {
    &hot_counter_0, &hot_counter_1, &hot_counter_2, &hot_counter_3,
    &hot_counter_4, &hot_counter_5, &hot_counter_6, &hot_counter_7};

#define HOT_HISTOGRAM(n)                                                                           \
    CREST_HISTOGRAM(hot_histogram_##n, HOT_METRIC("histogram-" #n), "Latencies.",                  \
                    .unit = CREST_NANOSECONDS)
HOT_HISTOGRAM(0);
HOT_HISTOGRAM(1);
HOT_HISTOGRAM(2);
HOT_HISTOGRAM(3);
HOT_HISTOGRAM(4);
HOT_HISTOGRAM(5);
HOT_HISTOGRAM(6);
HOT_HISTOGRAM(7);
static crest_histogram *const hot_histogram[HOT_METRICS] = {
    &hot_histogram_0, &hot_histogram_1, &hot_histogram_2, &hot_histogram_3,
    &hot_histogram_4, &hot_histogram_5, &hot_histogram_6, &hot_histogram_7};

CREST_TIMER(hot_timer, HOT_METRIC("timer"), "Empty operations.");
CREST_GAUGE(hot_gauge, HOT_METRIC("gauge"), "The last of the numbers set.");
CREST_RANGE_SAMPLER(hot_range_sampler, HOT_METRIC("range-sampler"), "Goes up and down.");

/* A word alone on its cache line. */
typedef struct hot_word {
    uint64_t value __attribute__((aligned(64)));
} hot_word;

static hot_word hot_locked[HOT_METRICS];
static __thread uint64_t hot_thread_local[HOT_METRICS];
static plain_hdr *hot_plain[2][HOT_METRICS]; /* as published, folded */

/* ---- counters ---- */

HOT_LOOP void hot_counter_inc(unsigned which, uint64_t times)
{
    crest_counter *counter = hot_counter[which];
    for (uint64_t i = 0; i < times; i++)
        crest_counter_inc(counter);
}

#if defined(__x86_64__)
/* The result stays in use, or a compiler would rightly choose `lock add` instead. */
#define HOT_LOCK_XADD(word)                                                                        \
    do {                                                                                           \
        uint64_t one = 1;                                                                          \
        __asm__ volatile("lock xaddq %0, %1" : "+r"(one), "+m"(word) : : "cc", "memory");          \
    } while (0)
#else
#define HOT_LOCK_XADD(word) __atomic_fetch_add(&(word), 1, __ATOMIC_SEQ_CST)
#endif

HOT_LOOP void hot_lock_xadd(unsigned which, uint64_t times)
{
    hot_word *word = &hot_locked[which];
    for (uint64_t i = 0; i < times; i++)
        HOT_LOCK_XADD(word->value);
}

HOT_LOOP void hot_thread_local_inc(unsigned which, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        hot_thread_local[which]++;
        __asm__ volatile("" : "+m"(hot_thread_local[which]));
    }
}

static uint64_t hot_counter_total(unsigned which)
{
    return crest_counter_value(hot_counter[which]);
}

static uint64_t hot_lock_total(unsigned which)
{
    return __atomic_load_n(&hot_locked[which].value, __ATOMIC_SEQ_CST);
}

static uint64_t hot_thread_local_total(unsigned which)
{
    return hot_thread_local[which];
}

/* ---- histograms ---- */

HOT_LOOP void hot_histogram_record(unsigned which, const int64_t *values, uint64_t times)
{
    crest_histogram *histogram = hot_histogram[which];
    for (uint64_t i = 0; i < times; i++)
        crest_histogram_record(histogram, values[i % HOT_VALUES]);
}

HOT_LOOP void hot_plain_hdr_record(unsigned which, const int64_t *values, uint64_t times)
{
    plain_hdr *plain = hot_plain[0][which];
    for (uint64_t i = 0; i < times; i++)
        plain_hdr_record(plain, values[i % HOT_VALUES]);
}

HOT_LOOP void hot_plain_hdr_folded(unsigned which, const int64_t *values, uint64_t times)
{
    plain_hdr *plain = hot_plain[1][which];
    for (uint64_t i = 0; i < times; i++)
        plain_hdr_record_folded(plain, values[i % HOT_VALUES]);
}

/* Two decimal digits up to 2^42 - 1: what a histogram of Crest has by default. */
static int hot_plain_hdr_prepare(void)
{
    int all = 1;
    for (unsigned i = 0; i < 2 * HOT_METRICS; i++) {
        plain_hdr **plain = &hot_plain[i % 2][i / 2];
        if (*plain == NULL)
            *plain = plain_hdr_new(1, (INT64_C(1) << 42) - 1, 2);
        all &= *plain != NULL;
    }
    return all;
}

static uint64_t hot_plain_hdr_total(unsigned which, unsigned folded, int64_t *min, int64_t *max)
{
    const plain_hdr *plain = hot_plain[folded != 0][which];
    uint64_t counted = 0;
    for (int32_t i = 0; i < plain->counts_len; i++)
        counted += (uint64_t)plain->counts[i];
    *min = plain->min_value;
    *max = plain->max_value;
    return counted == (uint64_t)plain->total_count ? counted : 0;
}

/* ---- timers ---- */

HOT_LOOP void hot_timer_start_end(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        crest_op op = crest_op_u64(i);
        crest_timing timing = crest_timer_start(&hot_timer, op);
        crest_timing_end(&timing, op, CREST_OUTCOME_OK);
    }
}

/* The token and the id go through memory, as they do when an operation is handed on: nothing that
 * the start knew is left in registers at the end. */
HOT_LOOP void hot_timer_through_memory(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        crest_op op = crest_op_u64(i);
        crest_timing timing = crest_timer_start(&hot_timer, op);
        __asm__ volatile("" : "+m"(timing), "+m"(op));
        crest_timing_end(&timing, op, CREST_OUTCOME_OK);
    }
}

HOT_LOOP uint64_t hot_clock_twice(uint64_t times)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t start = crest_now();
        sum += crest_now() - start;
    }
    return sum;
}

/* ---- gauges ---- */

HOT_LOOP void hot_gauge_set(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        crest_gauge_set(&hot_gauge, (double)i);
}

static double hot_gauge_value(void)
{
    return crest_gauge_value(&hot_gauge);
}

/* ---- range samplers ---- */

HOT_LOOP void hot_range_sampler_add(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        crest_range_sampler_add(&hot_range_sampler, i % 2 ? -1 : 1);
}

HOT_LOOP void hot_range_sampler_raise(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        crest_range_sampler_add(&hot_range_sampler, 1);
}

static int64_t hot_range_sampler_value(void)
{
    return crest_range_sampler_value(&hot_range_sampler);
}

HOT_LOOP uint64_t hot_clock_once(uint64_t times)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < times; i++)
        sum += crest_now();
    return sum;
}

/* In the order of the fields. */
const hot_loops HOT_TABLE = {
    HOT_LANGUAGE,
    hot_counter_inc,
    hot_lock_xadd,
    hot_thread_local_inc,
    hot_counter_total,
    hot_lock_total,
    hot_thread_local_total,
    hot_plain_hdr_prepare,
    hot_histogram_record,
    hot_plain_hdr_record,
    hot_plain_hdr_folded,
    hot_plain_hdr_total,
    {HOT_METRIC("histogram-0"), HOT_METRIC("histogram-1"), HOT_METRIC("histogram-2"),
     HOT_METRIC("histogram-3"), HOT_METRIC("histogram-4"), HOT_METRIC("histogram-5"),
     HOT_METRIC("histogram-6"), HOT_METRIC("histogram-7")},
    hot_timer_start_end,
    hot_timer_through_memory,
    hot_clock_twice,
    HOT_METRIC("timer"),
    hot_gauge_set,
    hot_gauge_value,
    hot_range_sampler_add,
    hot_range_sampler_raise,
    hot_range_sampler_value,
    hot_clock_once,
};
