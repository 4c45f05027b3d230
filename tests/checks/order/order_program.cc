/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records as early and as late as there is a way to: see check_order.py. Its last
 * destructor looks whether everything was counted.
 */
#define ORDER_NAME "program"
#include "order_records.h"

#include <pthread.h>
#include <stdlib.h>

/* Before every constructor, those of libraries included. */
static void order_before_all(int, char **, char **)
{
    order_record();
}
__attribute__((section(".preinit_array"),
               used)) static void (*order_preinit)(int, char **, char **) = order_before_all;

__attribute__((constructor(101))) static void order_first(void)
{
    order_record();
}

__attribute__((constructor)) static void order_some_time(void)
{
    order_record();
}

struct order_object {
    order_object() { order_record(); }
    ~order_object() { order_record(); }
};

__attribute__((init_priority(101))) static order_object order_early_object;
static order_object order_plain_object;
static thread_local order_object order_thread_object;

static void *order_thread(void *unused)
{
    (void)&order_thread_object; /* which makes it */
    static thread_local order_object local;
    return unused;
}

static void order_at_exit(void)
{
    order_record();
}

__attribute__((destructor(101))) static void order_last(void)
{
    order_record();
    order_check("program");
}

int main(void)
{
    order_thread(NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, order_thread, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    atexit(order_at_exit); /* after the flush */
    if (crest_start(NULL, NULL) != CREST_OK)
        return 3;
    atexit(order_at_exit); /* before it */
    order_record();
    return 0;
}
