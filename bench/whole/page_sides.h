/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of the comparison: a registry with the same series, labels and values in each, of
 * which a page is written to a sink that keeps nothing, or everything's checksum.
 */
#ifndef BENCH_PAGE_SIDES_H
#define BENCH_PAGE_SIDES_H

#include "workload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/* What one page is about. */
struct sides_shape {
    size_t series;
    bool histograms;  /* otherwise counters */
    unsigned writers; /* threads whose cells have a part of each series; 1 or more */
    const workload *given;
};

/* Takes a page in pieces. It counts bytes; `checking`, also what lines there are. */
class sides_sink
{
  public:
    explicit sides_sink(bool checking = false) : checking_(checking) {}
    void put(const char *text, size_t length);

    uint64_t bytes = 0;
    uint64_t samples = 0;  /* lines that are no comments */
    uint64_t total = 0;    /* of the values of counters' and X_count lines */
    uint64_t checksum = 0; /* of all samples but X_sum, whatever their order */

  private:
    void line(const std::string &text);
    bool checking_;
    std::string rest_;
};

class sides_side
{
  public:
    virtual ~sides_side() = default;
    /* A snapshot, or a collection, and its text. */
    virtual void page(sides_sink &sink) = 0;
};

/* Null when prometheus-cpp was not there when this was built, as the second says. */
std::unique_ptr<sides_side> sides_peer(const sides_shape &shape);
bool sides_peer_is_there();
std::unique_ptr<sides_side> sides_crest(const sides_shape &shape);

/* ---- what both sides are filled with ---- */

const size_t SIDES_FAMILY_SERIES = 1000;
const unsigned SIDES_RECORDS = 400; /* of each histogram: the first of the values */

/* The canonical name of the family of a series, and what it says of itself. */
std::string sides_name(const sides_shape &shape, size_t family);
const char *sides_description(const sides_shape &shape);
/* Its two labels, of the keys `kind` and `peer`. */
std::string sides_kind(size_t series);
std::string sides_peer_address(size_t series);

/* What one thread adds to a counter, and the sum of all. */
uint64_t sides_amount(size_t series, unsigned writer);
uint64_t sides_amounts(size_t series, unsigned writers);

/* Bounds of the exported buckets, in seconds. */
std::vector<double> sides_bounds(const workload &given);

#endif
