/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's thread. See scrape_server.h.
 *
 * libmicrohttpd runs without a thread and without a listening socket of its own. This thread
 * accepts connections and hands them over. So the number of connections is bounded by closing the
 * connection that the server has waited for longest. Clients that ask are not kept waiting by
 * clients that never do. All of libmicrohttpd is called from one thread; with threads=off, from the
 * host's, in turns.
 */
#define _GNU_SOURCE
#include "scrape/scrape_server.h"
#include "common/low_descriptors.h"
#include "common/write_signals.h"
#include "scrape/scrape_connections.h"
#include "scrape/scrape_self_metrics.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRAPE_SERVER_NS_PER_MS UINT64_C(1000000)
#define SCRAPE_SERVER_NS_PER_S UINT64_C(1000000000)
/* Connections accepted before the open ones get their turn. */
#define SCRAPE_SERVER_ACCEPTED_AT_ONCE 16u
/* Pause before the log is told another of libmicrohttpd's messages. */
#define SCRAPE_SERVER_NOTE_S 10u
/* Share of stop's time that is kept back for closing what has not ended by itself; and the most of
 * it. */
#define SCRAPE_SERVER_CLOSING_SHARE 4u
#define SCRAPE_SERVER_CLOSING_MS_MAX 200u
/* How long stop waits for connections to close before it stops libmicrohttpd anyway. */
#define SCRAPE_SERVER_CLOSED_MS 100u

/* ---- the child of a fork ---- */

/* Each server's thread holds it while it works, so that a fork sees every descriptor in its place.
 * It also guards the list. Nothing of the host is called under it. */
static pthread_mutex_t scrape_server_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_scrape_server *scrape_server_all;
static crest_scrape_server *scrape_server_orphans; /* kept only to be reachable */
static pthread_once_t scrape_server_once = PTHREAD_ONCE_INIT;

static void scrape_server_fork_before(void)
{
    pthread_mutex_lock(&scrape_server_lock);
}

static void scrape_server_fork_parent(void)
{
    pthread_mutex_unlock(&scrape_server_lock);
}

/* Fork handler: closes the child's copies of descriptors. Otherwise the port would stay taken, and
 * connections open, for as long as the child lives. The servers' memory stays as it is: other
 * threads may have held locks in it. */
static void scrape_server_fork_child(void)
{
    for (crest_scrape_server *server; (server = scrape_server_all) != NULL;) {
        scrape_server_all = server->next;
        for (unsigned i = 0; i < server->settings->connections; i++)
            if (server->connections[i].socket >= 0)
                close(server->connections[i].socket);
        if (server->listener.socket >= 0)
            close(server->listener.socket);
        close(server->epoll);
        close(server->wake);
        server->orphaned = 1;
        server->next = scrape_server_orphans;
        scrape_server_orphans = server;
    }
    pthread_mutex_unlock(&scrape_server_lock);
}

/* Called after the metrics have been made, so that this fork handler runs before the library's
 * own. */
static void scrape_server_prepare_once(void)
{
    pthread_atfork(scrape_server_fork_before, scrape_server_fork_parent, scrape_server_fork_child);
}

static void scrape_server_list(crest_scrape_server *server)
{
    pthread_mutex_lock(&scrape_server_lock);
    server->next = scrape_server_all;
    scrape_server_all = server;
    pthread_mutex_unlock(&scrape_server_lock);
}

/* Under scrape_server_lock. */
static void scrape_server_unlist(const crest_scrape_server *server)
{
    crest_scrape_server **link = &scrape_server_all;
    while (*link != NULL && *link != server)
        link = &(*link)->next;
    if (*link != NULL)
        *link = server->next;
}

/* ---- what libmicrohttpd says ---- */

/* An MHD_LogCallback: keeps one message, for after the turn. A flood of bad requests must not flood
 * the log. */
__attribute__((format(printf, 2, 0))) static void scrape_server_note(void *cls, const char *format,
                                                                     va_list arguments)
{
    crest_scrape_server *server = cls;
    if (server->note[0] != '\0' || crest_scrape_now_ns() < server->note_again_ns) {
        server->notes_left_out++;
        return;
    }
    vsnprintf(server->note, sizeof server->note, format, arguments);
    server->note[strcspn(server->note, "\r\n")] = '\0';
}

