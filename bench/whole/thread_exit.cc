/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See thread_exit.h. At a thread's end the C library calls the destructors of C++'s thread-local
 * objects first, then those of POSIX keys in the order in which these were made. The library makes
 * its key when it is loaded and this program a later one, so that an object's destructor looks at
 * the clock before the library's, and a key's destructor after it. By then the thread's cells must
 * be gone, or the order is wrong and the process fails.
 *
 * Threads that recorded and threads that did not come by turns; the figure is the difference of
 * their medians, of elapsed time: what is measured is too short for the clock of processor time.
 */
#include "thread_exit.h"
#include "instruments.h"
#include "own_process.h"
#include "side.h"
#include "together.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <thread>
#include <time.h>

namespace
{

const unsigned EVERY = 2; /* rounds: each time is some processes */
const unsigned PAIRS = 100;
const int64_t VALUE = 100000;

/* What a thread has that never recorded. */
const crest_cells *without_cells;
pthread_key_t last_key;

struct ends {
    uint64_t began_ns, ended_ns;
    bool had_cells, has_cells;
};
thread_local ends *ends_of; /* no destructor: it is still there when the keys' are called */

uint64_t elapsed_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

struct first_destroyed {
    bool used = false;
    ~first_destroyed()
    {
        ends_of->had_cells = crest_thread_cells != without_cells;
        ends_of->began_ns = elapsed_ns();
    }
};
thread_local first_destroyed beginning;

void last_destroyed(void *mine)
{
    ends *of = static_cast<ends *>(mine);
    of->ended_ns = elapsed_ns();
    of->has_cells = crest_thread_cells != without_cells;
}

/* How long the end of a thread takes that recorded into each `times` times. */
bool one_end(instruments &all, bool records, std::vector<double> &ns)
{
    ends mine = {0, 0, false, true};
    std::thread([&] {
        together_pin(0);
        ends_of = &mine;
        beginning.used = true;
        pthread_setspecific(last_key, &mine);
        if (records)
            all.record_each(VALUE);
    }).join();
    ns.push_back(double(mine.ended_ns - mine.began_ns));
    return mine.had_cells == records && !mine.has_cells;
}

} // namespace

int thread_exit_process(const std::vector<std::string> &words)
{
    std::thread([] { without_cells = crest_thread_cells; }).join();
    if (pthread_key_create(&last_key, last_destroyed) != 0)
        return 1;
    instruments all(words[0], std::strtoul(words[1].c_str(), nullptr, 10));
    all.record_each(VALUE);
    std::vector<double> without, with;
    bool right = true;
    for (unsigned i = 0; i < PAIRS; i++) {
        right = one_end(all, false, without) && right;
        right = one_end(all, true, with) && right;
    }
    if (!right || all.total() != all.total_after(1 + PAIRS, VALUE)) {
        std::fprintf(stderr, "thread exit: the total is wrong, or destructors ran in another "
                             "order than they should\n");
        return 1;
    }
    std::printf("without %.9g\nwith %.9g\n", own_process_median(without),
                own_process_median(with) - own_process_median(without));
    return 0;
}

void thread_exit_benchmarks(side &mine)
{
    std::string many = std::to_string(mine.given().number("metrics", 1000));
    const struct {
        std::string kind, count, id;
    } touched[] = {{"counter", "1", "crest/thread-exit/1"},
                   {"counter", many, "crest/thread-exit/" + many},
                   {"histogram", many, "crest/thread-exit-histograms/" + many}};
    for (const auto &each : touched) {
        std::vector<std::string> words = {own_process_path(), "--measure=thread-exit", each.kind,
                                          each.count};
        auto figures =
            std::make_shared<own_process_figures>([=] { return own_process_run(words); });
        mine.value(
            each.id, "ns", [=] { return figures->value("with"); }, EVERY);
        if (each.count == "1")
            mine.value(
                "limit/thread-exit/0", "ns", [=] { return figures->value("without"); }, EVERY);
    }
}
