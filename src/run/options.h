/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as text: key=value, read from a string and from files, kept sorted by key. Each has the
 * place that it came from, so that every message can name it. Their readers know what the keys
 * mean. The public half (crest_option and its relatives) is in <crest/reporter.h>.
 *
 *     crest_options *options = crest_options_new();
 *     crest_options_add(options, text, "in the string given to crest_start", &error);
 *     crest_options_add(options, getenv("CREST_OPTS"), "in CREST_OPTS", &error);
 *     crest_options_check_keys(options, known, known_count, &error);
 *
 * The grammar is told in <crest/run.h>. A later option replaces an earlier one of the same key. Not
 * thread-safe: one owner at a time.
 */
#ifndef CREST_OPTIONS_H
#define CREST_OPTIONS_H

#include "reporting/reporter_kinds.h"

#include <crest/run.h>

/* The most options, and the most bytes of a value after ${...} is replaced. Those of a key are
 * bounded by CREST_OPTION_KEY_BYTES_MAX. */
#define CREST_OPTION_COUNT_MAX 256u
#define CREST_OPTION_VALUE_BYTES_MAX 8192u
/* A duration of more than ten years is taken for a typing error. */
#define CREST_OPTION_DURATION_MS_MAX UINT64_C(315360000000)
/* Names that crest_option_name_add takes, at most. */
#define CREST_OPTION_NAMES_MAX 8u

/* NULL when there is no memory. */
crest_options *crest_options_new(void);

/*
 * Reads the options in `text` (NULL: none) on top of those already there. `origin` says where the
 * text is from, in words that can follow an option's name ("in CREST_OPTS"); copied.
 * CREST_INVALID_OPTIONS (also for a file that cannot be read) or CREST_NO_MEMORY; what came before
 * the failure has been read.
 */
crest_status crest_options_add(crest_options *options, const char *text, const char *origin,
                               crest_error *error);

/* Sets an option; key and value are copied, an earlier value is replaced. CREST_INVALID_OPTIONS
 * beyond CREST_OPTION_COUNT_MAX, or CREST_NO_MEMORY. */
crest_status crest_options_set(crest_options *options, const char *key, const char *value,
                               const char *origin, crest_error *error);

/* The view of the reporter KIND@NAME: its own options under the kind's name alone, those of no
 * particular reporter, and none of others of its kind. The caller frees it; NULL without memory. */
crest_options *crest_options_view(const crest_options *options, const char *reporter);

/*
 * Checks keys: CREST_INVALID_OPTIONS for the first option with an unknown key. A known key that
 * ends with a dot stands for all longer ones that begin with it; KIND@NAME stands for KIND. The
 * message says where the option is from and what was probably meant, or which library to link with.
 */
crest_status crest_options_check_keys(const crest_options *options, const char *const *known,
                                      size_t known_count, crest_error *error);

/* The keys of the added names, NAME and NAME., two for each, in the order of adding; static.
 * Returns how many. Thread-safe. */
size_t crest_option_name_keys(const char *keys[2 * CREST_OPTION_NAMES_MAX]);

/* As crest_option_duration_ms, for a number from 0 to 1. */
crest_status crest_option_fraction(const crest_options *options, const char *key, double *value,
                                   crest_error *error);

/* The same for a whole number of bytes, bare or with KiB, MiB or GiB behind it, from `least` to
 * `most`; `what` says what is expected. */
crest_status crest_option_bytes(const crest_options *options, const char *key, uint64_t least,
                                uint64_t most, const char *what, uint64_t *value,
                                crest_error *error);

#endif
