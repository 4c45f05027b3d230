/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepting connections, and closing those that take too long. See scrape_connections.h.
 */
#define _GNU_SOURCE
#include "scrape/scrape_connections.h"
#include "scrape/scrape_self_metrics.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRAPE_CONNECTIONS_NS_PER_MS UINT64_C(1000000)
#define SCRAPE_CONNECTIONS_NS_PER_S UINT64_C(1000000000)
/* Turns of libmicrohttpd until it has closed a connection that was shut down. */
#define SCRAPE_CONNECTIONS_CLOSING_TURNS 3u
/* Pause before the server accepts again when there were no descriptors. */
#define SCRAPE_CONNECTIONS_ACCEPT_AGAIN_MS 100u
/* Time that a refused connection stays open, so that its client can still read why. */
#define SCRAPE_CONNECTIONS_REFUSED_MS 500u

/* Shuts the connection down: it is closed as soon as libmicrohttpd sees that. */
void crest_scrape_connections_shut(crest_scrape_connection *connection)
{
    connection->closing = 1;
    connection->until_ns = UINT64_MAX;
    (void)shutdown(connection->socket, SHUT_RDWR);
}

static void scrape_connections_wait_for(crest_scrape_connection *connection, unsigned seconds)
{
    connection->answering = 0;
    connection->since_ns = crest_scrape_now_ns();
    if (!connection->closing)
        connection->until_ns = connection->since_ns + seconds * SCRAPE_CONNECTIONS_NS_PER_S;
}

/* Its place; NULL: none, as when libmicrohttpd never announced it. */
static crest_scrape_connection *scrape_connections_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void scrape_connections_gone(crest_scrape_server *server, crest_scrape_connection *place)
{
    place->socket = -1;
    server->open--;
}

/* Finds the connection by its socket: libmicrohttpd 1.0 announces it in a later turn, when others
 * have been added too. */
static crest_scrape_connection *scrape_connections_started(crest_scrape_server *server,
                                                           struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (unsigned i = 0; info != NULL && i < server->settings->connections; i++) {
        crest_scrape_connection *at = &server->connections[i];
        if (at->socket >= 0 && at->socket == info->connect_fd) {
            at->added = 1;
            return at;
        }
    }
    return NULL;
}

/* An MHD_NotifyConnectionCallback. */
void crest_scrape_connections_notify(void *cls, struct MHD_Connection *connection, void **context,
                                     enum MHD_ConnectionNotificationCode what)
{
    crest_scrape_server *server = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = scrape_connections_started(server, connection);
    else if (*context != NULL)
        scrape_connections_gone(server, *context);
}

void crest_scrape_connections_turn(crest_scrape_server *server)
{
    MHD_run(server->daemon);
    /* closed without having been announced, as when there was no memory for it */
    for (unsigned i = 0; i < server->settings->connections; i++)
        if (server->connections[i].socket >= 0 && !server->connections[i].added)
            scrape_connections_gone(server, &server->connections[i]);
}

void crest_scrape_connections_answering(struct MHD_Connection *connection, uint64_t until_ns)
{
    crest_scrape_connection *place = scrape_connections_of(connection);
    if (place == NULL)
        return;
    place->answering = 1;
    if (!place->closing)
        place->until_ns = until_ns;
}

void crest_scrape_connections_reads(struct MHD_Connection *connection, uint64_t until_ns)
{
    uint64_t stalled_ns =
        crest_scrape_now_ns() + CREST_PROMETHEUS_STALL_S * SCRAPE_CONNECTIONS_NS_PER_S;
    crest_scrape_connections_answering(connection, stalled_ns < until_ns ? stalled_ns : until_ns);
}

void crest_scrape_connections_answered(struct MHD_Connection *connection)
{
    crest_scrape_connection *place = scrape_connections_of(connection);
    if (place != NULL)
        scrape_connections_wait_for(place, CREST_PROMETHEUS_IDLE_S);
}

