/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A little blockchain node, instrumented as a node team would do it: start, control, stop.
 * README.md beside this file has the map; node_options.c has the command line; each part declares
 * what it measures at the top of its own file. One line of options decides about reporting
 * (--crest-opts, CREST_OPTS):
 *
 *     node --index 0 --crest-opts pushgateway=http://127.0.0.1:9091,interval=1s,instance=node-0
 */
#include <crest/crest.h>
#include <crest/testing.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "node_consensus.h"
#include "node_hold.h"
#include "node_inbox.h"
#include "node_load.h"
#include "node_net.h"
#include "node_options.h"
#include "node_spread.h"
#include "node_turns.h"
#include "node_ways.h"
#include "node_worker.h"

/* How long crest_stop may take to push the last snapshot. */
#define MAIN_FLUSH_MS 5000
/* After a stop, other nodes' blocks still need this node's votes: the slowest vote and some more.
 */
#define MAIN_COURTESY_MS 300
#define MAIN_TURN_MS 50
/* How often it samples the inbound queue: the naive way, see inbox_sample. */
#define MAIN_SAMPLE_NS NODE_NS_PER_S
/* The node's own options, which the command line can override: the figures of the
 * process and the machine, and how late threads wake up. */
#define MAIN_CREST_OPTIONS "system=on,hiccups=on"
#define MAIN_CREST_BYTES 4096

static char main_line[256];
static size_t main_line_used;
static bool main_input_open = true;
static bool main_held; /* what was counted until then is told */

static void main_log(crest_log_level level, const char *message, void *context)
{
    static const char *const name[] = {"info", "warning", "error"};
    (void)context;
    node_say("%s: %s", name[level], message);
}

/* ---- what it has counted itself ---- */

static void main_report_series(report *r)
{
    report_series_begin(r, "series");
    load_report(r);
    inbox_report(r);
    worker_report(r);
    net_report(r);
    report_series_end(r);
    report_within(r);
    report_print(r);
}

/* Once, as soon as the node is held: what it has counted until there. */
static void main_report_held(void)
{
    uint64_t slot, ns;
    if (main_held || !hold_reached(&slot, &ns))
        return;
    main_held = true;
    report r;
    report_begin(&r, "held");
    report_member(&r, "slot", "%" PRIu64, slot);
    report_member(&r, "seconds", "%.3f", (double)ns / (double)NODE_NS_PER_S);
    main_report_series(&r);
}

/* ---- control ---- */

static void main_status(void)
{
    report r;
    report_begin(&r, "status");
    report_member(&r, "peers", "%u", net_peers());
    report_member(&r, "height", "%u", turns_height());
    report_member(&r, "unsettled", "%u", consensus_unsettled());
    report_member(&r, "deepest", "%" PRIu64, inbox_deepest());
    report_print(&r);
}

/* Returns true for "stop". */
static bool main_command(const char *line)
{
    unsigned notes;
    char more, folder[sizeof main_line];
    if (strcmp(line, "stop") == 0)
        return true;
    if (strcmp(line, "status") == 0)
        main_status();
    else if (sscanf(line, "ways %255[^\n]", folder) == 1)
        ways_measure(folder);
    else if (strcmp(line, "hold") == 0)
        hold_ask();
    else if (sscanf(line, "burst %u%c", &notes, &more) == 1 && notes >= 1 &&
             notes <= NET_BURST_MAX) {
        if (!net_ask_burst(notes))
            node_say("no burst: no peer is connected");
    } else if (line[0] != '\0')
        node_say("'%s' is not a command; there are: burst N (1 to %u), status, "
                 "ways FOLDER, hold, stop",
                 line, NET_BURST_MAX);
    return false;
}

static bool main_input(void)
{
    bool stop = false;
    ssize_t got =
        read(STDIN_FILENO, main_line + main_line_used, sizeof main_line - 1 - main_line_used);
    if (got <= 0) {
        main_input_open = got < 0 && errno == EINTR;
        return false;
    }
    main_line_used += (size_t)got;
    char *end;
    while ((end = memchr(main_line, '\n', main_line_used)) != NULL) {
        *end = '\0';
        stop = main_command(main_line) || stop;
        main_line_used -= (size_t)(end + 1 - main_line);
        memmove(main_line, end + 1, main_line_used);
    }
    if (main_line_used == sizeof main_line - 1)
        main_line_used = 0; /* no command is that long */
    return stop;
}

