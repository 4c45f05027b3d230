/* SPDX-License-Identifier: Apache-2.0 */
/* See together.h. */
#include "together.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <time.h>

namespace
{

const unsigned ATTEMPTS_MAX = 20;
/* A thread that got less than this part of the elapsed time on a processor was disturbed. */
const double OVERLAP_MIN = 0.95;

struct gate {
    unsigned threads;
    std::atomic<unsigned> arrived{0};
    std::atomic<bool> ended{false};
};

struct share {
    uint64_t done, inside, cpu_ns, wall_ns, asleep_ns;
};

/* How often a thread gave its processor up, and how long it waited for one that it wanted. */
struct waits {
    uint64_t given_up, queued_ns;
};

uint64_t clock_ns(clockid_t id)
{
    timespec now;
    clock_gettime(id, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

waits waits_so_far()
{
    waits so_far = {0, 0};
    rusage usage;
    std::FILE *file = std::fopen("/proc/thread-self/schedstat", "re");
    unsigned long long queued_ns = 0;
    if (file && std::fscanf(file, "%*u %llu", &queued_ns) == 1 &&
        getrusage(RUSAGE_THREAD, &usage) == 0)
        so_far = {uint64_t(usage.ru_nvcsw), queued_ns};
    if (file)
        std::fclose(file);
    return so_far;
}

/* The time that was spent neither on a processor nor waiting for one: asleep, in a lock. */
uint64_t asleep_ns(const waits &before, const waits &after, uint64_t cpu_ns, uint64_t wall_ns)
{
    uint64_t awake_ns = cpu_ns + (after.queued_ns - before.queued_ns);
    return after.given_up > before.given_up && wall_ns > awake_ns ? wall_ns - awake_ns : 0;
}

void take_part(gate &common, unsigned thread, uint64_t times,
               const std::function<void(unsigned, uint64_t)> &work, share &mine)
{
    uint64_t chunk = std::min(times, TOGETHER_CHUNK);
    together_pin(thread);
    work(thread, chunk); /* first touches, outside the window */
    waits before = waits_so_far();
    common.arrived.fetch_add(1);
    while (common.arrived.load() < common.threads)
        continue;
    uint64_t cpu_ns = together_cpu_ns(), wall_ns = clock_ns(CLOCK_MONOTONIC), inside = 0;
    while (inside < times && !common.ended.load(std::memory_order_relaxed)) {
        work(thread, chunk);
        inside += chunk;
    }
    common.ended.store(true);
    cpu_ns = together_cpu_ns() - cpu_ns;
    wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
    mine = {inside + chunk, inside, cpu_ns, wall_ns,
            asleep_ns(before, waits_so_far(), cpu_ns, wall_ns)};
}

} // namespace

uint64_t together_cpu_ns()
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

unsigned together_processors()
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? unsigned(CPU_COUNT(&allowed)) : 1;
}

void together_pin(unsigned n)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || n-- != 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

together_result together_run(unsigned threads, uint64_t times,
                             const std::function<void(unsigned, uint64_t)> &work)
{
    together_result result = {0, std::vector<uint64_t>(threads), 0, -1};
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX && result.overlap < OVERLAP_MIN; attempt++) {
        gate common;
        common.threads = threads;
        std::vector<share> shares(threads);
        std::vector<std::thread> all;
        for (unsigned i = 0; i < threads; i++)
            all.emplace_back([&, i] { take_part(common, i, times, work, shares[i]); });
        for (std::thread &one : all)
            one.join();
        double overlap = 1, ns = 0;
        for (unsigned i = 0; i < threads; i++) {
            const share &mine = shares[i];
            result.done[i] += mine.done;
            /* a thread that came too late to do anything has no figure, and the window no overlap
             * */
            if (mine.inside == 0) {
                overlap = 0;
                continue;
            }
            /* a thread's sleep in a lock is part of its cost; the other thread is uncontended
             * meanwhile */
            double own_ns = double(mine.cpu_ns + mine.asleep_ns);
            overlap = std::min(overlap, own_ns / double(mine.wall_ns));
            ns += own_ns / double(mine.inside) / threads;
        }
        result.disturbed += overlap < OVERLAP_MIN;
        if (overlap > result.overlap) {
            result.overlap = overlap;
            result.ns = ns;
        }
    }
    return result;
}
