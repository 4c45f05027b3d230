/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of fork(). See fork.h.
 */
#include "base/fork.h"
#include "base/forked.h"
#include "base/lock.h"

#include <pthread.h>

static crest_lock_saved fork_saved; /* under the lock */

static void fork_before(void)
{
    crest_lock_saved saved;
    crest_lock_fork_before(&saved);
    fork_saved = saved;
}

static void fork_parent(void)
{
    crest_lock_saved saved = fork_saved;
    crest_lock_fork_parent(&saved);
}

static void fork_child(void)
{
    crest_lock_saved saved = fork_saved;
    crest_forked_call_at(CREST_FORKED_OWN_RECORDS);
    crest_forked_tell();
    crest_lock_fork_child(&saved);
    crest_forked_call_at(CREST_FORKED_OWN_HOST_LOOP);
}

void crest_fork_prepare(void)
{
    crest_forked_call(CREST_FORKED_LOCK, crest_lock_forked);
    pthread_atfork(fork_before, fork_parent, fork_child);
}
