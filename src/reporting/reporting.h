/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attached reporters and their threads: the inside of the calls in <crest/reporter.h>. run.c
 * decides what to report through, and reads the options about it.
 */
#ifndef CREST_REPORTING_H
#define CREST_REPORTING_H

#include <crest/reporter.h>

/* As crest_reporter_attach, under a name (copied) that may differ from the reporter's own. Once
 * attached, the reporter is owned: freed once its thread has ended, however late. */
crest_status crest_reporting_attach_owned(crest_registry *registry, crest_reporter *reporter,
                                          const char *name, const crest_schedule *schedule,
                                          crest_error *error);

typedef enum crest_reporting_end {
    CREST_REPORTING_FLUSH,  /* a last report of every attached reporter, then its stop */
    CREST_REPORTING_DISCARD /* the owned ones only, and no report: crest_start is being undone */
} crest_reporting_end;

/* Non-zero when the host's loop serves a reporter. The caller then holds it (host_loop.h) around
 * these. */
int crest_reporting_by_loop(void);

/* Detaches all reporters, in parallel, within deadline_ms; reporters of the host's loop one after
 * the other. CREST_OK, or the first failure with a message that names each. */
crest_status crest_reporting_stop_all(crest_reporting_end how, uint64_t deadline_ms,
                                      crest_error *error);

/*
 * Gives `flush` to atexit, now and again whenever a reporter with another report function is
 * attached. It must do nothing when it has nothing to do. Such functions run in reverse order, so
 * ours has to be registered after those of the libraries that reporters have initialised.
 * OpenSSL's, run before ours, would take TLS from under the last push. Once a process; a second
 * call does nothing.
 */
void crest_reporting_at_exit(void (*flush)(void));

#endif
