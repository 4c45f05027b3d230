/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names and units that metrics are sent with by OTLP: such that Prometheus, by its default
 * translation, makes the page's names of them. A pure function of canonical name, kind and unit.
 *
 * A name is the first of these that is translated so:
 *
 *     1. the canonical name, with the unit         "casper.add-block-time" in "s"
 *     2. the page's name without _total, with it   "a_seconds_b_seconds" in "s"
 *     3. the same, without a unit                  "a_ratio_b_ratio"
 *
 * Some names no name gives, as the translation joins underscores and takes a "total" out of a
 * counter's middle. Then it is the second. docs/otel.md lists them.
 *
 * Source: the package otlptranslator of Prometheus 3.16, UnderscoreEscapingWithSuffixes.
 */
#ifndef CREST_OTLP_NAMES_H
#define CREST_OTLP_NAMES_H

#include "names/names.h"

typedef struct crest_otlp_name {
    char text[CREST_EXPORTED_BYTES_MAX];
    size_t length;
    const char *unit; /* in UCUM: "s", "By", "1" or ""; a constant text */
} crest_otlp_name;

/* Fills *name. `qualifier` is a window's result's, or NULL. */
void crest_otlp_name_of(crest_otlp_name *name, const char *canonical, crest_kind kind,
                        crest_unit unit, const char *qualifier);

/* What Prometheus makes of a name that has letters, digits, '.', '-', '_' only, cut to `size`;
 * returns the uncut length. `counter`, `gauge`: of a monotonic sum; of a gauge. */
size_t crest_otlp_translated(const char *name, const char *ucum, int counter, int gauge, char *text,
                             size_t size);

#endif