/* Tells the log. Outside of all locks. */
static void scrape_server_tell(crest_scrape_server *server)
{
    if (server->note[0] == '\0')
        return;
    char more[64] = "";
    if (server->notes_left_out > 0)
        snprintf(more, sizeof more, " (and %u messages before it)", server->notes_left_out);
    crest_log_write(CREST_LOG_INFO, "crest: scrapes on %s: %s%s", server->listener.shown,
                    server->note, more);
    server->note[0] = '\0';
    server->notes_left_out = 0;
    server->note_again_ns = crest_scrape_now_ns() + SCRAPE_SERVER_NOTE_S * SCRAPE_SERVER_NS_PER_S;
}

/* ---- pages ---- */

int crest_scrape_server_make(crest_scrape_server *server, crest_scrape_page *page)
{
    int counted = server->settings->other == NULL;
    if (counted)
        crest_scrape_figures_begun(); /* counted first, so that a page has itself in it */
    page->here = server->loop;
    int failed = page->here ? 0 : crest_scrape_page_start(page);
    if (failed != 0) {
        if (counted)
            crest_scrape_figures_made();
        return failed;
    }
    page->next = server->pages;
    server->pages = page;
    server->making++;
    return 0;
}

void crest_scrape_server_drop(crest_scrape_page *page)
{
    crest_scrape_pipe_cancel(&page->pipe);
    page->connection = NULL;
    page->paused = 0;
}

/* Resumes connections for which bytes have come, and frees pages that are over. */
static void scrape_server_look_after_pages(crest_scrape_server *server)
{
    for (crest_scrape_page **link = &server->pages, *page; (page = *link) != NULL;) {
        if (crest_scrape_pipe_due(&page->pipe) && page->paused) {
            page->paused = 0;
            MHD_resume_connection(page->connection);
        }
        if (!page->joined && crest_scrape_page_join(page)) {
            server->making--;
            if (server->settings->other == NULL)
                crest_scrape_figures_made();
        }
        if (page->joined && page->connection == NULL) {
            *link = page->next;
            crest_scrape_page_free(page);
        } else {
            link = &page->next;
        }
    }
}

/* Makes the pages that have no thread. Under no lock, since the host's polls are called. Non-zero
 * if any was made. */
static int scrape_server_make_pages(crest_scrape_server *server)
{
    int made = 0;
    for (crest_scrape_page *page = server->pages; page != NULL; page = page->next) {
        if (!page->here || page->begun)
            continue;
        page->begun = made = 1;
        crest_scrape_page_make(page);
    }
    return made;
}

/* ---- stopping ---- */

static int scrape_server_stopping(crest_scrape_server *server, uint64_t *stop_ns)
{
    pthread_mutex_lock(&server->lock);
    int stopping = server->stopping;
    *stop_ns = server->stop_ns;
    pthread_mutex_unlock(&server->lock);
    return stopping;
}

/* Winds up: closes the listener and connections without a request, and at the deadline everything.
 * Non-zero when all is over. */
static int scrape_server_wind_up(crest_scrape_server *server, uint64_t stop_ns, uint64_t now_ns)
{
    if (server->listener.socket >= 0) {
        /* also the copy in a child that was forked a moment ago and has not closed it yet */
        (void)shutdown(server->listener.socket, SHUT_RDWR);
        close(server->listener.socket);
        server->listener.socket = -1;
    }
    int over = now_ns >= stop_ns;
    for (unsigned i = 0; i < server->settings->connections; i++) {
        crest_scrape_connection *at = &server->connections[i];
        if (at->socket >= 0 && !at->closing && (over || !at->answering))
            crest_scrape_connections_shut(at);
    }
    for (crest_scrape_page *page = server->pages; over && page != NULL; page = page->next)
        crest_scrape_pipe_cancel(&page->pipe);
    uint64_t closed_ns = stop_ns + SCRAPE_SERVER_CLOSED_MS * SCRAPE_SERVER_NS_PER_MS;
    return server->making == 0 && (server->open == 0 || now_ns >= closed_ns);
}

