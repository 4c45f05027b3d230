/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prober's thread, its list and its schedule. See prober.h.
 */
#define _GNU_SOURCE
#include "latency/probes/prober.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Steps due within this time are done at once: one waking for both. */
#define PROBER_SLACK_NS UINT64_C(1000000)
/* After a wait that failed. */
#define PROBER_PAUSE_NS 10000000

/* Guards all of this, and every probe. */
static pthread_mutex_t prober_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prober_once = PTHREAD_ONCE_INIT;
static pthread_cond_t prober_called; /* a call of `send` is over */
static crest_probe *prober_list;
static unsigned prober_count;
static unsigned prober_live;    /* of these, those that the thread serves */
static uint64_t prober_turn;    /* the prober's number: a thread with an older one ends */
static uint64_t prober_process; /* number of this process among the forks */
static int prober_wake_fd = -1; /* the present thread's; that thread closes it */
static int prober_awake;        /* the prober will look again before it waits */

/* Calls of `send` that are running, on their callers' stacks. */
typedef struct prober_call {
    struct prober_call *next;
    const crest_probe *probe;
    pthread_t thread;
} prober_call;
static prober_call *prober_calls;

static uint64_t prober_waits; /* number of the present wait */

/* A prober's thread, and what it waits for; the thread frees it. */
typedef struct prober_thread {
    uint64_t turn;
    int wake_fd; /* also the first of the files */
    struct pollfd files[CREST_PROBES_MAX + 1];
} prober_thread;

/* ---- the lock, the clock, the forked child ---- */

pthread_mutex_t *crest_prober_mutex(void)
{
    return &prober_mutex;
}

void crest_prober_lock(void)
{
    pthread_mutex_lock(&prober_mutex);
}

void crest_prober_unlock(void)
{
    pthread_mutex_unlock(&prober_mutex);
}

void crest_prober_wait_for(pthread_cond_t *condition, const struct timespec *until)
{
    pthread_cond_timedwait(condition, &prober_mutex, until);
}

uint64_t crest_prober_now_ns(void)
{
    return crest_monotonic_ns();
}

/* Fork handler: the child has no thread and no probe, and closes its copies of descriptors. The
 * list is whole at any step. A descriptor is in its probe before anything uses it, and is taken out
 * before it is closed. */
static void prober_forked(void)
{
    crest_mutex_fresh(&prober_mutex);
    pthread_cond_init(&prober_called, NULL);
    for (crest_probe *probe = prober_list; probe != NULL; probe = probe->next) {
        uint32_t fd = crest_atomic_exchange32(&probe->fd, 0);
        if (fd != 0)
            close((int)fd - 1);
    }
    if (prober_wake_fd >= 0)
        close(prober_wake_fd);
    prober_wake_fd = -1;
    prober_list = NULL;
    prober_calls = NULL;
    prober_count = prober_live = 0;
    prober_turn++;
    prober_process++;
}

static void prober_prepare(void)
{
    pthread_cond_init(&prober_called, NULL);
    crest_forked_call(CREST_FORKED_PROBER, prober_forked);
}

uint64_t crest_prober_random(void)
{
    uint64_t number = 0;
    while (number == 0)
        if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
            /* early at boot: hard to guess is the best there is */
            number = (crest_prober_now_ns() ^ (uint64_t)(uintptr_t)&number) *
                     UINT64_C(0x9e3779b97f4a7c15);
    return number;
}

/* ---- the schedule ---- */

/* A random number from 0 to 1. */
static double prober_part(void)
{
    return (double)(crest_prober_random() >> 11) / 9007199254740992.0;
}

void crest_prober_first_point(crest_probe *probe)
{
    uint64_t now_ns = crest_prober_now_ns();
    double part = probe->jitter > 0 ? prober_part() : 0;
    probe->point_ns = now_ns + (uint64_t)((double)probe->interval_ns * part);
    if (probe->interval_ns == 0)
        probe->point_ns = CREST_PROBE_NEVER;
    probe->due_ns = probe->wake_ns = probe->point_ns;
}

void crest_prober_next_point(crest_probe *probe, uint64_t now_ns)
{
    if (probe->interval_ns == 0) {
        probe->point_ns = probe->due_ns = CREST_PROBE_NEVER;
        return;
    }
    probe->point_ns += probe->interval_ns;
    if (probe->point_ns <= now_ns) {
        uint64_t missed = (now_ns - probe->point_ns) / probe->interval_ns + 1;
        probe->state.skipped += missed;
        probe->point_ns += missed * probe->interval_ns;
    }
    double part = probe->jitter > 0 ? prober_part() : 0;
    probe->due_ns = probe->point_ns + (uint64_t)((double)probe->interval_ns * probe->jitter * part);
}

