/* SPDX-License-Identifier: Apache-2.0 */
/* Crest's side; see page_sides.h. */
#include "page_crest.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

crest_side::crest_side(const sides_shape &shape)
    : shape_(shape), registry_(crest_registry_new(nullptr))
{
    std::vector<double> bounds = sides_bounds(*shape.given);
    const crest_buckets buckets = {bounds.data(), unsigned(bounds.size())};
    for (size_t first = 0; first < shape.series; first += SIDES_FAMILY_SERIES)
        make_family(first, std::min(shape.series, first + SIDES_FAMILY_SERIES), buckets);
    fill();
}

crest_side::~crest_side()
{
    crest_registry_free(registry_);
}

void crest_side::make_family(size_t first, size_t end, const crest_buckets &buckets)
{
    static const char *const keys[] = {"kind", "peer"};
    std::string name = sides_name(shape_, first / SIDES_FAMILY_SERIES);
    crest_metric_options options = {};
    options.name = name.c_str();
    options.description = sides_description(shape_);
    crest_counter_family counter_family = {};
    crest_histogram_family histogram_family = {};
    crest_status status = CREST_OK;
    if (shape_.histograms) {
        options.unit = CREST_NANOSECONDS;
        options.buckets = &buckets;
        histogram_family = crest_histogram_family_new(registry_, &options, keys, 2, &status);
    } else {
        counter_family = crest_counter_family_new(registry_, &options, keys, 2, &status);
    }
    for (size_t i = first; i < end && status == CREST_OK; i++) {
        std::string kind = sides_kind(i), peer = sides_peer_address(i);
        const char *const values[] = {kind.c_str(), peer.c_str()};
        if (shape_.histograms)
            histograms.push_back(crest_histogram_family_get(&histogram_family, values, 2));
        else
            counters.push_back(crest_counter_family_get(&counter_family, values, 2));
    }
}

/* By threads that all run at once, or a thread would go on in the cells of an ended one. */
void crest_side::fill()
{
    std::atomic<unsigned> arrived{0};
    std::vector<std::thread> threads;
    for (unsigned writer = 0; writer < shape_.writers; writer++)
        threads.emplace_back([this, writer, &arrived] {
            fill_as(writer);
            arrived++;
            while (arrived.load() < shape_.writers)
                std::this_thread::yield();
        });
    for (std::thread &thread : threads)
        thread.join();
}

void crest_side::fill_as(unsigned writer)
{
    for (size_t i = 0; i < counters.size(); i++)
        crest_counter_add(counters[i], int64_t(sides_amount(i, writer)));
    for (crest_histogram *histogram : histograms)
        for (size_t i = writer; i < SIDES_RECORDS; i += shape_.writers)
            crest_histogram_record(histogram, shape_.given->values[i]);
}

static int crest_side_put(void *context, const void *bytes, size_t length)
{
    static_cast<sides_sink *>(context)->put(static_cast<const char *>(bytes), length);
    return 0;
}

void crest_side::page(sides_sink &sink)
{
    if (crest_page_write(registry_, CREST_FORMAT_PROMETHEUS_TEXT, crest_side_put, &sink, nullptr) !=
        CREST_OK)
        std::abort();
}

std::unique_ptr<sides_side> sides_crest(const sides_shape &shape)
{
    return std::make_unique<crest_side>(shape);
}
