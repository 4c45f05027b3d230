/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the arguments of crest_system_start, before anything is done. See system_groups.h.
 */
#include "system/system_groups.h"
#include "base/error.h"
#include "base/utf8.h"
#include "system/collectors.h"

#include <crest/system.h>
#include <string.h>

#define SYSTEM_GROUPS_SEPARATORS " \t:"
/* Bytes of the list of all groups, and of an unknown group as it is shown. */
#define SYSTEM_GROUPS_BYTES 400u
#define SYSTEM_GROUPS_SHOWN_BYTES 64u

static const crest_collector_kind *const system_groups_kinds[] = {
#define SYSTEM_GROUPS_KIND(name) &name,
    CREST_COLLECTOR_TABLE(SYSTEM_GROUPS_KIND)
#undef SYSTEM_GROUPS_KIND
};
#define SYSTEM_GROUPS_KINDS (sizeof system_groups_kinds / sizeof *system_groups_kinds)

/* The next name of the list; 0 at the end. */
static size_t system_groups_next(const char **at)
{
    *at += strspn(*at, SYSTEM_GROUPS_SEPARATORS);
    return strcspn(*at, SYSTEM_GROUPS_SEPARATORS);
}

static int system_groups_same(const char *name, size_t length, const char *group)
{
    return strlen(group) == length && memcmp(name, group, length) == 0;
}

static int system_groups_all(const char *groups)
{
    if (groups == NULL)
        return 1;
    size_t length = system_groups_next(&groups);
    const char *rest = groups + length;
    return system_groups_same(groups, length, "on") && system_groups_next(&rest) == 0;
}

int crest_system_groups_have(const char *groups, const char *group)
{
    if (system_groups_all(groups))
        return 1;
    for (size_t length; (length = system_groups_next(&groups)) != 0; groups += length)
        if (system_groups_same(groups, length, group))
            return 1;
    return 0;
}

static int system_groups_known(const char *name, size_t length)
{
    for (size_t i = 0; i < SYSTEM_GROUPS_KINDS; i++)
        if (system_groups_same(name, length, system_groups_kinds[i]->group))
            return 1;
    return 0;
}

/* Lists all groups; a group of several collectors once. */
static void system_groups_list(char text[SYSTEM_GROUPS_BYTES])
{
    size_t used = 0;
    const char *before = "";
    for (size_t i = 0; i < SYSTEM_GROUPS_KINDS; i++) {
        const char *group = system_groups_kinds[i]->group;
        size_t length = strlen(group);
        if (strcmp(group, before) == 0 || used + length + 2 > SYSTEM_GROUPS_BYTES)
            continue;
        if (used != 0)
            text[used++] = ' ';
        memcpy(text + used, group, length);
        used += length;
        before = group;
    }
    text[used] = '\0';
}

static crest_status system_groups_check(const char *groups, crest_error *error)
{
    if (system_groups_all(groups))
        return CREST_OK;
    char known[SYSTEM_GROUPS_BYTES], shown[SYSTEM_GROUPS_SHOWN_BYTES];
    unsigned count = 0;
    system_groups_list(known);
    for (size_t length; (length = system_groups_next(&groups)) != 0; groups += length, count++) {
        if (system_groups_known(groups, length))
            continue;
        char name[SYSTEM_GROUPS_SHOWN_BYTES] = "";
        memcpy(name, groups, length < sizeof name ? length : sizeof name - 1);
        crest_utf8_copy(name, shown, sizeof shown, NULL);
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "there are no collectors \"%s\"; there are on (all), or some of: %s",
                               shown, known);
    }
    if (count != 0)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "no collectors are named; write on (all), or some of: %s", known);
}

static crest_status system_groups_check_text(const char *what, const char *text, size_t most,
                                             crest_error *error)
{
    if (text == NULL || strlen(text) <= most)
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "%s of the collectors: longer than %zu "
                           "bytes",
                           what, most);
}

static crest_status system_groups_check_path(const char *what, const char *path, crest_error *error)
{
    if (path != NULL && path[0] != '/')
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s of the collectors is to be an absolute path, which \"%.64s\" "
                               "is not",
                               what, path);
    return system_groups_check_text(what, path, CREST_SYSTEM_PATH_BYTES_MAX, error);
}

static crest_status system_groups_check_ms(const char *what, uint32_t ms, crest_error *error)
{
    if (ms == 0 || (ms >= CREST_SYSTEM_INTERVAL_MS_MIN && ms <= CREST_SYSTEM_INTERVAL_MS_MAX))
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "the %s of the collectors, %u ms, is not between %u ms and %u s", what,
                           ms, CREST_SYSTEM_INTERVAL_MS_MIN, CREST_SYSTEM_INTERVAL_MS_MAX / 1000);
}

crest_status crest_system_check(const crest_system_options *options, crest_error *error)
{
    crest_error_clear(error);
    if (options == NULL)
        return CREST_OK;
    crest_status status = system_groups_check(options->groups, error);
    if (status == CREST_OK)
        status = system_groups_check_path("the root of /proc", options->proc, error);
    if (status == CREST_OK)
        status = system_groups_check_path("the root of /sys", options->sys, error);
    if (status == CREST_OK)
        status = system_groups_check_text("the mounts left out", options->mounts_exclude,
                                          CREST_SYSTEM_GLOBS_BYTES_MAX, error);
    if (status == CREST_OK)
        status = system_groups_check_text("the interfaces left out", options->interfaces_exclude,
                                          CREST_SYSTEM_GLOBS_BYTES_MAX, error);
    if (status == CREST_OK)
        status = system_groups_check_text("the devices left out", options->devices_exclude,
                                          CREST_SYSTEM_GLOBS_BYTES_MAX, error);
    if (status == CREST_OK)
        status = system_groups_check_ms("interval", options->interval_ms, error);
    if (status == CREST_OK)
        status = system_groups_check_ms("slow interval", options->slow_interval_ms, error);
    return status;
}
