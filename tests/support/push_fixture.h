/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the Pushgateway reporter share: a server in the test, a registry with a counter
 * in it, and pushes from one to the other.
 */
#ifndef CREST_TESTS_PUSH_FIXTURE_H
#define CREST_TESTS_PUSH_FIXTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include <cmocka.h>
#include <crest/crest.h>
#include <crest/pushgateway.h>

#include "kinds.h"
#include "run/options.h"
#include "support/fake_server.h"

#define PUSH_MS UINT64_C(1000000)

static fake_server server;
static char server_url[64];
static crest_registry *registry;
static crest_error error;
/* A crest_resource's initialiser. */
#define WHO(service_, version_, instance_)                                                         \
    {                                                                                              \
        .service = (service_), .version = (version_), .instance = (instance_)                      \
    }

static const crest_resource resource = {
    .service = "rnode", .version = "0.13", .instance = "node-1"};

static inline int set_up(void **state)
{
    (void)state;
    fake_server_start(&server);
    snprintf(server_url, sizeof server_url, "http://127.0.0.1:%u", server.port);
    registry = crest_registry_new(NULL);
    assert_non_null(registry);
    crest_metric_options options = {.name = "push.things-done", .description = "Done."};
    crest_counter_add(crest_counter_get(registry, &options, NULL), 3);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    crest_registry_free(registry);
    fake_server_stop(&server);
    return 0;
}

static inline crest_reporter *make(crest_pushgateway_options options)
{
    if (options.url == NULL)
        options.url = server_url;
    crest_reporter *reporter = crest_pushgateway_new(&options, &error);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static inline crest_status push_as(crest_reporter *reporter, const crest_resource *who, int final,
                                   uint64_t timeout_ms)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    assert_non_null(snapshot);
    crest_report report = {.snapshot = snapshot,
                           .resource = who,
                           .deadline_ns = crest_now() + timeout_ms * PUSH_MS,
                           .final = final};
    memset(&error, 0, sizeof error);
    crest_status status = reporter->report(reporter, &report, &error);
    crest_snapshot_free(snapshot);
    return status;
}

static inline crest_status push(crest_reporter *reporter)
{
    return push_as(reporter, &resource, 0, FAKE_SERVER_MS);
}

static inline void check_says(const char *says)
{
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" is not in: %s", says, error.message);
}

/* The page of the last push, decompressed if need be; the caller frees it. */
static char *pushed_page(void)
{
    size_t size = 1u << 20;
    char *page = calloc(1, size);
    assert_non_null(page);
    if (!fake_server_got(&server, "\r\nContent-Encoding: gzip\r\n")) {
        assert_true(server.body_length < size);
        memcpy(page, server.body, server.body_length);
        return page;
    }
    z_stream inflater = {.next_in = server.body, .avail_in = (uInt)server.body_length};
    inflater.next_out = (Bytef *)page;
    inflater.avail_out = (uInt)size - 1;
    assert_int_equal(inflateInit2(&inflater, 15 + 16), Z_OK);
    assert_int_equal(inflate(&inflater, Z_FINISH), Z_STREAM_END);
    inflateEnd(&inflater);
    return page;
}

static inline void check_page(const char *says, int wanted)
{
    char *page = pushed_page();
    if ((strstr(page, says) != NULL) != wanted)
        fail_msg("\"%s\" is %s: %s", says, wanted ? "not in" : "in", page);
    free(page);
}

static inline crest_reporter *create(const char *text)
{
    crest_options *options = crest_options_new();
    assert_non_null(options);
    memset(&error, 0, sizeof error);
    assert_int_equal(crest_options_add(options, text, "in the test", &error), CREST_OK);
    size_t keys = 0;
    while (crest_pushgateway_kind.keys[keys] != NULL)
        keys++;
    assert_int_equal(crest_options_check_keys(options, crest_pushgateway_kind.keys, keys, &error),
                     CREST_OK);
    crest_reporter *reporter =
        crest_pushgateway_kind.create(server_url, options, &resource, &error);
    crest_options_free(options);
    return reporter;
}

#define PUSH_WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
