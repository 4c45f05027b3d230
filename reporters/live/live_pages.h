/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the live endpoint, as a crest_scrape_other. What their settings are about is a
 * crest_live_node.
 */
#ifndef CREST_REPORTERS_LIVE_PAGES_H
#define CREST_REPORTERS_LIVE_PAGES_H

#include "live/live_series.h"
#include "scrape/scrape_page.h"

extern const crest_scrape_other crest_live_pages;

#endif
