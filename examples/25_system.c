/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel knows of the process and the machine: collectors, started by an option. They run
 * with each snapshot, so a page, a push and this reading show what stands at that moment. A figure
 * that cannot be read here is not exported, and the list says why.
 */
#include <crest/crest.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A counter of the process; a page or a push reads all of them like this. */
static double counter(const char *name, const char *value)
{
    const char *const values[] = {value};
    crest_series_view view = {.counter = 0};
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_status status = crest_snapshot_find(snapshot, name, values, value != NULL, &view);
    crest_snapshot_free(snapshot);
    return status == CREST_OK ? (double)view.counter : -1;
}

static const char *grows(const char *name, const char *value, double before)
{
    /* on a very busy machine a collector may be too late for one snapshot, and is in the next */
    for (int tries = 0; tries < 100; tries++)
        if (counter(name, value) > before)
            return "yes";
    return "no";
}

static void work(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 50;
    while (clock() < end)
        continue;
    for (int i = 0; i < 5; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

int main(void)
{
    crest_error error;
    if (crest_start("system=process:cpus", &error) != CREST_OK)
        printf("%.73s\n", error.message); /* it goes on with the groups that exist */
    if (crest_start("system=process,atexit=off", &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    double cpu = counter("process.cpu", NULL);
    double switches = counter("process.context-switches", "voluntary");
    work();
    printf("processor time grows: %s\n", grows("process.cpu", NULL, cpu));
    printf("voluntary switches grow: %s\n",
           grows("process.context-switches", "voluntary", switches));
    printf("a second set of collectors: %s\n",
           crest_system_start(NULL, &error) == NULL ? crest_status_text(error.status) : "runs");
    crest_stop(1000, NULL);
    printf("after the stop: %s\n", counter("process.cpu", NULL) < 0 ? "not shown" : "still there");

    /* the same by hand: in a registry of the program's own, and each collector's state */
    crest_registry *own = crest_registry_new(NULL);
    crest_system_options options = {.registry = own, .groups = "process", .proc = "/nowhere"};
    crest_system *system = crest_system_start(&options, &error);
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    do {
        crest_snapshot_free(crest_snapshot_take(own));
        crest_system_list(system, states, CREST_SYSTEM_COLLECTORS_MAX);
    } while (states[0].collections == 0);
    printf("%s, without /proc: %u series; %s\n", states[0].name, states[0].series, states[0].why);
    crest_system_stop(system);
    crest_registry_free(own);
    return 0;
}
