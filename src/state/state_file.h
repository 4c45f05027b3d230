/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file of this process: opening it, its extents under the arena of cells, its heartbeat
 * and its end. docs/state-format.md has the format, directory_records.h what is written into it.
 *
 *     crest_state_prepare(&wish, &error)      the file, without anything in it
 *     crest_state_begin()                     under the lock: CELLS move into it
 *     ... each room writes the records of what there is ...
 *     crest_state_live()
 *
 * Cells stay at their addresses, so recording runs the same instructions with a file as without.
 * Invariant: the file's pages are allocated before they are mapped, so that a write never meets a
 * full file system (SIGBUS). What has no room stays anonymous memory, counted.
 *
 * Fork: the child maps memory of its own over the extents (base/arena), and forgets the file.
 */
#ifndef CREST_STATE_FILE_H
#define CREST_STATE_FILE_H

#include "state/state_place.h"

/* Makes the file. Once a process; CREST_ALREADY when there is one. Errors in words that begin with
 * "state=". Not under the lock; blocks on the file system. */
crest_status crest_state_prepare(const crest_state_wish *wish, crest_error *error);

/* Under the lock, while no other thread records: cells move into the file, and records are written
 * into it from now on. Returns the bytes of cells that had no room. */
uint64_t crest_state_begin(void);

/* The file is complete, from now on LIVE. Again after a farewell. Does nothing without a file. */
void crest_state_live(void);

/* Beat: the moment is stored in the header. A listener of ticks. */
void crest_state_beat(void);

/* The process ends, or stops Crest: whatever is recorded later is not missed. */
void crest_state_farewell(void);

/* Texts of the resource, cut to their room; NULL is an empty one. */
void crest_state_describe(const char *service, const char *instance, const char *version);

/* The header of this process's file; NULL without one. */
crest_state_header *crest_state_header_own(void);

/* Where it is, and what was found in its place; NULL without a file. */
const crest_state_place *crest_state_place_own(void);
const crest_state_found *crest_state_found_own(void);

/* Bytes of the file; 0 without one. Any thread. */
uint64_t crest_state_bytes(void);

/* Under the lock: another extent of records, DIRECTORY or SPANS, of so many bytes; NULL without
 * room. */
crest_state_extent *crest_state_extend(crest_state_extent_kind kind, uint64_t bytes, char **memory);

#endif
