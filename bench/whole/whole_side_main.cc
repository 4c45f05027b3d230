/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side of measurements beyond one operation: first touch, a thread's end, memory, start-up,
 * pages. `--measure=` makes it one of the processes in which some of it is measured.
 */
#include "first_touch.h"
#include "own_process.h"
#include "pages.h"
#include "series_memory.h"
#include "side.h"
#include "start_up.h"
#include "thread_exit.h"

#include <crest/crest.h>

#include <cstdio>
#include <unistd.h>

namespace
{

const struct {
    const char *name;
    size_t words;
    int (*run)(const std::vector<std::string> &words);
} PROCESSES[] = {{"--measure=first-touch", 2, first_touch_process},
                 {"--measure=thread-exit", 2, thread_exit_process},
                 {"--measure=memory", 4, series_memory_process}};

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::string> words(argv + 1, argv + argc);
    usleep(20000); /* until the library's clock knows the rate of its counter */
    for (const auto &process : PROCESSES)
        if (words.size() == process.words + 1 && words[0] == process.name)
            return process.run({words.begin() + 1, words.end()});

    side mine("whole", argc, argv);
    first_touch_benchmarks(mine);
    thread_exit_benchmarks(mine);
    start_up_benchmarks(mine);
    series_memory_benchmarks(mine);
    pages_benchmarks(mine);
    mine.expect(
        "processes that were right", [] { return own_process_counted().right; },
        [] { return own_process_counted().started; });
    return mine.run();
}