void crest_prober_wake(void)
{
    if (prober_wake_fd >= 0 && !prober_awake)
        eventfd_write(prober_wake_fd, 1);
}

/* ---- calling the node ---- */

/* Whether this thread is in a `send` of the probe. */
static int prober_calls_itself(const crest_probe *probe)
{
    const prober_call *call = prober_calls;
    while (call != NULL && (call->probe != probe || !pthread_equal(call->thread, pthread_self())))
        call = call->next;
    return call != NULL;
}

int crest_prober_send(crest_probe *probe, uint64_t id)
{
    prober_call call = {prober_calls, probe, pthread_self()};
    crest_probe_send_fn *send = probe->part.ping.send;
    void *context = probe->part.ping.context;
    uint64_t process = prober_process;
    prober_calls = &call;
    probe->calls++;
    crest_prober_unlock();
    int failed = send(context, id);
    crest_prober_lock();
    if (prober_process == process) {
        prober_call **link = &prober_calls;
        while (*link != &call)
            link = &(*link)->next;
        *link = call.next;
    }
    probe->calls--;
    if (probe->stopped)
        pthread_cond_broadcast(&prober_called);
    return failed;
}

/* Sends what the schedule wants sent. A call may change the list, so the walk begins again after
 * each. */
static void prober_send_all(uint64_t turn)
{
    crest_probe *probe = prober_list;
    while (probe != NULL && prober_turn == turn) {
        if (!probe->wanted) {
            probe = probe->next;
            continue;
        }
        probe->wanted = 0;
        probe->work->send(probe);
        probe = prober_list;
    }
}

/* ---- the thread, all under the lock ---- */

/* Whether a connect's name was looked up. */
static int prober_is_resolved(const crest_probe *probe)
{
    return probe->question != NULL && probe->question->done;
}

/* Steps all probes that are due or ready. No step gives up the lock or changes the list. */
static void prober_step_all(const prober_thread *self, uint64_t ready_ns)
{
    const uint64_t now_ns = crest_prober_now_ns() + PROBER_SLACK_NS;
    for (crest_probe *probe = prober_list; probe != NULL; probe = probe->next) {
        int ready = probe->fd != 0 && probe->polled_in == prober_waits &&
                    self->files[probe->polled].revents != 0;
        if (!probe->work->own_thread &&
            (ready || probe->wake_ns <= now_ns || prober_is_resolved(probe)))
            probe->work->step(probe, now_ns, ready_ns, ready);
    }
}

/* Collects what to wait for; returns until when. */
static uint64_t prober_collect(prober_thread *self, nfds_t *count)
{
    uint64_t until_ns = CREST_PROBE_NEVER;
    self->files[0] = (struct pollfd){self->wake_fd, POLLIN, 0};
    *count = 1;
    prober_waits++;
    for (crest_probe *probe = prober_list; probe != NULL; probe = probe->next) {
        if (probe->work->own_thread)
            continue;
        if (probe->wake_ns < until_ns)
            until_ns = probe->wake_ns;
        if (probe->fd != 0) {
            probe->polled = (unsigned)*count;
            probe->polled_in = prober_waits;
            self->files[(*count)++] = (struct pollfd){(int)probe->fd - 1, POLLOUT, 0};
        }
    }
    return until_ns;
}

/* Waits; gives up the lock meanwhile. */
static void prober_wait(prober_thread *self, nfds_t count, uint64_t until_ns)
{
    uint64_t now_ns = crest_prober_now_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec left = crest_monotonic_timespec(left_ns);
    eventfd_t written;
    prober_awake = 0;
    crest_prober_unlock();
    int ready = ppoll(self->files, count, until_ns == CREST_PROBE_NEVER ? NULL : &left, NULL);
    if (ready > 0 && self->files[0].revents != 0)
        eventfd_read(self->wake_fd, &written);
    if (ready < 0 && errno != EINTR) /* no memory for so many descriptors: try again, do not spin */
        nanosleep(&(struct timespec){0, PROBER_PAUSE_NS}, NULL);
    for (nfds_t i = 0; i < count && ready < 0; i++)
        self->files[i].revents = 0;
    crest_prober_lock();
}

static void *prober_run(void *argument)
{
    prober_thread *self = argument;
    pthread_setname_np(pthread_self(), "crest-prober");
    crest_prober_lock();
    uint64_t process = prober_process;
    while (prober_turn == self->turn) {
        nfds_t count;
        uint64_t until_ns = prober_collect(self, &count);
        prober_wait(self, count, until_ns);
        uint64_t ready_ns = crest_now();
        if (prober_turn != self->turn)
            break;
        prober_awake = 1;
        prober_step_all(self, ready_ns);
        prober_send_all(self->turn);
    }
    int mine = prober_process == process; /* a fork in `send` has closed it already */
    crest_prober_unlock();
    if (mine)
        close(self->wake_fd);
    crest_alloc_free(self);
    return NULL;
}

