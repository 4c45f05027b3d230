/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done in a turn of the host's event loop, and what <crest/loop.h> says of it.
 * base/host_loop.c decides when a turn comes.
 */
#include "base/descriptor.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/host_loop.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "polls/poller.h"
#include "reporting/reporter_thread.h"
#include "tracing/tracing.h"
#include "windows/ticker.h"

#include <crest/loop.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

int crest_loop_fd(crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    crest_forked_check();
    int descriptor = crest_loop_descriptor();
    if (descriptor < 0)
        crest_error_set(error, CREST_SYSTEM,
                        "no descriptor for the host's loop: %s; make room for two more (ulimit -n)",
                        strerror(errno));
    return descriptor;
}

crest_status crest_loop_watch(int descriptor)
{
    CREST_UNCANCELLED;
    return crest_loop_wait_for(descriptor, 1) == 0 ? CREST_OK : CREST_SYSTEM;
}

crest_status crest_loop_unwatch(int descriptor)
{
    CREST_UNCANCELLED;
    return crest_loop_wait_for(descriptor, 0) == 0 ? CREST_OK : CREST_SYSTEM;
}

int crest_loop_only(void)
{
    crest_forked_check();
    return crest_threads_forbidden();
}

static int loop_run_wait_ms(uint64_t next_ns)
{
    if (next_ns == UINT64_MAX)
        return -1;
    uint64_t now_ns = crest_monotonic_ns();
    uint64_t left_ms =
        next_ns > now_ns ? (next_ns - now_ns + CREST_NS_PER_MS - 1) / CREST_NS_PER_MS : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static uint64_t loop_run_sooner(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

crest_status crest_loop_run(int *wait_ms)
{
    CREST_UNCANCELLED;
    int unwanted;
    if (wait_ms == NULL)
        wait_ms = &unwanted;
    *wait_ms = 0;
    crest_status status = crest_loop_begin();
    if (status != CREST_OK)
        return status;
    /* in this order: a report shows the tick and the polls of its second */
    uint64_t next_ns = crest_poller_turn();
    next_ns = loop_run_sooner(next_ns, crest_ticker_turn());
    crest_tracing_turn();
    next_ns = loop_run_sooner(next_ns, crest_reporters_turn());
    *wait_ms = loop_run_wait_ms(crest_loop_end(next_ns));
    return CREST_OK;
}
