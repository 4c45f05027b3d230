/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crest in C++17: metrics as objects, families with as many arguments as keys, durations of
 * <chrono>, names and labels of <string_view>, and guards that end with their block. It is header
 * only, over the C calls, and costs what these cost: a counter's inc() is the same instructions.
 *
 *     static crest::counter blocks{"casper.blocks-created", "Blocks this node proposed."};
 *     static crest::timer store{"storage.store-time", "Writes.",
 *                               crest::options{}.buckets(crest_buckets_fast)};
 *     static crest::counter_family messages{"comm.messages", "Sent.", crest::keys{"kind", "peer"}};
 *
 *     crest::runtime crest{"service=node,prometheus=27378"};
 *     blocks.inc();
 *     messages.with("ping", peer).inc();
 *     crest::scope timed{store, crest_op_u64(height)};
 *
 * What holds for all of it:
 *
 * - Nothing here throws, nor allocates on the heap. Failures are a crest_status, or counted as the
 *   C call says. Threads, signal handlers and cost: those of the C call that is named.
 * - A metric (counter, gauge, …) is declared once, as a static object. It is neither copied nor
 *   moved: its address is its identity. It has no destructor, so destructors of other static
 *   objects may record. A static object of another file that records before the metric's
 *   constructor has run is refused and counted as misuse: declare such a metric with CREST_COUNTER
 *   and its relatives, whose handles are constants, and use it as counter_ref{variable}.
 * - A _ref (counter_ref, …) is a pointer to a metric that lives elsewhere: one of a family, of a
 *   registry, or declared. It is copied at will, never null, and valid as long as what it was made
 *   of; handles of registries are so for good.
 * - Guards (scope, span) belong to a block: neither copied nor moved. Tokens (timing) and runtime
 *   are moved: what they were moved from is not running.
 *
 * In C++20 nothing differs. With CREST_DISABLE all of it compiles and does nothing.
 */
#ifndef CREST_CREST_HPP
#define CREST_CREST_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "crest.hpp needs C++17: compile with -std=c++17 or later"
#endif

#include <crest/declared.hpp>
#include <crest/guards.hpp>
#include <crest/metrics.hpp>

#endif
