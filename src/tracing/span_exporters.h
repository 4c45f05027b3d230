/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kept spans go to. The list is guarded by the tracing lock, under which exporters are called
 * too: so a removed one is in no call.
 */
#ifndef CREST_SPAN_EXPORTERS_H
#define CREST_SPAN_EXPORTERS_H

#include <crest/span.h>

/* How long an exporter may take for a batch, as its batch tells it. */
#define CREST_SPAN_EXPORT_MS 2000u

/* Under the lock. CREST_ALREADY, CREST_LIMIT, CREST_NOT_FOUND. */
crest_status crest_span_exporters_add(crest_span_exporter *exporter);
crest_status crest_span_exporters_remove(const crest_span_exporter *exporter);
unsigned crest_span_exporters_count(void);

/* Under the lock: hands the batch to all of them; non-zero when one took it. A refusal is told to
 * the log, the first of a streak. */
int crest_span_exporters_take(const crest_span *spans, size_t count, int final);

/* Non-zero on a thread that is within an exporter: it holds the lock, and may not wait for it. */
int crest_span_exporters_inside(void);

/* In a forked child: there are none. */
void crest_span_exporters_forked(void);

#endif
