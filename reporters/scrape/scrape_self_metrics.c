/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-metrics of the scrape endpoint. See scrape_self_metrics.h.
 */
#include "scrape/scrape_self_metrics.h"

#include <crest/family.h>
#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    unsigned code;
    const char *text;
} scrape_figures_codes[] = {{200, "200"}, {400, "400"}, {405, "405"},
                            {413, "413"}, {503, "503"}, {CREST_SCRAPE_BROKEN_OFF, "499"}};

static const char *const scrape_figures_causes[CREST_SCRAPE_CAUSES] = {
    [CREST_SCRAPE_CROWDED] = "crowded",
    [CREST_SCRAPE_SLOW] = "slow",
};

static pthread_once_t scrape_figures_once = PTHREAD_ONCE_INIT;
static crest_counter *scrape_figures_scrapes[COUNT(scrape_figures_codes)];
static crest_counter *scrape_figures_closures[CREST_SCRAPE_CAUSES];
static crest_timer *scrape_figures_time;
static crest_range_sampler *scrape_figures_in_flight;
static crest_counter *scrape_figures_sent;

static void scrape_figures_make_once(void)
{
    const char *const code = "code", *const cause = "cause";
    crest_counter_family scrapes = crest_counter_family_new(
        NULL,
        &(crest_metric_options){.name = "crest.scrapes",
                                .description = "Answers to /metrics, by their HTTP status; 499: "
                                               "broken off by the client or at its deadline."},
        &code, 1, NULL);
    crest_counter_family closed = crest_counter_family_new(
        NULL,
        &(crest_metric_options){.name = "crest.scrape-connections-closed",
                                .description = "Connections closed to make room for newer ones, or "
                                               "because a request or an answer took too long."},
        &cause, 1, NULL);
    for (unsigned i = 0; i < COUNT(scrape_figures_codes); i++)
        scrape_figures_scrapes[i] =
            crest_counter_family_get(&scrapes, &scrape_figures_codes[i].text, 1);
    for (unsigned i = 0; i < CREST_SCRAPE_CAUSES; i++)
        scrape_figures_closures[i] =
            crest_counter_family_get(&closed, &scrape_figures_causes[i], 1);
    scrape_figures_time = crest_timer_get(
        NULL,
        &(crest_metric_options){.name = "crest.scrape-time",
                                .description = "From the request to the end of the page."},
        NULL);
    scrape_figures_in_flight =
        crest_range_sampler_get(NULL,
                                &(crest_metric_options){.name = "crest.scrapes-in-flight",
                                                        .description = "Pages being made now."},
                                NULL);
    scrape_figures_sent =
        crest_counter_get(NULL,
                          &(crest_metric_options){.name = "crest.scrape-data-sent",
                                                  .description = "Bytes of pages, as sent.",
                                                  .unit = CREST_BYTES},
                          NULL);
}

void crest_scrape_figures_make(void)
{
    pthread_once(&scrape_figures_once, scrape_figures_make_once);
}

void crest_scrape_figures_begun(void)
{
    crest_range_sampler_add(scrape_figures_in_flight, 1);
}

void crest_scrape_figures_made(void)
{
    crest_range_sampler_add(scrape_figures_in_flight, -1);
}

void crest_scrape_figures_scrape(unsigned code, uint64_t took_ns, uint64_t bytes)
{
    for (unsigned i = 0; i < COUNT(scrape_figures_codes); i++)
        if (scrape_figures_codes[i].code == code)
            crest_counter_inc(scrape_figures_scrapes[i]);
    crest_counter_add(scrape_figures_sent, bytes);
    if (took_ns > 0)
        crest_timer_record(scrape_figures_time, (int64_t)took_ns,
                           code == 200 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
}

void crest_scrape_figures_closed(crest_scrape_cause cause)
{
    if (scrape_figures_closures[cause] != NULL) /* an endpoint of something else */
        crest_counter_inc(scrape_figures_closures[cause]);
}
