/* SPDX-License-Identifier: Apache-2.0 */
/* See crest_parts.h: class library. */
#include "crest_parts.h"

#include <crest/crest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace
{

int discard(void *, const void *, size_t)
{
    return 0;
}

} // namespace

struct library::scraper {
    std::mutex lock;
    std::condition_variable changed;
    bool ended = false;
    std::thread thread;

    explicit scraper(uint64_t every_s)
    {
        thread = std::thread([this, every_s] {
            std::unique_lock<std::mutex> held(lock);
            while (!changed.wait_for(held, std::chrono::seconds(every_s), [this] { return ended; }))
                crest_page_write(nullptr, CREST_FORMAT_PROMETHEUS_TEXT, discard, nullptr, nullptr);
        });
    }
    ~scraper()
    {
        {
            std::lock_guard<std::mutex> held(lock);
            ended = true;
        }
        changed.notify_all();
        thread.join();
    }
};

library::library(const workload &given)
{
    auto options = given.settings.find("library");
    if (options != given.settings.end()) {
        crest_error error;
        if (crest_start(options->second.c_str(), &error) != CREST_OK) {
            std::fprintf(stderr, "library: %s\n", error.message);
            std::exit(2);
        }
        started_ = true;
    }
    if (given.number("scraped", 0) != 0)
        scraper_ = new scraper(std::max<uint64_t>(1, given.number("scrape_s", 1)));
    /* until the clock knows the rate of its counter */
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (void)crest_now();
}

library::~library()
{
    delete scraper_;
    if (started_)
        crest_stop(0, nullptr);
}
