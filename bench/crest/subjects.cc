/* SPDX-License-Identifier: Apache-2.0 */
/* See subjects.h. */
#include "subjects.h"

#include <crest/crest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

int64_t loops_values[LOOPS_VALUES], loops_even[LOOPS_VALUES];
uint32_t loops_order[LOOPS_VALUES];
int8_t loops_steps[LOOPS_STEPS];
const char *const **loops_labels;
unsigned loops_label_count;
loops_subject loops_subjects[LOOPS_PEERS][LOOPS_OPERATIONS];

uint64_t loops_own_ids()
{
    static std::atomic<uint64_t> next{1};
    thread_local uint64_t mine = next.fetch_add(1) << 32;
    return mine;
}

namespace
{

enum kind { COUNTER, GAUGE, HISTOGRAM, TIMER, RANGE_SAMPLER };

struct operation_of {
    kind what;
    const char *text;
};
const operation_of operations[LOOPS_OPERATIONS] = {
    {COUNTER, "counter"},
    {GAUGE, "gauge"},
    {HISTOGRAM, "histogram"},
    {TIMER, "timer"},
    {TIMER, "keyed-timer"},
    {RANGE_SAMPLER, "range-sampler"},
    {HISTOGRAM, "histogram-even"},
    {TIMER, "timer-through-memory"},
    {RANGE_SAMPLER, "range-sampler-raise"},
};
const char *const peers[LOOPS_PEERS] = {"c", "cc", "exported", "named", "labelled"};

/* What one round of a loop does to a metric: of LOOPS_VALUES steps or of LOOPS_SHORT. */
struct share {
    uint64_t times = 0, last = 0;
    int64_t steps = 0;
    std::vector<int64_t> values;
    void add(uint32_t step, const int64_t *from)
    {
        times++;
        last = step;
        steps += loops_steps[step % LOOPS_STEPS];
        values.push_back(from[step]);
    }
};

const workload *inputs;
std::vector<uint32_t> first_of; /* the first metric with the same label values */
int64_t steps_sum;
std::deque<std::string> texts; /* stay where they are */
std::vector<std::vector<const char *>> label_rows;
std::vector<const char *const *> label_lists;

const char *kept(const std::string &text)
{
    texts.push_back(text);
    return texts.back().c_str();
}

void labels_prepare()
{
    std::map<std::vector<std::string>, uint32_t> seen;
    for (const std::vector<std::string> &row : inputs->labels) {
        first_of.push_back(seen.emplace(row, uint32_t(first_of.size())).first->second);
        label_rows.emplace_back();
        for (const std::string &value : row)
            label_rows.back().push_back(value.c_str());
    }
    for (const std::vector<const char *> &row : label_rows)
        label_lists.push_back(row.data());
    loops_labels = label_lists.data();
    loops_label_count = unsigned(label_rows[0].size());
}

/* ---- making ---- */

/* crest_counter_get and its relatives, of a name. */
void *get(kind what, const char *name)
{
    crest_metric_options options;
    options.name = name;
    options.description = "For the benchmark.";
    if (what == HISTOGRAM)
        options.unit = CREST_NANOSECONDS;
    crest_status status = CREST_OK;
    void *handle = nullptr;
    switch (what) {
    case COUNTER: handle = crest_counter_get(nullptr, &options, &status); break;
    case GAUGE: handle = crest_gauge_get(nullptr, &options, &status); break;
    case HISTOGRAM: handle = crest_histogram_get(nullptr, &options, &status); break;
    case TIMER: handle = crest_timer_get(nullptr, &options, &status); break;
    case RANGE_SAMPLER: handle = crest_range_sampler_get(nullptr, &options, &status); break;
    }
    if (status != CREST_OK) {
        std::fprintf(stderr, "%s: no such metric can be made (status %d)\n", name, int(status));
        std::exit(2);
    }
    return handle;
}

/* A family with the keys k0, k1, …, which is kept. */
template <typename family>
void *family_new(family (*make)(crest_registry *, const crest_metric_options *, const char *const *,
                                unsigned, crest_status *),
                 const crest_metric_options &options)
{
    static std::deque<family> all;
    std::vector<const char *> keys;
    for (unsigned i = 0; i < loops_label_count; i++)
        keys.push_back(kept("k" + std::to_string(i)));
    crest_status status;
    all.push_back(make(nullptr, &options, keys.data(), loops_label_count, &status));
    if (status != CREST_OK) {
        std::fprintf(stderr, "%s: no such family can be made\n", options.name);
        std::exit(2);
    }
    return &all.back();
}

void *family_of(kind what, const char *name)
{
    crest_metric_options options;
    options.name = name;
    options.description = "For the benchmark.";
    if (what == HISTOGRAM)
        options.unit = CREST_NANOSECONDS;
    switch (what) {
    case COUNTER: return family_new(crest_counter_family_new, options);
    case GAUGE: return family_new(crest_gauge_family_new, options);
    case HISTOGRAM: return family_new(crest_histogram_family_new, options);
    case TIMER: return family_new(crest_timer_family_new, options);
    case RANGE_SAMPLER: break;
    }
    return family_new(crest_range_sampler_family_new, options);
}

void *child_of(kind what, void *family, unsigned metric)
{
    const char *const *values = loops_labels[metric];
    unsigned count = loops_label_count;
    switch (what) {
    case COUNTER: return crest_counter_family_get((crest_counter_family *)family, values, count);
    case GAUGE: return crest_gauge_family_get((crest_gauge_family *)family, values, count);
    case HISTOGRAM:
        return crest_histogram_family_get((crest_histogram_family *)family, values, count);
    case TIMER: return crest_timer_family_get((crest_timer_family *)family, values, count);
    case RANGE_SAMPLER: break;
    }
    return crest_range_sampler_family_get((crest_range_sampler_family *)family, values, count);
}

/* A peer and an operation, and their metrics. */
struct subject_of {
    loops_peer peer;
    loops_operation operation;
    loops_subject &subject() const { return loops_subjects[peer][operation]; }
};

/* The name of a whole set; of a family, where the set is one. */
std::string set_name(const subject_of &of, const std::string &set)
{
    return std::string("bench.") + peers[of.peer] + "." + operations[of.operation].text + "-" + set;
}

/* Counters by name have the given names; other kinds get a suffix, because a name has one kind. */
std::string metric_name(const subject_of &of, unsigned set, unsigned metric)
{
    if (of.peer != LOOPS_PEER_NAMED)
        return set_name(of, std::to_string(set)) + "." + inputs->names[metric];
    std::string end =
        of.operation == LOOPS_COUNTER ? "" : std::string(".") + operations[of.operation].text;
    return inputs->names[metric] + end + (set != 0 ? "-" + std::to_string(set) : "");
}

void make_hot(const subject_of &of)
{
    kind what = operations[of.operation].what;
    loops_subject &subject = of.subject();
    if (of.peer == LOOPS_PEER_LABELLED)
        subject.hot_family = family_of(what, kept(set_name(of, "hot")));
    for (unsigned i = 0; i < LOOPS_HOT; i++) {
        if (of.peer == LOOPS_PEER_LABELLED) {
            subject.hot[i] = child_of(what, subject.hot_family, i);
            continue;
        }
        subject.hot_name[i] = kept(set_name(of, "hot-" + std::to_string(i)));
        subject.hot[i] = get(what, subject.hot_name[i]);
    }
}

void make_set(const subject_of &of, unsigned set)
{
    kind what = operations[of.operation].what;
    loops_subject &subject = of.subject();
    size_t metrics = inputs->names.size();
    subject.random[set] = new void *[metrics];
    subject.name[set] = new const char *[metrics];
    if (of.peer == LOOPS_PEER_LABELLED)
        subject.family[set] = family_of(what, kept(set_name(of, std::to_string(set))));
    for (unsigned i = 0; i < metrics; i++) {
        if (of.peer == LOOPS_PEER_LABELLED) {
            subject.random[set][i] = child_of(what, subject.family[set], i);
            continue;
        }
        subject.name[set][i] = kept(metric_name(of, set, i));
        subject.random[set][i] = get(what, subject.name[set][i]);
    }
}

/* ---- checking ---- */

/* One snapshot serves all checks, which come after all recording. Its series are indexed by name
 * and label values, because finding one in a snapshot takes a walk. */
const std::map<std::vector<std::string>, crest_series_view> &taken()
{
    static std::map<std::vector<std::string>, crest_series_view> all;
    static const crest_snapshot *snapshot = nullptr;
    if (snapshot != nullptr)
        return all;
    snapshot = crest_snapshot_take(nullptr);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        std::vector<std::string> key = {view.name};
        for (unsigned value = 0; value < view.label_count; value++)
            key.push_back(view.label_values[value]);
        all[key] = view;
    }
    return all;
}

