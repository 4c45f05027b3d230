/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolving label values. See resolve_loops.h.
 */
#include "resolve_loops.h"

#include <stdio.h>

#define RESOLVE_SERIES 1000u
/* Prime to their number, so that all of them come. */
#define RESOLVE_STEP 617u

CREST_COUNTER_FAMILY(resolve_sent, "bench.sent", "For resolving.", kind, peer, way);

static char resolve_texts[RESOLVE_SERIES][3][16];
static crest_counter *resolve_handles[RESOLVE_SERIES];
static uint64_t resolve_right;

static void resolve_prepare(void)
{
    for (unsigned i = 0; i < RESOLVE_SERIES; i++) {
        snprintf(resolve_texts[i][0], sizeof resolve_texts[i][0], "kind-%03u", i % 10);
        snprintf(resolve_texts[i][1], sizeof resolve_texts[i][1], "peer-%03u", i / 10);
        snprintf(resolve_texts[i][2], sizeof resolve_texts[i][2], "way-%04u", i % 2);
        resolve_handles[i] =
            resolve_sent_with(resolve_texts[i][0], resolve_texts[i][1], resolve_texts[i][2]);
    }
}

void resolve_labels(unsigned which, uint64_t times)
{
    unsigned at = which;
    if (resolve_handles[0] == NULL)
        resolve_prepare();
    for (uint64_t i = 0; i < times; i++) {
        char(*texts)[16] = resolve_texts[at];
        resolve_right += resolve_sent_with(texts[0], texts[1], texts[2]) == resolve_handles[at];
        at = (at + RESOLVE_STEP) % RESOLVE_SERIES;
    }
}

uint64_t resolve_total(void)
{
    return resolve_right;
}
