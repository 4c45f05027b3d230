/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of the profiler's endpoint, below /debug/pprof/, as a crest_scrape_other.
 */
#ifndef CREST_REPORTERS_PROFILE_PAGES_H
#define CREST_REPORTERS_PROFILE_PAGES_H

#include "scrape/scrape_page.h"

extern const crest_scrape_other crest_profile_pages;

#endif
