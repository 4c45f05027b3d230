/* SPDX-License-Identifier: Apache-2.0 */
/* See page_sides.h: names, values and the sink. */
#include "page_sides.h"

#include <cstdio>
#include <cstdlib>

std::string sides_name(const sides_shape &shape, size_t family)
{
    char text[64];
    std::snprintf(text, sizeof text, "bench.f%04zu-%s", family,
                  shape.histograms ? "latency" : "messages");
    return text;
}

const char *sides_description(const sides_shape &shape)
{
    return shape.histograms ? "From question to answer." : "Messages sent.";
}

std::string sides_kind(size_t series)
{
    static const char *const kinds[] = {"block", "deploy", "ping", "vote"};
    return kinds[series % 4];
}

std::string sides_peer_address(size_t series)
{
    char text[40];
    std::snprintf(text, sizeof text, "10.%zu.%zu.%zu:40400", series >> 16 & 255, series >> 8 & 255,
                  series & 255);
    return text;
}

uint64_t sides_amount(size_t series, unsigned writer)
{
    return (series * 7919 + writer * 104729) % 100003 + 1;
}

uint64_t sides_amounts(size_t series, unsigned writers)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < writers; i++)
        sum += sides_amount(series, i);
    return sum;
}

std::vector<double> sides_bounds(const workload &given)
{
    std::vector<double> seconds;
    for (double ns : given.bounds)
        seconds.push_back(ns / 1e9);
    return seconds;
}

static bool sides_ends(const std::string &text, const char *with)
{
    std::string end = with;
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void sides_sink::line(const std::string &text)
{
    if (text.empty() || text[0] == '#')
        return;
    samples++;
    std::string name = text.substr(0, text.find_first_of("{ "));
    if (sides_ends(name, "_sum")) /* a double: printed differently */
        return;
    if (!sides_ends(name, "_bucket"))
        total += std::strtoull(text.c_str() + text.rfind(' '), nullptr, 10);
    uint64_t hash = UINT64_C(14695981039346656037);
    for (char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * UINT64_C(1099511628211);
    checksum += hash;
}

void sides_sink::put(const char *text, size_t length)
{
    bytes += length;
    if (!checking_)
        return;
    for (size_t at = 0; at < length; at++) {
        if (text[at] != '\n') {
            rest_ += text[at];
            continue;
        }
        line(rest_);
        rest_.clear();
    }
}
