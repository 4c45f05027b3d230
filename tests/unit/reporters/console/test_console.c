/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter: its table byte for byte against tests/golden, and whole reports to streams
 * and terminals. To rewrite the golden files after a wanted change, and then look at the
 * diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/reporters/console/test_console
 */
#define _GNU_SOURCE
#include "console/console_columns.h"
#include "console/console_table.h"
#include "kinds.h"
#include "support/decimal_comma.h"

#include <crest/console.h>
#include <crest/crest.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define TEXTS(...) ((const char *const[]){__VA_ARGS__})

CREST_COUNTER_FAMILY(deploys, "test.console-deploys", "Deploys.", kind);
CREST_GAUGE(peers, "test.console-peers", "Peers.");
CREST_TIMER(ping, "test.console-ping-time", "Ping.");

/* ---- the table ---- */

typedef struct gathered {
    char text[65536];
    size_t length;
    unsigned pieces;
    unsigned refuse_at; /* the piece to refuse; 0: none */
} gathered;

static int gather(void *context, const void *bytes, size_t length)
{
    gathered *into = context;
    if (++into->pieces == into->refuse_at)
        return 42;
    assert_true(into->length + length < sizeof into->text);
    memcpy(into->text + into->length, bytes, length);
    into->length += length;
    into->text[into->length] = '\0';
    return 0;
}

static const crest_console_row rows[] = {
    {.name = "casper.blocks-created",
     .kind = CREST_KIND_COUNTER,
     .counter = 12,
     .window = {.covered_s = 60, .per_second = 0.2, .peak = 2}},
    {.name = "casper.replay-time",
     .label_count = 1,
     .label_keys = TEXTS("outcome"),
     .label_values = TEXTS("ok"),
     .kind = CREST_KIND_TIMER,
     .unit = CREST_NANOSECONDS,
     .count = 1000,
     .sum = 1240000000,
     .p50 = 1100000,
     .p99 = 9990000,
     .maximum = 2500000000,
     .window = {.covered_s = 60,
                .per_second = 1,
                .peak = 3,
                .maximum = 45300,
                .events = 60,
                .slowest = {{UINT64_MAX, 12, 0, 0}, 16, CREST_OP_U64X2}}},
    {.name = "casper.replay-time",
     .label_count = 1,
     .label_keys = TEXTS("outcome"),
     .label_values = TEXTS("error"),
     .kind = CREST_KIND_TIMER,
     .unit = CREST_NANOSECONDS},
    {.name = "comm.bytes",
     .label_count = 2,
     .label_keys = TEXTS("direction", "peer"),
     .label_values = TEXTS("in", "10.0.0.7:40400"),
     .kind = CREST_KIND_COUNTER,
     .unit = CREST_BYTES,
     .counter = 1288490188,
     .window = {.covered_s = 60, .per_second = 3481.6, .peak = 9318.4}},
    {.name = "comm.load", .kind = CREST_KIND_GAUGE, .unit = CREST_RATIO, .gauge = -0.125},
    {.name = "comm.message-size",
     .kind = CREST_KIND_HISTOGRAM,
     .unit = CREST_BYTES,
     .count = 3,
     .sum = 3000,
     .p50 = 1000,
     .p99 = 1023,
     .maximum = 1023},
    {.name = "comm.ping-time",
     .kind = CREST_KIND_TIMER,
     .unit = CREST_NANOSECONDS,
     .count = 2,
     .sum = 3000,
     .p50 = 1000,
     .p99 = 2000,
     .maximum = 2000,
     .window = {.covered_s = 60,
                .maximum = 2000,
                .events = 2,
                .slowest = {{UINT64_C(0x1b9b2220676e6970), 'x', 0, 0}, 9, CREST_OP_TEXT}}},
    {.name = "comm.peers", .kind = CREST_KIND_GAUGE, .gauge = 12},
    {.name = "comm.text",
     .label_count = 1,
     .label_keys = TEXTS("peer"),
     .label_values = TEXTS("\x1b[31m\"x\\\n\x7f\xc2\x9b caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac"),
     .kind = CREST_KIND_COUNTER,
     .counter = UINT64_MAX},
    {.name = "comm.queue",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .current = -3,
     .window = {.covered_s = 60, .minimum = -5, .average = 1234.5678, .maximum = 987654}},
    {.name = "comm.waiting",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .unit = CREST_BYTES,
     .current = 4096},
    {.name = "memory.resident", .kind = CREST_KIND_GAUGE, .unit = CREST_BYTES, .gauge = 123456789},
};

