/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole report as JSON lines: takes from the snapshots the values that json_line.h writes.
 */
#ifndef CREST_REPORTERS_JSON_REPORT_H
#define CREST_REPORTERS_JSON_REPORT_H

#include <crest/json_lines.h>

/* A report's options: what its lines have beside the values. */
typedef struct crest_json_choice {
    uint64_t number; /* of the report */
    crest_json_buckets buckets;
    int no_windows;
} crest_json_choice;

/* Returns what `write` returned when it stopped it, else 0. */
int crest_json_report_write(const crest_report *report, const crest_json_choice *choice,
                            crest_write_fn *write, void *context);

/* "powers", "all" or "none"; CREST_INVALID_OPTIONS for anything else. Not set: stays as it is. */
crest_status crest_json_report_buckets(const crest_options *options, const char *key,
                                       crest_json_buckets *buckets, crest_error *error);

#endif
