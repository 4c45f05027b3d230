/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that integration tests drive: a reporter, a command a line on standard input, and
 * one line of answer for each. Commands that each of them has:
 *
 *     push             crest_report_now
 *     state            reports, failures, consecutive ones and the last error
 *     stop             detach
 *     exit STATUS      returns from main without any of that
 */
#ifndef CREST_TESTS_TOLD_PROGRAM_H
#define CREST_TESTS_TOLD_PROGRAM_H

#include <crest/crest.h>
#include <stdio.h>
#include <string.h>

#define TOLD_DEADLINE_MS 20000u

static inline void told_answer(crest_status status, const crest_error *error)
{
#define TOLD_STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(TOLD_STATUS_NAME)};
#undef TOLD_STATUS_NAME
    printf("%s %s\n", names[status], status == CREST_OK ? "" : error->message);
    fflush(stdout);
}

static inline void told_state(const crest_reporter *reporter)
{
    crest_reporter_state state;
    if (crest_reporter_status(reporter, &state) != CREST_OK)
        printf("NOT_FOUND it is not attached\n");
    else
        printf("OK %llu %llu %llu %s\n", (unsigned long long)state.reports,
               (unsigned long long)state.failures, (unsigned long long)state.consecutive_failures,
               state.last_error.message);
    fflush(stdout);
}

/* Attaches the reporter to the default registry with a ticker, to report when it is told to, and
 * answers how that went. `status` is how making it went. */
static inline void told_attach(crest_reporter *reporter, crest_status status, uint64_t timeout_ms,
                               crest_error *error)
{
    const crest_schedule when_told = {
        .interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1, .timeout_ms = timeout_ms};
    if (reporter != NULL && (status = crest_ticker_attach(NULL)) == CREST_OK)
        status = crest_reporter_attach(NULL, reporter, &when_told, error);
    told_answer(status, error);
}

/* Obeys lines until `exit` or the end of input; returns the status to exit with. `obey` has the
 * program's own commands, and returns 0 for a line that is none. */
static inline int told_run(crest_reporter *reporter, int (*obey)(const char *line))
{
    char line[256];
    int status;
    while (fgets(line, sizeof line, stdin) != NULL) {
        crest_error error = {0};
        line[strcspn(line, "\n")] = '\0';
        if (obey(line)) {
            told_answer(CREST_OK, &error);
        } else if (strcmp(line, "push") == 0) {
            told_answer(crest_report_now(reporter, 2 * TOLD_DEADLINE_MS, &error), &error);
        } else if (strcmp(line, "state") == 0) {
            told_state(reporter);
        } else if (strcmp(line, "stop") == 0) {
            told_answer(crest_reporter_detach(reporter, TOLD_DEADLINE_MS, &error), &error);
        } else if (sscanf(line, "exit %d", &status) == 1) {
            return status;
        } else {
            printf("INVALID_ARGUMENT no such command: %s\n", line);
            fflush(stdout);
        }
    }
    return 0;
}

#endif
