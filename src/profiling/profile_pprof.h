/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ended profile as bytes: pprof's profile.proto, and folded text. Pure but for the files that
 * names come from. Source: github.com/google/pprof, proto/profile.proto and doc/README.md.
 */
#ifndef CREST_PROFILING_PROFILE_PPROF_H
#define CREST_PROFILING_PROFILE_PPROF_H

#include "base/buffer.h"
#include "profiling/places.h"

/* What a profile's values are, and when it was taken. */
typedef struct crest_profile_about {
    crest_profile_kind kind;
    uint64_t began_unix_ns, duration_ns;
    uint64_t period_ns; /* between two samples */
} crest_profile_about;

void crest_pprof_write(crest_buffer *out, const crest_profile_about *about, const crest_rows *rows,
                       const crest_code_places *places);

/* A line a row: "thread;timer;main;store;write 12", without what the row lacks, the root first.
 * The value is the last of the profile's. */
void crest_folded_write(crest_buffer *out, const crest_rows *rows, const crest_code_places *places);

#endif
