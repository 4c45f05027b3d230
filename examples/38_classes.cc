/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same metrics as objects of C++17: declared as static objects, families with as many arguments
 * as keys, durations of <chrono>, and a scope that records an error where an exception leaves it.
 */
#include <crest/crest.hpp>

#include <cstdio>
#include <stdexcept>
#include <string_view>

using namespace std::chrono_literals;

static crest::counter blocks{"casper.blocks-created", "Blocks this node proposed."};
static crest::counter_family sent{"comm.sent", "Messages sent.", crest::keys{"kind", "peer"}};
static crest::timer store{"storage.store-time", "Writes of a block.",
                          crest::options{}.buckets(crest_buckets_fast)};

static void write_block(int height)
{
    crest::scope timed{store, crest::op(height)};
    if (height == 2)
        throw std::runtime_error("no space left on the disk");
    blocks.inc();
}

int main()
{
    for (int height : {1, 2, 3}) {
        try {
            write_block(height);
        } catch (const std::runtime_error &error) {
            std::printf("block %d: %s\n", height, error.what());
        }
    }

    /* resolve once, where the peer connects; a wrong number of values does not compile */
    std::string_view peer = "10.0.0.7";
    crest::counter_ref pings = sent.with("ping", peer);
    pings.inc();
    pings.add(2);

    /* the same values find the same series again */
    std::printf("pings: %d\n", static_cast<int>(sent.with("ping", "10.0.0.7").value()));
    std::printf("blocks: %d\n", static_cast<int>(blocks.value()));

    /* begins here, ends elsewhere: a timing travels with its operation */
    crest::timing running = store.start(crest::op("genesis"));
    crest::timing moved = std::move(running);
    bool ended = moved.end(crest::op("genesis")) == CREST_OK;
    std::printf("ended once: %s, twice: %s\n", ended ? "yes" : "no",
                moved.end(crest::op("genesis")) == CREST_OK ? "yes" : "no");
    store.record(180us, CREST_OUTCOME_TIMEOUT);
    return 0;
}
