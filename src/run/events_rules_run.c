/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of events from options and from a file that may change. See events_rules_run.h.
 */
#define _GNU_SOURCE
#include "run/events_rules_run.h"
#include "base/atomic.h"
#include "events/event_log.h"
#include "events/event_rules.h"
#include "events/event_rules_now.h"
#include "windows/tick_listeners.h"
#include <crest/family.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_RULES "events.rules"
#define EVENTS_RULES_FILE "events.rules-file"
#define EVENTS_RULES_ORIGIN_BYTES 300u

CREST_COUNTER_FAMILY(events_rules_read, "crest.event-rules",
                     "Readings of the file of events' rules, by how they went.", result);

/* The file, once a start has named one. Starts write it, one at a time; ticks read it. */
static char events_rules_path[PATH_MAX];
static uint64_t events_rules_watched;
static struct stat events_rules_seen;

/* Reads the file into `text`, which has a byte more than rules may have. 0, or an errno. */
static int events_rules_load(const char *path, char *text, struct stat *seen)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), failed = 0;
    size_t used = 0;
    if (file < 0)
        return errno;
    if (fstat(file, seen) != 0)
        failed = errno;
    else if (!S_ISREG(seen->st_mode))
        failed = EINVAL;
    for (ssize_t got = 1; !failed && got > 0 && used <= CREST_EVENT_RULES_BYTES_MAX;
         used += (size_t)(got > 0 ? got : 0)) {
        got = read(file, text + used, CREST_EVENT_RULES_BYTES_MAX + 1 - used);
        if (got < 0)
            failed = errno;
    }
    close(file);
    text[used] = '\0';
    if (!failed && strlen(text) != used)
        failed = EILSEQ;
    return failed;
}

static crest_status events_rules_unread(const char *path, int failed, crest_error *error)
{
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "the file of events' rules %.200s cannot be read: %s", path,
                           failed == EINVAL   ? "it is no regular file"
                           : failed == EILSEQ ? "it has a NUL, and is no text"
                                              : strerror(failed));
}

/* Reads the file's rules, and puts them in force if that is asked for. */
static crest_status events_rules_from_file(const char *path, int use, struct stat *seen,
                                           crest_error *error)
{
    char text[CREST_EVENT_RULES_BYTES_MAX + 2], origin[EVENTS_RULES_ORIGIN_BYTES];
    crest_event_rules *rules;
    int failed = events_rules_load(path, text, seen);
    if (failed)
        return events_rules_unread(path, failed, error);
    snprintf(origin, sizeof origin, "in %.250s", path);
    if (use)
        return crest_event_rules_use(text, origin, error);
    crest_status status = crest_event_rules_parse(text, origin, &rules, error);
    crest_event_rules_free(rules);
    return status;
}

static crest_status events_rules_from_option(const crest_options *options, int use,
                                             crest_error *error)
{
    char origin[EVENTS_RULES_ORIGIN_BYTES];
    crest_event_rules *rules;
    const char *text = crest_option(options, EVENTS_RULES);
    snprintf(origin, sizeof origin, "of " EVENTS_RULES " %.250s",
             crest_option_origin(options, EVENTS_RULES));
    if (use)
        return crest_event_rules_use(text, origin, error);
    crest_status status = crest_event_rules_parse(text, origin, &rules, error);
    crest_event_rules_free(rules);
    return status;
}

static crest_status events_rules_apply_options(const crest_options *options, int use,
                                               struct stat *seen, crest_error *error)
{
    const char *path = crest_option(options, EVENTS_RULES_FILE);
    int given = crest_option(options, EVENTS_RULES) != NULL;
    if (path != NULL && path[0] != '\0' && given)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               EVENTS_RULES " %s and " EVENTS_RULES_FILE
                                            " %s are both given: write all rules into the file",
                               crest_option_origin(options, EVENTS_RULES),
                               crest_option_origin(options, EVENTS_RULES_FILE));
    if (given)
        return events_rules_from_option(options, use, error);
    if (path == NULL || path[0] == '\0')
        return CREST_OK;
    if (strlen(path) >= sizeof events_rules_path)
        return events_rules_unread(path, ENAMETOOLONG, error);
    return events_rules_from_file(path, use, seen, error);
}

crest_status crest_events_rules_check(const crest_options *options, crest_error *error)
{
    struct stat seen;
    return events_rules_apply_options(options, 0, &seen, error);
}

crest_status crest_events_rules_start(const crest_options *options, crest_error *error)
{
    const char *path = crest_option(options, EVENTS_RULES_FILE);
    crest_atomic_store(&events_rules_watched, 0);
    crest_status status = events_rules_apply_options(options, 1, &events_rules_seen, error);
    if (status == CREST_OK && path != NULL && path[0] != '\0') {
        snprintf(events_rules_path, sizeof events_rules_path, "%s", path);
        /* release: partner of the acquire load in events_rules_look */
        crest_atomic_store_release(&events_rules_watched, 1);
    }
    crest_on_tick(crest_events_rules_tick);
    return status;
}

/* Reads the file again if it is another one, or was written. */
static void events_rules_look(void)
{
    struct stat now;
    crest_error error;
    if (!crest_atomic_load_acquire(&events_rules_watched) || stat(events_rules_path, &now) != 0)
        return; /* it may be just being replaced */
    if (now.st_dev == events_rules_seen.st_dev && now.st_ino == events_rules_seen.st_ino &&
        now.st_size == events_rules_seen.st_size &&
        now.st_mtim.tv_sec == events_rules_seen.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == events_rules_seen.st_mtim.tv_nsec)
        return;
    events_rules_seen = now;
    if (events_rules_from_file(events_rules_path, 1, &events_rules_seen, &error) == CREST_OK) {
        crest_counter_inc(events_rules_read_with("applied"));
        crest_log_write(CREST_LOG_INFO, "crest: the rules of events in %s are in force",
                        events_rules_path);
        return;
    }
    crest_counter_inc(events_rules_read_with("refused"));
    crest_log_write(CREST_LOG_WARNING, "crest: %s; the rules that were in force stay",
                    error.message);
}

void crest_events_rules_tick(void)
{
    events_rules_look();
    crest_event_limits_tell();
    crest_event_log_turn();
}

void crest_events_rules_stop(void)
{
    crest_atomic_store(&events_rules_watched, 0);
    crest_event_limits_tell();
    crest_event_log_end();
}
