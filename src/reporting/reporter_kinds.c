/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of kinds of reporters, and freeing a reporter of any kind. Libraries add their kinds
 * when they are loaded, before main, so the list is plain static memory that only grows. See
 * reporter_kinds.h.
 */
#include "reporting/reporter_kinds.h"
#include "base/atomic.h"
#include "base/uncancelled.h"

#include <pthread.h>
#include <string.h>

/* Guards adding; readers go by the count alone. */
static pthread_mutex_t reporter_kinds_lock = PTHREAD_MUTEX_INITIALIZER;
static const crest_reporter_kind *reporter_kinds_all[CREST_REPORTER_KINDS_MAX];
static uint32_t reporter_kinds_count;

int crest_reporter_kind_name_is_valid(const char *name)
{
    size_t length = strnlen(name, CREST_REPORTER_KIND_BYTES_MAX + 1);
    return length > 0 && length <= CREST_REPORTER_KIND_BYTES_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* Whether the kind has a valid name and valid options of its own. */
static int reporter_kind_is_valid(const crest_reporter_kind *kind)
{
    if (kind == NULL || kind->name == NULL || kind->create == NULL ||
        !crest_reporter_kind_name_is_valid(kind->name))
        return 0;
    size_t length = strlen(kind->name);
    for (const char *const *key = kind->keys; key != NULL && *key != NULL; key++) {
        if (strncmp(*key, kind->name, length) != 0 || (*key)[length] != '.' ||
            (*key)[length + 1] == '\0' || strlen(*key) > CREST_OPTION_KEY_BYTES_MAX)
            return 0;
    }
    return 1;
}

crest_status crest_reporter_kind_add(const crest_reporter_kind *kind)
{
    if (!reporter_kind_is_valid(kind))
        return CREST_INVALID_ARGUMENT;
    pthread_mutex_lock(&reporter_kinds_lock);
    uint32_t count = crest_atomic_load32(&reporter_kinds_count);
    crest_status status = count == CREST_REPORTER_KINDS_MAX ? CREST_LIMIT : CREST_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(reporter_kinds_all[i]->name, kind->name) == 0)
            status = CREST_ALREADY;
    }
    if (status == CREST_OK) {
        reporter_kinds_all[count] = kind;
        /* partner: the acquire load in crest_reporter_kinds */
        crest_atomic_store32_release(&reporter_kinds_count, count + 1);
    }
    pthread_mutex_unlock(&reporter_kinds_lock);
    return status;
}

size_t crest_reporter_kinds(const crest_reporter_kind *kinds[CREST_REPORTER_KINDS_MAX])
{
    uint32_t count = crest_atomic_load32_acquire(&reporter_kinds_count);
    memcpy(kinds, reporter_kinds_all, count * sizeof *kinds);
    return count;
}

void crest_reporter_free(crest_reporter *reporter)
{
    CREST_UNCANCELLED;
    if (reporter != NULL && reporter->free != NULL)
        reporter->free(reporter);
}