static crest_status prober_start(crest_error *error)
{
    prober_thread *self = crest_alloc(1, sizeof *self);
    if (self == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for the prober");
    self->turn = prober_turn;
    self->wake_fd = crest_descriptor_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    int failed = self->wake_fd < 0 ? errno : crest_thread_detach(NULL, prober_run, self);
    if (failed == 0) {
        prober_wake_fd = self->wake_fd;
        prober_awake = 0;
        return CREST_OK;
    }
    if (self->wake_fd >= 0)
        close(self->wake_fd);
    crest_alloc_free(self);
    return crest_error_set(error, CREST_SYSTEM,
                           "the prober needs a thread and a descriptor: %s; make room for them "
                           "(ulimit -u, ulimit -n)",
                           strerror(failed));
}

/* Replaces the present thread, which then ends by itself. */
static void prober_dismiss(void)
{
    prober_turn++;
    crest_prober_wake();
    prober_wake_fd = -1;
}

/* ---- the list ---- */

int crest_prober_has(const crest_probe *probe)
{
    const crest_probe *at = prober_list;
    while (at != NULL && at != probe)
        at = at->next;
    return at != NULL;
}

const crest_probe *crest_prober_first(void)
{
    return prober_list;
}

int crest_probe_shares(const crest_probe *probe)
{
    const crest_probe *other = prober_list;
    while (other != NULL &&
           (other == probe || other->state.ended || other->state.kind != probe->state.kind ||
            other->registry != probe->registry || strcmp(other->prefix, probe->prefix) != 0 ||
            strcmp(other->peer, probe->peer) != 0))
        other = other->next;
    return other != NULL;
}

crest_status crest_prober_add(crest_probe *probe, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_status status = CREST_OK;
    pthread_once(&prober_once, prober_prepare);
    crest_prober_lock();
    if (prober_count >= CREST_PROBES_MAX)
        status = crest_error_set(error, CREST_LIMIT,
                                 "there are %u probes already: stop those that are not needed",
                                 CREST_PROBES_MAX);
    if (status == CREST_OK && !probe->work->own_thread && prober_wake_fd < 0)
        status = prober_start(error);
    if (status == CREST_OK) {
        crest_atomic_store_ptr_release(CREST_PTR(&probe->next), prober_list);
        /* whole at any step, for a fork: partner is prober_forked */
        crest_atomic_store_ptr_release(CREST_PTR(&prober_list), probe);
        prober_count++;
        prober_live += !probe->work->own_thread;
        crest_prober_wake();
    }
    crest_prober_unlock();
    return status;
}

/* Takes the probe off the list; zero if it is not there. */
static int prober_remove(crest_probe *probe)
{
    crest_probe **link = &prober_list;
    while (*link != NULL && *link != probe)
        link = &(*link)->next;
    if (*link == NULL)
        return 0;
    crest_atomic_store_ptr_release(CREST_PTR(link), probe->next);
    prober_count--;
    if (!probe->work->own_thread && --prober_live == 0)
        prober_dismiss();
    return 1;
}

void crest_probe_free(crest_probe *probe)
{
    crest_alloc_free(probe);
}

crest_status crest_probe_stop(crest_probe *probe)
{
    CREST_UNCANCELLED;
    if (probe == NULL)
        return CREST_OK;
    pthread_once(&prober_once, prober_prepare);
    crest_prober_lock();
    if (!prober_remove(probe)) {
        crest_prober_unlock();
        return CREST_NOT_FOUND;
    }
    probe->stopped = 1;
    probe->work->stop(probe);
    if (!crest_probe_shares(probe))
        probe->work->release(probe);
    int own_thread = probe->work->own_thread, itself = prober_calls_itself(probe);
    probe->own = itself;
    while (!itself && probe->calls != 0)
        pthread_cond_wait(&prober_called, &prober_mutex);
    crest_prober_unlock();
    if (!own_thread && !itself)
        crest_probe_free(probe);
    return CREST_OK;
}

crest_status crest_probe_read(const crest_probe *probe, crest_probe_state *state)
{
    memset(state, 0, sizeof *state);
    crest_prober_lock();
    int found = probe != NULL && crest_prober_has(probe);
    if (found)
        *state = probe->state;
    crest_prober_unlock();
    return found ? CREST_OK : CREST_NOT_FOUND;
}
