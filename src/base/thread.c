/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting threads. See thread.h.
 */
#define _GNU_SOURCE
#include "base/thread.h"
#include "base/atomic.h"

#include <crest/abi.h>

#include <errno.h>
#include <link.h>
#include <signal.h>

/* A sanitizer's frames are several times as large. */
#if defined(CREST_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
#define THREAD_STACK_TIMES 8
#else
#define THREAD_STACK_TIMES 1
#endif

#define THREAD_STACK_ROUND ((size_t)0x3fff)

static uint64_t thread_stack_bytes = CREST_THREAD_STACK_DEFAULT;

static uint32_t thread_forbidden;

void crest_threads_allow(int allowed)
{
    crest_atomic_store32(&thread_forbidden, !allowed);
}

int crest_threads_forbidden(void)
{
    return crest_atomic_load32(&thread_forbidden) != 0;
}

void crest_thread_stack_set(size_t bytes)
{
    crest_atomic_store(&thread_stack_bytes, bytes);
}

static int thread_add_tls(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    size_t *bytes = context;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *bytes += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

/* The C library puts thread-local variables at the top of a thread's stack. A host's large ones are
 * added to our size. */
static int thread_attributes(pthread_attr_t *attributes, int detach_state)
{
    int failed = pthread_attr_init(attributes);
    if (failed)
        return failed;
    size_t bytes = (size_t)crest_atomic_load(&thread_stack_bytes) * THREAD_STACK_TIMES;
    dl_iterate_phdr(thread_add_tls, &bytes);
    pthread_attr_setdetachstate(attributes, detach_state);
    /* refused where the system wants more; then its default is used */
    pthread_attr_setstacksize(attributes, (bytes + THREAD_STACK_ROUND) & ~THREAD_STACK_ROUND);
    return 0;
}

/* A thread inherits its creator's mask: signals are blocked from its first instruction on. */
static int thread_make(pthread_t *thread, int detach_state, void *(*run)(void *), void *context)
{
    if (crest_threads_forbidden())
        return EPERM;
    pthread_attr_t attributes;
    int failed = thread_attributes(&attributes, detach_state);
    if (failed)
        return failed;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, &attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

int crest_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    return thread_make(thread, PTHREAD_CREATE_JOINABLE, run, context);
}

int crest_thread_detach(pthread_t *thread, void *(*run)(void *), void *context)
{
    pthread_t unseen;
    return thread_make(thread != NULL ? thread : &unseen, PTHREAD_CREATE_DETACHED, run, context);
}
