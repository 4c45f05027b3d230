/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the descriptors 0, 1 and 2 taken while another library opens some that it keeps, so that
 * these come to lie above. Crest's own descriptors go through crest_reporter_descriptor, which does
 * not need this.
 *
 *     crest_low_descriptors low;
 *     crest_low_descriptors_take(&low);
 *     multi = curl_multi_init();
 *     crest_low_descriptors_leave(&low);
 *
 * Where all three are open, as nearly everywhere, it makes three system calls and nothing else.
 * A write of the host to a taken descriptor fails as to a closed one. A host that has closed some
 * may open its own at the same moment: a descriptor that is no longer ours is not closed.
 */
#ifndef CREST_REPORTERS_LOW_DESCRIPTORS_H
#define CREST_REPORTERS_LOW_DESCRIPTORS_H

typedef struct crest_low_descriptors {
    int taken[3]; /* whether, by number */
} crest_low_descriptors;

/* Thread-safe. */
void crest_low_descriptors_take(crest_low_descriptors *low);
/* Thread-safe; leaves errno as it is. */
void crest_low_descriptors_leave(const crest_low_descriptors *low);

#endif
