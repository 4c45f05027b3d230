/* SPDX-License-Identifier: Apache-2.0 */
/* Crest's side; its parts are measured one by one too. See page_sides.h. */
#ifndef BENCH_PAGE_CREST_H
#define BENCH_PAGE_CREST_H

#include "page_sides.h"

#include <crest/crest.h>

class crest_side : public sides_side
{
  public:
    explicit crest_side(const sides_shape &shape);
    ~crest_side() override;
    void page(sides_sink &sink) override;

    crest_registry *registry() const { return registry_; }
    std::vector<crest_counter *> counters;
    std::vector<crest_histogram *> histograms;

  private:
    void make_family(size_t first, size_t end, const crest_buckets &buckets);
    void fill();
    void fill_as(unsigned writer);
    sides_shape shape_;
    crest_registry *registry_;
};

#endif
