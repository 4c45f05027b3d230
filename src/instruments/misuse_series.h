/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series that show misuse; see misuse_series.c. They are made at load; other files only make
 * sure that they are linked.
 */
#ifndef CREST_MISUSE_SERIES_H
#define CREST_MISUSE_SERIES_H

/* Does nothing. Snapshots call it, so that the linker takes misuse_series.c out of an archive for
 * every program that exports: no other file needs a symbol of it. Any thread. */
void crest_misuse_series_keep(void);

#endif
