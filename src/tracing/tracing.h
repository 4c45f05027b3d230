/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracing thread: it collects the rings, and does what trace_keep.h says. The inside of
 * <crest/span.h>'s settings, exporters and flush.
 *
 * The thread runs from the first crest_spans_set that traces something to the next that traces
 * nothing, or crest_tracing_stop. With threads=off each run of the host's loop does its work, at
 * least one a second.
 */
#ifndef CREST_TRACING_H
#define CREST_TRACING_H

#include <crest/span.h>

/* How long the thread sleeps when nothing comes, at most; a ring that is half full wakes it. */
#define CREST_TRACING_SLEEP_NS UINT64_C(100000000)
#define CREST_TRACING_SLEEP_NS_MIN UINT64_C(5000000)

/* Ends tracing: collects and decides everything, hands the last batch out as final, and ends the
 * thread. Does nothing when it does not run, and from an exporter. Exporters stay.
 * CREST_TIMED_OUT at `until_ns` of crest_monotonic_ns, with a message that names the exporter which
 * has not returned: then the thread is left behind, and does the rest when it can. With threads=off
 * the caller makes the last turn, and keeps the deadline only if its exporters do. */
crest_status crest_tracing_stop(uint64_t until_ns, crest_error *error);

/* With threads=off: a turn, unless an exporter is being called. */
void crest_tracing_turn(void);

/* For tests: one turn of the thread, at the time of crest_now; the thread takes none from then on,
 * until tracing is set anew. */
void crest_tracing_by_hand(void);

#endif
