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
 * environment variable CREST_OPTS. Options are key=value, separated by commas; a value may be
 * quoted with " or ' to hold a comma; ${PID} and ${HOST} are replaced; @FILE reads a file with one
 * key=value a line (# starts a comment line).
 *
 *   service, version, instance   who reports (instance: the host name)
 *   interval                     of all reporters that do not set their own: 250ms, 10s, 5m, 1h;
 * default 60s jitter                       fraction of the interval, 0 to 1; default 0.1 windows 1m
 * (the default) or off atexit                       on (the default) or off: flush at exit when
 * crest_stop was not called console=SECONDS              a table on standard error at that interval
 *   pushgateway=URL, pushgateway.*   see pushgateway.h (needs libcrest-reporters)
 */
#ifndef CREST_RUN_H
#define CREST_RUN_H

#include <crest/reporter.h>
#include <crest/window.h>

#define CREST_ATEXIT_DEADLINE_MS 2000u
#define CREST_OPTIONS_BYTES_MAX 65536u

CREST_BEGIN_C

/*
 * Starts the ticker on the default registry and the reporters that the options ask for; none is no
 * error. Reference- counted, so that a host and a library may both start: a second start adds
 * nothing and its options must be NULL or are refused with CREST_ALREADY (it is counted all the
 * same and needs its stop). CREST_INVALID_OPTIONS: nothing was started; the message names the
 * option and where it came from. error may be NULL. Thread-safe; allocates; starts threads that
 * block all signals; registers an atexit flush once, unless atexit=off.
 */
CREST_API crest_status crest_start(const char *options, crest_error *error);

/*
 * Undoes one start. The last one takes a last snapshot, hands it to every reporter in parallel,
 * stops them and the ticker. CREST_OK, or the first failure, with a message that says which
 * reporters failed and why; CREST_NOT_RUNNING when nothing was started. deadline_ms 0 means
 * CREST_ATEXIT_DEADLINE_MS.
 */
CREST_API crest_status crest_stop(uint64_t deadline_ms, crest_error *error);

CREST_END_C

#endif
