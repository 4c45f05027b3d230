/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that records in its constructor and destructor; with ORDER_MALLOC, one for LD_PRELOAD
 * that counts each call of malloc, the dynamic linker's and the C library's own included. See
 * check_order.py.
 */
#define _GNU_SOURCE
#define ORDER_NAME "library"
#include "order_records.h"

#ifdef ORDER_MALLOC
CREST_COUNTER(order_mallocs, "library.mallocs", "Calls of malloc.");
CREST_HISTOGRAM(order_malloc_sizes, "library.malloc-size", "What they asked for.");
static uint64_t order_mallocs_wanted;

void *__libc_malloc(size_t size);
void *malloc(size_t size);
void *malloc(size_t size)
{
    __atomic_fetch_add(&order_mallocs_wanted, 1, __ATOMIC_RELAXED);
    crest_counter_inc(&order_mallocs);
    crest_histogram_record(&order_malloc_sizes, (int64_t)size);
    return __libc_malloc(size);
}
#endif

__attribute__((constructor(101))) static void library_first(void)
{
    order_record();
}

__attribute__((constructor)) static void library_some_time(void)
{
    order_record();
}

__attribute__((destructor(101))) static void library_last(void)
{
    order_record();
    order_check("library");
#ifdef ORDER_MALLOC
    if (crest_counter_value(&order_mallocs) != order_mallocs_wanted || order_mallocs_wanted == 0)
        _exit(4);
#endif
}
