/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of everything, while what has threads and descriptors of its own starts, works and stops:
 * faults.h.
 * crest-test: timeout=240 sanitizers=address
 */
#include "faults.h"

#include <crest/hiccups.h>
#include <crest/prepare.h>
#include <crest/profile.h>
#include <crest/run.h>
#include <crest/state.h>
#include <crest/system.h>
#include <crest/testing.h>
#include <crest/timed_io.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_MS faults_patience_ms(4000)

/* The first failure counts. */
static crest_status worse(crest_status one, crest_status other)
{
    return one != CREST_OK ? one : other;
}

static void *fault_handle(fault_run *run, const char *name)
{
    crest_metric_options options = {.name = name};
    return crest_counter_get(run->registry, &options, NULL);
}

/* ---- polls ---- */

static double poll_gauge(void *context)
{
    (void)context;
    return 4;
}
static uint64_t poll_count(void *context)
{
    (void)context;
    return 9;
}
static int64_t poll_value(void *context)
{
    (void)context;
    return 5;
}
static void poll_work(void *context)
{
    crest_counter_inc(context);
}

static void begin_polls(fault_run *run)
{
    crest_metric_options gauge = {.name = "p.gauge"}, histogram = {.name = "p.histogram"},
                         range = {.name = "p.range"}, timer = {.name = "p.time"};
    run->slot[5] = crest_timer_get(run->registry, &timer, NULL);
    run->slot[0] = fault_handle(run, "p.counter");
    run->slot[1] = crest_gauge_get(run->registry, &gauge, NULL);
    run->slot[2] = crest_histogram_get(run->registry, &histogram, NULL);
    run->slot[3] = crest_range_sampler_get(run->registry, &range, NULL);
    run->slot[4] = fault_handle(run, "p.work");
}

static crest_status call_polls(fault_run *run, crest_error *error)
{
    (void)error;
    crest_poll_options each = {.name = "f", .registry = run->registry},
                       often = {.name = "f.often", .interval_ms = 10, .registry = run->registry};
    crest_status all = CREST_OK, status;
    crest_poll *polls[5];
    polls[0] = crest_counter_poll(run->slot[0], poll_count, NULL, &each, &status);
    all = worse(all, status);
    polls[1] = crest_gauge_poll(run->slot[1], poll_gauge, NULL, &each, &status);
    all = worse(all, status);
    polls[2] = crest_histogram_poll(run->slot[2], poll_value, NULL, &often, &status);
    all = worse(all, status);
    polls[3] = crest_range_sampler_poll(run->slot[3], poll_value, NULL, &often, &status);
    all = worse(all, status);
    polls[4] = crest_poll_every("f.work", poll_work, run->slot[4], &often, &status);
    all = worse(all, status);
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    all = worse(all, snapshot == NULL ? CREST_NO_MEMORY : CREST_OK);
    crest_series_view view;
    if (all == CREST_OK && crest_snapshot_find(snapshot, "p.counter", NULL, 0, &view) == CREST_OK &&
        view.counter != 9)
        all = CREST_TIMED_OUT; /* it came too late for this snapshot */
    crest_snapshot_free(snapshot);
    for (unsigned i = 0; i < 5; i++) {
        crest_poll_state state;
        FAULT_HOLDS(polls[i] == NULL || crest_poll_read(polls[i], &state) == CREST_OK);
        FAULT_HOLDS(polls[i] == NULL || crest_poll_stop(polls[i]) == CREST_OK);
    }
    return all == CREST_TIMED_OUT ? CREST_OK : all;
}

/* ---- peers ---- */

static crest_status call_peer_clock(fault_run *run, crest_error *error)
{
    crest_peer_clock *clock = crest_peer_clock_new(run->registry, "node-3", NULL, error);
    if (clock == NULL)
        return error->status;
    uint64_t now = crest_wall_now() - 2100000;
    crest_status status =
        crest_peer_clock_add(clock, now, now + 1000000, now + 1100000, now + 2100000, error);
    crest_peer_clock_free(clock);
    return status;
}

static void begin_coverage(fault_run *run)
{
    crest_metric_options timer = {.name = "c.coverage"};
    run->slot[0] = crest_timer_get(run->registry, &timer, NULL);
}