/* All has ended or been cut: stops libmicrohttpd, which releases the rest. */
static void scrape_server_end(crest_scrape_server *server)
{
    for (crest_scrape_page *page = server->pages; page != NULL; page = page->next) {
        if (page->paused)
            MHD_resume_connection(page->connection);
        page->paused = 0;
    }
    MHD_stop_daemon(server->daemon);
    scrape_server_look_after_pages(server);
    scrape_server_unlist(server);
}

/* ---- the thread ---- */

/* How long to wait for an event, in ms; -1: for ever. */
static int scrape_server_patience(crest_scrape_server *server, int stopping, uint64_t stop_ns)
{
    uint64_t now_ns = crest_scrape_now_ns(), until_ns = stopping ? stop_ns : UINT64_MAX;
    MHD_UNSIGNED_LONG_LONG mhd_ms;
    if (server->open > 0 && MHD_get_timeout(server->daemon, &mhd_ms) == MHD_YES)
        until_ns = now_ns + mhd_ms * SCRAPE_SERVER_NS_PER_MS;
    for (unsigned i = 0; i < server->settings->connections; i++)
        if (server->connections[i].socket >= 0 && server->connections[i].until_ns < until_ns)
            until_ns = server->connections[i].until_ns;
    if (server->accept_again_ns != 0 && server->accept_again_ns < until_ns)
        until_ns = server->accept_again_ns;
    if (until_ns == UINT64_MAX)
        return -1;
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    uint64_t left_ms = (left_ns + SCRAPE_SERVER_NS_PER_MS - 1) / SCRAPE_SERVER_NS_PER_MS;
    return left_ms < 60000 ? (int)left_ms : 60000;
}

static void scrape_server_wait(crest_scrape_server *server, int stopping, uint64_t stop_ns)
{
    struct pollfd events[] = {
        {.fd = server->wake, .events = POLLIN},
        {.fd = server->epoll, .events = POLLIN},
        {.fd = crest_scrape_connections_have_room(server) ? server->listener.socket : -1,
         .events = POLLIN},
    };
    uint64_t count;
    if (stopping && crest_scrape_now_ns() >= stop_ns)
        stop_ns = crest_scrape_now_ns() + SCRAPE_SERVER_NS_PER_MS;
    (void)poll(events, sizeof events / sizeof events[0],
               scrape_server_patience(server, stopping, stop_ns));
    if (events[0].revents != 0)
        (void)!read(server->wake, &count, sizeof count);
}

/* Under the lock. Non-zero when it was the last turn. */
static int scrape_server_work(crest_scrape_server *server, int stopping, uint64_t stop_ns)
{
    uint64_t now_ns = crest_scrape_now_ns();
    if (server->accept_again_ns <= now_ns)
        server->accept_again_ns = 0;
    scrape_server_look_after_pages(server);
    for (unsigned i = 0; i < SCRAPE_SERVER_ACCEPTED_AT_ONCE && !stopping; i++)
        if (server->accept_again_ns != 0 || !crest_scrape_connections_accept(server))
            break;
    crest_scrape_connections_turn(server);
    crest_scrape_connections_close_late(server, now_ns);
    if (!stopping || !scrape_server_wind_up(server, stop_ns, now_ns))
        return 0;
    scrape_server_end(server);
    return 1;
}

/* Non-zero when it was the last round. */
static int scrape_server_round(crest_scrape_server *server)
{
    uint64_t stop_ns;
    int stopping = scrape_server_stopping(server, &stop_ns);
    pthread_mutex_lock(&scrape_server_lock);
    int over = scrape_server_work(server, stopping, stop_ns);
    pthread_mutex_unlock(&scrape_server_lock);
    scrape_server_tell(server);
    return over;
}

