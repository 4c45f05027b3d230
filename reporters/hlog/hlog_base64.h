/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 with padding (RFC 4648 section 4), as lines of HdrHistogram's logs have it. Pure. */
#ifndef CREST_REPORTERS_HLOG_BASE64_H
#define CREST_REPORTERS_HLOG_BASE64_H

#include <stddef.h>

/* Letters of so many bytes. */
#define CREST_HLOG_BASE64_LETTERS(bytes) (((bytes) + 2) / 3 * 4)

/* Writes CREST_HLOG_BASE64_LETTERS(length) letters. */
void crest_hlog_base64_encode(const unsigned char *bytes, size_t length, char *letters);

/* Writes the bytes of `length` letters, 3 a group of 4 at most; returns how many, or (size_t)-1
 * when these are no base64. `bytes` may be `letters`. */
size_t crest_hlog_base64_decode(const char *letters, size_t length, unsigned char *bytes);

#endif
