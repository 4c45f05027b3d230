/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the profiler share: a thread's CPU clock, and profiles as folded text.
 *
 *     crest_profile *profile = begin(CREST_PROFILE_CPU);
 *     wait_for_samples(300);
 *     text made = folded(profile);
 *     assert_true(weight(&made, "[a.timer]", "a_function") > 0);
 *     free(made.bytes);
 */
#ifndef CREST_TESTS_PROFILE_FIXTURE_H
#define CREST_TESTS_PROFILE_FIXTURE_H

#include "support/core_fixture.h"

#include <crest/profile.h>

#define PATIENCE_S 200

__attribute__((unused)) static double thread_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

typedef struct text {
    char *bytes;
    size_t used;
} text;

static int text_write(void *context, const void *bytes, size_t length)
{
    text *to = context;
    to->bytes = realloc(to->bytes, to->used + length + 1);
    memcpy(to->bytes + to->used, bytes, length);
    to->used += length;
    to->bytes[to->used] = '\0';
    return 0;
}

__attribute__((unused)) static text folded(crest_profile *profile)
{
    crest_error error = {CREST_OK, ""};
    text made = {calloc(1, 1), 0};
    assert_int_equal(crest_profile_end(profile, &error), CREST_OK);
    assert_int_equal(crest_profile_write(profile, CREST_PROFILE_FOLDED, text_write, &made, &error),
                     CREST_OK);
    crest_profile_free(profile);
    return made;
}

/* The values of the lines that have `part` and, if it is not NULL, `other` in them. */
__attribute__((unused)) static double weight(const text *profile, const char *part,
                                             const char *other)
{
    double sum = 0;
    char *copy = strdup(profile->bytes), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0' && strstr(line, part) != NULL &&
            (other == NULL || strstr(line, other) != NULL))
            sum += atof(strrchr(line, ' ') + 1);
    free(copy);
    return sum;
}

__attribute__((unused)) static crest_profile *begin(crest_profile_kind kind)
{
    crest_error error = {CREST_OK, ""};
    crest_profile *profile = crest_profile_begin(kind, &error);
    assert_string_equal(error.message, "");
    assert_non_null(profile);
    return profile;
}

__attribute__((unused)) static void wait_for_samples(uint64_t samples)
{
    uint64_t until = crest_profiler_status().samples + samples;
    for (int i = 0; i < PATIENCE_S * 100 && crest_profiler_status().samples < until; i++)
        usleep(10000);
    assert_true(crest_profiler_status().samples >= until);
}

#endif
