/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running: start the ticker and the reporters from one line of options, and stop them with a last
 * flush.
 *
 *     crest_error error;
 *     if (crest_start("service=rnode,pushgateway=http://127.0.0.1:9091", &error) != CREST_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     ...
 *     crest_stop(5000, &error);
 *
 * The operator wins over the code: built-in defaults, then crest_start's string, then the
 * environment variable CREST_OPTS; of one option given twice, the later counts. A set-user-ID
 * program does not read CREST_OPTS, where @FILE would read files for its caller.
 *
 *   service, version, instance   the process that reports, as crest_target_info names it; instance
 *                                is the host's name by default
 *   interval                     of all reporters that set none: 250ms, 1.5s, 10s, 5m, 1h, bare
 *                                seconds; 60s by default
 *   jitter                       fraction of the interval, 0 to 1; 0.1 by default
 *   windows                      off, or which are kept: 1m:5m:15m (the default), 1m alone or 1m
 *                                with one of the others (window.h)
 *   windows.series               how many series have windows; 20000
 *   atexit                       on (the default) or off: flush at exit when crest_stop was not
 *                                called
 *   strict                       on or off (the default): refuse metrics whose names differ from
 *                                others' only in case or separators, see crest_registry_strict
 *   log                          stderr or off: where messages go in a program that never calls
 *                                crest_log_to; standard error if it is a terminal, by default
 *   threads                      on (the default) or off: Crest makes no thread, and the host's own
 *                                loop does what is due, see loop.h
 *   state=DIR                    keeps what is counted in a file there, on tmpfs, so that
 *                                it outlives the process, see docs/black-box.md; state=on takes
 *                                systemd's RUNTIME_DIRECTORY. In a process with threads it must be
 *                                in CREST_OPTS, which is read for it at load
 *   state.name                   of the file, without suffix; the executable's by default
 *   state.adopt                  what of dead runs goes on: continue (the default), totals of those
 *                                that did not stop cleanly; always; report: none, and their last
 *                                figures are a page beside the file, NAME.last.prom; off
 *   state.disk                   on or off (the default): a directory on a disk will do, although
 *                                its writes stall threads that count
 *   otel.context                 on or off (the default): outside profilers see the process's
 *                                resource and which span a thread is in, see docs/tracing.md
 *   spans=PATTERNS               traces the timers whose names match, casper.*:comm.*; off (the
 *                                default); see span.h and docs/tracing.md
 *   spans.sample                 the share of operations that are kept, 0 to 1, the same on all
 *                                nodes; 0.01
 *   spans.slow                   keeps operations whose root took so many times its timer's 99th
 *                                percentile (2, the default), or so long (500ms); off
 *   spans.rate, spans.per-op     spans a second (1000), and of an operation before further ones of
 *                                a name fold into one (512)
 *   spans.buffer                 memory of spans, 1MiB to 1GiB; 12MiB
 *   events=DIR                   writes events (event.h) into rings in a file of this directory on
 *                                tmpfs, NAME.events; `on`: beside the state file, or in memory only
 *   events.name, events.disk     as state.name and state.disk
 *   events.size, events.rings    bytes of a thread's ring, 16KiB to 64MiB (64KiB), and threads at a
 *                                time that have one, up to 1024 (64)
 *   events.rules=RULES           which are recorded, how often, and where they go, see
 *                                event_control.h and docs/events.md
 *   events.rules-file=PATH       the same in a file, which is read again when it has changed
 *   hiccups                      on or off (the default): measures how late a thread wakes up, see
 *                                hiccups.h
 *   hiccups.resolution           how long that thread sleeps, 100us to 1s; 1ms by default
 *   system                       on, off (the default), or some of the collectors of process and
 *                                machine, cpu:memory:network, see system.h
 *   system.interval              the least time between two readings of consumption; 1s
 *   system.slow-interval         the same for figures that take long to read; 10s
 *   system.proc, system.sys      directories in place of /proc and /sys
 *   system.mounts.exclude, system.interfaces.exclude, system.devices.exclude
 *                                what of these is left out, patterns as those of KIND.exclude; an
 *                                empty list is none
 *   profile                      on or off (the default): samples threads' stacks and serves
 *                                profiles, see profile.h and docs/profiling.md
 *   profile.listen=ADDRESS       where; off: nowhere
 *   profile.hz, profile.signal, profile.hosts, profile.counters, profile.otlp,
 *   profile.otlp-interval
 *                                samples a second of CPU time; its signal's number; as
 *                                prometheus.hosts
 *   page                         on or off (the default): the live page, for a browser on this
 *                                machine, see docs/live-page.md
 *   page.listen=ADDRESS, page.hosts=NAMES
 *                                where, as prometheus=ADDRESS; 127.0.0.1:27380-27395. As
 *                                prometheus.hosts
 *   prometheus=ADDRESS           serves /metrics there, see prometheus.h
 *   console=DURATION             on standard error at that interval (or console=on): a table on a
 *                                terminal, JSON lines elsewhere, see console.h
 *   pushgateway=URL              see pushgateway.h for its further options
 *   otlp=URL, otlp=on            see otlp_http.h, also for the OTEL_ environment below these
 *   statsd=URL                   see statsd.h for its further options; statsd=on for 127.0.0.1
 *   influxdb=URL                 lines to InfluxDB over HTTP or UDP, see influxdb.h
 *   zipkin=URL                   kept spans to a Zipkin server, see zipkin.h; and with
 *                                otlp.traces=on to an OTLP receiver, see otlp_http.h
 *   events-json=PATH, events-text=PATH
 *                                events as lines, see event_lines.h; - is standard output, stderr
 *                                standard error
 *   spans-json=PATH              kept spans as JSON lines, see json_lines.h
 *   hlog=PATH                    HdrHistogram's log, see hlog.h
 *   textfile=PATH                a page for node_exporter, see textfile.h
 *   json=PATH                    JSON lines appended to a file; json=- to standard output; see
 *                                json_lines.h
 *   KIND=off                     no such reporter, whatever the code says
 *   KIND.interval, KIND.timeout, KIND.jitter
 *                                the schedule of that reporter, where KIND is one of the above or
 *                                what crest_reporter_kind_add was given
 *   KIND.align                   on or off (the default): report at multiples of the interval on
 *                                the wall clock, moved by the jitter
 *   KIND.include, KIND.exclude   what that reporter reports: canonical names, in which * is any
 *                                bytes and ? is one, separated by blanks or colons: comm.*:crest.*
 *   KIND@NAME, KIND@NAME.interval, …
 *                                one more of that kind, with options of its own: statsd@lan=…;
 *                                NAME is 1 to 32 letters, digits, - and _
 *   resource.KEY=VALUE           one more label of the process that reports; an empty VALUE takes
 *                                it back
 *   NAME, NAME.KEY               a name that was given to crest_option_name_add: in a JVM jvm=on,
 *                                see docs/jvm.md
 *
 * The kinds are in libcrest-reporters. An unknown option is refused, not passed over, and so is an
 * option of a KIND@NAME that no option starts.
 *
 *     service=rnode,interval=10s,statsd=udp://127.0.0.1:8125,statsd.exclude=jvm.*,
 *     statsd@lan=udp://10.0.0.9:8125,statsd@lan.align=on,resource.shard=eu-1
 *
 * The grammar: options are key=value, separated by commas; blanks around keys, values and commas
 * mean nothing. A value in " or ' may hold commas, and the quote itself when it is written twice.
 * ${PID} and ${HOST} are replaced in every value; $${ stands for a plain ${. @FILE reads a file in
 * place: a key=value a line, where commas mean nothing; empty lines and those that begin with # are
 * passed over, and a file cannot name another one.
 */
#ifndef CREST_RUN_H
#define CREST_RUN_H

#include <crest/reporter.h>
#include <crest/window.h>

#define CREST_ATEXIT_DEADLINE_MS 2000u
/* Bytes of crest_start's string, of CREST_OPTS, and of each file. */
#define CREST_OPTIONS_BYTES_MAX 65536u

CREST_BEGIN_C

/*
 * Starts the ticker on the default registry and the reporters that the options ask for; it may be
 * none. Reference-counted, so that a host and a library may both start: a second start adds nothing
 * and its options must be NULL, else CREST_ALREADY (it is counted all the same and needs its stop).
 *
 * CREST_INVALID_OPTIONS: nothing was started; the message names the option and its origin, and it
 * is counted in crest_misuse_total.
 *
 * CREST_PARTIAL: it runs, and needs its stop, but without the reporters that the message names with
 * their reasons: a port that is taken, a directory that is missing. The log callback is told too,
 * and each is counted in crest_report_failures_total. If none of the requested reporters could be
 * started, nothing was, and the status is the first reporter's: CREST_SYSTEM, CREST_IO …
 *
 * Nothing was started after CREST_NO_MEMORY either. CREST_TIMED_OUT: another thread has been
 * starting or stopping for a minute. error may be NULL. Thread-safe; allocates; starts threads that
 * block all signals; registers a flush with atexit, unless atexit=off; tells the log of misuse so
 * far.
 *
 * The child of a fork has none of this and may start anew. So a daemon starts after its last fork,
 * and after closing the descriptors it inherited: reporters have some of their own. A child that
 * forgets to start is told so by crest_stop. If it recorded anything, the log callback is told at
 * its exit. The threads run until crest_stop or the end of the process, which a main that leaves
 * with pthread_exit does not bring about.
 */
CREST_API crest_status crest_start(const char *options, crest_error *error);

/*
 * Tries options without starting anything or changing a file: what crest_start would refuse at this
 * moment for an option, this refuses with the same status and message. It also reads CREST_OPTS and
 * the files named with an @. A daemon that is told to reload tries the new options first, and goes
 * on measuring with the old ones if they are bad:
 *
 *     if (crest_options_check(text, &error) == CREST_OK && crest_stop(2000, NULL) == CREST_OK)
 *         crest_start(text, &error);
 *
 * It does not find what only a start shows, such as a port that is taken. For a missing directory
 * it returns CREST_PARTIAL, or CREST_IO if no reporter were left, and tells no log. CREST_OK,
 * CREST_INVALID_OPTIONS (not counted as misuse), CREST_NO_MEMORY; error may be NULL. Thread-safe,
 * also while Crest runs; allocates; reads files.
 */
CREST_API crest_status crest_options_check(const char *options, crest_error *error);

/*
 * Undoes one start. The last stop hands a last snapshot to every reporter, in parallel and within
 * deadline_ms (0: CREST_ATEXIT_DEADLINE_MS), then stops the reporters and the ticker. Reporters
 * attached with crest_reporter_attach are flushed and detached too, and their owners still free
 * them. CREST_OK, or the first failure, with a message that says which reporters failed and why;
 * CREST_NOT_RUNNING when nothing was started; CREST_TIMED_OUT for a reporter that hangs, whose
 * thread is left behind. error may be NULL. Thread-safe; blocks, but not longer than the deadline.
 */
CREST_API crest_status crest_stop(uint64_t deadline_ms, crest_error *error);

/*
 * The release of the library that this process runs with, "0.2.0": static text, never NULL. A
 * program linked with the shared library may run with another release than it was built with.
 * Thread- and signal-safe.
 */
CREST_API const char *crest_version(void);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/run_off.h>
#endif

#endif
