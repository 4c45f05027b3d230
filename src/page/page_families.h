/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of a page: their names and headers, and which are wanted.
 *
 * The two formats call some of them differently. A counter's samples are X_total in both; its
 * family is X_total in text 0.0.4 and X in OpenMetrics.
 */
#ifndef CREST_PAGE_FAMILIES_H
#define CREST_PAGE_FAMILIES_H

#include "base/buffer.h"
#include "names/names.h"
#include "page/page_source.h"

/* Labels of crest_target_info, at most. */
#define CREST_TARGET_LABELS_MAX 64u
/* Its family in OpenMetrics, its name, and its HELP. */
#define CREST_TARGET_FAMILY "crest_target"
#define CREST_TARGET_INFO CREST_TARGET_FAMILY "_info"
#define CREST_TARGET_HELP "What this process is; always 1. [crest.target-info]"

/* A page under way. */
typedef struct crest_page {
    const crest_page_source *source;
    const crest_snapshot *snapshot;
    const crest_page_options *options;
    crest_buffer *out;
    size_t size; /* number of series in the snapshot */
    int openmetrics;
    unsigned window_count; /* of the windows that the page has */
    unsigned window_s[CREST_WINDOWS_MAX];
} crest_page;

typedef struct crest_page_family {
    char name[CREST_EXPORTED_BYTES_MAX]; /* in OpenMetrics: the beginning of its samples' names */
    size_t length;
    crest_unit unit;
    const char *type;     /* in text 0.0.4 */
    const char *computed; /* "": the metric itself; else how HELP begins, by the window */
} crest_page_family;

/* Fills the metric's own family. */
void crest_page_family_main(crest_page_family *family, const crest_page_metric *metric);
/* Fills the family of a gauge that a window computes of the metric. */
void crest_page_family_window(crest_page_family *family, const crest_page_metric *metric,
                              const char *qualifier, const char *computed);

/* Whether the page wants the family: all if no names were given. */
int crest_page_wants(const crest_page *page, const crest_page_family *family);
/* The same for a name without suffixes and one with. */
int crest_page_wants_either(const crest_page *page, const char *name, const char *other);

/* Whether every client of Prometheus exports the family, with the same HELP. */
int crest_page_family_is_standard(const crest_page_family *family);

/* The unit at the end of the family's name; "" if there is none. */
const char *crest_page_family_unit(const crest_page_family *family);

/* Chooses the page's windows: all of the snapshot, or only the first, the shortest. A reader can
 * take extremes of longer windows from those of several pages. */
void crest_page_choose_windows(crest_page *page);
/* Whether the page wants what windows compute of metrics of this kind. */
int crest_page_wants_windows(const crest_page *page, crest_kind kind);

/* Puts the header: HELP and TYPE, or TYPE, UNIT and HELP. */
void crest_page_put_header(const crest_page *page, const crest_page_family *family,
                           const crest_page_metric *metric);

/* Converts a double from the metric's unit to its base unit. */
double crest_page_in_base_unit(double value, crest_unit unit);

#endif
