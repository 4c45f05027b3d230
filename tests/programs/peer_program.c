/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that counts, and reports as its options say, to a server of whatever manners. Its
 * driver gives a command a line on standard input, and reads one line of answer for each.
 *
 *     peer_program OPTIONS     crest_start with them
 *
 *     record N      N more events, and N values
 *     begin ID      an operation that goes on
 *     state         reports, failures, consecutive failures, and the last error of the reporter
 *     descriptors   how many are open
 *     stop          crest_stop
 */
#include <crest/crest.h>
#include <crest/run.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_MS 3000u

CREST_COUNTER(events, "peer.events", "Events.");
CREST_HISTOGRAM(sizes, "peer.size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "peer.work-time", "Work.");

static void answer(crest_status status, const char *text)
{
#define STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(STATUS_NAME)};
    printf("%s %s\n", names[status], text);
    fflush(stdout);
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

static int obey(const char *line)
{
    crest_error error = {0};
    crest_reporter_info info = {0};
    char text[CREST_ERROR_BYTES + 100];
    unsigned long long count;
    if (sscanf(line, "record %llu", &count) == 1) {
        for (unsigned long long i = 0; i < count; i++) {
            crest_counter_inc(&events);
            crest_histogram_record(&sizes, 100 + (int64_t)i);
        }
        answer(CREST_OK, "");
    } else if (strncmp(line, "begin ", 6) == 0) {
        crest_timer_begin(&work, crest_op_text(line + 6));
        answer(CREST_OK, "");
    } else if (strcmp(line, "state") == 0) {
        crest_reporter_list(&info, 1);
        snprintf(text, sizeof text, "%llu %llu %llu %s", (unsigned long long)info.state.reports,
                 (unsigned long long)info.state.failures,
                 (unsigned long long)info.state.consecutive_failures,
                 info.state.last_error.message);
        answer(CREST_OK, text);
    } else if (strcmp(line, "descriptors") == 0) {
        snprintf(text, sizeof text, "%u", descriptors());
        answer(CREST_OK, text);
    } else if (strcmp(line, "stop") == 0) {
        answer(crest_stop(STOP_MS, &error), error.message);
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    crest_error error = {0};
    char line[256];
    if (argc != 2) {
        fprintf(stderr, "usage: see the top of tests/programs/peer_program.c\n");
        return 2;
    }
    answer(crest_start(argv[1], &error), error.message);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!obey(line))
            return 0;
    }
    return 0;
}
