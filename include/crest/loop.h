/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crest in the host's own event loop: the host's thread does polls, ticks, reports and scrapes,
 * whenever it calls crest_loop_run. A host that has one thread keeps one:
 *
 *     crest_start("threads=off,prometheus=127.0.0.1:9100", &error);
 *     struct epoll_event mine = {.events = EPOLLIN, .data.fd = crest_loop_fd(&error)};
 *     epoll_ctl(host_epoll, EPOLL_CTL_ADD, mine.data.fd, &mine);
 *     for (;;) {
 *         int count = epoll_wait(host_epoll, events, EVENTS, -1);
 *         for (int i = 0; i < count; i++)
 *             if (events[i].data.fd == mine.data.fd)
 *                 crest_loop_run(NULL);
 *             else
 *                 ... the host's own ...
 *     }
 *
 * Threads. With threads=off (run.h) Crest makes no thread, from crest_start on. The ticker, and
 * reporters started or attached afterwards, work in crest_loop_run; polls run there and on the
 * thread that takes a snapshot. So start first, then register polls and reporters: those attached
 * before keep their threads. A part that needs a thread is refused with a reason: the Pushgateway,
 * a StatsD server by its host name, the hiccup meter, probes. docs/one-thread.md says what each
 * part does instead, and what it costs.
 *
 * With threads, which is the default, crest_loop_run calls only the polls that were registered with
 * .loop (poll.h): callbacks that may run on the host's thread only.
 *
 * A descriptor is not needed: a loop that wakes up often enough may call crest_loop_run each time
 * and wait no longer than it says.
 */
#ifndef CREST_LOOP_H
#define CREST_LOOP_H

#include <crest/status.h>

CREST_BEGIN_C

/*
 * A descriptor that is readable while crest_loop_run has something to do, for poll, select or
 * epoll. The host never reads from it and never closes it. It is an epoll of its own, closed on
 * exec, above 2, and the same in every call; it stays, unreadable, after crest_stop. The calling
 * thread becomes the loop's thread, in place of any other. The child of a fork has none before it
 * calls this. -1 with *error filled (NULL: nothing is filled) when there are no descriptors or no
 * memory. Thread-safe; not for signal handlers. Cost: a lock; the first call makes two descriptors.
 */
CREST_API int crest_loop_fd(crest_error *error);

/*
 * Does what is due and returns: polls whose interval is over, the tick of each second, one report,
 * and requests of the scrape endpoint's clients. If more is due, *wait_ms and the descriptor say
 * so. It blocks only within a report, for at most that reporter's timeout (CREST_LOOP_REPORT_MS
 * unless KIND.timeout or the schedule says otherwise), and for callbacks of polls.
 *
 * wait_ms (may be NULL) is set to how long nothing will be due by the clock, rounded up, as poll(2)
 * takes it: milliseconds, or -1 for ever. Only the descriptor shows that a client connects. 0 on
 * failure.
 *
 * CREST_OK, also when there was nothing to do, or Crest does not run. CREST_INVALID_ARGUMENT when
 * the caller is not the loop's thread: the last thread that called crest_loop_fd, or else the first
 * that called crest_loop_run. CREST_ALREADY from within itself, as from a poll's callback, and
 * while another thread is in it or stops Crest. After an error nothing was done. Called from within
 * it, crest_stop, crest_reporter_detach and crest_report_now return CREST_INVALID_ARGUMENT where
 * they would wait for it.
 *
 * Thread-safe in this sense; not for signal handlers. Calls back: polls, reporters, the log. Cost
 * when nothing is due: a few locks and reads of the clock, no system call (one with a scrape
 * endpoint). The calling thread is not cancelled meanwhile.
 */
CREST_API crest_status crest_loop_run(int *wait_ms);

/* The default of a report's timeout with threads=off; otherwise CREST_REPORT_TIMEOUT_MS_DEFAULT. */
#define CREST_LOOP_REPORT_MS 250u

/* ---- for the program's own reporters ---- */

/* Non-zero after threads=off: no thread is to be made. Thread-safe; one load. */
CREST_API int crest_loop_only(void);

/*
 * Adds a descriptor to the loop's, which is then readable while the added one is, and takes it out
 * again. A reporter's `turn` checks itself which of its descriptors are readable. Closing a
 * descriptor takes it out too. CREST_OK, CREST_SYSTEM with errno. Thread-safe; not for signal
 * handlers. Cost: a system call.
 */
CREST_API crest_status crest_loop_watch(int descriptor);
CREST_API crest_status crest_loop_unwatch(int descriptor);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/loop_off.h>
#endif

#endif