/* Runs rounds until it is stopped and all is over. */
static void scrape_server_serve(crest_scrape_server *server)
{
    int over = 0;
    while (!over) {
        uint64_t stop_ns;
        int stopping = scrape_server_stopping(server, &stop_ns);
        scrape_server_wait(server, stopping, stop_ns);
        over = scrape_server_round(server);
        if (!over && scrape_server_make_pages(server))
            over = server->orphaned;
    }
    pthread_mutex_lock(&server->lock);
    server->ended = 1;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static void *scrape_server_run(void *server)
{
    pthread_setname_np(pthread_self(), "crest-scrape");
    scrape_server_serve(server);
    return NULL;
}

/* ---- the host's loop ---- */

/* Makes the host's loop wait for the listener, only while one more connection could be accepted. */
static void scrape_server_listen(crest_scrape_server *server)
{
    int wanted = !server->stopping && crest_scrape_connections_have_room(server);
    if (wanted == server->listening)
        return;
    if (wanted)
        (void)crest_loop_watch(server->listener.socket);
    else
        (void)crest_loop_unwatch(server->listener.socket);
    server->listening = wanted;
}

static crest_status scrape_server_join_loop(crest_scrape_server *server, crest_error *error)
{
    if (crest_loop_watch(server->wake) == CREST_OK && crest_loop_watch(server->epoll) == CREST_OK) {
        server->loop = 1;
        scrape_server_listen(server);
        return CREST_OK;
    }
    return crest_error_set(error, CREST_SYSTEM,
                           "The host's loop cannot wait for the scrape endpoint on %s: %s. Make "
                           "room for two more descriptors (ulimit -n)",
                           server->listener.shown, strerror(errno));
}

/* Leaves the host's loop when the server stops, and does here what is left to do. */
static void scrape_server_leave_loop(crest_scrape_server *server)
{
    crest_quiet_signals quiet;
    scrape_server_listen(server);
    (void)crest_loop_unwatch(server->wake);
    (void)crest_loop_unwatch(server->epoll);
    crest_quiet_signals_begin(&quiet);
    scrape_server_serve(server);
    crest_quiet_signals_end(&quiet);
}

uint64_t crest_scrape_server_turn(crest_scrape_server *server)
{
    uint64_t count;
    if (server->orphaned)
        return UINT64_MAX;
    struct pollfd events[] = {
        {.fd = server->wake, .events = POLLIN},
        {.fd = server->epoll, .events = POLLIN},
        {.fd = server->listening ? server->listener.socket : -1, .events = POLLIN},
    };
    int left_ms = scrape_server_patience(server, 0, 0);
    if (poll(events, sizeof events / sizeof events[0], 0) <= 0 && left_ms != 0)
        return left_ms < 0 ? UINT64_MAX : (uint64_t)left_ms;
    crest_quiet_signals quiet;
    crest_quiet_signals_begin(&quiet);
    (void)!read(server->wake, &count, sizeof count);
    scrape_server_round(server);
    if (scrape_server_make_pages(server) && !server->orphaned)
        scrape_server_round(server); /* the pages go out at once */
    crest_quiet_signals_end(&quiet);
    if (server->orphaned)
        return UINT64_MAX;
    scrape_server_listen(server);
    left_ms = scrape_server_patience(server, 0, 0);
    return left_ms < 0 ? UINT64_MAX : (uint64_t)left_ms;
}

/* ---- starting and stopping, from outside ---- */

static void scrape_server_free(crest_scrape_server *server)
{
    if (server->listener.socket >= 0)
        close(server->listener.socket);
    if (server->wake >= 0)
        close(server->wake);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server->connections);
    free(server);
}

/* Starts libmicrohttpd in a mode in which it works only when called. */
static int scrape_server_start_daemon(crest_scrape_server *server,
                                      const crest_scrape_handlers *handlers)
{
    crest_low_descriptors low;
    crest_low_descriptors_take(&low);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, handlers->handle, server, MHD_OPTION_EXTERNAL_LOGGER, scrape_server_note,
        server, MHD_OPTION_CONNECTION_LIMIT, server->settings->connections + 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CREST_PROMETHEUS_REQUEST_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_URI_LOG_CALLBACK, handlers->uri, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, handlers->completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        crest_scrape_connections_notify, server, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_END);
    crest_low_descriptors_leave(&low);
    if (server->daemon == NULL)
        return -1;
    server->epoll = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return 0;
}

/* NULL without memory. */
static crest_scrape_server *scrape_server_new(const crest_scrape_settings *settings,
                                              crest_registry *registry)
{
    crest_scrape_server *server = calloc(1, sizeof *server);
    crest_scrape_connection *connections = calloc(settings->connections, sizeof *connections);
    if (server == NULL || connections == NULL) {
        free(server);
        free(connections);
        return NULL;
    }
    for (unsigned i = 0; i < settings->connections; i++)
        connections[i].socket = -1;
    server->settings = settings;
    server->registry = registry;
    server->connections = connections;
    server->listener.socket = -1;
    server->wake = -1;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&server->lock, NULL);
    return server;
}

