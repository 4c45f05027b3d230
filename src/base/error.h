/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/status.h>: clearing errors, and where the log goes.
 */
#ifndef CREST_BASE_ERROR_H
#define CREST_BASE_ERROR_H

#include <crest/status.h>

/* CREST_OK and no text; NULL does nothing. */
void crest_error_clear(crest_error *error);

/* Adds one more failure to those in *all, cut to fit; `name` (NULL: none) says what failed. The
 * status stays that of the first failure. */
void crest_error_add(crest_error *all, const char *name, const crest_error *one);

/* Whether messages go anywhere. Those told once per process wait until they do. */
int crest_log_wanted(void);

/* Whether messages go to standard error as long as the program has not called crest_log_to. */
void crest_log_standard_error(int on);

#endif