/* What `times` whole rounds of a share leave behind. */
workload_left left_of(const share &part, uint64_t times)
{
    if (times == 0 || part.times == 0)
        return {0, 0, 0, 0};
    auto range = std::minmax_element(part.values.begin(), part.values.end());
    workload_left left = {times * part.times, 0, *range.first, *range.second};
    for (int64_t value : part.values)
        left.sum += uint64_t(value) * times;
    return left;
}

bool same(const workload_left &a, const workload_left &b)
{
    return a.count == b.count && a.sum == b.sum && a.least == b.least && a.most == b.most;
}

/* What a metric has, as one number or all four of a distribution. */
workload_left found_in(loops_operation operation, void *handle, const std::string &name,
                       int label_row)
{
    kind what = operations[operation].what;
    std::vector<std::string> labels;
    if (label_row >= 0)
        labels = inputs->labels[unsigned(label_row)];
    switch (what) {
    case COUNTER: return {crest_counter_value((crest_counter *)handle), 0, 0, 0};
    case GAUGE: return {uint64_t(crest_gauge_value((crest_gauge *)handle)), 0, 0, 0};
    case RANGE_SAMPLER:
        return {uint64_t(crest_range_sampler_value((crest_range_sampler *)handle)), 0, 0, 0};
    case TIMER: labels.push_back("ok"); break;
    case HISTOGRAM: break;
    }
    return subjects_recorded(name, labels);
}

