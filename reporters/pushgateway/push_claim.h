/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which groups this process and those it was forked from push to. A fork's child that pushed to its
 * parent's group would replace what the parent pushed, and the other way round; so it is refused.
 *
 *     crest_push_claim *claim = NULL;
 *     if (crest_push_claim_take(&claim, group, shown, &error) == CREST_OK) ... push ...
 *     crest_push_claim_release(&claim);
 *
 * Children see a claim that was made before their fork as another process's, until that process has
 * gone. They do not see later claims, nor those of a program that was executed.
 */
#ifndef CREST_REPORTERS_PUSH_CLAIM_H
#define CREST_REPORTERS_PUSH_CLAIM_H

#include <crest/status.h>

typedef struct crest_push_claim crest_push_claim;

/* Claims the group (its whole address, without user and password; copied) in place of what *claim
 * held, which may be NULL. CREST_REFUSED, with a message about `shown`, when a living process that
 * this one descends from has it; CREST_NO_MEMORY. *claim is unchanged then. Thread-safe. */
crest_status crest_push_claim_take(crest_push_claim **claim, const char *group, const char *shown,
                                   crest_error *error);

/* Gives it up; NULL does nothing. In the child of a fork, what its parent claimed stays. */
void crest_push_claim_release(crest_push_claim **claim);

#endif
