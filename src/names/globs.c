/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching names with patterns. See globs.h.
 */
#include "names/globs.h"

#include <stddef.h>
#include <string.h>

static const char *const globs_separators = " \t\r\n:";

/* Matches one pattern of `length` bytes against the whole name. Only the last '*' reached needs
 * backtracking: the part before it has matched as early as possible. */
static int globs_match_one(const char *glob, size_t length, const char *name)
{
    const char *end = glob + length, *star = NULL, *again = NULL;
    while (*name != '\0') {
        if (glob < end && *glob == '*') {
            star = ++glob;
            again = name;
        } else if (glob < end && (*glob == '?' || *glob == *name)) {
            glob++;
            name++;
        } else if (star != NULL) {
            glob = star;
            name = ++again;
        } else {
            return 0;
        }
    }
    while (glob < end && *glob == '*')
        glob++;
    return glob == end;
}

int crest_globs_match(const char *globs, const char *name)
{
    while (globs != NULL && *(globs += strspn(globs, globs_separators)) != '\0') {
        size_t length = strcspn(globs, globs_separators);
        if (globs_match_one(globs, length, name))
            return 1;
        globs += length;
    }
    return 0;
}

int crest_globs_empty(const char *globs)
{
    return globs == NULL || globs[strspn(globs, globs_separators)] == '\0';
}
