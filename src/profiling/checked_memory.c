/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that may not be there. See checked_memory.h.
 */
#include "profiling/checked_memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the 8 bytes at the address can be read: the kernel copies a signal set from there before
 * it refuses what it is asked to do with the set. No set at all, at 0, is no fault to it. */
static int checked_readable(uint64_t address)
{
#ifdef __x86_64__
    register long bytes __asm__("r10") = 8;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_rt_sigprocmask), "D"(-1L), "S"(address), "d"(0L), "r"(bytes)
                     : "rcx", "r11", "memory");
    return result != -EFAULT;
#else
    (void)address;
    return 0;
#endif
}

int crest_checked_grow(crest_checked_memory *memory, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    if (address < CREST_CHECKED_PAGE || end < address || end > UINT64_C(1) << 47)
        return 0;
    uint64_t from = address & ~(CREST_CHECKED_PAGE - 1);
    uint64_t to = (end + CREST_CHECKED_PAGE - 1) & ~(CREST_CHECKED_PAGE - 1);
    if (memory->from == memory->to || from > memory->to || to < memory->from)
        memory->from = memory->to = from; /* elsewhere: a new window */
    for (; memory->from > from; memory->from -= CREST_CHECKED_PAGE)
        if (!checked_readable(memory->from - CREST_CHECKED_PAGE))
            return 0;
    for (; memory->to < to; memory->to += CREST_CHECKED_PAGE)
        if (!checked_readable(memory->to))
            return 0;
    return 1;
}

/* Numbers at any address, of any type. */
typedef uint16_t __attribute__((may_alias, aligned(1))) checked_two;
typedef uint32_t __attribute__((may_alias, aligned(1))) checked_four;
typedef uint64_t __attribute__((may_alias, aligned(1))) checked_eight;

__attribute__((no_sanitize("address", "thread", "undefined"))) uint64_t
crest_checked_load(uint64_t at, unsigned bytes)
{
    const void *from = (const void *)(uintptr_t)at;
    switch (bytes) {
    case 1: return *(const volatile uint8_t *)from;
    case 2: return *(const volatile checked_two *)from;
    case 4: return *(const volatile checked_four *)from;
    default: return *(const volatile checked_eight *)from;
    }
}
