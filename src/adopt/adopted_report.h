/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.adopt=report: what a dead run counted does not go on, but lies beside this run's file as a
 * page, NAME.last.prom, that a node_exporter or a person can read. It is written whole under
 * another name first. A kill in between makes the next start write it again, with the same figures.
 */
#ifndef CREST_ADOPTED_REPORT_H
#define CREST_ADOPTED_REPORT_H

#include "state/state_place.h"

/* Writes the page of one of the place's files; `rank` is 1 for the newest dead run of this start,
 * whose page is NAME.last.prom, then NAME.last.2.prom. 0 with errno: there is none, or an older one
 * still. Allocates as much as the file has, blocks. Not under the lock. */
int crest_adopt_report(const crest_state_place *place, const char *file, unsigned rank);

#endif
