/* SPDX-License-Identifier: Apache-2.0 */
/* The side of prometheus-cpp, Debian's libprometheus-cpp-core; see page_sides.h. */
#include "page_sides.h"

#if __has_include(<prometheus/registry.h>)

#include <crest/crest.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <ostream>
#include <streambuf>

namespace
{

/* Pieces of the size that Crest's pages come in, put nowhere. */
class discarding : public std::streambuf
{
  public:
    explicit discarding(sides_sink &to) : to_(to) { setp(piece_, piece_ + sizeof piece_); }
    ~discarding() override { sync(); }

  protected:
    int_type overflow(int_type c) override
    {
        sync();
        if (c != traits_type::eof())
            sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }
    int sync() override
    {
        to_.put(pbase(), size_t(pptr() - pbase()));
        setp(piece_, piece_ + sizeof piece_);
        return 0;
    }

  private:
    sides_sink &to_;
    char piece_[CREST_PAGE_PIECE_BYTES];
};

class peer_side : public sides_side
{
  public:
    explicit peer_side(const sides_shape &shape)
    {
        for (size_t first = 0; first < shape.series; first += SIDES_FAMILY_SERIES) {
            size_t end = std::min(shape.series, first + SIDES_FAMILY_SERIES);
            if (shape.histograms)
                fill_histograms(shape, first, end);
            else
                fill_counters(shape, first, end);
        }
    }

    void page(sides_sink &sink) override
    {
        discarding to(sink);
        std::ostream stream(&to);
        serializer_.Serialize(stream, registry_.Collect());
    }

  private:
    static std::string name(const sides_shape &shape, size_t first)
    {
        char text[256];
        crest_exported_name(sides_name(shape, first / SIDES_FAMILY_SERIES).c_str(),
                            shape.histograms ? CREST_KIND_HISTOGRAM : CREST_KIND_COUNTER,
                            shape.histograms ? CREST_NANOSECONDS : CREST_NONE, nullptr, text,
                            sizeof text);
        return text;
    }

    static std::map<std::string, std::string> labels(size_t series)
    {
        return {{"kind", sides_kind(series)}, {"peer", sides_peer_address(series)}};
    }

    void fill_counters(const sides_shape &shape, size_t first, size_t end)
    {
        auto &family = prometheus::BuildCounter()
                           .Name(name(shape, first))
                           .Help(sides_description(shape))
                           .Register(registry_);
        for (size_t i = first; i < end; i++)
            family.Add(labels(i)).Increment(double(sides_amounts(i, shape.writers)));
    }

    void fill_histograms(const sides_shape &shape, size_t first, size_t end)
    {
        auto &family = prometheus::BuildHistogram()
                           .Name(name(shape, first))
                           .Help(sides_description(shape))
                           .Register(registry_);
        std::vector<double> bounds = sides_bounds(*shape.given);
        for (size_t i = first; i < end; i++) {
            auto &histogram = family.Add(labels(i), bounds);
            for (unsigned j = 0; j < SIDES_RECORDS; j++)
                histogram.Observe(double(shape.given->values[j]) * 1e-9);
        }
    }

    prometheus::Registry registry_;
    prometheus::TextSerializer serializer_;
};

} // namespace

std::unique_ptr<sides_side> sides_peer(const sides_shape &shape)
{
    return std::make_unique<peer_side>(shape);
}

bool sides_peer_is_there()
{
    return true;
}

#else

std::unique_ptr<sides_side> sides_peer(const sides_shape &)
{
    return nullptr;
}

bool sides_peer_is_there()
{
    return false;
}

#endif