static crest_console_page page_of(unsigned width)
{
    crest_console_page page = {
        .wall_ns = UINT64_C(1700000000123456789),
        .resource = {.service = "rnode", .version = "0.13", .instance = "host-\x1b[2J"},
        .rows = rows,
        .row_count = LENGTH(rows),
        .width = width,
    };
    return page;
}

/* Compares with tests/golden/<name>; rewrites it instead when asked to. */
static void assert_golden(const gathered *text, const char *name)
{
    char path[64], expected[sizeof text->text];
    snprintf(path, sizeof path, "tests/golden/%s", name);
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text->text, 1, text->length, file), text->length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read; run this from the top of the tree", path);
    size_t length = fread(expected, 1, sizeof expected - 1, file);
    fclose(file);
    expected[length] = '\0';
    assert_string_equal(text->text, expected);
}

static void test_table(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_page page = page_of(0);
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    assert_golden(text, "console.txt");
    free(text);
}

static void test_narrow_table(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_page page = page_of(72);
    page.final = 1;
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    assert_golden(text, "console_narrow.txt");
    /* however narrow, it is written whole */
    for (unsigned width = 1; width < 120; width++) {
        memset(text, 0, sizeof *text);
        page.width = width;
        assert_int_equal(crest_console_table_write(&page, gather, text), 0);
        for (size_t i = 0; i < LENGTH(rows); i++)
            assert_non_null(strstr(text->text, rows[i].name));
        assert_non_null(strstr(text->text, "18446744073709551615"));
    }
    free(text);
}

static void test_plain(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_page page = page_of(0);
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->text[i];
        assert_true((c >= ' ' && c != 127) || c == '\n');
    }
    assert_null(strstr(text->text, "\xc2\x9b"));
    /* no line ends in blanks */
    assert_null(strstr(text->text, " \n"));
    free(text);
}

/* A label without a value is one that a series of an open family has not got. */
static void test_open_family(void **state)
{
    (void)state;
    static const char *const keys[] = {"kind", "peer"};
    gathered *text = calloc(1, sizeof *text);
    crest_console_row open[] = {{.name = "a", .label_values = TEXTS("", "x")},
                                {.name = "b", .label_values = TEXTS("", "")}};
    for (size_t i = 0; i < LENGTH(open); i++) {
        open[i].kind = CREST_KIND_COUNTER;
        open[i].open = 1;
        open[i].label_count = 2;
        open[i].label_keys = keys;
    }
    crest_console_page page = page_of(0);
    page.rows = open;
    page.row_count = LENGTH(open);
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    assert_non_null(strstr(text->text, "a{peer=\"x\"} "));
    assert_non_null(strstr(text->text, "b "));
    assert_null(strstr(text->text, "b{"));
    assert_null(strstr(text->text, "kind"));
    free(text);
}

static void test_empty_and_stopped(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_page empty = {.resource = {.service = "", .version = "", .instance = ""}};
    assert_int_equal(crest_console_table_write(&empty, gather, text), 0);
    assert_string_equal(text->text, "Crest  1970-01-01 00:00:00 UTC\n\n");
    crest_console_page page = page_of(0);
    memset(text, 0, sizeof *text);
    crest_console_table_write(&page, gather, text);
    unsigned pieces = text->pieces;
    assert_true(pieces > 50);
    for (unsigned refuse_at = 1; refuse_at <= pieces; refuse_at++) {
        memset(text, 0, sizeof *text);
        text->refuse_at = refuse_at;
        assert_int_equal(crest_console_table_write(&page, gather, text), 42);
        assert_int_equal(text->pieces, refuse_at);
    }
    free(text);
}

/* ---- terminals ---- */

