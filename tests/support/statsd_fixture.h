/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the StatsD reporter: gathers lines into one text, and finds values in it.
 */
#ifndef CREST_TEST_STATSD_FIXTURE_H
#define CREST_TEST_STATSD_FIXTURE_H

#include "statsd/statsd_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/thread_asserts.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

typedef struct gathered {
    char *text; /* every line with a line feed */
    size_t length;
    unsigned lines, stop_at; /* 0: never */
    uint64_t done;           /* of the last line */
} gathered;

static inline int gather(void *context, const char *line, size_t length, uint64_t done)
{
    gathered *all = context;
    if (all->stop_at != 0 && all->lines + 1 == all->stop_at)
        return 7;
    all->text = realloc(all->text, all->length + length + 2);
    assert_non_null(all->text);
    memcpy(all->text + all->length, line, length);
    all->length += length;
    all->text[all->length++] = '\n';
    all->text[all->length] = '\0';
    all->lines++;
    assert_true(done >= all->done);
    all->done = done;
    return 0;
}

/* The sum of 1/rate of all values, as a server adds them. */
static inline double said_records(const gathered *all)
{
    double records = 0;
    for (const char *line = all->text; line != NULL && *line != '\0';
         line = strchr(line, '\n') + 1) {
        char one[8192];
        size_t length = (size_t)(strchr(line, '\n') - line);
        assert_true(length < sizeof one);
        memcpy(one, line, length);
        one[length] = '\0';
        char *bar = strchr(one, '|'), *at = strstr(one, "|@");
        assert_non_null(bar);
        double values = 0;
        for (const char *c = one; c < bar; c++)
            values += *c == ':';
        volatile double rate = at != NULL ? strtod(at + 2, NULL) : 1;
        volatile double weight = 1 / rate;
        records += values * weight;
    }
    return records;
}

static inline crest_statsd_identity *identity_new(void)
{
    crest_statsd_identity *identity = malloc(sizeof *identity);
    assert_non_null(identity);
    return identity;
}

#endif
