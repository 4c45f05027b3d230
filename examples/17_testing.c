/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Testing a program's instrumentation: growth since a mark, a clock that stands still, ticks
 * without waiting, and a reporter that keeps its reports. Instead of a framework's assertion this
 * prints what a test would see.
 */
#include <crest/crest.h>
#include <crest/testing.h>
#include <stdio.h>

#define SECOND_NS UINT64_C(1000000000)

CREST_COUNTER_FAMILY(messages, "comm.messages", "Messages sent.", kind);
CREST_TIMER(handshake, "comm.handshake-time", "Dial to handshake.");

/* ---- what is tested ---- */

static void send_pings(int count)
{
    for (int i = 0; i < count; i++)
        crest_counter_inc(messages_with("ping"));
}

/* ---- the tests ---- */

static void expect(const char *what, crest_status status, const crest_error *error)
{
    printf("%s: %s\n", what, status == CREST_OK ? "ok" : error->message);
}

int main(void)
{
    crest_error error;
    send_pings(40); /* another test, in the same process */

    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    send_pings(3);
    expect("three pings are counted",
           crest_testing_grew(mark, 3, &error, "comm.messages", "kind", "ping", NULL), &error);
    expect("a test that expects four",
           crest_testing_grew(mark, 4, &error, "comm.messages", "kind", "ping", NULL), &error);
    expect("a test with a wrong name",
           crest_testing_grew(mark, 3, &error, "comm.message", "kind", "ping", NULL), &error);

    /* time passes only when told */
    crest_op op = crest_op_text("10.0.0.7");
    crest_testing_clock_set(SECOND_NS);
    crest_timing timing = crest_timer_start(&handshake, op);
    crest_testing_clock_advance(25000000);
    crest_timing_stop(&timing, op);
    crest_testing_reading reading;
    expect("the handshake is timed",
           crest_testing_read(NULL, mark, &reading, &error, "comm.handshake-time", "outcome", "ok",
                              NULL),
           &error);
    printf("  it took %.3f s\n", (double)reading.sum * 1e-9);
    crest_testing_mark_free(mark);

    /* so do ticks: ten pings a second, for five seconds */
    crest_testing_tick(NULL);
    for (int i = 0; i < 5; i++) {
        send_pings(10);
        crest_testing_clock_advance(SECOND_NS);
        crest_testing_tick(NULL);
    }
    crest_rate rate = crest_counter_rate(messages_with("ping"), CREST_WINDOW_S);
    printf("the rate is %.0f/s, its peak %.0f/s\n", rate.per_second, rate.peak);
    crest_ticker_detach(NULL);
    crest_testing_clock_real();

    /* what a server would get, and what happens when it is down */
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    crest_testing_reporter_fail(reporter, 1, CREST_UNREACHABLE, "the server is down");
    expect("the first report", crest_report_once(NULL, reporter, 0, &error), &error);
    expect("the second report", crest_report_once(NULL, reporter, 0, &error), &error);
    crest_testing_report report;
    double value;
    crest_testing_reporter_get(reporter, 1, &report);
    crest_testing_page_value(report.page, "comm_messages_total{kind=\"ping\"}", &value);
    printf("  it has %.0f pings\n", value);
    crest_reporter_free(reporter);
    return 0;
}