/* What a metric must have after `times` rounds of the share; of a timer only the count is known. */
bool is_right(loops_operation operation, const workload_left &found, const share &part,
              uint64_t times)
{
    switch (operations[operation].what) {
    case COUNTER: return found.count == part.times * times;
    case GAUGE: return found.count == (times != 0 ? part.last : 0);
    case RANGE_SAMPLER:
        return int64_t(found.count) ==
               int64_t(times) *
                   (operation == LOOPS_RANGE_SAMPLER ? part.steps : int64_t(part.times));
    case TIMER:
        return found.count == part.times * times &&
               (found.count == 0 || (found.sum != 0 && found.most != 0));
    case HISTOGRAM: break;
    }
    return same(found, left_of(part, times));
}

/* The least number of steps of a call; all calls make multiples of it. */
uint32_t round_of(loops_peer peer, loops_operation operation)
{
    kind what = operations[operation].what;
    bool slow = what == TIMER || what == RANGE_SAMPLER;
    return peer == LOOPS_PEER_NAMED || peer == LOOPS_PEER_LABELLED || slow ? LOOPS_SHORT
                                                                           : LOOPS_VALUES;
}

/* Of a metric that has the loop to itself. */
share whole(loops_peer peer, loops_operation operation)
{
    share part;
    for (uint32_t i = 0; i < round_of(peer, operation); i++)
        part.add(i, operation == LOOPS_HISTOGRAM_EVEN ? loops_even : loops_values);
    return part;
}

/* Of all metrics, in the order that is given. */
std::vector<share> shares_of(loops_peer peer, loops_operation operation)
{
    std::vector<share> parts(inputs->names.size());
    for (uint32_t i = 0; i < round_of(peer, operation); i++) {
        uint32_t metric = loops_order[i];
        parts[peer == LOOPS_PEER_LABELLED ? first_of[metric] : metric].add(i, loops_values);
    }
    return parts;
}

/* The number that a metric of which only one is known must have. */
uint64_t asked_number(loops_peer peer, loops_operation operation, uint64_t times)
{
    if (operation == LOOPS_RANGE_SAMPLER)
        return uint64_t(int64_t(times / LOOPS_STEPS) * steps_sum);
    if (operation == LOOPS_GAUGE)
        return times != 0 ? round_of(peer, operation) - 1 : 0;
    return times;
}

