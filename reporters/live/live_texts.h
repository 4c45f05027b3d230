/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts that a browser gets of the live page, piece after piece, up to a 0. Their sources are
 * in share/live; `make live` writes them anew.
 */
#ifndef CREST_REPORTERS_LIVE_TEXTS_H
#define CREST_REPORTERS_LIVE_TEXTS_H

extern const char *const crest_live_html[];
extern const char *const crest_live_css[];
extern const char *const crest_live_js[];

#endif
