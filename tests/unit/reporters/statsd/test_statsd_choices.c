/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a StatsD reporter's options choose, as the server reads it: results of windows, of which a
 * reporter sends few, and counters of time, whole or with fractions. The clock is stepped.
 */
#include "support/statsd_fixture.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* A server that keeps all it is sent until it is looked at, in order. */
typedef struct receiver {
    int fd;
    struct sockaddr_un address;
    char url[128];
    char text[1u << 16];
} receiver;

static void receiver_open(receiver *server)
{
    server->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(server->address.sun_path, sizeof server->address.sun_path,
             "/tmp/crest-statsd-choices-%ld", (long)getpid());
    snprintf(server->url, sizeof server->url, "unix://%s", server->address.sun_path);
    unlink(server->address.sun_path);
    server->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&server->address, sizeof server->address),
                     0);
}

static void receiver_close(receiver *server)
{
    close(server->fd);
    unlink(server->address.sun_path);
}

/* Every line of a report, after a line feed. */
static const char *reported(receiver *server, crest_reporter *reporter, crest_registry *registry,
                            int final)
{
    crest_error error = {0};
    crest_resource resource = {.service = "", .version = "", .instance = ""};
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_report report = {.snapshot = snapshot,
                           .resource = &resource,
                           .deadline_ns = crest_now() + 60 * SECOND,
                           .final = final};
    if (reporter->report(reporter, &report, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_snapshot_free(snapshot);
    size_t length = 0, room = sizeof server->text - 2;
    ssize_t got;
    while ((got = recv(server->fd, server->text + length + 1, room - length, MSG_DONTWAIT)) > 0) {
        server->text[length] = '\n';
        length += (size_t)got + 1;
    }
    memcpy(server->text + length, "\n", 2);
    return server->text;
}

static void says(const char *text, const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(text, whole) == NULL)
        fail_msg("no line %s in%s", line, text);
}

static void says_nothing_of(const char *text, const char *words)
{
    if (strstr(text, words) != NULL)
        fail_msg("%s is in%s", words, text);
}

/* ---- windows ---- */

CREST_REGISTRY(looked_at);
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &looked_at
CREST_COUNTER(done, "w.done", "Done.");
CREST_TIMER(work, "w.work", "Work.", .quantiles = {0.5});
CREST_HISTOGRAM(sizes, "w.sizes", "Sizes.");
CREST_RANGE_SAMPLER(queue, "w.queue", "Waiting.");
CREST_HISTOGRAM(spread, "w.spread", "Spread.", .quantiles = {0.05, 0.5, 0.999, 0.99999999});

static void tick_for(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(SECOND);
        assert_int_equal(crest_testing_tick(&looked_at), CREST_OK);
    }
}

static void record_once(void)
{
    crest_counter_add(&done, 120);
    crest_timer_record(&work, 3 * (int64_t)SECOND, CREST_OUTCOME_OK);
    crest_histogram_record(&sizes, 10);
    crest_range_sampler_set(&queue, 3);
}

static void windows_are_sent_when_they_are_asked_for(void **state)
{
    (void)state;
    static receiver server;
    receiver_open(&server);
    crest_statsd_options options = {.url = server.url};
    crest_reporter *few = crest_statsd_new(&options, NULL);
    options.windows = 1;
    crest_reporter *all = crest_statsd_new(&options, NULL);
    crest_testing_clock_set(1000 * SECOND);
    tick_for(1);
    record_once();
    tick_for(60);
    const char *text = reported(&server, few, &looked_at, 0);
    says(text, "w.done:120|c");
    says(text, "w.queue:3|g");
    says(text, "w.queue.max1m:3|g");
    says_nothing_of(text, "rate1m");
    says_nothing_of(text, "peak1m");
    says_nothing_of(text, "w.sizes.max1m");
    text = reported(&server, all, &looked_at, 0);
    says(text, "w.done.rate1m:2|g");
    says(text, "w.sizes.max1m:10|g");
    says(text, "w.work.max1m.outcome.ok:3|g");
    says(text, "w.queue.max1m:3|g");
    /* nobody would take back what the last report says of a minute */
    text = reported(&server, all, &looked_at, 1);
    says(text, "w.queue:3|g");
    says_nothing_of(text, "1m");
    crest_testing_clock_real();
    crest_reporter_free(few);
    crest_reporter_free(all);
    receiver_close(&server);
}