void crest_scrape_connections_refuse(struct MHD_Connection *connection, const char *answer,
                                     size_t length)
{
    crest_scrape_connection *place = scrape_connections_of(connection);
    if (place == NULL)
        return;
    /* The previous answer has gone out whole, or this request would not have been looked at. */
    (void)!send(place->socket, answer, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(place->socket, SHUT_WR);
    place->refused = 1;
    if (!place->closing)
        place->until_ns =
            crest_scrape_now_ns() + SCRAPE_CONNECTIONS_REFUSED_MS * SCRAPE_CONNECTIONS_NS_PER_MS;
}

int crest_scrape_connections_refused(struct MHD_Connection *connection)
{
    const crest_scrape_connection *place = scrape_connections_of(connection);
    return place == NULL || place->refused;
}

void crest_scrape_connections_reset(struct MHD_Connection *connection)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const crest_scrape_connection *place = scrape_connections_of(connection);
    if (place != NULL)
        (void)setsockopt(place->socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* Whether the server could accept one more. If not, new clients must not wake the server. */
int crest_scrape_connections_have_room(const crest_scrape_server *server)
{
    if (server->accept_again_ns != 0)
        return 0;
    for (unsigned i = 0; i < server->settings->connections; i++)
        if (server->connections[i].socket < 0 || !server->connections[i].answering)
            return 1;
    return 0;
}

/* A place for a new connection. The connection that the server has waited for longest makes room.
 * NULL if it does not do so at once. */
static crest_scrape_connection *scrape_connections_place(crest_scrape_server *server)
{
    crest_scrape_connection *longest = NULL;
    for (unsigned i = 0; i < server->settings->connections; i++) {
        crest_scrape_connection *at = &server->connections[i];
        if (at->socket < 0)
            return at;
        if (!at->answering && (longest == NULL || at->since_ns < longest->since_ns))
            longest = at;
    }
    if (longest == NULL)
        return NULL;
    if (!longest->closing) {
        crest_scrape_connections_shut(longest);
        crest_scrape_figures_closed(CREST_SCRAPE_CROWDED);
    }
    for (unsigned i = 0; i < SCRAPE_CONNECTIONS_CLOSING_TURNS && longest->socket >= 0; i++)
        crest_scrape_connections_turn(server);
    return longest->socket < 0 ? longest : NULL;
}

/* Lets libmicrohttpd look at the connections when every place is taken. Closed ones then free their
 * place, and one whose request has arrived is not chosen to make room. */
static void scrape_connections_look(crest_scrape_server *server)
{
    for (unsigned i = 0; i < server->settings->connections; i++)
        if (server->connections[i].socket < 0)
            return;
    crest_scrape_connections_turn(server);
}

/* Accepts one connection; 0 when there is none, or no room. */
int crest_scrape_connections_accept(crest_scrape_server *server)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    scrape_connections_look(server);
    if (!crest_scrape_connections_have_room(server))
        return 0;
    int accepted = crest_reporter_descriptor(accept4(
        server->listener.socket, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted < 0) {
        int none_now = errno == EAGAIN || errno == EWOULDBLOCK;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            server->accept_again_ns = crest_scrape_now_ns() + SCRAPE_CONNECTIONS_ACCEPT_AGAIN_MS *
                                                                  SCRAPE_CONNECTIONS_NS_PER_MS;
        return !none_now && server->accept_again_ns == 0; /* else that client had gone again */
    }
    crest_scrape_connection *place = scrape_connections_place(server);
    if (place == NULL) {
        close(accepted);
        crest_scrape_figures_closed(CREST_SCRAPE_CROWDED);
        return 0;
    }
    *place = (crest_scrape_connection){.socket = accepted};
    scrape_connections_wait_for(place, CREST_PROMETHEUS_REQUEST_S);
    server->open++;
    if (MHD_add_connection(server->daemon, accepted, (struct sockaddr *)&address, size) !=
            MHD_YES &&
        !place->added)
        scrape_connections_gone(server, place); /* closed already, and never announced */
    return 1;
}

void crest_scrape_connections_close_late(crest_scrape_server *server, uint64_t now_ns)
{
    for (unsigned i = 0; i < server->settings->connections; i++) {
        crest_scrape_connection *at = &server->connections[i];
        if (at->socket < 0 || at->until_ns > now_ns)
            continue;
        /* A client that has had an answer and is silent since has done nothing wrong. */
        if (at->answering ||
            at->until_ns - at->since_ns < CREST_PROMETHEUS_IDLE_S * SCRAPE_CONNECTIONS_NS_PER_S)
            crest_scrape_figures_closed(CREST_SCRAPE_SLOW);
        crest_scrape_connections_shut(at);
    }
}
