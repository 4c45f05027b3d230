/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of HdrHistogram's logs, which are series: NAME;KEY=VALUE;KEY=VALUE. Pure; no allocation. */
#ifndef CREST_REPORTERS_HLOG_TAG_H
#define CREST_REPORTERS_HLOG_TAG_H

#include <crest/page.h>

/* Writes the tag of a series through `write`: bytes that would end a tag or a part of it are %XX,
 * and a label without a value is left out. Stops and returns what `write` returned if not 0. */
int crest_hlog_tag_write(const crest_series_view *series, crest_write_fn *write, void *context);

#endif
