/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: which canonical names and label keys are valid, and the names that a metric is exported
 * under. Exported names are a pure function of canonical name, kind and unit, so two processes, and
 * the documentation, always agree. crest_exported_name itself is public, in <crest/page.h>.
 *
 * Which names are in use is the registry's business.
 */
#ifndef CREST_NAMES_H
#define CREST_NAMES_H

#include <crest/page.h>

/* A canonical name, the longest ending and the final NUL. */
#define CREST_EXPORTED_BYTES_MAX (CREST_NAME_BYTES_MAX + 40u)
/* Exported names of one metric, without names that windows derive. */
#define CREST_EXPORTED_CLAIMS_MAX 5u
/* Enough for any text of the checks below. */
#define CREST_NAMES_WHY_BYTES 200u

/* Whether what is recorded into this kind is a distribution; of a timer, durations. */
static inline int crest_kind_is_distribution(crest_kind kind)
{
    return kind == CREST_KIND_HISTOGRAM || kind == CREST_KIND_TIMER;
}

/*
 * Whether a canonical name, prefix included, is valid:
 *  - words of letters, digits and _, joined by single dots and dashes;
 *  - a letter first, at most CREST_NAME_BYTES_MAX bytes;
 *  - not a name that Prometheus, the Pushgateway or the page itself adds.
 * CREST_OK or CREST_INVALID_NAME; `why` (may be NULL) then says what is wrong with it, as the end
 * of a sentence ("it has two separators in a row, at byte 5").
 */
crest_status crest_name_check(const char *name, char *why, size_t size);

/*
 * Whether a label key of a family is valid: a letter, then letters, digits and _, at most
 * CREST_LABEL_KEY_BYTES_MAX bytes; not le, quantile, outcome, job or instance, which exporters use.
 * CREST_OK or CREST_INVALID_LABEL, and `why` as above.
 */
crest_status crest_label_key_check(const char *key, char *why, size_t size);

/* The same for the labels of a single series, where no key is reserved. */
crest_status crest_label_key_syntax(const char *key, char *why, size_t size);

/* All keys of a family: each valid, no two the same, at most CREST_LABELS_MAX. */
crest_status crest_label_keys_check(const char *const *keys, unsigned count, char *why,
                                    size_t size);

/* The unit's exported name: "seconds", "bytes", "ratio"; "" for CREST_NONE. */
const char *crest_unit_suffix(crest_unit unit);

/* The power of ten by which values of the unit are divided to give the base unit: 9 for
 * nanoseconds. */
unsigned crest_unit_decimals(crest_unit unit);

/* The unit of a metric: always nanoseconds for a timer, whatever its options say. */
crest_unit crest_unit_of(crest_kind kind, crest_unit unit);

/* The canonical name with dots and dashes as _, cut to size; returns the uncut length. */
size_t crest_exported_base(const char *canonical, char *text, size_t size);

/* The part of an exported name in front of the qualifier; returns its length. */
size_t crest_exported_stem(const char *canonical, crest_kind kind, crest_unit unit, char *text,
                           size_t size);

/*
 * Every name that a metric takes on a page of any format, except those that windows derive
 * (name_claims.h): its family's and its samples'. Writes at most `max` (CREST_EXPORTED_CLAIMS_MAX
 * is always enough); returns how many there are. Two metrics that claim the same name must not live
 * in one registry.
 */
unsigned crest_exported_claims(const char *canonical, crest_kind kind, crest_unit unit,
                               char (*names)[CREST_EXPORTED_BYTES_MAX], unsigned max);

#endif
