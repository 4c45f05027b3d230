/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrape endpoint over a libmicrohttpd that takes connections in later, as 1.0 does: what is
 * added is worked through, and told of, in the next MHD_run, when others have been added behind it;
 * one that it has no memory for is closed there without a word.
 */
#define _GNU_SOURCE
#include <crest/crest.h>
#include <crest/prometheus.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/core_fixture.h"
#include "support/http_get.h"

#define ADDED_MAX 64

CREST_COUNTER(things, "test.things", "Counted here.");

/* Only the server's thread calls libmicrohttpd. */
static struct {
    int socket;
    struct sockaddr_storage address;
    socklen_t size;
} added[ADDED_MAX];
static unsigned added_count;
static int added_together_max, refuse_all; /* of several threads: atomically */

/* These come before the library's own, and are declared as there; its 1 is yes, its 0 no. */
struct MHD_Daemon;
typedef int add_function(struct MHD_Daemon *daemon, int client, const struct sockaddr *address,
                         socklen_t size);
typedef int run_function(struct MHD_Daemon *daemon);
add_function MHD_add_connection;
run_function MHD_run;

int MHD_add_connection(struct MHD_Daemon *daemon, int client, const struct sockaddr *address,
                       socklen_t size)
{
    (void)daemon;
    if (added_count == ADDED_MAX)
        return 0;
    added[added_count].socket = client;
    added[added_count].size = size;
    memcpy(&added[added_count++].address, address, size);
    if ((int)added_count > __atomic_load_n(&added_together_max, __ATOMIC_RELAXED))
        __atomic_store_n(&added_together_max, (int)added_count, __ATOMIC_RELAXED);
    return 1;
}

int MHD_run(struct MHD_Daemon *daemon)
{
    add_function *add = (add_function *)dlsym(RTLD_NEXT, "MHD_add_connection");
    run_function *run = (run_function *)dlsym(RTLD_NEXT, "MHD_run");
    for (unsigned i = 0; i < added_count; i++) {
        if (__atomic_load_n(&refuse_all, __ATOMIC_RELAXED))
            close(added[i].socket);
        else
            add(daemon, added[i].socket, (struct sockaddr *)&added[i].address, added[i].size);
    }
    added_count = 0;
    return run(daemon);
}

static crest_reporter *serve(void)
{
    crest_error error = {0};
    crest_reporter *scrape =
        crest_prometheus_new(&(crest_prometheus_options){.listen = "0", .connections = 8}, &error);
    if (scrape == NULL || crest_reporter_attach(NULL, scrape, NULL, &error) != CREST_OK)
        fail_msg("%s", error.message);
    return scrape;
}

static void stop(crest_reporter *scrape)
{
    crest_error error = {0};
    if (crest_reporter_detach(scrape, 20000, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_reporter_free(scrape);
}

/* Pages for clients that have gone may still be under way, as many as there may be at a time. */
static void expect_page(crest_reporter *scrape)
{
    char *page = NULL;
    for (int tries = 0; page == NULL && tries < 200; tries++) {
        size_t length;
        page = http_get(crest_prometheus_port(scrape), "/metrics", "", &length);
        if (page == NULL)
            usleep(100000);
    }
    assert_non_null(page);
    assert_non_null(strstr(page, "\ntest_things_total 7\n"));
    free(page);
}

/* Many ask and close at once, some do not even ask; those who wait are answered. */
static void clients_that_ask_and_go_leave_it_serving(void **state)
{
    (void)state;
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    crest_reporter *scrape = serve();
    unsigned port = crest_prometheus_port(scrape);
    for (int round = 0; round < 200; round++) {
        int clients[6];
        for (unsigned i = 0; i < LENGTH(clients); i++)
            clients[i] = http_connect(port);
        for (unsigned i = 0; i < LENGTH(clients); i++) {
            if (clients[i] < 0)
                continue;
            if (i % 3 != 2)
                (void)!send(clients[i], request, sizeof request - 1, MSG_NOSIGNAL);
            close(clients[i]);
        }
        if (round % 20 == 0)
            expect_page(scrape);
    }
    expect_page(scrape);
    /* else nothing here was what it is about */
    assert_true(__atomic_load_n(&added_together_max, __ATOMIC_RELAXED) > 1);
    stop(scrape);
}

/* None keeps a place, of which there are eight. */
static void connections_that_are_never_told_of_are_forgotten(void **state)
{
    (void)state;
    crest_reporter *scrape = serve();
    unsigned port = crest_prometheus_port(scrape);
    __atomic_store_n(&refuse_all, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 40; i++) {
        char byte;
        int client = http_connect(port);
        assert_true(client >= 0);
        assert_true(recv(client, &byte, 1, 0) <= 0); /* closed by the other side */
        close(client);
    }
    __atomic_store_n(&refuse_all, 0, __ATOMIC_RELAXED);
    expect_page(scrape);
    stop(scrape);
}

int main(void)
{
    crest_counter_add(&things, 7);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_that_ask_and_go_leave_it_serving),
        cmocka_unit_test(connections_that_are_never_told_of_are_forgotten),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("scrape_deferred", tests, NULL, NULL);
}
