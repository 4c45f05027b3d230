/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing without signals: a pipe whose reader has gone raises SIGPIPE, a file that has reached the
 * process's limit SIGXFSZ, and both end a process that does not expect them. Between begin and end
 * such a write only fails. Crest's own threads block all signals anyway; a report that the host
 * makes on a thread of its own needs this.
 *
 *     crest_quiet_signals quiet;
 *     crest_quiet_signals_begin(&quiet);
 *     ... write ...
 *     crest_quiet_signals_end(&quiet);
 */
#ifndef CREST_REPORTERS_QUIET_SIGNALS_H
#define CREST_REPORTERS_QUIET_SIGNALS_H

#include <signal.h>

typedef struct crest_quiet_signals {
    sigset_t before;  /* the thread's mask */
    sigset_t pending; /* pending before begin, and not ours to consume */
} crest_quiet_signals;

/* Both are for one thread and leave errno as it is. */
void crest_quiet_signals_begin(crest_quiet_signals *quiet);
void crest_quiet_signals_end(const crest_quiet_signals *quiet);

#endif
