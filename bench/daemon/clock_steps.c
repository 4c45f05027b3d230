/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints how many instructions clock_gettime(CLOCK_MONOTONIC) executes on this machine, counted by
 * stepping through it. valgrind hides the kernel's vDSO from the program, so that callgrind counts
 * a system call where there is none.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)
static volatile long steps;

static void steps_trap(int signal_number)
{
    (void)signal_number;
    steps++;
}

int main(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* what is done once */
    signal(SIGTRAP, steps_trap);
    long found[2];
    for (int with_it = 0; with_it < 2; with_it++) {
        steps = 0;
        /* the trap flag */
        __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
        if (with_it)
            clock_gettime(CLOCK_MONOTONIC, &now);
        __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
        found[with_it] = steps;
    }
    printf("%ld\n", found[1] - found[0]);
    return 0;
}
#else
int main(void)
{
    puts("0");
    return 0;
}
#endif