/* That nothing took place is a rate of 0; what nothing took, or how large nothing was, is not 0. */
static void a_window_without_a_record_has_no_values(void **state)
{
    (void)state;
    static receiver server;
    receiver_open(&server);
    crest_statsd_options options = {.url = server.url, .windows = 1};
    crest_reporter *reporter = crest_statsd_new(&options, NULL);
    crest_testing_clock_set(5000 * SECOND);
    tick_for(1);
    record_once();
    tick_for(10);
    const char *text = reported(&server, reporter, &looked_at, 0);
    says(text, "w.sizes.avg1m:10|g");
    says(text, "w.work.avg1m.outcome.ok:3|g");
    assert_non_null(strstr(text, "\nw.work.p50_1m.outcome.ok:"));
    tick_for(70);
    text = reported(&server, reporter, &looked_at, 0);
    says(text, "w.sizes.rate1m:0|g");
    says(text, "w.work.rate1m.outcome.ok:0|g");
    says(text, "w.queue.min1m:3|g");
    says_nothing_of(text, "w.sizes.avg1m");
    says_nothing_of(text, "w.sizes.max1m");
    says_nothing_of(text, "w.work.avg1m");
    says_nothing_of(text, "w.work.max1m");
    says_nothing_of(text, "p50_1m");
    crest_testing_clock_real();
    crest_reporter_free(reporter);
    receiver_close(&server);
}

/* Dashboards ask for a quantile by its name: in percent, without zeros that say nothing. */
static void quantiles_are_named_in_percent(void **state)
{
    (void)state;
    static const char *const lines[] = {"p5_1m:10|g", "p50_1m:10|g", "p99_9_1m:20|g",
                                        "p99_999999_1m:20|g"};
    static receiver server;
    receiver_open(&server);
    crest_statsd_options options = {.url = server.url, .windows = 1};
    crest_reporter *reporter = crest_statsd_new(&options, NULL);
    crest_testing_clock_set(9000 * SECOND);
    tick_for(1);
    for (unsigned i = 0; i < 10; i++)
        crest_histogram_record(&spread, i < 9 ? 10 : 20);
    tick_for(3);
    const char *text = reported(&server, reporter, &looked_at, 0);
    for (size_t i = 0; i < LENGTH(lines); i++) {
        char line[64];
        snprintf(line, sizeof line, "w.spread.%s", lines[i]);
        says(text, line);
    }
    crest_testing_clock_real();
    crest_reporter_free(reporter);
    receiver_close(&server);
}

CREST_REGISTRY(young);
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &young
CREST_COUNTER(begun, "y.begun", "Begun.");
CREST_RANGE_SAMPLER(level, "y.level", "Level.");

/* Before its first second is over a window covers nothing, and is not there. */
static void a_window_that_covers_nothing_is_not_sent(void **state)
{
    (void)state;
    static receiver server;
    receiver_open(&server);
    crest_statsd_options options = {.url = server.url, .windows = 1};
    crest_reporter *reporter = crest_statsd_new(&options, NULL);
    crest_testing_clock_set(20000 * SECOND);
    assert_int_equal(crest_testing_tick(&young), CREST_OK);
    crest_counter_inc(&begun);
    crest_range_sampler_set(&level, 5);
    const char *text = reported(&server, reporter, &young, 0);
    says(text, "y.begun:1|c");
    says(text, "y.level:5|g");
    says_nothing_of(text, "1m");
    for (unsigned i = 0; i < 2; i++) {
        crest_testing_clock_advance(SECOND);
        assert_int_equal(crest_testing_tick(&young), CREST_OK);
    }
    text = reported(&server, reporter, &young, 0);
    says(text, "y.level.max1m:5|g");
    assert_non_null(strstr(text, "\ny.begun.rate1m:"));
    crest_testing_clock_real();
    crest_reporter_free(reporter);
    receiver_close(&server);
}

