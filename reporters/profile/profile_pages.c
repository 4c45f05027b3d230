/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles over HTTP, as Go's net/http/pprof serves them. See profile_pages.h.
 *
 *     /debug/pprof/profile?seconds=N   CPU            /debug/pprof/threads   where every thread is
 *     /debug/pprof/wall?seconds=N      wall clock     /debug/pprof/slow      the slowest operations
 *
 * Each is pprof's profile.proto, gzipped; with debug=1 or folded=1 it is folded text. One profile
 * is taken at a time: a second request gets a 429.
 */
#include "profile/profile_pages.h"
#include "scrape/scrape_endpoint.h"

#include <crest/profile.h>

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROFILE_PAGES_NS_PER_S UINT64_C(1000000000)
/* How often a profile looks whether its client is still there. */
#define PROFILE_PAGES_STEP_NS UINT64_C(50000000)

static const struct {
    const char *path;
    crest_profile_kind kind;
    int lasts;
} profile_pages[] = {
    {"/debug/pprof/profile", CREST_PROFILE_CPU, 1},
    {"/debug/pprof/wall", CREST_PROFILE_WALL, 1},
    {"/debug/pprof/threads", CREST_PROFILE_THREADS, 0},
    {"/debug/pprof/slow", CREST_PROFILE_SLOW, 0},
};

static const char profile_pages_index[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>Profiles</title></head>"
    "<body>\n<h1>Profiles</h1>\n<ul>\n"
    "<li><a href=\"/debug/pprof/profile?seconds=10\">profile</a>: CPU time, for ?seconds=10</li>\n"
    "<li><a href=\"/debug/pprof/wall?seconds=10\">wall</a>: all threads' time, sleep too</li>\n"
    "<li><a href=\"/debug/pprof/threads?debug=1\">threads</a>: where every thread is now</li>\n"
    "<li><a href=\"/debug/pprof/slow\">slow</a>: the last minute's slowest operations</li>\n"
    "</ul>\n<p>For go tool pprof and crest profile; with debug=1 as folded text.</p>\n"
    "</body></html>\n";

/* A number from 1 to `highest`; 0: it is none. */
static unsigned profile_pages_number(const char *text, unsigned highest)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long number = digits > 0 && digits < 6 ? strtoul(text, NULL, 10) : 0;
    return text[digits] == '\0' && number <= highest ? (unsigned)number : 0;
}

static int profile_pages_switch(struct MHD_Connection *connection, const char *name)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

static unsigned profile_pages_begin(crest_scrape_page *page, crest_profile_kind kind,
                                    const char **why)
{
    crest_error error;
    page->other = crest_profile_begin(kind, &error);
    if (page->other != NULL)
        return 0;
    *why = "Another profile is being taken; one can be taken at a time\n";
    if (error.status == CREST_ALREADY)
        return MHD_HTTP_TOO_MANY_REQUESTS;
    *why = "The profiler has stopped, or there is no memory for a profile\n";
    return MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned profile_pages_ask(crest_scrape_page *page, const char *path,
                                  struct MHD_Connection *connection, const char **why)
{
    const char *seconds = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds");
    unsigned lasts_s = CREST_PROFILE_SECONDS_DEFAULT;
    *why = "A page of another site has asked for this in a browser. Profiles are for requests from "
           "a shell, or from this address itself\n";
    if (crest_scrape_cross_site(connection))
        return MHD_HTTP_FORBIDDEN;
    if (strcmp(path, "/") == 0 || strcmp(path, "/debug/pprof/") == 0 ||
        strcmp(path, "/debug/pprof") == 0) {
        page->type = "text/html; charset=utf-8";
        return 0;
    }
    *why = "There is no such profile; /debug/pprof/ lists those that there are\n";
    size_t number = 0;
    while (number < sizeof profile_pages / sizeof profile_pages[0] &&
           strcmp(path, profile_pages[number].path) != 0)
        number++;
    if (number == sizeof profile_pages / sizeof profile_pages[0])
        return MHD_HTTP_NOT_FOUND;
    *why = "seconds= is a number from 1 to 60\n";
    if (seconds != NULL &&
        (lasts_s = profile_pages_number(seconds, CREST_PROFILE_SECONDS_MAX)) == 0)
        return MHD_HTTP_BAD_REQUEST;
    page->packed =
        !profile_pages_switch(connection, "debug") && !profile_pages_switch(connection, "folded");
    page->type = page->packed ? "application/octet-stream" : "text/plain; charset=utf-8";
    page->lasts_ns = profile_pages[number].lasts ? lasts_s * PROFILE_PAGES_NS_PER_S : 0;
    return profile_pages_begin(page, profile_pages[number].kind, why);
}

/* Waits for the profile's time; less when the client has gone, or the profiler was stopped. */
static void profile_pages_wait(crest_scrape_page *page)
{
    uint64_t now_ns = crest_scrape_now_ns(), until_ns = now_ns + page->lasts_ns;
    for (; now_ns < until_ns && crest_scrape_pipe_wanted(&page->pipe) &&
           crest_profiler_status().running;
         now_ns = crest_scrape_now_ns()) {
        uint64_t step_ns =
            until_ns - now_ns < PROFILE_PAGES_STEP_NS ? until_ns - now_ns : PROFILE_PAGES_STEP_NS;
        nanosleep(&(struct timespec){0, (long)step_ns}, NULL);
    }
}

static void profile_pages_make(crest_scrape_page *page)
{
    crest_profile *profile = page->other;
    crest_status status = crest_scrape_pipe_open(&page->pipe);
    if (profile == NULL && status == CREST_OK) {
        if (crest_scrape_pipe_write(&page->pipe, profile_pages_index,
                                    sizeof profile_pages_index - 1) != 0)
            status = CREST_IO;
    } else if (status == CREST_OK) {
        profile_pages_wait(page);
        status = crest_profile_end(profile, &page->error);
        if (status == CREST_OK)
            status = crest_profile_write(profile,
                                         page->packed ? CREST_PROFILE_PPROF : CREST_PROFILE_FOLDED,
                                         crest_scrape_pipe_write, &page->pipe, &page->error);
    }
    crest_profile_free(profile);
    page->other = NULL;
    crest_scrape_pipe_close(&page->pipe, status);
}

static void profile_pages_forget(crest_scrape_page *page)
{
    crest_profile_free(page->other);
    page->other = NULL;
}

const crest_scrape_other crest_profile_pages = {
    .ask = profile_pages_ask,
    .make = profile_pages_make,
    .forget = profile_pages_forget,
    .foreign = CREST_SCRAPE_FOREIGN "profile.hosts=NAME\n",
    /* where go tool pprof asks for names that a profile lacks: of stripped files, say. It takes any
       refusal for a reason to show nothing at all */
    .posted = "/debug/pprof/symbol",
    .posted_answer = "num_symbols: 1\n",
};