static crest_status scrape_server_set_up(crest_scrape_server *server,
                                         const crest_scrape_handlers *handlers, crest_error *error)
{
    server->wake = crest_reporter_descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (server->wake < 0 || scrape_server_start_daemon(server, handlers) != 0)
        return crest_error_set(error, CREST_SYSTEM,
                               "No scrape endpoint could be set up: %s. It needs about %u "
                               "descriptors (ulimit -n) and some memory",
                               strerror(errno), server->settings->connections + 8);
    crest_status status =
        crest_scrape_address_listen(server->settings->listen, &server->listener, error);
    if (status != CREST_OK)
        return status;
    if (crest_loop_only()) {
        status = scrape_server_join_loop(server, error);
        if (status == CREST_OK)
            scrape_server_list(server);
        return status;
    }
    scrape_server_list(server);
    int failed = crest_reporter_thread(&server->thread, scrape_server_run, server);
    if (failed == 0)
        return CREST_OK;
    pthread_mutex_lock(&scrape_server_lock);
    scrape_server_unlist(server);
    pthread_mutex_unlock(&scrape_server_lock);
    return crest_error_set(error, CREST_SYSTEM,
                           "No thread for the scrape endpoint on %s: %s. Make room for one more "
                           "(ulimit -u, ulimit -v)",
                           server->listener.shown, strerror(failed));
}

crest_scrape_server *crest_scrape_server_start(const crest_scrape_settings *settings,
                                               const crest_scrape_handlers *handlers,
                                               crest_registry *registry, crest_status *status,
                                               crest_error *error)
{
    if (settings->other == NULL)
        crest_scrape_figures_make();
    pthread_once(&scrape_server_once, scrape_server_prepare_once);
    crest_scrape_server *server = scrape_server_new(settings, registry);
    *status = server != NULL
                  ? scrape_server_set_up(server, handlers, error)
                  : crest_error_set(error, CREST_NO_MEMORY, "No memory for a scrape endpoint");
    if (*status == CREST_OK || server == NULL)
        return server;
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    scrape_server_free(server);
    return NULL;
}

crest_status crest_scrape_server_stop(crest_scrape_server *server, uint64_t deadline_ns,
                                      crest_error *error)
{
    static const uint64_t one = 1;
    if (server->orphaned)
        return CREST_OK;
    uint64_t now_ns = crest_scrape_now_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    uint64_t closing_ns = left_ns / SCRAPE_SERVER_CLOSING_SHARE;
    if (closing_ns > SCRAPE_SERVER_CLOSING_MS_MAX * SCRAPE_SERVER_NS_PER_MS)
        closing_ns = SCRAPE_SERVER_CLOSING_MS_MAX * SCRAPE_SERVER_NS_PER_MS;
    const struct timespec until = {(time_t)((now_ns + left_ns) / SCRAPE_SERVER_NS_PER_S),
                                   (long)((now_ns + left_ns) % SCRAPE_SERVER_NS_PER_S)};
    pthread_mutex_lock(&server->lock);
    server->stopping = 1;
    server->stop_ns = now_ns + left_ns - closing_ns;
    (void)!write(server->wake, &one, sizeof one);
    pthread_mutex_unlock(&server->lock);
    if (server->loop && !server->ended)
        scrape_server_leave_loop(server);
    pthread_mutex_lock(&server->lock);
    while (!server->ended)
        if (pthread_cond_timedwait(&server->changed, &server->lock, &until) == ETIMEDOUT)
            break;
    int ended = server->ended;
    pthread_mutex_unlock(&server->lock);
    if (!ended)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "The scrape endpoint on %s did not end in time: a page is still "
                               "being made. Give it a longer deadline",
                               server->listener.shown);
    if (!server->loop)
        pthread_join(server->thread, NULL);
    scrape_server_free(server);
    return CREST_OK;
}

unsigned crest_scrape_server_port(crest_scrape_server *server)
{
    return server->orphaned ? 0 : server->listener.port;
}
