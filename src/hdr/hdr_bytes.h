/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HdrHistogram's bytes begin with: cookie, length of the counts, normalizing offset, digits (4
 * bytes each), lowest and highest value, and the ratio of a double to an integer (8 each); all
 * big-endian.
 */
#ifndef CREST_HDR_BYTES_H
#define CREST_HDR_BYTES_H

#include <stdint.h>

/* The second lowest digit is the width of a count, for versions that have one. */
#define CREST_HDR_COOKIE_WIDTH UINT32_C(0xf0)
#define CREST_HDR_COOKIE_BASE UINT32_C(0x1c849303)
#define CREST_HDR_COOKIE (CREST_HDR_COOKIE_BASE | UINT32_C(0x10))
#define CREST_HDR_COOKIE_COMPRESSED UINT32_C(0x1c849304)
#define CREST_HDR_COOKIE_DOUBLES UINT32_C(0x0c72124e)
#define CREST_HDR_COOKIE_DOUBLES_COMPRESSED UINT32_C(0x0c72124f)
/* 1.0 as its bits. */
#define CREST_HDR_RATIO_ONE UINT64_C(0x3ff0000000000000)

#endif