static void main_wait_for_stop(const node_options *options, int signals)
{
    uint64_t end_ns = options->seconds > 0
                          ? node_now_ns() + (uint64_t)(options->seconds * (double)NODE_NS_PER_S)
                          : UINT64_MAX;
    turns_work work;
    for (uint64_t now_ns, sample_ns = 0; (now_ns = node_now_ns()) < end_ns && !turns_done(&work);) {
        if (now_ns >= sample_ns) {
            sample_ns = now_ns + MAIN_SAMPLE_NS;
            inbox_sample();
        }
        struct pollfd wait[2] = {{signals, POLLIN, 0},
                                 {main_input_open ? STDIN_FILENO : -1, POLLIN, 0}};
        poll(wait, 2, MAIN_TURN_MS);
        main_report_held();
        if (wait[0].revents != 0)
            return;
        if (wait[1].revents != 0 && main_input())
            return;
    }
}

/* Waits until blocks in flight have their votes, of this node and of others. */
static void main_settle(const node_options *options)
{
    uint64_t start_ns = node_now_ns();
    uint64_t least_ns = (options->slowest_validator_ms + MAIN_COURTESY_MS) * NODE_NS_PER_MS;
    uint64_t most_ns = options->settle_ms * NODE_NS_PER_MS;
    if (options->nodes == 1 || least_ns > most_ns)
        least_ns = 0;
    for (;;) {
        uint64_t passed_ns = node_now_ns() - start_ns;
        if (passed_ns >= most_ns || (passed_ns >= least_ns && consensus_unsettled() == 0))
            return;
        poll(NULL, 0, 10);
    }
}

/* ---- the end ---- */

static void main_write_page(const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL || crest_prometheus_write(NULL, file) != 0 || fflush(file) != 0)
        node_say("could not write the metrics page to '%s': %s; choose another file with --page",
                 path, strerror(errno));
    if (file != NULL)
        fclose(file);
}

static void main_final_report(uint64_t ran_ns)
{
    report r;
    report_begin(&r, "exit");
    report_member(&r, "ran_seconds", "%.3f", (double)ran_ns / (double)NODE_NS_PER_S);
    report_member(&r, "height", "%u", turns_height());
    report_member(&r, "deepest_inbound_queue", "%" PRIu64, inbox_deepest());
    turns_work work;
    if (turns_done(&work)) {
        report_member(&r, "blocks", "%u", work.blocks);
        report_member(&r, "blocks_seconds", "%.6f", (double)work.ns / (double)NODE_NS_PER_S);
        report_member(&r, "blocks_cpu_seconds", "%.6f",
                      (double)work.cpu_ns / (double)NODE_NS_PER_S);
    }
    main_report_series(&r);
}

static bool main_start_reporting(const node_options *options)
{
    char text[MAIN_CREST_BYTES];
    crest_error error;
    int length =
        snprintf(text, sizeof text, MAIN_CREST_OPTIONS "%s%s", options->crest != NULL ? "," : "",
                 options->crest != NULL ? options->crest : "");
    if (length >= (int)sizeof text) {
        node_say(
            "no metrics are reported, the node goes on without: --crest-opts has %d bytes, more "
            "than %zu",
            length, sizeof text);
        return false;
    }
    if (crest_start(text, &error) == CREST_OK)
        return true;
    node_say("no metrics are reported, the node goes on without: %s", error.message);
    return false;
}

static bool main_open(const node_options *options)
{
    inbox_open(options->inbox_capacity);
    return net_open(options) && worker_open(options) && load_open(options);
}

static void main_stop(const node_options *options, uint64_t start_ns, bool reporting)
{
    crest_error error;
    hold_release();
    load_close();
    turns_stop_proposing();
    main_settle(options);
    net_close();
    worker_close();
    /* every thread that counts has ended: what is exported now is final */
    if (options->page != NULL)
        main_write_page(options->page);
    if (reporting && crest_stop(MAIN_FLUSH_MS, &error) != CREST_OK)
        node_say("the last report failed: %s", error.message);
    main_final_report(node_now_ns() - start_ns);
    net_free();
    inbox_close();
}

int main(int argc, char **argv)
{
    node_options options;
    sigset_t handled;
    char name[16];
    int status = node_options_read(&options, argc, argv);
    if (status >= 0)
        return status;
    uint64_t start_ns = node_now_ns();
    snprintf(name, sizeof name, "node-%u", options.index);
    node_set_name(name);
    if (options.events)
        report_events_on();

    /* before any thread starts, so that all of them leave these to the descriptor */
    sigemptyset(&handled);
    sigaddset(&handled, SIGTERM);
    sigaddset(&handled, SIGINT);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &handled, SFD_CLOEXEC);
    if (signals < 0) {
        node_say("cannot wait for signals: %s", strerror(errno));
        return 1;
    }

    crest_log_to(main_log, NULL);
    if (options.clock_skew_ms != 0)
        crest_testing_clock_shift_wall(options.clock_skew_ms * (int64_t)NODE_NS_PER_MS, 0);
    bool reporting = main_start_reporting(&options);
    if (!main_open(&options))
        return 1;
    main_wait_for_stop(&options, signals);
    main_stop(&options, start_ns, reporting);
    close(signals);
    return 0;
}