/* ---- counters of time ---- */

CREST_REGISTRY(timed);
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &timed
CREST_COUNTER(busy, "t.busy", "Time.", .unit = CREST_NANOSECONDS);

/* Two reporters, each with what was left over in its own count. */
static void time_left_over_goes_with_a_later_report(void **state)
{
    (void)state;
    static receiver server;
    receiver_open(&server);
    crest_statsd_options options = {.url = server.url};
    crest_reporter *whole = crest_statsd_new(&options, NULL);
    options.whole_seconds = -1;
    crest_reporter *exact = crest_statsd_new(&options, NULL);
    static const char *const wholes[] = {"0", NULL, NULL, NULL, "1", NULL, NULL, NULL, "1", NULL};
    for (unsigned i = 0; i < LENGTH(wholes); i++) {
        crest_counter_add(&busy, 9 * (int64_t)SECOND / 40);
        const char *text = reported(&server, whole, &timed, 0);
        char line[64];
        snprintf(line, sizeof line, "t.busy:%s|c", wholes[i] != NULL ? wholes[i] : "");
        if (wholes[i] != NULL)
            says(text, line);
        else
            says_nothing_of(text, "t.busy:");
        says(reported(&server, exact, &timed, 0), "t.busy:0.225|c");
    }
    crest_counter_add(&busy, 5 * (int64_t)SECOND);
    says(reported(&server, whole, &timed, 0), "t.busy:5|c");
    crest_counter_add(&busy, 3 * (int64_t)SECOND / 4);
    says(reported(&server, whole, &timed, 0), "t.busy:1|c");
    crest_counter_add(&busy, 7 * (int64_t)SECOND / 4);
    const char *last = reported(&server, whole, &timed, 1);
    says(last, "t.busy:1|c");
    says(last, "t.busy:0.75|c");
    crest_reporter_free(whole);
    crest_reporter_free(exact);
    receiver_close(&server);
}

static void dialects_and_options_say_which(void **state)
{
    (void)state;
    static const struct {
        crest_statsd_dialect dialect;
        int whole_seconds;
        const char *line;
    } cases[] = {{CREST_STATSD_ETSY, 0, "t.busy:19|c"},
                 {CREST_STATSD_ETSY, -1, "t.busy:19.5|c"},
                 {CREST_STATSD_DATADOG, 0, "t.busy:19.5|c"},
                 {CREST_STATSD_DATADOG, 1, "t.busy:19|c"}};
    static receiver server;
    receiver_open(&server);
    uint64_t so_far = crest_counter_value(&busy);
    crest_counter_add(&busy, (int64_t)(39 * SECOND / 2 - so_far));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_statsd_options options = {.url = server.url,
                                        .dialect = cases[i].dialect,
                                        .whole_seconds = cases[i].whole_seconds};
        crest_reporter *reporter = crest_statsd_new(&options, NULL);
        says(reported(&server, reporter, &timed, 0), cases[i].line);
        crest_reporter_free(reporter);
    }
    receiver_close(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_sent_when_they_are_asked_for),
        cmocka_unit_test(a_window_without_a_record_has_no_values),
        cmocka_unit_test(quantiles_are_named_in_percent),
        cmocka_unit_test(a_window_that_covers_nothing_is_not_sent),
        cmocka_unit_test(time_left_over_goes_with_a_later_report),
        cmocka_unit_test(dialects_and_options_say_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
