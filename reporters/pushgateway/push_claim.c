/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of groups, across forks. See push_claim.h.
 *
 * A list that children inherit: each claim has its owner's process id.
 */
#include "pushgateway/push_claim.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct crest_push_claim {
    struct crest_push_claim *next;
    pid_t process;
    char group[];
};

/* Guards the list. Held across a fork, so that the child gets a whole one. */
static pthread_mutex_t push_claim_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t push_claim_once = PTHREAD_ONCE_INIT;
static crest_push_claim *push_claims;

static void push_claim_before_fork(void)
{
    pthread_mutex_lock(&push_claim_lock);
}

static void push_claim_after_fork(void)
{
    pthread_mutex_unlock(&push_claim_lock);
}

static void push_claim_prepare(void)
{
    (void)pthread_atfork(push_claim_before_fork, push_claim_after_fork, push_claim_after_fork);
}

/* Under the lock: the other process that has claimed the group, or 0. */
static pid_t push_claim_holder(const char *group)
{
    for (const crest_push_claim *claim = push_claims; claim != NULL; claim = claim->next)
        if (claim->process != getpid() && strcmp(claim->group, group) == 0 &&
            (kill(claim->process, 0) == 0 || errno == EPERM))
            return claim->process;
    return 0;
}

/* Under the lock. */
static void push_claim_unlink(crest_push_claim *claim)
{
    crest_push_claim **link = &push_claims;
    while (*link != NULL && *link != claim)
        link = &(*link)->next;
    if (*link != NULL)
        *link = claim->next;
}

crest_status crest_push_claim_take(crest_push_claim **claim, const char *group, const char *shown,
                                   crest_error *error)
{
    if (*claim != NULL && (*claim)->process == getpid() && strcmp((*claim)->group, group) == 0)
        return CREST_OK;
    pthread_once(&push_claim_once, push_claim_prepare);
    size_t length = strlen(group);
    crest_push_claim *taken = malloc(sizeof *taken + length + 1);
    if (taken == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "Not pushed to %s: no memory", shown);
    taken->process = getpid();
    memcpy(taken->group, group, length + 1);
    pthread_mutex_lock(&push_claim_lock);
    pid_t holder = push_claim_holder(group);
    if (holder == 0) {
        taken->next = push_claims;
        push_claims = taken;
    }
    pthread_mutex_unlock(&push_claim_lock);
    if (holder != 0) {
        free(taken);
        return crest_error_set(error, CREST_REFUSED,
                               "Not pushed to %s: the process %ld, of which this one is a fork, "
                               "pushes to the same group, and each would replace what the other "
                               "has pushed. Give this process a group of its own, for example "
                               "with pushgateway.instance=${HOST}-${PID}",
                               shown, (long)holder);
    }
    crest_push_claim_release(claim);
    *claim = taken;
    return CREST_OK;
}

void crest_push_claim_release(crest_push_claim **claim)
{
    crest_push_claim *released = *claim;
    *claim = NULL;
    if (released == NULL || released->process != getpid())
        return;
    pthread_mutex_lock(&push_claim_lock);
    push_claim_unlink(released);
    pthread_mutex_unlock(&push_claim_lock);
    free(released);
}
