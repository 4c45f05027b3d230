/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that makes a page. See scrape_page.h.
 */
#define _GNU_SOURCE
#include "scrape/scrape_page.h"

#include <stdlib.h>
#include <string.h>

crest_scrape_page *crest_scrape_page_new(const crest_scrape_settings *settings,
                                         crest_registry *registry, crest_format format, int gzip,
                                         uint64_t deadline_ns, int wake)
{
    crest_scrape_page *page = malloc(sizeof *page);
    if (page == NULL)
        return NULL;
    /* The pipe's bytes are not zeroed: a small page does not touch all of them. */
    crest_scrape_pipe_init(&page->pipe, gzip, crest_loop_only(), deadline_ns, wake);
    memset((char *)page + sizeof page->pipe, 0, sizeof *page - sizeof page->pipe);
    page->settings = settings;
    page->registry = registry;
    page->format = format;
    return page;
}

void crest_scrape_page_free(crest_scrape_page *page)
{
    if (page == NULL)
        return;
    crest_scrape_pipe_fini(&page->pipe);
    free(page->name_texts);
    free(page);
}

/* ---- the thread ---- */

static crest_status scrape_page_write(crest_scrape_page *page, const crest_page_options *options)
{
    const crest_scrape_settings *settings = page->settings;
    /* An exemplar is the slowest operation of a window. */
    int exemplars = page->format != CREST_FORMAT_PROMETHEUS_TEXT && !options->no_exemplars;
    crest_snapshot *snapshot = crest_snapshot_take_windows(
        page->registry, exemplars ? CREST_PAGE_WINDOWS_ALL : options->windows);
    if (snapshot == NULL)
        return crest_error_set(&page->error, CREST_NO_MEMORY, "There is no memory for a snapshot");
    crest_status status = CREST_OK;
    if (settings->include != NULL || settings->exclude != NULL)
        status = crest_snapshot_select(snapshot, settings->include, settings->exclude);
    if (status == CREST_OK)
        status = crest_snapshot_write(snapshot, page->format, options, crest_scrape_pipe_write,
                                      &page->pipe, &page->error);
    crest_snapshot_free(snapshot);
    return status;
}

void crest_scrape_page_make(crest_scrape_page *page)
{
    crest_page_options options = page->settings->page;
    const char **names = page->name_count > 0 ? malloc(page->name_count * sizeof *names) : NULL;
    crest_status status = crest_scrape_pipe_open(&page->pipe);
    if (page->name_count > 0 && names == NULL)
        status = CREST_NO_MEMORY;
    const char *at = page->name_texts;
    for (unsigned i = 0; names != NULL && i < page->name_count; i++, at += strlen(at) + 1)
        names[i] = at;
    options.names = names;
    options.name_count = page->name_count;
    if (status == CREST_OK)
        status = scrape_page_write(page, &options);
    free(names);
    crest_scrape_pipe_close(&page->pipe, status);
}

static void *scrape_page_run(void *context)
{
    crest_scrape_page *page = context;
    pthread_setname_np(pthread_self(), "crest-page");
    if (page->settings->other != NULL)
        page->settings->other->make(page);
    else
        crest_scrape_page_make(page);
    return NULL;
}

int crest_scrape_page_start(crest_scrape_page *page)
{
    return crest_reporter_thread(&page->thread, scrape_page_run, page);
}

int crest_scrape_page_join(crest_scrape_page *page)
{
    if (!page->joined && crest_scrape_pipe_closed(&page->pipe)) {
        if (!page->here)
            pthread_join(page->thread, NULL);
        page->joined = 1;
    }
    return page->joined;
}
