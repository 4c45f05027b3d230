/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts this very thread between two instructions. The processor's trap flag raises SIGTRAP
 * after each instruction, by which the fixture learns the places that a call passes. Then a
 * breakpoint at one of them is where `meanwhile` comes in between. Unlike ptrace (step_fixture.h)
 * it stays in one process, and is done in an instant.
 *
 *     trap_learn(act);
 *     for (unsigned i = 0; i < trap_count; i++)
 *         trap_between(i, act, meanwhile);       meanwhile() runs amid act()
 *     trap_at_each(act, look);                   and here at every boundary of one act()
 *
 * The stepped act must not block signals, as every act under the slow path's lock does: the kernel
 * then ends the process.
 */
#ifndef CREST_TESTS_TRAP_FIXTURE_H
#define CREST_TESTS_TRAP_FIXTURE_H

#include "support/core_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define TRAP_PLACES_MAX 4096u
#define TRAP_FLAG 0x100ull
#define TRAP_INSTRUCTION 0xcc

extern char __executable_start[], etext[];

/* Instructions of this program, each noted before it is passed for the first time. */
static uint8_t *trap_places[TRAP_PLACES_MAX];
static unsigned trap_count;

static void (*trap_meanwhile)(void);
static uint8_t trap_code; /* the byte that the breakpoint replaces */
static unsigned trap_met;

static void trap_look(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    trap_met++;
    trap_meanwhile();
}

static void trap_note(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    uint8_t *at = (uint8_t *)(uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    unsigned i = 0;
    while (i < trap_count && trap_places[i] != at)
        i++;
    if (i == trap_count && i < TRAP_PLACES_MAX && at >= (uint8_t *)__executable_start &&
        at < (uint8_t *)etext)
        trap_places[trap_count++] = at;
}

/* At the breakpoint. Removes it first, for `meanwhile` may pass it. */
static void trap_break(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *at = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    --*at;
    *(volatile uint8_t *)(uintptr_t)*at = trap_code;
    trap_met++;
    trap_meanwhile();
}

static void trap_handle(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
}

static void trap_step(void (*act)(void))
{
    unsigned long long flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64(flags | TRAP_FLAG);
    act();
    __builtin_ia32_writeeflags_u64(flags);
}

__attribute__((unused)) static void trap_learn(void (*act)(void))
{
    trap_count = 0;
    trap_handle(trap_note);
    trap_step(act);
    assert_in_range(trap_count, 1, TRAP_PLACES_MAX - 1);
}

/* Returns at how many boundaries `look` was called. */
__attribute__((unused)) static unsigned trap_at_each(void (*act)(void), void (*look)(void))
{
    trap_met = 0;
    trap_meanwhile = look;
    trap_handle(trap_look);
    trap_step(act);
    return trap_met;
}

/* Returns 0 when `act` did not pass that place this time. */
__attribute__((unused)) static unsigned trap_between(unsigned place, void (*act)(void),
                                                     void (*meanwhile)(void))
{
    volatile uint8_t *at = trap_places[place];
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    assert_int_equal(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    trap_met = 0;
    trap_meanwhile = meanwhile;
    trap_code = *at;
    trap_handle(trap_break);
    *at = TRAP_INSTRUCTION;
    act();
    *at = trap_code;
    return trap_met;
}

#endif
