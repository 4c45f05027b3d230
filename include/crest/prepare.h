/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a thread gives up system calls: what recording will need of the system, asked for now.
 *
 *     crest_thread_prepare();
 *     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &policy);
 *     crest_counter_inc(&requests);                        (no system call)
 *
 * docs/safety.md lists every system call that recording may make, and which remain after this. A
 * policy that traps one of them (SECCOMP_RET_TRAP) has its SIGSYS delivered wherever the call was
 * made; one that returns an error does no harm but that named there; one that kills, kills.
 */
#ifndef CREST_PREPARE_H
#define CREST_PREPARE_H

#include <crest/status.h>

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

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/prepare_off.h>
#endif

#endif
