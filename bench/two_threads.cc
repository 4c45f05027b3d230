/* SPDX-License-Identifier: Apache-2.0 */
/* See two_threads.h. */
#include "two_threads.h"
#include "hot_loops.h"
#include "machine.h"

#include <atomic>
#include <thread>
#include <time.h>

namespace
{

/* Operations between two looks at the flag that ends a window: once over all values of a loop. */
const uint64_t CHUNK = HOT_VALUES;
const unsigned ATTEMPTS_MAX = 20;
/* A thread that got less than this part of the elapsed time on a processor was disturbed. */
const double OVERLAP_MIN = 0.95;

struct gate {
    std::atomic<unsigned> arrived{0};
    std::atomic<bool> ended{false};
};

struct share {
    uint64_t done, cpu_ns, wall_ns;
};

uint64_t clock_ns(clockid_t id)
{
    timespec now;
    clock_gettime(id, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

void take_part(gate &common, unsigned thread, two_threads_work *work, const void *context,
               uint64_t times, share &mine)
{
    machine_pin(thread);
    work(context, thread, CHUNK); /* first touches, outside the window */
    mine.done = CHUNK;
    common.arrived.fetch_add(1);
    while (common.arrived.load() < 2)
        continue;
    uint64_t cpu_ns = two_threads_cpu_ns(), wall_ns = clock_ns(CLOCK_MONOTONIC), inside = 0;
    while (inside < times && !common.ended.load(std::memory_order_relaxed)) {
        work(context, thread, CHUNK);
        inside += CHUNK;
    }
    common.ended.store(true);
    mine.cpu_ns = two_threads_cpu_ns() - cpu_ns;
    mine.wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
    mine.done += inside;
}

} // namespace

uint64_t two_threads_cpu_ns()
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

two_threads_result two_threads_run(two_threads_work *work, const void *context, uint64_t times)
{
    two_threads_result result = {0, {0, 0}, 0};
    double best_overlap = -1;
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX && best_overlap < OVERLAP_MIN; attempt++) {
        gate common;
        share shares[2];
        std::thread other([&] { take_part(common, 1, work, context, times, shares[1]); });
        std::thread one([&] { take_part(common, 0, work, context, times, shares[0]); });
        one.join();
        other.join();
        double overlap = 1, ns = 0;
        for (unsigned i = 0; i < 2; i++) {
            double part = double(shares[i].cpu_ns) / double(shares[i].wall_ns);
            overlap = part < overlap ? part : overlap;
            uint64_t inside = shares[i].done - CHUNK;
            /* one that came too late to do anything has no figure, and the window no overlap */
            if (inside == 0)
                overlap = 0;
            else
                ns += double(shares[i].cpu_ns) / double(inside) / 2;
            result.done[i] += shares[i].done;
        }
        result.disturbed += overlap < OVERLAP_MIN;
        if (overlap > best_overlap) {
            best_overlap = overlap;
            result.ns = ns;
        }
    }
    return result;
}
