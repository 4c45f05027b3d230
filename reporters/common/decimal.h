/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as servers of lines read them: decimals with a point, the same in every locale. Pure; no
 * allocation.
 */
#ifndef CREST_REPORTERS_DECIMAL_H
#define CREST_REPORTERS_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/* Enough for any of these, NUL included. */
#define CREST_DECIMAL_BYTES 48u

/* The shortest decimal that reads back as `value`, with an exponent when there would be many zeros;
 * returns its length, 0 for NaN and infinities. */
size_t crest_decimal_shortest(char text[CREST_DECIMAL_BYTES], double value);

/* value / 10^decimals, exactly and without zeros at the end; decimals at most 9. */
size_t crest_decimal_scaled(char text[CREST_DECIMAL_BYTES], uint64_t value, unsigned decimals);

/*
 * A sample rate whose reciprocal is `weight` to the last bit, so that a server which adds 1/rate
 * counts exactly: "0.25" of 4; never with an exponent, "1" of 1. Returns its length, or 0 when no
 * double is one, as of 49; see crest_decimal_weight.
 */
size_t crest_decimal_rate(char text[CREST_DECIMAL_BYTES], uint64_t weight);

/* The largest number of at most `weight` that has a rate; of 0 it is 0. */
uint64_t crest_decimal_weight(uint64_t weight);

#endif
