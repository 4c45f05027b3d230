/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What outside profilers read of the process: OpenTelemetry's process context (OTEP 4719), and the
 * switch of the threads' part (OTEP 4947, spans/current_span.h). One a process; callers hold the
 * state of starts and stops.
 */
#ifndef CREST_RUN_OTEL_CONTEXT_H
#define CREST_RUN_OTEL_CONTEXT_H

#include <crest/reporter.h>

/* Publishes the process's resource and shows threads' spans; a second call replaces it. CREST_OK,
 * or CREST_PARTIAL, with why in *error, where the system gives no mapping. */
crest_status crest_otel_context_publish(const crest_resource *resource, crest_error *error);

/* Takes it back; nothing if there is none. */
void crest_otel_context_withdraw(void);

#endif