static crest_status call_coverage(fault_run *run, crest_error *error)
{
    crest_coverage_options options = {.nodes = 5};
    crest_coverage *coverage = crest_coverage_new(run->slot[0], &options, error);
    if (coverage == NULL)
        return error->status;
    crest_status all = CREST_OK;
    for (unsigned i = 0; i < 5; i++) {
        crest_op op = crest_op_u64(run->number * 100ull + i);
        crest_status status = crest_coverage_begin(coverage, op, crest_wall_now());
        if (status == CREST_OK) {
            crest_coverage_add(coverage, &op, 1, crest_wall_now());
            crest_coverage_add_after(coverage, &op, 2, 1000);
            if (i % 2)
                crest_coverage_cancel(coverage, &op);
        }
        all = worse(all, status);
    }
    crest_coverage_state state;
    crest_coverage_read(coverage, &state);
    crest_coverage_free(coverage);
    return all == CREST_OK ? CREST_OK : crest_error_set(error, all, "an operation did not begin");
}

/* ---- probes ---- */

/* A connection over the loopback interface: fd[0] listens, fd[1] and fd[2] are its ends. */
static void begin_sockets(fault_run *run)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    run->fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FAULT_HOLDS(bind(run->fd[0], (struct sockaddr *)&name, length) == 0 &&
                listen(run->fd[0], 16) == 0 &&
                getsockname(run->fd[0], (struct sockaddr *)&name, &length) == 0);
    run->fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FAULT_HOLDS(connect(run->fd[1], (struct sockaddr *)&name, sizeof name) == 0);
    run->fd[2] = accept(run->fd[0], NULL, NULL);
    snprintf(run->text, sizeof run->text, "127.0.0.1:%u", ntohs(name.sin_port));
}

static void end_sockets(fault_run *run)
{
    for (unsigned i = 0; i < 3; i++)
        close(run->fd[i]);
}

static int send_ping(void *context, uint64_t id)
{
    *(uint64_t *)context = id;
    return 0;
}

