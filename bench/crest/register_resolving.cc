/* SPDX-License-Identifier: Apache-2.0 */
/* See crest_parts.h. */
#include "crest_parts.h"
#include "resolve_loops.h"
#include "subjects.h"

#include <crest/by_name.h>

namespace
{

const char *const texts[LOOPS_BOTH] = {"counter", "gauge",       "histogram",
                                       "timer",   "keyed-timer", "range-sampler"};

/* As many operations as through handles, so that both have their data in the caches, and with the
 * first of the values each time, from which the expected totals are computed. */
std::function<void(unsigned, uint64_t)>
in_short_calls(const std::function<void(unsigned object, uint64_t times)> &loop)
{
    return [=](unsigned object, uint64_t times) {
        for (; times != 0; times -= LOOPS_SHORT)
            loop(object, LOOPS_SHORT);
    };
}

void register_way(side &mine, loops_peer peer, const std::string &way, const loops_pair *loops)
{
    unsigned sets = subjects_sets(mine.given());
    for (unsigned i = 0; i < LOOPS_BOTH; i++) {
        loops_operation operation = loops_operation(i);
        std::string id = std::string("crest/") + texts[i] + way;
        std::string hot = id + "/hot", random = id + "/random";
        if (!mine.wanted(hot) && !mine.wanted(random))
            continue;
        subjects_make(peer, operation, sets);
        mine.loop(hot, LOOPS_SHORT, LOOPS_HOT, loops[i].hot, SIDE_BOTH);
        mine.loop(random, operation < LOOPS_TIMER ? TIMES_RANDOM : LOOPS_SHORT, sets,
                  in_short_calls(loops[i].random), SIDE_BOTH, LOOPS_SHORT);
        subjects_expect(mine, peer, operation, hot, random, sets);
    }
}

/* The part before the last dot of the names is the source of all of them. */
void sourced_prepare(const workload &given)
{
    static std::vector<const char *> names;
    size_t dot = given.names[0].rfind('.');
    size_t before = dot == std::string::npos ? 0 : dot + 1;
    std::string source = given.names[0].substr(0, before == 0 ? 0 : dot);
    for (const std::string &name : given.names)
        names.push_back(name.c_str() + before);
    resolve_sourced_names = names.data();
    static std::string kept = source + ".sourced";
    resolve_source = crest_source_get(kept.c_str());
}

void register_counters(side &mine)
{
    std::string sourced = "crest/counter-by-name-sourced/random";
    if (mine.wanted(sourced))
        sourced_prepare(mine.given());
    mine.loop(sourced, TIMES_RANDOM, 1, resolve_sourced);
    mine.expect(
        sourced,
        [=, &mine] {
            uint64_t sum = 0;
            for (size_t i = 0; mine.asked(sourced) && i < mine.given().names.size(); i++)
                sum += crest_counter_value(
                    crest_counter_by_name_in(resolve_source, resolve_sourced_names[i]));
            return sum;
        },
        [=, &mine] { return mine.asked(sourced); });

    std::string literal = "crest/counter-by-literal-name/hot";
    mine.loop(literal, TIMES_FAST, LOOPS_HOT, resolve_literal, SIDE_BOTH, TIMES_TOGETHER);
    for (unsigned i = 0; i < LOOPS_HOT; i++)
        mine.expect(
            literal,
            [=] {
                std::string name = "bench.literal-" + std::to_string(i);
                return crest_counter_value(crest_counter_by_name_in(nullptr, name.c_str()));
            },
            [=, &mine] { return mine.asked(literal, i); });
}

} // namespace

void register_resolving(side &mine)
{
    register_way(mine, LOOPS_PEER_NAMED, "-by-name", loops_named);
    register_way(mine, LOOPS_PEER_LABELLED, "-labelled", loops_labelled);
    register_counters(mine);
}
