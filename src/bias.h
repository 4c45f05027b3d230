/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a range sampler's cell is. As long as one thread alone updates it, that thread owns it and
 * writes without `lock` in a restartable sequence of the kernel's (rseq), which takes half the
 * time: crest_range_replace_owned in <crest/range_sampler.h>. Whoever comes second takes that from
 * it, for good, and from then on all write with locked instructions.
 *
 *     nobody -> a thread -> revoking -> shared
 *     nobody -> shared                            where there are no restartable sequences
 *
 *     crest_bias_enter(cell);      a locked update is right now
 */
#ifndef CREST_BIAS_H
#define CREST_BIAS_H

#include <crest/range_sampler.h>

/*
 * Makes the cell shared, or this thread's if it is nobody's: in either case this thread may update
 * it with locked instructions. Any thread, any handler; does not wait for another thread. Takes
 * microseconds when it takes the cell from another.
 */
void crest_bias_enter(crest_range_cell *cell);

/* Whether a thread may be writing to it without `lock`. */
int crest_bias_owned(const crest_range_cell *cell);

/*
 * A full barrier in every thread of the process, of which owners' updates have none; an update
 * without `lock` that is on its way is given up. Any thread, any handler.
 */
void crest_bias_barrier(void);

#endif
