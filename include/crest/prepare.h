/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparation for a thread that gives up system calls: asks the system now for what recording will
 * need. And the stack size of the threads that the library starts.
 *
 *     crest_thread_prepare();
 *     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &policy);
 *     crest_counter_inc(&requests);                        (no system call)
 *
 * docs/safety.md lists every system call that recording may make, and which remain after this.
 * Under a seccomp policy that traps one of them (SECCOMP_RET_TRAP), SIGSYS is delivered where the
 * call was made. A policy that returns an error does no harm but that named there; one that kills
 * ends the process.
 */
#ifndef CREST_PREPARE_H
#define CREST_PREPARE_H

#include <crest/status.h>

#include <stddef.h>

CREST_BEGIN_C

/*
 * Makes the calling thread's cells of all series that exist, in every registry. From then on this
 * thread adds to these counters, gauges and range samplers without a system call; its records into
 * histograms and timers, and into series made later, may take memory and the slow path's lock, and
 * so need rt_sigprocmask, futex, mmap and madvise, but no other. May be called again, as when
 * series were made since. CREST_NO_MEMORY: not all cells are there; CREST_LATE: the thread's data
 * have been torn down already, or the process has no pthread_key_t left. Recording works all the
 * same, as on a thread that did not call it. Any thread, any handler. Cost: locks and takes 32 KiB
 * of addresses for each 4,096 series that exist, which are memory once they are written to.
 */
CREST_API crest_status crest_thread_prepare(void);

/* The stack of a thread that the library starts, in bytes, and what may be asked for. */
#define CREST_THREAD_STACK_BYTES 0x40000u /* 256 KiB */
#define CREST_THREAD_STACK_BYTES_MIN 0x20000u
#define CREST_THREAD_STACK_BYTES_MAX 0x40000000u

/*
 * The stack of the threads that the library starts from now on: those of the ticker, of polls and
 * collectors, of reporters and scrapes, of look-ups. Call it before crest_start when a callback of
 * the program's that they run, a poll or a reporter, takes more than 128 KiB of stack; the
 * library's take less. The size of a thread's thread-local variables is added to it.
 *
 * `bytes`: CREST_THREAD_STACK_BYTES_MIN to _MAX, CREST_THREAD_STACK_BYTES without this call.
 * CREST_INVALID_ARGUMENT out of that range, and nothing is changed. Any thread. Cost: a store.
 */
CREST_API crest_status crest_thread_stack(size_t bytes);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/prepare_off.h>
#endif

#endif
