/* SPDX-License-Identifier: Apache-2.0 */
/* See machine.h. */
#include "machine.h"

#include <crest/clock.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

static std::string machine_word_after(const char *path, const std::string &key)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, key.size(), key) == 0)
            return line.substr(std::min(line.find_first_not_of(" \t:", key.size()), line.size()));
    return "unknown";
}

machine_facts machine_describe(unsigned rounds)
{
    utsname kernel;
    if (uname(&kernel) != 0)
        std::strcpy(kernel.release, "unknown");
    double load[1] = {0};
    getloadavg(load, 1);
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", load[0]);
    bool counter = crest_clock_source_now() == CREST_CLOCK_COUNTER;
    return {
        {"processor", machine_word_after("/proc/cpuinfo", "model name")},
        {"processors", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
        {"kernel", kernel.release},
        {"compiler", __VERSION__},
        {"clock", counter ? "time-stamp counter" : "clock_gettime"},
        {"rounds", std::to_string(rounds)},
        {"load", text},
    };
}

void machine_print(const machine_facts &facts)
{
    for (const auto &fact : facts)
        std::printf("%s%s: %s", &fact == &facts[0] ? "" : ", ", fact.first.c_str(),
                    fact.second.c_str());
    std::printf("\n");
}

void machine_pin(unsigned n)
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

bool machine_strict()
{
    const char *strict = std::getenv("STRICT");
    return strict != nullptr && *strict != '\0' && std::strcmp(strict, "0") != 0;
}
