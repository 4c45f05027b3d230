/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of OpenTelemetry's environment variables: key=value,key=value. Blanks around keys and
 * values go; %XX in a value is a byte; what follows a ';' behind a value (W3C Baggage's properties)
 * is ignored. Pure functions but for the memory.
 *
 *     crest_otlp_pairs pairs = {.count = 0};
 *     crest_status status = crest_otlp_pairs_read("team=a%20b,zone=eu", &pairs, &problem);
 *     ... pairs.labels[0].key, pairs.labels[0].value ...
 *     crest_otlp_pairs_fini(&pairs);
 *
 * Source: OpenTelemetry's specification, "Specifying resource information via an environment
 * variable" and the exporters' "Specifying headers via environment variables".
 */
#ifndef CREST_REPORTERS_OTLP_PAIRS_H
#define CREST_REPORTERS_OTLP_PAIRS_H

#include <crest/page.h>

/* Pairs of a list. */
#define CREST_OTLP_PAIRS_MAX 64u

typedef struct crest_otlp_pairs {
    char *text; /* that the labels point into; NULL: none */
    crest_page_label labels[CREST_OTLP_PAIRS_MAX];
    unsigned count;
} crest_otlp_pairs;

/* Reads a list; of one key given twice, the last stands. CREST_OK; CREST_INVALID_ARGUMENT with what
 * is wrong in *problem (a constant text), and no pairs, because half of a list would be a guess;
 * CREST_NO_MEMORY. `pairs` is overwritten. */
crest_status crest_otlp_pairs_read(const char *list, crest_otlp_pairs *pairs, const char **problem);

/* The value of a key; NULL if there is none. */
const char *crest_otlp_pairs_find(const crest_otlp_pairs *pairs, const char *key);

/* Wipes and frees the text, which may hold secrets. */
void crest_otlp_pairs_fini(crest_otlp_pairs *pairs);

#endif
