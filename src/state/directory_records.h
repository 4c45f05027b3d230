/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of names in the state file: what each room writes of what it makes. Every call is
 * made under the lock, does nothing without a file, and takes no memory but the file's and META.
 * A record that finds no room is counted in the header.
 *
 *     if (crest_state_is_on())
 *         crest_state_note_series(&series, values);
 */
#ifndef CREST_DIRECTORY_RECORDS_H
#define CREST_DIRECTORY_RECORDS_H

#include "state/state_format.h"

/* What a record is made of, behind its own structure. */
typedef struct crest_state_behind {
    const void *more; /* words, as a metric's bounds */
    size_t more_bytes;
    const char *const *texts;
    size_t count;
} crest_state_behind;

/* Bytes of such a record, whose structure has `bytes`; and the record written in its place, whose
 * `bytes` are set: its type last, after which readers may take it. */
uint32_t crest_state_record_bytes(size_t bytes, const crest_state_behind *behind);
void crest_state_record_fill(crest_state_record *record, crest_state_type type, const void *body,
                             size_t bytes, const crest_state_behind *behind);

/* Whether records are to be written. Under the lock. */
int crest_state_is_on(void);

/* From now on records are written; crest_state_begin came before. */
void crest_state_directory_open(void);

/* A metric; `bounds` and `texts` as state_format.h tells, `texts` with as many entries as it says:
 * three names, constant labels' keys and values in turn, keys, stages. */
void crest_state_note_metric(crest_state_metric *metric, const double *bounds,
                             const char *const *texts);
/* Number of a new metric. */
uint32_t crest_state_metric_next(void);

/* A series, with value_count values; ends the series that had its slot before. */
void crest_state_note_series(crest_state_series *series, const char *const *values);
/* The slot's series has ended. */
void crest_state_note_end(uint32_t slot);

void crest_state_note_thread(const void *table, uint64_t flags);
void crest_state_note_shared_chunk(uint32_t chunk, const void *cells);
void crest_state_note_keyed(crest_state_keyed *keyed, const char *const *values);
void crest_state_note_in_flight(const void *block, uint32_t entries, uint32_t entry_bytes);

#endif