static const float rising[] = {0, 0.001f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

/* The same rows with trends, as on a terminal. */
static crest_console_page terminal_page(crest_console_row *copies, unsigned width)
{
    memcpy(copies, rows, sizeof rows);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        copies[i].points = rising;
        copies[i].point_count = (unsigned)(i * 2) % (CREST_CONSOLE_POINTS + 1);
    }
    crest_console_page page = page_of(width);
    page.rows = copies;
    return page;
}

static void test_terminal_table(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_row copies[LENGTH(rows)];
    crest_console_page page = terminal_page(copies, 140);
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    assert_golden(text, "console_terminal.txt");
    free(text);
}

/* No line is wider than the terminal, from the width on that the figures alone need; but lines of
 * their own, which long names have. */
static void test_widths(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_row copies[LENGTH(rows)];
    for (unsigned width = 78; width < 200; width++) {
        crest_console_page page = terminal_page(copies, width);
        page.ascii = width % 2 != 0;
        memset(text, 0, sizeof *text);
        assert_int_equal(crest_console_table_write(&page, gather, text), 0);
        char *line = strchr(text->text, '\n') + 1;
        for (char *feed; (feed = strchr(line, '\n')) != NULL; line = feed + 1) {
            size_t columns = crest_console_columns(line, (size_t)(feed - line));
            *feed = '\0';
            if (columns > width && strchr(line, '{') == NULL)
                fail_msg("%zu columns of %u: %s", columns, width, line);
        }
    }
    free(text);
}

static void test_ascii(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_row copies[LENGTH(rows)];
    crest_console_page page = terminal_page(copies, 160);
    page.ascii = 1;
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    for (size_t i = 0; i < text->length; i++)
        assert_true((unsigned char)text->text[i] < 0x7f);
    assert_non_null(strstr(text->text, "caf\\u00e9 \\u65e5\\u672c"));
    assert_non_null(strstr(text->text, "45.3 us"));
    assert_non_null(strstr(text->text, "_.:"));
    free(text);
}

static void test_colour_and_redraw(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_console_row copies[LENGTH(rows)];
    crest_console_page page = terminal_page(copies, 160);
    page.colour = 1;
    copies[2].window = (crest_window){.covered_s = 60, .events = 3};
    assert_int_equal(crest_console_table_write(&page, gather, text), 0);
    assert_int_equal(strncmp(text->text, "\x1b[1mCrest  2023", 15), 0);
    assert_non_null(strstr(text->text, "\x1b[31mcasper.replay-time{outcome=\"error\"}\x1b[0m"));
    assert_null(strstr(text->text, "\x1b[31mcasper.replay-time{outcome=\"ok\"}"));
    /* drawn over: as many lines as there are, each cleared to its end */
    page.colour = 0;
    page.redraw = 1;
    for (unsigned height = 8; height < 40; height++) {
        memset(text, 0, sizeof *text);
        page.height = height;
        assert_int_equal(crest_console_table_write(&page, gather, text), 0);
        assert_int_equal(strncmp(text->text, "\x1b[HCrest  2023", 14), 0);
        assert_string_equal(text->text + text->length - 3, "\x1b[J");
        unsigned lines = 0;
        for (const char *at = text->text; (at = strchr(at, '\n')) != NULL; at++, lines++)
            assert_memory_equal(at - 3, "\x1b[K", 3);
        assert_true(lines < height);
        assert_true(lines > 20 || strstr(text->text, " more that the terminal has no lines for"));
    }
    free(text);
}

/* ---- the reporter ---- */

/* What no report should need, however busy the machine is. */
#define REPORT_MS 60000
/* What a report has whose terminal is stopped. */
#define STOPPED_MS 300

/* A terminal of this width that nobody draws; gives the end that reads it. */
static FILE *terminal_of(unsigned short columns, unsigned short lines, int *reader)
{
    int ends[2];
    const struct winsize size = {.ws_col = columns, .ws_row = lines};
    assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, &size), 0);
    struct termios modes;
    assert_int_equal(tcgetattr(ends[1], &modes), 0);
    cfmakeraw(&modes);
    assert_int_equal(tcsetattr(ends[1], TCSANOW, &modes), 0);
    *reader = ends[0];
    return fdopen(ends[1], "w");
}

