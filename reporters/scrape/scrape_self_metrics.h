/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scrape endpoint says of itself, in the default registry; see METRICS.md. The first
 * endpoint makes the metrics, so that the page of a process without an endpoint lacks them.
 */
#ifndef CREST_REPORTERS_SCRAPE_FIGURES_H
#define CREST_REPORTERS_SCRAPE_FIGURES_H

#include <crest/prometheus.h>

/* The client went away, or its time ran out. */
#define CREST_SCRAPE_BROKEN_OFF 499u

/* Why the server closed a connection. */
typedef enum crest_scrape_cause {
    CREST_SCRAPE_CROWDED, /* to make room for a newer one */
    CREST_SCRAPE_SLOW,    /* its request or answer took too long */
    CREST_SCRAPE_CAUSES
} crest_scrape_cause;

/* Makes the metrics. Thread-safe; locks. */
void crest_scrape_figures_make(void);

/* Any thread, after crest_scrape_figures_make. */
void crest_scrape_figures_begun(void); /* a page is being made */
void crest_scrape_figures_made(void);
/* An answer to /metrics is over: its code, how long it took (0: no page was made), and bytes. */
void crest_scrape_figures_scrape(unsigned code, uint64_t took_ns, uint64_t bytes);
void crest_scrape_figures_closed(crest_scrape_cause cause);

#endif
