/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side of prometheus-cpp, Debian's libprometheus-cpp-core: each instrument through a reference
 * that was kept, by label values, and by name; one metric and all of `names.txt` by chance.
 */
#include "prometheus_cpp_kinds.h"
#include "side.h"
#include "together.h"

#include <prometheus/registry.h>

#include <algorithm>
#include <deque>
#include <memory>

namespace
{

const unsigned MASK = WORKLOAD_VALUES - 1;
/* A label set costs some hundred nanoseconds to find, a name among a thousand some microseconds. */
const uint64_t LOOKUPS = 1 << 12, LOOKUPS_AMONG_MANY = 1 << 10;

struct inputs {
    const workload &given;
    std::vector<double> values; /* as the library takes them */
    std::vector<std::string> names, keys;

    explicit inputs(const workload &read)
        : given(read), values(read.values.begin(), read.values.end()), names(read.names)
    {
        for (std::string &name : names) /* neither dots nor dashes are allowed */
            std::replace_if(
                name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
        for (size_t i = 0; i < given.labels[0].size(); i++)
            keys.push_back("k" + std::to_string(i));
    }
    /* Threads that are at once in any benchmark here, and so objects of their own. */
    unsigned threads() const
    {
        unsigned most = 1;
        for (unsigned threads : given.threads)
            if (threads <= together_processors())
                most = std::max(most, threads);
        return most;
    }
    prometheus::Labels labels(size_t metric) const
    {
        prometheus::Labels labels;
        for (size_t key = 0; key < keys.size(); key++)
            labels.emplace(keys[key], given.labels[metric][key]);
        return labels;
    }
};

/* What `times` operations of a loop leave in each metric of a set. */
std::vector<kind_left> left_by(const inputs &in, size_t metrics, uint64_t times)
{
    std::vector<kind_left> all(metrics);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t value = uint64_t(in.given.values[i & MASK]);
        kind_left &left = all[metrics > 1 ? in.given.order[i & MASK] : 0];
        left.count++;
        left.sum += value;
        left.last = value;
        const std::vector<double> &bounds = in.given.bounds;
        left.buckets +=
            1 + uint64_t(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
    }
    return all;
}

/*
 * Compares what object number `object` of a benchmark was left with. Each metric is weighted by its
 * number, so that a record in a wrong metric is noticed.
 */
template <typename kind>
void expect_left(side &mine, const inputs &in, const std::string &id, unsigned object,
                 uint64_t times, const std::vector<typename kind::metric *> &metrics)
{
    struct part {
        kind_says which;
        const char *name;
        uint64_t kind_left::*member;
    };
    const part parts[] = {{KIND_COUNT, "count", &kind_left::count},
                          {KIND_SUM, "sum", &kind_left::sum},
                          {KIND_LAST, "last", &kind_left::last},
                          {KIND_BUCKETS, "buckets", &kind_left::buckets}};
    /* a loop is called for whole rounds of the values, or always for as many of them */
    uint64_t once = std::min<uint64_t>(times, WORKLOAD_VALUES);
    for (const part &each : parts) {
        if (!(kind::says & each.which))
            continue;
        auto found = [=] {
            uint64_t sum = 0;
            for (size_t i = 0; i < metrics.size(); i++)
                sum += (i + 1) * (kind::left(*metrics[i]).*each.member);
            return sum;
        };
        auto asked = [=, &mine, &in] {
            uint64_t calls = mine.asked(id, object) / once, sum = 0;
            if (each.which == KIND_LAST)
                calls = calls != 0;
            std::vector<kind_left> all = left_by(in, metrics.size(), once);
            for (size_t i = 0; i < all.size(); i++)
                sum += (i + 1) * (all[i].*each.member) * calls;
            return sum;
        };
        mine.expect(id + " " + each.name, found, asked);
    }
}

/* One instrument: its registries live as long as the program, each object's metrics with them. */
template <typename kind> class instrument
{
  public:
    using metric = typename kind::metric;
    using family = prometheus::Family<metric>;

    instrument(side &mine, const inputs &in) : mine_(mine), in_(in)
    {
        objects_ = std::max(kind::objects, in.threads());
        handles_hot();
        handles_random();
        if (std::string(kind::name) == "timer")
            return; /* finding it is the histogram's matter */
        labelled_hot();
        labelled_random();
        by_name(false);
        by_name(true);
    }

  private:
    static family &family_in(prometheus::Registry &registry, const std::string &name)
    {
        return kind::build().Name(name).Help("For the comparison.").Register(registry);
    }

    metric &add(family &to, const prometheus::Labels &labels)
    {
        return kind::add(to, labels, in_.given.bounds);
    }

    static std::string id(const std::string &how, const char *spread)
    {
        return std::string("prometheus-cpp/") + kind::name + how + "/" + spread;
    }

    /* A registry of all names, and a reference to each of its metrics. */
    std::vector<metric *> handles()
    {
        prometheus::Registry &registry = registries_.emplace_back();
        std::vector<metric *> all;
        for (const std::string &name : in_.names)
            all.push_back(&add(family_in(registry, name), {}));
        return all;
    }

    /*
     * References kept since the start: "incrementing those is very cheap" (sample_server.cc). They
     * are some of many, well apart: two that were made one after the other may share a cache line.
     */
    void handles_hot()
    {
        std::vector<metric *> many = handles(), all;
        for (size_t i = 0; i < objects_; i++)
            all.push_back(many[i * many.size() / objects_]);
        auto loop = [all, &in = in_](unsigned object, uint64_t times) {
            metric &one = *all[object];
            for (uint64_t i = 0; i < times; i++)
                kind::record(one, in.values[i & MASK]);
        };
        mine_.loop(id("", "hot"), kind::times, objects_, loop, SIDE_BOTH);
        for (unsigned i = 0; i < objects_; i++)
            expect_left<kind>(mine_, in_, id("", "hot"), i, kind::times, {all[i]});
    }

    /* A thread of its own has other metrics then, in a registry of their own. */
    void handles_random()
    {
        std::vector<std::vector<metric *>> sets;
        for (unsigned set = 0; set < in_.threads(); set++)
            sets.push_back(handles());
        auto loop = [sets, &in = in_](unsigned object, uint64_t times) {
            metric *const *set = sets[object].data();
            const uint32_t *order = in.given.order.data();
            for (uint64_t i = 0; i < times; i++)
                kind::record(*set[order[i & MASK]], in.values[i & MASK]);
        };
        mine_.loop(id("", "random"), kind::times, unsigned(sets.size()), loop, SIDE_BOTH);
        for (unsigned i = 0; i < sets.size(); i++)
            expect_left<kind>(mine_, in_, id("", "random"), i, kind::times, sets[i]);
    }

    /*
     * Of values that are known only then, which the library advises against where it can be
     * helped: "dynamically calling Family<T>.Add() works but is slow and should be avoided"
     * (sample_server.cc). Objects are label values of one family then, and threads share its lock;
     * by chance, a thread of its own has a family of its own.
     */
    void labelled_hot()
    {
        family &one = family_in(registries_.emplace_back(), in_.names[0]);
        auto loop = [this, &one](unsigned object, uint64_t times) {
            for (uint64_t i = 0; i < times; i++)
                kind::record(add(one, in_.labels(object)), in_.values[i & MASK]);
        };
        mine_.loop(id("-labelled", "hot"), LOOKUPS, objects_, loop, SIDE_BOTH);
        for (unsigned i = 0; i < objects_; i++)
            expect_left<kind>(mine_, in_, id("-labelled", "hot"), i, LOOKUPS,
                              {&add(one, in_.labels(i))});
    }

    void labelled_random()
    {
        std::vector<family *> sets;
        for (unsigned set = 0; set < in_.threads(); set++) {
            sets.push_back(&family_in(registries_.emplace_back(), in_.names[0]));
            for (size_t i = 0; i < in_.given.labels.size(); i++)
                add(*sets.back(), in_.labels(i));
        }
        auto loop = [this, sets](unsigned object, uint64_t times) {
            family &set = *sets[object];
            for (uint64_t i = 0; i < times; i++)
                kind::record(add(set, in_.labels(in_.given.order[i & MASK])), in_.values[i & MASK]);
        };
        mine_.loop(id("-labelled", "random"), LOOKUPS, unsigned(sets.size()), loop, SIDE_BOTH);
        for (unsigned set = 0; set < sets.size(); set++) {
            std::vector<metric *> all;
            for (size_t i = 0; i < in_.given.labels.size(); i++)
                all.push_back(&add(*sets[set], in_.labels(i)));
            expect_left<kind>(mine_, in_, id("-labelled", "random"), set, LOOKUPS, all);
        }
    }

    /*
     * The only way by name: to register the family again, which by default returns the existing one
     * (prometheus/registry.h, Registry::InsertBehavior).
     */
    void by_name(bool random)
    {
        const char *spread = random ? "random" : "hot";
        uint64_t times = random ? LOOKUPS_AMONG_MANY : LOOKUPS;
        unsigned objects = random ? in_.threads() : objects_;
        std::vector<prometheus::Registry *> registries;
        std::vector<std::vector<metric *>> all(objects);
        for (unsigned object = 0; object < objects; object++) {
            if (random || object == 0)
                registry_to(registries, random ? in_.names.size() : objects);
            else
                registries.push_back(registries[0]);
            for (size_t i = 0; i < (random ? in_.names.size() : 1); i++)
                all[object].push_back(&named(*registries[object], in_.names[random ? i : object]));
        }
        auto loop = [this, random, registries](unsigned object, uint64_t n) {
            for (uint64_t i = 0; i < n; i++) {
                size_t which = random ? in_.given.order[i & MASK] : object;
                kind::record(named(*registries[object], in_.names[which]), in_.values[i & MASK]);
            }
        };
        mine_.loop(id("-by-name", spread), times, objects, loop, SIDE_BOTH);
        for (unsigned i = 0; i < objects; i++)
            expect_left<kind>(mine_, in_, id("-by-name", spread), i, times, all[i]);
    }

    metric &named(prometheus::Registry &registry, const std::string &name)
    {
        return add(family_in(registry, name), {});
    }

    void registry_to(std::vector<prometheus::Registry *> &registries, size_t families)
    {
        registries.push_back(&registries_.emplace_back());
        for (size_t i = 0; i < families; i++)
            named(*registries.back(), in_.names[i]);
    }

    side &mine_;
    const inputs &in_;
    unsigned objects_;
    std::deque<prometheus::Registry> registries_;
};

void not_there(side &mine, const std::string &id, const std::string &why)
{
    if (mine.wanted("prometheus-cpp/" + id))
        mine.missing("prometheus-cpp/" + id + "/1", why);
}

} // namespace

int main(int argc, char **argv)
{
    side mine("prometheus-cpp", argc, argv);
    mine.version("prometheus-cpp", PROMETHEUS_CPP_VERSION);
    mine.version("compiler", __VERSION__);
    not_there(mine, "first-touch/1000",
              "a metric is one object for all threads: a thread's first "
              "touch of it costs what any other does");
    not_there(mine, "thread-exit/1000", "a thread leaves nothing behind in this library");
    not_there(mine, "keyed-timer/hot", "this library has no timers");
    not_there(mine, "range-sampler/hot", "this library has nothing like it");
    inputs in(mine.given());
    instrument<counter_kind> counters(mine, in);
    instrument<gauge_kind> gauges(mine, in);
    instrument<histogram_kind> histograms(mine, in);
    instrument<timer_kind> timers(mine, in);
    return mine.run();
}