static crest_reporter *console_of(const crest_console_options *options)
{
    crest_error error;
    crest_reporter *console = crest_console_new(options, &error);
    if (console == NULL)
        fail_msg("%s", error.message);
    return console;
}

/* The kernel hands a terminal's bytes over later, and in pieces: what has come when the report is
 * done is no more than its beginning. So an end mark of our own follows it, and all before that is
 * the report. */
static char *report_on_terminal(crest_reporter *console, FILE *stream, int reader)
{
    static char text[1 << 16];
    static const char mark = '\x04'; /* a report has no such character */
    crest_error error;
    if (crest_report_once(NULL, console, REPORT_MS, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(write(fileno(stream), &mark, 1), 1);
    size_t length = 0;
    while (length == 0 || text[length - 1] != mark) {
        struct pollfd more = {.fd = reader, .events = POLLIN};
        assert_int_equal(poll(&more, 1, REPORT_MS), 1);
        assert_true(length < sizeof text);
        ssize_t came = read(reader, text + length, sizeof text - length);
        assert_true(came > 0);
        length += (size_t)came;
    }
    text[length - 1] = '\0';
    assert_true(length > 1 && memchr(text, mark, length - 1) == NULL);
    return text;
}

static void test_on_a_terminal(void **state)
{
    (void)state;
    int reader;
    FILE *stream = terminal_of(100, 40, &reader);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    crest_reporter *console = console_of(&(crest_console_options){.stream = stream, .redraw = 1});
    for (int i = 0; i < 3; i++) {
        crest_counter_add(deploys_with("trend"), i < 2 ? 5 : 0);
        usleep(2000);
        report_on_terminal(console, stream, reader);
    }
    char *text = report_on_terminal(console, stream, reader);
    assert_int_equal(strncmp(text, "\x1b[H\x1b[1mCrest", 12), 0);
    assert_non_null(strstr(text, "\xe2\x96\x88\xe2\x96\x81"));
    /* none of what the library has counted nothing of */
    assert_null(strstr(text, "cause=\"counter-full\""));
    crest_reporter_free(console);

    setenv("NO_COLOR", "1", 1);
    setenv("LC_ALL", "C", 1);
    console = console_of(&(crest_console_options){.stream = stream});
    report_on_terminal(console, stream, reader);
    text = report_on_terminal(console, stream, reader);
    for (const char *at = text; *at != '\0'; at++)
        assert_true((*at >= ' ' && *at < 0x7f) || *at == '\n');
    assert_non_null(strstr(text, "  trend"));
    crest_reporter_free(console);
    console = console_of(&(crest_console_options){.stream = stream, .colour = 1});
    assert_non_null(strstr(report_on_terminal(console, stream, reader), "\x1b[1m"));
    crest_reporter_free(console);
    unsetenv("NO_COLOR");
    setenv("LC_ALL", "", 1);
    fclose(stream);
    close(reader);
}

/* A terminal that takes no more: the report ends at its deadline, others can print meanwhile. */
static void test_stopped_terminal(void **state)
{
    (void)state;
    int reader;
    crest_error error;
    FILE *stream = terminal_of(100, 40, &reader);
    crest_reporter *console = console_of(&(crest_console_options){.stream = stream});
    assert_int_equal(tcflow(fileno(stream), TCOOFF), 0);
    uint64_t began_ns = 0;
    crest_status status = CREST_OK;
    for (int i = 0; i < 50 && status == CREST_OK; i++) {
        began_ns = crest_now();
        status = crest_report_once(NULL, console, STOPPED_MS, &error);
    }
    uint64_t took_ns = crest_now() - began_ns;
    assert_int_equal(status, CREST_TIMED_OUT);
    assert_non_null(strstr(error.message, "Ctrl-Q"));
    /* it waited for its deadline, but for what two clocks may differ in, and not for ever */
    assert_in_range(took_ns, STOPPED_MS * UINT64_C(900000), REPORT_MS * UINT64_C(1000000));
    assert_int_equal(ftrylockfile(stream), 0);
    funlockfile(stream);
    assert_int_equal(tcflow(fileno(stream), TCOON), 0);
    crest_reporter_free(console);
    close(reader);
    fclose(stream);
}

static void test_json_elsewhere(void **state)
{
    (void)state;
    crest_error error;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    crest_reporter *console = console_of(&(crest_console_options){.stream = stream});
    crest_counter_inc(deploys_with("json"));
    assert_int_equal(crest_report_once(NULL, console, REPORT_MS, &error), CREST_OK);
    assert_int_equal(strncmp(text, "{\"crest\":1,\"time\":\"20", 21), 0);
    assert_non_null(strstr(text, "\"labels\":{\"kind\":\"json\"},\"value\":1,"));
    assert_int_equal(text[length - 1], '\n');
    crest_reporter_free(console);
    fclose(stream);
    free(text);
}

static void test_closed_stream(void **state)
{
    (void)state;
    crest_error error;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    FILE *stream = fdopen(ends[1], "w");
    crest_reporter *console = console_of(&(crest_console_options){.stream = stream});
    /* SIGPIPE would end this program */
    assert_int_equal(crest_report_once(NULL, console, REPORT_MS, &error), CREST_IO);
    assert_string_equal(error.message, "console: writing the report: Broken pipe");
    crest_reporter_free(console);
    fclose(stream);
}

static void test_report(void **state)
{
    (void)state;
    crest_counter_add(deploys_with("transfer"), 5);
    crest_gauge_set(&peers, 2.5);
    crest_timer_record(&ping, 1500000, CREST_OUTCOME_OK);
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    crest_error error;
    crest_reporter *console =
        console_of(&(crest_console_options){.stream = stream, .format = CREST_CONSOLE_TABLE});
    assert_string_equal(console->name, "console");
    if (crest_report_once(NULL, console, REPORT_MS, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_non_null(strstr(text, "Crest  20"));
    assert_non_null(strstr(text, "(the last)"));
    assert_non_null(strstr(text, "\ntest.console-deploys{kind=\"transfer\"}  "));
    assert_non_null(strstr(text, "\ntest.console-peers  "));
    assert_non_null(strstr(text, "\ntest.console-ping-time{outcome=\"ok\"}  "));
    assert_non_null(strstr(text, "1.5 ms"));
    crest_reporter_free(console);
    fclose(stream);
    free(text);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
}

static void test_report_fails(void **state)
{
    (void)state;
    crest_error error;
    assert_null(crest_console_new(NULL, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    assert_null(crest_console_new(&(crest_console_options){.redraw = 1}, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        print_message("there is no /dev/full on this system\n");
        skip();
    }
    crest_reporter *console =
        console_of(&(crest_console_options){.stream = full, .format = CREST_CONSOLE_TABLE});
    assert_int_equal(crest_report_once(NULL, console, REPORT_MS, &error), CREST_IO);
    assert_string_equal(error.message, "console: writing the table: No space left on device");
    crest_reporter_free(console);
    fclose(full);
}

static void test_kind(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *console = crest_console_kind.create("10s", NULL, NULL, &error);
    assert_non_null(console);
    crest_reporter_free(console);
    assert_true(crest_console_kind.value_is_interval);
    static const char *const wrong[] = {
        "console=1h,console.format=xml", "console=1h,console.colour=2",
        "console=1h,console.redraw=maybe", "console=1h,console.x=1"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_int_not_equal(crest_start(wrong[i], &error), CREST_OK);
        assert_non_null(strstr(error.message, "console."));
    }
}

int main(void)
{
    decimal_comma(); /* which must not show */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_narrow_table),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_open_family),
        cmocka_unit_test(test_empty_and_stopped),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_fails),
        cmocka_unit_test(test_kind),
        cmocka_unit_test(test_terminal_table),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_colour_and_redraw),
        cmocka_unit_test(test_on_a_terminal),
        cmocka_unit_test(test_stopped_terminal),
        cmocka_unit_test(test_json_elsewhere),
        cmocka_unit_test(test_closed_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
