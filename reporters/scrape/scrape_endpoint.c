/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints of other pages than /metrics. See scrape_endpoint.h.
 */
#include "scrape/scrape_endpoint.h"
#include "scrape/scrape_routes.h"

#include <stdlib.h>
#include <string.h>

/* A page that waits for what it shows, and what is answered beside it. */
#define ENDPOINT_TIMEOUT_MS 30000u
#define ENDPOINT_PAGES_AT_ONCE 4u
#define ENDPOINT_CONNECTIONS 16u

crest_status crest_scrape_endpoint_init(crest_scrape_endpoint *endpoint,
                                        const crest_scrape_other *pages, const char *listen,
                                        const char *hosts, crest_error *error)
{
    crest_status status = crest_scrape_address_check(listen, error);
    if (status != CREST_OK)
        return status;
    endpoint->server = NULL;
    endpoint->settings = (crest_scrape_settings){
        .other = pages,
        .concurrency = ENDPOINT_PAGES_AT_ONCE,
        .connections = ENDPOINT_CONNECTIONS,
        .timeout_ms = ENDPOINT_TIMEOUT_MS,
        .listen = strdup(listen),
        .hosts = hosts != NULL ? strdup(hosts) : NULL,
    };
    if (endpoint->settings.listen != NULL && (hosts == NULL || endpoint->settings.hosts != NULL) &&
        pthread_mutex_init(&endpoint->lock, NULL) == 0)
        return CREST_OK;
    free(endpoint->settings.listen);
    free(endpoint->settings.hosts);
    return crest_error_set(error, CREST_NO_MEMORY, "No memory for an endpoint at %.100s", listen);
}

void crest_scrape_endpoint_fini(crest_scrape_endpoint *endpoint)
{
    pthread_mutex_destroy(&endpoint->lock);
    free(endpoint->settings.listen);
    free(endpoint->settings.hosts);
}

crest_status crest_scrape_endpoint_start(crest_scrape_endpoint *endpoint, crest_registry *registry,
                                         const char *threadless, char *shown, int *loopback,
                                         crest_error *error)
{
    crest_status status = CREST_OK;
    if (crest_loop_only())
        return crest_error_set(error, CREST_SYSTEM, "%s", threadless);
    pthread_mutex_lock(&endpoint->lock);
    endpoint->server = crest_scrape_server_start(&endpoint->settings, &crest_scrape_routes,
                                                 registry, &status, error);
    if (status == CREST_OK) {
        strcpy(shown, endpoint->server->listener.shown);
        *loopback = endpoint->server->listener.loopback;
    }
    pthread_mutex_unlock(&endpoint->lock);
    return status;
}

crest_status crest_scrape_endpoint_stop(crest_scrape_endpoint *endpoint, uint64_t left_ns,
                                        crest_error *error)
{
    crest_status status = CREST_OK;
    pthread_mutex_lock(&endpoint->lock);
    if (endpoint->server != NULL)
        status = crest_scrape_server_stop(endpoint->server, crest_scrape_now_ns() + left_ns, error);
    if (status == CREST_OK)
        endpoint->server = NULL;
    pthread_mutex_unlock(&endpoint->lock);
    return status;
}

int crest_scrape_cross_site(struct MHD_Connection *connection)
{
    const char *site = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin") != NULL ||
           (site != NULL && strcmp(site, "none") != 0 && strcmp(site, "same-origin") != 0);
}
