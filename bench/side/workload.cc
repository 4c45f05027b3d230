/* SPDX-License-Identifier: Apache-2.0 */
/* See workload.h. */
#include "workload.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace
{

[[noreturn]] void give_up(const std::string &path, const char *why)
{
    std::fprintf(stderr, "%s: %s; `make bench` writes this folder\n", path.c_str(), why);
    std::exit(2);
}

template <typename number> std::vector<number> read_numbers(const std::string &path, size_t wanted)
{
    std::ifstream file(path, std::ios::binary);
    std::vector<number> read(wanted);
    file.read(reinterpret_cast<char *>(read.data()), std::streamsize(wanted * sizeof(number)));
    if (!file || file.peek() != EOF)
        give_up(path, "is missing or has another size");
    return read;
}

std::vector<std::string> read_lines(const std::string &path)
{
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    if (lines.empty())
        give_up(path, "is missing or empty");
    return lines;
}

std::vector<std::string> split(const std::string &line, char at)
{
    std::vector<std::string> parts;
    std::istringstream text(line);
    for (std::string part; std::getline(text, part, at);)
        parts.push_back(part);
    return parts;
}

} // namespace

uint64_t workload::number(const std::string &key, uint64_t otherwise) const
{
    auto found = settings.find(key);
    return found == settings.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::vector<uint64_t> workload::numbers(const std::string &key) const
{
    std::vector<uint64_t> all;
    auto found = settings.find(key);
    if (found != settings.end())
        for (const std::string &part : split(found->second, ' '))
            all.push_back(std::strtoull(part.c_str(), nullptr, 10));
    return all;
}

workload workload_read(const std::string &folder)
{
    workload read;
    read.folder = folder;
    for (const std::string &line : read_lines(folder + "/workload.txt")) {
        size_t space = line.find(' ');
        if (space != std::string::npos)
            read.settings[line.substr(0, space)] = line.substr(space + 1);
    }
    read.values = read_numbers<int64_t>(folder + "/values.i64", WORKLOAD_VALUES);
    read.even = read_numbers<int64_t>(folder + "/even.i64", WORKLOAD_VALUES);
    read.order = read_numbers<uint32_t>(folder + "/order.u32", WORKLOAD_VALUES);
    read.names = read_lines(folder + "/names.txt");
    for (const std::string &line : read_lines(folder + "/labels.txt"))
        read.labels.push_back(split(line, '\t'));
    for (const std::string &line : read_lines(folder + "/bounds.txt"))
        read.bounds.push_back(std::strtod(line.c_str(), nullptr));
    for (uint64_t threads : read.numbers("threads"))
        read.threads.push_back(unsigned(threads));
    for (uint32_t metric : read.order)
        if (metric >= read.names.size() || metric >= read.labels.size())
            give_up(folder + "/order.u32", "has a number that no name belongs to");
    return read;
}

workload_left workload_left_of(const std::vector<int64_t> &values, uint64_t times)
{
    workload_left left = {times, 0, 0, 0};
    if (times == 0)
        return left;
    for (int64_t value : values)
        left.sum += uint64_t(value) * (times / values.size());
    left.least = *std::min_element(values.begin(), values.end());
    left.most = *std::max_element(values.begin(), values.end());
    return left;
}
