/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/status.h>: writing to the log callback.
 */
#ifndef CREST_BASE_ERROR_H
#define CREST_BASE_ERROR_H

#include <crest/status.h>

/* CREST_OK and no text; NULL does nothing. */
void crest_error_clear(crest_error *error);

/* Whether anybody would see a message: what is told only once waits until somebody listens. */
int crest_log_wanted(void);

/* Hands a message, made as by printf, to the log callback if there is one. Not under a lock, not on
 * the record path. */
void crest_log_write(crest_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
