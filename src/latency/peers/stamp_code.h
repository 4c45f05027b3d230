/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a stamp. See <crest/stamp.h>, which describes them.
 */
#ifndef CREST_STAMP_CODE_H
#define CREST_STAMP_CODE_H

#include <crest/stamp.h>

/* An error bound as 16 bits, rounded up, and back; UNKNOWN where it is too large. */
uint16_t crest_stamp_error_code(uint64_t error_ns);
uint64_t crest_stamp_error_of(uint16_t code);

/* Puts an operation's kind, length and id, or digest, into the view; 0 when no stamp can name
 * it. */
int crest_stamp_identify(const crest_op *op, crest_stamp_view *view);

/* What is wrong with a view; NULL: nothing, so that it may be written. */
const char *crest_stamp_wrong(const crest_stamp_view *view);

void crest_stamp_write(const crest_stamp_view *view, crest_stamp *stamp);

/* Makes version 2 of a stamp of version 1. */
void crest_stamp_write_parent(const crest_stamp *stamp, crest_span_id parent,
                              crest_stamp_parent *to);

/* Parses a stamp into a view; returns what is wrong with it, or NULL. At least 32 bytes. */
const char *crest_stamp_parse(const unsigned char *bytes, size_t size, crest_stamp_view *view);

#endif
