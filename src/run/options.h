/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as text: key=value, read from a string and from files, kept sorted by key, each with the
 * place it came from, so that every message can name it. What the keys mean is their readers'
 * business; the public half (crest_option and its relatives) is in <crest/reporter.h>.
 *
 *     crest_options *options = crest_options_new();
 *     crest_options_add(options, text, "in the string given to crest_start", &error);
 *     crest_options_add(options, getenv("CREST_OPTS"), "in CREST_OPTS", &error);
 *     crest_options_check_keys(options, known, known_count, &error);
 *
 * The grammar is told in <crest/run.h>. Later ones win. Not thread-safe: one owner at a time.
 */
#ifndef CREST_OPTIONS_H
#define CREST_OPTIONS_H

#include "reporting/reporter_kinds.h"

#include <crest/run.h>

/* Options in all, and bytes of a value after ${...} is replaced; those of a key are bounded by
 * CREST_OPTION_KEY_BYTES_MAX. */
#define CREST_OPTION_COUNT_MAX 256u
#define CREST_OPTION_VALUE_BYTES_MAX 8192u
/* A duration of more than ten years is a slip of the finger. */
#define CREST_OPTION_DURATION_MS_MAX UINT64_C(315360000000)
/* Names that crest_option_name_add takes. */
#define CREST_OPTION_NAMES_MAX 8u

/* NULL when there is no memory. */
crest_options *crest_options_new(void);

/*
 * Reads the options in `text` (NULL: none) on top of those there are. `origin` says where the text
 * is from in words that can follow an option's name ("in CREST_OPTS"); copied.
 * CREST_INVALID_OPTIONS (a file that cannot be read included) or CREST_NO_MEMORY; what came before
 * the failure has been read.
 */
crest_status crest_options_add(crest_options *options, const char *text, const char *origin,
                               crest_error *error);

/* Sets an option, all copied; what was there before is forgotten. CREST_INVALID_OPTIONS for one too
 * many, or CREST_NO_MEMORY. */
crest_status crest_options_set(crest_options *options, const char *key, const char *value,
                               const char *origin, crest_error *error);

/* What the reporter KIND@NAME is to see: its own options under the kind's name alone, those that
 * are nobody's in particular, and nothing of others of its kind. To be freed; NULL without memory.
 */
crest_options *crest_options_view(const crest_options *options, const char *reporter);

/*
 * CREST_INVALID_OPTIONS for the first option whose key is none of the known ones (one that ends
 * with a dot stands for all that begin with it and go on; KIND@NAME stands for KIND). The message
 * says where it is from and what was probably meant, or which library to link with.
 */
crest_status crest_options_check_keys(const crest_options *options, const char *const *known,
                                      size_t known_count, crest_error *error);

/* The keys of the names that were added, NAME and NAME., two for each, in the order of adding;
 * static. Returns how many. Thread-safe. */
size_t crest_option_name_keys(const char *keys[2 * CREST_OPTION_NAMES_MAX]);

/* As crest_option_duration_ms, for a number from 0 to 1. */
crest_status crest_option_fraction(const crest_options *options, const char *key, double *value,
                                   crest_error *error);

#endif
