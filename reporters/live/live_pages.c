/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live page over HTTP. See live_pages.h; docs/live-page.md has what each path gives.
 *
 *     /            the page            /series      some of all series, as lines of JSON
 *     /live.css    how it looks        /spans       the last kept spans, as lines of JSON
 *     /live.js     what it does        /-/healthy
 */
#include "live/live_pages.h"
#include "live/live_texts.h"
#include "scrape/scrape_endpoint.h"
#include "scrape/scrape_spans.h"

#include <stdlib.h>
#include <string.h>

#define LIVE_PAGES_SERIES "/series"
#define LIVE_PAGES_SPANS "/spans"
#define LIVE_PAGES_LINES "application/x-ndjson"

static const struct {
    const char *path, *type;
    const char *const *lines;
} live_texts[] = {
    {"/", "text/html; charset=utf-8", crest_live_html},
    {"/live.css", "text/css; charset=utf-8", crest_live_css},
    {"/live.js", "text/javascript; charset=utf-8", crest_live_js},
};

/* What is to be made: a text, the series of a choice, or the spans. */
typedef struct live_request {
    const char *const *lines;
    int series;
    crest_live_choice choice;
} live_request;

/* ---- asking ---- */

/* Whether it was absent, or a number up to `highest`. */
static int live_number(struct MHD_Connection *connection, const char *key, unsigned highest,
                       unsigned *value)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, key);
    if (text == NULL)
        return 1;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0')
        return 0;
    *value = (unsigned)strtoul(text, NULL, 10);
    return *value <= highest;
}

static int live_text(struct MHD_Connection *connection, const char *key,
                     char value[CREST_LIVE_SEARCH_BYTES])
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, key);
    size_t length = text != NULL ? strlen(text) : 0;
    if (length >= CREST_LIVE_SEARCH_BYTES)
        return 0;
    memcpy(value, text != NULL ? text : "", length + 1);
    return 1;
}

/* 0, or a status to refuse with, and *why. */
static unsigned live_choose(crest_live_choice *choice, struct MHD_Connection *connection,
                            const char **why)
{
    unsigned own = 0, all = 0, flight = 0;
    choice->most = CREST_LIVE_SERIES_DEFAULT;
    choice->buckets = CREST_JSON_BUCKETS_POWERS;
    *why = "from= is a number, most= one up to 2000, own=, flight= and buckets= are 0 or 1\n";
    if (!live_number(connection, "from", 999999999, &choice->from) ||
        !live_number(connection, "most", CREST_LIVE_SERIES_MAX, &choice->most) ||
        !live_number(connection, "own", 1, &own) || !live_number(connection, "buckets", 1, &all) ||
        !live_number(connection, "flight", 1, &flight))
        return MHD_HTTP_BAD_REQUEST;
    choice->own = (int)own;
    choice->flight = (int)flight;
    if (all)
        choice->buckets = CREST_JSON_BUCKETS_ALL;
    *why = "search= and name= have at most 255 bytes\n";
    return live_text(connection, "search", choice->search) &&
                   live_text(connection, "name", choice->name)
               ? 0
               : MHD_HTTP_BAD_REQUEST;
}

static unsigned live_fill(live_request *request, crest_scrape_page *page, const char *path,
                          struct MHD_Connection *connection, const char **why)
{
    for (size_t i = 0; i < sizeof live_texts / sizeof *live_texts; i++)
        if (strcmp(path, live_texts[i].path) == 0) {
            request->lines = live_texts[i].lines;
            page->type = live_texts[i].type;
            return 0;
        }
    page->type = LIVE_PAGES_LINES;
    *why = "A page of another site has asked for this in a browser. The live page is for this "
           "machine, at this address itself\n";
    if (crest_scrape_cross_site(connection))
        return MHD_HTTP_FORBIDDEN;
    if (strcmp(path, LIVE_PAGES_SERIES) == 0) {
        request->series = 1;
        return live_choose(&request->choice, connection, why);
    }
    *why = "There is nothing here; the live page is at /\n";
    if (strcmp(path, LIVE_PAGES_SPANS) != 0)
        return MHD_HTTP_NOT_FOUND;
    *why = "Spans are shown on the machine itself only, at localhost, 127.0.0.1 or [::1]\n";
    return crest_scrape_spans_near(connection) ? 0 : MHD_HTTP_FORBIDDEN;
}

static unsigned live_ask(crest_scrape_page *page, const char *path,
                         struct MHD_Connection *connection, const char **why)
{
    live_request *request = calloc(1, sizeof *request);
    *why = "There is no memory for this\n";
    if (request == NULL)
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    unsigned refused = live_fill(request, page, path, connection, why);
    if (refused != 0)
        free(request);
    else
        page->other = request;
    return refused;
}

/* ---- making ---- */

static crest_status live_lines(crest_scrape_page *page, const char *const *lines)
{
    for (; *lines != NULL; lines++)
        if (crest_scrape_pipe_write(&page->pipe, *lines, strlen(*lines)) != 0)
            return CREST_IO;
    return CREST_OK;
}

static crest_status live_spans(crest_scrape_page *page)
{
    size_t length;
    char *lines = crest_scrape_spans_copy(&length);
    if (lines == NULL)
        return crest_error_set(&page->error, CREST_NO_MEMORY,
                               "There is no memory for a copy of the spans");
    int stopped = length > 0 && crest_scrape_pipe_write(&page->pipe, lines, length) != 0;
    free(lines);
    return stopped ? CREST_IO : CREST_OK;
}

static void live_make(crest_scrape_page *page)
{
    live_request *request = page->other;
    crest_status status = crest_scrape_pipe_open(&page->pipe);
    if (status == CREST_OK && request->lines != NULL)
        status = live_lines(page, request->lines);
    else if (status == CREST_OK && request->series)
        status = crest_live_series_write(page->registry, &request->choice, page->settings->about,
                                         crest_scrape_pipe_write, &page->pipe, &page->error);
    else if (status == CREST_OK)
        status = live_spans(page);
    free(request);
    page->other = NULL;
    crest_scrape_pipe_close(&page->pipe, status);
}

static void live_forget(crest_scrape_page *page)
{
    free(page->other);
    page->other = NULL;
}

const crest_scrape_other crest_live_pages = {
    .ask = live_ask,
    .make = live_make,
    .forget = live_forget,
    .foreign = CREST_SCRAPE_FOREIGN "page.hosts=NAME\n",
    .policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
              "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
