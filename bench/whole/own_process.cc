/* SPDX-License-Identifier: Apache-2.0 */
/* See own_process.h. */
#include "own_process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static own_process_count own_process_all;

own_process_count own_process_counted()
{
    return own_process_all;
}

std::string own_process_path()
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, size_t(length)) : std::string();
}

/* All that comes out of a pipe, which is closed then. */
static std::string own_process_read(int from)
{
    std::string text;
    char piece[4096];
    for (ssize_t got; (got = read(from, piece, sizeof piece)) > 0;)
        text.append(piece, size_t(got));
    close(from);
    return text;
}

static own_process_values own_process_parse(const std::string &text)
{
    own_process_values values;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
        size_t space = text.find(' ', at);
        if (space < end)
            values[text.substr(at, space - at)] = std::strtod(text.c_str() + space, nullptr);
    }
    return values;
}

own_process_values own_process_run(const std::vector<std::string> &words)
{
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    own_process_all.started++;
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    pid_t child;
    int failed = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text = own_process_read(ends[0]);
    if (failed != 0 || waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "%s %s: failed\n", words[0].c_str(),
                     words.size() > 1 ? words[1].c_str() : "");
        return {};
    }
    own_process_all.right++;
    return own_process_parse(text);
}

double own_process_figures::value(const std::string &name)
{
    if (last_.empty() || taken_.count(name) != 0) {
        last_ = measure_();
        taken_.clear();
    }
    taken_.insert(name);
    auto found = last_.find(name);
    return found == last_.end() ? 0 : found->second; /* of a failed one: the run fails too */
}

double own_process_median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(middle), values.end());
    return values[middle];
}
