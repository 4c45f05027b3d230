/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how long it took to get to main, and to a first snapshot: milliseconds of processor time of
 * the process, from when the kernel made it. `started_metrics` is one of two others' here.
 */
#include "started.h"

#include <stdio.h>
#include <time.h>

static double started_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec * 1e-6;
}

int main(void)
{
    double main_ms = started_ms();
    unsigned long metrics = started_metrics();
    double snapshot_ms = started_ms();
    printf("main %.6f\nsnapshot %.6f\nmetrics %lu\n", main_ms, snapshot_ms, metrics);
    return 0;
}
