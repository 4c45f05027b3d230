/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners of range samplers' cells. See bias.h.
 *
 * The proof has two halves. While a thread owns a cell, it alone writes the state: whoever else
 * wants to has to come through crest_bias_enter. The owner itself may do so with `lock` too,
 * because its own update without one is not on its way then: a handler's interrupting it has ended
 * it.
 *
 * Who takes the cell away says "revoking" and makes the kernel interrupt all threads of the process
 * that are running (membarrier). An owner in the middle of its sequence is thrown out of it there,
 * one that was preempted in it when it goes on, and one that enters later finds another owner than
 * itself. What it completed before is visible then. So "shared" is true when it is said, and
 * because whoever finds "revoking" does the same and does not wait, a thread that stops between the
 * two words stops nobody.
 *
 * A thread pointer comes again when its thread has ended, and then stands for the next thread with
 * it: still for one at a time. In the child of a fork cells are zero and nobody's.
 *
 * Where glibc has not registered the thread (older than 2.35, other C libraries, the tunable
 * glibc.pthread.rseq=0, below valgrind), where the kernel has no such membarrier (before 5.10) or a
 * seccomp policy forbids it, where the processor does not say that it stores 16 bytes at once, and
 * under ThreadSanitizer, which does not see inline assembly, cells are shared from the first
 * update.
 */
#define _GNU_SOURCE
#include "bias.h"
#include "atomic.h"

#if defined(CREST_X86_64_ASM) && defined(__linux__)
#include <cpuid.h>
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of <linux/membarrier.h>, which systems older than these lack. */
#define BIAS_BARRIER (1 << 7)
#define BIAS_REGISTER (1 << 8)

/* In struct rseq of <linux/rseq.h>, whose first word is another. */
#define BIAS_AREA_CPU 4
#define BIAS_AREA_SEQUENCE 8

/* So long whoever needs a barrier waits when it was forbidden after it had been allowed. */
#define BIAS_WAIT_NS (20 * 1000 * 1000)

/* Of glibc 2.35 and later. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

enum { BIAS_UNKNOWN, BIAS_ABLE, BIAS_UNABLE };
static uint32_t bias_ability;

static int bias_membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

/* Intel and AMD both say of processors with AVX that aligned stores of 16 bytes are atomic. */
static int bias_stores_pairs(void)
{
    unsigned most, b, c, d, a;
    if (__get_cpuid(0, &most, &b, &c, &d) == 0)
        return 0;
    int intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx;
    int amd = b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
    return (intel || amd) && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AVX) != 0;
}

static int bias_has_sequences(void)
{
    return &__rseq_offset != NULL && &__rseq_size != NULL && __rseq_size != 0;
}

/*
 * The kernel learns before main that the process will ask for such barriers, for then it has one
 * thread: to tell it with more of them takes some 15 ms, as all processors have to have noticed.
 * Only what is loaded later, by dlopen, takes them. It lasts, in children of fork too.
 */
__attribute__((constructor(103))) static void bias_constructor(void)
{
    int kept = errno;
    if (bias_has_sequences())
        bias_membarrier(BIAS_REGISTER);
    errno = kept;
}

/* The process's half of the question. Tried once, by anybody and perhaps by several. */
static int bias_process_able(void)
{
    uint32_t known = crest_atomic_load32(&bias_ability);
    if (known != BIAS_UNKNOWN)
        return known == BIAS_ABLE;
    known = BIAS_UNABLE;
    if (bias_has_sequences() && bias_stores_pairs() && bias_membarrier(BIAS_REGISTER) == 0 &&
        bias_membarrier(BIAS_BARRIER) == 0)
        known = BIAS_ABLE;
    crest_atomic_store32(&bias_ability, known);
    return known == BIAS_ABLE;
}

/* And the thread's: the kernel knows its struct rseq. */
static int bias_able(void)
{
    if (!bias_process_able())
        return 0;
    uint64_t area = crest_range_thread() + (uint64_t)__rseq_offset;
    return *(const volatile int32_t *)(area + BIAS_AREA_CPU) >= 0;
}

/* A way out of a sequence by a comparison leaves the kernel with its descriptor; see
 * crest_range_replace_owned. Whose the cell is by now does not say which way was taken. */
static void bias_forget_sequence(uint64_t thread)
{
    if (!bias_has_sequences())
        return;
    *(volatile uint64_t *)(thread + (uint64_t)__rseq_offset + BIAS_AREA_SEQUENCE) = 0;
}

/*
 * Forbidden although it was allowed: a seccomp policy that came later. Then nothing can throw an
 * owner out of its sequence, but it can be waited for: it is a handful of instructions, after which
 * an owner that is running has left it, and one that was preempted is thrown out of it anyway.
 */
static void bias_wait(void)
{
    crest_atomic_store32(&bias_ability, BIAS_UNABLE);
    struct timespec begun, now, nap = {0, BIAS_WAIT_NS / 10};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        /* the C library's own would be a point at which the thread may be cancelled */
        syscall(SYS_nanosleep, &nap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec <
             BIAS_WAIT_NS);
}

void crest_bias_barrier(void)
{
    int kept = errno;
    /* a child of vfork's like may have to register anew */
    if (bias_membarrier(BIAS_BARRIER) != 0 &&
        (bias_membarrier(BIAS_REGISTER) != 0 || bias_membarrier(BIAS_BARRIER) != 0))
        bias_wait();
    errno = kept;
}

void crest_bias_enter(crest_range_cell *cell)
{
    int kept = errno;
    uint64_t me = crest_range_thread(), owner;
    /* acquire: what the barrier of whoever made it shared made visible; x86-64 loads all do */
    while ((owner = crest_atomic_load_acquire(&cell->owner)) != CREST_RANGE_SHARED && owner != me) {
        if (owner == CREST_RANGE_NOBODY && bias_able()) {
            /* the same from whoever writes it; the compare-and-swap releases it */
            crest_atomic_store(&cell->area, (uint64_t)__rseq_offset + BIAS_AREA_SEQUENCE);
            crest_atomic_cas(&cell->owner, CREST_RANGE_NOBODY, me);
        } else if (owner == CREST_RANGE_NOBODY) {
            crest_atomic_cas(&cell->owner, CREST_RANGE_NOBODY, CREST_RANGE_SHARED);
        } else if (owner != CREST_RANGE_REVOKING) {
            crest_atomic_cas(&cell->owner, owner, CREST_RANGE_REVOKING);
        } else {
            crest_bias_barrier();
            /* release, after the barrier: partner of the acquire loads of the owner in
             * crest_range_sampler_add and _set */
            crest_atomic_cas(&cell->owner, CREST_RANGE_REVOKING, CREST_RANGE_SHARED);
        }
    }
    bias_forget_sequence(me);
    errno = kept;
}

#else
void crest_bias_barrier(void) {}

void crest_bias_enter(crest_range_cell *cell)
{
    if (crest_atomic_load(&cell->owner) != CREST_RANGE_SHARED)
        crest_atomic_cas(&cell->owner, CREST_RANGE_NOBODY, CREST_RANGE_SHARED);
}
#endif

int crest_bias_owned(const crest_range_cell *cell)
{
    uint64_t owner = crest_atomic_load(&cell->owner);
    return owner != CREST_RANGE_NOBODY && owner != CREST_RANGE_SHARED;
}
