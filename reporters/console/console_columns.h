/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many columns of a terminal a text takes: two for East Asian wide characters and emoji, none
 * for combining ones. Pure, and the same in every locale, which wcwidth is not.
 *
 * Source of the ranges: Unicode 15, EastAsianWidth.txt (W and F) and general categories Mn, Me and
 * Cf, in blocks: what is missing is rare and shows a column off.
 */
#ifndef CREST_REPORTERS_CONSOLE_COLUMNS_H
#define CREST_REPORTERS_CONSOLE_COLUMNS_H

#include <stddef.h>

/* The text's bytes that are no UTF-8 count as one column each. */
size_t crest_console_columns(const char *text, size_t length);

/* The code point at `text` and in *bytes its length, of `length` bytes; U+FFFD and 1 for what is no
 * UTF-8. */
unsigned crest_console_code(const char *text, size_t length, size_t *bytes);

/* Whether a terminal acts on this character instead of showing it: controls, and marks that turn
 * the direction of writing. */
int crest_console_is_control(unsigned code);

#endif
