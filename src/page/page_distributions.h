/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms and timers on a page: some fifteen lines a series, which differ in a bound and a
 * number.
 *
 *     crest_page_distributions lines;
 *     crest_page_distributions_begin(&lines, page, metric, &family, &bounds);
 *     crest_page_put_distribution(&lines, &row, index);
 */
#ifndef CREST_PAGE_DISTRIBUTIONS_H
#define CREST_PAGE_DISTRIBUTIONS_H

#include "page/page_families.h"
#include "page/page_lines.h"

/* ,le="0.005"} and a space, with a number as long as they get. */
#define CREST_PAGE_LE_BYTES (CREST_NUMBER_BYTES_MAX + 8u)

typedef struct crest_page_text {
    size_t length;
    char text[CREST_PAGE_LE_BYTES + CREST_COPY_PAD];
} crest_page_text;

#define CREST_PAGE_NO_BOUNDS (CREST_BUCKETS_MAX + 1u)

/* Exported buckets as integers to count by, and as lines show them. */
typedef struct crest_page_bounds {
    const double *bounds; /* the bounds that the rest was made of */
    unsigned count;       /* CREST_PAGE_NO_BOUNDS: none yet */
    crest_unit unit;
    int labelled; /* le follows other labels */
    uint64_t limits[CREST_BUCKETS_MAX];
    crest_page_text le[CREST_BUCKETS_MAX + 1]; /* the last is +Inf */
} crest_page_bounds;

/* What the lines of one family share. */
typedef struct crest_page_distributions {
    const crest_page *page;
    const crest_page_metric *metric;
    const crest_page_family *family;
    const crest_page_bounds *bounds;
    unsigned decimals;
    crest_line_form labels;
} crest_page_distributions;

/* Begins the lines of a family. `bounds` is remade unless it was made of the same bounds. All are
 * borrowed as long as lines are put. */
void crest_page_distributions_begin(crest_page_distributions *lines, const crest_page *page,
                                    const crest_page_metric *metric,
                                    const crest_page_family *family, crest_page_bounds *bounds);

/* Puts all lines of the series `index`. */
void crest_page_put_distribution(const crest_page_distributions *lines, const crest_page_row *row,
                                 size_t index);

#endif