/* Waits for the probe's first try, or until something has gone wrong for it. */
static void until_tried(crest_probe *probe)
{
    crest_probe_state state = {0};
    faults_spare(1);
    for (unsigned ms = 0; ms < 300; ms++) {
        if (crest_probe_read(probe, &state) != CREST_OK || state.answers + state.errors > 0)
            break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (state.errors > 0)
        FAULT_HOLDS(strchr(state.last_error.message, ' ') != NULL);
    faults_spare(0);
}

static crest_status call_probes(fault_run *run, crest_error *error)
{
    crest_probe_options options = {
        .registry = run->registry, .interval_ms = 10, .timeout_ms = 100, .jitter = -1};
    crest_status all = CREST_OK;
    uint64_t id = 0;
    crest_error own[3] = {{0}, {0}, {0}};
    crest_probe *probes[3] = {
        crest_probe_socket("node-3", run->fd[1], &options, &own[0]),
        crest_probe_connect("node-3", run->text, &options, &own[1]),
        crest_probe_ping("node-3", send_ping, &id, &options, &own[2]),
    };
    crest_tcp_info info;
    if (crest_tcp_info_read(run->fd[1], &info, error) != CREST_OK)
        all = error->status;
    if (probes[1] != NULL)
        until_tried(probes[1]);
    if (probes[2] != NULL && crest_probe_ping_now(probes[2]) == CREST_OK)
        crest_probe_pong(probes[2], id);
    for (unsigned i = 0; i < 3; i++) {
        if (probes[i] == NULL && all == CREST_OK)
            *error = own[i], all = own[i].status;
        FAULT_HOLDS(probes[i] != NULL || own[i].status != CREST_OK);
        FAULT_HOLDS(crest_probe_stop(probes[i]) == CREST_OK);
    }
    return all;
}

static crest_status call_resolve(fault_run *run, crest_error *error)
{
    char address[64];
    crest_probe_options options = {
        .registry = run->registry, .interval_ms = 10, .timeout_ms = 100, .jitter = -1};
    snprintf(address, sizeof address, "localhost%s", strchr(run->text, ':'));
    crest_probe *probe = crest_probe_connect("by-name", address, &options, error);
    if (probe == NULL)
        return error->status;
    until_tried(probe);
    return crest_probe_stop(probe);
}

static crest_status call_file_probe(fault_run *run, crest_error *error)
{
    crest_probe_options options = {.registry = run->registry, .interval_ms = 100, .jitter = -1};
    crest_probe *probe = crest_probe_file("store", run->folder, &options, error);
    if (probe == NULL)
        return error->status;
    until_tried(probe);
    return crest_probe_stop(probe);
}

static crest_status call_timed_io(fault_run *run, crest_error *error)
{
    crest_timed_io io;
    crest_timed_io_options options = {.registry = run->registry, .sizes = 1};
    char bytes[64] = "";
    struct iovec part = {bytes, sizeof bytes};
    crest_status status = crest_timed_io_init(&io, "store", &options, error);
    faults_spare(1);
    snprintf(run->text, sizeof run->text, "%s/timed", run->folder);
    int fd = open(run->text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    faults_spare(0);
    /* the results are the system's: what fails is told as it tells it */
    int failed = crest_timed_pwrite(&io, fd, bytes, sizeof bytes, 0) != sizeof bytes;
    failed |= crest_timed_pwritev(&io, fd, &part, 1, 64) != sizeof bytes;
    failed |= crest_timed_fsync(&io, fd) != 0;
    failed |= crest_timed_fdatasync(&io, fd) != 0;
    failed |= crest_timed_pread(&io, fd, bytes, sizeof bytes, 0) != sizeof bytes;
    failed |= crest_timed_preadv(&io, fd, &part, 1, 64) != sizeof bytes;
    faults_spare(1);
    close(fd);
    unlink(run->text);
    faults_spare(0);
    return status == CREST_OK && failed ? crest_error_set(error, CREST_IO, "a timed call failed")
                                        : status;
}

/* ---- what measures by itself ---- */

static crest_status call_hiccups(fault_run *run, crest_error *error)
{
    crest_hiccups_options options = {.registry = run->registry};
    crest_status status = crest_hiccups_start(&options, error);
    if (status == CREST_OK)
        FAULT_HOLDS(crest_hiccups_stop() == CREST_OK);
    return status;
}

static int drop_bytes(void *context, const void *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    (void)length;
    return 0;
}

static crest_status call_profile_stream(crest_error *error)
{
    crest_profile_stream *stream = crest_profile_stream_open(error);
    if (stream == NULL)
        return error->status;
    crest_profile *profile = crest_profile_stream_next(stream, error);
    crest_status status = profile != NULL ? CREST_OK : error->status;
    if (profile != NULL)
        status = crest_profile_write_otlp(profile, NULL, 0, drop_bytes, NULL, error);
    FAULT_HOLDS(profile == NULL || crest_profile_samples(profile) < 1000000);
    crest_profile_free(profile);
    crest_profile_stream_close(stream);
    return status;
}

static crest_status call_profile(fault_run *run, crest_error *error)
{
    crest_profile_scope scope;
    crest_timer *timer = run->slot[0];
    crest_status status = crest_profiler_start(&(crest_profiler_options){.counters = 5}, error);
    if (status != CREST_OK)
        return status;
    crest_profile_thread();
    FAULT_HOLDS(crest_profile_add(&(uint64_t){crest_profile_frame("f")}, 1, timer, 1) == CREST_OK);
    status = call_profile_stream(error);
    for (int kind = 0; kind < CREST_PROFILE_KINDS && status == CREST_OK; kind++) {
        crest_profile *profile = crest_profile_begin((crest_profile_kind)kind, error);
        if (profile == NULL) {
            status = error->status;
            break;
        }
        crest_profile_enter(&scope, timer, crest_op_u64(1));
        crest_profile_leave(&scope);
        crest_profile_work(&scope, timer, crest_op_u64(1), 0);
        crest_profile_leave(&scope);
        status = crest_profile_end(profile, error);
        if (status == CREST_OK)
            status = crest_profile_write(profile, (crest_profile_format)(kind % 2), drop_bytes,
                                         NULL, error);
        crest_profile_free(profile);
    }
    FAULT_HOLDS(crest_profiler_stop(NULL) == CREST_OK);
    return status;
}

static void begin_profile(fault_run *run)
{
    run->slot[0] = crest_timer_get(run->registry, &(crest_metric_options){.name = "p"}, NULL);
}

static crest_status call_system(fault_run *run, crest_error *error)
{
    crest_system_options options = {.registry = run->registry};
    crest_status status = crest_system_check(&options, error);
    crest_system *system = status == CREST_OK ? crest_system_start(&options, error) : NULL;
    if (system == NULL)
        return error->status;
    crest_snapshot *snapshot = crest_snapshot_take(run->registry);
    crest_system_state states[40];
    size_t count = crest_system_list(system, states, 40);
    for (size_t i = 0; i < count && i < 40; i++)
        if (states[i].failures > 0 && strchr(states[i].why, ' ') == NULL)
            faults_wrong("collector %s failed: \"%s\"", states[i].name, states[i].why);
    if (snapshot == NULL)
        status = crest_error_set(error, CREST_NO_MEMORY, "no memory for a snapshot");
    crest_snapshot_free(snapshot);
    /* it waits for a second only, no fault on a busy machine; a thread that hung is found */
    crest_status stopped = crest_system_stop(system);
    return worse(status, stopped == CREST_TIMED_OUT ? CREST_OK : stopped);
}

static crest_status call_windows(fault_run *run, crest_error *error)
{
    (void)error;
    crest_status status = crest_ticker_attach(run->registry);
    if (status != CREST_OK)
        return status;
    crest_counter_add(run->slot[0], 5);
    status = crest_testing_tick(run->registry);
    crest_testing_clock_advance(1000000000);
    status = worse(status, crest_testing_tick(run->registry));
    (void)crest_counter_rate(run->slot[0], 60);
    (void)crest_histogram_window(run->slot[2], 60);
    (void)crest_range_sampler_window(run->slot[3], 60);
    (void)crest_timer_window(run->slot[5], CREST_OUTCOME_OK, 60);
    crest_snapshot *snapshot = crest_snapshot_take_windows(run->registry, 1);
    status = worse(status, snapshot == NULL ? CREST_NO_MEMORY : CREST_OK);
    crest_snapshot_free(snapshot);
    FAULT_HOLDS(crest_counter_value(run->slot[0]) == 5);
    FAULT_HOLDS(crest_ticker_detach(run->registry) == CREST_OK);
    return status;
}

static void end_windows(fault_run *run)
{
    (void)run;
    crest_testing_clock_real();
}

/* ---- reporters' threads ---- */

static crest_status call_attach(fault_run *run, crest_error *error)
{
    crest_testing_reporter_options options = {.name = "made"};
    crest_reporter *reporter = crest_testing_reporter_new(&options);
    if (reporter == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a reporter");
    crest_schedule schedule = {.interval_ms = CREST_INTERVAL_MS_MAX, .include = "p.*"};
    crest_reporter_state state;
    crest_reporter_info infos[4];
    crest_status status = crest_report_once(run->registry, reporter, DEADLINE_MS, error);
    crest_status attached = CREST_NOT_FOUND;
    if (status == CREST_OK)
        status = attached = crest_reporter_attach(run->registry, reporter, &schedule, error);
    if (attached == CREST_OK) {
        status = crest_report_now(reporter, DEADLINE_MS, error);
        FAULT_HOLDS(crest_reporter_status(reporter, &state) == CREST_OK);
        (void)crest_reporter_list(infos, 4);
        crest_error last = {CREST_OK, ""};
        crest_status detached = crest_reporter_detach(reporter, DEADLINE_MS, &last);
        if (status == CREST_OK && detached != CREST_OK)
            *error = last, status = detached;
        FAULT_HOLDS(crest_reporter_status(reporter, &state) == CREST_NOT_FOUND);
    }
    crest_reporter_free(reporter);
    return status;
}

static void *end_at_once(void *context)
{
    return context;
}

static crest_status call_thread(fault_run *run, crest_error *error)
{
    (void)run;
    pthread_t thread;
    if (crest_thread_stack(CREST_THREAD_STACK_BYTES) != CREST_OK)
        return crest_error_set(error, CREST_SYSTEM, "no such stack");
    int failed = crest_reporter_thread(&thread, end_at_once, NULL);
    if (failed == 0)
        pthread_join(thread, NULL);
    return failed ? crest_error_set(error, CREST_SYSTEM, "no thread: %d", failed) : CREST_OK;
}

/* ---- running ---- */

static crest_status started(const char *options, crest_error *error)
{
    crest_status status = crest_start(options, error);
    if (status != CREST_OK && status != CREST_PARTIAL)
        return status;
    crest_error last = {CREST_OK, ""};
    crest_status stopped = crest_stop(DEADLINE_MS, &last);
    if (status == CREST_OK && stopped != CREST_OK)
        *error = last;
    return worse(status, stopped);
}

static crest_status call_start(fault_run *run, crest_error *error)
{
    (void)run;
    return started("service=faults,atexit=off,interval=1h", error);
}

/* A socket that takes datagrams and lets them lie. */
static void begin_statsd(fault_run *run)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    run->fd[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    FAULT_HOLDS(bind(run->fd[0], (struct sockaddr *)&name, length) == 0 &&
                getsockname(run->fd[0], (struct sockaddr *)&name, &length) == 0);
    run->slot[0] = (void *)(uintptr_t)ntohs(name.sin_port);
}

static void end_statsd(fault_run *run)
{
    close(run->fd[0]);
}

static crest_status call_start_all(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text,
             "service=faults,atexit=off,interval=1h,hiccups=on,system=process:memory,"
             "prometheus=127.0.0.1:0,textfile=%s/a.prom,json=%s/a.jsonl,"
             "statsd=udp://127.0.0.1:%u,statsd.rate=1000000,resource.shard=${HOST}",
             run->folder, run->folder, (unsigned)(uintptr_t)run->slot[0]);
    return started(run->text, error);
}

static crest_status call_options(fault_run *run, crest_error *error)
{
    faults_spare(1);
    snprintf(run->text, sizeof run->text, "%s/options", run->folder);
    FILE *file = fopen(run->text, "w");
    FAULT_HOLDS(file != NULL && fputs("interval=5s\nservice=from-a-file\n", file) >= 0);
    fclose(file);
    snprintf(run->text, sizeof run->text, "@%s/options,textfile=%s/b.prom,instance=${PID}",
             run->folder, run->folder);
    faults_spare(0);
    crest_options *options = NULL;
    crest_status status = crest_options_check(run->text, error);
    if (status != CREST_OK)
        return status;
    status = crest_options_read(run->text, &options, error);
    FAULT_HOLDS((status == CREST_OK) == (options != NULL));
    if (status == CREST_OK)
        FAULT_HOLDS(strcmp(crest_option(options, "service"), "from-a-file") == 0);
    crest_options_free(options);
    return worse(status, crest_option_name_add("faultsvm"));
}

static crest_status call_loop(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text,
             "service=faults,atexit=off,interval=1h,threads=off,prometheus=127.0.0.1:0,"
             "textfile=%s/c.prom",
             run->folder);
    crest_status status = crest_start(run->text, error);
    if (status != CREST_OK && status != CREST_PARTIAL)
        return status;
    crest_error last = {CREST_OK, ""};
    int wait_ms, fd = crest_loop_fd(&last);
    if (fd < 0 && status == CREST_OK)
        *error = last, status = last.status;
    for (unsigned i = 0; i < 3; i++)
        if (crest_loop_run(&wait_ms) != CREST_OK && status == CREST_OK)
            status = crest_error_set(error, CREST_SYSTEM, "the loop's turn failed");
    crest_status stopped = crest_stop(DEADLINE_MS, &last);
    if (status == CREST_OK && stopped != CREST_OK)
        *error = last;
    return worse(status, stopped);
}

/* The scrape endpoint wakes itself by it; test_faults_reporters says more. Files have it there. */
#define WAKING " write "

static crest_status call_state(fault_run *run, crest_error *error)
{
    snprintf(run->text, sizeof run->text,
             "service=faults,atexit=off,interval=1h,otel.context=on,"
             "state=/dev/shm/crest-faults-%d,state.name=f",
             (int)getpid());
    crest_status status = started(run->text, error);
    crest_report report = {.snapshot = crest_snapshot_take(run->registry)};
    for (size_t i = 0; report.snapshot != NULL && i < crest_snapshot_size(report.snapshot); i++) {
        crest_series_view view;
        crest_report_delivered(&report, i, 1);
        if (crest_snapshot_series(report.snapshot, i, &view) == CREST_OK)
            crest_report_delivered_counts(&report, i, view.distribution);
    }
    crest_snapshot_free((crest_snapshot *)(uintptr_t)report.snapshot);
    return status == CREST_PARTIAL ? CREST_OK : status; /* it measures all the same */
}

static void end_state(fault_run *run)
{
    static const char *const ends[] = {"f.lock", "f.crest", "f.crest.previous",
                                       "f.crest.previous.2", "f.crest.previous.3"};
    char path[120], folder[80];
    (void)run;
    snprintf(folder, sizeof folder, "/dev/shm/crest-faults-%d", (int)getpid());
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, ends[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* A file that a run left; one for all runs of the scenario. */
static const char *remains_path(const fault_run *run)
{
    static char path[120];
    snprintf(path, sizeof path, "%s/left.crest", run->folder);
    return path;
}

/* By a child: a process has one state file in its life. */
static void begin_remains(fault_run *run)
{
    crest_error error = {CREST_OK, ""};
    if (access(remains_path(run), R_OK) == 0)
        return;
    snprintf(run->text, sizeof run->text,
             "service=faults,atexit=off,interval=1h,state=%s,state.name=left,state.disk=on",
             run->folder);
    pid_t child = fork();
    if (child == 0)
        _exit(started(run->text, &error) == CREST_OK ? 0 : 1);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        faults_wrong("no state file: the child ended with status %d", status);
}

static int count_bytes(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
    return 0;
}

static crest_status call_remains(fault_run *run, crest_error *error)
{
    crest_remains *remains;
    crest_remains_about about;
    crest_remains_op op;
    crest_series_view view;
    size_t series = 0, ops = 0;
    crest_status all = crest_remains_read(remains_path(run), &remains, error);
    FAULT_HOLDS((all == CREST_OK) == (remains != NULL));
    if (all != CREST_OK)
        return all;
    crest_remains_tell(remains, &about);
    FAULT_HOLDS(about.damaged == 0 && about.series > 8);
    while (crest_remains_series(remains, series, &view) == CREST_OK)
        series++;
    while (crest_remains_in_flight(remains, ops, &op) == CREST_OK)
        ops++;
    FAULT_HOLDS(series == about.series && ops == about.in_flight &&
                crest_remains_span(remains, 0, &(crest_span){.id = 0}) != CREST_OK);
    for (crest_format format = 0; format <= CREST_FORMAT_PROMETHEUS_PROTOBUF; format++) {
        size_t length = 0;
        crest_error own = {CREST_OK, ""};
        crest_status status = crest_remains_write(remains, format, count_bytes, &length, &own);
        FAULT_HOLDS(status != CREST_OK || length > 500);
        if (all == CREST_OK && (all = status) != CREST_OK)
            *error = own;
    }
    crest_remains_free(remains);
    return all;
}

static const fault_scenario scenarios[] = {
    /* first, while the process has few series, all of which are in the file */
    {"remains", begin_remains, call_remains, NULL, FAULT_TELLS, NULL},
    {"polls", begin_polls, call_polls, NULL, 0, NULL},
    {"peer-clock", NULL, call_peer_clock, NULL, FAULT_TELLS, NULL},
    {"coverage", begin_coverage, call_coverage, NULL, FAULT_TELLS, NULL},
    {"probes", begin_sockets, call_probes, end_sockets, FAULT_TELLS | FAULT_SLOW, NULL},
    {"resolve", begin_sockets, call_resolve, end_sockets, FAULT_TELLS | FAULT_SLOW, NULL},
    {"file-probe", NULL, call_file_probe, NULL, FAULT_TELLS | FAULT_SLOW, NULL},
    {"timed-io", NULL, call_timed_io, NULL, FAULT_TELLS, NULL},
    {"hiccups", NULL, call_hiccups, NULL, FAULT_TELLS, NULL},
    {"profile", begin_profile, call_profile, NULL, FAULT_TELLS | FAULT_SLOW, NULL},
    {"system", NULL, call_system, NULL, FAULT_TELLS | FAULT_SLOW, NULL},
    {"windows", begin_polls, call_windows, end_windows, 0, NULL},
    {"attach", NULL, call_attach, NULL, FAULT_TELLS | FAULT_SLOW, NULL},
    {"thread", NULL, call_thread, NULL, FAULT_TELLS, NULL},
    {"start", NULL, call_start, NULL, FAULT_TELLS, NULL},
    {"state", NULL, call_state, end_state, FAULT_TELLS, NULL},
    {"start-all", begin_statsd, call_start_all, end_statsd, FAULT_TELLS | FAULT_SLOW, WAKING},
    {"options", NULL, call_options, NULL, FAULT_TELLS, NULL},
    {"loop", NULL, call_loop, NULL, FAULT_TELLS | FAULT_SLOW, WAKING},
};

int main(int argc, char **argv)
{
    return faults_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
