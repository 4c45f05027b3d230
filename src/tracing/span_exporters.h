/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kept spans go to. The list has a lock of its own, which is not held while an exporter is
 * called: so one that hangs keeps no other from being added or removed. Batches are handed out
 * under the tracing lock, so one exporter is called at a time.
 *
 * Prompt exporters are called first: they have a batch also when one behind them never returns.
 *
 * State, under the list's lock: the list, and `calling`, the exporter that is being called.
 *
 *     call     found in the list: calling = it; without the lock, the call; calling = NULL
 *     remove   out of the list; wait until `calling` is another
 *
 * Invariant: a removed exporter is in no call, and in none that begins later.
 */
#ifndef CREST_SPAN_EXPORTERS_H
#define CREST_SPAN_EXPORTERS_H

#include <crest/span.h>

/* How long an exporter may take for a batch, as its batch tells it. */
#define CREST_SPAN_EXPORT_MS 2000u

/* CREST_ALREADY, CREST_LIMIT, CREST_NOT_FOUND. Removing waits for as long as a call of this one
 * takes. Any thread that is within no exporter. */
crest_status crest_span_exporters_add(crest_span_exporter *exporter);
crest_status crest_span_exporters_remove(const crest_span_exporter *exporter);
unsigned crest_span_exporters_count(void);

/* Under the tracing lock: hands the batch to all of them; non-zero when one took it. A refusal is
 * told to the log, the first of a streak. */
int crest_span_exporters_take(const crest_span *spans, size_t count, int final);

/* How long the call under way has lasted, with the exporter's name cut to fit; 0: there is none.
 * Any thread. */
uint64_t crest_span_exporters_busy_ns(char *name, size_t size);

/* Non-zero on a thread that is within an exporter: it holds the lock, and may not wait for it. */
int crest_span_exporters_inside(void);

/* In a forked child: there are none. */
void crest_span_exporters_forked(void);

#endif
