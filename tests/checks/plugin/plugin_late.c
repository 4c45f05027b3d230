/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows nothing of the library: its threads run already when a plugin brings it in,
 * then record in it, and end after the plugin is gone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 3
#define TIMES 2000

static pthread_barrier_t barrier;
static void (*record)(int times, int with_host);

static void *late_run(void *unused)
{
    pthread_barrier_wait(&barrier); /* running */
    pthread_barrier_wait(&barrier); /* the plugin is there */
    record(TIMES, 0);
    pthread_barrier_wait(&barrier); /* it has been recorded in */
    pthread_barrier_wait(&barrier); /* it is gone */
    return unused;
}

int main(int count, char **paths)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, late_run, NULL) != 0)
            return 2;
    pthread_barrier_wait(&barrier);
    void *plugin = count > 1 ? dlopen(paths[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    record = (void (*)(int, int))(uintptr_t)dlsym(plugin, "plugin_record");
    uint64_t (*counted)(void) = (uint64_t(*)(void))(uintptr_t)dlsym(plugin, "plugin_count");
    if (record == NULL || counted == NULL)
        return 4;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    uint64_t total = counted();
    dlclose(plugin);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++) /* the library's destructor runs in each of them */
        pthread_join(threads[i], NULL);
    if (total != THREADS * TIMES) {
        fprintf(stderr, "%llu instead of %d\n", (unsigned long long)total, THREADS * TIMES);
        return 5;
    }
    puts("ok");
    return 0;
}
