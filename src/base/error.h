/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/status.h>: clearing errors, and whether the log is listened to.
 */
#ifndef CREST_BASE_ERROR_H
#define CREST_BASE_ERROR_H

#include <crest/status.h>

/* CREST_OK and no text; NULL does nothing. */
void crest_error_clear(crest_error *error);

/* Adds one more failure to those in *all, cut to fit; `name` (NULL: the message itself) says what
 * failed. The status is that of the first. */
void crest_error_add(crest_error *all, const char *name, const crest_error *one);

/* Whether anybody would see a message: what is told only once waits until somebody listens. */
int crest_log_wanted(void);

#endif
