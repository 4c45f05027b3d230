/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of libcrest. Link with `pkg-config --libs crest`; what talks to servers is in
 * crest-reporters, see pushgateway.h. Recording by name is apart, in by_name.h,
 * and so is what only tests need, in testing.h.
 */
#ifndef CREST_CREST_H
#define CREST_CREST_H

#include <crest/counter.h>
#include <crest/coverage.h>
#include <crest/distribution.h>
#include <crest/event.h>
#include <crest/event_control.h>
#include <crest/event_lines.h>
#include <crest/event_reader.h>
#include <crest/family.h>
#include <crest/gauge.h>
#include <crest/hdr.h>
#include <crest/hiccups.h>
#include <crest/histogram.h>
#include <crest/in_flight.h>
#include <crest/lifetime.h>
#include <crest/loop.h>
#include <crest/mutex.h>
#include <crest/otlp.h>
#include <crest/page.h>
#include <crest/peer_clock.h>
#include <crest/poll.h>
#include <crest/prepare.h>
#include <crest/probe.h>
#include <crest/range_sampler.h>
#include <crest/registry.h>
#include <crest/reporter.h>
#include <crest/run.h>
#include <crest/scope.h>
#include <crest/snapshot.h>
#include <crest/span.h>
#include <crest/stages.h>
#include <crest/stamp.h>
#include <crest/system.h>
#include <crest/timed_io.h>
#include <crest/timer.h>
#include <crest/trace_context.h>
#include <crest/window.h>

#endif
