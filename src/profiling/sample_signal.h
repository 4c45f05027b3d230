/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's signal: which number, its handler, and its end. See docs/safety.md.
 *
 *   free        SIG_DFL or SIG_IGN, as the host has left it
 *   ours        from crest_sample_signal_take to _leave
 *   ignored     afterwards: a timer's last signal may still be on its way, and by default it would
 *               end the process
 */
#ifndef CREST_PROFILING_SAMPLE_SIGNAL_H
#define CREST_PROFILING_SAMPLE_SIGNAL_H

#include <crest/status.h>
#include <stdint.h>

/* Whether the signal means nothing but what programs want it to: a profiler that took SIGSEGV would
 * hang a program that crashes, and one that took SIGTERM would keep it alive. */
int crest_sample_signal_may_be(int signal);

/* Installs the handler for `wanted`, or, if that is 0, for SIGPROF or else a real-time signal that
 * is free. Returns its number; 0 with *error filled. zero_ns: when_ms 0 of samples. */
int crest_sample_signal_take(int wanted, uint64_t zero_ns, crest_error *error);

/* From now on a signal does nothing; returns when no handler is at work any more. */
void crest_sample_signal_leave(int signal);

/* Non-zero while the handler is ours: a host may have installed one of its own since. */
int crest_sample_signal_is_ours(int signal);

/* Handlers at work. What they may read is freed only when there was none at some moment. */
int crest_sample_signal_busy(void);

/* In the child of a fork: handlers do nothing, and none is at work. */
void crest_sample_signal_forked(void);

#endif
