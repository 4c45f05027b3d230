/* SPDX-License-Identifier: Apache-2.0 */
/* See page_memory.h. */
#include "page_memory.h"
#include "page_crest.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <malloc.h>

namespace
{

uint64_t in_use()
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* A line of /proc/self/status, in bytes. */
uint64_t status_bytes(const std::string &key)
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, key.size(), key) == 0)
            return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

struct encoding {
    uint64_t most;
};

int put(void *context, const void *, size_t)
{
    uint64_t &most = static_cast<encoding *>(context)->most;
    most = std::max(most, in_use());
    return 0;
}

} // namespace

own_process_values page_memory(crest_side &side)
{
    /* a series more, so that another directory is made beside that of a snapshot still held */
    crest_snapshot *held = crest_snapshot_take(side.registry());
    crest_metric_options options = {};
    options.name = "bench.one-more";
    uint64_t empty = in_use();
    (void)crest_counter_get(side.registry(), &options, nullptr);
    crest_snapshot *first = crest_snapshot_take(side.registry());
    uint64_t with_directory = in_use();
    crest_snapshot *snapshot = crest_snapshot_take(side.registry());
    uint64_t with_snapshot = in_use();
    double series = double(crest_snapshot_size(snapshot));
    std::ofstream("/proc/self/clear_refs") << "5"; /* the peak begins anew */
    uint64_t resident = status_bytes("VmRSS:");
    encoding page = {0};
    crest_snapshot_write(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, nullptr, put, &page, nullptr);
    uint64_t peak = status_bytes("VmHWM:");
    own_process_values result;
    result["snapshot-memory-"] = double(with_snapshot - with_directory) / series;
    result["snapshot-shared-memory-"] =
        double(with_directory - empty - (with_snapshot - with_directory)) / series;
    result["encoding-memory-"] = double(page.most - with_snapshot);
    result["encoding-resident-"] = peak > resident ? double(peak - resident) : 0;
    crest_snapshot_free(held);
    crest_snapshot_free(first);
    crest_snapshot_free(snapshot);
    return result;
}
