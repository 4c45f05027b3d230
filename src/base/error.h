/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/status.h>: clearing errors, and whether the log is listened to.
 */
#ifndef CREST_BASE_ERROR_H
#define CREST_BASE_ERROR_H

#include <crest/status.h>

/* CREST_OK and no text; NULL does nothing. */
void crest_error_clear(crest_error *error);

/* Whether anybody would see a message: what is told only once waits until somebody listens. */
int crest_log_wanted(void);

#endif
