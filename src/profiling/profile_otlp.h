/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CPU profile as an ExportProfilesServiceRequest of OTLP, of the schema that
 * CREST_PROFILE_OTLP_SCHEMA names and of no other: its authors call it alpha, and have moved fields
 * before. Source: opentelemetry-proto 1.11.0, profiles/v1development/profiles.proto.
 */
#ifndef CREST_PROFILING_PROFILE_OTLP_H
#define CREST_PROFILING_PROFILE_OTLP_H

#include "profiling/profile_pprof.h"

/* `attributes` are the resource's. 0 without memory; what the buffer's receiver refuses, the buffer
 * knows. */
int crest_profile_otlp_write(crest_buffer *out, const crest_profile_about *about,
                             const crest_rows *rows, const crest_code_places *places,
                             const crest_page_label *attributes, unsigned count);

#endif
