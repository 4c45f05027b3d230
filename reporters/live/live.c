/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live page as a reporter: what a browser on this machine sees of the node, as it moves. See
 * docs/live-page.md.
 *
 *     page=on              serves on the first free port of LIVE_LISTEN_DEFAULT
 *     page.listen=ADDRESS  where else; as prometheus=ADDRESS
 *     page.hosts=NAMES     further names that requests may be for
 */
#include <crest/clock.h>

#include "kinds.h"
#include "live/live_pages.h"
#include "scrape/scrape_endpoint.h"
#include "scrape/scrape_spans.h"

#include <stdlib.h>
#include <string.h>

/* Sixteen nodes of a machine; none of these is an exporter's. */
#define LIVE_LISTEN_DEFAULT "127.0.0.1:27380-27395"
#define LIVE_STOP_NS UINT64_C(30000000000)

typedef struct live {
    crest_reporter reporter; /* first: the caller holds a pointer to it */
    crest_scrape_endpoint endpoint;
    crest_live_node node;
    char *texts[3]; /* what node points to */
    int serves;     /* spans are kept for it */
} live;

static crest_status live_start(crest_reporter *reporter, crest_registry *registry,
                               crest_error *error)
{
    live *self = reporter->state;
    char shown[CREST_SCRAPE_SHOWN_BYTES];
    int loopback;
    crest_status status = crest_scrape_endpoint_start(
        &self->endpoint, registry,
        "The live page is served by a thread, which threads=off forbids: leave page=on out", shown,
        &loopback, error);
    if (status != CREST_OK)
        return status;
    crest_scrape_spans_begin();
    self->serves = 1;
    crest_log_write(loopback ? CREST_LOG_INFO : CREST_LOG_WARNING,
                    "crest: the live page is at http://%s/%s", shown,
                    loopback ? ""
                             : ", which is no loopback address: any client that reaches it sees "
                               "the node's figures");
    return CREST_OK;
}

static crest_status live_end(live *self, uint64_t left_ns, crest_error *error)
{
    crest_status status = crest_scrape_endpoint_stop(&self->endpoint, left_ns, error);
    if (status == CREST_OK && self->serves) {
        crest_scrape_spans_end();
        self->serves = 0;
    }
    return status;
}

static crest_status live_stop(crest_reporter *reporter, uint64_t deadline_ns, crest_error *error)
{
    uint64_t now_ns = crest_now();
    return live_end(reporter->state, deadline_ns > now_ns ? deadline_ns - now_ns : 0, error);
}

static void live_free(crest_reporter *reporter)
{
    live *self = reporter->state;
    while (live_end(self, LIVE_STOP_NS, NULL) != CREST_OK)
        continue;
    crest_scrape_endpoint_fini(&self->endpoint);
    for (unsigned i = 0; i < 3; i++)
        free(self->texts[i]);
    free(self);
}

/* ---- from options ---- */

static int live_copy(live *self, const crest_resource *resource)
{
    const char *from[3] = {resource != NULL ? resource->service : NULL,
                           resource != NULL ? resource->version : NULL,
                           resource != NULL ? resource->instance : NULL};
    for (unsigned i = 0; i < 3; i++) {
        self->texts[i] = strdup(from[i] != NULL ? from[i] : "");
        if (self->texts[i] == NULL)
            return 0;
    }
    self->node = (crest_live_node){self->texts[0], self->texts[1], self->texts[2]};
    self->endpoint.settings.about = &self->node;
    return 1;
}

static crest_status live_read(live *self, const char *value, const crest_options *options,
                              crest_error *error)
{
    const char *listen = crest_option(options, "page.listen");
    if (strcmp(value, "on") != 0)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "page=%.60s is not on or off; page.listen says where the live page "
                               "is served",
                               value);
    return crest_scrape_endpoint_init(&self->endpoint, &crest_live_pages,
                                      listen != NULL ? listen : LIVE_LISTEN_DEFAULT,
                                      crest_option(options, "page.hosts"), error);
}

static crest_reporter *live_create(const char *value, const crest_options *options,
                                   const crest_resource *resource, crest_error *error)
{
    live *self = calloc(1, sizeof *self);
    if (self == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for the live page");
        return NULL;
    }
    self->reporter = (crest_reporter){
        .name = "page", .start = live_start, .stop = live_stop, .free = live_free, .state = self};
    if (live_read(self, value, options, error) != CREST_OK) {
        free(self);
        return NULL;
    }
    if (live_copy(self, resource))
        return &self->reporter;
    live_free(&self->reporter);
    crest_error_set(error, CREST_NO_MEMORY, "No memory for the live page");
    return NULL;
}

static const char *const live_keys[] = {"page.listen", "page.hosts", NULL};

const crest_reporter_kind crest_live_kind = {
    .name = "page",
    .keys = live_keys,
    .create = live_create,
};
