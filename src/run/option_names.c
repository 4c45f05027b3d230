/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as the caller of crest_start gives them, and option names that another library carries
 * out. The public half is in <crest/reporter.h>; see options.h.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/uncancelled.h"
#include "reporting/reporter_kinds.h"
#include "run/options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION_NAMES_IN_STRING "in the string given to crest_start"
#define OPTION_NAMES_IN_ENVIRONMENT "in CREST_OPTS"

/* A registered name: NAME, and NAME. for all keys that begin so. */
typedef struct option_name {
    char itself[CREST_REPORTER_KIND_BYTES_MAX + 1];
    char others[CREST_REPORTER_KIND_BYTES_MAX + 2];
} option_name;

/* Guards adding; readers go by the count alone, and nothing is ever taken away. */
static pthread_mutex_t option_names_lock = PTHREAD_MUTEX_INITIALIZER;
static option_name option_names[CREST_OPTION_NAMES_MAX];
static uint32_t option_names_count;

static int option_name_is_a_kind(const char *name)
{
    const crest_reporter_kind *kinds[CREST_REPORTER_KINDS_MAX];
    size_t count = crest_reporter_kinds(kinds);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return 1;
    return 0;
}

crest_status crest_option_name_add(const char *name)
{
    if (name == NULL || !crest_reporter_kind_name_is_valid(name) || option_name_is_a_kind(name))
        return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&option_names_lock);
    uint32_t count = crest_atomic_load32(&option_names_count);
    int found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= strcmp(option_names[i].itself, name) == 0;
    crest_status status = found || count < CREST_OPTION_NAMES_MAX ? CREST_OK : CREST_LIMIT;
    if (!found && status == CREST_OK) {
        snprintf(option_names[count].itself, sizeof option_names[count].itself, "%s", name);
        snprintf(option_names[count].others, sizeof option_names[count].others, "%s.", name);
        /* partner: the acquire load in crest_option_name_keys */
        crest_atomic_store32_release(&option_names_count, count + 1);
    }
    pthread_mutex_unlock(&option_names_lock);
    return status;
}

size_t crest_option_name_keys(const char *keys[2 * CREST_OPTION_NAMES_MAX])
{
    uint32_t count = crest_atomic_load32_acquire(&option_names_count);
    for (uint32_t i = 0; i < count; i++) {
        keys[2 * i] = option_names[i].itself;
        keys[2 * i + 1] = option_names[i].others;
    }
    return 2 * (size_t)count;
}

crest_status crest_options_read(const char *text, crest_options **options, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_options *read = crest_options_new();
    *options = NULL;
    if (read == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory to keep the options");
    crest_status status = crest_options_add(read, text, OPTION_NAMES_IN_STRING, error);
    /* not getenv: in a program with more rights than its user, @FILE would read files for that
     * user */
    if (status == CREST_OK)
        status = crest_options_add(read, secure_getenv("CREST_OPTS"), OPTION_NAMES_IN_ENVIRONMENT,
                                   error);
    if (status == CREST_OK)
        *options = read;
    else
        crest_options_free(read);
    return status;
}
