/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that brings a libcrest of its own, and with -DHOST the program that loads it, records
 * and closes it. Compiled and run by check_install.py. The thread that recorded ends after the
 * plugin was closed, when the library is still asked to give its record back.
 */
#ifdef HOST

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *use_plugin(void *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return path;
    }
    ((void (*)(void))dlsym(plugin, "plugin_record"))();
    dlclose(plugin);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    void *failed = arguments;
    if (count != 2 || pthread_create(&thread, NULL, use_plugin, arguments[1]) != 0)
        return 1;
    pthread_join(thread, &failed);
    return failed != NULL;
}

#else

#include <crest/crest.h>

CREST_COUNTER(plugin_calls, "plugin.calls-made", "Calls of the plugin.");

void plugin_record(void);
void plugin_record(void)
{
    crest_counter_inc(&plugin_calls);
}

#endif