void expect_hot(side &mine, const subject_of &of, const std::string &id)
{
    loops_peer peer = of.peer;
    loops_operation operation = of.operation;
    const loops_subject &subject = of.subject();
    bool labelled = peer == LOOPS_PEER_LABELLED;
    std::string family = set_name(of, "hot");
    for (unsigned i = 0; i < LOOPS_HOT; i++) {
        std::string name = labelled ? family : subject.hot_name[i];
        auto found = [=, &subject] {
            return found_in(operation, subject.hot[i], name, labelled ? int(i) : -1);
        };
        mine.expect(
            id, [=] { return found().count; },
            [=, &mine] { return asked_number(peer, operation, mine.asked(id, i)); });
        if (operations[operation].what == TIMER)
            mine.expect(
                id + ": that any took time",
                [=, &mine] { return found().most != 0 || mine.asked(id, i) == 0; },
                [] { return 1; });
        if (operations[operation].what == HISTOGRAM)
            mine.expect(
                id + ": that count, sum, least and most are right",
                [=, &mine] {
                    return is_right(operation, found(), whole(peer, operation),
                                    mine.asked(id, i) / round_of(peer, operation));
                },
                [] { return 1; });
    }
}

void expect_set(side &mine, const subject_of &of, const std::string &id, unsigned set)
{
    loops_peer peer = of.peer;
    loops_operation operation = of.operation;
    const loops_subject &subject = of.subject();
    bool labelled = peer == LOOPS_PEER_LABELLED;
    std::string family = set_name(of, std::to_string(set));
    auto right = [=, &subject, &mine] {
        uint64_t metrics = 0, times = mine.asked(id, set) / round_of(peer, operation);
        std::vector<share> parts = shares_of(peer, operation);
        for (unsigned i = 0; i < parts.size(); i++) {
            if (labelled && first_of[i] != i) {
                metrics++; /* the metric of another row */
                continue;
            }
            workload_left found =
                found_in(operation, subject.random[set][i],
                         labelled ? family : subject.name[set][i], labelled ? int(i) : -1);
            metrics += is_right(operation, found, parts[i], times);
        }
        return metrics;
    };
    mine.expect(id + ": metrics that are right", right, [] { return inputs->names.size(); });
}

} // namespace

void subjects_inputs(const workload &given)
{
    inputs = &given;
    std::copy(given.values.begin(), given.values.end(), loops_values);
    std::copy(given.even.begin(), given.even.end(), loops_even);
    std::copy(given.order.begin(), given.order.end(), loops_order);
    for (uint32_t i = 0; i < LOOPS_STEPS; i++) {
        loops_steps[i] = given.order[i] % 2 ? 1 : -1;
        steps_sum += loops_steps[i];
    }
    labels_prepare();
}

unsigned subjects_sets(const workload &given)
{
    unsigned sets = 1;
    for (unsigned threads : given.threads)
        sets = std::max(sets, std::min(threads, LOOPS_SETS_MAX));
    return sets;
}

void subjects_make(loops_peer peer, loops_operation operation, unsigned sets)
{
    subject_of of = {peer, operation};
    make_hot(of);
    for (unsigned set = 0; set < sets; set++)
        make_set(of, set);
}

void subjects_expect(side &mine, loops_peer peer, loops_operation operation, const std::string &hot,
                     const std::string &random, unsigned sets)
{
    subject_of of = {peer, operation};
    expect_hot(mine, of, hot);
    for (unsigned set = 0; set < sets; set++)
        expect_set(mine, of, random, set);
}

workload_left subjects_recorded(const std::string &name, const std::vector<std::string> &labels)
{
    std::vector<std::string> key = {name};
    key.insert(key.end(), labels.begin(), labels.end());
    auto found = taken().find(key);
    if (found == taken().end() || found->second.distribution == nullptr)
        return {0, 0, 0, 0};
    const crest_distribution *of = found->second.distribution;
    return {crest_distribution_count(of), crest_distribution_sum(of),
            int64_t(crest_distribution_min(of)), int64_t(crest_distribution_max(of))};
}

void subjects_expect_timer(side &mine, const std::string &check, const std::string &name,
                           const std::function<uint64_t()> &asked)
{
    mine.expect(
        check, [=] { return subjects_recorded(name, {"ok"}).count; }, asked);
    mine.expect(
        check + ": that any took time",
        [=] { return subjects_recorded(name, {"ok"}).most != 0 || asked() == 0; },
        [] { return 1; });
}
