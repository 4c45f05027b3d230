/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a dead run. See adopted_report.h. */
#define _GNU_SOURCE
#include "adopt/adopted_report.h"
#include <crest/state.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes of ".last.16.prom.new". */
#define REPORT_NAME_BYTES (CREST_STATE_NAME_BYTES + 32)

static int report_bytes(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) != length;
}

/* The page behind a line about the process; 0 with errno if it did not get there whole. */
static int report_page(const crest_remains *remains, FILE *to)
{
    crest_remains_about about;
    crest_error error;
    crest_remains_tell(remains, &about);
    fprintf(to, "# The last figures of pid %llu, whose last heartbeat was at %llu.%03llu s.\n",
            (unsigned long long)about.pid, (unsigned long long)(about.beat_wall_ns / 1000000000),
            (unsigned long long)(about.beat_wall_ns / 1000000 % 1000));
    return crest_remains_write(remains, CREST_FORMAT_PROMETHEUS_TEXT, report_bytes, to, &error) ==
               CREST_OK &&
           fflush(to) == 0;
}

static int report_file(const crest_remains *remains, const char *path)
{
    (void)unlink(path); /* of a start that was killed here */
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *to = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (to == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return 0;
    }
    int whole = report_page(remains, to), why = errno;
    whole &= fclose(to) == 0;
    if (!whole)
        errno = why != 0 ? why : EIO;
    return whole;
}

int crest_adopt_report(const crest_state_place *place, const char *file, unsigned rank)
{
    char number[16] = "", name[REPORT_NAME_BYTES], dead[PATH_MAX], made[PATH_MAX], path[PATH_MAX];
    crest_remains *remains;
    crest_error error;
    if (rank > 1)
        snprintf(number, sizeof number, ".%u", rank);
    crest_state_place_path(place, file, dead, sizeof dead);
    snprintf(name, sizeof name, "%s.last%s.prom", place->name, number);
    crest_state_place_path(place, name, path, sizeof path);
    snprintf(name, sizeof name, "%s.last%s.prom.new", place->name, number);
    crest_state_place_path(place, name, made, sizeof made);
    errno = 0;
    if (crest_remains_read(dead, &remains, &error) != CREST_OK)
        return 0;
    int whole = report_file(remains, made) && rename(made, path) == 0;
    int why = errno;
    if (!whole)
        (void)unlink(made);
    crest_remains_free(remains);
    errno = why;
    return whole;
}
